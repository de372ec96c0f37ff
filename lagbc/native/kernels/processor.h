// The levels that this processor runs. __builtin_cpu_supports is no choice: where zig links, it knows of nothing.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace lagbc::processor {

#if defined(__x86_64__)
inline bool has(unsigned leaf, unsigned place, unsigned bits) {
    unsigned registers[4];
    return __get_cpuid_count(leaf, 0, &registers[0], &registers[1], &registers[2], &registers[3]) != 0 &&
           (registers[place] & bits) == bits;
}

// Whether the system keeps such registers; only to be asked where OSXSAVE is there.
inline bool keeps(unsigned bits) {
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & bits) == bits;
}

inline bool runs_v2() {  // SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT; LAHF
    return has(1, 2, 1u | 1u << 9 | 1u << 13 | 1u << 19 | 1u << 20 | 1u << 23) && has(0x80000001, 2, 1u);
}

inline bool runs_v3() {  // FMA, MOVBE, OSXSAVE, AVX, F16C; LZCNT; BMI1, AVX2, BMI2
    return runs_v2() && has(1, 2, 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29) &&
           has(0x80000001, 2, 1u << 5) && has(7, 1, 1u << 3 | 1u << 5 | 1u << 8) && keeps(0x6);
}

inline bool runs_v4() {  // AVX-512 F, DQ, CD, BW, VL
    return runs_v3() && has(7, 1, 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) && keeps(0xe6);
}
#endif

// The names of the levels that this processor runs, the best first.
inline const char* levels() {
#if defined(__x86_64__)
    if (runs_v4()) return "v4 v3 v2 generic";
    if (runs_v3()) return "v3 v2 generic";
    if (runs_v2()) return "v2 generic";
#endif
    return "generic";
}

}  // namespace lagbc::processor
