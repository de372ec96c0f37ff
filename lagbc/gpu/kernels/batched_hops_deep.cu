// The whole sweep in one launch, for graphs of many levels: meshes and roads.
//
// The blocks of the launch, all resident at once, are cut into `gridDim.x / members` groups of `members` blocks. A
// group searches from its own 256 roots, with a barrier of its own a level: while one group waits the others work.
//
// The queue of a group holds (vertex, bit row) entries, level after level: starts[l]..starts[l+1] are level l. A warp
// visits an entry. bits[l % 4] is the frontier of level l as bit rows. While level l is visited,
//     bits[l-1] is read, bits[l] was complete at the last barrier, bits[l+1] is pushed to, and bits[l-2] is cleared,
// so that one barrier a level is enough. Bits are pushed with atomicOr, which commutes; numbers are gathered. A pushed
// bit counts as visited at once: its vertex, on level l + 1, must not be taken for new by another push of level l, and
// those of level l were marked before the last barrier.

struct Group {
    int index, member, members;
    unsigned* barrier;   // arrivals at the group's barriers so far
    unsigned target;     // arrivals that end the next one

    __device__ Group(int members, unsigned* barriers)
        : index(blockIdx.x / members), member(blockIdx.x % members), members(members), barrier(barriers + index),
          target(0) {}

    __device__ int warp() const { return member * WARPS + threadIdx.x / 32; }
    __device__ int warps() const { return members * WARPS; }

    // All writes of the group before are seen by all of it after. Its blocks are resident, so none waits in vain.
    __device__ void wait() {
        target += members;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(barrier, 1u);
            while (*(volatile unsigned*)barrier < target) __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
    }
};

constexpr int DONE = 0, QUEUE_FULL = 1, STOPPED = 2;

// Arrays of one group.
struct Rows {
    unsigned* bits[4];
    unsigned* visited;
    int* stamps;        // l + 1 where a vertex is in the queue of level l
    value* values;
    int* queue;
    unsigned* masks;
    int* starts;
};

__device__ __forceinline__ Rows rows_of(int group, int n, offset capacity, unsigned* bits, unsigned* visited,
                                        int* stamps, value* values, int* queue, unsigned* masks, int* starts) {
    const size_t rows = (size_t)group * n;
    Rows own;
    for (int i = 0; i < 4; i++) own.bits[i] = bits + (4 * rows + (size_t)i * n) * WORDS;
    own.visited = visited + rows * WORDS;
    own.stamps = stamps + rows;
    own.values = values + rows * COLUMNS;
    own.queue = queue + group * capacity;
    own.masks = masks + group * capacity * WORDS;
    own.starts = starts + (size_t)group * (n + 3);
    return own;
}

// Clear the bit rows of some entries.
__device__ __forceinline__ void clear(const Group& group, const int* queue, int first, int last, unsigned* bits) {
    const int thread = group.member * blockDim.x + threadIdx.x, threads = group.members * blockDim.x;
    for (long long i = (long long)first * WORDS + thread; i < (long long)last * WORDS; i += threads)
        bits[(size_t)queue[i / WORDS] * WORDS + i % WORDS] = 0;
}

// Push the bit row of v to its out-neighbours, four edges at a time, a word a lane; queue those touched first.
__device__ __forceinline__ void push(const offset* indptr, const int* indices, int v, int level, unsigned word,
                                     unsigned* visited, unsigned* next, int* stamps, int* queue, int last,
                                     int* found, offset capacity) {
    const int lane = threadIdx.x & 31, part = lane % WORDS;
    const offset end = indptr[v + 1];
    for (offset base = indptr[v]; base < end; base += 4) {
        const offset e = base + lane / WORDS;
        const int w = e < end ? indices[e] : 0;
        const unsigned fresh = e < end ? word & ~visited[(size_t)w * WORDS + part] : 0;
        if (fresh) {
            atomicOr(&next[(size_t)w * WORDS + part], fresh);
            atomicOr(&visited[(size_t)w * WORDS + part], fresh);
        }
        const unsigned touched = __ballot_sync(ALL, fresh != 0) >> (lane / WORDS * WORDS) & 0xff;
        if (touched && part == 0 && stamps[w] != level + 2 && atomicExch(&stamps[w], level + 2) != level + 2) {
            const int place = last + atomicAdd(found, 1);
            if (place < capacity) queue[place] = w;
        }
    }
}

// status[2 * group]: how the sweep ended; status[2 * group + 1]: its last level. found[group][l]: entries of level l,
// zero at first. starts[0..1], the root entries, the stamps and bits of level 0 and the roots' counts are set before.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
batched_hops_deep_forward(int n, int members, const offset* __restrict__ indptr, const int* __restrict__ indices,
                          const offset* __restrict__ in_indptr, const int* __restrict__ in_indices, unsigned* bits,
                          unsigned* visited, int* stamps, value* values, int* queue, unsigned* masks, offset capacity,
                          int* starts, int* found, unsigned char* overflowed, unsigned* barriers, int* halts,
                          const volatile unsigned char* stop, int* status) {
    Group group(members, barriers);
    const Rows own = rows_of(group.index, n, capacity, bits, visited, stamps, values, queue, masks, starts);
    const int lane = threadIdx.x & 31;
    found += (size_t)group.index * (n + 3);
    halts += 2 * group.index;
    int level = 0, before = 0, first = 0, last = own.starts[1], end_status = DONE;
    while (true) {
        const unsigned* here = own.bits[level % 4];
        unsigned* next = own.bits[(level + 1) % 4];
        if (group.member == 0 && threadIdx.x == 0) halts[level % 2] = *stop;
        for (int i = first + group.warp(); i < last; i += group.warps()) {
            const int v = own.queue[i];
            const unsigned word = here[(size_t)v * WORDS + lane % WORDS];
            if (lane < WORDS) own.masks[(size_t)i * WORDS + lane] = word;
            push(indptr, indices, v, level, word, own.visited, next, own.stamps, own.queue, last, &found[level + 1],
                 capacity);
            if (level > 0) {
                const unsigned mask = ((const unsigned char*)here)[(size_t)v * BYTES + lane];
                value total[OWN] = {};
                gather(in_indptr, in_indices, v, 0, 1, (const unsigned char*)own.bits[(level + 3) % 4], mask,
                       own.values, total);
                put_counts(own.values, v, mask, total, overflowed + group.index * BYTES);
            }
        }
        if (level > 1) clear(group, own.queue, before, own.starts[level - 1], own.bits[(level + 2) % 4]);
        group.wait();
        const int end = last + *(volatile int*)&found[level + 1];
        if (*(volatile int*)&halts[level % 2]) end_status = STOPPED;
        else if (end > capacity) end_status = QUEUE_FULL;
        if (end == last || end_status != DONE) break;
        if (level > 0) before = own.starts[level - 1];
        level++;
        first = last;
        last = end;
        if (group.member == 0 && threadIdx.x == 0) own.starts[level + 1] = end;
    }
    if (group.member == 0 && threadIdx.x == 0) {
        status[2 * group.index] = end_status;
        status[2 * group.index + 1] = level;
    }
}

// While level l is visited, bits[l+1] is read, bits[l] is set, and bits[l+2] is cleared.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
batched_hops_deep_backward(int n, int members, const offset* __restrict__ indptr, const int* __restrict__ indices,
                           unsigned* bits, unsigned* visited, int* stamps, value* values, int* queue, unsigned* masks,
                           offset capacity, int* starts, const unsigned* __restrict__ keep,
                           const double* __restrict__ omega, const double* __restrict__ multiplicity, double* scores,
                           unsigned* barriers, int* halts, const volatile unsigned char* stop, int* status) {
    Group group(members, barriers);
    const Rows own = rows_of(group.index, n, capacity, bits, visited, stamps, values, queue, masks, starts);
    const int lane = threadIdx.x & 31;
    const int depth = status[2 * group.index + 1];
    const unsigned kept = ((const unsigned char*)keep)[group.index * BYTES + lane];
    const unsigned kept_word = keep[group.index * WORDS + lane % WORDS];
    halts += 2 * group.index;
    scores += (size_t)group.index * n;
    if (multiplicity) multiplicity += group.index * COLUMNS;
    for (int level = depth; level > 0; level--) {
        unsigned* here = own.bits[level % 4];
        const unsigned char* beyond = (const unsigned char*)own.bits[(level + 1) % 4];
        if (group.member == 0 && threadIdx.x == 0) halts[level % 2] = *stop;
        for (int i = own.starts[level] + group.warp(); i < own.starts[level + 1]; i += group.warps()) {
            const int v = own.queue[i];
            const unsigned mask = ((const unsigned char*)own.masks)[(size_t)i * BYTES + lane] & kept;
            if (lane < WORDS) here[(size_t)v * WORDS + lane] = own.masks[(size_t)i * WORDS + lane] & kept_word;
            if (!__any_sync(ALL, mask)) continue;
            value total[OWN] = {};
            if (level < depth) gather(indptr, indices, v, 0, 1, beyond, mask, own.values, total);
            finish_row(own.values, v, mask, total, omega, multiplicity, scores);
        }
        if (level + 2 <= depth)
            clear(group, own.queue, own.starts[level + 2], own.starts[level + 3], own.bits[(level + 2) % 4]);
        group.wait();
        if (*(volatile int*)&halts[level % 2]) {
            if (group.member == 0 && threadIdx.x == 0) status[2 * group.index] = STOPPED;
            return;
        }
    }
}
