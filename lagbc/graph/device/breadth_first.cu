// Breadth-first search from one or more roots at once, in one cooperative launch with a barrier a level.
//
// `depth`, hops from the nearest root, starts as 0 at the roots and -1 elsewhere; `any` and `barrier` start as 0.
// Threads that write the depth of a vertex at once write the same. A warp takes 32 vertices; its lanes share the edges
// of each one at the present level. any[l % 3] says whether level l + 1 holds a vertex. It is cleared during
// level l - 1: by then all threads have read its value of level l - 3.

extern "C" __global__ void breadth_first(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                         volatile int* depth, volatile int* any, unsigned* barrier) {
    Group group(gridDim.x, barrier);
    const int lane = threadIdx.x & 31;
    for (int level = 0;; level++) {
        bool found = false;
        for (offset base = group.thread() / 32 * 32; base < n; base += group.threads()) {
            const bool here = base + lane < n && depth[base + lane] == level;
            for (unsigned todo = __ballot_sync(ALL, here); todo; todo &= todo - 1) {
                const int v = base + __ffs(todo) - 1;
                for (offset e = indptr[v] + lane; e < indptr[v + 1]; e += 32) {
                    const int w = indices[e];
                    if (depth[w] < 0) depth[w] = level + 1, found = true;
                }
            }
        }
        if (found) any[level % 3] = 1;
        if (blockIdx.x == 0 && threadIdx.x == 0) any[(level + 1) % 3] = 0;
        group.wait();
        if (!any[level % 3]) return;
    }
}

// Hop distances (hubs, n) from each vertex to the hubs, the first `hubs` vertices, in one cooperative launch with a
// barrier a level. They end at `most` hops; beyond, and at the hub itself, `distances` stays as it was. Each hub
// (at most 31) has a backward search, and a bit.
//
// A warp takes one vertex. A search finds the vertex at a level if it found the head of one of its edges at the level
// before. frontiers[l % 2] (n) holds the searches that found a vertex at level l, `seen` (n) those of all levels: the
// vertex's own warp writes both. At first both have the bit of each hub at the hub. `any` and `barrier` are as above.
extern "C" __global__ void hub_distances(int n, int hubs, int most, const offset* __restrict__ indptr,
                                         const int* __restrict__ indices, volatile unsigned* frontiers, unsigned* seen,
                                         int* distances, volatile int* any, unsigned* barrier) {
    Group group(gridDim.x, barrier);
    const int lane = threadIdx.x & 31;
    const unsigned all = (1u << hubs) - 1;
    for (int level = 0; level < most; level++) {
        const volatile unsigned* here = frontiers + (size_t)(level % 2) * n;
        volatile unsigned* next = frontiers + (size_t)((level + 1) % 2) * n;
        bool found = false;
        for (offset v = group.thread() / 32; v < n; v += group.threads() / 32) {
            const unsigned wanted = all & ~seen[v];
            unsigned joined = 0;
            if (wanted)
#pragma unroll 4
                for (offset e = indptr[v] + lane; e < indptr[v + 1]; e += 32) joined |= here[indices[e]];
            for (int step = 16; step; step /= 2) joined |= __shfl_xor_sync(ALL, joined, step);
            joined &= wanted;
            if (joined >> lane & 1) distances[(size_t)lane * n + v] = level + 1;
            if (lane == 0) next[v] = joined;
            if (!joined) continue;
            if (lane == 0) seen[v] |= joined;
            found = true;
        }
        if (found) any[level % 3] = 1;
        if (blockIdx.x == 0 && threadIdx.x == 0) any[(level + 1) % 3] = 0;
        group.wait();
        if (!any[level % 3]) return;
    }
}
