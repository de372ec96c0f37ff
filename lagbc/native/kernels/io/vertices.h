// The vertices of an edge list, numbered in the order in which they first occur: lagbc/io/scan.py.
//
// They are in hash tables with linear probing: a slot holds the number of a vertex, -1 where it is empty. Slots are a
// power of two, at least 4 / 3 a vertex, all ends of the next piece of edges counted as new.
#pragma once

#include <cstring>
#include <tuple>

#include "../buffer.h"

namespace lagbc {

// A column of texts: text[starts[i]:stops[i]] in row i.
struct Texts {
    Span<const uint8_t> text;
    Span<const int64_t> starts, stops;
};

// Vertices that are integers: number v is ids[v].
struct Integers {
    Buffer<int64_t> ids{1024};
    Buffer<int32_t> slots;
    int64_t count = 0;
};

// Vertices that are names: number v has the hash hashes[v] and the bytes text[offsets[v]:offsets[v + 1]], the last one
// a newline. A slot holds bits of the hash above the number: other names are mostly told apart without a look at them.
struct Names {
    Buffer<uint8_t> text{1 << 16};
    Buffer<int64_t> offsets{1025, 0};
    Buffer<uint64_t> hashes{1024};
    Buffer<int64_t> slots;
    int64_t count = 0;
};

// The largest row and column of SciPy's matrices.
inline constexpr int64_t most_vertices = INT32_MAX;
// Odd constants that spread keys over a table: 2**64 over the golden ratio, and the prime of the hash FNV-1a.
inline constexpr uint64_t golden = 0x9E3779B97F4A7C15, fnv_base = 0xCBF29CE484222325, fnv_prime = 0x100000001B3;

// Give an array room for `size` items: half as many again where it has to be moved.
template <class T>
void grow(Buffer<T>& array, int64_t size) {
    if (size > array.size()) array.resize(size + size / 2);
}

// The first slot of a key; the upper half of the product depends on all bits of the key.
LAGBC_INLINE int64_t first_slot(uint64_t key, int64_t mask) {
    return static_cast<int64_t>((key * golden) >> 32) & mask;
}

// Make the table anew, larger, if `most` vertices would crowd it.
template <class Slot, class Hash, class Value>
void make_room(Buffer<Slot>& slots, int64_t count, int64_t most, const Hash& hash_of, const Value& value_of) {
    if (4 * most <= 3 * slots.size()) return;
    int64_t size = 2048;
    while (size < 2 * most) size *= 2;
    slots = Buffer<Slot>(size, -1);
    for (int64_t number = 0; number < count; ++number) {
        int64_t slot = first_slot(hash_of(number), size - 1);
        while (slots[slot] >= 0) slot = (slot + 1) & (size - 1);
        slots[slot] = value_of(number);
    }
}

// The numbers of vertices that are integers.
inline Buffer<int32_t> number_integers(Integers& known, Span<const int64_t> keys) {
    auto& [ids, slots, count] = known;
    const int64_t most = count + keys.size;
    grow(ids, most);
    make_room(
        slots, count, most, [&](int64_t number) { return static_cast<uint64_t>(ids[number]); },
        [](int64_t number) { return static_cast<int32_t>(number); });
    const int64_t mask = slots.size() - 1;
    Buffer<int32_t> numbers(keys.size);
    for (int64_t i = 0; i < keys.size; ++i) {
        const int64_t key = keys[i];
        int64_t slot = first_slot(static_cast<uint64_t>(key), mask);
        while (slots[slot] >= 0 && ids[slots[slot]] != key) slot = (slot + 1) & mask;
        if (slots[slot] < 0) {
            ids[count] = key;
            slots[slot] = static_cast<int32_t>(count++);
        }
        numbers[i] = slots[slot];
    }
    return numbers;
}

// Whether a name and the newline behind it stand at a place; no name holds a newline.
inline bool is_name(Span<const uint8_t> name, const uint8_t* place) {
    for (int64_t q = 0; q < name.size; ++q)
        if (place[q] != name[q]) return false;
    return place[name.size] == '\n';
}

// The upper 31 bits of a hash: with them a slot is not negative.
LAGBC_INLINE int64_t tag_of(uint64_t hash) {
    return static_cast<int64_t>(hash >> 33);
}

// FNV-1a.
inline uint64_t hash_name(Span<const uint8_t> name) {
    uint64_t hash = fnv_base;
    for (const uint8_t byte : name) hash = (hash ^ byte) * fnv_prime;
    return hash;
}

// The number of a name, a new one if the name is new; -1 if it is empty or has a newline. There is a free slot.
inline int64_t number_name(Names& known, Span<const uint8_t> name) {
    auto& [text, offsets, hashes, slots, count] = known;
    const uint64_t hash = hash_name(name);
    const int64_t mask = slots.size() - 1, tag = tag_of(hash);
    int64_t slot = first_slot(hash, mask);
    for (; slots[slot] >= 0; slot = (slot + 1) & mask) {
        const int64_t number = slots[slot] & most_vertices;
        if (slots[slot] >> 32 == tag && is_name(name, &text[offsets[number]])) return number;
    }
    if (name.size == 0 || std::memchr(name.data, '\n', name.size) != nullptr) return -1;
    int64_t end = offsets[count];
    grow(text, end + name.size + 1);
    grow(hashes, count + 1);
    grow(offsets, count + 2);
    slots[slot] = tag << 32 | count;
    hashes[count] = hash;
    for (const uint8_t byte : name) text[end++] = byte;
    text[end++] = '\n';
    offsets[count + 1] = end;
    return count++;
}

// The number of the text in a row of a column.
LAGBC_INLINE int64_t number_text(Names& known, const Texts& column, int64_t row) {
    return number_name(known, {column.text.data + column.starts[row], column.stops[row] - column.starts[row]});
}

// The numbers of tails and heads that are names, edge by edge, up to the first row with an end that is empty or has a
// newline; and this row, or -1.
inline std::tuple<Buffer<int32_t>, Buffer<int32_t>, int64_t> number_names(Names& known, const Texts& tails,
                                                                          const Texts& heads) {
    const int64_t rows = tails.starts.size;
    make_room(
        known.slots, known.count, known.count + 2 * rows, [&](int64_t number) { return known.hashes[number]; },
        [&](int64_t number) { return tag_of(known.hashes[number]) << 32 | number; });
    Buffer<int32_t> tail_numbers(rows), head_numbers(rows);
    int64_t row = 0;
    for (; row < rows; ++row) {
        const int64_t tail = number_text(known, tails, row), head = number_text(known, heads, row);
        if (tail < 0 || head < 0) break;
        tail_numbers[row] = static_cast<int32_t>(tail);
        head_numbers[row] = static_cast<int32_t>(head);
    }
    if (row == rows) return {std::move(tail_numbers), std::move(head_numbers), -1};
    tail_numbers.resize(row);
    head_numbers.resize(row);
    return {std::move(tail_numbers), std::move(head_numbers), row};
}

}  // namespace lagbc
