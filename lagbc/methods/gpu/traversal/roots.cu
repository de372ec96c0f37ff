// The dependencies of roots, a row a root, summed.

// sums[block, order[v]] += the sum of delta[row, v] over the rows of a block, firsts[block] .. firsts[block + 1], in
// their order; a thread has v, blocks of roots are the second axis of the grid.
extern "C" __global__ void sum_roots(int n, offset stride, const int* __restrict__ firsts,
                                     const offset* __restrict__ order, const double* __restrict__ delta,
                                     offset sums_stride, double* sums) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x, last = firsts[blockIdx.y + 1];
    if (v >= n) return;
    double total = 0;
    for (int row = firsts[blockIdx.y]; row < last; row++) total += delta[row * stride + v];
    sums[blockIdx.y * sums_stride + order[v]] += total;
}
