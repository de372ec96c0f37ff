// Delta-stepping with buckets one unit wide, for lengths that are small multiples of a unit (Dial 1969), a launch a bucket.
//
// Such a bucket holds one distance: level t is the vertices at distance t, and an edge of length l is tight if it leads
// from level t - l to level t. So bit rows alone tell what is tight; no distance is stored, and no value is read in vain.
// With all lengths one, these are the sweeps of hops.
//
// A group's bit rows are numbered through: vertex v at level t is row t * n + v, which 32 bits hold.

// What a run does not ask for is left out by macros that are 0 or 1: COUNTS (of paths; without them the sweep is of bits
// alone), STRESS and EDGE_SUMS.

constexpr int EDGES = 4;  // whose bits are loaded before the first of them is used
constexpr int RESIDENT = EDGE_SUMS ? DIAL_EDGES_RESIDENT : STRESS ? DIAL_STRESS_RESIDENT : DIAL_RESIDENT;

// The levels of one group.
struct Levels {
    unsigned* live;       // a bitmap a level, of the rows that have any bit
    unsigned char* bits;  // from the part on
    int n;

    // `capacity` levels are allocated.
    __device__ Levels(const Place& at, int n, int capacity, unsigned* live, unsigned char* bits)
        : live(live + (size_t)at.group * capacity * bitmap_words(n)),
          bits(bits + (size_t)at.group * capacity * n * BYTES + at.column / 8), n(n) {}

    __device__ unsigned* live_of(int level) const { return live + level * bitmap_words(n); }
    __device__ unsigned row(int level, int v) const { return (unsigned)level * n + v; }
    __device__ unsigned char* bits_of(unsigned row) const { return bits + (size_t)row * BYTES; }
};

// What the backward sweep gathers besides c.
struct Besides {
    const value* paths;  // t, for stress; a row has its sums behind those of c
    const double* near;  // multiplicity * sigma of the own columns, for edges
    EdgeSums edges;
};

// total += sum over the warp's edges of where(bits of the level `level` + SIGN * length & wanted, values[u], 0), as far
// as that is one of the levels 0..last; returns the columns met. In the backward sweep, which goes up by the lengths, the
// other sums that are asked for, too.
template <int SIGN, int COUNT>
__device__ __forceinline__ unsigned gather(const offset* indptr, const int* indices, const unsigned char* lengths,
                                           const Place& at, const Levels& levels, int level, int last, unsigned wanted,
                                           const value* values, value (&total)[COUNT], const Besides& besides) {
    constexpr bool ALONG_EDGES = SIGN > 0 && EDGE_SUMS;
    const int lane = threadIdx.x & 31;
    const offset end = indptr[at.v + 1];
    values += at.own_column();
    unsigned met = 0;
    for (offset base = indptr[at.v] + 32 * at.first; base < end; base += 32 * at.step) {
        const bool valid = base + lane < end;
        const int mine = valid ? indices[base + lane] : 0;
        const int there = valid ? level + SIGN * lengths[base + lane] : -1;
        const bool joins = there >= 0 && there <= last;
        const unsigned row = levels.row(joins ? there : 0, mine);
        unsigned todo = __ballot_sync(ALL, joins && has_bit(levels.live_of(there), mine));
        offset edge = 0;
        if constexpr (ALONG_EDGES)
            if (todo >> lane & 1) edge = besides.edges.order[base + lane];
        while (todo) {
            int u[EDGES], source[EDGES];
            unsigned meet[EDGES];
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                source[i] = todo ? __ffs(todo) - 1 : 0;
                u[i] = __shfl_sync(ALL, mine, source[i]);
                const unsigned place = __shfl_sync(ALL, row, source[i]);
                meet[i] = todo ? own_bits(levels.bits_of(place)) & wanted : 0;
                todo &= todo - 1;
            }
            double shares[EDGES] = {};
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                met |= meet[i];
                const value* p = values + (size_t)u[i] * COLUMNS;
                if constexpr (ALONG_EDGES) shares[i] = add_columns_along(p, meet[i], besides.near, total);
                else if constexpr (COUNTS) add_columns(p, meet[i], total);
                if constexpr (SIGN > 0 && STRESS)
                    add_columns(besides.paths + at.own_column() + (size_t)u[i] * COLUMNS, meet[i], total + OWN);
            }
            if constexpr (ALONG_EDGES) besides.edges.add(shares, source, edge);
        }
    }
    return met;
}

// level<!visited> = rows one length from an earlier level; their counts are gathered along in-edges.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
dial_forward(int n, int hubs, int capacity, int roots, int level, const offset* __restrict__ in_indptr,
             const int* __restrict__ in_indices, const unsigned char* __restrict__ in_lengths, unsigned* live,
             unsigned char* bits, unsigned char* __restrict__ visited, value* values, value sigma_limit,
             unsigned* overflowed, int* any, const double* __restrict__ vertex_members) {
    const Place at(n, hubs);
    if (!at.valid) return;
    const Levels levels(at, n, capacity, live, bits);
    unsigned char* seen_row = visited + at.row * BYTES + at.column / 8;
    const unsigned seen = own_bits(seen_row), wanted = ~seen & used_columns(at, roots);
    values += at.rows * COLUMNS;
    unsigned found = 0;
    value total[OWN] = {};
    if (__any_sync(ALL, wanted))  // alike in all warps of a hub, which share the row
        found = gather<-1>(in_indptr, in_indices, in_lengths, at, levels, level, level - 1, wanted, values, total,
                           {});
    if (at.step > 1 && !join_hub(total, found)) return;
    put_bits(levels.bits_of(levels.row(level, at.v)), found);
    if (!__any_sync(ALL, found)) return;
    put_bits(seen_row, seen | found);
    if ((threadIdx.x & 31) == 0) {
        set_bit(levels.live_of(level), at.v);
        *any = 1;
    }
    if (!COUNTS || !found) return;
    times_members(total, at, vertex_members);
    store_own(values + (size_t)at.v * COLUMNS + at.own_column(), found, total);
    mark_columns(overflowed, at, found & above(total, sigma_limit));
}

// At one level: a tight edge leads to the level that is its length above. `paths` and `stress` are without STRESS,
// `edge_order` and `edges`, a row of nnz sums a group, without EDGE_SUMS; with it level 0 is visited, too, for the edges
// that leave the roots.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
dial_backward(int n, int hubs, int capacity, int level, int last, const offset* __restrict__ indptr,
              const int* __restrict__ indices, const unsigned char* __restrict__ lengths, unsigned* live,
              unsigned char* bits, const unsigned char* __restrict__ keep, const double* __restrict__ omega,
              const double* __restrict__ multiplicity, value* values, double* scores, value* paths, double* stress,
              const offset* __restrict__ edge_order, offset nnz, double* edges,
              const double* __restrict__ vertex_members) {
    const Place at(n, hubs);
    if (!at.valid) return;
    const Levels levels(at, n, capacity, live, bits);
    if (!has_bit(levels.live_of(level), at.v)) return;
    const unsigned mask = own_bits(levels.bits_of(levels.row(level, at.v))) &
                          own_bits(keep + at.group * BYTES + at.column / 8);
    if (!__any_sync(ALL, mask)) return;  // alike in all warps of a hub
    values += at.rows * COLUMNS;
    paths += at.rows * COLUMNS;
    value total[(1 + STRESS) * OWN] = {};
    double near[OWN];
    if constexpr (EDGE_SUMS)
        load_near(at, values + (size_t)at.v * COLUMNS + at.own_column(), mask, multiplicity, near);
    unsigned met = gather<1>(indptr, indices, lengths, at, levels, level, last, mask, values, total,
                             {paths, near, {edge_order, edges + at.group * nnz}});
    if (EDGE_SUMS && level == 0) return;
    if (at.step > 1 && !join_hub(total, met)) return;
    if constexpr (STRESS)
        finish<true>(at, n, mask, total + OWN, omega, multiplicity, vertex_members, values, paths, stress);
    finish<false>(at, n, mask, total, omega, multiplicity, vertex_members, values, values, scores);
}
