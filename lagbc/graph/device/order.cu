// Components, extents, and the keys by which vertices are sorted. A thread has a vertex, or an edge.

typedef unsigned long long word;

__device__ __forceinline__ offset item_of() { return (offset)blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void label_vertices(int n, int* labels) {
    const offset v = item_of();
    if (v < n) labels[v] = (int)v;
}

// The root of the tree of a vertex, its smallest vertex; the path to it is halved.
__device__ __forceinline__ int find(volatile int* labels, int v) {
    for (int up = labels[v]; up != v; up = labels[v]) {
        const int next = labels[up];
        if (next != up) labels[v] = next;
        v = up;
    }
    return v;
}

// Join the ends of each edge: the larger of two trees' roots is put under the smaller, so that a root is the first
// vertex of its tree.
extern "C" __global__ void join_ends(offset count, const int* __restrict__ rows, const int* __restrict__ indices,
                                     int* labels) {
    const offset i = item_of();
    if (i >= count) return;
    int a = find(labels, rows[i]), b = find(labels, indices[i]);
    while (a != b) {
        const int low = min(a, b), high = max(a, b);
        const int was = atomicCAS(&labels[high], high, low);
        if (was == high) return;
        a = find(labels, low), b = find(labels, was);
    }
}

// Flag the first vertex of each tree, and put all others right under it. No path is halved here: that could undo the
// move of a vertex right under its root.
extern "C" __global__ void flatten_trees(int n, int* labels, unsigned* flags) {
    const offset v = item_of();
    if (v >= n) return;
    int root = (int)v;
    for (int up = ((volatile int*)labels)[root]; up != root; up = ((volatile int*)labels)[root]) root = up;
    labels[v] = root;
    flags[v] = root == v;
}

extern "C" __global__ void number_trees(int n, const int* __restrict__ labels, const offset* __restrict__ before,
                                        int* components) {
    const offset v = item_of();
    if (v < n) components[v] = (int)before[labels[v]];
}

// The size of each component. Lanes of a warp with vertices of the same component add once.
extern "C" __global__ void count_members(int n, const int* __restrict__ components, unsigned* sizes) {
    const offset v = item_of();
    const int component = v < n ? components[v] : -1;
    const unsigned alike = __match_any_sync(ALL, component);
    if (component >= 0 && (alike & ((1u << (threadIdx.x & 31)) - 1)) == 0) atomicAdd(&sizes[component], __popc(alike));
}

// found[0]: the first of the longest rows, as length << 32 | ~row; found[1]: the number of rows with entries; among all
// rows, or the rows of one component.
extern "C" __global__ void find_widest(int n, const offset* __restrict__ indptr, const int* __restrict__ components,
                                       int component, word* found) {
    word widest = 0, filled = 0;
    for (offset v = item_of(); v < n; v += (offset)gridDim.x * blockDim.x) {
        if (components && components[v] != component) continue;
        const word length = indptr[v + 1] - indptr[v];
        widest = max(widest, length << 32 | (0xffffffffu - (unsigned)v));
        filled += length != 0;
    }
    for (int step = 16; step; step /= 2) {
        widest = max(widest, __shfl_xor_sync(ALL, widest, step));
        filled += __shfl_xor_sync(ALL, filled, step);
    }
    if (threadIdx.x & 31) return;
    atomicMax(&found[0], widest);
    atomicAdd(&found[1], filled);
}

// Roots of a search, in the low 32 bits, at depth 0.
extern "C" __global__ void set_roots(int count, const word* __restrict__ roots, int* depth) {
    const offset i = item_of();
    if (i < count) depth[(unsigned)roots[i]] = 0;
}

// found[0]: the largest depth; found[1]: the number of vertices with one.
extern "C" __global__ void find_extent(offset count, const int* __restrict__ depth, word* found) {
    word deepest = 0, reached = 0;
    for (offset v = item_of(); v < count; v += (offset)gridDim.x * blockDim.x) {
        if (depth[v] < 0) continue;
        deepest = max(deepest, (word)depth[v]);
        reached++;
    }
    for (int step = 16; step; step /= 2) {
        deepest = max(deepest, __shfl_xor_sync(ALL, deepest, step));
        reached += __shfl_xor_sync(ALL, reached, step);
    }
    if (threadIdx.x & 31) return;
    atomicMax(&found[0], deepest);
    atomicAdd(&found[1], reached);
}

// By falling degree.
extern "C" __global__ void degree_keys(int n, offset nnz, const offset* __restrict__ indptr, word* keys,
                                       word* vertices) {
    const offset v = item_of();
    if (v >= n) return;
    keys[v] = nnz - (indptr[v + 1] - indptr[v]);
    vertices[v] = v;
}

// Vertices without edges last.
extern "C" __global__ void isolated_keys(int n, const offset* __restrict__ indptr, const word* __restrict__ vertices,
                                         word* keys) {
    const offset i = item_of();
    if (i < n) keys[i] = indptr[vertices[i] + 1] == indptr[vertices[i]];
}

extern "C" __global__ void find_places(int n, const offset* __restrict__ order, offset* places) {
    const offset i = item_of();
    if (i < n) places[order[i]] = i;
}

// By hop distances to eight hubs from the `first` on, a byte each, the first hub's above all.
extern "C" __global__ void hub_keys(int count, int n, int first, int hubs, const int* __restrict__ distances,
                                    const word* __restrict__ vertices, word* keys) {
    const offset i = item_of();
    if (i >= count) return;
    word key = 0;
    for (int hub = first; hub < first + 8; hub++)
        key = key << 8 | (hub < hubs ? distances[(size_t)hub * n + vertices[i]] : 0);
    keys[i] = key;
}
