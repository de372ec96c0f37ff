// A breadth-first search from up to 64 roots, a bit each, and its counts of rows, edges and pairs: one cooperative
// launch, with a barrier a level. The counts are integers, and the same in any order.
//
// A warp takes a vertex of the level's queue. found[l % 2][v] holds the columns that were led to v at the level before,
// also columns that had seen v at the same time; its warp takes these out, notes the others in seen[v], and clears
// found[l % 2][v] for level l + 2. Columns that are led to w go to found[(l + 1) % 2][w], and the first thread to lead
// one there appends w to the next queue, so that there are at most n entries. Other warps may see too little in
// seen[w], never too much.
//
// sizes[l % 3] is the length of the queue of level l, edges[l % 3] the count of edges that leave its rows; both are
// cleared for level l + 3 when all have passed the barrier behind their last read.

typedef unsigned long long word;

extern "C" __global__ void probe(int n, int columns, offset most, const offset* __restrict__ indptr,
                                 const int* __restrict__ indices, const int* __restrict__ roots, word* found,
                                 volatile word* seen, volatile int* queues, int* sizes, word* edges, word* counts,
                                 unsigned* barrier) {
    Group group(gridDim.x, barrier);
    const int lane = threadIdx.x & 31;
    const bool is_first = group.thread() == 0;
    if (group.thread() < columns) {
        const int column = group.thread();
        queues[column] = roots[column];
        found[roots[column]] = (word)1 << column;
    }
    if (is_first) sizes[0] = columns;
    group.wait();
    word all_edges = 0;
    word visits = 0, pairs = 0, pair_edges = 0;  // counts of the rows of this warp
    int levels = 0;
    for (int level = 0;; level++) {
        volatile word* here = found + (size_t)(level % 2) * n;
        word* next = found + (size_t)((level + 1) % 2) * n;
        const volatile int* queue = queues + (size_t)(level % 2) * n;
        volatile int* next_queue = queues + (size_t)((level + 1) % 2) * n;
        const int size = *(volatile int*)(sizes + level % 3);
        word own_edges = 0;
        for (int i = group.thread() / 32; i < size; i += group.threads() / 32) {
            const int v = queue[i];
            word live = 0;
            if (lane == 0) {
                live = here[v] & ~seen[v];
                here[v] = 0;
                seen[v] |= live;
            }
            live = __shfl_sync(ALL, live, 0);
            if (!live) continue;
            const offset degree = indptr[v + 1] - indptr[v];
            visits += 1;
            own_edges += degree;
            pairs += __popcll(live);
            pair_edges += __popcll(live) * degree;
            levels = level + 1;
            for (offset e = indptr[v] + lane; e < indptr[v + 1]; e += 32) {
                const int w = indices[e];
                const word fresh = live & ~seen[w];
                if (fresh && !atomicOr(next + w, fresh)) next_queue[atomicAdd(sizes + (level + 1) % 3, 1)] = w;
            }
        }
        if (lane == 0 && own_edges) atomicAdd(edges + level % 3, own_edges);
        if (is_first) sizes[(level + 2) % 3] = 0, edges[(level + 1) % 3] = 0;
        group.wait();
        all_edges += *(volatile word*)(edges + level % 3);
        if (!*(volatile int*)(sizes + (level + 1) % 3) || all_edges > most) break;
    }
    if (lane == 0) {
        atomicAdd(counts, visits);
        if (is_first) counts[1] = all_edges;
        atomicAdd(counts + 2, pairs);
        atomicAdd(counts + 3, pair_edges);
        atomicMax(counts + 4, (word)levels);
    }
}
