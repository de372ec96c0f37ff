#include "shapes.h"

#include <charconv>

namespace lagbc {
namespace {

// Take the text before a separator, or all, out of a text.
std::string_view take(std::string_view& text, std::string_view separator) {
    const auto end = text.find(separator);
    const std::string_view taken = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + separator.size());
    return taken;
}

bool is_number(std::string_view term) {
    return '0' <= term[0] && term[0] <= '9';
}

int64_t number_of(std::string_view term) {
    int64_t number = 0;
    std::from_chars(term.data(), term.data() + term.size(), number);
    return number;
}

}  // namespace

const Sizes::Size* Sizes::find(std::string_view name) const noexcept {
    for (int i = 0; i < count_; ++i)
        if (known_[i].name == name) return &known_[i];
    return nullptr;
}

bool Sizes::fit_one(std::string_view sum, int64_t length) noexcept {
    std::string_view unknown;
    while (!sum.empty()) {
        const std::string_view term = take(sum, " + ");
        if (is_number(term))
            length -= number_of(term);
        else if (const Size* known = find(term))
            length -= known->size;
        else
            unknown = term;
    }
    if (unknown.empty()) return length == 0;
    if (length < 0 || count_ == most) return false;
    known_[count_++] = {unknown, length};
    return true;
}

bool Sizes::fit(std::string_view shape, const Lengths& lengths) noexcept {
    for (int i = 0; i < lengths.count; ++i)
        if (!fit_one(take(shape, ", "), lengths.of[i])) return false;
    return true;
}

std::string Sizes::words(std::string_view shape) const {
    std::string all = as_tuple(shape), separator = ", ";
    while (!shape.empty()) {
        std::string_view sum = take(shape, ", ");
        while (!sum.empty()) {
            const Size* known = find(take(sum, " + "));
            if (known == nullptr) continue;
            all += separator + std::string(known->name) + " being " + std::to_string(known->size);
            separator = " and ";
        }
    }
    return all;
}

std::string as_tuple(std::string_view shape) {
    return "(" + std::string(shape) + (shape.find(',') == shape.npos ? ",)" : ")");
}

std::string as_tuple(const Lengths& lengths) {
    std::string all;
    for (int i = 0; i < lengths.count; ++i) all += (i == 0 ? "" : ", ") + std::to_string(lengths.of[i]);
    return as_tuple(all);
}

}  // namespace lagbc
