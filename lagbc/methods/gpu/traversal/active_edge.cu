// Threads take the edges of the frontier evenly (Vella et al. 2018): with the prefix sums of the degrees of the queue,
// a binary search tells to which entry an edge belongs. The sums are kept for the backward sweep.
//
// offsets[i] is the number of edges before entry i of the queue, so that entry i has offsets[i] .. offsets[i + 1].

// The entry among first .. last to which edge x of the queue belongs: the last with offsets[i] <= x.
__device__ __forceinline__ int owner(const offset* offsets, int first, int last, offset x) {
    while (first + 1 < last) {
        const int middle = (first + last) / 2;
        if (offsets[middle] <= x) first = middle;
        else last = middle;
    }
    return first;
}

// Counts of entries and of edges, in one word, so that one addition gives a vertex its place and its edges theirs.
typedef unsigned long long tally;
constexpr int ENTRY_BITS = 31;
__device__ __forceinline__ int entries_of(tally t) { return t & ((1u << ENTRY_BITS) - 1); }
__device__ __forceinline__ offset edges_of(tally t) { return t >> ENTRY_BITS; }

// Queue the vertices that the lanes of a warp have found. The warp sums up their degrees, and takes its places in the
// queue and among the edges by one addition: so both are numbered in the same order. `edges` edges precede this
// level's.
__device__ __forceinline__ void append(bool fresh, int w, const offset* __restrict__ indptr, int* entries,
                                       offset* offsets, offset edges, tally* found) {
    const unsigned lanes = __ballot_sync(ALL, fresh);
    if (!lanes) return;
    const int lane = threadIdx.x % 32;
    const offset degree = fresh ? indptr[w + 1] - indptr[w] : 0;
    offset sum = degree;
    for (int step = 1; step < 32; step *= 2) {
        const offset below = __shfl_up_sync(ALL, sum, step);
        if (lane >= step) sum += below;
    }
    tally start = 0;
    if (lane == 31) start = atomicAdd(found, tally(sum) << ENTRY_BITS | __popc(lanes));
    start = __shfl_sync(ALL, start, 31);
    if (!fresh) return;
    const int place = entries_of(start) + __popc(lanes & (1u << lane) - 1);
    entries[place] = w;
    offsets[place] = edges + edges_of(start) + sum - degree;
}

extern "C" __global__ void __launch_bounds__(1024)
traversal_active_edge_forward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices, offset stride,
                              int most, depth* depths, value* values, int* queues, int* ends, int* reached,
                              offset* offsets, value* sums, const int* __restrict__ roots, value sigma_limit,
                              int* overflowed, int* deepest, const volatile unsigned char* stop, int* status) {
    const int search = blockIdx.x, root = roots[search];
    const Row row(search, stride, depths, values);
    Queue queue(search, stride, most, queues, ends);
    offsets += search * stride;
    __shared__ tally found[3];
    __shared__ bool halted[2];
    if (threadIdx.x == 0) found[0] = 0, offsets[0] = 0;
    queue.restart(row, root, reached[search]);
    int level = 0, first = 0, last = 1;
    offset begin = 0, edges = indptr[root + 1] - indptr[root];  // of the frontier: begin .. edges
    while (true) {
        begin_level(level, found, halted, stop, status);
        for (offset base = begin + threadIdx.x / 32 * 32; base < edges; base += blockDim.x) {
            const offset x = base + threadIdx.x % 32;
            int w = 0;
            bool fresh = false;
            if (x < edges) {
                const int i = owner(offsets, first, last, x), v = queue.entries[i];
                w = indices[indptr[v] + x - offsets[i]];
                fresh = reach(row, w, level + 2, row.values[v]);
            }
            append(fresh, w, indptr, queue.entries + last, offsets + last, edges, &found[level % 3]);
        }
        __syncthreads();
        const tally count = found[level % 3];
        const int end = last + entries_of(count);
        if (is_last(level, most, last, end, halted[level % 2], &reached[search], &deepest[search], status)) break;
        level++, first = last, last = end;
        begin = edges, edges += edges_of(count);
        if (threadIdx.x == 0) queue.ends[level + 1] = end;
    }
    for (int i = threadIdx.x; i < last; i += blockDim.x)
        note(row.values[queue.entries[i]], sigma_limit, &overflowed[search]);
}

// At each level the edges add up `sums` of the entries, then the vertices take theirs. sums are 0 before and after.
extern "C" __global__ void __launch_bounds__(1024)
traversal_active_edge_backward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices, offset stride,
                               int most, depth* depths, value* values, int* queues, int* ends, int* reached,
                               offset* offsets, value* sums, const int* __restrict__ deepest,
                               const double* __restrict__ times, const double* __restrict__ omega, double endpoints,
                               double* delta, const volatile unsigned char* stop, int* status) {
    const int search = blockIdx.x, lane = threadIdx.x % 32;
    if (times[search] == 0) return;
    const Row row(search, stride, depths, values);
    const Queue queue(search, stride, most, queues, ends);
    const Dependencies to = {omega, delta + search * stride, times[search], endpoints};
    offsets += search * stride;
    sums += search * stride;
    __shared__ bool halted;
    const int last_level = deepest[search];
    int last = queue.ends[last_level + 1];
    for (int level = last_level; level > 0; level--) {
        if (threadIdx.x == 0) halted = is_over(level, search, gridDim.x, stop, status);
        const int first = queue.ends[level];
        // The last level has no successors.
        const offset edges = level < last_level ? offsets[last] : 0;
        for (offset base = offsets[first] + threadIdx.x / 32 * 32; base < edges; base += blockDim.x) {
            const offset x = base + lane;
            int i = -1;
            value sum = 0;
            if (x < edges) {
                i = owner(offsets, first, last, x);
                const int v = queue.entries[i], w = indices[indptr[v] + x - offsets[i]];
                if (row.depths[w] == level + 2) sum = row.values[w];
            }
            // The lanes of an entry are neighbours: the first of them gets their sum.
            for (int step = 1; step < 32; step *= 2) {
                const value above = __shfl_down_sync(ALL, sum, step);
                if (__shfl_down_sync(ALL, i, step) == i && lane + step < 32) sum += above;
            }
            const int before = __shfl_up_sync(ALL, i, 1);
            if (sum != 0 && (lane == 0 || before != i)) atomicAdd(&sums[i], sum);
        }
        __syncthreads();
        const bool is_halted = halted;
        for (int i = first + threadIdx.x; i < last; i += blockDim.x) {
            const int v = queue.entries[i];
            to.settle(row, v, row.values[v], sums[i]);
            sums[i] = 0;
        }
        __syncthreads();
        if (is_halted) return;
        last = first;
    }
}
