// The bytes of graph files and tables: lines into fields, fields into numbers; lagbc/io/scan.py.
//
// A text holds whole lines, each with its newline. The i-th wanted field of the e-th edge is the range starts[i][e] to
// stops[i][e] of the text.
#pragma once

#include <cmath>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "../buffer.h"

namespace lagbc {

// The separator that stands for any run of blanks.
inline constexpr int64_t blanks = ' ';

inline bool is_blank(uint8_t byte, int64_t separator) {
    return byte == ' ' || byte == '\v' || byte == '\f' || (byte == '\t' && separator != '\t');
}

inline bool begins_comment(uint8_t byte) {
    return byte == '#' || byte == '%';
}

// The separator of fields, and whether a comment may begin anywhere (`glued`), or only as a line, or as a field between
// blanks.
struct Format {
    int64_t separator;  // a byte, or `blanks`; blanks around a field are no part of it
    bool glued;

    LAGBC_INLINE bool ends_field(uint8_t byte) const {
        if (byte == '\n' || (glued && begins_comment(byte))) return true;
        return separator == blanks ? is_blank(byte, blanks) : byte == separator;
    }
};

// Reasons why a line has no fields.
inline constexpr int64_t open_quote = -1, text_after_quote = -2;

// A range of a text, and the place to go on from; -1 where a quoted text does not end.
struct Field {
    int64_t begin, end, after;
};

// Read the quoted text at p; doubled quotes become single ones, in place.
inline Field read_quoted(Span<uint8_t> text, int64_t p) {
    int64_t end = ++p;
    const int64_t begin = p;
    for (; text[p] != '\n'; ++p) {
        if (text[p] == '"') {
            if (text[p + 1] != '"') return {begin, end, p + 1};
            ++p;
        }
        text[end++] = text[p];
    }
    return {begin, end, -1};
}

inline Field read_field(Span<uint8_t> text, int64_t p, const Format& format) {
    if (text[p] == '"') return read_quoted(text, p);
    const int64_t begin = p;
    while (!format.ends_field(text[p])) ++p;
    int64_t end = p;
    while (end > begin && is_blank(text[end - 1], format.separator)) --end;
    return {begin, end, p};
}

// Call `take(column, field)` for each field of the line at p; return their count, with p at the newline, or a reason.
template <class Take>
LAGBC_INLINE int64_t each_field(Span<uint8_t> text, int64_t& p, const Format& format, const Take& take) {
    const auto skip_blanks = [&] {
        while (is_blank(text[p], format.separator)) ++p;
    };
    int64_t column = 0;
    skip_blanks();
    while (true) {
        const Field field = read_field(text, p, format);
        if (field.after < 0) return open_quote;
        p = field.after;
        take(column++, field);
        skip_blanks();
        if (begins_comment(text[p]) && (format.glued || format.separator == blanks))
            while (text[p] != '\n') ++p;
        if (text[p] == '\n') return column;
        if (format.separator == blanks) {
            if (p == field.after) return text_after_quote;
            continue;
        }
        if (text[p] != format.separator) return text_after_quote;
        ++p;
        skip_blanks();
    }
}

// The begin and end of each field of a line, in turn; and the count of fields, or a reason.
inline std::tuple<Buffer<int64_t>, int64_t> split_line(Span<uint8_t> text, int64_t separator, bool glued) {
    Buffer<int64_t> bounds(2 * text.size);
    int64_t p = 0;
    const int64_t count = each_field(text, p, {separator, glued}, [&](int64_t column, const Field& field) {
        bounds[2 * column] = field.begin;
        bounds[2 * column + 1] = field.end;
    });
    bounds.resize(count < 0 ? 0 : 2 * count);
    return {std::move(bounds), count};
}

// Find the wanted fields of each line that is an edge, and has to have `columns` fields.
//
// wanted         columns, counted from 0 and ascending
// starts, stops  (wanted, lines of the text): are written
// lines          is written: the line of each edge, counted from 0
//
// Returns the counts of edges and of comments before the first wrong line; and this line, or -1.
inline std::tuple<int64_t, int64_t, int64_t> split_lines(Span<uint8_t> text, int64_t separator, int64_t columns,
                                                         Span<const int64_t> wanted, bool glued, Matrix<int64_t> starts,
                                                         Matrix<int64_t> stops, Span<int64_t> lines) {
    const Format format{separator, glued};
    int64_t edges = 0, comments = 0, line = 0;
    for (int64_t p = 0; p < text.size; ++p, ++line) {
        const int64_t begin = p;
        while (is_blank(text[p], blanks)) ++p;
        if (text[p] == '\n') continue;
        if (begins_comment(text[p])) {
            ++comments;
            while (text[p] != '\n') ++p;
            continue;
        }
        p = begin;
        int64_t at = 0;
        const int64_t found = each_field(text, p, format, [&](int64_t column, const Field& field) {
            if (at == wanted.size || wanted[at] != column) return;
            starts[at][edges] = field.begin;
            stops[at++][edges] = field.end;
        });
        if (found != columns) return {edges, comments, line};
        lines[edges++] = line;
    }
    return {edges, comments, -1};
}

// Read a sign at p, if there is one; return whether it is a minus.
inline bool read_sign(Span<const uint8_t> text, int64_t& p, int64_t end) {
    const bool is_negative = p < end && text[p] == '-';
    if (p < end && (text[p] == '-' || text[p] == '+')) ++p;
    return is_negative;
}

// Read the field p to end as an integer of 64 bits; return whether it is one. If it is to be `plain`, 007, +7 and -0
// are none.
inline bool parse_integer(Span<const uint8_t> text, int64_t p, int64_t end, int64_t& integer, bool plain = false) {
    constexpr int64_t lowest = INT64_MIN;
    int64_t value = 0;  // the negative of the integer, as int64 has one negative more
    const int64_t begin = p;
    const bool is_negative = read_sign(text, p, end);
    if (p == end) return false;
    if (plain && (text[begin] == '+' || (text[p] == '0' && end - begin > 1))) return false;
    for (; p < end; ++p) {
        const int64_t digit = text[p] - '0';
        if (digit < 0 || digit > 9 || value < lowest / 10 || 10 * value < lowest + digit) return false;
        value = 10 * value - digit;
    }
    if (!is_negative && value == lowest) return false;
    integer = is_negative ? value : -value;
    return true;
}

// Read fields as integers of 64 bits; return the first field that is none, or -1.
inline int64_t parse_integers(Span<const uint8_t> text, Span<const int64_t> starts, Span<const int64_t> stops,
                              bool plain, Span<int64_t> values) {
    for (int64_t i = 0; i < values.size; ++i)
        if (!parse_integer(text, starts[i], stops[i], values[i], plain)) return i;
    return -1;
}

// Read lines of integers between blanks; lines that begin with a percent sign are comments.
//
// Returns the integers of all lines, 0 for a field that is none; the count of each line, -1 for a comment; and the
// first line with a field that is no integer, or -1.
inline std::tuple<Buffer<int64_t>, Buffer<int64_t>, int64_t> parse_rows(Span<const uint8_t> text) {
    int64_t lines = 0, count = 0, wrong = -1;
    for (const uint8_t byte : text) lines += byte == '\n';
    Buffer<int64_t> values(text.size / 2), sizes(lines);
    for (int64_t p = 0, line = 0; line < lines; ++p, ++line) {
        sizes[line] = text[p] == '%' ? -1 : 0;
        if (text[p] == '%')
            while (text[p] != '\n') ++p;
        for (; text[p] != '\n'; ++sizes[line]) {
            while (is_blank(text[p], blanks)) ++p;
            if (text[p] == '\n') break;
            const int64_t begin = p;
            while (text[p] != '\n' && !is_blank(text[p], blanks)) ++p;
            values[count] = 0;
            if (!parse_integer(text, begin, p, values[count++]) && wrong < 0) wrong = line;
        }
    }
    values.resize(count);
    return {std::move(values), std::move(sizes), wrong};
}

// float64 holds integers up to 2**53 exactly, and powers of ten up to 10**22.
inline constexpr int64_t exact = int64_t{1} << 53, exact_power = 22, longest = INT64_MAX / 10;
inline constexpr double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                           1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Read an exponent of at most four digits at p, and move p behind it, to -1 if there is none.
inline int64_t read_exponent(Span<const uint8_t> text, int64_t& p, int64_t end) {
    const bool is_negative = read_sign(text, p, end);
    const int64_t first = p;
    int64_t exponent = 0;
    for (; p < end && p < first + 4 && '0' <= text[p] && text[p] <= '9'; ++p) exponent = 10 * exponent + text[p] - '0';
    if (p == first) p = -1;
    return is_negative ? -exponent : exponent;
}

// Compute m * 10**power in float64, for m < 2**63 and abs(power) <= 22; return whether the result is known to be
// correct.
//
// A `long double` with a mantissa of 64 bits holds both factors exactly: the result is rounded there, and once more to
// float64. That is correct unless the first rounding gives the middle between two floats. Windows has the processor
// round `long double` to 53 bits: then the first rounding is the only one.
inline bool scale(int64_t m, int64_t power, double& value) {
    if constexpr (std::numeric_limits<long double>::digits < 64) return false;
    const auto scaled = power >= 0 ? static_cast<long double>(m) * powers_of_ten[power]
                                   : static_cast<long double>(m) / powers_of_ten[-power];
    value = static_cast<double>(scaled);
    const long double beyond = scaled + (scaled - value);
    return scaled == value || beyond != static_cast<double>(beyond);
}

// Read the field p to end as a float m * 10**e with m < 2**63 and abs(e) <= 22; return whether it is one, correctly
// rounded. With m < 2**53 both factors are exact in float64, and the result is rounded once.
inline bool parse_float(Span<const uint8_t> text, int64_t p, int64_t end, double& value) {
    const bool is_negative = read_sign(text, p, end);
    int64_t mantissa = 0, power = 0, digits = 0;
    bool after_point = false;
    for (; p < end && mantissa < longest; ++p) {
        const int64_t digit = text[p] - '0';
        if (0 <= digit && digit <= 9) {
            mantissa = 10 * mantissa + digit;
            ++digits;
            power -= after_point;
        } else if (text[p] == '.' && !after_point) {
            after_point = true;
        } else {
            break;
        }
    }
    if (digits > 0 && p < end && (text[p] | 32) == 'e') power += read_exponent(text, ++p, end);
    if (p != end || digits == 0 || std::abs(power) > exact_power) return false;
    if (mantissa >= exact) {
        if (!scale(mantissa, power, value)) return false;
        value = is_negative ? -value : value;
        return true;
    }
    const auto whole = static_cast<double>(mantissa);
    const double size = power >= 0 ? whole * powers_of_ten[power] : whole / powers_of_ten[-power];
    value = is_negative ? -size : size;
    return true;
}

// Read fields as floats; also return the fields that are left to Python: floats that are hard to round, and no numbers.
inline std::tuple<Buffer<double>, Buffer<int64_t>> parse_floats(Span<const uint8_t> text, Span<const int64_t> starts,
                                                                Span<const int64_t> stops) {
    Buffer<double> values(starts.size);
    Buffer<int64_t> hard(starts.size);
    int64_t count = 0;
    for (int64_t i = 0; i < starts.size; ++i)
        if (!parse_float(text, starts[i], stops[i], values[i])) hard[count++] = i;
    hard.resize(count);
    return {std::move(values), std::move(hard)};
}

}  // namespace lagbc
