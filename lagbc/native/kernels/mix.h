// Bits that look random, for keys of vertices and for samples.
#pragma once

#include "arrays.h"

namespace lagbc {

// The finalizer of splitmix64 (Steele, Lea and Flood 2014).
LAGBC_INLINE uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
    return x ^ (x >> 31);
}

}  // namespace lagbc
