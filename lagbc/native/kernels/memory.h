// The arrays of a sweep: its constructor takes them one by one, and they are freed with it.
//
// A `Memory` that only counts hands out arrays without memory. So the constructor of a sweep also tells its bytes.
#pragma once

#include <type_traits>

#include "arrays.h"

namespace lagbc {

class Memory {
public:
    // An array by its name, for tests.
    struct Array {
        const char* name;
        uint8_t code;         // kind of its numbers: 0 signed, 1 unsigned, 2 floats
        int item;             // bytes of a number
        int64_t rows, width;  // width below 0: one dimension
        void* data;
    };

    explicit Memory(bool only_counts = false) : only_counts_(only_counts) {}
    Memory(const Memory&) = delete;
    ~Memory();

    // An array that is not initialized, is cleared (pages that are never written take no memory), or is filled.
    template <class T>
    Span<T> array(const char* name, int64_t size) {
        return {take<T>(name, size, -1, false), size};
    }
    template <class T>
    Span<T> zeros(const char* name, int64_t size) {
        return {take<T>(name, size, -1, true), size};
    }
    template <class T>
    Span<T> filled(const char* name, int64_t size, T value) {
        const Span<T> made = array<T>(name, size);
        if (!only_counts_) made.fill(value);
        return made;
    }
    template <class T>
    Matrix<T> matrix(const char* name, int64_t rows, int64_t width) {
        return {take<T>(name, rows, width, false), rows, width};
    }
    template <class T>
    Matrix<T> zero_matrix(const char* name, int64_t rows, int64_t width) {
        return {take<T>(name, rows, width, true), rows, width};
    }
    template <class T>
    Rows<T> rows(const char* name, int64_t size) {
        return {take<T>(name, size, columns, false), size};
    }

    // Count bytes that are taken elsewhere.
    void count(int64_t bytes) { bytes_ += bytes; }

    bool only_counts() const { return only_counts_; }
    int64_t bytes() const { return bytes_; }
    Span<const Array> arrays() const { return {arrays_, count_}; }

private:
    static int64_t bytes_of(const Array& one) { return one.rows * (one.width < 0 ? 1 : one.width) * one.item; }

    template <class T>
    T* take(const char* name, int64_t rows, int64_t width, bool is_cleared) {
        constexpr uint8_t code = std::is_floating_point_v<T> ? 2 : std::is_unsigned_v<T>;
        return static_cast<T*>(take({name, code, sizeof(T), rows, width, nullptr}, is_cleared));
    }
    void* take(Array one, bool is_cleared);

    static constexpr int most = 48;
    Array arrays_[most];
    int count_ = 0;
    int64_t bytes_ = 0;
    bool only_counts_;
};

// Make an array, or None.
template <class Make>
auto maybe(bool is_there, const Make& make) -> Optional<decltype(make())> {
    if (!is_there) return {};
    return {make(), true};
}

}  // namespace lagbc
