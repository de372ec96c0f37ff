// The dependencies of roots, a row a root, summed.

// sums[block, order[v]] += the sum of delta[row, v] over the rows of a block, firsts[block] .. firsts[block + 1], in
// their order; a thread has v, blocks of roots are the second axis of the grid. A row is that of a root that counts m =
// times[row] times (null: once), so that its squares are m (delta / m)^2; they are summed if `squares` is not null.
extern "C" __global__ void sum_roots(int n, offset stride, const int* __restrict__ firsts,
                                     const offset* __restrict__ order, const double* __restrict__ delta,
                                     const double* __restrict__ times, offset sums_stride, double* sums,
                                     double* squares) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x, last = firsts[blockIdx.y + 1];
    if (v >= n) return;
    double total = 0, squared = 0;
    for (int row = firsts[blockIdx.y]; row < last; row++) {
        const double term = delta[row * stride + v];
        total += term;
        if (squares && term != 0) squared += term / (times ? times[row] : 1) * term;
    }
    const offset place = blockIdx.y * sums_stride + order[v];
    sums[place] += total;
    if (squares) squares[place] += squared;
}
