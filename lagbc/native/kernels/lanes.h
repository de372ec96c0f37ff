// Vectors of the width of the level of instructions, and sets of their lanes: the only file that names instructions.
//
// A row of 64 columns is `parts_of<T>` vectors of numbers T: float64, or integers of 16 bits. Rows in memory are
// aligned like their items, as numpy gives no more: they are read by `load` and written by `store`, never by pointers
// to vectors.
#pragma once

#include "arrays.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace lagbc {

// Stands before operations on whole rows. They are inlined at levels whose registers hold a row, where calls cost 1 to
// 5 %; with the shortest vectors calls cost 2 %, and dozens of inlined copies 0.3 MB.
#if defined(__AVX2__)
#define LAGBC_APART LAGBC_INLINE
#else
#define LAGBC_APART [[gnu::noinline]] inline
#endif

#if defined(__AVX512F__)
inline constexpr int lanes = 8;
#elif defined(__AVX2__)
inline constexpr int lanes = 4;
#else
inline constexpr int lanes = 2;
#endif
inline constexpr int short_lanes = 4 * lanes;

using Lanes = double __attribute__((vector_size(8 * lanes)));
using ShortLanes = uint16_t __attribute__((vector_size(2 * short_lanes)));

template <class T>
struct Vector;
template <>
struct Vector<double> {
    using Type = Lanes;
};
template <>
struct Vector<uint16_t> {
    using Type = ShortLanes;
};
template <class T>
using VectorOf = typename Vector<T>::Type;

template <class T>
inline constexpr int lanes_of = sizeof(VectorOf<T>) / sizeof(T);
template <class T>
inline constexpr int parts_of = columns / lanes_of<T>;
inline constexpr int parts = parts_of<double>;

template <class T>
LAGBC_INLINE VectorOf<T> load(const T* row, int i) {
    VectorOf<T> value;
    __builtin_memcpy(&value, row + lanes_of<T> * i, sizeof value);
    return value;
}

template <class T>
LAGBC_INLINE void store(T* row, int i, VectorOf<T> value) {
    __builtin_memcpy(row + lanes_of<T> * i, &value, sizeof value);
}

// Sets of lanes: mask registers, or vectors of signed integers as wide as the lanes, all ones where a lane is in the
// set.
#if defined(__AVX512F__)
using Set = __mmask8;
using ShortSet = __mmask32;

// The columns of a mask in part i of a row.
LAGBC_INLINE Set set_of(uint64_t mask, int i) {
    return static_cast<Set>(mask >> (lanes * i));
}

LAGBC_INLINE ShortSet short_set_of(uint64_t mask, int i) {
    return static_cast<ShortSet>(mask >> (short_lanes * i));
}

// In a general register first: GCC 12 may save a mask register with as many bits as the set has, and read back 64.
LAGBC_INLINE uint64_t bits_of(uint32_t set) {
    asm("" : "+r"(set));
    return set;
}

LAGBC_INLINE bool is_any(uint32_t set) {
    return set != 0;
}

LAGBC_INLINE Lanes select(Set set, Lanes one, Lanes other) {
    return _mm512_mask_blend_pd(set, other, one);
}

// The lanes of a set, and zeros.
LAGBC_INLINE Lanes where(Set set, Lanes value) {
    return _mm512_maskz_mov_pd(set, value);
}

LAGBC_INLINE Set is_less(Lanes one, Lanes other) {
    return _mm512_cmp_pd_mask(one, other, _CMP_LT_OQ);
}

LAGBC_INLINE Set is_at_most(Lanes one, Lanes other) {
    return _mm512_cmp_pd_mask(one, other, _CMP_LE_OQ);
}

LAGBC_INLINE Set is_equal(Lanes one, Lanes other) {
    return _mm512_cmp_pd_mask(one, other, _CMP_EQ_OQ);
}

LAGBC_INLINE ShortLanes select(ShortSet set, ShortLanes one, ShortLanes other) {
    return (ShortLanes)_mm512_mask_blend_epi16(set, (__m512i)other, (__m512i)one);
}

LAGBC_INLINE ShortSet is_less(ShortLanes one, ShortLanes other) {
    return _mm512_cmplt_epu16_mask((__m512i)one, (__m512i)other);
}

LAGBC_INLINE ShortSet is_equal(ShortLanes one, ShortLanes other) {
    return _mm512_cmpeq_epu16_mask((__m512i)one, (__m512i)other);
}
#else
using Set = int64_t __attribute__((vector_size(8 * lanes)));
using ShortSet = int16_t __attribute__((vector_size(2 * short_lanes)));

struct SetsOfBits {
    int64_t at[1 << lanes][lanes] = {};
    constexpr SetsOfBits() {
        for (int bits = 0; bits < 1 << lanes; ++bits)
            for (int k = 0; k < lanes; ++k) at[bits][k] = -(bits >> k & 1);
    }
};
alignas(8 * lanes) inline constexpr SetsOfBits sets_of_bits;

// The columns of a mask in part i of a row; from a table, as comparisons take longer.
LAGBC_INLINE Set set_of(uint64_t mask, int i) {
    Set set;
    __builtin_memcpy(&set, sets_of_bits.at[mask >> (lanes * i) & ((1 << lanes) - 1)], sizeof set);
    return set;
}

LAGBC_INLINE ShortSet short_set_of(uint64_t mask, int i) {
    ShortSet bit;
    for (int k = 0; k < short_lanes; ++k) bit[k] = static_cast<int16_t>(1 << k);
    const auto bits = static_cast<int16_t>(mask >> (short_lanes * i));
    const ShortSet word = ShortSet{} + bits;
    return (word & bit) == bit;
}

#if defined(__AVX2__)
LAGBC_INLINE uint64_t bits_of(Set set) {
    return static_cast<uint64_t>(_mm256_movemask_pd((__m256d)set));
}

LAGBC_INLINE uint64_t bits_of(ShortSet set) {
    const __m256i whole = (__m256i)set;
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    return static_cast<uint64_t>(_mm_movemask_epi8(bytes));
}

template <class AnySet>
LAGBC_INLINE bool is_any(AnySet set) {
    return !_mm256_testz_si256((__m256i)set, (__m256i)set);
}
#elif defined(__x86_64__)
LAGBC_INLINE uint64_t bits_of(Set set) {
    return static_cast<uint64_t>(_mm_movemask_pd((__m128d)set));
}

LAGBC_INLINE uint64_t bits_of(ShortSet set) {
    return static_cast<uint64_t>(_mm_movemask_epi8(_mm_packs_epi16((__m128i)set, _mm_setzero_si128())));
}

template <class AnySet>
LAGBC_INLINE bool is_any(AnySet set) {
    return _mm_movemask_epi8((__m128i)set) != 0;
}
#else
template <class AnySet>
LAGBC_INLINE uint64_t bits_of(AnySet set) {
    uint64_t bits = 0;
    for (int k = 0; k < static_cast<int>(sizeof set / sizeof set[0]); ++k)
        bits |= static_cast<uint64_t>(set[k] & 1) << k;
    return bits;
}

template <class AnySet>
LAGBC_INLINE bool is_any(AnySet set) {
    return bits_of(set) != 0;
}
#endif

// The lanes of a set, and zeros.
LAGBC_INLINE Lanes where(Set set, Lanes value) {
    return (Lanes)((Set)value & set);
}

LAGBC_INLINE Lanes select(Set set, Lanes one, Lanes other) {
    return set ? one : other;
}

LAGBC_INLINE Set is_at_most(Lanes one, Lanes other) {
    return one <= other;
}

LAGBC_INLINE ShortLanes select(ShortSet set, ShortLanes one, ShortLanes other) {
    return set ? one : other;
}

// The type of the set of a comparison, whose own type depends on the compiler.
template <class AnyLanes>
using SetFor = std::conditional_t<sizeof(AnyLanes{}[0]) == 8, Set, ShortSet>;

template <class AnyLanes>
LAGBC_INLINE auto is_less(AnyLanes one, AnyLanes other) {
    return (SetFor<AnyLanes>)(one < other);
}

template <class AnyLanes>
LAGBC_INLINE auto is_equal(AnyLanes one, AnyLanes other) {
    return (SetFor<AnyLanes>)(one == other);
}
#endif

LAGBC_INLINE uint16_t smallest_of(ShortLanes numbers) {
    uint16_t number[short_lanes];  // in memory, so that compilers combine whole vectors
    __builtin_memcpy(number, &numbers, sizeof number);
    uint16_t smallest = number[0];
    for (int k = 1; k < short_lanes; ++k) smallest = number[k] < smallest ? number[k] : smallest;
    return smallest;
}

// Sums beyond the largest number are the largest number.
LAGBC_INLINE ShortLanes add_saturated(ShortLanes one, ShortLanes other) {
#if defined(__AVX512F__)
    return (ShortLanes)_mm512_adds_epu16((__m512i)one, (__m512i)other);
#elif defined(__AVX2__)
    return (ShortLanes)_mm256_adds_epu16((__m256i)one, (__m256i)other);
#elif defined(__x86_64__)
    return (ShortLanes)_mm_adds_epu16((__m128i)one, (__m128i)other);
#else
    const ShortLanes total = one + other;
    return total | (ShortLanes)(total < one);
#endif
}

}  // namespace lagbc
