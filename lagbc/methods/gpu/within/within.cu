// Sums within cutoffs and decays: a block has the ball of a block of roots, a warp up to 32 of these, a lane each.
//
// Whatever is searched or counted is the least solution of a linear system over a semiring, whose matrix is the part of
// the graph in the ball:
//
//     dist   = e + A^T min.plus dist       what lies beyond the radius stays at infinity
//     sigma  = e + T^T plus.second sigma   T: the tight edges of a root
//     c      = weight / sigma + T plus.second c
//     t      = weight + T plus.second t
//
// A warp meets rows as its roots reach them, and lists them in this order. It passes over the list and makes the rows
// anew that wait: those of which something changed, in any lane, that they are made of. When none waits, it is solved.
// Tight edges have no circle, so that there is one solution; each entry of it is made, at last, of final ones, in the
// order of the edges, however it was come by. Sums over the roots are added lane by lane, warp after warp, then by a
// tree over the lanes. So the bits depend on the graph and the blocks of roots alone.

#ifdef DIST
constexpr bool LENGTHS = true;
#else
constexpr bool LENGTHS = false;
#endif

constexpr int NONE = -1, LANES = 32, MOST_WARPS = 8;
constexpr double UNREACHED = 1.0 / 0.0;  // infinity
// What a row is to a warp.
constexpr unsigned char UNMET = 0, MET = 1, WAITS = 2;
// How a root ended; as in sums.py.
constexpr int DONE = 0, OVERFLOWED = 1, STOPPED = 2;
// The host's flag is far from the device: it is looked at after the first row, and then after so many.
constexpr int LOOK = 1 << 13;

// First column of each sum; NONE where it is not asked for. The order is that of lagbc.methods.within.Columns.
struct Columns {
    int dependency, stress, reached, distance, inverse, edges, depth, targets, gravity;
};

// Where a ball begins in what all of a launch have; `entry` counts rows times warps. As in sums.py.
struct Begin {
    offset row, edge, in_edge, warp, entry;
};

struct Edges {
    const offset* indptr;
    const int* indices;
    const double* lengths;

    // Through the read-only path: no store comes in between.
    __device__ __forceinline__ offset begin(int v) const { return __ldg(indptr + v); }
    __device__ __forceinline__ offset end(int v) const { return __ldg(indptr + v + 1); }
    __device__ __forceinline__ int other(offset e) const { return __ldg(indices + e); }
    __device__ __forceinline__ double length(offset e) const { return LENGTHS ? __ldg(lengths + e) : 1.0; }
};

// A column of sums: a target at a distance d counts omega exp(-decay d) where d <= radius, else nothing.
struct Column {
    double radius, decay;
    const double* omega;  // of the rows of the ball; null: one target each

    __device__ __forceinline__ double weight(int v, double dist) const {
        if (!(dist <= radius && dist < UNREACHED)) return 0;
        return (decay > 0 ? exp(-decay * dist) : 1.0) * (omega ? omega[v] : 1.0);
    }
};

// Entries of a warp, of which a lane has those of its root.
struct Arrays {
    double *dist, *sigma, *onward;  // onward: c or t
    unsigned char* marks;           // UNMET, MET or WAITS: the same in all lanes
    int* met;                       // rows, in the order in which they were met

    // Those of the warp `number` of a ball of so many rows, whose entries these are.
    __device__ __forceinline__ Arrays of_warp(int number, int rows, int lane) const {
        const size_t first = (size_t)number * rows, own = first * LANES + lane;
        return {dist + own, sigma + own, onward + own, marks + first, met + first};
    }
};

__device__ __forceinline__ size_t at(int v) { return (size_t)v * LANES; }

// The ball of a block.
struct Ball {
    int rows, warps;
    Edges out, in;
    Arrays arrays;
    double rtol;

    __device__ __forceinline__ bool is_tight(double near, double length, double far) const {
        return near < far && far < UNREACHED && fabs(near + length - far) <= rtol * far;
    }
};

// What a lane has of the ball, and what all lanes of its warp have in common: which rows were met, and which wait.
struct Lane : Arrays {
    const Ball& ball;
    int lane, root;  // the root's row; NONE where the lane has none
    const volatile unsigned char* stop;
    int reached = 0, looked = LOOK - 1;  // rows met; rows that were made anew since the last look at the stop flag
    bool again = false;                  // whether some row waits

    __device__ Lane(const Ball& ball, int warp, int lane, int root, const volatile unsigned char* stop)
        : Arrays(ball.arrays.of_warp(warp, ball.rows, lane)), ball(ball), lane(lane), root(root), stop(stop) {}

    // All lanes call these three at once, with the same row.
    __device__ __forceinline__ void meet(int v) {
        const unsigned char mark = marks[v];
        __syncwarp();
        if (mark == UNMET) met[reached++] = v;
        marks[v] = WAITS;
        again = true;
    }

    __device__ __forceinline__ void let_wait(int v) {
        const unsigned char mark = marks[v];
        __syncwarp();
        if (mark == MET) marks[v] = WAITS;
        again |= mark != UNMET;
    }

    __device__ __forceinline__ bool takes(int v) {
        if (!__any_sync(ALL, marks[v] == WAITS)) return false;
        marks[v] = MET;
        return true;
    }

    // Have `renew` make anew what waits, up the list or down, until nothing does; false if the host asks to stop.
    template <typename Renew>
    __device__ __forceinline__ bool settle(bool up, Renew renew) {
        while (again) {
            again = false;
            for (int i = 0; i < reached; i++) {
                const int v = met[up ? i : reached - 1 - i];
                if (!takes(v)) continue;
                renew(v);
                if (++looked < LOOK) continue;
                looked = 0;
                if (__any_sync(ALL, *stop)) return false;
            }
        }
        return true;
    }

    // Solve for entries that are the sums that `sum` makes of those at the ends of edges; `back` leads to what is made
    // of a row.
    template <typename Own, typename Sum>
    __device__ __forceinline__ bool solve(double* entries, bool up, const Edges& back, Own own, Sum sum) {
        for (int i = 0; i < reached; i++) {
            const int v = met[i];
            entries[at(v)] = own(v);
            marks[v] = WAITS;
        }
        __syncwarp();
        again = true;
        return settle(up, [&](int v) {
            const double next = sum(v);
            const bool changes = entries[at(v)] != next;
            entries[at(v)] = next;
            if (!__any_sync(ALL, changes)) return;
            const offset end = back.end(v);
            for (offset e = back.begin(v); e < end; e++) let_wait(back.other(e));
        });
    }

    __device__ bool search(double radius) {
        for (int v = 0; v < ball.rows; v++) dist[at(v)] = v == root ? 0 : UNREACHED;
        for (int v = lane; v < ball.rows; v += LANES) marks[v] = UNMET;
        __syncwarp();
        for (int k = 0; k < LANES; k++) {
            const int v = __shfl_sync(ALL, root, k);
            if (v != NONE) meet(v);
        }
        return settle(true, [&](int v) {
            const double near = dist[at(v)];
            const offset end = ball.out.end(v);
            for (offset e = ball.out.begin(v); e < end; e++) {
                const int w = ball.out.other(e);
                const double through = near + ball.out.length(e);
                const bool falls = through <= radius && through < dist[at(w)];
                if (falls) dist[at(w)] = through;
                if (__any_sync(ALL, falls)) meet(w);
            }
        });
    }

    __device__ bool count() {
        const auto own = [&](int v) { return v == root ? 1.0 : 0.0; };
        return solve(sigma, true, ball.out, own, [&](int v) {
            const double far = dist[at(v)];
            const offset end = ball.in.end(v);
            double paths = own(v);
            for (offset e = ball.in.begin(v); e < end; e++) {
                const size_t tail = at(ball.in.other(e));
                if (ball.is_tight(dist[tail], ball.in.length(e), far)) paths += sigma[tail];
            }
            return paths;
        });
    }

    // Whether a count is out of range, or no path leads to what is reached: then rounding absorbed a length.
    __device__ bool overflows(double limit) const {
        bool beyond = false;
        for (int i = 0; i < reached; i++) {
            const size_t v = at(met[i]);
            if (dist[v] < UNREACHED) beyond |= !(sigma[v] <= limit) || sigma[v] == 0;
        }
        return beyond;
    }

    // Sum c or t over the tight successors of v within a radius.
    __device__ __forceinline__ double sum_onward(int v, double radius) const {
        const double near = dist[at(v)];
        if (!(near <= radius)) return 0;
        const offset end = ball.out.end(v);
        double total = 0;
        for (offset e = ball.out.begin(v); e < end; e++) {
            const size_t head = at(ball.out.other(e));
            if (dist[head] <= radius && ball.is_tight(near, ball.out.length(e), dist[head])) total += onward[head];
        }
        return total;
    }

    // Solve for c, or with PATHS for t.
    template <bool PATHS>
    __device__ bool sweep_back(const Column& column) {
        const auto own = [&](int v) {
            const double weight = column.weight(v, dist[at(v)]);
            return PATHS || weight == 0 ? weight : weight / sigma[at(v)];
        };
        const auto sum = [&](int v) { return own(v) + sum_onward(v, column.radius); };
        return solve(onward, false, ball.in, own, sum);
    }

    // The sum of the weights of all targets, of which the root is none.
    __device__ double total_of(const Column& column) const {
        double total = 0;
        for (int i = 0; i < reached; i++)
            if (met[i] != root) total += column.weight(met[i], dist[at(met[i])]);
        return total;
    }

    __device__ double farthest(double cutoff) const {
        double most = 0;
        for (int i = 0; i < reached; i++) {
            const double d = dist[at(met[i])];
            if (d <= cutoff && d < UNREACHED) most = fmax(most, d);
        }
        return most;
    }
};

// What other warps are told of the root of a lane.
struct Told {
    int root;
    bool counts;           // whether it is summed
    double times, targets;  // how often; the sum of the weights of its targets
};

// What a block of roots sums to: a row for each of the ball, of its edges that leave one, and of its roots.
struct Sums {
    const Ball& ball;
    Columns columns;
    int vertex_columns, edge_columns;
    double *by_vertex, *by_edge, *by_root;  // by_root: the row of this lane's root
    const Told* told;                       // of each lane of the block

    // Add, of each root of this lane of a warp that met v, what `share` makes of its entries.
    template <typename Share>
    __device__ __forceinline__ double over_roots(int v, Share share) const {
        const int lane = threadIdx.x % LANES;
        double total = 0;
        for (int warp = 0; warp < ball.warps; warp++) {
            const Told& of = told[warp * LANES + lane];
            const Lane other(ball, warp, lane, of.root, nullptr);
            if (other.marks[v] != UNMET && of.counts && other.dist[at(v)] < UNREACHED) total += share(other, of);
        }
        return warp_sum(total);
    }

    // Write a column of the sums by row; warps take rows by turns.
    template <typename Share>
    __device__ __forceinline__ void write(int column, Share share) const {
        for (int v = threadIdx.x / LANES; v < ball.rows; v += blockDim.x / LANES) {
            const double total = over_roots(v, [&](const Lane& of, const Told& root) { return share(v, of, root); });
            if (threadIdx.x % LANES == 0) by_vertex[(size_t)v * vertex_columns + column] = total;
        }
    }

    __device__ __forceinline__ void write_edges(int column, double radius) const {
        for (int v = threadIdx.x / LANES; v < ball.rows; v += blockDim.x / LANES) {
            const offset end = ball.out.end(v);
            for (offset e = ball.out.begin(v); e < end; e++) {
                const size_t head = at(ball.out.other(e));
                const double total = over_roots(v, [&](const Lane& of, const Told& root) {
                    const double far = of.dist[head];
                    const bool is_on = far <= radius && ball.is_tight(of.dist[at(v)], ball.out.length(e), far);
                    return is_on ? of.sigma[at(v)] * root.times * of.onward[head] : 0.0;
                });
                if (threadIdx.x % LANES == 0) by_edge[(size_t)e * edge_columns + column] = total;
            }
        }
    }
};

// Columns of sums that decay; false if the host asks to stop. All of the block call it at once.
__device__ bool sum_decaying(Lane& own, Told& told, const Sums& sums, const Column& column, int j, bool endpoints) {
    const Columns& to = sums.columns;
    told.targets = endpoints || to.gravity != NONE ? own.total_of(column) : 0;
    if (to.gravity != NONE && told.counts) sums.by_root[to.gravity + j] = told.targets;
    if (to.dependency == NONE && to.edges == NONE) return true;
    if (!__syncthreads_and(own.sweep_back<false>(column))) return false;
    if (to.dependency != NONE)
        sums.write(to.dependency + j, [&](int v, const Lane& of, const Told& root) {
            if (v == of.root) return endpoints ? root.targets * root.times : 0.0;
            const double through = of.sigma[at(v)] * of.sum_onward(v, column.radius);
            return (through + (endpoints ? column.weight(v, of.dist[at(v)]) : 0.0)) * root.times;
        });
    if (to.edges != NONE) sums.write_edges(to.edges + j, column.radius);
    __syncthreads();
    return true;
}

// Columns of the others, a cutoff each.
__device__ bool sum_others(Lane& own, const Told& told, const Sums& sums, const Column& column, int j) {
    const Columns& to = sums.columns;
    if (to.targets != NONE && told.counts) sums.by_root[to.targets + j] = own.total_of(column);
    if (to.depth != NONE && told.counts) sums.by_root[to.depth + j] = own.farthest(column.radius);
    const auto write = [&](int first, auto share) {
        if (first == NONE) return;
        sums.write(first + j, [&](int v, const Lane& of, const Told&) {
            const double dist = of.dist[at(v)];
            return v != of.root && dist <= column.radius ? share(dist) : 0.0;
        });
    };
    write(to.reached, [](double) { return 1.0; });
    write(to.distance, [](double dist) { return dist; });
    write(to.inverse, [](double dist) { return 1 / dist; });
    if (to.stress == NONE) return true;
    if (!__syncthreads_and(own.sweep_back<true>(column))) return false;
    sums.write(to.stress + j, [&](int v, const Lane& of, const Told& root) {
        return v == of.root ? 0.0 : of.sigma[at(v)] * of.sum_onward(v, column.radius) * root.times;
    });
    __syncthreads();
    return true;
}

// Sum blocks of roots, each of which has the ball that begins where `begins` says; `roots` has a row of the ball, or
// NONE, for each lane. `bounds` has the cutoffs, then the radii and the decays of the columns that decay.
extern "C" __global__ void within_sum(
    const Begin* __restrict__ begins, const int* __restrict__ roots, const double* __restrict__ times,
    const offset* __restrict__ indptr, const int* __restrict__ indices, const double* __restrict__ lengths,
    const offset* __restrict__ in_indptr, const int* __restrict__ in_indices, const double* __restrict__ in_lengths,
    const double* __restrict__ omega, double radius, double rtol, double sigma_limit, int endpoints, int cutoffs,
    int radii, const double* __restrict__ bounds, const Columns* __restrict__ columns, int vertex_columns,
    int edge_columns, int root_columns, double* dist, double* sigma, double* onward, unsigned char* marks, int* met,
    double* by_vertex, double* by_edge, double* by_root, int* outcome, const volatile unsigned char* stop) {
    __shared__ Told told[MOST_WARPS * LANES];
    const Begin begin = begins[blockIdx.x], end = begins[blockIdx.x + 1];
    const int warp = threadIdx.x / LANES, warps = end.warp - begin.warp, lane = threadIdx.x % LANES;
    // A ball has an end of edges more than rows.
    const offset ends = begin.row + blockIdx.x;
    const size_t place = begin.warp * LANES + threadIdx.x, first = begin.entry * LANES;
    const Ball ball = {int(end.row - begin.row), warps,
                       {indptr + ends, indices + begin.edge, lengths + begin.edge},
                       {in_indptr + ends, in_indices + begin.in_edge, in_lengths + begin.in_edge},
                       {dist + first, sigma + first, onward + first, marks + begin.entry, met + begin.entry},
                       rtol};
    const double* own_omega = omega ? omega + begin.row : nullptr;
    Told& own_told = told[threadIdx.x];
    own_told = {warp < warps ? roots[place] : NONE, false, warp < warps && times ? times[place] : 1.0, 0};
    Lane own(ball, warp, lane, own_told.root, stop);
    bool beyond = false, goes_on = true;
    // Warps without a root meet nothing, and have no entries.
    if (warp < warps) {
        goes_on = own.search(radius) && (!COUNTS || own.count());
        beyond = COUNTS && goes_on && own.overflows(sigma_limit);
        own_told.counts = own.root != NONE && !beyond;
    }
    const Sums sums = {ball,
                       *columns,
                       vertex_columns,
                       edge_columns,
                       by_vertex + begin.row * vertex_columns,
                       by_edge + begin.edge * edge_columns,
                       by_root + place * root_columns,
                       told};
    goes_on = __syncthreads_and(goes_on);
    for (int j = 0; j < radii && goes_on; j++)
        goes_on = sum_decaying(own, own_told, sums, {bounds[cutoffs + j], bounds[cutoffs + radii + j], own_omega}, j,
                               endpoints != 0);
    for (int j = 0; j < cutoffs && goes_on; j++)
        goes_on = sum_others(own, own_told, sums, {bounds[j], 0, own_omega}, j);
    if (warp < warps) outcome[place] = goes_on ? beyond ? OVERFLOWED : DONE : STOPPED;
}
