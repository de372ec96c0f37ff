// Sums over the levels of a sweep: of distances, and of the edges that leave a root.

// The sums of one group; null where one is not asked for.
struct Distances {
    const unsigned* keep;
    double *reached, *distance, *inverse, *distance_squares, *inverse_squares;  // a row each
    unsigned* known;                       // columns whose depth is known
    double* depth;                         // a column each

    __device__ Distances(int group, int n, const unsigned* keep, double* reached, double* distance, double* inverse,
                         double* distance_squares, double* inverse_squares, unsigned* known, double* depth)
        : keep(keep + group * WORDS), reached(row_of(reached, group, n)), distance(row_of(distance, group, n)),
          inverse(row_of(inverse, group, n)),
          distance_squares(row_of(distance_squares, group, n)), inverse_squares(row_of(inverse_squares, group, n)),
          known(known + group * WORDS), depth(row_of(depth, group, COLUMNS)) {}

    static __device__ double* row_of(double* sums, int group, int size) {
        return sums ? sums + (size_t)group * size : nullptr;
    }

    // Count the columns in which v is at a level, one thread at a time. Levels come from the last to the first, so that
    // the first row with a column tells its depth.
    __device__ void add(int v, const unsigned* row, int level) const {
        int count = 0;
#pragma unroll
        for (int i = 0; i < WORDS; i++) {
            const unsigned columns = row[i] & keep[i];
            count += __popc(columns);
            if (!depth || !(columns & ~known[i])) continue;
            for (unsigned fresh = columns & ~atomicOr(&known[i], columns); fresh; fresh &= fresh - 1)
                depth[32 * i + __ffs(fresh) - 1] = level;
        }
        if (!count) return;
        if (reached) reached[v] += count;
        if (distance) distance[v] += (double)count * level;
        if (inverse) inverse[v] += (double)count / level;
        if (distance_squares) distance_squares[v] += (double)count * level * level;
        if (inverse_squares) inverse_squares[v] += (double)count / ((double)level * level);
    }
};

// Of a sweep by launches: one level, with `live` as the bitmap of rows with any bit. Thread (x, y): row and group.
extern "C" __global__ void launch_per_level_distances(
    int n, int level, const unsigned* __restrict__ live, const unsigned* __restrict__ bits,
    const unsigned* __restrict__ keep, double* reached, double* distance, double* inverse, double* distance_squares,
    double* inverse_squares, unsigned* known, double* depth) {
    const int v = blockIdx.x * blockDim.x + threadIdx.x, group = blockIdx.y;
    const size_t words = (n + 31) / 32;
    if (v >= n || !(live[group * words + v / 32] >> v % 32 & 1)) return;
    const Distances sums(group, n, keep, reached, distance, inverse, distance_squares, inverse_squares, known,
                         depth);
    sums.add(v, bits + ((size_t)group * n + v) * WORDS, level);
}

// Of a sweep in one launch: all levels, of the group's own depth. A thread has an entry of the queue, and a vertex one
// entry a level.
extern "C" __global__ void one_launch_distances(
    int n, int blocks_per_group, const int* __restrict__ queue, const unsigned* __restrict__ masks, offset capacity,
    const int* __restrict__ starts, const unsigned* __restrict__ keep, double* reached, double* distance,
    double* inverse, double* distance_squares, double* inverse_squares, unsigned* known, double* depth,
    unsigned* barriers, int* halts, const volatile unsigned char* stop, const int* __restrict__ status) {
    Group group(blocks_per_group, barriers);
    const Distances sums(group.index, n, keep, reached, distance, inverse, distance_squares, inverse_squares, known,
                         depth);
    queue += group.index * capacity;
    masks += group.index * capacity * WORDS;
    starts += (size_t)group.index * (n + 3);
    for (int level = status[2 * group.index + 1]; level > 0; level--) {
        for (int i = starts[level] + group.thread(); i < starts[level + 1]; i += group.threads())
            sums.add(queue[i], masks + (size_t)i * WORDS, level);
        group.wait();
    }
}

// Write the level of one row, alike in all lanes of a warp, into its numbers, in the columns of its bit row.
__device__ __forceinline__ void write_level(double* dist, const unsigned* row, int level) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        if (row[k] >> lane & 1) dist[32 * k + lane] = level;
}

// Write one level of a sweep by launches into rows of distances. A warp a row, and y the group.
extern "C" __global__ void launch_per_level_write(int n, int level, const unsigned* __restrict__ live,
                                                  const unsigned* __restrict__ bits, double* dist) {
    const int v = blockIdx.x * WARPS + threadIdx.x / 32, group = blockIdx.y;
    const size_t words = (n + 31) / 32, row = (size_t)group * n + v;
    if (v < n && live[group * words + v / 32] >> v % 32 & 1) write_level(dist + row * COLUMNS, bits + row * WORDS, level);
}

// Write all levels of a sweep in one launch. A warp an entry of the queue.
extern "C" __global__ void one_launch_write(int n, int blocks_per_group, const int* __restrict__ queue,
                                            const unsigned* __restrict__ masks, offset capacity,
                                            const int* __restrict__ starts, double* dist, unsigned* barriers,
                                            int* halts, const volatile unsigned char* stop,
                                            const int* __restrict__ status) {
    const Group group(blocks_per_group, barriers);
    queue += group.index * capacity;
    masks += group.index * capacity * WORDS;
    starts += (size_t)group.index * (n + 3);
    dist += (size_t)group.index * n * COLUMNS;
    for (int level = status[2 * group.index + 1]; level > 0; level--)
        for (int i = starts[level] + group.thread() / 32; i < starts[level + 1]; i += group.threads() / 32)
            write_level(dist + (size_t)queue[i] * COLUMNS, masks + (size_t)i * WORDS, level);
}

// The edges that leave a root: its one path goes on to each of their heads. A block a root; only one in a group has the
// vertex.
extern "C" __global__ void root_edges(
    int n, const offset* __restrict__ positions, const offset* __restrict__ columns, const offset* __restrict__ indptr,
    const int* __restrict__ indices, const unsigned* __restrict__ keep, const double* __restrict__ root_weights,
    const value* __restrict__ values, const offset* __restrict__ edge_order, offset nnz, double* edges,
    double* edge_squares) {
    const int root = columns[blockIdx.x], group = root / COLUMNS, column = root % COLUMNS;
    if (!(keep[root / 32] >> root % 32 & 1)) return;
    const double times = root_weights ? root_weights[root] : 1.0;
    const offset v = positions[blockIdx.x], end = indptr[v + 1];
    values += (size_t)group * n * COLUMNS + column;
    edges += group * nnz;
    if (edge_squares) edge_squares += group * nnz;
    for (offset e = indptr[v] + threadIdx.x; e < end; e += blockDim.x) {
        const double c = (double)values[(size_t)indices[e] * COLUMNS];
        edges[edge_order[e]] += times * c;
        if (edge_squares) edge_squares[edge_order[e]] += times * c * c;
    }
}
