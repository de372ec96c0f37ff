// The forward sweep in one launch a level, for graphs of few levels.
//
// Path counts are of type `value`; as unsigned integers, half as long as doubles, they are exact up to `limit`, and so
// are the doubles that they stand for. COUNTS is a macro that is 0 where a run does not ask for paths: then the sweep
// is of bits alone.

constexpr int RESIDENT = LEVELS_RESIDENT;

// The type in which counts are summed.
template <typename T>
struct Sum {
    typedef T type;
};
template <>
struct Sum<unsigned> {
    typedef unsigned long long type;
};
typedef Sum<value>::type sum;

// No additional sum.
struct Nothing {
    static constexpr bool PATHS = false, EDGES = false;
    struct Share {};
};

// The columns in which an edge of the warp's enters from the frontier.
__device__ __forceinline__ unsigned meet(const offset* indptr, const int* indices, const Place& at,
                                         const unsigned* live, const unsigned char* bits, unsigned wanted) {
    const int lane = threadIdx.x & 31;
    const offset end = indptr[at.v + 1];
    bits += at.column / 8;
    unsigned met = 0;
    for (offset base = indptr[at.v] + 32 * at.first; base < end; base += 32 * at.step) {
        const int mine = base + lane < end ? indices[base + lane] : -1;
        unsigned todo = __ballot_sync(ALL, mine >= 0 && has_bit(live, mine));
        while (todo) {
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                const int u = __shfl_sync(ALL, mine, todo ? __ffs(todo) - 1 : 0);
                met |= todo ? own_bits(bits + (size_t)u * BYTES) & wanted : 0;
                todo &= todo - 1;
            }
        }
        if (!__any_sync(ALL, wanted & ~met)) break;
    }
    return met;
}

// Level 1: every out-neighbour of a root, each of its members, has one path from it. A block a root.
extern "C" __global__ void launch_per_level_first(
    int n, const offset* __restrict__ positions, const offset* __restrict__ columns, const offset* __restrict__ indptr,
    const int* __restrict__ indices, unsigned* visited, unsigned* next, unsigned* next_live, value* counts, sum limit,
    unsigned* overflowed, const double* __restrict__ class_sizes) {
    const int group = columns[blockIdx.x] / COLUMNS, column = columns[blockIdx.x] % COLUMNS;
    const size_t rows = (size_t)group * n;
    const offset v = positions[blockIdx.x], end = indptr[v + 1];
    for (offset e = indptr[v] + threadIdx.x; e < end; e += blockDim.x) {
        const int w = indices[e];
        const unsigned bit = 1u << column % 32;
        atomicOr(&visited[(rows + w) * WORDS + column / 32], bit);
        atomicOr(&next[(rows + w) * WORDS + column / 32], bit);
        set_bit(next_live + group * bitmap_words(n), w);
        if constexpr (COUNTS && CLASS_SIZES) {
            const sum paths = of_all(sum(1), class_sizes[w]);
            counts[(rows + w) * COLUMNS + column] = value(paths);
            if (paths > limit) atomicOr(&overflowed[group * WORDS + column / 32], bit);
        } else if (COUNTS) {
            counts[(rows + w) * COLUMNS + column] = 1;
        }
    }
}

// size += (live rows of all groups, the edges that leave them). A thread a word.
extern "C" __global__ void launch_per_level_count(int n, offset words, const unsigned* __restrict__ live,
                                                     const offset* __restrict__ indptr, unsigned long long* size) {
    const offset i = (offset)blockIdx.x * blockDim.x + threadIdx.x;
    const int first = 32 * (i % bitmap_words(n));
    unsigned long long rows = 0, edges = 0;
    for (unsigned todo = i < words ? live[i] : 0; todo; todo &= todo - 1, rows++) {
        const int v = first + __ffs(todo) - 1;
        edges += indptr[v + 1] - indptr[v];
    }
    for (int step = 16; step; step /= 2) {
        rows += __shfl_down_sync(ALL, rows, step);
        edges += __shfl_down_sync(ALL, edges, step);
    }
    if ((threadIdx.x & 31) || !rows) return;
    atomicAdd(&size[0], rows);
    atomicAdd(&size[1], edges);
}

// touched = the heads of all edges that leave live rows. A warp a word and group.
extern "C" __global__ void launch_per_level_touch(int n, const unsigned* __restrict__ live,
                                                     const offset* __restrict__ indptr,
                                                     const int* __restrict__ indices, unsigned* touched) {
    const size_t bitmap = blockIdx.y * bitmap_words(n);
    const int word = blockIdx.x * WARPS + threadIdx.x / 32;
    if (word >= bitmap_words(n)) return;
    for (unsigned todo = live[bitmap + word]; todo; todo &= todo - 1) {
        const int v = 32 * word + __ffs(todo) - 1;
        const offset end = indptr[v + 1];
        for (offset e = indptr[v] + (threadIdx.x & 31); e < end; e += 32) {
            const int w = indices[e];
            if (!has_bit(touched + bitmap, w)) set_bit(touched + bitmap, w);
        }
    }
}

// The arrays that the forward sweep reads and writes at a level. `totals` are the rows of `counts`, but where a block's
// rows are not its columns: there they are rows of their own, and frontier and counts are those of columns.
struct Forward {
    int roots;
    const offset* in_indptr;
    const int* in_indices;
    const unsigned* live;
    const unsigned char* frontier;
    unsigned char* visited;
    unsigned* next_live;
    unsigned char* next;
    const value* counts;
    value* totals;
    sum limit;
    unsigned* overflowed;
    const double* class_sizes;
};

// next<!visited> = the columns in which the row is reached from the frontier; its counts are gathered along in-edges.
__device__ __forceinline__ void reach(int n, const Place& at, const Forward& sweep) {
    unsigned char* seen_row = sweep.visited + at.row * BYTES + at.column / 8;
    const unsigned seen = own_bits(seen_row), wanted = ~seen & used_columns(at, sweep.roots);
    const size_t bitmap = at.group * bitmap_words(n);
    unsigned found = 0;
    sum total[OWN] = {};
    if (__any_sync(ALL, wanted)) {  // alike in all warps of a hub, which share the row
        const unsigned char* frontier = sweep.frontier + at.rows * BYTES;
        if constexpr (COUNTS)
            found = gather(sweep.in_indptr, sweep.in_indices, at, sweep.live + bitmap, frontier, wanted,
                           sweep.counts + at.rows * COLUMNS, total, Nothing());
        else
            found = meet(sweep.in_indptr, sweep.in_indices, at, sweep.live + bitmap, frontier, wanted);
    }
    if (at.step > 1 && !join_hub(total, found)) return;
    put_bits(sweep.next + at.row * BYTES + at.column / 8, found);
    if (!__any_sync(ALL, found)) return;
    put_bits(seen_row, seen | found);
    if ((threadIdx.x & 31) == 0) set_bit(sweep.next_live + bitmap, at.v);
    if (!COUNTS || !found) return;
    times_class_sizes(total, at, sweep.class_sizes);
    store_own(sweep.totals + at.row * COLUMNS + at.own_column(), found, total);
    mark_columns(sweep.overflowed, at, found & above(total, sweep.limit));
}

// `touched` is null where the level is large: then all rows are visited.
extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
launch_per_level_forward(int n, int hubs, int roots, const offset* __restrict__ in_indptr,
                            const int* __restrict__ in_indices, const unsigned* __restrict__ live,
                            const unsigned char* __restrict__ frontier, unsigned char* __restrict__ visited,
                            unsigned* next_live, unsigned char* __restrict__ next, const value* counts,
                            value* totals, sum limit, unsigned* overflowed, const unsigned* __restrict__ touched,
                            const double* __restrict__ class_sizes) {
    for_rows(n, hubs, touched, [&](const Place& at) {
        reach(n, at, {roots, in_indptr, in_indices, live, frontier, visited, next_live, next, counts, totals, limit,
                      overflowed, class_sizes});
    });
}
