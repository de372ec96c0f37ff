// Traversals by a queue, one block a search: O(n + m), as no level looks at a vertex outside of the queue.
//
// Arrays of their own: queues; ends, of the levels in a queue; reached, how many entries a queue has. Depths and values
// are 0 but for these entries.
//
// Vertices are queued in the order of their levels: entries ends[l] .. ends[l + 1] are level l. Forward they are the
// frontier, and the next one is written behind it; backward the levels are replayed from the end. At the next search in
// the same row, the queue tells the entries to clear.

struct Queue {
    int *entries, *ends;

    __device__ Queue(int search, offset stride, int most, int* queues, int* ends)
        : entries(queues + search * stride), ends(ends + search * (offset)(most + 1)) {}

    // Clear the entries of the last search in these rows, and begin with a root.
    __device__ void restart(const Row& row, int root, int reached) {
        for (int i = threadIdx.x; i < reached; i += blockDim.x) {
            row.depths[entries[i]] = 0;
            row.values[entries[i]] = 0;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            entries[0] = root;
            row.depths[root] = 1;
            row.values[root] = 1;
            ends[0] = 0;
            ends[1] = 1;
        }
        __syncthreads();
    }
};

// Begin a level. found[] counts the entries found at three levels: this one, the one before, which slow threads may
// still read, and the one after, which is cleared meanwhile. halted[] is for two levels likewise. So one barrier a
// level is enough.
template <class Count>
__device__ __forceinline__ void begin_level(int level, Count* found, bool* halted, const volatile unsigned char* stop,
                                            int* status) {
    if (threadIdx.x) return;
    found[(level + 1) % 3] = 0;
    halted[level % 2] = is_over(level, blockIdx.x, gridDim.x, stop, status);
}

// Whether a search ends with a level that has queued entries last .. end; if so, its result is written. An early end,
// by a halt or for want of room for the next level, leaves a queue that can be cleared.
__device__ __forceinline__ bool is_last(int level, int most, int last, int end, bool halted, int* reached, int* deepest,
                                        int* status) {
    const bool is_too_deep = end > last && level + 3 > most;
    if (end > last && !is_too_deep && !halted) return false;
    if (threadIdx.x == 0) {
        *reached = end;
        *deepest = level;
        if (is_too_deep) atomicMax(status, TOO_DEEP);
    }
    return true;
}

// Set a depth where there is none, and return the earlier one. All threads that race here set the same depth, so that a
// bitwise "or" of the word around it is enough.
__device__ __forceinline__ int claim(depth* place, int next) {
    const size_t address = (size_t)place;
    const int shift = 8 * (address & 3);
    return depth(atomicOr((unsigned*)(address - (address & 3)), (unsigned)next << shift) >> shift);
}

// Push a count to w, if its depth is `next` or it has none yet; true for the one thread that has reached it first.
__device__ __forceinline__ bool reach(const Row& row, int w, int next, value sigma) {
    int now = row.depths[w];
    const bool fresh = now == 0 && (now = claim(&row.depths[w], next)) == 0;
    if (fresh || now == next) atomicAdd(&row.values[w], sigma);
    return fresh;
}
