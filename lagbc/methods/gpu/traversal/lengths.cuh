// Parts of the searches with lengths: Dijkstra's rule in parallel, a block a root, after Fan, Xu and Zhao (2017).
//
// A reached vertex v is settled, so that dist[v] is final, as soon as
//
//     dist[v] < threshold,   threshold = min over the reached, unsettled u of dist[u] + shortest[u],
//
// where shortest[u] is the smallest length of an edge out of u. Every path that goes on from an unsettled vertex is at
// least as long as the threshold; in rounded sums, too, as rounding keeps the order of numbers. The vertices settled at
// once are a level. From an unsettled u, and so from any u of v's own level, dist[u] + length >= threshold > dist[v]:
// the tails of the tight edges into v are in levels before that of v. Thus counts need only earlier levels, and
// dependencies only later ones. Lengths that rounding absorbs show as a phase that settles nothing though vertices
// wait: then dist[u] + shortest[u] == dist[u] for the nearest of them.
//
// No number is lost or doubled in a race, and no thread waits for a lock (a thread that spins for a lock which another
// one of its warp holds may spin for ever). Distances alone are pushed, by atomicMin on the bits of the doubles, whose
// order as integers is that of non-negative numbers. Counts and dependencies are pulled: the virtual warp of v writes
// them once, and they are read after the barrier that ends the level. While a level counts, distances of unsettled
// vertices fall; but no value that they ever have is below the threshold that settled the level, so that a test of
// tightness gives the same answer whichever value it sees.
//
// A virtual warp of `width` threads takes a vertex, its lanes the edges; its sum is a tree of fixed shape. So all bits
// depend on the graph and the width alone.

typedef unsigned long long bits;

constexpr int DONE = 0, OVERFLOWED = 1, ABSORBED = 2, STOPPED = 3, FULL = 4;
// The outcome of a root's sweep.
constexpr int HOW = 0, DEPTH = 1, SETTLED = 2, OUTCOME = 3;
constexpr int MOST_THREADS = 1024;  // of a block
constexpr bits UNREACHED = 0x7ff0000000000000ull;  // infinity
// The host's flag is far from the device: it is polled no more often than once in so many cycles.
constexpr long long LOOK = 1 << 20;

__device__ __forceinline__ double number(bits x) { return __longlong_as_double((long long)x); }
__device__ __forceinline__ bits bits_of(double x) { return (bits)__double_as_longlong(x); }

// The results of a search for a vertex, side by side, as they are read together.
struct __align__(16) Found {
    double dist;
    value paths;  // sigma, then c
};

struct Edges {
    const offset* indptr;
    const int* indices;
    const double* lengths;
};

// A virtual warp.
struct Team {
    int width, lane;
    int index, teams;  // among the block's
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
__device__ __forceinline__ value count_paths(const Team& team, const Edges& in, int v, double far, const Found* found) {
    const offset end = in.indptr[v + 1];
    value paths = 0;
    for (offset e = in.indptr[v] + team.lane; e < end; e += team.width) {
        const Found tail = found[in.indices[e]];
        if (is_tight(tail.dist, in.lengths[e], far)) paths += tail.paths;
    }
    return team.sum(paths);
}

// Lower the distance of w; returns the earlier one.
__device__ __forceinline__ double lower(Found* found, int w, double dist) {
    return number(atomicMin((bits*)&found[w].dist, bits_of(dist)));
}

__device__ __forceinline__ bool asked_to_stop(const volatile unsigned char* stop, long long& looked) {
    if (clock64() - looked < LOOK) return false;
    looked = clock64();
    return *stop;
}

// The least x of the block's threads, all of which take part; `slots` has one a warp.
__device__ __forceinline__ void write_least(double* slots, double x) {
    for (int step = 16; step; step /= 2) x = fmin(x, __shfl_xor_sync(ALL, x, step));
    if (threadIdx.x % 32 == 0) slots[threadIdx.x / 32] = x;
}

__device__ __forceinline__ double read_least(const double* slots) {
    const int lane = threadIdx.x % 32;
    double x = lane < blockDim.x / 32 ? slots[lane] : number(UNREACHED);
    for (int step = 16; step; step /= 2) x = fmin(x, __shfl_xor_sync(ALL, x, step));
    return x;
}

// Clear all vertices; then reach the root.
__device__ __forceinline__ void begin_search(int n, int root, Found* found) {
    for (int v = threadIdx.x; v < n; v += blockDim.x) found[v] = {number(UNREACHED), 0};
    __syncthreads();
    if (threadIdx.x == 0) found[root] = {0, 1};
}

// The dependencies of v: c over the heads of tight edges is summed, c takes the place of sigma.
struct Dependencies {
    const Team& team;
    const Edges& out;
    const double* omega;  // null: one target each
    double times, endpoints;
    Found* found;
    double* delta;

    // c[v] = omega[v] / sigma[v] + total, delta[v] = times * (sigma[v] * total + endpoints)
    __device__ __forceinline__ void settle(int v) const {
        const Found at = found[v];
        const offset end = out.indptr[v + 1];
        value total = 0;
        for (offset e = out.indptr[v] + team.lane; e < end; e += team.width) {
            const Found head = found[out.indices[e]];
            if (is_tight(at.dist, out.lengths[e], head.dist)) total += head.paths;
        }
        total = team.sum(total);
        if (team.lane) return;
        delta[v] = times * ((double)at.paths * (double)total + endpoints);
        found[v].paths = (omega ? value(omega[v]) : value(1)) / at.paths + total;
    }
};

// Sweep backward from the last level: settle(level) settles the vertices of a level.
template <typename Settle>
__device__ __forceinline__ void sweep_backward(int n, int root, const Dependencies& to,
                                               const volatile unsigned char* stop, int* outcome, Settle settle) {
    __shared__ bool halts[2];  // used by turns: one is read while the other is written
    outcome += OUTCOME * blockIdx.x;
    for (int v = threadIdx.x; v < n; v += blockDim.x) to.delta[v] = 0;
    if (threadIdx.x == 0) halts[0] = halts[1] = false;
    __syncthreads();
    if (outcome[HOW] != DONE) return;
    long long looked = clock64() - LOOK;
    for (int level = outcome[DEPTH]; level > 0; level--) {
        if (threadIdx.x == 0 && asked_to_stop(stop, looked)) halts[level % 2] = true;
        settle(level);
        __syncthreads();
        if (halts[level % 2]) break;
    }
    if (threadIdx.x == 0) {
        if (to.endpoints) to.delta[root] = to.times * (outcome[SETTLED] - 1);
        if (halts[0] || halts[1]) outcome[HOW] = STOPPED;
    }
}

// shortest[v] = the smallest length of v's edges, infinite if it has none; a warp has v.
extern "C" __global__ void dijkstra_shortest(int n, const offset* __restrict__ indptr,
                                             const double* __restrict__ lengths, double* shortest) {
    const int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (v >= n) return;
    double least = number(UNREACHED);
    for (offset e = indptr[v] + threadIdx.x % 32; e < indptr[v + 1]; e += 32) least = fmin(least, lengths[e]);
    for (int step = 16; step; step /= 2) least = fmin(least, __shfl_xor_sync(ALL, least, step));
    if (threadIdx.x % 32 == 0) shortest[v] = least;
}
