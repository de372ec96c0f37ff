// Records as Python sees them: structs whose fields are arrays, numbers and other records.
//
// A record is made of keywords, and its fields can be set later. Shapes have to go together, at first and whenever a
// field is set. Code that depends on the type of a field alone is compiled once a type, and all else once.
#pragma once

#include <bit>
#include <vector>

#include "casters.h"
#include "shapes.h"

namespace lagbc {

// A field of a record: its name in Python, its place, and, for arrays and graphs, the shape.
template <class Class, class T>
struct Field {
    const char* name;
    T Class::* place;
    std::string_view shape = {};
};

// Whether the object that a field is set to is kept, as the field points into it.
template <class T>
inline constexpr bool is_view = std::is_same_v<T, Stop> || std::is_pointer_v<T>;
template <class Record>
inline constexpr bool is_view<Ref<Record>> = true;
template <class View>
    requires requires { typename OldArrayOf<View>::Item; }
inline constexpr bool is_view<View> = true;
template <class View>
inline constexpr bool is_view<Optional<View>> = true;

template <class T>
inline constexpr bool has_default = !is_view<T> || std::is_pointer_v<T>;
template <class View>
inline constexpr bool has_default<Optional<View>> = true;

// How a field of a type is set, read and described, in any record.
struct FieldType {
    bool (*set)(void* place, nb::handle given);    // returns whether the object is of the type
    nb::object (*get)(const void* place);          // null where the object that it is set to is kept
    bool (*lengths)(const void* place, Lengths&);  // returns whether it has any
    const Description* description;
    bool has_default;
};

template <class T>
bool set_place(void* place, nb::handle given) {
    Argument<T> argument;
    if (!load<T>(argument, given)) return false;
    *static_cast<T*>(place) = argument.operator nb::detail::cast_t<T>();
    return true;
}

template <class T>
nb::object get_place(const void* place) {
    return nb::cast(*static_cast<const T*>(place));
}

template <class T>
bool lengths_at(const void* place, Lengths& lengths) {
    if constexpr (HasLengths<T>) lengths = lengths_of(*static_cast<const T*>(place));
    return HasLengths<T>;
}

template <class T>
constexpr auto getter_of() -> nb::object (*)(const void*) {
    if constexpr (is_view<T>)
        return nullptr;
    else
        return get_place<T>;
}

template <class T>
inline constexpr FieldType field_type = {set_place<T>, getter_of<T>(), lengths_at<T>, lagbc::description<T>(),
                                         has_default<T>};

// A further rule for records of a class: the fault of a record, "" for none.
template <class Class>
struct Rule {
    static std::string broken_by(const Class&) { return ""; }
};

// A class of records, kept as long as the process.
class RecordType {
public:
    // A field by its name, which is an object, too, its type and its place in a record.
    struct Part {
        const char* name;
        std::string_view shape;
        const FieldType* type;
        std::size_t offset;
        PyObject* key;
    };

    // How records of a class are made, and the fault of one, "" for none.
    struct Class {
        void (*make)(void* place);
        std::string (*broken_by)(const void* record);
    };

    RecordType(const char* name, std::vector<Part> parts, Class of);

    const char* name() const { return name_.c_str(); }

    // Bind the fields and how records are made; the class in Python lives as long.
    void bind(nb::handle bound);

private:
    std::string signature() const;

    // Make a record, and set its fields from keywords.
    void make(nb::handle self, const nb::kwargs& keywords) const;

    // Set a field of a record that has all of them; where it does not go with the others, it stays as it was.
    void change(nb::handle self, const Part& part, nb::handle given) const;

    nb::object get(nb::handle self, const Part& part) const;

    // The record of an object; TypeError if it is none of this class.
    void* record_of(nb::handle self) const;

    // Set a field. An array is kept in the __dict__ of the record as long as it is the field.
    void set(const nb::object& kept, void* record, const Part& part, nb::handle given) const;

    // The fault of the fields of a record beside each other; "" for none.
    std::string discord(const void* record) const;

    // Raise the ValueError of fields that do not go together, if there is a fault.
    void refuse(const std::string& discord) const;

    std::string name_;
    std::vector<Part> parts_;
    Class of_;
    PyTypeObject* bound_ = nullptr;
};

// The offset of a field that is the record's own, or of a base that comes first in it.
template <class Owner, class T>
std::size_t offset_of(T Owner::* place) {
    static_assert(sizeof place == sizeof(std::size_t));
    return std::bit_cast<std::size_t>(place);
}

// Bind a struct as a class whose fields are its own or those of its base.
template <class Class, class... Owners, class... T>
nb::class_<Class> record(nb::module_& m, const char* name, Field<Owners, T>... fields) {
    constexpr RecordType::Class of = {
        [](void* place) { new (place) Class(); },
        [](const void* made) { return Rule<Class>::broken_by(*static_cast<const Class*>(made)); }};
    auto* type =
        new RecordType(name, {{fields.name, fields.shape, &field_type<T>, offset_of(fields.place), nullptr}...}, of);
    Described<Class>::name = type->name();
    nb::class_<Class> bound(m, name, nb::dynamic_attr());
    type->bind(bound);
    return bound;
}

}  // namespace lagbc
