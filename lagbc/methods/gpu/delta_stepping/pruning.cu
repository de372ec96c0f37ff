// Edges that are longer than a way over a landmark.

// kept[e] = no landmark h with to[tail][h] + from[head][h] + slack < length, for the edges e of a list.
//
// `to` and `from` have a row of distances a vertex, to and from each landmark; infinite if there is no path. A warp
// takes 32 edges, and a lane eight landmarks.
extern "C" __global__ void prune(offset nnz, const int* __restrict__ tails, const int* __restrict__ heads,
                                   const double* __restrict__ lengths, const dist* __restrict__ to,
                                   const dist* __restrict__ from, double slack, bool* kept) {
    constexpr int OWN = COLUMNS / 32;
    const int lane = threadIdx.x & 31;
    const offset first = ((offset)blockIdx.x * WARPS + threadIdx.x / 32) * 32;
    if (first >= nnz) return;
    const offset mine = min(first + lane, nnz - 1);
    const int tail = tails[mine], head = heads[mine], count = min(nnz - first, (offset)32);
    const double length = lengths[mine];
    unsigned longer = 0;
    for (int i = 0; i < count; i++) {
        const dist* before = to + (size_t)__shfl_sync(ALL, tail, i) * COLUMNS + OWN * lane;
        const dist* after = from + (size_t)__shfl_sync(ALL, head, i) * COLUMNS + OWN * lane;
        const double most = __shfl_sync(ALL, length, i) - slack;
        bool found = false;
#pragma unroll
        for (int k = 0; k < OWN; k++) found |= (double)before[k] + (double)after[k] < most;
        longer |= (__any_sync(ALL, found) ? 1u : 0u) << i;
    }
    if (lane < count) kept[first + lane] = !(longer >> lane & 1);
}
