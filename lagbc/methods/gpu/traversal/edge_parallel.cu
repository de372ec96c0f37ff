// A thread an edge at every level (Jia et al. 2011); with all blocks on one root the kernel of gpu-fan (Shi and Zhang
// 2011). Edge e leads from tails[e] to indices[e].

extern "C" __global__ void __launch_bounds__(1024)
traversal_edge_parallel_forward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                offset stride, int most, depth* depths, value* values, const int* __restrict__ tails,
                                value* sums, const int* __restrict__ roots, value sigma_limit, int* overflowed,
                                int* deepest, int searches, int blocks_per_group, unsigned* barriers, int* flags,
                                const volatile unsigned char* stop, int* status) {
    Rounds group(blocks_per_group, barriers, flags, stop, status);
    const offset nnz = indptr[n];
    for (int search = group.index; search < searches; search += group.groups()) {
        const Row row(search, stride, depths, values);
        set_root(group, row, roots[search]);
        for (int level = 0;; level++) {
            group.begin(level);
            bool found = false;
            for (offset e = group.thread(); e < nnz; e += group.threads()) {
                const int v = tails[e];
                if (row.depths[v] == level + 1) found |= push(row, indices[e], level + 2, row.values[v]);
            }
            if (!group.end(found)) return;
            if (group.is_last(level, most, &deepest[search])) break;
        }
        for (int v = group.thread(); v < n; v += group.threads())
            note(row.values[v], sigma_limit, &overflowed[search]);
    }
}

// At each level the edges add to `sums` of their tails, then the vertices take theirs. sums are 0 before and after.
extern "C" __global__ void __launch_bounds__(1024)
traversal_edge_parallel_backward(int n, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                 offset stride, int most, depth* depths, value* values, const int* __restrict__ tails,
                                 value* sums, const int* __restrict__ deepest, const double* __restrict__ times,
                                 const double* __restrict__ omega, double endpoints, double* delta, int searches,
                                 int blocks_per_group, unsigned* barriers, int* flags,
                                 const volatile unsigned char* stop, int* status) {
    Rounds group(blocks_per_group, barriers, flags, stop, status);
    const offset nnz = indptr[n];
    for (int search = group.index; search < searches; search += group.groups()) {
        if (times[search] == 0) continue;
        const Row row(search, stride, depths, values);
        const Dependencies to = {omega, delta + search * stride, times[search], endpoints};
        value* own = sums + search * stride;
        for (int level = deepest[search]; level > 0; level--) {
            group.begin(level);
            for (offset e = group.thread(); e < nnz; e += group.threads()) {
                const int v = tails[e];
                if (row.depths[v] != level + 1) continue;
                const int w = indices[e];
                if (row.depths[w] == level + 2) atomicAdd(&own[v], row.values[w]);
            }
            group.wait();
            for (int v = group.thread(); v < n; v += group.threads()) {
                if (row.depths[v] != level + 1) continue;
                to.settle(row, v, row.values[v], own[v]);
                own[v] = 0;
            }
            if (!group.end()) return;
        }
    }
}
