// One launch a level, for graphs of few levels: masked sparse matrix products by pull over all rows.
//
// A lane owns one 32-byte sector of values: a part is 128 columns of doubles or 256 of floats.
//
// Two masks are tested before any value is read: a bit a vertex says whether its row is on the frontier at all (32
// edges at once), its bit row in which columns.

// What a run does not ask for is left out by macros that are 0 or 1: COUNTS (of paths; without them the sweep is of bits
// alone), STRESS and EDGE_SUMS.

constexpr int EDGES = 4;  // whose bits are loaded before the first of them is used
constexpr int RESIDENT = EDGE_SUMS ? LEVELS_EDGES_RESIDENT : STRESS ? LEVELS_STRESS_RESIDENT : LEVELS_RESIDENT;

// What the backward sweep gathers besides c.
struct Besides {
    const value* paths;  // t, for stress; a row has its sums behind those of c
    const double* near;  // multiplicity * sigma of the own columns, for edges
    EdgeSums edges;
};

// total += sum over the warp's edges of where(bits[u] & wanted, values[u], 0); returns the columns met. In the backward
// sweep the other sums that are asked for, too.
template <bool BACKWARD, int COUNT>
__device__ __forceinline__ unsigned gather(const offset* indptr, const int* indices, const Place& at,
                                           const unsigned* live, const unsigned char* bits, unsigned wanted,
                                           const value* values, value (&total)[COUNT], const Besides& besides) {
    const int lane = threadIdx.x & 31;
    const offset end = indptr[at.v + 1];
    bits += at.column / 8;
    values += at.own_column();
    unsigned met = 0;
    for (offset base = indptr[at.v] + 32 * at.first; base < end; base += 32 * at.step) {
        const int mine = base + lane < end ? indices[base + lane] : -1;
        unsigned todo = __ballot_sync(ALL, mine >= 0 && has_bit(live, mine));
        offset place = 0;
        if constexpr (BACKWARD && EDGE_SUMS)
            if (todo >> lane & 1) place = besides.edges.order[base + lane];
        while (todo) {
            int u[EDGES], source[EDGES];
            unsigned meet[EDGES];
            double shares[EDGES] = {};
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                source[i] = todo ? __ffs(todo) - 1 : 0;
                u[i] = __shfl_sync(ALL, mine, source[i]);
                meet[i] = todo ? own_bits(bits + (size_t)u[i] * BYTES) & wanted : 0;
                todo &= todo - 1;
            }
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                met |= meet[i];
                if (meet[i]) {
                    value x[OWN];
                    load_sectors(values + (size_t)u[i] * COLUMNS, meet[i], x);
#pragma unroll
                    for (int k = 0; k < OWN; k++) {
                        total[k] += meet[i] >> k & 1 ? x[k] : value(0);
                        if constexpr (BACKWARD && EDGE_SUMS)
                            shares[i] += meet[i] >> k & 1 ? besides.near[k] * (double)x[k] : 0.0;
                    }
                    if constexpr (BACKWARD && STRESS)
                        add_columns(besides.paths + at.own_column() + (size_t)u[i] * COLUMNS, meet[i], total + OWN);
                }
            }
            if constexpr (BACKWARD && EDGE_SUMS) besides.edges.add(shares, source, place);
        }
    }
    return met;
}

// The columns in which an edge of the warp's enters from the frontier.
__device__ __forceinline__ unsigned meet(const offset* indptr, const int* indices, const Place& at,
                                         const unsigned* live, const unsigned char* bits, unsigned wanted) {
    const int lane = threadIdx.x & 31;
    const offset end = indptr[at.v + 1];
    bits += at.column / 8;
    unsigned met = 0;
    for (offset base = indptr[at.v] + 32 * at.first; base < end; base += 32 * at.step) {
        const int mine = base + lane < end ? indices[base + lane] : -1;
        unsigned todo = __ballot_sync(ALL, mine >= 0 && has_bit(live, mine));
        while (todo) {
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                const int u = __shfl_sync(ALL, mine, todo ? __ffs(todo) - 1 : 0);
                met |= todo ? own_bits(bits + (size_t)u * BYTES) & wanted : 0;
                todo &= todo - 1;
            }
        }
        if (!__any_sync(ALL, wanted & ~met)) break;
    }
    return met;
}

// Level 1: every out-neighbour of a root has one path from it. A block a root.
extern "C" __global__ void batched_hops_first(int n, const offset* __restrict__ positions,
                                              const offset* __restrict__ columns,
                                              const offset* __restrict__ indptr, const int* __restrict__ indices,
                                              unsigned* visited, unsigned* next, unsigned* next_live, value* values) {
    const int group = columns[blockIdx.x] / COLUMNS, column = columns[blockIdx.x] % COLUMNS;
    const size_t rows = (size_t)group * n;
    const offset v = positions[blockIdx.x], end = indptr[v + 1];
    for (offset e = indptr[v] + threadIdx.x; e < end; e += blockDim.x) {
        const int w = indices[e];
        const unsigned bit = 1u << column % 32;
        atomicOr(&visited[(rows + w) * WORDS + column / 32], bit);
        atomicOr(&next[(rows + w) * WORDS + column / 32], bit);
        set_bit(next_live + group * bitmap_words(n), w);
        if (COUNTS) values[(rows + w) * COLUMNS + column] = 1;
    }
}

// counts += (live rows of all groups, the edges that leave them). A thread a word.
extern "C" __global__ void batched_hops_count(int n, offset words, const unsigned* __restrict__ live,
                                              const offset* __restrict__ indptr, unsigned long long* counts) {
    const offset i = (offset)blockIdx.x * blockDim.x + threadIdx.x;
    const int first = 32 * (i % bitmap_words(n));
    unsigned long long rows = 0, edges = 0;
    for (unsigned todo = i < words ? live[i] : 0; todo; todo &= todo - 1, rows++) {
        const int v = first + __ffs(todo) - 1;
        edges += indptr[v + 1] - indptr[v];
    }
    for (int step = 16; step; step /= 2) {
        rows += __shfl_down_sync(ALL, rows, step);
        edges += __shfl_down_sync(ALL, edges, step);
    }
    if ((threadIdx.x & 31) || !rows) return;
    atomicAdd(&counts[0], rows);
    atomicAdd(&counts[1], edges);
}

// touched = the heads of all edges that leave live rows. A warp a word and group.
extern "C" __global__ void batched_hops_touch(int n, const unsigned* __restrict__ live,
                                              const offset* __restrict__ indptr, const int* __restrict__ indices,
                                              unsigned* touched) {
    const size_t bitmap = blockIdx.y * bitmap_words(n);
    const int word = blockIdx.x * WARPS + threadIdx.x / 32;
    if (word >= bitmap_words(n)) return;
    for (unsigned todo = live[bitmap + word]; todo; todo &= todo - 1) {
        const int v = 32 * word + __ffs(todo) - 1;
        const offset end = indptr[v + 1];
        for (offset e = indptr[v] + (threadIdx.x & 31); e < end; e += 32) {
            const int w = indices[e];
            if (!has_bit(touched + bitmap, w)) set_bit(touched + bitmap, w);
        }
    }
}

// What the forward sweep reads and writes at a level.
struct Forward {
    int roots;
    const offset* in_indptr;
    const int* in_indices;
    const unsigned* live;
    const unsigned char* frontier;
    unsigned char* visited;
    unsigned* next_live;
    unsigned char* next;
    value* values;
    value sigma_limit;
    unsigned* overflowed;
};

// next<!visited> = the row, as it is reached from the frontier; its counts are gathered along in-edges.
__device__ __forceinline__ void reach(int n, const Place& at, const Forward& sweep) {
    unsigned char* seen_row = sweep.visited + at.row * BYTES + at.column / 8;
    const unsigned seen = own_bits(seen_row), wanted = ~seen & used_columns(at, sweep.roots);
    const size_t bitmap = at.group * bitmap_words(n);
    value* values = sweep.values + at.rows * COLUMNS;
    unsigned found = 0;
    value total[OWN] = {};
    if (__any_sync(ALL, wanted)) {  // alike in all warps of a hub, which share the row
        const unsigned char* frontier = sweep.frontier + at.rows * BYTES;
        if constexpr (COUNTS)
            found = gather<false>(sweep.in_indptr, sweep.in_indices, at, sweep.live + bitmap, frontier, wanted, values,
                                  total, {});
        else
            found = meet(sweep.in_indptr, sweep.in_indices, at, sweep.live + bitmap, frontier, wanted);
    }
    if (at.step > 1 && !join_hub(total, found)) return;
    put_bits(sweep.next + at.row * BYTES + at.column / 8, found);
    if (!__any_sync(ALL, found)) return;
    put_bits(seen_row, seen | found);
    if ((threadIdx.x & 31) == 0) set_bit(sweep.next_live + bitmap, at.v);
    if (!COUNTS || !found) return;
    store_own(values + (size_t)at.v * COLUMNS + at.own_column(), found, total);
    mark_columns(sweep.overflowed, at, found & above(total, sweep.sigma_limit));
}

// `touched` is null where the level is large: then all rows are visited.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
batched_hops_forward(int n, int hubs, int roots, const offset* __restrict__ in_indptr,
                     const int* __restrict__ in_indices, const unsigned* __restrict__ live,
                     const unsigned char* __restrict__ frontier, unsigned char* __restrict__ visited,
                     unsigned* next_live, unsigned char* __restrict__ next, value* values, value sigma_limit,
                     unsigned* overflowed, const unsigned* __restrict__ touched) {
    for_rows(n, hubs, touched, [&](const Place& at) {
        reach(n, at, {roots, in_indptr, in_indices, live, frontier, visited, next_live, next, values, sigma_limit,
                      overflowed});
    });
}

// What the backward sweep reads and writes at a level. `beyond` is null at the last one.
struct Backward {
    const offset* indptr;
    const int* indices;
    const unsigned char* here;
    const unsigned* beyond_live;
    const unsigned char* beyond;
    const unsigned char* keep;
    const double* omega;
    const double* multiplicity;
    value* values;
    double* scores;
    value* paths;
    double* stress;
    const offset* edge_order;
    offset nnz;
    double* edges;
};

// A row that is live at this level, whose tight successors the next one holds.
__device__ __forceinline__ void depend(int n, const Place& at, const Backward& sweep) {
    const unsigned mask = own_bits(sweep.here + at.row * BYTES + at.column / 8) &
                          own_bits(sweep.keep + at.group * BYTES + at.column / 8);
    if (!__any_sync(ALL, mask)) return;  // alike in all warps of a hub
    value* values = sweep.values + at.rows * COLUMNS;
    value* paths = sweep.paths + at.rows * COLUMNS;
    value total[(1 + STRESS) * OWN] = {};
    unsigned met = 0;
    if (sweep.beyond) {
        double near[OWN];
        if constexpr (EDGE_SUMS)
            load_near(at, values + (size_t)at.v * COLUMNS + at.own_column(), mask, sweep.multiplicity, near);
        met = gather<true>(sweep.indptr, sweep.indices, at, sweep.beyond_live + at.group * bitmap_words(n),
                           sweep.beyond + at.rows * BYTES, mask, values, total,
                           {paths, near, {sweep.edge_order, sweep.edges + at.group * sweep.nnz}});
    }
    if (at.step > 1 && !join_hub(total, met)) return;
    if constexpr (STRESS)
        finish_paths(at, n, mask, total + OWN, sweep.omega, sweep.multiplicity, values, paths, sweep.stress);
    finish_row(at, n, mask, total, sweep.omega, sweep.multiplicity, values, sweep.scores);
}

// `paths` and `stress` are without STRESS, `edge_order` and `edges`, a row of nnz sums a group, without EDGE_SUMS. At a
// small level the live rows are looked for by words.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
batched_hops_backward(int n, int hubs, const offset* __restrict__ indptr, const int* __restrict__ indices,
                      const unsigned* __restrict__ here_live, const unsigned char* __restrict__ here,
                      const unsigned* __restrict__ beyond_live, const unsigned char* __restrict__ beyond,
                      const unsigned char* __restrict__ keep, const double* __restrict__ omega,
                      const double* __restrict__ multiplicity, value* values, double* scores, value* paths,
                      double* stress, const offset* __restrict__ edge_order, offset nnz, double* edges, int is_small) {
    for_rows(n, hubs, is_small ? here_live : nullptr, [&](const Place& at) {
        if (has_bit(here_live + at.group * bitmap_words(n), at.v))
            depend(n, at, {indptr, indices, here, beyond_live, beyond, keep, omega, multiplicity, values, scores, paths,
                           stress, edge_order, nnz, edges});
    });
}
