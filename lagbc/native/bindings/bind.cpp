#include "bind.h"

#include <algorithm>
#include <array>

#include "shapes.h"

namespace lagbc {
namespace {

std::string text(nb::handle h) {
    return nb::cast<std::string>(nb::str(h));
}

// The texts without repetition, between separators.
std::string join(const std::vector<std::string>& texts, const char* separator) {
    std::vector<std::string> seen;
    std::string joined;
    for (const std::string& one : texts) {
        if (std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
        joined += (seen.empty() ? "" : separator) + one;
        seen.push_back(one);
    }
    return joined;
}

constexpr std::size_t most_arguments = 11;

// Put arguments into slots up to the first that a version does not take; count them.
std::size_t load_all(const Version& version, const nb::handle* given, Slot* slots) {
    const auto& [parameters, all, returned, call] = *version.type;
    std::size_t count = 0;
    while (count < all && parameters[count].load(slots[count], given[count])) ++count;
    return count;
}

std::size_t fitting(const Version& version, const nb::handle* given) {
    Slot slots[most_arguments];
    return load_all(version, given, slots);
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

// How calls are bound, by their number of arguments.
template <std::size_t... count>
constexpr auto binders(std::index_sequence<count...>) {
    using Bind = void (*)(nb::module_&, const Call&);
    return std::array<Bind, sizeof...(count)>{
        [](nb::module_& m, const Call& call) { bind_call(m, call, std::make_index_sequence<count>()); }...};
}

}  // namespace

void bind_listed(nb::module_& m, const Listed* kernels, std::size_t count, Table table) {
    static constexpr auto binds = binders(std::make_index_sequence<most_arguments + 1>());
    for (std::size_t kernel = 0; kernel < count; ++kernel) {
        const auto& [text, types, number] = kernels[kernel];
        std::vector<Version> versions;
        for (std::size_t i = 0; i < number; ++i) versions.push_back({types[i], table[kernel][i]});
        binds.at(types[0]->count)(m, *new Call(text, std::move(versions)));
    }
}

Call::Call(const char* text, std::vector<Version> versions) : versions_(std::move(versions)) {
    const std::string whole = text;
    const auto open = whole.find('(');
    name_ = whole.substr(0, open);
    std::string argument;
    for (const char c : whole.substr(open + 1)) {
        if (c == ',' || c == ')') {
            if (!argument.empty()) arguments_.push_back(argument);
            argument.clear();
        } else if (c != ' ') {
            argument += c;
        }
    }
}

std::string annotation(const Description& type) {
    using Form = Description::Form;
    std::string all;
    if (type.form == Form::array || type.form == Form::stop) {
        const std::string dtype = type.dtype;
        all = "numpy.typing.NDArray[numpy." + (dtype == "bool" ? "bool_" : dtype) + "]";
    } else if (type.form == Form::tuple) {
        for (int i = 0; i < type.count; ++i) all += (i == 0 ? "" : ", ") + annotation(*type.items[i].type);
        all = "tuple[" + all + "]";
    } else if (type.form == Form::record) {
        all = *type.name;
    } else {
        all = type.form == Form::flag ? "bool" : type.form == Form::whole ? "int" : "float";
        if (type.form == Form::nothing) all = "None";
    }
    return type.is_optional ? all + " | None" : all;
}

std::string wanted(const Description& type) {
    using Form = Description::Form;
    std::string all;
    if (type.form == Form::array) {
        const std::string writable = type.is_writable ? "writable " : "";
        all = "a " + writable + "C-contiguous array of " + type.dtype + " of " + type.shape;
    } else if (type.form == Form::tuple) {
        for (int i = 0; i < type.count; ++i) {
            const auto& [item, name, shape] = type.items[i];
            all += (i == 0 ? "" : ", ") + std::string(name) + (shape.empty() ? "" : " " + as_tuple(shape)) + ": " +
                   wanted(*item);
        }
        all = std::string("a ") + *type.name + ", a tuple (" + all + ")";
    } else if (type.form == Form::record) {
        all = std::string("a ") + *type.name;
    } else if (type.form == Form::stop) {
        all = std::string("an array of ") + type.dtype + " of shape (1,)";
    } else {
        all = type.form == Form::flag ? "True or False" : "a number";
        if (type.form == Form::whole) all += std::string(" of ") + type.dtype;
    }
    return type.is_optional ? all + ", or None" : all;
}

std::string found(nb::handle source) {
    if (source.is_none()) return "None";
    if (nb::isinstance<nb::tuple>(source)) {
        std::string items;
        for (nb::handle item : nb::borrow<nb::tuple>(source)) items += (items.empty() ? "" : ", ") + found(item);
        return "a tuple (" + items + ")";
    }
    if (!nb::hasattr(source, "dtype") || !nb::hasattr(source, "shape"))
        return "of type " + text(source.type().attr("__name__"));
    std::string words = "an array of " + text(source.attr("dtype")) + " of shape " + text(source.attr("shape"));
    if (nb::hasattr(source, "flags")) {
        if (!nb::cast<bool>(source.attr("flags")["C_CONTIGUOUS"])) words += " that is not C-contiguous";
        if (!nb::cast<bool>(source.attr("flags")["ALIGNED"])) words += " that is not aligned";
        if (!nb::cast<bool>(source.attr("flags")["WRITEABLE"])) words += " that is read-only";
    }
    return words;
}

nb::object Call::operator()(const nb::handle* given) const {
    Slot slots[most_arguments];
    for (const Version& version : versions_)
        if (load_all(version, given, slots) == arguments_.size()) return version.type->call(version.kernel, slots);
    refuse(given);
}

void Call::refuse(const nb::handle* given) const {
    std::size_t place = 0;
    for (const Version& version : versions_) place = std::max(place, fitting(version, given));
    std::vector<std::string> kinds;
    for (const Version& version : versions_)
        if (fitting(version, given) == place) kinds.push_back(wanted(*version.type->parameters[place].type));
    const std::string message =
        name_ + ": " + arguments_[place] + " has to be " + join(kinds, " or ") + ", not " + found(given[place]);
    throw nb::type_error(message.c_str());
}

std::string Call::signature() const {
    std::vector<std::string> returned;
    for (const Version& version : versions_) returned.push_back(annotation(*version.type->returned));
    std::string signature = "def " + name_ + "(";
    for (std::size_t place = 0; place < arguments_.size(); ++place) {
        std::vector<std::string> annotations;
        for (const Version& version : versions_)
            annotations.push_back(annotation(*version.type->parameters[place].type));
        signature += arguments_[place] + ": " + join(annotations, " | ") + ", ";
    }
    return signature + (arguments_.empty() ? "" : "/") + ") -> " + join(returned, " | ");
}

}  // namespace lagbc
