// Kernels as Python sees them.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "casters.h"
#include "gil.h"
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

// Room for any argument, in the type that a caster of nanobind has for it.
struct Slot {
    alignas(16) std::byte at[384];
};

// The form of one argument of one version of a kernel: `load` puts one into a slot, and returns whether it fits.
struct Parameter {
    bool (*load)(Slot& slot, nb::handle given);
    const Description* type;
};

// The type of a kernel. `call` calls one, without the GIL, with the arguments in slots.
struct Signature {
    const Parameter* parameters;
    std::size_t count;
    const Description* returned;
    nb::object (*call)(Pointer kernel, Slot* arguments);
};

// A kernel for some types of arrays.
struct Version {
    const Signature* type;
    Pointer kernel;
};

// A kernel as Python calls it, kept as long as the process: the first of its versions that the arguments fit.
class Call {
public:
    // `text` is "name(arguments, by, name)".
    Call(const char* text, std::vector<Version> versions);

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

// Code for the type of a kernel is compiled once a type, and so it is as short as possible.

template <class T>
bool load_slot(Slot& slot, nb::handle given) {
    static_assert(sizeof(Argument<T>) <= sizeof slot && alignof(Argument<T>) <= alignof(Slot));
    static_assert(std::is_trivially_destructible_v<Argument<T>>);
    return load<T>(*new (slot.at) Argument<T>, given);
}

template <class T>
nb::detail::cast_t<T> loaded(Slot& slot) {
    return std::launder(reinterpret_cast<Argument<T>*>(slot.at))->operator nb::detail::cast_t<T>();
}

template <class T>
[[gnu::noinline]] nb::object as_object(T&& value) {
    return nb::cast(std::forward<T>(value));
}

template <class Kernel>
struct SignatureOf;

template <class Result, class... Arguments>
struct SignatureOf<Result (*)(Arguments...)> {
    template <std::size_t... place>
    static Result run(Pointer kernel, [[maybe_unused]] Slot* slots, std::index_sequence<place...>) {
        const WithoutGil released;
        return reinterpret_cast<Result (*)(Arguments...)>(kernel)(loaded<Arguments>(slots[place])...);
    }

    static nb::object call(Pointer kernel, Slot* slots) {
        constexpr std::index_sequence_for<Arguments...> places;
        if constexpr (std::is_void_v<Result>) {
            run(kernel, slots, places);
            return nb::none();
        } else {
            return as_object(run(kernel, slots, places));
        }
    }

    // One parameter more than the kernel has, as it may have none.
    static constexpr Parameter parameters[] = {{load_slot<Arguments>, description<Arguments>()}..., {}};
    static constexpr Signature signature = {parameters, sizeof...(Arguments), description<Result>(), call};
};

// A kernel of a family: "name(arguments, by, name)", and the types of its versions.
struct Listed {
    const char* text;
    const Signature* const* types;
    std::size_t versions;
};

template <class Kernel>
struct ListedOf;

template <Text text, auto... versions>
struct ListedOf<Kernel<text, versions...>> {
    static constexpr Text name = text;
    static constexpr const Signature* types[] = {&SignatureOf<decltype(versions)>::signature...};
    static constexpr Listed listed = {name.at, types, sizeof...(versions)};
};

// Bind kernels, of which there is a table.
void bind_listed(nb::module_& m, const Listed* kernels, std::size_t count, Table table);

// Bind the kernels of a family at a level.
template <class Level, Text name, class... Kernels>
void bind(nb::module_& m, int level, Family<Level, name, Kernels...>) {
    static constexpr Listed kernels[] = {ListedOf<Kernels>::listed...};
    bind_listed(m, kernels, sizeof...(Kernels), table_at<name>(level, BuiltLevels()));
}

}  // namespace lagbc
