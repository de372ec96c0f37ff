// Parts that the traversal kernels share.
//
// A search from one root has a row of every array, at `stride` entries from the next one:
//   depths   hops from the root plus one; 0 is unreached. So the vertices of level l have depth l + 1.
//   values   sigma, the count of shortest paths, 0 where unreached. Backward, c is written over it, last level first.
//   delta    the dependencies of the root, 0 before the backward sweep.
// One block makes a search, or all of them do. `most` levels fit into the arrays.
//
// Forward, counts are pushed along the edges to the next level by atomic additions. They are integers, so while they
// are exact the order does not show; above, the last bits depend on it. Backward, with the sum over the tight
// successors w of v
//     total = sum of c[w],   delta[v] = sigma[v] * total,   c[v] = omega[v] / sigma[v] + total.

#if DEPTH_BYTES == 1
typedef unsigned char depth;
#elif DEPTH_BYTES == 2
typedef unsigned short depth;
#else
typedef unsigned depth;
#endif

// Every kernel begins with the parameters (n, indptr, indices, stride, most, depths, values) and the arrays of its own,
// alike for both sweeps, then:
//   forward   roots, sigma_limit   of the searches, and the count above which a search has overflowed
//             overflowed, deepest  whether it has, or its counts are inexact, and the last level of each search
//   backward  deepest, times       the last level, and how often each root counts; 0 leaves it out
//             omega, endpoints     targets of a vertex (null: 1 each), and 1 if the ends of a path are on it, or 0
//             delta                see above
//   both      stop, status         the host's flag, and how the launch ended

constexpr int DONE = 0, TOO_DEEP = 1, STOPPED = 2;
constexpr int ASKERS = 16;
// Notes on the counts of a search. From INEXACT on, not all integers are numbers.
constexpr int INEXACT = 1, OVERFLOWED = 2;
constexpr value EXACT = sizeof(value) == 4 ? 1 << 24 : 1ll << 53;

__device__ __forceinline__ void note(value sigma, value sigma_limit, int* overflowed) {
    if (sigma > EXACT) atomicMax(overflowed, sigma > sigma_limit ? OVERFLOWED : INEXACT);
}

struct Row {
    depth* depths;
    value* values;

    __device__ Row(int search, offset stride, depth* depths, value* values)
        : depths(depths + search * stride), values(values + search * stride) {}
};

// Whether to leave at this level, asked by one thread of a search. The host's flag is across the bus, so of the
// searches under way one in 16 reads it and tells the others.
__device__ __forceinline__ bool is_over(int level, int search, int searches, const volatile unsigned char* stop,
                                        int* status) {
    if ((level + search) % min(searches, ASKERS) == 0 && *stop) atomicMax(status, STOPPED);
    return *(volatile int*)status != DONE;
}

// Part of the sum of c over the successors of v, which have depth `beyond`: every `width`-th edge, from `lane` on.
__device__ __forceinline__ value gather(const offset* __restrict__ indptr, const int* __restrict__ indices,
                                        const Row& row, int v, int lane, int width, int beyond) {
    value total = 0;
    const offset end = indptr[v + 1];
    for (offset e = indptr[v] + lane; e < end; e += width) {
        const int w = indices[e];
        if (row.depths[w] == beyond) total += row.values[w];
    }
    return total;
}

// Sum over `width` neighbouring lanes, to the first of them.
__device__ __forceinline__ value sum_lanes(value x, int width) {
    for (int step = width / 2; step; step /= 2) x += __shfl_down_sync(ALL, x, step, width);
    return x;
}

// The places of the dependencies of one root.
struct Dependencies {
    const double* omega;
    double* delta;
    double times, endpoints;

    // Write c over sigma, and delta, with v as the end of the paths to it (the host adds the root's).
    __device__ __forceinline__ void settle(const Row& row, int v, value sigma, value total) const {
        delta[v] = times * ((double)sigma * (double)total + endpoints);
        row.values[v] = (omega ? value(omega[v]) : value(1)) / sigma + total;
    }
};
