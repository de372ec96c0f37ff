// Sums over a row's edges for graphs of few levels: masked sparse matrix products by pull.
//
// A lane owns one 32-byte sector of values: a part is 128 columns of doubles or 256 of four bytes.
//
// Two masks are tested before any value is read: a bit a vertex says whether its row is on the frontier at all (32
// edges at once), its bit row in which columns.

constexpr int EDGES = 4;  // whose bits are loaded before the first of them is used

// total += sum over the warp's edges of where(bits[u] & wanted, values[u], 0); returns the columns met. `more` tells
// the additional sums: More::PATHS the rows more.paths, behind those of values; More::EDGES those of each edge, by
// more.near.
template <typename More, typename T, typename S, int COUNT>
__device__ __forceinline__ unsigned gather(const offset* indptr, const int* indices, const Place& at,
                                           const unsigned* live, const unsigned char* bits, unsigned wanted,
                                           const T* values, S (&total)[COUNT], const More& more) {
    const int lane = threadIdx.x & 31;
    const offset end = indptr[at.v + 1];
    bits += at.column / 8;
    values += at.own_column();
    unsigned met = 0;
    for (offset base = indptr[at.v] + 32 * at.first; base < end; base += 32 * at.step) {
        const int mine = base + lane < end ? indices[base + lane] : -1;
        unsigned todo = __ballot_sync(ALL, mine >= 0 && has_bit(live, mine));
        offset place = 0;
        if constexpr (More::EDGES)
            if (todo >> lane & 1) place = more.edges.order[base + lane];
        while (todo) {
            int u[EDGES], source[EDGES];
            unsigned meet[EDGES];
            typename More::Share shares[EDGES] = {};
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
                    T x[OWN];
                    load_sectors(values + (size_t)u[i] * COLUMNS, meet[i], x);
#pragma unroll
                    for (int k = 0; k < OWN; k++) {
                        total[k] += meet[i] >> k & 1 ? x[k] : T(0);
                        if constexpr (More::EDGES)
                            more.near.add_to(shares[i], k, meet[i] >> k & 1, (double)x[k]);
                    }
                    if constexpr (More::PATHS)
                        add_columns(more.paths + at.own_column() + (size_t)u[i] * COLUMNS, meet[i], total + OWN);
                }
            }
            if constexpr (More::EDGES) more.edges.add(shares, source, place);
        }
    }
    return met;
}
