// The backward sweep in one launch a level, for graphs of few levels.
//
// c is of type `value`. Path counts are of type SIGMA: `value` in rows that c then overwrites, or unsigned integers in
// rows of their own. STRESS, EDGE_SUMS and EDGE_SQUARES are macros that are 1 where a run
// asks for those sums.

constexpr int RESIDENT = EDGE_SUMS ? LEVELS_EDGES_RESIDENT : STRESS ? LEVELS_STRESS_RESIDENT : LEVELS_RESIDENT;

// The additional sums beside c.
struct Besides {
    static constexpr bool PATHS = STRESS, EDGES = EDGE_SUMS;
    typedef EdgeShare Share;
    const value* paths;  // t, for stress; a row has its sums behind those of c
    const Near& near;    // for edges
    EdgeSums edges;
};

// The arrays that the backward sweep reads and writes at a level. `beyond` is null at the last one.
struct Backward {
    const offset* indptr;
    const int* indices;
    const unsigned char* here;
    const unsigned* beyond_live;
    const unsigned char* beyond;
    const unsigned char* keep;
    const double* omega;
    const double* root_weights;
    const double* class_sizes;
    const SIGMA* sigmas;
    value* values;
    double* scores;
    value* paths;
    double* stress;
    double* squares;
    const offset* edge_order;
    offset nnz;
    double *edges, *edge_squares;
};

// A row that is live at this level; the next one holds its tight successors.
__device__ __forceinline__ void depend(int n, const Place& at, const Backward& sweep) {
    const unsigned mask = own_bits(sweep.here + at.row * BYTES + at.column / 8) &
                          own_bits(sweep.keep + at.group * BYTES + at.column / 8);
    if (!__any_sync(ALL, mask)) return;  // alike in all warps of a hub
    const SIGMA* sigmas = sweep.sigmas + at.rows * COLUMNS;
    value* values = sweep.values + at.rows * COLUMNS;
    value* paths = sweep.paths + at.rows * COLUMNS;
    value total[(1 + STRESS) * OWN] = {};
    unsigned met = 0;
    if (sweep.beyond) {
        Near near;
        if constexpr (EDGE_SUMS)
            near.load(at, sigmas + (size_t)at.v * COLUMNS + at.own_column(), mask, sweep.root_weights);
        const EdgeSums edges = {sweep.edge_order, sweep.edges + at.group * sweep.nnz,
                                sweep.edge_squares + at.group * sweep.nnz};
        met = gather(sweep.indptr, sweep.indices, at, sweep.beyond_live + at.group * bitmap_words(n),
                     sweep.beyond + at.rows * BYTES, mask, values, total,
                     Besides{paths, near, edges});
    }
    if (at.step > 1 && !join_hub(total, met)) return;
    if constexpr (STRESS)
        finish<true>(at, n, mask, total + OWN, sweep.omega, sweep.root_weights, sweep.class_sizes, sigmas, paths,
                     sweep.stress, nullptr);
    finish<false>(at, n, mask, total, sweep.omega, sweep.root_weights, sweep.class_sizes, sigmas, values,
                  sweep.scores, sweep.squares);
}

// `paths` and `stress` are null without STRESS; without EDGE_SUMS so are `edge_order` and `edges`, a row of nnz sums a
// group, and without EDGE_SQUARES `edge_squares`. At a small level the live rows are looked for by words.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
launch_per_level_backward(int n, int hubs, const offset* __restrict__ indptr, const int* __restrict__ indices,
                             const unsigned* __restrict__ here_live, const unsigned char* __restrict__ here,
                             const unsigned* __restrict__ beyond_live, const unsigned char* __restrict__ beyond,
                             const unsigned char* __restrict__ keep, const double* __restrict__ omega,
                             const double* __restrict__ root_weights, const SIGMA* sigmas, value* values,
                             double* scores, value* paths, double* stress, double* squares,
                             const offset* __restrict__ edge_order, offset nnz, double* edges,
                             double* edge_squares, int is_small, const double* __restrict__ class_sizes) {
    for_rows(n, hubs, is_small ? here_live : nullptr, [&](const Place& at) {
        if (has_bit(here_live + at.group * bitmap_words(n), at.v))
            depend(n, at, {indptr, indices, here, beyond_live, beyond, keep, omega, root_weights, class_sizes, sigmas,
                           values, scores, paths, stress, squares, edge_order, nnz, edges, edge_squares});
    });
}
