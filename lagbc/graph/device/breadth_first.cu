// Breadth-first search from one or more roots at once, in one cooperative launch with a barrier a level.
//
// depth is 0 at the roots and -1 elsewhere at first. Threads that write the depth of a vertex at once write the same.
// A warp looks at 32 vertices and searches the edges of each that is at the present level with all its lanes.
// any[l % 3] says whether level l + 1 holds a vertex; it is cleared two levels ahead, when all have read it.

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

// Distances up to `most` to the first `hubs` vertices, a bit each, in one cooperative launch with a barrier a level.
//
// A warp has a vertex that some searches have not found: a search finds it now if it found the head of one of its edges
// at the level before. frontiers[l % 2] holds the searches that found a vertex at level l, `seen` the searches that
// found it at any level; both are written by the vertex's own warp. `any` is as above.
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
