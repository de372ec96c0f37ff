#include "levels.h"

#include <cstring>

#include "../kernels/processor.h"

namespace lagbc {
namespace {

struct Known {
    const char* name;
    bool (*runs_here)();
};

template <class Level>
constexpr Known known{};
template <>
[[maybe_unused]] constexpr Known known<v4::Level>{"v4", processor::runs_v4};
template <>
[[maybe_unused]] constexpr Known known<v3::Level>{"v3", processor::runs_v3};
template <>
[[maybe_unused]] constexpr Known known<v2::Level>{"v2", processor::runs_v2};
template <>
[[maybe_unused]] constexpr Known known<generic::Level>{"generic", [] { return true; }};

template <class... Levels>
const Known& known_at(int level, List<Levels...>) {
    static constexpr Known all[] = {known<Levels>...};
    return all[level];
}

template <class... Levels>
constexpr int count_of(List<Levels...>) {
    return sizeof...(Levels);
}

}  // namespace

int find_level(const char* name) {
    for (int level = 0; level < count_of(BuiltLevels()); ++level) {
        const Known& here = known_at(level, BuiltLevels());
        if ((name == nullptr || std::strcmp(name, here.name) == 0) && here.runs_here()) return level;
    }
    return -1;
}

const char* name_of_level(int level) {
    return known_at(level, BuiltLevels()).name;
}

std::vector<std::string> names_of_levels(bool running) {
    std::vector<std::string> names;
    for (int level = 0; level < count_of(BuiltLevels()); ++level) {
        const Known& here = known_at(level, BuiltLevels());
        if (!running || here.runs_here()) names.push_back(here.name);
    }
    return names;
}

}  // namespace lagbc
