// A thread a vertex at every level (Jia et al. 2011), or `width` threads, a virtual warp, that share its edges (Hong et
// al. 2011).

extern "C" __global__ void __launch_bounds__(1024)
traversal_node_parallel_forward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                offset stride, int most, depth* depths, value* values, int width,
                                const int* __restrict__ roots, value sigma_limit, int* overflowed, int* deepest,
                                int searches, int blocks_per_group, unsigned* barriers, int* flags,
                                const volatile unsigned char* stop, int* status) {
    Rounds group(blocks_per_group, barriers, flags, stop, status);
    const int lane = threadIdx.x % width;
    for (int search = group.index; search < searches; search += group.groups()) {
        const Row row(search, stride, depths, values);
        set_root(group, row, roots[search]);
        for (int level = 0;; level++) {
            group.begin(level);
            bool found = false;
            for (int v = group.thread() / width; v < n; v += group.threads() / width) {
                if (row.depths[v] != level + 1) continue;
                const value sigma = row.values[v];
                note(sigma, sigma_limit, &overflowed[search]);
                const offset end = indptr[v + 1];
                for (offset e = indptr[v] + lane; e < end; e += width) found |= push(row, indices[e], level + 2, sigma);
            }
            if (!group.end(found)) return;
            if (group.is_last(level, most, &deepest[search])) break;
        }
    }
}

// A vertex gathers over its successors, and is written by its own threads alone.
extern "C" __global__ void __launch_bounds__(1024)
traversal_node_parallel_backward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                 offset stride, int most, depth* depths, value* values, int width,
                                 const int* __restrict__ deepest, const double* __restrict__ times,
                                 const double* __restrict__ omega, double endpoints, double* delta, int searches,
                                 int blocks_per_group, unsigned* barriers, int* flags,
                                 const volatile unsigned char* stop, int* status) {
    Rounds group(blocks_per_group, barriers, flags, stop, status);
    const int lane = threadIdx.x % width;
    const int rounded = (n + 31) / 32 * 32;  // so that the lanes of a warp leave the loop together
    for (int search = group.index; search < searches; search += group.groups()) {
        if (times[search] == 0) continue;
        const Row row(search, stride, depths, values);
        const Dependencies to = {omega, delta + search * stride, times[search], endpoints};
        for (int level = deepest[search]; level > 0; level--) {
            group.begin(level);
            for (int v = group.thread() / width; v < rounded; v += group.threads() / width) {
                const bool is_here = v < n && row.depths[v] == level + 1;
                if (!__any_sync(ALL, is_here)) continue;
                const value sigma = is_here ? row.values[v] : value(0);
                const value part = is_here ? gather(indptr, indices, row, v, lane, width, level + 2) : value(0);
                const value total = sum_lanes(part, width);
                if (is_here && lane == 0) to.settle(row, v, sigma, total);
            }
            if (!group.end()) return;
        }
    }
}
