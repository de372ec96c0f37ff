// Kernels and records as Python sees them.
#pragma once

#include <vector>

#include "casters.h"
#include "levels.h"
#include "shapes.h"

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

// What one version of a kernel says of one argument.
struct Parameter {
    bool (*fits)(nb::handle);
    std::string wanted, annotation;
};

struct Version {
    std::vector<Parameter> parameters;
    std::string returned;
};

// "name(arguments, by, name)" taken apart.
struct Call {
    explicit Call(const char* signature);
    std::string name;
    std::vector<std::string> arguments;
};

// Raise the TypeError of a call that no version takes: it names the argument, what it is, and what it has to be.
[[noreturn]] void refuse(const Call& call, const std::vector<Version>& versions, const nb::handle* given);

// The kernel as type checkers see it.
std::string signature_of(const Call& call, const std::vector<Version>& versions);

template <class T>
Parameter parameter_of() {
    using Plain = std::remove_cvref_t<T>;
    auto fits = [](nb::handle source) {
        Argument<T> argument;
        return load<T>(argument, source);
    };
    return {fits, Described<Plain>::wanted(), Described<Plain>::annotation()};
}

template <class Result, class... Arguments>
Version version_of(Result (*)(Arguments...)) {
    return {{parameter_of<Arguments>()...}, Described<Result>::annotation()};
}

// Call a version without the GIL, if the arguments fit; whether they did.
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

template <std::size_t>
using GivenAt = Given;

template <class Kernel, std::size_t... place>
void bind_kernel(nb::module_& m, const typename Kernel::Versions& pointers, std::index_sequence<place...> places) {
    // Kept as long as the process: the function refers to them.
    static const Call call(Kernel::signature);
    static const std::vector<Version> versions =
        std::apply([](auto... version) { return std::vector<Version>{version_of(version)...}; }, pointers);
    static const std::string signature = signature_of(call, versions);
    auto run = [pointers, places](GivenAt<place>... arguments) {
        const nb::handle given[] = {arguments.object..., nb::handle()};
        nb::object returned;
        auto try_each = [&](auto... version) { return (call_if_fits(version, given, returned, places) || ...); };
        if (!std::apply(try_each, pointers)) refuse(call, versions, given);
        return returned;
    };
    m.def(call.name.c_str(), run, nb::sig(signature.c_str()));
}

template <class Result, class... Arguments>
constexpr std::size_t count_of_arguments(Result (*)(Arguments...)) {
    return sizeof...(Arguments);
}

// Bind the kernels of a family, those of a level.
template <class Family>
void bind(nb::module_& m, int level) {
    const auto& table = table_at<typename Family::Table>(level, BuiltLevels());
    Family::each([&]<class Kernel, std::size_t place>() {
        constexpr std::size_t arguments = count_of_arguments(std::tuple_element_t<0, typename Kernel::Versions>());
        bind_kernel<Kernel>(m, std::get<place>(table.kernels), std::make_index_sequence<arguments>());
    });
}

// A field of a record: its name in Python, its place, and of arrays and graphs the shape.
template <class Class, class T>
struct Field {
    const char* name;
    T Class::* place;
    std::string_view shape = {};
};

// The same with its name as an object, which is kept as long as the process.
template <class Class, class T>
struct Named : Field<Class, T> {
    explicit Named(const Field<Class, T>& field)
        : Field<Class, T>(field), key(PyUnicode_InternFromString(field.name)) {}
    PyObject* key;
};

// Whether a value has the shape of its field.
template <class Class, class T>
bool fits(Sizes& sizes, const Field<Class, T>& field, const T& value) noexcept {
    if constexpr (HasLengths<T>)
        return sizes.fit(field.shape, lengths_of(value));
    else
        return true;
}

// What else a record of a class has to be; "" where it is.
template <class Class>
struct Rule {
    static std::string broken_by(const Class&) { return ""; }
};

// What is wrong with the fields of a record beside each other; "" where nothing is.
template <class Class, class... Owners, class... T>
std::string discord(const Class& record, const Field<Owners, T>&... fields) {
    Sizes sizes;
    std::string found;
    auto is_right = [&]<class Owner, class Value>(const Field<Owner, Value>& field) {
        const Value& value = record.*field.place;
        if (fits(sizes, field, value)) return true;
        if constexpr (HasLengths<Value>)
            found = std::string(field.name) + " has to be of shape " + sizes.words(field.shape) + ", not " +
                    as_tuple(lengths_of(value));
        return false;
    };
    return (is_right(fields) && ...) ? Rule<Class>::broken_by(record) : found;
}

// Whether the object that a field is set to is kept: what it points to lives in it.
template <class T>
inline constexpr bool is_view = std::is_same_v<T, Stop> || std::is_pointer_v<T>;
template <class Record>
inline constexpr bool is_view<Ref<Record>> = true;
template <class View>
    requires requires { typename ArrayOf<View>::Item; }
inline constexpr bool is_view<View> = true;
template <class View>
inline constexpr bool is_view<Optional<View>> = true;

template <class T>
inline constexpr bool has_default = !is_view<T> || std::is_pointer_v<T>;
template <class View>
inline constexpr bool has_default<Optional<View>> = true;

// Raise the TypeError of a field that is set to what it cannot be.
[[noreturn]] void refuse_field(const std::string& record, const char* field, const std::string& wanted,
                               nb::handle given);

// Raise the ValueError of fields that do not go together, if something is said of them.
void refuse_discord(const std::string& record, const std::string& found);

// Set a field. An array is kept in the __dict__ of the record as long as it is the field.
template <class Class, class Owner, class T>
void set_field(Class& record, const nb::object& kept, const Named<Owner, T>& field, nb::handle given) {
    Argument<T> argument;
    if (!load<T>(argument, given)) refuse_field(Described<Class>::name, field.name, Described<T>::wanted(), given);
    record.*field.place = argument.operator nb::detail::cast_t<T>();
    if constexpr (is_view<T>)
        if (PyDict_SetItem(kept.ptr(), field.key, given.ptr()) != 0) throw nb::python_error();
}

template <class Class, class Owner, class T>
nb::object get_field(nb::handle self, const Named<Owner, T>& field) {
    if constexpr (is_view<T>)
        return nb::cast<nb::dict>(nb::getattr(self, "__dict__"))[field.key];
    else
        return nb::cast(nb::inst_ptr<Class>(self)->*field.place);
}

// Set a field of a record that has all of them; where it does not go with the others, it stays as it is.
template <class Class, class Owner, class T, class... All>
void change_field(nb::handle self, const Named<Owner, T>& field, nb::handle given, const All&... all) {
    Class& record = *nb::inst_ptr<Class>(self);
    const nb::object kept = nb::getattr(self, "__dict__");
    if constexpr (!HasLengths<T>) return set_field(record, kept, field, given);
    const nb::object before = get_field<Class>(self, field);
    set_field(record, kept, field, given);
    const std::string found = discord(record, all...);
    if (!found.empty()) set_field(record, kept, field, before);
    refuse_discord(Described<Class>::name, found);
}

template <class Class, class Owner, class T, class... All>
void bind_field(nb::class_<Class>& record, const Named<Owner, T>& field, const All&... all) {
    static const std::string annotation = Described<T>::annotation();
    const std::string get = std::string("def ") + field.name + "(self) -> " + annotation;
    const std::string set = std::string("def ") + field.name + "(self, value: " + annotation + ") -> None";
    record.def_prop_rw(
        field.name, [field](nb::handle self) { return get_field<Class>(self, field); },
        [field, all...](nb::handle self, nb::handle given) { change_field<Class>(self, field, given, all...); },
        nb::arg("value").none(), nb::for_getter(nb::sig(get.c_str())), nb::for_setter(nb::sig(set.c_str())));
}

// Set a field to what keywords hold for it, or leave its default; whether they do.
template <class Class, class Owner, class T>
bool take_field(Class& record, const nb::object& kept, const Named<Owner, T>& field, const nb::kwargs& keywords) {
    if (PyObject* given = PyDict_GetItemWithError(keywords.ptr(), field.key)) {
        set_field(record, kept, field, given);
        return true;
    }
    if constexpr (!has_default<T>)
        throw nb::type_error((Described<Class>::name + ": " + field.name + " is missing").c_str());
    else if constexpr (is_view<T>)
        set_field(record, kept, field, nb::none());
    return false;
}

// Raise the TypeError of keywords among which is one that names no field.
[[noreturn]] void refuse_keywords(const std::string& record, const nb::kwargs& keywords,
                                  const std::vector<std::string>& fields);

// Bind a struct as a class whose fields, or those of its bases, are arrays, numbers and other records: it is made of
// keywords, and fields can be set later. Shapes have to go together, at first and whenever a field is set.
template <class Class, class... Owners, class... T>
nb::class_<Class> record(nb::module_& m, const char* name, Field<Owners, T>... fields) {
    Described<Class>::name = name;
    nb::class_<Class> record(m, name, nb::dynamic_attr());
    std::string signature = "def __init__(self, *";
    ((signature +=
      std::string(", ") + fields.name + ": " + Described<T>::annotation() + (has_default<T> ? " = ..." : "")),
     ...);
    signature += ") -> None";
    auto bind = [&](const Named<Owners, T>&... named) {
        auto make = [named...](nb::pointer_and_handle<Class> self, const nb::kwargs& given) {
            Class* made = new (self.p) Class();
            nb::inst_mark_ready(self.h);
            const nb::object kept = nb::getattr(self.h, "__dict__");
            const std::size_t taken = (std::size_t{0} + ... + take_field(*made, kept, named, given));
            if (taken != given.size()) refuse_keywords(Described<Class>::name, given, {named.name...});
            refuse_discord(Described<Class>::name, discord(*made, named...));
        };
        record.def("__init__", make, nb::sig(signature.c_str()));
        (bind_field(record, named, named...), ...);
    };
    bind(Named<Owners, T>(fields)...);
    return record;
}

}  // namespace lagbc
