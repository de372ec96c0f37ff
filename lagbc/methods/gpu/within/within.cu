// Sums within cutoffs and decays: a warp has a ball, and a lane one of the at most 32 roots that it is of.
//
// The balls are the diagonal blocks of one matrix; a row is a vertex of a ball, and has an entry for each lane. Whatever
// is searched or counted is the least solution of a linear system over a semiring, found by sweeps over the rows of the
// ball, down and up by turns, until nothing changes:
//
//     dist   = e + A^T min.plus dist       what lies beyond the radius stays at infinity
//     sigma  = e + T^T plus.second sigma   T: the tight edges of a root
//     c      = weight / sigma + T plus.second c
//     t      = weight + T plus.second t
//
// Tight edges have no circle, so that there is one solution; each entry of it is made, at last, of final ones, in the
// order of the edges, whatever the sweeps were. A lane reads its own entries alone: no lane waits for another, but for
// sums over the roots, which are trees of fixed shape. So the bits depend on the graph and the blocks of roots alone.

#ifdef DIST
constexpr bool LENGTHS = true;
#else
constexpr bool LENGTHS = false;
#endif

constexpr int NONE = -1, LANES = 32;
constexpr double UNREACHED = 1.0 / 0.0;  // infinity
// How a root ended; as in sums.py.
constexpr int DONE = 0, OVERFLOWED = 1, STOPPED = 2;
// The host's flag is far from the device, so that it is looked at no more often than this, in cycles.
constexpr long long LOOK = 1 << 20;

// First column of each sum; NONE where it is not asked for. The order is that of lagbc.methods.within.Columns.
struct Columns {
    int dependency, stress, reached, distance, inverse, edges, depth, targets, gravity;
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
    const double* omega;  // null: one target each

    __device__ __forceinline__ double weight(int v, double dist) const {
        if (!(dist <= radius && dist < UNREACHED)) return 0;
        return (decay > 0 ? exp(-decay * dist) : 1.0) * (omega ? omega[v] : 1.0);
    }
};

// What a lane has of the ball: entries of its own column.
struct Lane {
    int first, last, lane, root;  // rows of the ball; the root's, NONE where the lane has none
    Edges out, in;
    double *dist, *sigma, *onward;  // onward: c or t
    double rtol;
    const volatile unsigned char* stop;
    long long& looked;  // when the stop flag was looked at

    __device__ __forceinline__ size_t at(int v) const { return (size_t)v * LANES + lane; }

    __device__ __forceinline__ bool is_tight(double near, double length, double far) const {
        return near < far && far < UNREACHED && fabs(near + length - far) <= rtol * far;
    }

    // Have `renew` make the entries of rows anew, each row after the other, down and up by turns, until no lane changes
    // any more; false if the host asks to stop.
    template <typename Renew>
    __device__ __forceinline__ bool solve(bool down, Renew renew) const {
        for (;; down = !down) {
            bool changed = false;
            if (down)
                for (int v = first; v < last; v++) changed |= renew(v);
            else
                for (int v = last - 1; v >= first; v--) changed |= renew(v);
            if (!__any_sync(ALL, changed)) return true;
            if (__any_sync(ALL, is_stopped())) return false;
        }
    }

    __device__ __forceinline__ bool is_stopped() const {
        if (clock64() - looked < LOOK) return false;
        looked = clock64();
        return *stop;
    }

    __device__ __forceinline__ bool replace(double* entries, int v, double next) const {
        if (entries[at(v)] == next) return false;
        entries[at(v)] = next;
        return true;
    }

    __device__ bool search(double radius) const {
        for (int v = first; v < last; v++) dist[at(v)] = v == root ? 0 : UNREACHED;
        return solve(true, [&](int v) {
            double least = dist[at(v)];
            const offset end = in.end(v);
            for (offset e = in.begin(v); e < end; e++) {
                const double through = dist[at(in.other(e))] + in.length(e);
                if (through <= radius) least = fmin(least, through);
            }
            return replace(dist, v, least);
        });
    }

    // Sum the paths to v along its tight edges.
    __device__ __forceinline__ double paths_to(int v) const {
        const double far = dist[at(v)];
        const offset end = in.end(v);
        double paths = v == root ? 1 : 0;
        for (offset e = in.begin(v); e < end; e++) {
            const size_t tail = at(in.other(e));
            if (is_tight(dist[tail], in.length(e), far)) paths += sigma[tail];
        }
        return paths;
    }

    __device__ bool count() const {
        for (int v = first; v < last; v++) sigma[at(v)] = v == root ? 1 : 0;
        return solve(true, [&](int v) { return replace(sigma, v, paths_to(v)); });
    }

    // Whether a count is out of range, or no path leads to what is reached: then rounding absorbed a length.
    __device__ bool overflows(double limit) const {
        bool beyond = false;
        for (int v = first; v < last; v++)
            if (dist[at(v)] < UNREACHED) beyond |= !(sigma[at(v)] <= limit) || sigma[at(v)] == 0;
        return beyond;
    }

    // Sum c or t over the tight successors of v within a radius.
    __device__ __forceinline__ double sum_onward(int v, double radius) const {
        const double near = dist[at(v)];
        if (!(near <= radius)) return 0;
        const offset end = out.end(v);
        double total = 0;
        for (offset e = out.begin(v); e < end; e++) {
            const size_t head = at(out.other(e));
            if (dist[head] <= radius && is_tight(near, out.length(e), dist[head])) total += onward[head];
        }
        return total;
    }

    // Solve for c, or with PATHS for t.
    template <bool PATHS>
    __device__ bool sweep_back(const Column& column) const {
        const auto own = [&](int v) {
            const double weight = column.weight(v, dist[at(v)]);
            return PATHS || weight == 0 ? weight : weight / sigma[at(v)];
        };
        for (int v = first; v < last; v++) onward[at(v)] = own(v);
        return solve(false, [&](int v) { return replace(onward, v, own(v) + sum_onward(v, column.radius)); });
    }

    // The sum of the weights of all targets, of which the root is none.
    __device__ double total_of(const Column& column) const {
        double total = 0;
        for (int v = first; v < last; v++)
            if (v != root) total += column.weight(v, dist[at(v)]);
        return total;
    }

    __device__ double farthest(double cutoff) const {
        double most = 0;
        for (int v = first; v < last; v++)
            if (dist[at(v)] <= cutoff && dist[at(v)] < UNREACHED) most = fmax(most, dist[at(v)]);
        return most;
    }
};

// Where the sums of a ball go: a row for each of its own, of its edges and of its roots.
struct Sums {
    Columns columns;
    int vertex_columns, edge_columns;
    double *by_vertex, *by_edge, *own;  // `own` is the row of this lane's root

    // Write the sum over the roots of what `share` says of each row but the root's, where `counts`.
    template <typename Share>
    __device__ __forceinline__ void write(const Lane& of, int column, bool counts, Share share) const {
        if (column == NONE) return;
        for (int v = of.first; v < of.last; v++) {
            const double total = warp_sum(counts && of.dist[of.at(v)] < UNREACHED ? share(v) : 0);
            if (of.lane == 0) by_vertex[(size_t)v * vertex_columns + column] = total;
        }
    }

    __device__ __forceinline__ void write_edges(const Lane& of, int column, bool counts, double radius,
                                                double times) const {
        for (int v = of.first; v < of.last; v++) {
            const double near = of.dist[of.at(v)], paths = of.sigma[of.at(v)] * times;
            const offset end = of.out.end(v);
            for (offset e = of.out.begin(v); e < end; e++) {
                const size_t head = of.at(of.out.other(e));
                const double far = of.dist[head];
                const bool is_on = counts && far <= radius && of.is_tight(near, of.out.length(e), far);
                const double total = warp_sum(is_on ? paths * of.onward[head] : 0);
                if (of.lane == 0) by_edge[(size_t)e * edge_columns + column] = total;
            }
        }
    }
};

__device__ __forceinline__ int place_of(int first, int j) { return first == NONE ? NONE : first + j; }

// Columns of sums that decay; false if the host asks to stop.
__device__ bool sum_decaying(const Lane& of, const Sums& sums, const Column& column, int j, bool counts, double times,
                             bool endpoints) {
    const Columns& to = sums.columns;
    const double ends = endpoints || to.gravity != NONE ? of.total_of(column) : 0;
    if (to.gravity != NONE && counts) sums.own[to.gravity + j] = ends;
    if (to.dependency == NONE && to.edges == NONE) return true;
    if (!of.sweep_back<false>(column)) return false;
    sums.write(of, place_of(to.dependency, j), counts, [&](int v) {
        if (v == of.root) return endpoints ? ends * times : 0.0;
        const double through = of.sigma[of.at(v)] * of.sum_onward(v, column.radius);
        return (through + (endpoints ? column.weight(v, of.dist[of.at(v)]) : 0.0)) * times;
    });
    if (to.edges != NONE) sums.write_edges(of, to.edges + j, counts, column.radius, times);
    return true;
}

// Columns of the others, a cutoff each.
__device__ bool sum_others(const Lane& of, const Sums& sums, const Column& column, int j, bool counts, double times) {
    const Columns& to = sums.columns;
    if (to.targets != NONE && counts) sums.own[to.targets + j] = of.total_of(column);
    if (to.depth != NONE && counts) sums.own[to.depth + j] = of.farthest(column.radius);
    const auto distance = [&](auto share) {
        return [&of, &column, share](int v) {
            const double dist = of.dist[of.at(v)];
            return v != of.root && dist <= column.radius ? share(dist) : 0.0;
        };
    };
    sums.write(of, place_of(to.reached, j), counts, distance([](double) { return 1.0; }));
    sums.write(of, place_of(to.distance, j), counts, distance([](double dist) { return dist; }));
    sums.write(of, place_of(to.inverse, j), counts, distance([](double dist) { return 1 / dist; }));
    if (to.stress == NONE) return true;
    if (!of.sweep_back<true>(column)) return false;
    sums.write(of, to.stress + j, counts, [&](int v) {
        return v == of.root ? 0.0 : of.sigma[of.at(v)] * of.sum_onward(v, column.radius) * times;
    });
    return true;
}

// Sum the balls, which have the rows starts[ball] to starts[ball + 1]; `roots` has a row, or NONE, for each lane of
// each. `bounds` has the cutoffs, then the radii and the decays of the columns that decay.
extern "C" __global__ void within_sum(
    int balls, const int* __restrict__ starts, const int* __restrict__ roots, const double* __restrict__ times,
    const offset* __restrict__ indptr, const int* __restrict__ indices, const double* __restrict__ lengths,
    const offset* __restrict__ in_indptr, const int* __restrict__ in_indices, const double* __restrict__ in_lengths,
    const double* __restrict__ omega, double radius, double rtol, double sigma_limit, int endpoints, int cutoffs,
    int radii, const double* __restrict__ bounds, const Columns* __restrict__ columns, int vertex_columns,
    int edge_columns, int root_columns, double* dist, double* sigma, double* onward, double* by_vertex,
    double* by_edge, double* by_root, int* outcome, const volatile unsigned char* stop) {
    const int ball = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (ball >= balls) return;
    const size_t place = (size_t)ball * LANES + lane;
    const int root = roots[place];
    long long looked = clock64() - LOOK;
    const Lane of = {starts[ball], starts[ball + 1],
                     lane,         root,
                     {indptr, indices, lengths}, {in_indptr, in_indices, in_lengths},
                     dist,         sigma,
                     onward,       rtol,
                     stop,         looked};
    const Sums sums = {*columns, vertex_columns, edge_columns, by_vertex, by_edge, by_root + place * root_columns};
    const double weight = times ? times[place] : 1.0;
    bool goes_on = of.search(radius) && (!COUNTS || of.count());
    const bool beyond = COUNTS && goes_on && of.overflows(sigma_limit), counts = root != NONE && !beyond;
    for (int j = 0; j < radii && goes_on; j++)
        goes_on = sum_decaying(of, sums, {bounds[cutoffs + j], bounds[cutoffs + radii + j], omega}, j, counts, weight,
                               endpoints != 0);
    for (int j = 0; j < cutoffs && goes_on; j++)
        goes_on = sum_others(of, sums, {bounds[j], 0, omega}, j, counts, weight);
    outcome[place] = goes_on ? beyond ? OVERFLOWED : DONE : STOPPED;
}
