// One launch a level, for graphs of few levels: masked sparse matrix products by pull over all rows.
//
// A lane owns OWN neighbouring columns, one 32-byte sector of values, so that a warp has a part of a group: 128 columns
// of doubles or 256 of floats. Block (x, y, z): y is the group and z the part. The first `hubs` blocks take one row each
// with all their warps; the others take a row a warp. Rows are in order of falling degree, so the long ones start first.
// Every row is written by its owner alone.
//
// Two masks are tested before any value is read: a bit a vertex says whether its row is on the frontier at all (32
// edges at once), its bit row in which columns.

constexpr int OWN = 32 / sizeof(value);
constexpr int PART = 32 * OWN;          // columns of a warp
constexpr int EDGES = 4;                // whose bits are loaded before the first of them is used
constexpr unsigned FULL = (1u << OWN) - 1;

// The lane's bits of a bit row, from its part on.
__device__ __forceinline__ unsigned own_bits(const unsigned char* row) {
    const int lane = threadIdx.x & 31;
    return OWN == 8 ? row[lane] : row[lane / 2] >> 4 * (lane & 1) & FULL;
}

// Write the lanes' bits to a bit row, from its part on; all lanes take part.
__device__ __forceinline__ void put_bits(unsigned char* row, unsigned bits) {
    const int lane = threadIdx.x & 31;
    if constexpr (OWN == 8) {
        row[lane] = bits;
    } else {
        const unsigned above = __shfl_down_sync(ALL, bits, 1);
        if (lane % 2 == 0) row[lane / 2] = bits | above << 4;
    }
}

__device__ __forceinline__ void load_own(const value* p, value* x) {
    if constexpr (sizeof(value) == 4) {
        const float4 a = ((const float4*)p)[0], b = ((const float4*)p)[1];
        x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w, x[4] = b.x, x[5] = b.y, x[6] = b.z, x[7] = b.w;
    } else {
        const double2 a = ((const double2*)p)[0], b = ((const double2*)p)[1];
        x[0] = a.x, x[1] = a.y, x[2] = b.x, x[3] = b.y;
    }
}

// p = where(mask, x, p)
__device__ __forceinline__ void store_own(value* p, unsigned mask, const value* x) {
    if (mask == FULL) {
        if constexpr (sizeof(value) == 4) {
            ((float4*)p)[0] = make_float4(x[0], x[1], x[2], x[3]);
            ((float4*)p)[1] = make_float4(x[4], x[5], x[6], x[7]);
        } else {
            ((double2*)p)[0] = make_double2(x[0], x[1]);
            ((double2*)p)[1] = make_double2(x[2], x[3]);
        }
    } else {
#pragma unroll
        for (int k = 0; k < OWN; k++)
            if (mask >> k & 1) p[k] = x[k];
    }
}

// Where this warp stands in the arrays.
struct Place {
    int v, first, step;     // its row, and its share of the row's edges: 32 first, 32 (first + step), ...
    size_t row;             // of the vertex among those of all groups
    size_t rows;            // before the group's
    int group, column;      // the first column of the part
    bool valid;

    __device__ Place(int n, int hubs) {
        const int warp = threadIdx.x / 32;
        const bool hub = blockIdx.x < hubs;
        v = hub ? blockIdx.x : hubs + (blockIdx.x - hubs) * WARPS + warp;
        first = hub ? warp : 0;
        step = hub ? WARPS : 1;
        valid = v < n;
        group = blockIdx.y;
        column = blockIdx.z * PART;
        rows = (size_t)group * n;
        row = rows + v;
    }
    __device__ int own_column() const { return column + OWN * (threadIdx.x & 31); }
};

__device__ __forceinline__ bool has_bit(const unsigned* bitmap, int v) { return bitmap[v / 32] >> v % 32 & 1; }

// total += sum over the warp's edges of where(bits[u] & wanted, values[u], 0); returns the columns met.
__device__ __forceinline__ unsigned gather(const offset* indptr, const int* indices, const Place& at,
                                           const unsigned* live, const unsigned char* bits, unsigned wanted,
                                           const value* values, value* total) {
    const int lane = threadIdx.x & 31;
    const offset end = indptr[at.v + 1];
    bits += at.column / 8;
    values += at.own_column();
    unsigned met = 0;
    for (offset base = indptr[at.v] + 32 * at.first; base < end; base += 32 * at.step) {
        const int mine = base + lane < end ? indices[base + lane] : -1;
        unsigned todo = __ballot_sync(ALL, mine >= 0 && has_bit(live, mine));
        while (todo) {
            int u[EDGES];
            unsigned meet[EDGES];
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                u[i] = __shfl_sync(ALL, mine, todo ? __ffs(todo) - 1 : 0);
                meet[i] = todo ? own_bits(bits + (size_t)u[i] * BYTES) & wanted : 0;
                todo &= todo - 1;
            }
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                met |= meet[i];
                if (meet[i]) {
                    value x[OWN];
                    load_own(values + (size_t)u[i] * COLUMNS, x);
#pragma unroll
                    for (int k = 0; k < OWN; k++) total[k] += meet[i] >> k & 1 ? x[k] : value(0);
                }
            }
        }
    }
    return met;
}

// Sum the parts of a hub's warps in the order of the warps; true for the warp that goes on.
__device__ __forceinline__ bool join_hub(value* total, unsigned& met) {
    __shared__ value totals[WARPS][OWN][32];
    __shared__ unsigned mets[WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
#pragma unroll
    for (int k = 0; k < OWN; k++) totals[warp][k][lane] = total[k];
    mets[warp][lane] = met;
    __syncthreads();
    if (warp) return false;
    for (int w = 1; w < WARPS; w++) {
#pragma unroll
        for (int k = 0; k < OWN; k++) total[k] += totals[w][k][lane];
        met |= mets[w][lane];
    }
    return true;
}

// Level 1: every out-neighbour of a root has one path from it. A block a root.
extern "C" __global__ void batched_hops_first(int n, const offset* __restrict__ positions,
                                              const offset* __restrict__ columns, const offset* __restrict__ indptr, const int* __restrict__ indices,
                                              unsigned* visited, unsigned* next, unsigned* next_live, value* values,
                                              int* any) {
    const int group = columns[blockIdx.x] / COLUMNS, column = columns[blockIdx.x] % COLUMNS;
    const size_t rows = (size_t)group * n;
    const offset v = positions[blockIdx.x], end = indptr[v + 1];
    for (offset e = indptr[v] + threadIdx.x; e < end; e += blockDim.x) {
        const int w = indices[e];
        const unsigned bit = 1u << column % 32;
        atomicOr(&visited[(rows + w) * WORDS + column / 32], bit);
        atomicOr(&next[(rows + w) * WORDS + column / 32], bit);
        atomicOr(&next_live[(size_t)group * ((n + 31) / 32) + w / 32], 1u << w % 32);
        values[(rows + w) * COLUMNS + column] = 1;
        *any = 1;
    }
}

// next<!visited> = rows reached from the frontier; their counts are gathered along in-edges.
extern "C" __global__ void __launch_bounds__(32 * WARPS, LEVELS_RESIDENT)
batched_hops_forward(int n, int hubs, int roots, const offset* __restrict__ in_indptr,
                     const int* __restrict__ in_indices, const unsigned* __restrict__ live,
                     const unsigned char* __restrict__ frontier, unsigned char* __restrict__ visited,
                     unsigned* next_live, unsigned char* __restrict__ next, value* values, value sigma_limit,
                     unsigned* overflowed, int* any) {
    const Place at(n, hubs);
    if (!at.valid) return;
    const int lane = threadIdx.x & 31;
    const int unused = at.own_column() + OWN - min(roots - at.group * COLUMNS, COLUMNS);
    const unsigned columns = unused >= OWN ? 0 : FULL >> max(unused, 0);
    unsigned char* seen_row = visited + at.row * BYTES + at.column / 8;
    const unsigned seen = own_bits(seen_row), wanted = ~seen & columns;
    const size_t bitmap = (size_t)at.group * ((n + 31) / 32);
    values += at.rows * COLUMNS;
    unsigned found = 0;
    value total[OWN] = {};
    if (__any_sync(ALL, wanted))  // alike in all warps of a hub, which share the row
        found = gather(in_indptr, in_indices, at, live + bitmap, frontier + at.rows * BYTES, wanted, values, total);
    if (at.step > 1 && !join_hub(total, found)) return;
    put_bits(next + at.row * BYTES + at.column / 8, found);
    if (!__any_sync(ALL, found)) return;
    put_bits(seen_row, seen | found);
    if (lane == 0) {
        atomicOr(&next_live[bitmap + at.v / 32], 1u << at.v % 32);
        *any = 1;
    }
    if (!found) return;
    store_own(values + (size_t)at.v * COLUMNS + at.own_column(), found, total);
#pragma unroll
    for (int k = 0; k < OWN; k++)
        if (found >> k & 1 && total[k] > sigma_limit) {
            const int column = at.own_column() + k;
            atomicOr(&overflowed[at.group * WORDS + column / 32], 1u << column % 32);
        }
}

// At one level: with sigma in its row and `total` the sum of c over tight successors, which the next level holds, each
// vertex gets c = omega / sigma + total in place of sigma, and multiplicity * sigma * total is added to its score.
// scores has a row a group and part. `beyond` is null at the last level.
extern "C" __global__ void __launch_bounds__(32 * WARPS, LEVELS_RESIDENT)
batched_hops_backward(int n, int hubs, const offset* __restrict__ indptr, const int* __restrict__ indices,
                      const unsigned* __restrict__ here_live, const unsigned char* __restrict__ here,
                      const unsigned* __restrict__ beyond_live, const unsigned char* __restrict__ beyond,
                      const unsigned char* __restrict__ keep, const double* __restrict__ omega,
                      const double* __restrict__ multiplicity, value* values, double* scores) {
    const Place at(n, hubs);
    if (!at.valid) return;
    const size_t bitmap = (size_t)at.group * ((n + 31) / 32);
    if (!has_bit(here_live + bitmap, at.v)) return;
    const unsigned mask = own_bits(here + at.row * BYTES + at.column / 8) &
                          own_bits(keep + at.group * BYTES + at.column / 8);
    if (!__any_sync(ALL, mask)) return;  // alike in all warps of a hub
    values += at.rows * COLUMNS;
    value total[OWN] = {};
    unsigned met = 0;
    if (beyond)
        met = gather(indptr, indices, at, beyond_live + bitmap, beyond + at.rows * BYTES, mask, values, total);
    if (at.step > 1 && !join_hub(total, met)) return;
    double delta = 0;
    if (mask) {
        value* row = values + (size_t)at.v * COLUMNS + at.own_column();
        const value targets = omega ? value(omega[at.v]) : value(1);
        value x[OWN];
        load_own(row, x);
#pragma unroll
        for (int k = 0; k < OWN; k++) {
            if (mask >> k & 1) {
                const double times = multiplicity ? multiplicity[at.group * COLUMNS + at.own_column() + k] : 1.0;
                delta += times * ((double)x[k] * (double)total[k]);
            }
            x[k] = targets / x[k] + total[k];
        }
        store_own(row, mask, x);
    }
    delta = warp_sum(delta);
    if ((threadIdx.x & 31) == 0 && delta != 0)
        scores[((size_t)at.group * (COLUMNS / PART) + blockIdx.z) * n + at.v] += delta;
}
