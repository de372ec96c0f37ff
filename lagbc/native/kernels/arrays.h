// Arrays as kernels see them: a pointer and a shape, no ownership.
#pragma once

#include <cstdint>
#include <type_traits>

// LAGBC_INLINE stands before functions, LAGBC_INLINED behind the parameters of lambdas.
#define LAGBC_INLINE [[gnu::always_inline]] inline
#define LAGBC_INLINED __attribute__((always_inline))

namespace lagbc {

using std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t;

// The two types of column indices that a graph may have.
using Narrow = int32_t;
using Wide = int64_t;

// Roots that are swept together: the columns of a row, and the bits of a mask.
inline constexpr int columns = 64;

inline constexpr double infinity = __builtin_inf();

// A C-contiguous array of one dimension.
template <class T>
struct Span {
    T* data = nullptr;
    int64_t size = 0;
    static constexpr int64_t width = -1;  // none

    T& operator[](int64_t i) const { return data[i]; }
    operator Span<const T>() const
        requires(!std::is_const_v<T>)
    {
        return {data, size};
    }
    T* begin() const { return data; }
    T* end() const { return data + size; }
    void fill(T value) const {
        for (int64_t i = 0; i < size; ++i) data[i] = value;
    }
};

// A C-contiguous array of two dimensions; [i] is row i.
template <class T>
struct Matrix {
    T* data = nullptr;
    int64_t size = 0;  // count of rows
    int64_t width = 0;

    Span<T> operator[](int64_t i) const { return {data + width * i, width}; }
};

// A C-contiguous array of shape (size, 64); [v] points to row v.
template <class T>
struct Rows {
    T* data = nullptr;
    int64_t size = 0;
    static constexpr int64_t width = columns;

    T* operator[](int64_t v) const { return data + columns * v; }
};

// A view, or None.
template <class View>
struct Optional : View {
    bool is_there = false;

    template <class Other>
        requires std::is_convertible_v<View, Other>
    operator Optional<Other>() const {
        return {*this, is_there};
    }
};

// A matrix in compressed rows, or its pattern alone: the edges of v are indptr[v]:indptr[v + 1].
template <class Index>
struct Csr {
    Span<const int64_t> indptr;
    Span<const Index> indices;
    Optional<Span<const double>> lengths;  // None where each edge is of length 1

    int64_t n() const { return indptr.size - 1; }
};

// A flag that another thread may set while a kernel runs: a plain read could be moved out of the loop.
struct Stop {
    static constexpr uint8_t never = 0;
    Span<const uint8_t> flag{&never, 1};

    bool is_set() const { return __atomic_load_n(flag.data, __ATOMIC_RELAXED) != 0; }
};

}  // namespace lagbc
