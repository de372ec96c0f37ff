// The whole sweep in one launch, for graphs of many levels: meshes and roads.
//
// The queue of a group holds (vertex, bit row) entries, level after level: starts[l]..starts[l+1] are level l. A warp
// visits an entry. bits(l) is the frontier of level l as bit rows, in one of four arrays that rotate. While level l is
// visited, bits(l-1) is read, bits(l) was complete at the last barrier, bits(l+1) is pushed to and bits(l-2) is
// cleared, so that one barrier a level is enough. visited holds the levels below l and some of l; together with bits(l)
// it tells which columns are new. Bits are pushed with atomicOr, which commutes; numbers are gathered.

// Macros that are 0 leave out the sums that a run does not ask for: COUNTS (of paths; without them the sweep is of bits
// alone), STRESS, EDGE_SUMS and EDGE_SQUARES.

constexpr int EDGES = 2;  // a lane, whose loads are in flight together

// Arrays of one group.
struct Rows {
    unsigned* rotating;  // four arrays of bit rows
    unsigned* visited;
    int* stamps;        // l + 1 where a vertex is in the queue of level l
    value* values;
    int* queue;
    unsigned* masks;
    int* starts;
    int n;

    // The bit rows of a level, which may be one or two below 0.
    __device__ __forceinline__ unsigned* bits(int level) const {
        return rotating + (size_t)((level & 3) * (long long)n) * WORDS;
    }
};

__device__ __forceinline__ Rows rows_of(int group, int n, offset capacity, unsigned* bits, unsigned* visited,
                                        int* stamps, value* values, int* queue, unsigned* masks, int* starts) {
    const size_t rows = (size_t)group * n;
    Rows own;
    own.rotating = bits + 4 * rows * WORDS;
    own.visited = visited + rows * WORDS;
    own.stamps = stamps + rows;
    own.values = values + rows * COLUMNS;
    own.queue = queue + group * capacity;
    own.masks = masks + group * capacity * WORDS;
    own.starts = starts + (size_t)group * (n + 3);
    own.n = n;
    return own;
}

// The vertex of an entry of a queue, if there is one; read one visit ahead, like the word of its bit row.
__device__ __forceinline__ int entry(const int* queue, int i, int last) { return i < last ? queue[i] : 0x7fffffff; }

// This lane's word of a bit row: lane l has word l % WORDS.
__device__ __forceinline__ unsigned word_of(const unsigned* rows, int i, int last) {
    return i < last ? rows[(size_t)i * WORDS + (threadIdx.x & 31) % WORDS] : 0;
}

// This lane's byte of the bit row whose words the lanes hold.
__device__ __forceinline__ unsigned byte_of(unsigned word) {
    const int lane = threadIdx.x & 31;
    return __shfl_sync(ALL, word, lane / 4) >> 8 * (lane % 4) & 0xff;
}

// Sum over the edges of v of where(bits[u], values[u], 0) in one column a lane; alike in all parts of the warp. In the
// backward sweep also the other sums asked for.
template <bool BACKWARD>
__device__ __forceinline__ Gathered gather_column(const offset* indptr, const int* indices, int v, Share share,
                                                  int column, bool live, const unsigned char* bits,
                                                  const value* values, const Besides& besides) {
    constexpr bool ALONG_EDGES = BACKWARD && EDGE_SUMS;
    const offset end = indptr[v + 1];
    Gathered sums = {0, 0};
    // Where lanes are summed over, all of them loop equally often.
    for (offset e = indptr[v] + share.part; (ALONG_EDGES ? e - share.part : e) < end; e += EDGES * share.parts) {
        int u[EDGES];
        bool meet[EDGES];
        value x[EDGES];
        offset place[EDGES];
#pragma unroll
        for (int i = 0; i < EDGES; i++) {
            const bool valid = live && e + i * share.parts < end;
            u[i] = valid ? indices[e + i * share.parts] : -1;
            if constexpr (ALONG_EDGES)
                place[i] = valid && share.place == 0 ? besides.edge_order[e + i * share.parts] : 0;
        }
#pragma unroll
        for (int i = 0; i < EDGES; i++)
            meet[i] = u[i] >= 0 && bits[(size_t)u[i] * BYTES + column / 8] >> column % 8 & 1;
#pragma unroll
        for (int i = 0; i < EDGES; i++) x[i] = meet[i] ? values[(size_t)u[i] * COLUMNS + column] : value(0);
        add_edges<BACKWARD>(sums, x, meet, u, place, column, share, besides);
    }
    join_parts<BACKWARD>(sums, share);
    return sums;
}

// Clear the bit rows of some entries.
__device__ __forceinline__ void clear(const Group& group, const int* queue, int first, int last, unsigned* bits) {
    const int thread = group.block * blockDim.x + threadIdx.x, threads = group.blocks * blockDim.x;
    for (long long i = (long long)first * WORDS + thread; i < (long long)last * WORDS; i += threads)
        bits[(size_t)queue[i / WORDS] * WORDS + i % WORDS] = 0;
}

// Push the bit row of v to its out-neighbours, four edges at a time, a word a lane; queue the newly touched ones.
__device__ __forceinline__ void push(const offset* indptr, const int* indices, int v, int level, unsigned word,
                                     const unsigned* visited, const unsigned* here, unsigned* next, int* stamps,
                                     int* queue, int last, int* found, offset capacity) {
    const int lane = threadIdx.x & 31, part = lane % WORDS;
    const offset end = indptr[v + 1];
    for (offset base = indptr[v]; base < end; base += 4) {
        const offset e = base + lane / WORDS;
        const int w = e < end ? indices[e] : 0;
        const size_t place_of_word = (size_t)w * WORDS + part;
        const unsigned fresh = e < end ? word & ~(visited[place_of_word] | here[place_of_word]) : 0;
        if (fresh) atomicOr(&next[place_of_word], fresh);
        const unsigned touched = __ballot_sync(ALL, fresh != 0) >> (lane / WORDS * WORDS) & 0xff;
        if (touched && part == 0 && stamps[w] != level + 2 && atomicExch(&stamps[w], level + 2) != level + 2) {
            const int place = last + atomicAdd(found, 1);
            if (place < capacity) queue[place] = w;
        }
    }
}

// status[2 * group]: how the sweep ended; status[2 * group + 1]: its last level. found[group][l]: entries of level l,
// zero at first. starts[0..1], the root entries, the stamps and bits of level 0 and the roots' counts are set before.
extern "C" __global__ void __launch_bounds__(32 * WARPS, FORWARD_RESIDENT)
one_launch_forward(int n, int blocks_per_group, const offset* __restrict__ indptr, const int* __restrict__ indices,
                          const offset* __restrict__ in_indptr, const int* __restrict__ in_indices, unsigned* bits,
                          unsigned* visited, int* stamps, value* values, int* queue, unsigned* masks, offset capacity,
                          int* starts, int* found, value sigma_limit, unsigned char* overflowed, unsigned* barriers,
                          int* halts, const volatile unsigned char* stop, int* status,
                          const double* __restrict__ class_sizes) {
    Group group(blocks_per_group, barriers);
    const Rows own = rows_of(group.index, n, capacity, bits, visited, stamps, values, queue, masks, starts);
    __shared__ unsigned char lists[WARPS][COLUMNS];
    unsigned char* columns = lists[threadIdx.x / 32];
    const int lane = threadIdx.x & 31;
    found += (size_t)group.index * (n + 3);
    halts += 2 * group.index;
    int level = 0, before = 0, first = 0, last = own.starts[1], end_status = DONE;
    while (true) {
        const unsigned* here = own.bits(level);
        unsigned* next = own.bits(level + 1);
        if (group.block == 0 && threadIdx.x == 0) halts[level % 2] = *stop;
        int v = entry(own.queue, first + group.thread() / 32, last);
        unsigned word = word_of(here, v, n);
        for (int i = first + group.thread() / 32; i < last; i += group.threads() / 32) {
            const int following = entry(own.queue, i + group.threads() / 32, last);
            if (lane < WORDS) {
                own.masks[(size_t)i * WORDS + lane] = word;
                own.visited[(size_t)v * WORDS + lane] |= word;
            }
            push(indptr, indices, v, level, word, own.visited, here, next, own.stamps, own.queue, last,
                 &found[level + 1], capacity);
            const unsigned word_following = word_of(here, following, n);
            if (COUNTS && level > 0) {
                const unsigned mask = byte_of(word);
                const int count = list_columns(mask, columns);
                const Share share(count);
                for (int j = 0; j < count; j += 32) {
                    const bool live = j + share.place < count;
                    const int column = live ? columns[j + share.place] : 0;
                    value sigma =
                        gather_column<false>(in_indptr, in_indices, v, share, column, live,
                                             (const unsigned char*)own.bits(level - 1), own.values, {})
                            .total;
                    if (live && share.part == 0) {
                        if constexpr (CLASS_SIZES) sigma = of_all(sigma, class_sizes[v]);
                        own.values[(size_t)v * COLUMNS + column] = sigma;
                        if (sigma > sigma_limit)
                            atomicOr((unsigned*)(overflowed + group.index * BYTES) + column / 32, 1u << column % 32);
                    }
                }
            }
            v = following;
            word = word_following;
        }
        if (level > 1) clear(group, own.queue, before, own.starts[level - 1], own.bits(level - 2));
        group.wait();
        const int end = last + *(volatile int*)&found[level + 1];
        if (*(volatile int*)&halts[level % 2]) end_status = STOPPED;
        else if (end > capacity) end_status = QUEUE_FULL;
        if (end == last || end_status != DONE) break;
        if (level > 0) before = own.starts[level - 1];
        level++;
        first = last;
        last = end;
        if (group.block == 0 && threadIdx.x == 0) own.starts[level + 1] = end;
    }
    if (group.block == 0 && threadIdx.x == 0) {
        status[2 * group.index] = end_status;
        status[2 * group.index + 1] = level;
    }
}

// While level l is visited, bits[l+1] is read, bits[l] is set, and bits[l+2] is cleared. `paths` and `stress` are null
// without STRESS; without EDGE_SUMS so are `edge_order` and `edges`, a row of nnz sums a group, and without
// EDGE_SQUARES `edge_squares`.
extern "C" __global__ void
    __launch_bounds__(32 * WARPS, STRESS || EDGE_SUMS ? BACKWARD_SUMS_RESIDENT : BACKWARD_RESIDENT)
one_launch_backward(
    int n, int blocks_per_group, const offset* __restrict__ indptr, const int* __restrict__ indices, unsigned* bits,
    unsigned* visited, int* stamps, value* values, int* queue, unsigned* masks, offset capacity, int* starts,
    const unsigned* __restrict__ keep, const double* __restrict__ omega, const double* __restrict__ root_weights,
    double* scores, unsigned* barriers, int* halts, const volatile unsigned char* stop, int* status, value* paths,
    double* stress, double* squares, const offset* __restrict__ edge_order, offset nnz, double* edges,
    double* edge_squares, const double* __restrict__ class_sizes) {
    Group group(blocks_per_group, barriers);
    const Rows own = rows_of(group.index, n, capacity, bits, visited, stamps, values, queue, masks, starts);
    __shared__ unsigned char lists[WARPS][COLUMNS];
    unsigned char* columns = lists[threadIdx.x / 32];
    const int lane = threadIdx.x & 31;
    const int depth = status[2 * group.index + 1];
    const unsigned kept_word = keep[group.index * WORDS + lane % WORDS];
    halts += 2 * group.index;
    scores += (size_t)group.index * n;
    if constexpr (STRESS) paths += (size_t)group.index * n * COLUMNS, stress += (size_t)group.index * n;
    if constexpr (SQUARES) squares += (size_t)group.index * n;
    if constexpr (EDGE_SUMS) edges += group.index * nnz;
    if constexpr (EDGE_SQUARES) edge_squares += group.index * nnz;
    if (root_weights) root_weights += group.index * COLUMNS;
    for (int level = depth; level > 0; level--) {
        unsigned* here = own.bits(level);
        const unsigned char* beyond = (const unsigned char*)own.bits(level + 1);
        if (group.block == 0 && threadIdx.x == 0) halts[level % 2] = *stop;
        const int last = own.starts[level + 1];
        int v = entry(own.queue, own.starts[level] + group.thread() / 32, last);
        unsigned word = word_of(own.masks, own.starts[level] + group.thread() / 32, last);
        for (int i = own.starts[level] + group.thread() / 32; i < last; i += group.threads() / 32) {
            const int following = entry(own.queue, i + group.threads() / 32, last);
            const unsigned word_following = word_of(own.masks, i + group.threads() / 32, last);
            word &= kept_word;
            if (lane < WORDS) here[(size_t)v * WORDS + lane] = word;
            const unsigned mask = byte_of(word);
            const int count = list_columns(mask, columns);
            const Share share(count);
            const value targets = !OMEGA_BY_COLUMN && omega ? value(omega[v]) : value(1);
            Shares shares;
            for (int j = 0; j < count; j += 32) {
                const bool live = j + share.place < count;
                const int column = live ? columns[j + share.place] : 0;
                const size_t entry = (size_t)v * COLUMNS + column;
                const auto times = [&] { return root_weights ? root_weights[column] : 1.0; };
                Besides besides = {paths, 0, 0, edge_order, edges, edge_squares};
                if constexpr (EDGE_SUMS) {
                    besides.start_at(times(), (double)own.values[entry]);
                    __syncwarp();  // before the first part of the lanes overwrites it
                }
                const Gathered sums =
                    level < depth ? gather_column<true>(indptr, indices, v, share, column, live, beyond, own.values,
                                                        besides)
                                  : Gathered{0, 0};
                if (live && share.part == 0) {
                    const value own_targets =
                        OMEGA_BY_COLUMN ? value(omega[(size_t)group.index * n * COLUMNS + entry]) : targets;
                    shares.close(own.values + entry, paths + entry, sums, own_targets, times(), class_sizes, v);
                }
            }
            shares.add_to(v, scores, stress, squares);
            v = following;
            word = word_following;
        }
        if (level + 2 <= depth)
            clear(group, own.queue, own.starts[level + 2], own.starts[level + 3], own.bits(level + 2));
        if (halts_after(group, &halts[level % 2], status)) return;
    }
}
