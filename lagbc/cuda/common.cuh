// Names that all kernels share.

typedef long long offset;

constexpr unsigned ALL = 0xffffffffu;

// As in lagbc/native/kernels/arrays.h: before functions of sources that C++ compilers compile, too.
#define LAGBC_INLINE __device__ __forceinline__

__device__ __forceinline__ double warp_sum(double x) {
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(ALL, x, step);
    return x;
}
