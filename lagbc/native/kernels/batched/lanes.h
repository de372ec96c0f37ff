// Vectors of the width that the level has, and sets of their lanes: the only file that knows of instructions.
//
// A row of 64 columns is `parts` vectors of doubles, or `short_parts` vectors of 16-bit whole numbers. In memory rows
// are aligned as their items are, no more: so they are read by `load` and written by `store`, and never through a
// pointer to vectors, which promises alignment that numpy does not give.
#pragma once

#include "../arrays.h"
#include "../level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace lagbc::LAGBC_LEVEL {

#if defined(__AVX512F__)
inline constexpr int lanes = 8;
#elif defined(__AVX2__)
inline constexpr int lanes = 4;
#else
inline constexpr int lanes = 2;
#endif
// 16-bit numbers in 32 bytes at most: instructions of 64 bytes would need masks of their own, for little.
inline constexpr int short_lanes = lanes == 2 ? 8 : 16;
inline constexpr int parts = columns / lanes;
inline constexpr int short_parts = columns / short_lanes;

using Lanes = double __attribute__((vector_size(8 * lanes)));
using ShortLanes = uint16_t __attribute__((vector_size(2 * short_lanes)));

LAGBC_INLINE Lanes load(const double* row, int i) {
    Lanes value;
    __builtin_memcpy(&value, row + lanes * i, sizeof value);
    return value;
}

LAGBC_INLINE void store(double* row, int i, Lanes value) {
    __builtin_memcpy(row + lanes * i, &value, sizeof value);
}

LAGBC_INLINE ShortLanes load(const uint16_t* row, int i) {
    ShortLanes value;
    __builtin_memcpy(&value, row + short_lanes * i, sizeof value);
    return value;
}

LAGBC_INLINE void store(uint16_t* row, int i, ShortLanes value) {
    __builtin_memcpy(row + short_lanes * i, &value, sizeof value);
}

// Sets of lanes of doubles: mask registers, or lanes of all ones.
#if defined(__AVX512F__)
using Set = __mmask8;

// The columns of a mask that are in part i of a row.
LAGBC_INLINE Set set_of(uint64_t mask, int i) {
    return static_cast<Set>(mask >> (lanes * i));
}

LAGBC_INLINE uint64_t bits_of(Set set) {
    return set;
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
#else
using Set = int64_t __attribute__((vector_size(8 * lanes)));

struct SetsOfBits {
    int64_t at[1 << lanes][lanes] = {};
    constexpr SetsOfBits() {
        for (int bits = 0; bits < 1 << lanes; ++bits)
            for (int k = 0; k < lanes; ++k) at[bits][k] = -(bits >> k & 1);
    }
};
alignas(8 * lanes) inline constexpr SetsOfBits sets_of_bits;

// Looked up, which is faster than to compare.
LAGBC_INLINE Set set_of(uint64_t mask, int i) {
    Set set;
    __builtin_memcpy(&set, sets_of_bits.at[mask >> (lanes * i) & ((1 << lanes) - 1)], sizeof set);
    return set;
}

LAGBC_INLINE uint64_t bits_of(Set set) {
#if defined(__AVX2__)
    return static_cast<uint64_t>(_mm256_movemask_pd((__m256d)set));
#elif defined(__x86_64__)
    return static_cast<uint64_t>(_mm_movemask_pd((__m128d)set));
#else
    uint64_t bits = 0;
    for (int k = 0; k < lanes; ++k) bits |= static_cast<uint64_t>(set[k] & 1) << k;
    return bits;
#endif
}

LAGBC_INLINE Lanes select(Set set, Lanes one, Lanes other) {
    return set ? one : other;
}

LAGBC_INLINE Lanes where(Set set, Lanes value) {
    return (Lanes)((Set)value & set);
}

LAGBC_INLINE Set is_less(Lanes one, Lanes other) {
    return one < other;
}

LAGBC_INLINE Set is_at_most(Lanes one, Lanes other) {
    return one <= other;
}
#endif

// Sets of lanes of 16-bit numbers.
using ShortSet = int16_t __attribute__((vector_size(2 * short_lanes)));

LAGBC_INLINE ShortSet is_less(ShortLanes one, ShortLanes other) {
    return one < other;
}

LAGBC_INLINE ShortLanes select(ShortSet set, ShortLanes one, ShortLanes other) {
    return (ShortLanes)(((ShortSet)one & set) | ((ShortSet)other & ~set));
}

LAGBC_INLINE ShortSet short_set_of(uint64_t mask, int i) {
    ShortSet bit;
    for (int k = 0; k < short_lanes; ++k) bit[k] = static_cast<int16_t>(1 << k);
    const ShortSet word = ShortSet{} + static_cast<int16_t>(mask >> (short_lanes * i));
    return (word & bit) == bit;
}

LAGBC_INLINE uint64_t bits_of(ShortSet set) {
#if defined(__AVX2__)
    const __m256i whole = (__m256i)set;
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    return static_cast<uint64_t>(_mm_movemask_epi8(bytes));
#elif defined(__x86_64__)
    return static_cast<uint64_t>(_mm_movemask_epi8(_mm_packs_epi16((__m128i)set, _mm_setzero_si128())));
#else
    uint64_t bits = 0;
    for (int k = 0; k < short_lanes; ++k) bits |= static_cast<uint64_t>(set[k] & 1) << k;
    return bits;
#endif
}

// Sums end at the largest number.
LAGBC_INLINE ShortLanes add_saturated(ShortLanes one, ShortLanes other) {
    const ShortLanes total = one + other;
    return total | (ShortLanes)(total < one);
}

}  // namespace lagbc::LAGBC_LEVEL
