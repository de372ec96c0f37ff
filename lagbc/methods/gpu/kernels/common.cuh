// What all kernels share.
//
// VALUE (double or float) is the type of path counts and dependencies; sums of scores are double.

typedef VALUE value;
typedef long long offset;

constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ double warp_sum(double x) {
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(ALL, x, step);
    return x;
}
