// Entries of a matrix as keys, row << bits | column, and sorted keys as compressed rows. A vertex number has `bits`
// bits. A thread has an entry, a row pointer or a 4-byte word. `before` (count + 1) counts the flags before each entry.

typedef unsigned long long word;

// Places in a verdict: counts of faults, the bits of the longest length, whether two arrays, or halves of a matrix,
// differ, and whether keys fall.
enum { POINTERS, OUTSIDE, LOOPS, INVALID, LONGEST, UNLIKE, FALLS };

__device__ __forceinline__ offset item_of() { return (offset)blockIdx.x * blockDim.x + threadIdx.x; }

// An index of 4 or of 8 bytes.
__device__ __forceinline__ offset index_at(const void* indices, int bytes, offset i) {
    return bytes == 4 ? (offset)((const int*)indices)[i] : ((const offset*)indices)[i];
}

// The row of an entry, between `first` and `last`, both included.
__device__ __forceinline__ int find_row(const void* indptr, int bytes, int first, int last, offset entry) {
    while (first < last) {
        const int middle = first + (last - first + 1) / 2;
        if (index_at(indptr, bytes, middle) <= entry) first = middle;
        else last = middle - 1;
    }
    return first;
}

extern "C" __global__ void add_numbers(offset count, const double* a, const double* b, double* sums) {
    const offset i = item_of();
    if (i < count) sums[i] = a[i] + b[i];
}

// Count the pointers that break the rise from 0 to at most `stored`, the number of stored columns.
extern "C" __global__ void check_pointers(int n, int bytes, const void* __restrict__ indptr, offset stored,
                                          offset* verdict) {
    const offset i = item_of();
    if (i > n) return;
    const offset here = index_at(indptr, bytes, i), before = i ? index_at(indptr, bytes, i - 1) : 0;
    if (here < before || here > stored || (i == 0 && here)) atomicAdd((word*)&verdict[POINTERS], 1ull);
}

// The row of each entry. A thread block first finds the rows of its first and last entry.
extern "C" __global__ void expand_rows(offset count, int n, int bytes, const void* __restrict__ indptr, int* rows) {
    __shared__ int ends[2];
    const offset first = (offset)blockIdx.x * blockDim.x, last = min(first + blockDim.x, count) - 1;
    if (threadIdx.x < 2) ends[threadIdx.x] = find_row(indptr, bytes, 0, n - 1, threadIdx.x ? last : first);
    __syncthreads();
    const offset i = first + threadIdx.x;
    if (i < count) rows[i] = find_row(indptr, bytes, ends[0], ends[1], i);
}

// The keys of the edges (ways 1), of the reversed edges (2), or of both, one after the other (3). `position` renumbers
// the vertices, if given. A loop gets the largest key, so that loops are sorted to the end; an index outside the matrix
// counts as a loop, too. The payload of an entry is its value, or its place if there are no values.
extern "C" __global__ void entry_keys(offset count, int n, int bits, int ways, const void* __restrict__ rows,
                                      int row_bytes, const void* __restrict__ columns, int column_bytes,
                                      const offset* __restrict__ position, const word* __restrict__ values, word* keys,
                                      word* payload, offset* verdict) {
    const offset i = item_of();
    if (i >= count) return;
    offset row = index_at(rows, row_bytes, i), column = index_at(columns, column_bytes, i);
    if (row < 0 || column < 0 || row >= n || column >= n) {
        atomicAdd((word*)&verdict[OUTSIDE], 1ull);
        row = column = 0;
    }
    const bool loop = row == column;
    if (loop) atomicAdd((word*)&verdict[LOOPS], 1ull);
    if (position) row = position[row], column = position[column];
    const word largest = ((word)1 << 2 * bits) - 1;
    const word key = loop ? largest : (word)row << bits | column;
    const word reversed = loop ? largest : (word)column << bits | row;
    const offset second = ways == 3 ? count + i : i;
    if (ways & 1) keys[i] = key;
    if (ways & 2) keys[second] = reversed;
    if (!payload) return;
    const word value = values ? values[i] : i;
    payload[i] = value;
    payload[second] = value;
}

// Whether a key is not above the one before.
extern "C" __global__ void check_rise(offset count, const word* __restrict__ keys, offset* verdict) {
    const offset i = item_of();
    if (i && i < count && keys[i] <= keys[i - 1]) verdict[FALLS] = 1;
}

// Whether an entry has no mirror image, of the same value, in the row of its column; columns ascend in a row.
extern "C" __global__ void check_mirrored(offset count, const int* __restrict__ rows,
                                          const offset* __restrict__ indptr, const int* __restrict__ indices,
                                          const word* __restrict__ values, offset* verdict) {
    const offset i = item_of();
    if (i >= count || verdict[UNLIKE]) return;
    const int row = rows[i], column = indices[i];
    const offset end = indptr[column + 1];
    offset first = indptr[column], last = end;
    while (first < last) {
        const offset middle = (first + last) / 2;
        if (indices[middle] < row) first = middle + 1;
        else last = middle;
    }
    if (first == end || indices[first] != row || (values && values[first] != values[i])) verdict[UNLIKE] = 1;
}

// Flag the first of each run of equal keys.
extern "C" __global__ void mark_first(offset count, const word* __restrict__ keys, unsigned* flags) {
    const offset i = item_of();
    if (i < count) flags[i] = i == 0 || keys[i] != keys[i - 1];
}

// The columns of distinct keys, and one value each: the smallest of the run, or the sum of the run from left to right.
extern "C" __global__ void merge_runs(offset count, int bits, int smallest, const word* __restrict__ keys,
                                      const unsigned* __restrict__ flags, const offset* __restrict__ before,
                                      const double* __restrict__ values, int* indices, double* merged) {
    const offset i = item_of();
    if (i >= count || !flags[i]) return;
    indices[before[i]] = (int)(keys[i] & (((word)1 << bits) - 1));
    if (!values) return;
    double value = values[i];
    for (offset k = i + 1; k < count && !flags[k]; k++) value = smallest ? fmin(value, values[k]) : value + values[k];
    merged[before[i]] = value;
}

// The columns of keys that are distinct.
extern "C" __global__ void take_columns(offset count, int bits, const word* __restrict__ keys, int* indices) {
    const offset i = item_of();
    if (i < count) indices[i] = (int)(keys[i] & (((word)1 << bits) - 1));
}

// The start of each row: the number of smaller keys, or of distinct smaller keys if `before` is given.
extern "C" __global__ void row_starts(offset count, int n, int bits, const word* __restrict__ keys,
                                      const offset* __restrict__ before, offset* indptr) {
    const offset row = item_of();
    if (row > n) return;
    offset first = 0, last = count;
    while (first < last) {
        const offset middle = (first + last) / 2;
        if (keys[middle] < (word)row << bits) first = middle + 1;
        else last = middle;
    }
    indptr[row] = before ? before[first] : first;
}

// Count the invalid lengths, those <= 0, infinite or NaN, and find the longest valid one: bits of positive floats
// compare as the floats do.
extern "C" __global__ void check_lengths(offset count, const double* __restrict__ lengths, offset* verdict) {
    offset longest = 0;
    for (offset i = item_of(); i < count; i += (offset)gridDim.x * blockDim.x) {
        const double length = lengths[i];
        if (length > 0 && isfinite(length)) longest = max(longest, (offset)__double_as_longlong(length));
        else atomicAdd((word*)&verdict[INVALID], 1ull);
    }
    for (int step = 16; step; step /= 2) longest = max(longest, __shfl_xor_sync(ALL, longest, step));
    if ((threadIdx.x & 31) == 0 && longest) atomicMax(&verdict[LONGEST], longest);
}

// Whether two arrays of 4-byte words differ.
extern "C" __global__ void compare_words(offset count, const unsigned* __restrict__ ours,
                                         const unsigned* __restrict__ theirs, offset* verdict) {
    const offset i = item_of();
    if (i < count && ours[i] != theirs[i]) verdict[UNLIKE] = 1;
}

// The flags of entries as numbers, for prefix sums.
extern "C" __global__ void widen_flags(offset count, const unsigned char* __restrict__ kept, unsigned* flags) {
    const offset i = item_of();
    if (i < count) flags[i] = kept[i] != 0;
}

// The edges whose flag is set: heads, lengths, and places among all edges.
extern "C" __global__ void take_kept(offset count, const unsigned* __restrict__ flags,
                                     const offset* __restrict__ before, const int* __restrict__ indices,
                                     const double* __restrict__ lengths, int* kept_indices, double* kept_lengths,
                                     offset* places) {
    const offset i = item_of();
    if (i >= count || !flags[i]) return;
    kept_indices[before[i]] = indices[i];
    if (lengths) kept_lengths[before[i]] = lengths[i];
    places[before[i]] = i;
}

// taken[i] = from[where[i]]
extern "C" __global__ void gather(offset count, const offset* __restrict__ where, const offset* __restrict__ from,
                                  offset* taken) {
    const offset i = item_of();
    if (i < count) taken[i] = from[where[i]];
}
