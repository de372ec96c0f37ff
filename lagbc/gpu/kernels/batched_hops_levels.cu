// One launch a level, for graphs of few levels: masked sparse matrix products by pull over all rows.
//
// Block (x, y): y is the group. The first `hubs` blocks take one row each with all their warps; the others take a row a
// warp. Rows are in order of falling degree, so the long ones start first. Every row is written by its owner alone.

// Row of this warp and its share of the edges; false if there is none.
__device__ __forceinline__ bool own_row(int n, int hubs, int& v, int& first, int& step) {
    const int warp = threadIdx.x / 32;
    const bool hub = blockIdx.x < hubs;
    v = hub ? blockIdx.x : hubs + (blockIdx.x - hubs) * WARPS + warp;
    first = hub ? warp : 0;
    step = hub ? WARPS : 1;
    return v < n;
}

// Sum the parts of a hub's warps in the order of the warps; true for the warp that goes on.
__device__ __forceinline__ bool join_hub(value* total, unsigned& met) {
    __shared__ value parts[WARPS][COLUMNS];
    __shared__ unsigned met_parts[WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
#pragma unroll
    for (int k = 0; k < OWN; k++) parts[warp][k * 32 + lane] = total[k];
    met_parts[warp][lane] = met;
    __syncthreads();
    if (warp) return false;
    for (int w = 1; w < WARPS; w++) {
#pragma unroll
        for (int k = 0; k < OWN; k++) total[k] += parts[w][k * 32 + lane];
        met |= met_parts[w][lane];
    }
    return true;
}

// found<!visited> = frontier of the next level; its counts are gathered from `frontier` along in-edges.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
batched_hops_forward(int n, int hubs, int roots, const offset* __restrict__ in_indptr,
                     const int* __restrict__ in_indices, const unsigned char* __restrict__ frontier,
                     unsigned char* __restrict__ visited, unsigned char* __restrict__ next, value* values,
                     unsigned char* overflowed, int* live) {
    int v, first, step;
    if (!own_row(n, hubs, v, first, step)) return;
    const int lane = threadIdx.x & 31, group = blockIdx.y;
    const size_t rows = (size_t)group * n, byte = (rows + v) * BYTES + lane;
    values += rows * COLUMNS;
    const unsigned seen = visited[byte];
    const unsigned wanted = ~seen & lane_columns(min(roots - group * COLUMNS, COLUMNS));
    unsigned found = 0;
    value total[OWN] = {};
    if (__any_sync(ALL, wanted))  // alike in all warps of a hub, which share the row
        found = gather(in_indptr, in_indices, v, first, step, frontier + rows * BYTES, wanted, values, total);
    if (step > 1 && !join_hub(total, found)) return;
    next[byte] = found;
    if (found) visited[byte] = seen | found;
    put_counts(values, v, found, total, overflowed + group * BYTES);
    if (__any_sync(ALL, found) && lane == 0) *live = 1;
}

// c at one level, from c at the next along out-edges, and the scores of the level's vertices.
extern "C" __global__ void __launch_bounds__(32 * WARPS)
batched_hops_backward(int n, int hubs, const offset* __restrict__ indptr, const int* __restrict__ indices,
                      const unsigned char* __restrict__ here, const unsigned char* __restrict__ beyond,
                      const unsigned char* __restrict__ keep, const double* __restrict__ omega,
                      const double* __restrict__ multiplicity, value* values, double* scores) {
    int v, first, step;
    if (!own_row(n, hubs, v, first, step)) return;
    const int lane = threadIdx.x & 31, group = blockIdx.y;
    const size_t rows = (size_t)group * n;
    const unsigned mask = here[(rows + v) * BYTES + lane] & keep[group * BYTES + lane];
    if (!__any_sync(ALL, mask)) return;  // alike in all warps of a hub
    values += rows * COLUMNS;
    value total[OWN] = {};
    unsigned met = 0;
    if (beyond) met = gather(indptr, indices, v, first, step, beyond + rows * BYTES, mask, values, total);
    if (step > 1 && !join_hub(total, met)) return;
    finish_row(values, v, mask, total, omega, multiplicity ? multiplicity + group * COLUMNS : nullptr, scores + rows);
}
