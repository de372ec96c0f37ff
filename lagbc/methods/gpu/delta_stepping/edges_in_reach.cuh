// The edges of a row that a round has to look at.
//
// Three tests come before any distance is read: whether the tail is near at all (32 edges at once), in which columns,
// and whether `floor` + length, which no path through the edge undercuts, is within `reach` of the head's distance. The
// last one leaves a few per cent of the entries.

constexpr int EDGES = 4;  // whose bits are loaded before the first of them is used

// Lower and upper bounds in float.
__device__ __forceinline__ float at_most(float x) { return x; }
__device__ __forceinline__ float at_most(double x) { return __double2float_rd(x); }
__device__ __forceinline__ float at_least(float x) { return x; }
__device__ __forceinline__ float at_least(double x) { return __double2float_ru(x); }

// A longer edge from distance `floor` or above is neither tight to `far` nor lowers it. The margin is rtol and a few
// units of rounding.
__device__ __forceinline__ float reach_of(dist floor, dist far, dist margin) {
    return far > floor ? at_least((far - floor) + far * margin) : -1.0f;
}

__device__ __forceinline__ float warp_max(float x) {
    for (int step = 16; step; step /= 2) x = fmaxf(x, __shfl_xor_sync(ALL, x, step));
    return x;
}

// The columns of `among` in which an edge is within reach.
__device__ __forceinline__ unsigned within(float length, const float* reach, unsigned among) {
    unsigned found = 0;
#pragma unroll
    for (int k = 0; k < OWN; k++) found |= (length <= reach[k]) << k;
    return found & among;
}

// The edges of a row in either direction.
struct Edges {
    const offset* indptr;
    const int* indices;
    const dist* lengths;
};

// Call visit(u, length, columns) for each of the warp's edges (u, length) whose tail has a live row, with the columns
// in which its bits are set; edges longer than `longest` are left out. With ALONG_EDGES visit returns the lane's share
// of the edge's sum.
template <bool ALONG_EDGES, typename Visit>
__device__ __forceinline__ void for_edges(const Edges& edges, const Place& at, float longest, const unsigned* live,
                                          const unsigned char* bits, unsigned wanted, const EdgeSums& sums,
                                          Visit visit) {
    const int lane = threadIdx.x & 31;
    const offset end = edges.indptr[at.v + 1];
    bits += at.column / 8;
    for (offset base = edges.indptr[at.v] + 32 * at.first; base < end; base += 32 * at.step) {
        const bool valid = base + lane < end;
        const int mine = valid ? edges.indices[base + lane] : 0;
        const dist length = valid ? edges.lengths[base + lane] : dist(0);
        unsigned todo = __ballot_sync(ALL, valid && at_most(length) <= longest && has_bit(live, mine));
        offset edge = 0;
        if constexpr (ALONG_EDGES)
            if (todo >> lane & 1) edge = sums.order[base + lane];
        while (todo) {
            int u[EDGES], source[EDGES];
            dist far[EDGES];
            unsigned meet[EDGES];
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                source[i] = todo ? __ffs(todo) - 1 : 0;
                u[i] = __shfl_sync(ALL, mine, source[i]);
                far[i] = __shfl_sync(ALL, length, source[i]);
                meet[i] = todo ? own_bits(bits + (size_t)u[i] * BYTES) & wanted : 0;
                todo &= todo - 1;
            }
            EdgeShare shares[EDGES] = {};
#pragma unroll
            for (int i = 0; i < EDGES; i++)
                if (meet[i]) {
                    if constexpr (ALONG_EDGES) shares[i] = visit(u[i], far[i], meet[i]);
                    else visit(u[i], far[i], meet[i]);
                }
            if constexpr (ALONG_EDGES) sums.add(shares, source, edge);
        }
    }
}
