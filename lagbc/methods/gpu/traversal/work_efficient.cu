// The work-efficient traversal (McLaughlin and Bader 2014): a block has a root and a queue. A vertex's edges are shared
// by `width` neighbouring threads.

extern "C" __global__ void __launch_bounds__(1024)
traversal_work_efficient_forward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                 offset stride, int most, depth* depths, value* values, int* queues, int* ends,
                                 int* reached, int width, const int* __restrict__ roots, value sigma_limit,
                                 int* overflowed, int* deepest, const volatile unsigned char* stop, int* status) {
    const int search = blockIdx.x, lane = threadIdx.x % width;
    const Row row(search, stride, depths, values);
    Queue queue(search, stride, most, queues, ends);
    __shared__ int found[3];
    __shared__ bool halted[2];
    if (threadIdx.x == 0) found[0] = 0;
    queue.restart(row, roots[search], reached[search]);
    int level = 0, first = 0, last = 1;
    while (true) {
        begin_level(level, found, halted, stop, status);
        for (int i = first + threadIdx.x / width; i < last; i += blockDim.x / width) {
            const int v = queue.entries[i];
            const value sigma = row.values[v];
            note(sigma, sigma_limit, &overflowed[search]);
            const offset end = indptr[v + 1];
            for (offset e = indptr[v] + lane; e < end; e += width) {
                const int w = indices[e];
                if (reach(row, w, level + 2, sigma)) queue.entries[last + atomicAdd(&found[level % 3], 1)] = w;
            }
        }
        __syncthreads();
        const int end = last + found[level % 3];
        if (is_last(level, most, last, end, halted[level % 2], &reached[search], &deepest[search], status)) return;
        level++, first = last, last = end;
        if (threadIdx.x == 0) queue.ends[level + 1] = end;
    }
}

// Inexact counts, pulled again in the order of the edges, so that their bits do not depend on the order of the threads.
extern "C" __global__ void __launch_bounds__(1024)
traversal_work_efficient_recount(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                 offset stride, int most, depth* depths, value* values, int* queues, int* ends,
                                 int* reached, int width, value sigma_limit, int* overflowed,
                                 const int* __restrict__ deepest, const volatile unsigned char* stop, int* status) {
    const int search = blockIdx.x, lane = threadIdx.x % width;
    const bool is_exact = overflowed[search] != INEXACT;
    __syncthreads();  // before anyone notes an overflow
    if (is_exact) return;
    const Row row(search, stride, depths, values);
    const Queue queue(search, stride, most, queues, ends);
    __shared__ bool halted[2];
    for (int level = 1; level <= deepest[search]; level++) {
        if (threadIdx.x == 0) halted[level % 2] = is_over(level, search, gridDim.x, stop, status);
        const int last = queue.ends[level + 1];
        for (int base = queue.ends[level] + threadIdx.x / 32 * (32 / width); base < last; base += blockDim.x / width) {
            const int i = base + threadIdx.x % 32 / width;
            const int v = i < last ? queue.entries[i] : -1;
            const value part = v >= 0 ? gather(indptr, indices, row, v, lane, width, level) : value(0);
            const value sigma = sum_lanes(part, width);
            if (v < 0 || lane) continue;
            row.values[v] = sigma;
            note(sigma, sigma_limit, &overflowed[search]);
        }
        __syncthreads();
        if (halted[level % 2]) return;
    }
}

// Each vertex of a level gathers over its successors by itself: only the additions to the scores are atomic.
extern "C" __global__ void __launch_bounds__(1024)
traversal_work_efficient_backward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                  offset stride, int most, depth* depths, value* values, int* queues, int* ends,
                                  int* reached, int width, const int* __restrict__ deepest,
                                  const double* __restrict__ times, const double* __restrict__ omega, double endpoints,
                                  double* delta, const volatile unsigned char* stop, int* status) {
    const int search = blockIdx.x, lane = threadIdx.x % width;
    if (times[search] == 0) return;
    const Row row(search, stride, depths, values);
    const Queue queue(search, stride, most, queues, ends);
    const Dependencies to = {omega, delta + search * stride, times[search], endpoints};
    __shared__ bool halted[2];
    const int last_level = deepest[search];
    int last = queue.ends[last_level + 1];
    for (int level = last_level; level > 0; level--) {
        if (threadIdx.x == 0) halted[level % 2] = is_over(level, search, gridDim.x, stop, status);
        const int first = queue.ends[level];
        // The lanes of a warp leave the loop together.
        for (int base = first + threadIdx.x / 32 * (32 / width); base < last; base += blockDim.x / width) {
            const int i = base + threadIdx.x % 32 / width;
            const int v = i < last ? queue.entries[i] : -1;
            const value sigma = v >= 0 ? row.values[v] : value(0);
            const bool has_successors = v >= 0 && level < last_level;
            const value part =
                has_successors ? gather(indptr, indices, row, v, lane, width, level + 2) : value(0);
            const value total = sum_lanes(part, width);
            if (v >= 0 && lane == 0) to.settle(row, v, sigma, total);
        }
        __syncthreads();
        if (halted[level % 2]) return;
        last = first;
    }
}
