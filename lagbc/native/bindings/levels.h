// The levels of instructions that were built, and the one that this process runs.
#pragma once

#include <string>
#include <vector>

#include "../kernels/family.h"

namespace lagbc {

template <class... Levels>
struct List {};

// CMake defines LAGBC_LEVELS as the tags of the levels that it builds, the best one first.
using BuiltLevels = List<LAGBC_LEVELS>;

// The place in the list of the level with this name, or, for null, of the best that this processor runs; -1 for a level
// that was not built, or does not run here.
int find_level(const char* name);

const char* name_of_level(int level);

// The names of the built levels, the best first; of all, or of the levels that this processor runs.
std::vector<std::string> names_of_levels(bool running);

// The table of a family at a level.
template <Text family, class... Levels>
Table table_at(int level, List<Levels...>) {
    constexpr Table (*get[])() = {table_of<Levels, family>...};
    return get[level]();
}

}  // namespace lagbc
