// Landmarks, and the bisection of pieces along their principal axes. A thread has a vertex, or a position in the order.
//
// Sums are of integers, and so the same in any order. Floating point is as on the host: no product is fused with a sum.

typedef unsigned long long word;

// Sums of the coordinates of a piece, and of their products.
constexpr int MOMENTS = LANDMARKS + LANDMARKS * (LANDMARKS + 1) / 2;
constexpr int RUN = 256;  // positions of a warp

__device__ __forceinline__ offset item_of() { return (offset)blockIdx.x * blockDim.x + threadIdx.x; }

// The first vertex of each component.
extern "C" __global__ void find_firsts(int n, const int* __restrict__ components, word* firsts) {
    const offset v = item_of();
    if (v < n && (word)v < *(volatile word*)&firsts[components[v]]) atomicMin(&firsts[components[v]], (word)v);
}

// `nearest` takes the smaller distance, the new one at first; the last of the farthest vertices of each component is
// distance << 32 | vertex.
extern "C" __global__ void find_farthest(int n, int is_first, const int* __restrict__ components,
                                         const int* __restrict__ depth, int* nearest, word* farthest) {
    const offset v = item_of();
    if (v >= n) return;
    const int distance = is_first ? depth[v] : min(nearest[v], depth[v]);
    nearest[v] = distance;
    const word key = (word)distance << 32 | (word)v;
    if (key > *(volatile word*)&farthest[components[v]]) atomicMax(&farthest[components[v]], key);
}

// By the rank of the vertex's component.
extern "C" __global__ void component_keys(int n, const int* __restrict__ components, const offset* __restrict__ rank,
                                          word* keys, word* vertices) {
    const offset v = item_of();
    if (v >= n) return;
    keys[v] = rank[components[v]];
    vertices[v] = v;
}

// The piece of each position; starts has one more entry, n.
extern "C" __global__ void find_pieces(int n, int pieces, const offset* __restrict__ starts, int* piece) {
    const offset i = item_of();
    if (i >= n) return;
    int first = 0, last = pieces - 1;
    while (first < last) {
        const int middle = (first + last + 1) / 2;
        if (starts[middle] <= i) first = middle;
        else last = middle - 1;
    }
    piece[i] = first;
}

__device__ __forceinline__ bool is_cut(const offset* starts, int piece, int leaf) {
    return starts[piece + 1] - starts[piece] > leaf;
}

// The moments of the pieces that are cut. A warp has neighbouring positions; where all are of one piece, it adds once.
extern "C" __global__ void sum_moments(int n, int leaf, int shift, const offset* __restrict__ starts,
                                       const int* __restrict__ piece, const word* __restrict__ order,
                                       const int* __restrict__ points, word* moments) {
    const offset first = item_of() / 32 * RUN, end = min(first + RUN, (offset)n);
    if (first >= n) return;
    const bool together = piece[first] == piece[end - 1];
    if (together && !is_cut(starts, piece[first], leaf)) return;
    offset own[MOMENTS] = {};
    for (offset i = first + (threadIdx.x & 31); i < end; i += 32) {
        if (!is_cut(starts, piece[i], leaf)) continue;
        offset x[LANDMARKS];
#pragma unroll
        for (int a = 0; a < LANDMARKS; a++) x[a] = points[(size_t)a * n + order[i]] >> shift;
        int k = LANDMARKS;
#pragma unroll
        for (int a = 0; a < LANDMARKS; a++) {
            own[a] += x[a];
#pragma unroll
            for (int b = a; b < LANDMARKS; b++) own[k++] += x[a] * x[b];
        }
        if (together) continue;
#pragma unroll
        for (int m = 0; m < MOMENTS; m++) {
            atomicAdd(&moments[(size_t)piece[i] * MOMENTS + m], (word)own[m]);
            own[m] = 0;
        }
    }
    if (!together) return;
#pragma unroll
    for (int m = 0; m < MOMENTS; m++) {
#pragma unroll 1  // else most of the time of compiling
        for (int step = 16; step; step /= 2) own[m] += __shfl_xor_sync(ALL, own[m], step);
        if ((threadIdx.x & 31) == 0) atomicAdd(&moments[(size_t)piece[first] * MOMENTS + m], (word)own[m]);
    }
}

// The principal axis of each piece, by power iteration on its covariance.
extern "C" __global__ void find_axes(int pieces, int steps, const offset* __restrict__ starts,
                                     const offset* __restrict__ moments, double* axes) {
    const offset i = item_of();
    if (i >= pieces) return;
    const offset* own = moments + i * MOMENTS;
    const double size = (double)(starts[i + 1] - starts[i]);
    double covariance[LANDMARKS][LANDMARKS], axis[LANDMARKS], next[LANDMARKS];
    int k = LANDMARKS;
#pragma unroll
    for (int a = 0; a < LANDMARKS; a++) {
        axis[a] = 1 + a / (double)(LANDMARKS - 1);
#pragma unroll
        for (int b = a; b < LANDMARKS; b++) {
            const double means = __ddiv_rn(__dmul_rn((double)own[a], (double)own[b]), size);
            covariance[a][b] = covariance[b][a] = __dsub_rn((double)own[k++], means);
        }
    }
    for (int step = 0; step < steps; step++) {
        double longest = 0;
#pragma unroll
        for (int a = 0; a < LANDMARKS; a++) {
            next[a] = 0;
#pragma unroll
            for (int b = 0; b < LANDMARKS; b++) next[a] = __dadd_rn(next[a], __dmul_rn(covariance[a][b], axis[b]));
            longest = __dadd_rn(longest, fabs(next[a]));
        }
        longest = fmax(longest, 1e-30);
#pragma unroll
        for (int a = 0; a < LANDMARKS; a++) axis[a] = __ddiv_rn(next[a], longest);
    }
#pragma unroll
    for (int a = 0; a < LANDMARKS; a++) axes[i * LANDMARKS + a] = axis[a];
}

// The coordinate of each position's vertex along its piece's axis, as bits in the same order; 0 in pieces without cut.
extern "C" __global__ void axis_keys(int n, int leaf, const offset* __restrict__ starts, const int* __restrict__ piece,
                                     const word* __restrict__ order, const int* __restrict__ points,
                                     const double* __restrict__ axes, word* keys, word* positions) {
    const offset i = item_of();
    if (i >= n) return;
    double sum = 0;
    if (is_cut(starts, piece[i], leaf))
#pragma unroll
        for (int a = 0; a < LANDMARKS; a++) {
            const double x = (double)points[(size_t)a * n + order[i]];
            sum = __dadd_rn(sum, __dmul_rn(axes[(size_t)piece[i] * LANDMARKS + a], x));
        }
    const word bits = (word)__double_as_longlong(sum);
    keys[i] = bits >> 63 ? ~bits : bits | (word)1 << 63;
    positions[i] = i;
}

// The keys of positions: their pieces; the payload is the vertex of each.
extern "C" __global__ void piece_keys(int n, const int* __restrict__ piece, const word* __restrict__ positions,
                                      const word* __restrict__ order, word* keys, word* vertices) {
    const offset i = item_of();
    if (i >= n) return;
    keys[i] = piece[positions[i]];
    vertices[i] = order[positions[i]];
}
