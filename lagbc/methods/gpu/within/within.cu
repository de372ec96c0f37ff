// Sums of blocks of roots within cutoffs and decays (see search.cuh and sums.cuh): a block of threads has a slot, and
// takes one block of roots after the other. What these have touched, and what that sums to, is written behind what
// others have written; the host is told where. It adds the blocks in their order.
//
// A block of roots for which there is no room is not done, nor is any that follows in its slot; then `needed` says of what
// there has to be how much. Such a slot is left in disorder.

// Places in `needed`; the last one is 1 if the host has asked to stop.
constexpr int SETTLED_ROOM = 0, WAITING_ROOM = 1, ROWS_ROOM = 2, EDGE_ROWS_ROOM = 3, HALTED = 4;
constexpr int MOST_OF_A_SLOT = 512;  // threads

// A slot as it is between two blocks of roots.
extern "C" __global__ void within_clear(offset count, Vertex* vertices) {
    const offset stride = (offset)gridDim.x * blockDim.x;
    for (offset i = blockIdx.x * (offset)blockDim.x + threadIdx.x; i < count; i += stride)
        vertices[i] = {{number(UNREACHED), 0}, 0, NONE};
}

// Write the rows of a block of roots to `place` and on.
template <typename Name, typename NameOf>
__device__ __forceinline__ void hand_over(const Rows& rows, int count, offset place, NameOf name_of, Name* names,
                                          double* sums) {
    for (int row = threadIdx.x; row < count; row += blockDim.x) names[place + row] = name_of(row);
    const offset first = place * rows.columns;
    for (offset i = threadIdx.x; i < (offset)count * rows.columns; i += blockDim.x) sums[first + i] = rows.values[i];
}

extern "C" __global__ void __launch_bounds__(MOST_OF_A_SLOT)
within_sum(int n, int width, int endpoints, const offset* __restrict__ indptr, const int* __restrict__ indices,
           const double* __restrict__ lengths, const offset* __restrict__ in_indptr,
           const int* __restrict__ in_indices, const double* __restrict__ in_lengths,
           const double* __restrict__ shortest, const double* __restrict__ omega, double radius, double sigma_limit,
           int cutoffs, int radii, const double* __restrict__ bounds, const Columns* __restrict__ columns,
           int vertex_columns, int edge_columns, int root_columns, int blocks, const int* __restrict__ firsts,
           const int* __restrict__ roots, const double* __restrict__ times, int* next, Vertex* vertices, int* settled,
           int* ends, double* floors, int most_settled, double2* entries, int* waiting, int most_waiting, int* named,
           double* values, int most_rows, offset nnz, int* edge_rows, offset* named_edges, double* edge_values,
           int most_edge_rows, const offset* __restrict__ order, const offset* __restrict__ edge_order, int* names,
           double* sums, offset room, offset* edge_names, double* edge_sums, offset edge_room, double* root_sums,
           bits* taken, offset* places, int* outcome, int* done, int* needed, const volatile unsigned char* stop) {
    __shared__ Phase phase;
    __shared__ Exact exact;
    __shared__ int block, row_count, edge_row_count;
    __shared__ offset place, edge_place;
    const size_t slot = blockIdx.x;
    const Team team(width);
    const Edges out = {indptr, indices, lengths}, in = {in_indptr, in_indices, in_lengths};
    const Bounds within = {cutoffs, radii, bounds, bounds + cutoffs, bounds + cutoffs + radii};
    vertices += slot * n;
    edge_rows += slot * nnz;
    named += slot * most_rows, named_edges += slot * most_edge_rows;
    const Trail trail = {settled + slot * most_settled, ends + slot * (most_settled + 2),
                         floors + slot * (most_settled + 2), most_settled};
    const Waiting waits = {entries + slot * most_waiting, waiting + slot * most_waiting, most_waiting};
    const Rows rows = {values + slot * most_rows * vertex_columns, most_rows, vertex_columns, &row_count};
    const Rows edges = {edge_values + slot * most_edge_rows * edge_columns, most_edge_rows, edge_columns,
                        &edge_row_count};
    Search search = {team, out, in, shortest, radius, sigma_limit, vertices, trail, waits, stop, phase, 0, 0, 0};
    long long looked = clock64() - LOOK;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) block = atomicAdd(next, 1), row_count = edge_row_count = 0;
        __syncthreads();
        if (block >= blocks) return;
        for (int k = firsts[block]; k < firsts[block + 1]; k++) {
            if (roots[k] < 0) continue;
            const int how = search.run(roots[k], looked);
            if (how == DONE) {
                const double weight = times ? times[k] : 1.0;
                const Near near = {search,   team, out,   vertices, omega,       weight,    endpoints != 0,
                                   *columns, rows, edges, named,    named_edges, edge_rows, exact};
                if (!near.add(within, root_sums + (size_t)k * root_columns, looked)) phase.halt = STOPPED;
                __syncthreads();
            }
            if (how != FULL) search.clear();
            const bool lacks_room = how == FULL || row_count > most_rows || edge_row_count > most_edge_rows;
            if (lacks_room || phase.halt == STOPPED) {
                if (threadIdx.x) return;
                if (phase.halt == STOPPED) needed[HALTED] = 1;
                atomicMax(&needed[SETTLED_ROOM], LENGTHS ? phase.end : search.count + search.left);
                if (LENGTHS) atomicMax(&needed[WAITING_ROOM], search.left);
                atomicMax(&needed[ROWS_ROOM], row_count);
                atomicMax(&needed[EDGE_ROWS_ROOM], edge_row_count);
                return;
            }
            if (threadIdx.x == 0) outcome[k] = how;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            place = (offset)atomicAdd(&taken[0], (bits)row_count);
            edge_place = (offset)atomicAdd(&taken[1], (bits)edge_row_count);
        }
        __syncthreads();
        const bool fits = place + row_count <= room && edge_place + edge_row_count <= edge_room;
        hand_over(rows, fits ? row_count : 0, place, [&](int row) { return (int)order[named[row]]; }, names, sums);
        hand_over(edges, fits ? edge_row_count : 0, edge_place, [&](int row) { return edge_order[named_edges[row]]; },
                  edge_names, edge_sums);
        for (int row = threadIdx.x; row < row_count; row += blockDim.x) vertices[named[row]].row = NONE;
        for (int row = threadIdx.x; row < edge_row_count; row += blockDim.x) edge_rows[named_edges[row]] = NONE;
        if (!fits) return;
        if (threadIdx.x == 0) {
            offset* own = places + 4 * (size_t)block;
            own[0] = place, own[1] = row_count, own[2] = edge_place, own[3] = edge_row_count;
            done[block] = 1;
        }
    }
}
