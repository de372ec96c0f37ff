// Breadth-first search from one or more roots at once, in one cooperative launch with a barrier a level.
//
// depth is 0 at the roots and -1 elsewhere at first. Several threads may write the same depth to a vertex; they agree.
// A warp looks at 32 vertices and searches the edges of each that is at the present level with all its lanes.
// any[l % 3] says whether level l + 1 holds a vertex; it is cleared two levels ahead, when all have read it.

extern "C" __global__ void breadth_first(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                         volatile int* depth, volatile int* any, unsigned* barrier) {
    Group group(gridDim.x, barrier);
    const int lane = threadIdx.x & 31;
    for (int level = 0;; level++) {
        bool found = false;
        for (int base = group.thread() / 32 * 32; base < n; base += group.threads()) {
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
