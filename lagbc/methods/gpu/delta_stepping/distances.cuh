// Distances, as Delta-stepping compares them.
//
// DIST (double or float) is their type; float holds integers alone, which are exact in it. They are non-negative: their
// order is that of their bits as unsigned integers, and atomicMin of these is exact in any order.

typedef DIST dist;

__device__ __forceinline__ unsigned key(float x) { return __float_as_uint(x); }
__device__ __forceinline__ unsigned long long key(double x) { return __double_as_longlong(x); }
typedef decltype(key(dist())) dist_key;
constexpr dist_key NONE = ~dist_key(0);  // above all distances

// Whether an edge leads on a shortest path from distance `near` to distance `far`. Infinities give NaN, hence false.
__device__ __forceinline__ bool is_tight(dist near, dist length, dist far, dist rtol) {
    return near < far && fabs(near + length - far) <= rtol * far;
}
