// A rank's rows between two messages of a level, for matrices that are dealt over ranks in a grid. The product is that
// of launch_per_level_forward.cu, on a rectangular block.
//
// A message has a mask and a number of each row, and the values in the columns of the masks, row after row: `ends[j]`
// values are those of row j and of the rows before. A warp has a row, and a lane the eight columns of a byte of masks.
//
// Rows of all groups are numbered group after group, with so many a group as an array has: of the piece that a rank
// owns, of its grid column, of its block, or of a slice.

// The columns of a row of a message, and the place of the first of its values. A lane has one of 32 columns at a time:
// so a warp reads and writes values that lie side by side.
struct Values {
    unsigned word;  // of the mask: lane w has word w
    offset place;

    __device__ Values(int j, const unsigned char* masks, const offset* ends)
        : word(((const unsigned*)masks)[(size_t)j * WORDS + threadIdx.x % WORDS]), place(j && ends ? ends[j - 1] : 0) {}

    // Call visit(column, place) for each of the values; all lanes take part.
    template <typename Visit>
    __device__ void each(Visit visit) const {
        const int lane = threadIdx.x & 31;
        offset first = place;
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            const unsigned columns = __shfl_sync(ALL, word, w);
            if (columns >> lane & 1) visit(32 * w + lane, first + __popc(columns & ((1u << lane) - 1)));
            first += __popc(columns);
        }
    }
};

// The warp's row of a message.
__device__ __forceinline__ int row_of_warp() { return blockIdx.x * WARPS + threadIdx.x / 32; }

// The number of a row, of `from` a group, in an array with `to` a group, in which the first one is at `shift`.
__device__ __forceinline__ size_t moved(int row, int from, int to, int shift) {
    return (size_t)(row / from) * to + (row % from + shift);
}

// How many columns each row is live in. A thread a row.
extern "C" __global__ void count_bits(int count, const unsigned* __restrict__ masks, offset* sizes) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= count) return;
    int size = 0;
    for (int w = 0; w < WORDS; w++) size += __popc(masks[(size_t)j * WORDS + w]);
    sizes[j] = size;
}

// Write the values of rows.
extern "C" __global__ void pack_values(int count, int from, int to, int shift, const int* __restrict__ rows,
                                       const unsigned char* __restrict__ masks, const offset* __restrict__ ends,
                                       const value* __restrict__ values, value* packed) {
    const int j = row_of_warp();
    if (j >= count) return;
    const value* own = values + moved(rows[j], from, to, shift) * COLUMNS;
    Values(j, masks, ends).each([&](int column, offset i) { packed[i] = own[column]; });
}

// Read the values of rows.
extern "C" __global__ void unpack_values(int count, int from, int to, int shift, const int* __restrict__ rows,
                                         const unsigned char* __restrict__ masks, const offset* __restrict__ ends,
                                         const value* __restrict__ packed, value* values) {
    const int j = row_of_warp();
    if (j >= count) return;
    value* own = values + moved(rows[j], from, to, shift) * COLUMNS;
    Values(j, masks, ends).each([&](int column, offset i) { own[column] = packed[i]; });
}

// Put rows in a bitmap; their bit rows, too, unless these are null. A warp a row.
extern "C" __global__ void mark_rows(int count, int from, int to, int shift, const int* __restrict__ rows,
                                     const unsigned char* __restrict__ masks, unsigned* bitmap, unsigned char* bits) {
    const int j = row_of_warp(), lane = threadIdx.x & 31;
    if (j >= count) return;
    const size_t row = moved(rows[j], from, to, shift);
    if (lane == 0) set_bit(bitmap, (int)row);
    if (bits) bits[row * BYTES + lane] = masks[(size_t)j * BYTES + lane];
}

// counts += 1 for each column of a group in which a row is live.
extern "C" __global__ void count_columns(int count, int from, const int* __restrict__ rows,
                                         const unsigned char* __restrict__ masks, unsigned* counts) {
    const int j = row_of_warp();
    if (j >= count) return;
    unsigned* own = counts + (size_t)(rows[j] / from) * COLUMNS;
    Values(j, masks, nullptr).each([&](int column, offset) { atomicAdd(&own[column], 1u); });
}

// Add the sums of a rank to those of a slice, in which `met` tells the columns that have any.
extern "C" __global__ void add_values(int count, int from, int to, int shift, const int* __restrict__ rows,
                                      const unsigned char* __restrict__ masks, const offset* __restrict__ ends,
                                      const value* __restrict__ packed, const value* __restrict__ packed_paths,
                                      value* totals, value* path_totals, unsigned char* met, unsigned* met_live) {
    const int j = row_of_warp(), lane = threadIdx.x & 31;
    if (j >= count) return;
    const size_t row = moved(rows[j], from, to, shift), own = row * COLUMNS;
    unsigned* met_words = (unsigned*)met + row * WORDS;
    const Values theirs(j, masks, ends);
    theirs.each([&](int column, offset i) {
        const bool is_met = met_words[column / 32] >> column % 32 & 1;
        if (totals) totals[own + column] = (is_met ? totals[own + column] : value(0)) + packed[i];
        if (path_totals) path_totals[own + column] = (is_met ? path_totals[own + column] : value(0)) + packed_paths[i];
    });
    __syncwarp();  // all lanes have read it
    if (lane < WORDS) met_words[lane] |= theirs.word;
    if (lane == 0) set_bit(met_live, (int)row);
}

// Put the sums of rows of a slice, which are path counts, in their places, and mark columns that are out of range.
extern "C" __global__ void close_rows(int count, int from, int to, int shift, const int* __restrict__ rows,
                                      const unsigned char* __restrict__ masks, const value* __restrict__ totals,
                                      value* values, double limit, unsigned* overflowed) {
    const int j = row_of_warp();
    if (j >= count) return;
    const value* total = totals + (size_t)rows[j] * COLUMNS;
    value* closed = values + moved(rows[j], from, to, shift) * COLUMNS;
    unsigned* marked = overflowed + (size_t)(rows[j] / from) * WORDS;
    Values(j, masks, nullptr).each([&](int column, offset) {
        closed[column] = total[column];
        if (total[column] > limit) atomicOr(&marked[column / 32], 1u << column % 32);
    });
}

// The lane's sums of a row of a slice; 0 where none are met.
__device__ __forceinline__ void load_met(const value* totals, size_t row, unsigned met, value* total) {
#pragma unroll
    for (int k = 0; k < OWN; k++) total[k] = 0;
    if (!met) return;
    load_own(totals + row * COLUMNS + OWN * (threadIdx.x & 31), total);
#pragma unroll
    for (int k = 0; k < OWN; k++)
        if (!(met >> k & 1)) total[k] = 0;
}

// Close rows of a level in the backward sweep. `rows` are those of the piece that is owned, `length` a group, whose
// first vertex is `own` of n; sums are those of a slice, `slice` rows a group, which begins at place `first`. `paths`
// and `stress` are null where stress is not asked for, and `squares` where those are not. Scores have a row a group.
extern "C" __global__ void finish_rows(
    int n, int length, int slice, int own, int first, int count, const int* __restrict__ rows,
    const unsigned char* __restrict__ masks, const unsigned char* __restrict__ met, const value* __restrict__ totals,
    const value* __restrict__ path_totals, const double* __restrict__ omega, const double* __restrict__ root_weights,
    value* values, double* scores, value* paths, double* stress, double* squares, int endpoints) {
    const int j = row_of_warp(), lane = threadIdx.x & 31;
    if (j >= count) return;
    Place at(n, own + rows[j] % length, false);
    at.group = rows[j] / length;
    at.rows = (size_t)at.group * n;
    at.row = at.rows + at.v;
    const size_t row = moved(rows[j], length, slice, -first);
    const unsigned mask = masks[(size_t)j * BYTES + lane], found = met[row * BYTES + lane] & mask;
    value* of_group = values + at.rows * COLUMNS;
    value total[OWN];
    if (paths) {
        load_met(path_totals, row, found, total);
        finish<true>(at, n, mask, total, omega, root_weights, nullptr, of_group, paths + at.rows * COLUMNS, stress,
                     nullptr);
    }
    load_met(totals, row, found, total);
    finish<false>(at, n, mask, total, omega, root_weights, nullptr, of_group, of_group, scores, squares);
    if (endpoints) add_score(at, n, __popc(mask), scores);
}
