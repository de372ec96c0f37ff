// Dijkstra's rule in parallel without queues (see lengths.cuh), after Fan, Xu and Zhao: every phase looks at all
// vertices. `level_of` holds the level of each, -1 unsettled.

// Settle vertices below the threshold, and return the least distance plus shortest edge of the thread's others.
__device__ __forceinline__ double settle_all(int n, double threshold, int level, const double* shortest,
                                             const Found* found, int* level_of, int* settled, int* left) {
    double least = number(UNREACHED);
    int finals = 0, stay = 0;
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        const double dist = found[v].dist;
        if (level_of[v] >= 0 || !(dist < number(UNREACHED))) continue;
        if (dist < threshold) {
            level_of[v] = level;
            finals++;
        } else {
            least = fmin(least, dist + shortest[v]);
            stay++;
        }
    }
    if (finals) atomicAdd(settled, finals);
    if (stay) atomicAdd(left, stay);
    return least;
}

// Distances, counts and levels of a root a block. The count of waiting vertices has two places, used by turns: one is
// read while the other is written.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, DIJKSTRA_RESIDENT)
dijkstra_node_parallel_forward(int n, int width, const int* __restrict__ roots, const offset* __restrict__ indptr,
                               const int* __restrict__ indices, const double* __restrict__ lengths,
                               const offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
                               const double* __restrict__ in_lengths, const double* __restrict__ shortest, Found* found,
                               int* level_of, value sigma_limit, const volatile unsigned char* stop, int* outcome) {
    __shared__ double slots[32];
    __shared__ int left[2], end, halt;
    const Team team(width);
    const Edges out = {indptr, indices, lengths}, in = {in_indptr, in_indices, in_lengths};
    const size_t before = (size_t)blockIdx.x * n;
    const int root = roots[blockIdx.x];
    outcome += OUTCOME * blockIdx.x;
    found += before, level_of += before;
    for (int v = threadIdx.x; v < n; v += blockDim.x) level_of[v] = -1;
    begin_search(n, root, found);
    if (threadIdx.x == 0) level_of[root] = 0, end = 1, halt = DONE;
    __syncthreads();
    double least = number(UNREACHED);  // distance plus shortest edge of the vertices that this thread has left
    int level = 0, last = 1;
    for (long long looked = clock64() - LOOK;; level++) {
        if (threadIdx.x == 0) {
            left[level % 2] = 0;
            if (asked_to_stop(stop, looked)) atomicMax(&halt, STOPPED);
        }
        for (int v = team.index; v < n; v += team.teams) {
            if (level_of[v] != level) continue;
            const double near = found[v].dist;
            if (level > 0) {
                const value paths = count_paths(team, in, v, near, found);
                if (team.lane == 0) {
                    found[v].paths = paths;
                    if (!(paths <= sigma_limit)) atomicMax(&halt, OVERFLOWED);
                }
            }
            const offset stop_at = out.indptr[v + 1];
            for (offset e = out.indptr[v] + team.lane; e < stop_at; e += team.width) {
                const int w = out.indices[e];
                const double through = near + out.lengths[e];
                if (through < found[w].dist && through < lower(found, w, through))
                    least = fmin(least, through + shortest[w]);
            }
        }
        write_least(slots, least);
        __syncthreads();
        if (halt) break;
        least = settle_all(n, read_least(slots), level + 1, shortest, found, level_of, &end, &left[level % 2]);
        __syncthreads();
        if (end == last) break;
        last = end;
    }
    if (threadIdx.x == 0) {
        outcome[HOW] = halt ? halt : left[level % 2] ? ABSORBED : DONE;
        outcome[DEPTH] = level, outcome[SETTLED] = last;
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS, DIJKSTRA_RESIDENT)
dijkstra_node_parallel_backward(int n, int width, const int* __restrict__ roots, const offset* __restrict__ indptr,
                                const int* __restrict__ indices, const double* __restrict__ lengths,
                                const double* __restrict__ omega, const double* __restrict__ root_weights,
                                int endpoints, Found* found, const int* __restrict__ level_of, double* delta,
                                const volatile unsigned char* stop, int* outcome) {
    const Team team(width);
    const Edges out = {indptr, indices, lengths};
    const size_t before = (size_t)blockIdx.x * n;
    const double times = root_weights ? root_weights[blockIdx.x] : 1.0;
    const Dependencies to = {team, out, omega, times, (double)endpoints, found + before, delta + before};
    level_of += before;
    sweep_backward(n, roots[blockIdx.x], to, stop, outcome, [&](int level) {
        for (int v = team.index; v < n; v += team.teams)
            if (level_of[v] == level) to.settle(v);
    });
}
