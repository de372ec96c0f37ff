// Delta-stepping with one launch a sweep, for graphs of many levels: the rounds of launch_per_round.cu, on queues.
//
// The queue of a group holds (vertex, bit row) entries, round after round: starts[r]..starts[r+1] are the near set of
// round r. Vertices with a pending column wait in one of two lists, of this round and of the next; a stamp tells
// whether a vertex is in the next one. A round has two parts with a barrier behind each:
//
//     take    near<pending> = dist <= lowest + width, from the waiting list to the queue; the rest waits on
//     relax   lengths are offered along the edges that leave the queued entries, by atomicMin
//
// `lowest` is the least pending distance of the group: its roots are near each other, so that one is enough for all
// columns. The offers of a round start from `snapshot`, the distances at the time when their entries were taken. So the
// columns with a better offer, or one that ties, do not depend on the order of the offers.
//
// An entry's columns are left in its last round (`one_launch_last`). Counts and dependencies need no bits: tight edges
// are told by final distances alone, and lead to later rounds.
//
// Macros that are 0 leave out the sums that a run does not ask for: STRESS, EDGE_SUMS and EDGE_SQUARES.

constexpr int EDGES = 2;  // a lane, whose loads are in flight together
constexpr size_t ENTRY = sizeof(dist) > sizeof(value) ? sizeof(dist) : sizeof(value);
// `counts` of a group: vertices that wait for round r at r % 3, entries of the queue behind.
constexpr int ENTRIES = 3, COUNTS = 4;

// The rows of a group in a buffer that holds snapshots first and values later.
template <typename T>
__device__ __forceinline__ T* rows_in(unsigned char* buffer, size_t rows) {
    return (T*)(buffer + rows * COLUMNS * ENTRY);
}

__device__ __forceinline__ float number(unsigned x) { return __uint_as_float(x); }
__device__ __forceinline__ double number(unsigned long long x) { return __longlong_as_double(x); }

__device__ __forceinline__ dist_key warp_min(dist_key x) {
    for (int step = 16; step; step /= 2) x = min(x, __shfl_xor_sync(ALL, x, step));
    return x;
}

// The vertices that wait for the next round, and the least of their pending distances.
struct Waiting {
    int* list;
    int* count;
    dist_key* lowest;
    int* stamps;
    int stamp;

    __device__ void add(int v) const { list[atomicAdd(count, 1)] = v; }
    // Unless it is there.
    __device__ void join(int v) const {
        if (stamps[v] != stamp && atomicExch(&stamps[v], stamp) != stamp) add(v);
    }
};

// The queue of a group; `latest` is the last entry of each vertex, `previous` the one before it, or -1.
struct Queue {
    int* vertices;
    unsigned* masks;
    int* previous;
    int* latest;
    int* entries;
    offset capacity;

    // All lanes take part, the first WORDS with a word each.
    __device__ void add(int v, unsigned word) const {
        const int lane = threadIdx.x & 31;
        const int place = __shfl_sync(ALL, lane == 0 ? atomicAdd(entries, 1) : 0, 0);
        if (place >= capacity) return;
        if (lane < WORDS) masks[(size_t)place * WORDS + lane] = word;
        if (lane == 0) {
            vertices[place] = v;
            previous[place] = latest[v];
            latest[v] = place;
        }
    }
};

// Move the near columns of a waiting vertex to the queue. A warp; `columns` and `taken` are its shared memory.
__device__ __forceinline__ void take(int v, dist limit, const dist* distances, dist* snapshot, unsigned* pending,
                                     const Queue& queue, const Waiting& next, unsigned char* columns,
                                     unsigned* taken) {
    const int lane = threadIdx.x & 31;
    const size_t row = (size_t)v * COLUMNS;
    const int count = list_columns(((const unsigned char*)pending)[(size_t)v * BYTES + lane], columns);
    if (lane < WORDS) taken[lane] = 0;
    __syncwarp();
    dist_key least = NONE;
    for (int j = lane; j < count; j += 32) {
        const int column = columns[j];
        const dist far = distances[row + column];
        if (far <= limit) {
            snapshot[row + column] = far;
            atomicOr(&taken[column / 32], 1u << column % 32);
        } else {
            least = min(least, key(far));
        }
    }
    __syncwarp();
    const unsigned word = lane < WORDS ? taken[lane] : 0;
    if (__any_sync(ALL, word)) {
        queue.add(v, word);
        if (lane < WORDS) pending[(size_t)v * WORDS + lane] &= ~word;
    }
    least = warp_min(least);
    if (lane == 0 && least != NONE) {
        next.stamps[v] = next.stamp;
        next.add(v);
        atomicMin(next.lowest, least);
    }
}

// Offer the heads of v's edges the lengths through v, in the columns of its entry. A warp.
__device__ __forceinline__ void relax(const offset* indptr, const int* indices, const dist* lengths, int v,
                                      unsigned mask, const dist* snapshot, dist rtol, dist* distances,
                                      unsigned* pending, const Waiting& next, unsigned char* columns) {
    const int count = list_columns(mask, columns);
    const Share share(count);
    const offset end = indptr[v + 1];
    dist_key least = NONE;
    for (int j = 0; j < count; j += 32) {
        if (j + share.place >= count) continue;
        const int column = columns[j + share.place];
        const dist near = snapshot[(size_t)v * COLUMNS + column];
        for (offset first = indptr[v] + share.part; first < end; first += EDGES * share.parts) {
            int w[EDGES];
            dist length[EDGES], far[EDGES];
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                const offset e = first + i * share.parts;
                w[i] = e < end ? indices[e] : -1;
                length[i] = e < end ? lengths[e] : dist(0);
            }
#pragma unroll
            for (int i = 0; i < EDGES; i++)
                far[i] = w[i] < 0 ? dist(0) : __ldcg(&distances[(size_t)w[i] * COLUMNS + column]);
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                if (w[i] < 0) continue;
                const dist through = near + length[i];
                if (through < far[i])
                    far[i] = number(atomicMin((dist_key*)&distances[(size_t)w[i] * COLUMNS + column], key(through)));
                if (!(through < far[i] || is_tight(near, length[i], far[i], rtol))) continue;
                least = min(least, key(min(through, far[i])));
                atomicOr(&pending[(size_t)w[i] * WORDS + column / 32], 1u << column % 32);
                next.join(w[i]);
            }
        }
    }
    least = warp_min(least);
    if ((threadIdx.x & 31) == 0 && least != NONE) atomicMin(next.lowest, least);
}

// Settle all distances. Set before: the roots' distances 0, their pending bits, waiting[0], counts[0] and lowest[0] =
// 0; the other counts 0, lowest[1] = NONE, stamps 0, starts[0] 0 and latest -1. status[2 * group]: how it ended;
// status[2 * group + 1]: the number of rounds.
extern "C" __global__ void __launch_bounds__(32 * WARPS, DELTA_ONE_LAUNCH_RESIDENT)
one_launch_settle(int n, int blocks_per_group, const offset* __restrict__ indptr, const int* __restrict__ indices,
            const dist* __restrict__ lengths, dist* distances, unsigned char* buffer, unsigned* pending, int* waiting,
            int* stamps, int* queue, unsigned* masks, int* previous, int* latest, offset capacity, int* starts,
            dist* lowest, int* counts, dist width, dist rtol, unsigned* barriers, int* halts,
            const volatile unsigned char* stop, int* status) {
    Group group(blocks_per_group, barriers);
    const size_t rows = (size_t)group.index * n;
    __shared__ unsigned char lists[WARPS][COLUMNS];
    __shared__ unsigned bits[WARPS][WORDS];
    unsigned char* columns = lists[threadIdx.x / 32];
    unsigned* taken = bits[threadIdx.x / 32];
    const int lane = threadIdx.x & 31;
    const bool leads = group.thread() == 0;
    distances += rows * COLUMNS;
    dist* snapshot = rows_in<dist>(buffer, rows);
    pending += rows * WORDS;
    waiting += 2 * rows;
    stamps += rows;
    dist_key* least = (dist_key*)lowest + 3 * group.index;
    counts += COUNTS * group.index;
    starts += group.index * (capacity + 1);
    halts += 2 * group.index;
    const Queue own = {queue + group.index * capacity, masks + group.index * capacity * WORDS,
                       previous + group.index * capacity, latest + rows, counts + ENTRIES, capacity};
    int round = 0, first = 0, end = DONE;
    for (; int waits = *(volatile int*)&counts[round % 3]; round++) {
        const int* list = waiting + (round % 2 ? n : 0);
        const dist limit = number(*(volatile dist_key*)&least[round % 3]) + width;
        const Waiting next = {waiting + (round % 2 ? 0 : n), counts + (round + 1) % 3, least + (round + 1) % 3, stamps,
                              round + 1};
        if (leads) {
            halts[round % 2] = *stop;
            counts[(round + 2) % 3] = 0;
            least[(round + 2) % 3] = NONE;
        }
        for (int i = warp_of(group); i < waits; i += warps_of(group))
            take(list[i], limit, distances, snapshot, pending, own, next, columns, taken);
        group.wait();
        const int last = *(volatile int*)&counts[ENTRIES];
        if (*(volatile int*)&halts[round % 2]) end = STOPPED;
        else if (last > capacity) end = QUEUE_FULL;
        if (end != DONE) break;
        if (leads) starts[round + 1] = last;
        for (int i = first + warp_of(group); i < last; i += warps_of(group)) {
            const unsigned mask = ((const unsigned char*)own.masks)[(size_t)i * BYTES + lane];
            relax(indptr, indices, lengths, own.vertices[i], mask, snapshot, rtol, distances, pending, next, columns);
        }
        group.wait();
        first = last;
    }
    if (leads) {
        status[2 * group.index] = end;
        status[2 * group.index + 1] = round;
    }
}

// Leave each column of a vertex in the last of its entries, and set `reached` to all of them. A thread has a word.
extern "C" __global__ void one_launch_last(int n, int blocks_per_group, const int* __restrict__ latest,
                                     const int* __restrict__ previous, int* queue, unsigned* masks, offset capacity,
                                     int* starts, unsigned* reached, unsigned* barriers, int* halts,
                                     const volatile unsigned char* stop, int* status) {
    const Group group(blocks_per_group, barriers);
    latest += (size_t)group.index * n;
    previous += group.index * capacity;
    masks += group.index * capacity * WORDS;
    reached += (size_t)group.index * n * WORDS;
    for (offset i = group.thread(); i < (offset)n * WORDS; i += group.threads()) {
        unsigned later = 0;
        for (int entry = latest[i / WORDS]; entry >= 0; entry = previous[entry]) {
            unsigned* place = masks + (size_t)entry * WORDS + i % WORDS;
            const unsigned here = *place;
            *place = here & ~later;
            later |= here;
        }
        reached[i] = later;
    }
}

// Sum values over the tight edges of v, at distance `own`, in one column a lane: over the edges that enter v if INWARD,
// else over the edges that leave it, and then also the other sums asked for. Alike in all parts of the warp.
template <bool INWARD>
__device__ __forceinline__ Gathered sum_tight(const offset* indptr, const int* indices, const dist* lengths, int v,
                                              const Share& share, int column, bool live, dist own,
                                              const dist* distances, const value* values, dist rtol,
                                              const Besides& besides) {
    constexpr bool ALONG_EDGES = !INWARD && EDGE_SUMS;
    const offset end = indptr[v + 1];
    Gathered sums = {0, 0};
    // Where lanes are summed over, all of them loop equally often.
    for (offset first = indptr[v] + share.part; (ALONG_EDGES ? first - share.part : first) < end;
         first += EDGES * share.parts) {
        int u[EDGES];
        dist length[EDGES], other[EDGES];
        bool tight[EDGES];
        value x[EDGES];
        offset place[EDGES];
#pragma unroll
        for (int i = 0; i < EDGES; i++) {
            const offset e = first + i * share.parts;
            const bool valid = live && e < end;
            u[i] = valid ? indices[e] : -1;
            length[i] = valid ? lengths[e] : dist(0);
            if constexpr (ALONG_EDGES) place[i] = valid && share.place == 0 ? besides.edge_order[e] : 0;
        }
#pragma unroll
        for (int i = 0; i < EDGES; i++)
            other[i] = u[i] < 0 ? own : distances[(size_t)u[i] * COLUMNS + column];  // own: not tight
#pragma unroll
        for (int i = 0; i < EDGES; i++) {
            tight[i] = INWARD ? is_tight(other[i], length[i], own, rtol) : is_tight(own, length[i], other[i], rtol);
            x[i] = tight[i] ? values[(size_t)u[i] * COLUMNS + column] : value(0);
        }
        add_edges<!INWARD>(sums, x, tight, u, place, column, share, besides);
    }
    join_parts<!INWARD>(sums, share);
    return sums;
}

// sigma = the sum of sigma over tight predecessors, round after round; 1 in the first, the roots'. Columns of an entry
// without a tight edge overflow.
extern "C" __global__ void __launch_bounds__(32 * WARPS, DELTA_ONE_LAUNCH_RESIDENT)
one_launch_count(int n, int blocks_per_group, const offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
           const dist* __restrict__ in_lengths, const dist* __restrict__ distances, unsigned char* buffer,
           const int* __restrict__ queue, const unsigned* __restrict__ masks, offset capacity,
           const int* __restrict__ starts, dist rtol, value sigma_limit, unsigned* overflowed, unsigned* barriers,
           int* halts, const volatile unsigned char* stop, int* status, const double* __restrict__ class_sizes) {
    Group group(blocks_per_group, barriers);
    const size_t rows = (size_t)group.index * n;
    __shared__ unsigned char lists[WARPS][COLUMNS];
    unsigned char* columns = lists[threadIdx.x / 32];
    const int lane = threadIdx.x & 31;
    const int rounds = status[2 * group.index + 1];
    distances += rows * COLUMNS;
    value* values = rows_in<value>(buffer, rows);
    queue += group.index * capacity;
    masks += group.index * capacity * WORDS;
    starts += group.index * (capacity + 1);
    halts += 2 * group.index;
    for (int round = 0; round < rounds; round++) {
        if (group.thread() == 0) halts[round % 2] = *stop;
        for (int i = starts[round] + warp_of(group); i < starts[round + 1]; i += warps_of(group)) {
            const int v = queue[i];
            const int count = list_columns(((const unsigned char*)masks)[(size_t)i * BYTES + lane], columns);
            const Share share(count);
            for (int j = 0; j < count; j += 32) {
                const bool live = j + share.place < count;
                const int column = live ? columns[j + share.place] : 0;
                const size_t entry = (size_t)v * COLUMNS + column;
                value sigma = round ? sum_tight<true>(in_indptr, in_indices, in_lengths, v, share, column, live,
                                                      distances[entry], distances, values, rtol, {})
                                          .total
                                    : value(1);
                if (live && share.part == 0) {
                    if (CLASS_SIZES && round) sigma = of_all(sigma, class_sizes[v]);
                    values[entry] = sigma;
                    if (!(sigma > 0 && sigma <= sigma_limit))
                        atomicOr(&overflowed[group.index * WORDS + column / 32], 1u << column % 32);
                }
            }
        }
        if (halts_after(group, &halts[round % 2], status)) return;
    }
}

// From the last round to the first: c = omega / sigma + the sum of c over tight successors, in place of sigma. `paths`
// and `stress` are null without STRESS; without EDGE_SUMS so are `edge_order` and `edges`, a row of nnz sums a group,
// and without EDGE_SQUARES `edge_squares`. With EDGE_SUMS the roots are visited, too, for the edges that leave them.
extern "C" __global__ void
    __launch_bounds__(32 * WARPS, STRESS || EDGE_SUMS ? DELTA_ONE_LAUNCH_SUMS_RESIDENT : DELTA_ONE_LAUNCH_RESIDENT)
one_launch_backward(int n, int blocks_per_group, const offset* __restrict__ indptr, const int* __restrict__ indices,
              const dist* __restrict__ lengths, const dist* __restrict__ distances, unsigned char* buffer,
              const int* __restrict__ queue, const unsigned* __restrict__ masks, offset capacity,
              const int* __restrict__ starts, dist rtol, const unsigned char* __restrict__ keep,
              const double* __restrict__ omega, const double* __restrict__ root_weights, double* scores,
              value* paths, double* stress, double* squares, const offset* __restrict__ edge_order, offset nnz,
              double* edges, double* edge_squares, unsigned* barriers, int* halts,
              const volatile unsigned char* stop, int* status, const double* __restrict__ class_sizes) {
    Group group(blocks_per_group, barriers);
    const size_t rows = (size_t)group.index * n;
    __shared__ unsigned char lists[WARPS][COLUMNS];
    unsigned char* columns = lists[threadIdx.x / 32];
    const int lane = threadIdx.x & 31;
    const int rounds = status[2 * group.index + 1];
    const unsigned kept = keep[group.index * BYTES + lane];
    distances += rows * COLUMNS;
    value* values = rows_in<value>(buffer, rows);
    queue += group.index * capacity;
    masks += group.index * capacity * WORDS;
    starts += group.index * (capacity + 1);
    halts += 2 * group.index;
    scores += rows;
    if constexpr (STRESS) paths += rows * COLUMNS, stress += rows;
    if constexpr (SQUARES) squares += rows;
    if constexpr (EDGE_SUMS) edges += group.index * nnz;
    if constexpr (EDGE_SQUARES) edge_squares += group.index * nnz;
    if (root_weights) root_weights += group.index * COLUMNS;
    for (int round = rounds - 1; round >= (EDGE_SUMS ? 0 : 1); round--) {
        if (group.thread() == 0) halts[round % 2] = *stop;
        for (int i = starts[round] + warp_of(group); i < starts[round + 1]; i += warps_of(group)) {
            const int v = queue[i];
            const int count = list_columns(((const unsigned char*)masks)[(size_t)i * BYTES + lane] & kept, columns);
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
                    besides.start_at(times(), (double)values[entry]);
                    __syncwarp();  // before the first part of the lanes overwrites it
                }
                const Gathered sums = sum_tight<false>(indptr, indices, lengths, v, share, column, live,
                                                       distances[entry], distances, values, rtol, besides);
                if (live && share.part == 0 && !(EDGE_SUMS && round == 0)) {
                    const value own_targets = OMEGA_BY_COLUMN ? value(omega[rows * COLUMNS + entry]) : targets;
                    shares.close(values + entry, paths + entry, sums, own_targets, times(), class_sizes, v);
                }
            }
            shares.add_to(v, scores, stress, squares);
        }
        if (halts_after(group, &halts[round % 2], status)) return;
    }
}
