// Parts that kernels of sweeps in one launch share, for graphs of many levels: meshes and roads.
//
// The blocks of the launch, all resident at once, are cut into groups of `blocks_per_group`. A group searches from its
// own 256 roots, with a barrier of its own a level: while one group waits the others work.
//
// Every kernel takes, alike whether it reads them or not:
//   n, blocks_per_group              rows, and blocks of a group
//   queue, masks, starts, capacity   entries and the ends of levels or rounds, with room for `capacity` entries a group
//   barriers, halts, stop, status    arrivals, 0 at first; the host's flag, and its notes; how the launch ended
//
// A vertex is live at few levels and, its roots being near each other, in few columns at each: about 13 of 256 on a
// mesh. So a warp first lists the live columns of its row, then gives each a lane; with 16 or 8 of them the warp takes
// two or four edges at a time, and joins their sums in a fixed order, which depends on the mask alone.

constexpr int DONE = 0, QUEUE_FULL = 1, STOPPED = 2;

__device__ __forceinline__ int warp_of(const Group& group) { return group.block * WARPS + threadIdx.x / 32; }
__device__ __forceinline__ int warps_of(const Group& group) { return group.blocks * WARPS; }

// List the columns of a mask, a byte a lane, in the warp's shared memory; returns their count.
__device__ __forceinline__ int list_columns(unsigned mask, unsigned char* columns) {
    const int lane = threadIdx.x & 31;
    const unsigned below = (1u << lane) - 1;
    int count = 0;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const unsigned lanes = __ballot_sync(ALL, mask >> k & 1);
        if (mask >> k & 1) columns[count + __popc(lanes & below)] = 8 * lane + k;
        count += __popc(lanes);
    }
    __syncwarp();
    return count;
}

// Lanes that share the edges of a row among `count` live columns: lane -> (part of the edges, place in the list).
struct Share {
    int width, part, parts, place;

    __device__ Share(int count) : width(count <= 8 ? 8 : count <= 16 ? 16 : 32) {
        const int lane = threadIdx.x & 31;
        part = lane / width, parts = 32 / width, place = lane % width;
    }
};

// omega has the targets of a vertex, or, with OMEGA_BY_COLUMN, of each of its columns, in rows like those of values.

// The additional sums of the backward sweep beside c, in one column a lane, by macros that are 0 or 1: STRESS for t,
// the paths on to targets, EDGE_SUMS for the dependencies of edges, and EDGE_SQUARES for the squares of these.
struct Besides {
    const value* paths;         // t
    double near, sigma;         // root weight * sigma, and sigma, as sigma^2 may be beyond a double
    const offset* edge_order;   // place of each edge among the sums
    double *edges, *edge_squares;  // the group's sums

    // Set the tail's numbers in a column.
    __device__ __forceinline__ void start_at(double times, double paths_to_it) {
        near = times * paths_to_it;
        if constexpr (EDGE_SQUARES) sigma = paths_to_it;
    }
};

// Add the lanes' terms of an edge to its sum.
__device__ __forceinline__ void add_edge(double* sum, double through, const Share& share) {
    for (int step = 1; step < share.width; step *= 2) through += __shfl_xor_sync(ALL, through, step);
    if (share.place == 0 && through != 0) atomicAdd(sum, through);
}

struct Gathered {
    value total, paths;
};

// Add the values x of edges to u, in one column a lane; an edge counts where it is taken, x being 0 elsewhere. All
// lanes of the warp take part. Between two barriers one warp alone visits an edge's tail and adds to its sum, so that
// the order of additions is the barriers'; they are atomic only so that the warp need not wait for the number before.
template <bool BACKWARD, int COUNT>
__device__ __forceinline__ void add_edges(Gathered& sums, const value (&x)[COUNT], const bool (&taken)[COUNT],
                                          const int (&u)[COUNT], const offset (&place)[COUNT], int column,
                                          const Share& share, const Besides& besides) {
    if constexpr (BACKWARD && STRESS) {
        value t[COUNT];
#pragma unroll
        for (int i = 0; i < COUNT; i++) t[i] = taken[i] ? besides.paths[(size_t)u[i] * COLUMNS + column] : value(0);
#pragma unroll
        for (int i = 0; i < COUNT; i++) sums.paths += t[i];
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) sums.total += x[i];
    if constexpr (BACKWARD && EDGE_SUMS) {
#pragma unroll
        for (int i = 0; i < COUNT; i++) {
            const double c = (double)x[i];
            add_edge(besides.edges + place[i], taken[i] ? besides.near * c : 0.0, share);
            if constexpr (EDGE_SQUARES)
                add_edge(besides.edge_squares + place[i], taken[i] ? (besides.near * c) * (besides.sigma * c) : 0.0,
                         share);
        }
    }
}

// A lane's shares of the sums of a vertex in the backward sweep.
struct Shares {
    double delta = 0, through = 0, squared = 0;

    // Close a column, in which sigma is at `place`: c takes its place, and with STRESS t is written.
    __device__ __forceinline__ void close(value* place, value* t, const Gathered& sums, value targets, double times,
                                          const double* class_sizes, int v) {
        const value sigma = *place;
        const double x = (double)sigma * (double)sums.total;
        delta += times * x;
        if constexpr (SQUARES) squared += times * x * x;
        const value onward = targets / sigma + sums.total;
        *place = CLASS_SIZES ? of_all(onward, class_sizes[v]) : onward;
        if constexpr (STRESS) {
            through += times * ((double)sigma * (double)sums.paths);
            *t = targets + sums.paths;
        }
    }

    // Add to the sums of v; all lanes take part.
    __device__ __forceinline__ void add_to(int v, double* scores, double* stress, double* squares) const {
        add(scores, v, delta);
        if constexpr (SQUARES) add(squares, v, squared);
        if constexpr (STRESS) add(stress, v, through);
    }

    static __device__ __forceinline__ void add(double* sums, int v, double share) {
        share = warp_sum(share);
        if ((threadIdx.x & 31) == 0 && share != 0) sums[v] += share;
    }
};

// Wait for the group at the end of a level; whether it is to halt, which the status tells then.
__device__ __forceinline__ bool halts_after(Group& group, const int* halt, int* status) {
    group.wait();
    if (!*(const volatile int*)halt) return false;
    if (group.thread() == 0) status[2 * group.index] = STOPPED;
    return true;
}

// Join the sums of the parts of the warp; alike in all of them.
template <bool BACKWARD>
__device__ __forceinline__ void join_parts(Gathered& sums, const Share& share) {
    for (int step = share.width; step < 32; step *= 2) {
        sums.total += __shfl_xor_sync(ALL, sums.total, step);
        if constexpr (BACKWARD && STRESS) sums.paths += __shfl_xor_sync(ALL, sums.paths, step);
    }
}
