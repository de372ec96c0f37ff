// The additional sums of a backward sweep by launches beside c, by macros that are 0 or 1: STRESS for t, the paths on
// to targets, and EDGE_SUMS for the dependencies of edges; with SQUARES and EDGE_SQUARES the squares of single columns'
// terms in a score and in the sum of an edge are summed, too.
//
// omega has the targets of a vertex, or, with OMEGA_BY_COLUMN, of each of its columns, in rows like those of values.

#ifndef OMEGA_BY_COLUMN
#define OMEGA_BY_COLUMN 0
#endif
#ifndef EDGE_SQUARES
#define EDGE_SQUARES 0
#endif

// A lane's share of the sum of an edge, and of the sum of its squares.
struct EdgeShare {
    double sum, squares;
};

// The sums of a group's edges.
struct EdgeSums {
    const offset* order;  // place of each edge among the sums
    double* sums;
    double* squares;

    // Sum the lanes' shares of four edges, each along the same tree; the eight lanes of slot i get the sum of edge i.
    static __device__ __forceinline__ double sum_by_slots(double x0, double x1, double x2, double x3) {
        const int lane = threadIdx.x & 31;
        const bool upper = lane & 16, odd = lane & 8;
        double even_sum = upper ? x2 : x0, odd_sum = upper ? x3 : x1;
        even_sum += __shfl_xor_sync(ALL, upper ? x0 : x2, 16);
        odd_sum += __shfl_xor_sync(ALL, upper ? x1 : x3, 16);
        double sum = odd ? odd_sum : even_sum;
        sum += __shfl_xor_sync(ALL, odd ? even_sum : odd_sum, 8);
        for (int step = 4; step; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
        return sum;
    }

    // Add the lanes' shares of four edges; lane source[i] knows the place of edge i.
    //
    // In one launch one warp visits an edge, so that the order of additions is the levels'. They are atomic only so
    // that the warp need not wait for the number before.
    __device__ __forceinline__ void add(const EdgeShare (&of)[4], const int (&source)[4], offset place) const {
        const int lane = threadIdx.x & 31, slot = lane / 8;
        const double sum = sum_by_slots(of[0].sum, of[1].sum, of[2].sum, of[3].sum);
        const int from = slot == 0 ? source[0] : slot == 1 ? source[1] : slot == 2 ? source[2] : source[3];
        const offset where = __shfl_sync(ALL, place, from);
        if (lane % 8 == 0 && sum != 0) atomicAdd(&sums[where], sum);
        if constexpr (EDGE_SQUARES) {
            const double squared = sum_by_slots(of[0].squares, of[1].squares, of[2].squares, of[3].squares);
            if (lane % 8 == 0 && squared != 0) atomicAdd(&squares[where], squared);
        }
    }
};

// The tails of a row's edges: root weight * sigma and, with EDGE_SQUARES, sigma of the own columns. Only sigma * c is
// squared: sigma^2 may be beyond a double.
struct Near {
    double weighed[OWN], sigma[OWN];

    // Load them where a mask is set; the row's sigma is at `p`.
    template <typename S>
    __device__ __forceinline__ void load(const Place& at, const S* p, unsigned mask, const double* root_weights) {
        S counts[OWN];
        load_sectors(p, mask, counts);
#pragma unroll
        for (int k = 0; k < OWN; k++) {
            weighed[k] = times_of(at, k, root_weights) * (double)counts[k];
            if constexpr (EDGE_SQUARES) sigma[k] = (double)counts[k];
        }
    }

    // Add the term of own column k with the head's c, if the edge is tight in it.
    __device__ __forceinline__ void add_to(EdgeShare& share, int k, bool is_tight, double c) const {
        share.sum += is_tight ? weighed[k] * c : 0.0;
        if constexpr (EDGE_SQUARES) share.squares += is_tight ? (weighed[k] * c) * (sigma[k] * c) : 0.0;
    }
};

// total += where(columns, p, 0); returns the lane's share of the edge's sum over these columns.
__device__ __forceinline__ EdgeShare add_columns_along(const value* p, unsigned columns, const Near& near,
                                                       value* total) {
    EdgeShare share = {};
    for_sectors(p, columns, [&](int k, value x) {
        total[k] += columns >> k & 1 ? x : value(0);
        near.add_to(share, k, columns >> k & 1, (double)x);
    });
    return share;
}

// At one level: with sigma in its row of `sigmas`, and `total` the sum over tight successors of c or t, the vertex gets
// c = class_sizes[v] * (omega / sigma + total) or, of PATHS, t = omega + total in its row of `values`, and
// root_weights * sigma * total is added to its score; with SQUARES, root_weights * (sigma * total)^2 to its squares.
// `sigmas` may be the rows in which c takes their place, so that t comes first.
template <bool PATHS, typename S>
__device__ __forceinline__ void finish(const Place& at, int n, unsigned mask, const value* total, const double* omega,
                                       const double* root_weights, const double* class_sizes, const S* sigmas,
                                       value* values, double* scores, double* squares) {
    double through = 0, squared = 0;
    if (mask) {
        const size_t own = (size_t)at.v * COLUMNS + at.own_column();
        const value targets = !OMEGA_BY_COLUMN && omega ? value(omega[at.v]) : value(1);
        S sigma[OWN];
        value onward[OWN];
        load_own(sigmas + own, sigma);
#pragma unroll
        for (int k = 0; k < OWN; k++) {
            if (mask >> k & 1) {
                const double x = (double)sigma[k] * (double)total[k];
                through += times_of(at, k, root_weights) * x;
                if constexpr (SQUARES && !PATHS) squared += times_of(at, k, root_weights) * x * x;
            }
            const value own_targets =
                OMEGA_BY_COLUMN ? value(omega[at.row * COLUMNS + at.own_column() + k]) : targets;
            onward[k] = (PATHS ? own_targets : own_targets / value(sigma[k])) + total[k];
        }
        times_class_sizes(onward, at, class_sizes);
        store_own(values + own, mask, onward);
    }
    add_score(at, n, through, scores);
    if constexpr (SQUARES && !PATHS) add_score(at, n, squared, squares);
}
