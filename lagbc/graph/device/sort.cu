// Prefix sums, and a stable radix sort of 64-bit keys with a 64-bit payload each.
//
// A thread block takes a tile of the items. Each of its results has one place, so the order of blocks does not matter.

typedef unsigned long long word;

constexpr int THREADS = 256, WARPS = THREADS / 32, DIGITS = 256;
constexpr int ITEMS = 16;                  // of a thread
constexpr int TILE = THREADS * ITEMS;

// Sum over the threads of the block before this one, and over all.
__device__ __forceinline__ offset sum_before(offset own, offset* all) {
    __shared__ offset sums[WARPS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    offset sum = own;
    for (int step = 1; step < 32; step *= 2) {
        const offset below = __shfl_up_sync(ALL, sum, step);
        if (lane >= step) sum += below;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    offset before = 0, total = 0;
    for (int w = 0; w < WARPS; w++) {
        if (w < warp) before += sums[w];
        total += sums[w];
    }
    __syncthreads();
    *all = total;
    return before + sum - own;
}

// before[i] = the sum of its tile's counts before i; tiles[t] = the sum of tile t.
extern "C" __global__ void scan_tiles(offset count, const unsigned* __restrict__ counts, offset* before,
                                      offset* tiles) {
    const offset first = (offset)blockIdx.x * TILE + threadIdx.x * ITEMS;
    offset own = 0, total;
    for (int k = 0; k < ITEMS; k++)
        if (first + k < count) own += counts[first + k];
    offset sum = sum_before(own, &total);
    for (int k = 0; k < ITEMS; k++)
        if (first + k < count) {
            before[first + k] = sum;
            sum += counts[first + k];
        }
    if (threadIdx.x == 0) tiles[blockIdx.x] = total;
}

// One thread block: each tile's sum becomes the sum of the tiles before it; one more entry has the sum of all.
extern "C" __global__ void scan_sums(int number, offset* tiles) {
    offset before = 0;
    for (int first = 0; first < number; first += THREADS) {
        const int tile = first + threadIdx.x;
        offset total;
        const offset sum = sum_before(tile < number ? tiles[tile] : 0, &total);
        if (tile < number) tiles[tile] = before + sum;
        before += total;
    }
    if (threadIdx.x == 0) tiles[number] = before;
}

// Add the sum of the tiles before; one more entry has the sum of all.
extern "C" __global__ void scan_join(offset count, int number, const offset* __restrict__ tiles, offset* before) {
    const offset i = (offset)blockIdx.x * THREADS + threadIdx.x;
    if (i < count) before[i] += tiles[i / TILE];
    if (i == count) before[i] = tiles[number];
}

// counts[digit, tile] = the number of keys of the tile with this digit.
extern "C" __global__ void sort_count(offset count, int shift, const word* __restrict__ keys, unsigned* counts) {
    __shared__ unsigned own[DIGITS];
    own[threadIdx.x] = 0;
    __syncthreads();
    const offset first = (offset)blockIdx.x * TILE + threadIdx.x;
    for (int k = 0; k < ITEMS; k++) {
        const offset i = first + k * THREADS;
        if (i < count) atomicAdd(&own[keys[i] >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    counts[(offset)threadIdx.x * gridDim.x + blockIdx.x] = own[threadIdx.x];
}

// Place the keys of a tile behind keys of lower digits, and keys of the same digit in tiles before. A warp has
// neighbouring items, 32 at a time, and counts its own earlier items with the same digit.
extern "C" __global__ void sort_scatter(offset count, int shift, const word* __restrict__ keys,
                                        const word* __restrict__ payload, const offset* __restrict__ before,
                                        word* sorted, word* sorted_payload) {
    __shared__ unsigned own[WARPS][DIGITS];
    __shared__ offset start[DIGITS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (int w = 0; w < WARPS; w++) own[w][threadIdx.x] = 0;
    __syncthreads();
    const offset first = (offset)blockIdx.x * TILE + warp * (32 * ITEMS) + lane;
    unsigned rank[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const offset i = first + k * 32;
        const unsigned digit = i < count ? keys[i] >> shift & (DIGITS - 1) : DIGITS;
        const unsigned alike = __match_any_sync(ALL, digit);
        const unsigned earlier = __popc(alike & ((1u << lane) - 1));
        rank[k] = digit < DIGITS ? own[warp][digit] + earlier : 0;
        __syncwarp();
        if (digit < DIGITS && earlier == 0) own[warp][digit] += __popc(alike);
        __syncwarp();
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < WARPS; w++) {
        const unsigned here = own[w][threadIdx.x];
        own[w][threadIdx.x] = sum;
        sum += here;
    }
    start[threadIdx.x] = before[(offset)threadIdx.x * gridDim.x + blockIdx.x];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const offset i = first + k * 32;
        if (i >= count) continue;
        const word key = keys[i];
        const unsigned digit = key >> shift & (DIGITS - 1);
        const offset place = start[digit] + own[warp][digit] + rank[k];
        sorted[place] = key;
        if (payload) sorted_payload[place] = payload[i];
    }
}
