// Work on the arrays of a batch around the sweeps, and the survey of the lengths of edges.

typedef unsigned long long word;

constexpr int TILE = 16 * 256;  // lengths of a block whose sum is one number

__device__ __forceinline__ offset item_of() { return (offset)blockIdx.x * blockDim.x + threadIdx.x; }

// Fill with a number of four bytes, or of eight: words of `low` and `high` in turn.
extern "C" __global__ void fill_words(offset count, int low, int high, int* array) {
    const offset i = item_of();
    if (i < count) array[i] = i & 1 ? high : low;
}

// array[where[i]] = items[i], numbers of `bytes` bytes; no two have one place.
extern "C" __global__ void scatter_items(int count, int bytes, const offset* __restrict__ where,
                                         const void* __restrict__ items, void* array) {
    const offset i = item_of();
    if (i >= count) return;
    if (bytes == 1) ((unsigned char*)array)[where[i]] = ((const unsigned char*)items)[i];
    if (bytes == 4) ((int*)array)[where[i]] = ((const int*)items)[i];
    if (bytes == 8) ((word*)array)[where[i]] = ((const word*)items)[i];
}

// Join the sums of the parts of each group, a grid row a group.
extern "C" __global__ void join_sums(int n, int parts, const double* __restrict__ sums, double* joined) {
    const offset row = item_of();
    if (row >= n) return;
    const double* own = sums + (size_t)blockIdx.y * parts * n + row;
    double sum = own[0];
    for (int part = 1; part < parts; part++) sum += own[(size_t)part * n];
    joined[(size_t)blockIdx.y * n + row] = sum;
}

// Add the sums of rows to the caller's vertices; a group has `stride` of these.
extern "C" __global__ void add_sums(int n, offset stride, const offset* __restrict__ order,
                                    const double* __restrict__ scores, double* sums) {
    const offset row = item_of();
    if (row < n) sums[blockIdx.y * stride + order[row]] += scores[(size_t)blockIdx.y * n + row];
}

// Add to each row how many kept roots of its group reach it, and count the rows that each root reaches. A warp takes 32
// rows, whose words of bits it turns column by column. The bits of a byte's place are added at a time, from the lowest.
extern "C" __global__ void add_reached(int n, const unsigned* __restrict__ reached, const unsigned* __restrict__ keep,
                                       double* scores, unsigned* counts) {
    const int lane = threadIdx.x & 31, group = blockIdx.y;
    unsigned kept[WORDS], own[WORDS] = {};
    for (int w = 0; w < WORDS; w++) kept[w] = keep[group * WORDS + w];
    for (offset base = item_of() / 32 * 32; base < n; base += (offset)gridDim.x * blockDim.x) {
        const offset row = base + lane;
        unsigned bits[WORDS];
        for (int w = 0; w < WORDS; w++)
            bits[w] = row < n ? reached[((size_t)group * n + row) * WORDS + w] & kept[w] : 0;
#pragma unroll
        for (int w = 0; w < WORDS; w++)
#pragma unroll 1
            for (int column = 0; column < 32; column++) {
                const unsigned ones = __ballot_sync(ALL, bits[w] >> column & 1);
                if (lane == column) own[w] += __popc(ones);
            }
        if (row >= n) continue;
        double score = scores[(size_t)group * n + row];
        for (int bit = 0; bit < 8; bit++) {
            int count = 0;
            for (int w = 0; w < WORDS; w++) count += __popc(bits[w] & 0x01010101u << bit);
            score += count;
        }
        scores[(size_t)group * n + row] = score;
    }
    for (int w = 0; w < WORDS; w++)
        if (own[w]) atomicAdd(&counts[(size_t)group * COLUMNS + w * 32 + lane], own[w]);
}

// Add to each root the count of rows that it reaches; it was counted as reaching itself, at both ends.
extern "C" __global__ void add_roots(int count, const offset* __restrict__ rows, const offset* __restrict__ columns,
                                     const unsigned* __restrict__ keep, const unsigned* __restrict__ counts,
                                     double* scores) {
    const offset i = item_of();
    if (i >= count) return;
    const offset column = columns[i];
    scores[rows[i]] += counts[column] - 2.0 * (keep[column / 32] >> column % 32 & 1);
}

// The extremes of lengths as bits, whose order is that of the lengths: found[0] the shortest, found[1] the longest;
// found[2]: whether one is no integer. Each block's sum of length / divisor is along a tree of its own.
extern "C" __global__ void survey_lengths(offset count, double divisor, const double* __restrict__ lengths, word* found,
                                          double* sums) {
    __shared__ double parts[WARPS];
    word shortest = ~(word)0, longest = 0;
    double sum = 0;
    bool fraction = false;
    const offset first = (offset)blockIdx.x * TILE + threadIdx.x;
    for (offset i = first; i < min(count, (offset)(blockIdx.x + 1) * TILE); i += blockDim.x) {
        const word bits = (word)__double_as_longlong(lengths[i]);
        shortest = min(shortest, bits), longest = max(longest, bits);
        fraction |= lengths[i] != floor(lengths[i]);
        sum += lengths[i] / divisor;
    }
    for (int step = 16; step; step /= 2) {
        shortest = min(shortest, __shfl_xor_sync(ALL, shortest, step));
        longest = max(longest, __shfl_xor_sync(ALL, longest, step));
    }
    sum = warp_sum(sum);
    if (fraction) found[2] = 1;
    if ((threadIdx.x & 31) == 0) {
        atomicMin(&found[0], shortest);
        atomicMax(&found[1], longest);
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < WARPS; w++) sum += parts[w];
    sums[blockIdx.x] = sum;
}

// Lengths as numbers of 4 or 8 bytes.
extern "C" __global__ void convert_lengths(offset count, int bytes, const double* __restrict__ lengths,
                                           void* converted) {
    const offset i = item_of();
    if (i >= count) return;
    if (bytes == 4) ((float*)converted)[i] = (float)lengths[i];
    else ((double*)converted)[i] = lengths[i];
}

// Number the ends of edges anew.
extern "C" __global__ void number_ends(offset count, const int* __restrict__ ends, const offset* __restrict__ position,
                                       int* numbered) {
    const offset i = item_of();
    if (i < count) numbered[i] = (int)position[ends[i]];
}

// Count the set flags.
extern "C" __global__ void count_flags(offset count, const unsigned char* __restrict__ flags, word* found) {
    word own = 0;
    for (offset i = item_of(); i < count; i += (offset)gridDim.x * blockDim.x) own += flags[i] != 0;
    for (int step = 16; step; step /= 2) own += __shfl_xor_sync(ALL, own, step);
    if ((threadIdx.x & 31) == 0 && own) atomicAdd(found, own);
}
