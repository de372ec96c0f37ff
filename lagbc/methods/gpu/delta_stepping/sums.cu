// Sums over the distances of a sweep. A warp takes a row at a time, and a lane eight columns of it. Block (x, y): y is
// the group, and its warps take the rows from x * WARPS, (x + gridDim.x) * WARPS, ... on, one each.

// The sums of a lane; null for a sum that is not asked for. A row is summed by its lanes, then along a fixed tree.
struct Sums {
    double *reached, *distance, *inverse, *distance_squares, *inverse_squares;  // a row a group
    double* depth;           // a column a group
    double largest[8] = {};  // of the lane's columns, in the rows so far

    __device__ Sums(int n, double* reached, double* distance, double* inverse, double* distance_squares,
                    double* inverse_squares, double* depth)
        : reached(row_of(reached, n)), distance(row_of(distance, n)), inverse(row_of(inverse, n)),
          distance_squares(row_of(distance_squares, n)), inverse_squares(row_of(inverse_squares, n)),
          depth(row_of(depth, COLUMNS)) {}

    static __device__ double* row_of(double* sums, int size) {
        return sums ? sums + (size_t)blockIdx.y * size : nullptr;
    }

    // All lanes take part.
    __device__ void add(int v, double count, double sum, double inverses) const {
        count = warp_sum(count), sum = warp_sum(sum), inverses = warp_sum(inverses);
        if (threadIdx.x % 32) return;
        if (reached) reached[v] = count;
        if (distance) distance[v] = sum;
        if (inverse) inverse[v] = inverses;
    }

    // The same of squares, where they are asked for.
    __device__ void add_squares(int v, double sum, double inverses) const {
        if (!distance_squares && !inverse_squares) return;
        sum = warp_sum(sum), inverses = warp_sum(inverses);
        if (threadIdx.x % 32) return;
        if (distance_squares) distance_squares[v] = sum;
        if (inverse_squares) inverse_squares[v] = inverses;
    }
};

// Note the largest of each column, by keys with the order of the distances, in the block's memory `found` at first. All
// threads of the block take part.
__device__ __forceinline__ void add_largest(const Sums& sums, unsigned long long* found) {
    found[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 8; k++)
        if (sums.largest[k] > 0) atomicMax(&found[threadIdx.x % 32 + 32 * k], key(sums.largest[k]));
    __syncthreads();
    if (sums.depth && found[threadIdx.x])
        atomicMax((unsigned long long*)&sums.depth[threadIdx.x], found[threadIdx.x]);
}

static_assert(COLUMNS == 32 * WARPS, "a thread a column");

// Of rows of distances.
extern "C" __global__ void delta_distances(
    int n, const dist* __restrict__ distances, const unsigned* __restrict__ keep, double* reached, double* distance,
    double* inverse, double* distance_squares, double* inverse_squares, double* depth) {
    __shared__ unsigned long long found[COLUMNS];
    Sums sums(n, reached, distance, inverse, distance_squares, inverse_squares, depth);
    const int lane = threadIdx.x % 32;
    const dist infinity = __int_as_float(0x7f800000);
    distances += (size_t)blockIdx.y * n * COLUMNS + lane;
    keep += blockIdx.y * WORDS;
    for (int v = blockIdx.x * WARPS + threadIdx.x / 32; v < n; v += gridDim.x * WARPS) {
        double count = 0, sum = 0, inverses = 0, squares = 0, inverse_of_squares = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) {
            const dist x = distances[(size_t)v * COLUMNS + 32 * k];
            if (!(keep[k] >> lane & 1) || !(x > 0) || !(x < infinity)) continue;
            count += 1, sum += x, inverses += 1 / (double)x;
            squares += (double)x * x, inverse_of_squares += 1 / ((double)x * x);
            sums.largest[k] = max(sums.largest[k], (double)x);
        }
        sums.add(v, count, sum, inverses);
        sums.add_squares(v, squares, inverse_of_squares);
    }
    add_largest(sums, found);
}

// Sums of each column of rows of distances, over the finite ones > 0: of 1, of them, and of their inverses. A thread has
// a column, in the rows of part x of group y, in their order; `sums` have three rows a part.
extern "C" __global__ void delta_columns(int n, int rows, const dist* __restrict__ distances, double* sums) {
    const dist infinity = __int_as_float(0x7f800000);
    const int first = blockIdx.x * rows, last = min(n - first, rows) + first;
    double count = 0, sum = 0, inverses = 0;
    distances += (size_t)blockIdx.y * n * COLUMNS + threadIdx.x;
    for (int v = first; v < last; v++) {
        const dist x = distances[(size_t)v * COLUMNS];
        if (!(x > 0) || !(x < infinity)) continue;
        count += 1, sum += x, inverses += 1 / (double)x;
    }
    sums += ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * 3 * COLUMNS + threadIdx.x;
    sums[0] = count, sums[COLUMNS] = sum, sums[2 * COLUMNS] = inverses;
}
