#include "records.h"

#include <algorithm>

namespace lagbc {
namespace {

using Part = RecordType::Part;

void* place_of(void* record, const Part& part) {
    return static_cast<char*>(record) + part.offset;
}

const void* place_of(const void* record, const Part& part) {
    return static_cast<const char*>(record) + part.offset;
}

bool is_kept(const Part& part) {
    return part.type->get == nullptr;
}

nb::object dict_of(nb::handle self) {
    return nb::getattr(self, "__dict__");
}

}  // namespace

RecordType::RecordType(const char* name, std::vector<Part> parts, Class of)
    : name_(name), parts_(std::move(parts)), of_(of) {
    for (Part& part : parts_) part.key = PyUnicode_InternFromString(part.name);
}

void RecordType::bind(nb::handle bound) {
    bound_ = reinterpret_cast<PyTypeObject*>(bound.ptr());
    auto make = [this](nb::handle self, const nb::kwargs& keywords) { this->make(self, keywords); };
    nb::cpp_function_def(make, nb::scope(bound), nb::name("__init__"), nb::is_method(), nb::sig(signature().c_str()));
    const nb::object property = nb::module_::import_("builtins").attr("property");
    for (const Part& part : parts_) {
        auto get = [this, &part](nb::handle self) { return this->get(self, part); };
        auto set = [this, &part](nb::handle self, nb::handle given) { change(self, part, given); };
        const std::string type = annotation(*part.type->description), before = std::string("def ") + part.name;
        const std::string getter = before + "(self) -> " + type;
        const std::string setter = before + "(self, value: " + type + ") -> None";
        bound.attr(part.name) =
            property(nb::cpp_function(get, nb::is_method(), nb::sig(getter.c_str())),
                     nb::cpp_function(set, nb::is_method(), nb::arg("value").none(), nb::sig(setter.c_str())));
    }
}

std::string RecordType::signature() const {
    std::string all = "def __init__(self, *";
    for (const Part& part : parts_)
        all += std::string(", ") + part.name + ": " + annotation(*part.type->description) +
               (part.type->has_default ? " = ..." : "");
    return all + ") -> None";
}

void* RecordType::record_of(nb::handle self) const {
    if (PyObject_TypeCheck(self.ptr(), bound_)) return nb::inst_ptr<void>(self);
    throw nb::type_error(("this is no " + name_).c_str());
}

void RecordType::make(nb::handle self, const nb::kwargs& keywords) const {
    void* record = record_of(self);
    of_.make(record);
    nb::inst_mark_ready(self);
    const nb::object kept = dict_of(self);
    std::size_t taken = 0;
    for (const Part& part : parts_) {
        if (PyObject* given = PyDict_GetItemWithError(keywords.ptr(), part.key)) {
            set(kept, record, part, given);
            ++taken;
        } else if (!part.type->has_default) {
            throw nb::type_error((name_ + ": " + part.name + " is missing").c_str());
        } else if (is_kept(part)) {
            set(kept, record, part, nb::none());
        }
    }
    if (taken != keywords.size())
        for (auto [keyword, value] : keywords) {
            const auto is_named = [&, key = keyword](const Part& part) { return nb::handle(part.key).equal(key); };
            if (std::none_of(parts_.begin(), parts_.end(), is_named))
                throw nb::type_error((name_ + " has no field " + nb::cast<std::string>(keyword)).c_str());
        }
    refuse(discord(record));
}

void RecordType::change(nb::handle self, const Part& part, nb::handle given) const {
    void* record = record_of(self);
    const nb::object kept = dict_of(self);
    Lengths lengths;
    if (!part.type->lengths(place_of(record, part), lengths)) return set(kept, record, part, given);
    const nb::object before = get(self, part);
    set(kept, record, part, given);
    const std::string found = discord(record);
    if (!found.empty()) set(kept, record, part, before);
    refuse(found);
}

nb::object RecordType::get(nb::handle self, const Part& part) const {
    const void* record = record_of(self);
    if (is_kept(part)) return nb::cast<nb::dict>(dict_of(self))[part.key];
    return part.type->get(place_of(record, part));
}

void RecordType::set(const nb::object& kept, void* record, const Part& part, nb::handle given) const {
    if (!part.type->set(place_of(record, part), given))
        throw nb::type_error(
            (name_ + ": " + part.name + " has to be " + wanted(*part.type->description) + ", not " + found_old(given))
                .c_str());
    if (is_kept(part) && PyDict_SetItem(kept.ptr(), part.key, given.ptr()) != 0) throw nb::python_error();
}

std::string RecordType::discord(const void* record) const {
    Sizes sizes;
    for (const Part& part : parts_) {
        Lengths lengths;
        if (part.type->lengths(place_of(record, part), lengths) && !sizes.fit(part.shape, lengths))
            return std::string(part.name) + " has to be of shape " + sizes.words(part.shape) + ", not " +
                   as_tuple(lengths);
    }
    return of_.broken_by(record);
}

void RecordType::refuse(const std::string& discord) const {
    if (!discord.empty()) throw nb::value_error((name_ + ": " + discord).c_str());
}

}  // namespace lagbc
