// What the kernels of the batched method share.
//
// 256 roots are the 256 columns of a group. Lane l of a warp owns columns 8l..8l+7 of a row: byte l of the row's 256
// bits, and 8 numbers of its 256 values. Rows are in sweep order; a group's arrays follow those of the group before.
//
// VALUE (double or float) is the type of path counts and dependencies; sums of scores are double.

typedef VALUE value;
typedef long long offset;

constexpr int COLUMNS = 256;
constexpr int BYTES = COLUMNS / 8;   // of a bit row
constexpr int WORDS = COLUMNS / 32;  // of a bit row
constexpr int OWN = COLUMNS / 32;    // columns of a lane
constexpr int WARPS = 8;             // of a block
constexpr int EDGES = 4;             // whose bits are loaded before the first of them is used
constexpr unsigned ALL = 0xffffffffu;

// Above this 1 / sigma loses bits (float: is flushed to zero), and the root is recounted with an extended exponent.
__device__ constexpr value SIGMA_LIMIT = sizeof(value) == 4 ? 8.507059173023462e37 : 4.49423283715579e307;

// Four neighbouring columns: one 32-byte sector of doubles, half a sector of floats.
struct Four {
    value x[4];
};

__device__ __forceinline__ Four load_four(const value* p) {
    Four four;
    if constexpr (sizeof(value) == 4) {
        float4 a = *(const float4*)p;
        four.x[0] = a.x, four.x[1] = a.y, four.x[2] = a.z, four.x[3] = a.w;
    } else {
        double2 a = ((const double2*)p)[0], b = ((const double2*)p)[1];
        four.x[0] = a.x, four.x[1] = a.y, four.x[2] = b.x, four.x[3] = b.y;
    }
    return four;
}

__device__ __forceinline__ void store_four(value* p, const value* x) {
    if constexpr (sizeof(value) == 4) {
        *(float4*)p = make_float4(x[0], x[1], x[2], x[3]);
    } else {
        ((double2*)p)[0] = make_double2(x[0], x[1]);
        ((double2*)p)[1] = make_double2(x[2], x[3]);
    }
}

// total += where(meet, row, 0) on a lane's 8 columns; a half without a bit is not read.
__device__ __forceinline__ void add_row(const value* row, unsigned meet, value* total) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        unsigned bits = meet >> (4 * half) & 15;
        if (bits) {
            Four four = load_four(row + 4 * half);
#pragma unroll
            for (int k = 0; k < 4; k++) total[4 * half + k] += bits >> k & 1 ? four.x[k] : value(0);
        }
    }
}

// row = where(mask, x, row) on a lane's 8 columns.
__device__ __forceinline__ void put_row(value* row, unsigned mask, const value* x) {
#pragma unroll
    for (int half = 0; half < 2; half++) {
        unsigned bits = mask >> (4 * half) & 15;
        if (bits == 15) {
            store_four(row + 4 * half, x + 4 * half);
        } else {
#pragma unroll
            for (int k = 0; k < 4; k++)
                if (bits >> k & 1) row[4 * half + k] = x[4 * half + k];
        }
    }
}

// total = sum over the edges of where(bits[u] & wanted, values[u], 0); returns the columns met. A warp takes the edges
// 32 first, 32 (first + step), ... of the row, so that `step` warps share a hub; without sharing they come in row order.
__device__ __forceinline__ unsigned gather(const offset* indptr, const int* indices, int v, int first, int step,
                                           const unsigned char* bits, unsigned wanted, const value* values,
                                           value* total) {
    const int lane = threadIdx.x & 31;
    const offset end = indptr[v + 1];
    unsigned met = 0;
    for (offset base = indptr[v] + 32 * first; base < end; base += 32 * step) {
        const int mine = base + lane < end ? indices[base + lane] : 0;
        const int count = min((offset)32, end - base);
        for (int j = 0; j < count; j += EDGES) {
            int u[EDGES];
            unsigned meet[EDGES];
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                u[i] = __shfl_sync(ALL, mine, (j + i) & 31);
                meet[i] = j + i < count ? bits[(size_t)u[i] * BYTES + lane] & wanted : 0;
            }
#pragma unroll
            for (int i = 0; i < EDGES; i++) {
                met |= meet[i];
                if (meet[i]) add_row(values + (size_t)u[i] * COLUMNS + OWN * lane, meet[i], total);
            }
        }
    }
    return met;
}

// Keep the counts of newly reached columns, and note the columns that left the range.
__device__ __forceinline__ void put_counts(value* values, int v, unsigned found, const value* total,
                                           unsigned char* overflowed) {
    const int lane = threadIdx.x & 31;
    if (!found) return;
    put_row(values + (size_t)v * COLUMNS + OWN * lane, found, total);
    unsigned above = 0;
#pragma unroll
    for (int k = 0; k < OWN; k++) above |= (total[k] > SIGMA_LIMIT ? 1u : 0u) << k;
    if (above & found) atomicOr((unsigned*)overflowed + lane / 4, (above & found) << (8 * (lane % 4)));
}

// Close a vertex: with sigma in its row and `total` the sum of c over its tight successors, write
// c = omega / sigma + total over sigma, and add the sum over the masked columns of multiplicity * sigma * total to its
// score. Only the warp that owns row v calls this, once a level, so that the score needs no atomic.
__device__ __forceinline__ void finish_row(value* values, int v, unsigned mask, const value* total,
                                           const double* omega, const double* multiplicity, double* scores) {
    const int lane = threadIdx.x & 31;
    double delta = 0;
    if (mask) {
        value* row = values + (size_t)v * COLUMNS + OWN * lane;
        const value targets = omega ? value(omega[v]) : value(1);
        value c[OWN];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned bits = mask >> (4 * half) & 15;
            if (!bits) continue;
            Four sigma = load_four(row + 4 * half);
#pragma unroll
            for (int k = 0; k < 4; k++) {
                const int own = 4 * half + k;
                if (bits >> k & 1) {
                    const double times = multiplicity ? multiplicity[OWN * lane + own] : 1.0;
                    delta += times * ((double)sigma.x[k] * (double)total[own]);
                }
                c[own] = targets / sigma.x[k] + total[own];
            }
        }
        put_row(row, mask, c);
    }
    for (int step = 16; step; step >>= 1) delta += __shfl_down_sync(ALL, delta, step);
    if (lane == 0 && delta != 0) scores[v] += delta;
}

// Columns of a lane that hold roots, for a group of `roots` of them.
__device__ __forceinline__ unsigned lane_columns(int roots) {
    const int own = roots - OWN * (int)(threadIdx.x & 31);
    return own >= OWN ? 0xffu : own <= 0 ? 0u : (1u << own) - 1;
}
