// Dijkstra's rule in parallel by queues (see lengths.cuh): settled and waiting vertices are listed, so that a phase
// looks at no other vertex.
//
// S (`settled`) holds the vertices level after level, `ends` where the levels end. `waiting` holds an entry for each
// time that a distance was lowered: distance, distance plus shortest edge, vertex. Entries whose vertex has come nearer
// since then are thrown away when the threshold passes them; so a waiting entry is looked at in one piece of memory,
// and not at its vertex.

// Entries that a thread looks at between two barriers.
constexpr int ITEMS = 4;

struct Waiting {
    double2* bounds;  // distance, and distance plus shortest edge
    int* vertices;
    int most;

    __device__ __forceinline__ void write(int place, double2 bound, int v) {
        if (place >= most) return;  // the search ends as FULL
        bounds[place] = bound;
        vertices[place] = v;
    }
};

// A place for each thread that wants one, counted by `count`; all threads of a warp take part.
__device__ __forceinline__ int take_place(bool wanted, int* count) {
    const unsigned lanes = __ballot_sync(ALL, wanted), lane = threadIdx.x % 32;
    int first = 0;
    if (lane == 0 && lanes) first = atomicAdd(count, __popc(lanes));
    return __shfl_sync(ALL, first, 0) + __popc(lanes & ((1u << lane) - 1));
}

// The search of a block.
struct Search {
    Found* found;
    const double* shortest;
    Waiting waiting;
    int* settled;

    // Offer w a path of length `through`; `least` is lowered to the least offer of distance plus shortest edge.
    __device__ __forceinline__ void offer(int w, double through, double now, int* waits, double& least) {
        if (!(through < now) || !(through < lower(found, w, through))) return;
        const double beyond = through + shortest[w];
        least = fmin(least, beyond);
        waiting.write(atomicAdd(waits, 1), {through, beyond}, w);
    }

    __device__ __forceinline__ void relax(const Team& team, const Edges& out, int v, double near, int* waits,
                                          double& least) {
        const offset end = out.indptr[v + 1];
        for (offset e = out.indptr[v] + team.lane; e < end; e += team.width) {
            const int w = out.indices[e];
            offer(w, near + out.lengths[e], found[w].dist, waits, least);
        }
    }

    // Both at once, where all edges lead both ways: an edge tight into v leads to no shorter path from v.
    __device__ __forceinline__ value count_and_relax(const Team& team, const Edges& edges, int v, double near,
                                                     int* waits, double& least) {
        const offset end = edges.indptr[v + 1];
        value paths = 0;
        for (offset e = edges.indptr[v] + team.lane; e < end; e += team.width) {
            const int w = edges.indices[e];
            const double length = edges.lengths[e];
            const Found at = found[w];
            if (is_tight(at.dist, length, near)) paths += at.paths;
            else offer(w, near + length, at.dist, waits, least);
        }
        return team.sum(paths);
    }

    // Move waiting entries below the threshold to S, and return the least distance plus shortest edge of the others.
    // Entries are written back no further than they were read.
    __device__ __forceinline__ double settle(double threshold, int waits, int* end, int* kept) {
        double least = number(UNREACHED);
        for (int first = 0; first < waits; first += ITEMS * blockDim.x) {
            double2 bounds[ITEMS];
            int vertices[ITEMS];
            bool finals[ITEMS];
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                const int i = first + k * blockDim.x + threadIdx.x;
                vertices[k] = i < waits ? waiting.vertices[i] : -1;
                bounds[k] = i < waits ? waiting.bounds[i] : double2{0, 0};
            }
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                finals[k] = vertices[k] >= 0 && bounds[k].x < threshold && found[vertices[k]].dist == bounds[k].x;
            __syncthreads();
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                const int place = take_place(finals[k], end);
                if (finals[k]) settled[place] = vertices[k];
                const bool stays = vertices[k] >= 0 && !(bounds[k].x < threshold);
                const int next = take_place(stays, kept);
                if (!stays) continue;
                waiting.write(next, bounds[k], vertices[k]);
                least = fmin(least, bounds[k].y);
            }
        }
        return least;
    }
};

// Distances, counts and levels of a root a block. Counts per phase have two places, used by turns: one is read while
// the other is written.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, DIJKSTRA_RESIDENT)
dijkstra_forward(int n, int width, const int* __restrict__ roots, const offset* __restrict__ indptr,
                 const int* __restrict__ indices, const double* __restrict__ lengths,
                 const offset* __restrict__ in_indptr, const int* __restrict__ in_indices,
                 const double* __restrict__ in_lengths, const double* __restrict__ shortest, Found* found, int* settled,
                 int* ends, double2* bounds, int* vertices, int most, value sigma_limit,
                 const volatile unsigned char* stop, int* outcome) {
    __shared__ double slots[32];
    __shared__ int waits[2], end, halt;
    const Team team(width);
    const Edges out = {indptr, indices, lengths}, in = {in_indptr, in_indices, in_lengths};
    const bool leads_both_ways = indptr == in_indptr;
    const size_t before = (size_t)blockIdx.x * n, entries = (size_t)blockIdx.x * most;
    const int root = roots[blockIdx.x];
    outcome += OUTCOME * blockIdx.x;
    found += before, settled += before, ends += before + blockIdx.x;
    Search search = {found, shortest, {bounds + entries, vertices + entries, most}, settled};
    begin_search(n, root, found);
    if (threadIdx.x == 0) {
        settled[0] = root, ends[0] = 0, ends[1] = 1;
        waits[0] = 0, end = 1, halt = DONE;
    }
    __syncthreads();
    double least = number(UNREACHED);  // distance plus shortest edge of the waiting vertices that this thread has seen
    int level = 0, begin = 0, last = 1, how = DONE;
    long long looked = clock64() - LOOK;
    for (int turn = 0;; turn ^= 1) {
        int *now = &waits[turn], *next = &waits[turn ^ 1];
        if (threadIdx.x == 0) {
            *next = 0;
            if (asked_to_stop(stop, looked)) atomicMax(&halt, STOPPED);
        }
        for (int i = begin + team.index; i < last; i += team.teams) {
            const int v = settled[i];
            const double near = found[v].dist;
            value paths = 1;
            if (leads_both_ways && level > 0) {
                paths = search.count_and_relax(team, out, v, near, now, least);
            } else {
                if (level > 0) paths = count_paths(team, in, v, near, found);
                search.relax(team, out, v, near, now, least);
            }
            if (team.lane == 0) {
                found[v].paths = paths;
                if (!(paths <= sigma_limit)) atomicMax(&halt, OVERFLOWED);
            }
        }
        write_least(slots, least);
        __syncthreads();
        const int waiting = *now;
        how = waiting > most ? FULL : halt;
        if (how) break;
        least = search.settle(read_least(slots), waiting, &end, next);
        __syncthreads();
        begin = last, last = end;
        if (last > begin) {
            level++;
            if (threadIdx.x == 0) ends[level + 1] = last;
            continue;
        }
        // If no vertex was settled, all entries below the threshold had come nearer before.
        const int kept = *next;
        if (kept == waiting && kept) how = ABSORBED;
        if (kept == waiting || !kept) break;
    }
    if (threadIdx.x == 0) outcome[HOW] = how, outcome[DEPTH] = level, outcome[SETTLED] = last;
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS, DIJKSTRA_RESIDENT)
dijkstra_backward(int n, int width, const int* __restrict__ roots, const offset* __restrict__ indptr,
                  const int* __restrict__ indices, const double* __restrict__ lengths,
                  const double* __restrict__ omega, const double* __restrict__ root_weights, int endpoints,
                  Found* found, const int* __restrict__ settled, const int* __restrict__ ends, double* delta,
                  const volatile unsigned char* stop, int* outcome) {
    const Team team(width);
    const Edges out = {indptr, indices, lengths};
    const size_t before = (size_t)blockIdx.x * n;
    const double times = root_weights ? root_weights[blockIdx.x] : 1.0;
    const Dependencies to = {team, out, omega, times, (double)endpoints, found + before, delta + before};
    settled += before, ends += before + blockIdx.x;
    sweep_backward(n, roots[blockIdx.x], to, stop, outcome, [&](int level) {
        const int last = ends[level + 1];
        for (int i = ends[level] + team.index; i < last; i += team.teams) to.settle(settled[i]);
    });
}
