// Delta-stepping a launch a round, for graphs of few levels: min-plus products by pull over all rows, with a window of
// distances a column.
//
// A round relaxes the edges that leave its near set,
//
//     near<pending> = dist <= lowest + width,   lowest = the least pending distance of the column,
//
// where an entry (vertex, column) is pending from the time when its distance fell, or was met by another path of the
// same length, until it is near. An entry may be near in several rounds; once no entry is pending, all distances are
// final. The round in which an entry was last near is its level. A tight edge (u, v) leads to a higher level: the
// relaxation that follows the last round of u finds dist[v] above the length through u, or equal to it, and v pending
// in either case. So counts and dependencies are summed level by level, along the edges that the final distances make
// tight.
//
// A round reads the distances from the time when its entries became near (`snapshot`): neither the bits nor the levels
// depend on the order in which rows are relaxed.
//
// edges_in_reach.cuh tells the edges that a round has to look at.

// Macros that are 0 leave out the sums that a run does not ask for: STRESS, EDGE_SUMS and EDGE_SQUARES.

// lowest = min over the pending entries of dist, a column; *any is set if there is an entry.
extern "C" __global__ void delta_lowest(int n, const unsigned char* __restrict__ pending,
                                        const dist* __restrict__ distances, dist* lowest, int* any) {
    __shared__ dist_key found[PART];
    const Place first(n, 0);
    const int lane = threadIdx.x & 31;
    for (int i = threadIdx.x; i < PART; i += blockDim.x) found[i] = NONE;
    __syncthreads();
    dist_key least[OWN];
#pragma unroll
    for (int k = 0; k < OWN; k++) least[k] = NONE;
    for (int v = first.v; v < n; v += gridDim.x * WARPS) {
        const size_t row = first.rows + v;
        const unsigned waiting = own_bits(pending + row * BYTES + first.column / 8);
        if (!waiting) continue;
        dist x[OWN];
        load_own(distances + row * COLUMNS + first.own_column(), x);
#pragma unroll
        for (int k = 0; k < OWN; k++)
            if (waiting >> k & 1) least[k] = min(least[k], key(x[k]));
    }
#pragma unroll
    for (int k = 0; k < OWN; k++)
        if (least[k] != NONE) atomicMin(&found[OWN * lane + k], least[k]);
    __syncthreads();
    for (int i = threadIdx.x; i < PART; i += blockDim.x)
        if (found[i] != NONE) {
            atomicMin((dist_key*)lowest + first.group * COLUMNS + first.column + i, found[i]);
            *any = 1;
        }
}

// Take the near entries from the pending ones; `snapshot` gets their distances.
extern "C" __global__ void delta_near(int n, const dist* __restrict__ distances, const dist* __restrict__ lowest,
                                      dist width, unsigned char* pending, unsigned char* near, unsigned* live,
                                      dist* snapshot) {
    const Place at(n, 0);
    if (!at.valid) return;
    const size_t own = at.row * BYTES + at.column / 8, entry = at.row * COLUMNS + at.own_column();
    const unsigned waiting = own_bits(pending + own);
    unsigned taken = 0;
    if (waiting) {
        dist x[OWN], low[OWN];
        load_own(distances + entry, x);
        load_own(lowest + at.group * COLUMNS + at.own_column(), low);
#pragma unroll
        for (int k = 0; k < OWN; k++) taken |= (x[k] <= low[k] + width) << k;
        taken &= waiting;
        store_own(snapshot + entry, taken, x);
    }
    put_bits(near + own, taken);
    if (!__any_sync(ALL, taken)) return;
    put_bits(pending + own, waiting & ~taken);
    if ((threadIdx.x & 31) == 0) set_bit(live + at.group * bitmap_words(n), at.v);
}

// A lane's own columns of the row that it relaxes.
struct Head {
    dist far[OWN];
    float reach[OWN];
    float widest;  // the largest reach of the warp, alike in all warps of a hub
    unsigned pending;  // columns that the round makes pending
};

// Find the row's distances and how far they reach back; false once no path can be found any more: then its bit in
// `open`, a row a group and part, is cleared.
__device__ __forceinline__ bool open_row(Head& head, const Place& at, int n, unsigned* open, const dist* distances,
                                         const dist* lowest, dist margin) {
    open += (at.group * gridDim.z + blockIdx.z) * bitmap_words(n);
    if (!has_bit(open, at.v)) return false;
    dist low[OWN];
    load_own(distances + at.row * COLUMNS + at.own_column(), head.far);
    load_own(lowest + at.group * COLUMNS + at.own_column(), low);
    float widest = -1.0f;
#pragma unroll
    for (int k = 0; k < OWN; k++) {
        head.reach[k] = reach_of(low[k], head.far[k], margin);
        widest = fmaxf(widest, head.reach[k]);
    }
    head.pending = 0;
    head.widest = warp_max(widest);
    if (head.widest < 0 && threadIdx.x % 32 == 0) atomicAnd(&open[at.v / 32], ~(1u << at.v % 32));
    return head.widest >= 0;
}

// Relax the edges from the near set into each row. `open` has a bit a row and part, as long as a path may be found.
extern "C" __global__ void __launch_bounds__(32 * WARPS, DELTA_RESIDENT)
delta_relax(int n, int hubs, const offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
            const dist* __restrict__ in_lengths, const unsigned* __restrict__ live,
            const unsigned char* __restrict__ near, const dist* __restrict__ snapshot,
            const dist* __restrict__ lowest, dist rtol, dist margin, unsigned* open, unsigned char* pending,
            dist* distances) {
    const Place at(n, hubs);
    Head head;
    if (!at.valid || !open_row(head, at, n, open, distances, lowest, margin)) return;
    snapshot += at.rows * COLUMNS + at.own_column();
    for_edges<false>({in_indptr, in_indices, in_lengths}, at, head.widest, live + at.group * bitmap_words(n),
              near + at.rows * BYTES, FULL, {}, [&](int u, dist length, unsigned columns) {
                  columns = within(at_most(length), head.reach, columns);
                  for_sectors(snapshot + (size_t)u * COLUMNS, columns, [&](int k, dist near) {
                      const dist through = near + length;
                      const bool lower = through < head.far[k];
                      const bool found = lower || is_tight(near, length, head.far[k], rtol);
                      head.pending |= (columns >> k & found) << k;
                      if (columns >> k & lower) head.far[k] = through;
                  });
              });
    if (at.step > 1) {
        __shared__ dist fars[WARPS][OWN][32];
        __shared__ unsigned pendings[WARPS][32];
        const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
#pragma unroll
        for (int k = 0; k < OWN; k++) fars[warp][k][lane] = head.far[k];
        pendings[warp][lane] = head.pending;
        __syncthreads();
        if (warp) return;
        for (int w = 1; w < WARPS; w++) {
#pragma unroll
            for (int k = 0; k < OWN; k++) head.far[k] = min(head.far[k], fars[w][k][lane]);
            head.pending |= pendings[w][lane];
        }
    }
    if (!__any_sync(ALL, head.pending)) return;
    unsigned char* own = pending + at.row * BYTES + at.column / 8;
    put_bits(own, own_bits(own) | head.pending);
    store_own(distances + at.row * COLUMNS + at.own_column(), head.pending, head.far);
}

// Leave each entry in the last round in which it was near, near[round], and set `reached` to all of them. A thread a
// word.
extern "C" __global__ void delta_last(int n, int rounds, unsigned* const* near, unsigned* live, offset live_stride,
                                      unsigned* reached) {
    const offset i = (offset)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (offset)n * WORDS) return;
    const int v = i / WORDS;
    const offset word = (offset)blockIdx.y * n * WORDS + i;
    unsigned later = 0;
    for (int round = rounds - 1; round >= 0; round--) {
        unsigned* place = near[round] + word;
        const unsigned here = *place, last = here & ~later;
        if (last != here) *place = last;
        if (last) set_bit(live + round * live_stride + blockIdx.y * bitmap_words(n), v);
        later |= last;
    }
    reached[word] = later;
}

// At one level: sigma = the sum of sigma over tight predecessors, which earlier levels hold. `before` has the entries
// of these, and of some of this level, among which no edge is tight. Columns of an entry without a tight edge overflow.
extern "C" __global__ void __launch_bounds__(32 * WARPS, DELTA_RESIDENT)
delta_count(int n, int hubs, const offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
            const dist* __restrict__ in_lengths, const unsigned* __restrict__ here_live,
            const unsigned char* __restrict__ here, unsigned* before_live, unsigned char* before, dist rtol,
            dist margin, const dist* __restrict__ distances, value* values, value sigma_limit, unsigned* overflowed,
            const double* __restrict__ class_sizes) {
    const Place at(n, hubs);
    if (!at.valid) return;
    const size_t bitmap = at.group * bitmap_words(n);
    if (!has_bit(here_live + bitmap, at.v)) return;
    const size_t own = at.row * BYTES + at.column / 8;
    const unsigned wanted = own_bits(here + own);
    dist far[OWN];
    float reach[OWN], widest = -1.0f;
    load_own(distances + at.row * COLUMNS + at.own_column(), far);
#pragma unroll
    for (int k = 0; k < OWN; k++) {
        reach[k] = wanted >> k & 1 ? reach_of(0, far[k], margin) : -1.0f;
        widest = fmaxf(widest, reach[k]);
    }
    distances += at.rows * COLUMNS + at.own_column();
    values += at.rows * COLUMNS + at.own_column();
    value total[OWN] = {};
    unsigned met = 0;
    for_edges<false>({in_indptr, in_indices, in_lengths}, at, warp_max(widest), before_live + bitmap,
              before + at.rows * BYTES, wanted, {}, [&](int u, dist length, unsigned columns) {
                  columns = within(at_most(length), reach, columns);
                  unsigned tight = 0;
                  for_sectors(distances + (size_t)u * COLUMNS, columns, [&](int k, dist near) {
                      tight |= (columns >> k & is_tight(near, length, far[k], rtol)) << k;
                  });
                  met |= tight;
                  add_columns(values + (size_t)u * COLUMNS, tight, total);
              });
    if (at.step > 1 && !join_hub(total, met)) return;
    put_bits(before + own, own_bits(before + own) | wanted);
    if ((threadIdx.x & 31) == 0) set_bit(before_live + bitmap, at.v);
    if (!wanted) return;
    times_class_sizes(total, at, class_sizes);
    store_own(values + (size_t)at.v * COLUMNS, wanted, total);
    mark_columns(overflowed, at, wanted & (~met | above(total, sigma_limit)));
}

// At one level: later levels hold the tight successors; `later` has their entries, with some of this level. `paths` and
// `stress` are null without STRESS; without EDGE_SUMS so are `edge_order` and `edges`, a row of nnz sums a group, and
// without EDGE_SQUARES `edge_squares`. With EDGE_SUMS the roots are visited, too, for the edges that leave them.
extern "C" __global__ void __launch_bounds__(32 * WARPS, STRESS || EDGE_SUMS ? DELTA_SUMS_RESIDENT : DELTA_RESIDENT)
delta_backward(int n, int hubs, int level, const offset* __restrict__ indptr, const int* __restrict__ indices,
               const dist* __restrict__ lengths, const unsigned* __restrict__ here_live,
               const unsigned char* __restrict__ here, unsigned* later_live, unsigned char* later,
               const unsigned char* __restrict__ keep, dist rtol, const dist* __restrict__ distances,
               const double* __restrict__ omega, const double* __restrict__ root_weights, value* values,
               double* scores, value* paths, double* stress, double* squares,
               const offset* __restrict__ edge_order, offset nnz, double* edges,
               double* edge_squares, const double* __restrict__ class_sizes) {
    const Place at(n, hubs);
    if (!at.valid) return;
    const size_t bitmap = at.group * bitmap_words(n);
    if (!has_bit(here_live + bitmap, at.v)) return;
    const size_t own = at.row * BYTES + at.column / 8;
    const unsigned mask = own_bits(here + own) & own_bits(keep + at.group * BYTES + at.column / 8);
    if (!__any_sync(ALL, mask)) return;  // alike in all warps of a hub
    const float any_length = __int_as_float(0x7f800000);  // infinity
    dist near[OWN];
    load_own(distances + at.row * COLUMNS + at.own_column(), near);
    distances += at.rows * COLUMNS + at.own_column();
    values += at.rows * COLUMNS;
    paths += at.rows * COLUMNS;
    const value *c = values + at.own_column(), *t = paths + at.own_column();
    Near near_paths;
    if constexpr (EDGE_SUMS) near_paths.load(at, c + (size_t)at.v * COLUMNS, mask, root_weights);
    const EdgeSums sums = {edge_order, edges + at.group * nnz, edge_squares + at.group * nnz};
    value total[(1 + STRESS) * OWN] = {};
    unsigned met = 0;
    for_edges<EDGE_SUMS>({indptr, indices, lengths}, at, any_length, later_live + bitmap, later + at.rows * BYTES, mask,
                         sums, [&](int u, dist length, unsigned columns) {
                             unsigned tight = 0;
                             for_sectors(distances + (size_t)u * COLUMNS, columns, [&](int k, dist far) {
                                 tight |= (columns >> k & is_tight(near[k], length, far, rtol)) << k;
                             });
                             met |= tight;
                             if constexpr (STRESS) add_columns(t + (size_t)u * COLUMNS, tight, total + OWN);
                             const value* p = c + (size_t)u * COLUMNS;
                             if constexpr (EDGE_SUMS) return add_columns_along(p, tight, near_paths, total);
                             else add_columns(p, tight, total);
                         });
    if (EDGE_SUMS && level == 0) return;
    if (at.step > 1 && !join_hub(total, met)) return;
    put_bits(later + own, own_bits(later + own) | mask);
    if ((threadIdx.x & 31) == 0) set_bit(later_live + bitmap, at.v);
    if constexpr (STRESS)
        finish<true>(at, n, mask, total + OWN, omega, root_weights, class_sizes, values, paths, stress, nullptr);
    finish<false>(at, n, mask, total, omega, root_weights, class_sizes, values, values, scores, squares);
}
