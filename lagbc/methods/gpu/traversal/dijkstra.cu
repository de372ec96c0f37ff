// Betweenness with lengths by Dijkstra's rule in parallel, a block a root: the traversal formulation, after Fan, Xu and
// Zhao (2017).
//
// A reached vertex v is settled, that is, dist[v] is final, as soon as
//
//     dist[v] < threshold,   threshold = min over the reached, unsettled u of dist[u] + shortest[u],
//
// where shortest[u] is the smallest length of an edge out of u. Every path that goes on from an unsettled vertex is at
// least as long as the threshold; in rounded sums, too, as rounding keeps the order of numbers. What is settled in one
// phase is a level. From an unsettled u, and so from any u of v's own level, dist[u] + length >= threshold > dist[v]:
// the tails of the tight edges into v are in levels before that of v. Thus counts need only what earlier levels hold,
// and dependencies only what later ones do. Lengths that rounding absorbs show as a phase that settles nothing though
// vertices wait: then dist[u] + shortest[u] == dist[u] for the nearest of them.
//
// No number is lost or doubled in a race, and no thread waits for a lock (a thread that spins for a lock which another
// one of its warp holds may spin for ever). Distances alone are pushed, by atomicMin on the bits of the doubles, whose
// order as integers is that of non-negative numbers. Counts and dependencies are pulled: sigma[v] and c[v] are written
// once, by the virtual warp that has v, and read after the barrier that ends the level. While a level counts, distances
// of unsettled vertices fall; but no value that they ever have is below the threshold that settled the level, so that a
// test of tightness gives the same answer whichever value it sees.
//
// A virtual warp of `width` threads takes a vertex, its lanes the edges; its sum is a tree of fixed shape. So all bits
// depend on the graph and the width alone.
//
// The frontier is found in one of two ways:
//   work-efficient   S (`settled`) holds the vertices level after level, `ends` where the levels end, `waiting` those
//                    that are reached and unsettled; only these are visited. The backward sweep replays S.
//   node-parallel    `level_of` holds the level of each vertex, -1 unsettled, and every phase looks at all vertices.
// `settled`, `waiting` and `ends` are null in the second, `level_of` in the first.

typedef unsigned long long bits;

constexpr int DONE = 0, OVERFLOWED = 1, ABSORBED = 2, STOPPED = 3;
// What is known of a root when a sweep has ended.
constexpr int HOW = 0, DEPTH = 1, SETTLED = 2, WAITING = 3, OUTCOME = 4;
constexpr bits UNREACHED = 0x7ff0000000000000ull;  // infinity
// The host's flag is far from the device, so that it is looked at no more often than this, in cycles.
constexpr long long LOOK = 1 << 20;

__device__ __forceinline__ double number(bits x) { return __longlong_as_double((long long)x); }
__device__ __forceinline__ bits bits_of(double x) { return (bits)__double_as_longlong(x); }

struct Edges {
    const offset* indptr;
    const int* indices;
    const double* lengths;
};

// A virtual warp.
struct Team {
    int width, lane;
    int index, teams;  // of those of the block
    unsigned lanes;    // of its warp

    __device__ explicit Team(int width)
        : width(width), lane(threadIdx.x % width), index(threadIdx.x / width), teams(blockDim.x / width),
          lanes(ALL >> (32 - width) << threadIdx.x % 32 / width * width) {}

    // In lane 0.
    __device__ __forceinline__ value sum(value x) const {
        for (int step = width / 2; step; step /= 2) x += __shfl_down_sync(lanes, x, step, width);
        return x;
    }
};

__device__ __forceinline__ bool is_tight(double near, double length, double far) {
    return near < far && near + length == far && far < number(UNREACHED);
}

// Paths to v: the sum of sigma over the tails of tight edges; in lane 0.
__device__ __forceinline__ value count_paths(const Team& team, const Edges& in, int v, double far,
                                             const volatile double* dist, const value* sigma) {
    const offset end = in.indptr[v + 1];
    value paths = 0;
    for (offset e = in.indptr[v] + team.lane; e < end; e += team.width) {
        const int u = in.indices[e];
        if (is_tight(dist[u], in.lengths[e], far)) paths += sigma[u];
    }
    return team.sum(paths);
}

// The sum of c over the heads of tight edges from v; in lane 0.
__device__ __forceinline__ value sum_dependencies(const Team& team, const Edges& out, int v, const double* dist,
                                                  const value* c) {
    const offset end = out.indptr[v + 1];
    const double near = dist[v];
    value total = 0;
    for (offset e = out.indptr[v] + team.lane; e < end; e += team.width) {
        const int w = out.indices[e];
        if (is_tight(near, out.lengths[e], dist[w])) total += c[w];
    }
    return team.sum(total);
}

// Offer the heads of v's edges the path through v; queue those that had none. Returns the least dist[w] + shortest[w] of
// the distances that the lane lowered.
__device__ __forceinline__ double relax(const Team& team, const Edges& out, int v, double near, const double* shortest,
                                        double* dist, int* waiting, int* waits) {
    const offset end = out.indptr[v + 1];
    double least = number(UNREACHED);
    for (offset e = out.indptr[v] + team.lane; e < end; e += team.width) {
        const int w = out.indices[e];
        const double through = near + out.lengths[e];
        if (!(through < *(volatile double*)&dist[w])) continue;
        const bits before = atomicMin((bits*)&dist[w], bits_of(through));
        if (!(through < number(before))) continue;
        least = fmin(least, through + shortest[w]);
        if (waiting && before == UNREACHED) waiting[atomicAdd(waits, 1)] = w;
    }
    return least;
}

// Lower `least` to the smallest x of the block's threads, all of which take part.
__device__ __forceinline__ void lower(bits* least, double x) {
    for (int step = 16; step; step /= 2) x = fmin(x, __shfl_xor_sync(ALL, x, step));
    if (threadIdx.x % 32 == 0) atomicMin(least, bits_of(x));
}

// A place for each thread that wants one, counted by `count`; all threads of a warp take part.
__device__ __forceinline__ int take_place(bool wanted, int* count) {
    const unsigned lanes = __ballot_sync(ALL, wanted), lane = threadIdx.x % 32;
    int first = 0;
    if (lane == 0 && lanes) first = atomicAdd(count, __popc(lanes));
    return __shfl_sync(ALL, first, 0) + __popc(lanes & ((1u << lane) - 1));
}

// Move the waiting vertices below the threshold to S; the others stay, and the least dist[u] + shortest[u] of those
// that the thread kept is returned. A chunk is written back, no further than it was read, when all of it was read.
__device__ __forceinline__ double settle_queued(double threshold, const double* shortest, const double* dist,
                                                int* settled, int* end, int* waiting, int waits, int* kept) {
    double least = number(UNREACHED);
    for (int first = 0; first < waits; first += blockDim.x) {
        const bool valid = first + (int)threadIdx.x < waits;
        const int v = valid ? waiting[first + threadIdx.x] : 0;
        const bool final = valid && dist[v] < threshold;
        __syncthreads();
        const int place = take_place(final, end);
        if (final) settled[place] = v;
        const int stays = take_place(valid && !final, kept);
        if (valid && !final) {
            waiting[stays] = v;
            least = fmin(least, dist[v] + shortest[v]);
        }
    }
    return least;
}

// The same over all vertices.
__device__ __forceinline__ double settle_all(int n, double threshold, int level, const double* shortest,
                                             const double* dist, int* level_of, int* end, int* kept) {
    double least = number(UNREACHED);
    int finals = 0, stay = 0;
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
        if (level_of[v] >= 0 || !(dist[v] < number(UNREACHED))) continue;
        if (dist[v] < threshold) {
            level_of[v] = level;
            finals++;
        } else {
            least = fmin(least, dist[v] + shortest[v]);
            stay++;
        }
    }
    if (finals) atomicAdd(end, finals);
    if (stay) atomicAdd(kept, stay);
    return least;
}

__device__ __forceinline__ bool asked_to_stop(const volatile unsigned char* stop, long long& looked) {
    if (clock64() - looked < LOOK) return false;
    looked = clock64();
    return *stop;
}

// shortest[v] = the smallest length of v's edges, infinite if it has none; a warp has v.
extern "C" __global__ void dijkstra_shortest(int n, const offset* __restrict__ indptr,
                                             const double* __restrict__ lengths, double* shortest) {
    const int v = blockIdx.x * WARPS + threadIdx.x / 32;
    if (v >= n) return;
    double least = number(UNREACHED);
    for (offset e = indptr[v] + threadIdx.x % 32; e < indptr[v + 1]; e += 32) least = fmin(least, lengths[e]);
    for (int step = 16; step; step /= 2) least = fmin(least, __shfl_xor_sync(ALL, least, step));
    if (threadIdx.x % 32 == 0) shortest[v] = least;
}

// Distances, counts and levels of a root a block. dist is infinite and delta zero where no root of the block came
// before; a block clears what its last root reached. For least and waits there are two places each, used by turns: one
// is read while the other is written.
extern "C" __global__ void __launch_bounds__(32 * WARPS, DIJKSTRA_RESIDENT)
dijkstra_forward(int n, int width, const int* __restrict__ roots, const offset* __restrict__ indptr,
                 const int* __restrict__ indices, const double* __restrict__ lengths,
                 const offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
                 const double* __restrict__ in_lengths, const double* __restrict__ shortest, double* dist, value* sigma,
                 double* delta, int* settled, int* waiting, int* ends, int* level_of, value sigma_limit,
                 const volatile unsigned char* stop, int* outcome) {
    __shared__ bits least[2];
    __shared__ int waits[2], end, halt;
    const Team team(width);
    const Edges out = {indptr, indices, lengths}, in = {in_indptr, in_indices, in_lengths};
    const size_t before = (size_t)blockIdx.x * n;
    const int root = roots[blockIdx.x];
    const bool queued = settled != nullptr;
    dist += before, sigma += before, delta += before;
    outcome += OUTCOME * blockIdx.x;
    if (queued) {
        settled += before, waiting += before, ends += before + blockIdx.x;
        for (int i = threadIdx.x; i < outcome[SETTLED]; i += blockDim.x)
            dist[settled[i]] = number(UNREACHED), delta[settled[i]] = 0;
        for (int i = threadIdx.x; i < outcome[WAITING]; i += blockDim.x) dist[waiting[i]] = number(UNREACHED);
    } else {
        level_of += before;
        for (int v = threadIdx.x; v < n; v += blockDim.x) dist[v] = number(UNREACHED), delta[v] = 0, level_of[v] = -1;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        dist[root] = 0, sigma[root] = 1;
        if (queued) settled[0] = root, ends[0] = 0;
        else level_of[root] = 0;
        least[0] = UNREACHED, waits[0] = 0, end = 1, halt = DONE;
    }
    __syncthreads();
    double bound = number(UNREACHED);  // the least dist[u] + shortest[u] of the unsettled u that this thread had
    int level = 0, begin = 0, last = 1;
    for (long long looked = clock64() - LOOK;;) {
        if (threadIdx.x == 0) {
            least[(level + 1) % 2] = UNREACHED, waits[(level + 1) % 2] = 0;
            if (queued) ends[level + 1] = last;
            if (asked_to_stop(stop, looked)) atomicMax(&halt, STOPPED);
        }
        for (int i = begin + team.index; i < (queued ? last : n); i += team.teams) {
            if (!queued && level_of[i] != level) continue;
            const int v = queued ? settled[i] : i;
            const double near = dist[v];
            if (level > 0) {
                const value paths = count_paths(team, in, v, near, dist, sigma);
                if (team.lane == 0) {
                    sigma[v] = paths;
                    if (!(paths <= sigma_limit)) atomicMax(&halt, OVERFLOWED);
                }
            }
            bound = fmin(bound, relax(team, out, v, near, shortest, dist, waiting, &waits[level % 2]));
        }
        lower(&least[level % 2], bound);
        __syncthreads();
        if (halt) break;
        const double threshold = number(least[level % 2]);
        int* kept = &waits[(level + 1) % 2];
        bound = queued ? settle_queued(threshold, shortest, dist, settled, &end, waiting, waits[level % 2], kept)
                       : settle_all(n, threshold, level + 1, shortest, dist, level_of, &end, kept);
        __syncthreads();
        if (end == last) break;
        if (queued) begin = last;
        last = end;
        level++;
    }
    if (threadIdx.x == 0) {
        const int left = waits[halt ? level % 2 : (level + 1) % 2];
        outcome[HOW] = halt ? halt : left ? ABSORBED : DONE;
        outcome[DEPTH] = level, outcome[SETTLED] = last, outcome[WAITING] = left;
    }
}

// With sigma[v] known and `total` the sum of c over the heads of tight edges, level by level from the last:
// c[v] = omega / sigma + total, in place of sigma, and delta[v] = multiplicity * sigma * total; with endpoints, also
// one for v as the end of a path, and for the root as many as it reaches.
extern "C" __global__ void __launch_bounds__(32 * WARPS, DIJKSTRA_RESIDENT)
dijkstra_backward(int n, int width, const int* __restrict__ roots, const offset* __restrict__ indptr,
                  const int* __restrict__ indices, const double* __restrict__ lengths,
                  const double* __restrict__ omega, const double* __restrict__ multiplicity, int endpoints,
                  const double* __restrict__ dist, value* sigma, double* delta, const int* __restrict__ settled,
                  const int* __restrict__ ends, const int* __restrict__ level_of, const volatile unsigned char* stop,
                  int* outcome) {
    __shared__ bool halts[2];  // used by turns: one is read while the other is written
    const Team team(width);
    const Edges out = {indptr, indices, lengths};
    const size_t before = (size_t)blockIdx.x * n;
    const double times = multiplicity ? multiplicity[blockIdx.x] : 1.0;
    const bool queued = settled != nullptr;
    dist += before, sigma += before, delta += before;
    outcome += OUTCOME * blockIdx.x;
    if (queued) settled += before, ends += before + blockIdx.x;
    else level_of += before;
    if (outcome[HOW] != DONE) return;
    const int reached = outcome[SETTLED] - 1;
    if (threadIdx.x == 0) halts[0] = halts[1] = false;
    long long looked = clock64() - LOOK;
    for (int level = outcome[DEPTH]; level > 0; level--) {
        if (threadIdx.x == 0 && asked_to_stop(stop, looked)) halts[level % 2] = true;
        const int last = queued ? ends[level + 1] : n;
        for (int i = (queued ? ends[level] : 0) + team.index; i < last; i += team.teams) {
            if (!queued && level_of[i] != level) continue;
            const int v = queued ? settled[i] : i;
            const value total = sum_dependencies(team, out, v, dist, sigma);
            if (team.lane == 0) {
                const value paths = sigma[v];
                delta[v] = times * ((double)paths * (double)total + endpoints);
                sigma[v] = (omega ? value(omega[v]) : value(1)) / paths + total;
            }
        }
        __syncthreads();
        if (halts[level % 2]) break;
    }
    if (threadIdx.x == 0) {
        if (endpoints) delta[roots[blockIdx.x]] = times * reached;
        if (halts[0] || halts[1]) outcome[HOW] = STOPPED;
    }
}
