// Kernels as Python sees them.
#pragma once

#include <vector>

#include "casters.h"
#include "levels.h"

namespace lagbc {

// A family each, in a file of its own.
void bind_batched(nb::module_& m, int level);
void bind_extended(nb::module_& m, int level);
void bind_traversal(nb::module_& m, int level);
void bind_within(nb::module_& m, int level);
void bind_reduce(nb::module_& m, int level);
void bind_graph(nb::module_& m, int level);
void bind_io(nb::module_& m, int level);
void bind_methods(nb::module_& m, int level);

// The form of one argument of one version of a kernel.
struct Parameter {
    bool (*fits)(nb::handle);
    const Description* type;
};

// A kernel of any type.
using Pointer = void (*)();

// The type of a kernel. `call` calls one without the GIL, if the arguments fit, and returns whether they did.
struct Signature {
    const Parameter* parameters;
    const Description* returned;
    bool (*call)(Pointer kernel, const nb::handle* given, nb::object& returned);
};

// A kernel for some types of arrays.
struct Version {
    const Signature* type;
    Pointer kernel;
};

// A kernel as Python calls it, kept as long as the process: the first of its versions that the arguments fit.
class Call {
public:
    // `signature` is "name(arguments, by, name)".
    Call(const char* signature, std::vector<Version> versions);

    const std::string& name() const { return name_; }

    // As type checkers see it.
    std::string signature() const;

    nb::object operator()(const nb::handle* given) const;

private:
    // Raise the TypeError of a call that no version takes: it names the argument, its form, and the forms taken.
    [[noreturn]] void refuse(const nb::handle* given) const;

    std::string name_;
    std::vector<std::string> arguments_;
    std::vector<Version> versions_;
};

template <class T>
bool fits(nb::handle source) {
    Argument<T> argument;
    return load<T>(argument, source);
}

template <class Result, class... Arguments, std::size_t... i>
bool call_if_fits(Result (*kernel)(Arguments...), const nb::handle* given, nb::object& returned,
                  std::index_sequence<i...>) {
    std::tuple<Argument<Arguments>...> arguments;
    if (!(load<Arguments>(std::get<i>(arguments), given[i]) && ...)) return false;
    auto run = [&]() -> Result {
        nb::gil_scoped_release released;
        return kernel(std::get<i>(arguments).operator nb::detail::cast_t<Arguments>()...);
    };
    if constexpr (std::is_void_v<Result>) {
        run();
        returned = nb::none();
    } else {
        returned = nb::cast(run());
    }
    return true;
}

template <class Result, class... Arguments>
bool call(Pointer kernel, const nb::handle* given, nb::object& returned) {
    return call_if_fits(reinterpret_cast<Result (*)(Arguments...)>(kernel), given, returned,
                        std::index_sequence_for<Arguments...>());
}

// One parameter more than the kernel has, as it may have none.
template <class... Arguments>
inline constexpr Parameter parameters[] = {{fits<Arguments>, description<Arguments>()}..., {}};

template <class Result, class... Arguments>
inline constexpr Signature signature = {parameters<Arguments...>, description<Result>(), call<Result, Arguments...>};

template <class Result, class... Arguments>
Version version_of(Result (*kernel)(Arguments...)) {
    return {&signature<Result, Arguments...>, reinterpret_cast<Pointer>(kernel)};
}

template <std::size_t>
using GivenAt = Given;

// Bind a call with this many arguments.
template <std::size_t... place>
void bind_call(nb::module_& m, const Call& call, std::index_sequence<place...>) {
    auto run = [&call](GivenAt<place>... arguments) {
        const nb::handle given[] = {arguments.object..., nb::handle()};
        return call(given);
    };
    m.def(call.name().c_str(), run, nb::sig(call.signature().c_str()));
}

template <class Result, class... Arguments>
constexpr std::size_t count_of_arguments(Result (*)(Arguments...)) {
    return sizeof...(Arguments);
}

// Bind the kernels of a family at a level.
template <class Family>
void bind(nb::module_& m, int level) {
    const auto& table = table_at<typename Family::Table>(level, BuiltLevels());
    Family::each([&]<class Kernel, std::size_t place>() {
        constexpr std::size_t arguments = count_of_arguments(std::tuple_element_t<0, typename Kernel::Versions>());
        auto versions = [](auto... version) { return std::vector<Version>{version_of(version)...}; };
        const auto* call = new Call(Kernel::signature, std::apply(versions, std::get<place>(table.kernels)));
        bind_call(m, *call, std::make_index_sequence<arguments>());
    });
}

}  // namespace lagbc
