// Numbers of any size, mantissa * 2**exponent, with the mantissa in [0.5, 1) or zero, and an exponent that no number of
// paths in a graph that fits in memory can overflow. The exponent of a zero means nothing.
//
// Compiled by C++ compilers and NVRTC: no header of the standard library, and only built-in functions.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define LAGBC_SHARED __host__ __device__ __forceinline__
#else
#define LAGBC_SHARED [[gnu::always_inline]] inline
#endif

namespace lagbc {

using Exponent = long long;

struct Extended {
    double mantissa;
    Exponent exponent;
};

LAGBC_SHARED unsigned long long bits_of_double(double x) {
#if defined(__CUDA_ARCH__)
    return (unsigned long long)__double_as_longlong(x);
#else
    return __builtin_bit_cast(unsigned long long, x);
#endif
}

LAGBC_SHARED double double_of_bits(unsigned long long bits) {
#if defined(__CUDA_ARCH__)
    return __longlong_as_double((long long)bits);
#else
    return __builtin_bit_cast(double, bits);
#endif
}

// x * 2**power for a mantissa x and a power of at most 64; zero for powers below -1000.
LAGBC_SHARED double shifted(double x, Exponent power) {
    return power < -1000 ? 0.0 : x * double_of_bits((unsigned long long)(power + 1023) << 52);
}

// A positive normal number, or zero, times 2**exponent.
LAGBC_SHARED Extended extended(double x, Exponent exponent) {
    if (x == 0.0) return {0.0, 0};
    const unsigned long long bits = bits_of_double(x);
    const Exponent moved = (Exponent)(bits >> 52) - 1022;
    return {double_of_bits((bits & 0xFFFFFFFFFFFFFULL) | (1022ULL << 52)), exponent + moved};
}

// A term so many powers of two below another does not change their sum in double precision.
constexpr Exponent negligible = 64;

LAGBC_SHARED Extended add(Extended a, Extended b) {
    if (b.mantissa == 0.0 || (a.mantissa != 0.0 && a.exponent - b.exponent > negligible)) return a;
    if (a.mantissa == 0.0 || b.exponent - a.exponent > negligible) return b;
    return extended(a.mantissa + shifted(b.mantissa, b.exponent - a.exponent), a.exponent);
}

LAGBC_SHARED Extended multiply(Extended a, Extended b) {
    return extended(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

}  // namespace lagbc
