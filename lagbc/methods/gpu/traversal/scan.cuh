// Traversals that look at all vertices or all edges at every level.
//
// A group of blocks makes one search after the other. Depths and values are 0 before the forward sweep, flags and
// barriers before each sweep.

// A group's levels, with one barrier each. found[] has a flag for the level under way, for the one before, which slow
// threads may still read, and for the one after, which is cleared meanwhile; halted[] has two likewise.
struct Rounds : Group {
    volatile int *found, *halted;
    const volatile unsigned char* stop;
    int* status;
    int round;

    __device__ Rounds(int blocks_per_group, unsigned* barriers, int* flags, const volatile unsigned char* stop,
                      int* status)
        : Group(blocks_per_group, barriers), found(flags + 5 * index), halted(found + 3), stop(stop), status(status),
          round(0) {}

    __device__ void begin(int level) {
        if (thread() == 0) {
            found[(round + 1) % 3] = 0;
            halted[round % 2] = is_over(level, index, groups(), stop, status);
        }
    }

    // End a level, with whether this thread has found a vertex; false if the launch shall end.
    __device__ bool end(bool has_found = false) {
        if (has_found) found[round % 3] = 1;
        wait();
        return !halted[round++ % 2];
    }

    // Whether no vertex was found at the level that has ended, or none of the next level would have room.
    __device__ bool is_last(int level, int most, int* deepest) {
        const bool ends = !found[(round + 2) % 3], is_too_deep = !ends && level + 3 > most;
        if (thread() == 0) {
            if (ends) *deepest = level;
            if (is_too_deep) atomicMax(status, TOO_DEEP);
        }
        return ends || is_too_deep;
    }
};

// Put the root of a search on level 0.
__device__ __forceinline__ void set_root(Group& group, const Row& row, int root) {
    if (group.thread() == 0) {
        row.depths[root] = 1;
        row.values[root] = 1;
    }
    group.wait();
}

// Push a count to w, if its depth is `next` or it has none yet; true in the latter case. Racing threads write the same.
__device__ __forceinline__ bool push(const Row& row, int w, int next, value sigma) {
    const int now = row.depths[w];
    if (now != 0 && now != next) return false;
    if (now == 0) row.depths[w] = next;
    atomicAdd(&row.values[w], sigma);
    return now == 0;
}
