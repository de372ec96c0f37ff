#include "bind.h"

#include <algorithm>

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

// How many arguments a version takes before one that it does not.
std::size_t fitting(const Version& version, const nb::handle* given) {
    std::size_t count = 0;
    while (count < version.parameters.size() && version.parameters[count].fits(given[count])) ++count;
    return count;
}

}  // namespace

Call::Call(const char* signature) {
    const std::string whole = signature;
    const auto open = whole.find('(');
    name = whole.substr(0, open);
    std::string argument;
    for (const char c : whole.substr(open + 1)) {
        if (c == ',' || c == ')') {
            if (!argument.empty()) arguments.push_back(argument);
            argument.clear();
        } else if (c != ' ') {
            argument += c;
        }
    }
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

void refuse(const Call& call, const std::vector<Version>& versions, const nb::handle* given) {
    std::size_t place = 0;
    for (const Version& version : versions) place = std::max(place, fitting(version, given));
    std::vector<std::string> wanted;
    for (const Version& version : versions)
        if (fitting(version, given) == place) wanted.push_back(version.parameters[place].wanted);
    const std::string message = call.name + ": " + call.arguments[place] + " has to be " + join(wanted, " or ") +
                                ", not " + found(given[place]);
    throw nb::type_error(message.c_str());
}

void refuse_field(const std::string& record, const char* field, const std::string& wanted, nb::handle given) {
    throw nb::type_error((record + ": " + field + " has to be " + wanted + ", not " + found(given)).c_str());
}

void refuse_keywords(const std::string& record, const nb::kwargs& keywords, const std::vector<std::string>& fields) {
    std::string unknown;
    for (auto [keyword, value] : keywords)
        if (unknown = nb::cast<std::string>(keyword); std::find(fields.begin(), fields.end(), unknown) == fields.end())
            break;
    throw nb::type_error((record + " has no field " + unknown).c_str());
}

void refuse_discord(const std::string& record, const std::string& found) {
    if (!found.empty()) throw nb::value_error((record + ": " + found).c_str());
}

std::string signature_of(const Call& call, const std::vector<Version>& versions) {
    std::vector<std::string> returned;
    for (const Version& version : versions) returned.push_back(version.returned);
    std::string signature = "def " + call.name + "(";
    for (std::size_t place = 0; place < call.arguments.size(); ++place) {
        std::vector<std::string> annotations;
        for (const Version& version : versions) annotations.push_back(version.parameters[place].annotation);
        signature += call.arguments[place] + ": " + join(annotations, " | ") + ", ";
    }
    return signature + (call.arguments.empty() ? "" : "/") + ") -> " + join(returned, " | ");
}

}  // namespace lagbc
