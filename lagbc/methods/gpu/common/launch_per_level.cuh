// Parts that kernels share which take a launch a level and pull over all rows.
//
// A lane owns OWN neighbouring columns, so that a warp has a part of a group: all 256 columns or 128 of them. Block
// (x, y, z): y is the group and z the part. The first `hubs` blocks take one row each with all their warps; the others
// take a row a warp. Rows are in order of falling degree, so the long ones start first. Every row is written by its
// owner alone.

constexpr int OWN = OWN_COLUMNS;        // 4 or 8
constexpr int PART = 32 * OWN;          // columns of a warp
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

// Sixteen bytes.
template <typename T>
struct Vector;
template <>
struct Vector<float> {
    typedef float4 type;
};
template <>
struct Vector<unsigned> {
    typedef uint4 type;
};
template <>
struct Vector<double> {
    typedef double2 type;
};

template <int COUNT, typename T>
__device__ __forceinline__ void load(const T* p, T* x) {
    typedef typename Vector<T>::type vector;
    constexpr int WIDTH = sizeof(vector) / sizeof(T);
#pragma unroll
    for (int i = 0; i < COUNT / WIDTH; i++) {
        const vector parts = ((const vector*)p)[i];
#pragma unroll
        for (int k = 0; k < WIDTH; k++) x[i * WIDTH + k] = ((const T*)&parts)[k];
    }
}

template <typename T>
__device__ __forceinline__ void load_own(const T* p, T* x) {
    load<OWN>(p, x);
}

// x = p in each 32-byte sector with one of `columns`, at least one of which is set; 0 in the other sectors.
template <typename T>
__device__ __forceinline__ void load_sectors(const T* p, unsigned columns, T* x) {
    constexpr int SECTOR = 32 / sizeof(T) < OWN ? 32 / sizeof(T) : OWN;
#pragma unroll
    for (int first = 0; first < OWN; first += SECTOR) {
        if (SECTOR == OWN || columns >> first & (1u << SECTOR) - 1) {
            load<SECTOR>(p + first, x + first);
        } else {
#pragma unroll
            for (int k = 0; k < SECTOR; k++) x[first + k] = 0;
        }
    }
}

// Call visit(k, p[k]) for the columns of every 32-byte sector of p with one of `columns`.
template <typename T, typename Visit>
__device__ __forceinline__ void for_sectors(const T* p, unsigned columns, Visit visit) {
    constexpr int SECTOR = 32 / sizeof(T) < OWN ? 32 / sizeof(T) : OWN;
#pragma unroll
    for (int first = 0; first < OWN; first += SECTOR)
        if (columns >> first & (1u << SECTOR) - 1) {
            T x[SECTOR];
            load<SECTOR>(p + first, x);
#pragma unroll
            for (int k = 0; k < SECTOR; k++) visit(first + k, x[k]);
        }
}

// p = where(mask, x, p)
template <typename T, typename X>
__device__ __forceinline__ void store_own(T* p, unsigned mask, const X* x) {
    typedef typename Vector<T>::type vector;
    constexpr int WIDTH = sizeof(vector) / sizeof(T);
    if (mask == FULL) {
#pragma unroll
        for (int i = 0; i < OWN / WIDTH; i++) {
            vector parts;
#pragma unroll
            for (int k = 0; k < WIDTH; k++) ((T*)&parts)[k] = T(x[i * WIDTH + k]);
            ((vector*)p)[i] = parts;
        }
    } else {
#pragma unroll
        for (int k = 0; k < OWN; k++)
            if (mask >> k & 1) p[k] = T(x[k]);
    }
}

// The warp's place in the arrays.
struct Place {
    int v, first, step;     // its row, and its share of the row's edges: 32 first, 32 (first + step), ...
    size_t row;             // of the vertex among those of all groups
    size_t rows;            // before the group's
    int group, column;      // the first column of the part
    bool valid;

    // Of row v, a hub's or not.
    __device__ Place(int n, int v, bool hub)
        : v(v), first(hub ? threadIdx.x / 32 : 0), step(hub ? WARPS : 1), row((size_t)blockIdx.y * n + v),
          rows((size_t)blockIdx.y * n), group(blockIdx.y), column(blockIdx.z * PART), valid(v < n) {}

    // In a launch over all rows.
    __device__ Place(int n, int hubs)
        : Place(n, blockIdx.x < hubs ? blockIdx.x : hubs + (blockIdx.x - hubs) * WARPS + threadIdx.x / 32,
                blockIdx.x < hubs) {}

    __device__ int own_column() const { return column + OWN * (threadIdx.x & 31); }
};

__device__ __forceinline__ bool has_bit(const unsigned* bitmap, int v) { return bitmap[v / 32] >> v % 32 & 1; }

__device__ __forceinline__ void set_bit(unsigned* bitmap, int v) { atomicOr(&bitmap[v / 32], 1u << v % 32); }

// Words of a bitmap of n vertices.
__device__ __forceinline__ size_t bitmap_words(int n) { return (n + 31) / 32; }

// Visit the rows of a launch: all rows, one a warp; or, if there are bitmaps, the rows in the group's bitmap, a word a
// warp. Before them a block for each hub.
template <typename Visit>
__device__ __forceinline__ void for_rows(int n, int hubs, const unsigned* bitmaps, Visit visit) {
    const bool hub = blockIdx.x < hubs;
    const int warp = (blockIdx.x - hubs) * WARPS + threadIdx.x / 32;
    const int base = hub ? blockIdx.x : bitmaps ? 32 * warp : hubs + warp;
    unsigned todo = base < n;
    if (bitmaps && todo) {
        const unsigned* bitmap = bitmaps + blockIdx.y * bitmap_words(n);
        todo = hub ? has_bit(bitmap, base) : bitmap[base / 32];
        if (!hub && base < hubs) todo = hubs - base < 32 ? todo & ALL << (hubs - base) : 0;
    }
    for (; todo; todo &= todo - 1) visit(Place(n, base + __ffs(todo) - 1, hub));
}

// Sum the parts of a hub's warps in the order of the warps; true for the warp that goes on.
template <typename T, int COUNT>
__device__ __forceinline__ bool join_hub(T (&total)[COUNT], unsigned& met) {
    __shared__ T totals[WARPS][COUNT][32];
    __shared__ unsigned mets[WARPS][32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31;
#pragma unroll
    for (int k = 0; k < COUNT; k++) totals[warp][k][lane] = total[k];
    mets[warp][lane] = met;
    __syncthreads();
    if (warp) return false;
    for (int w = 1; w < WARPS; w++) {
#pragma unroll
        for (int k = 0; k < COUNT; k++) total[k] += totals[w][k][lane];
        met |= mets[w][lane];
    }
    return true;
}

// total += where(columns, p, 0)
__device__ __forceinline__ void add_columns(const value* p, unsigned columns, value* total) {
    for_sectors(p, columns, [&](int k, value x) { total[k] += columns >> k & 1 ? x : value(0); });
}

// With CLASS_SIZES, x of all members of the row's vertex from x of each.
template <typename T>
__device__ __forceinline__ void times_class_sizes(T (&x)[OWN], const Place& at, const double* class_sizes) {
    if constexpr (CLASS_SIZES) {
        const double class_size = class_sizes[at.v];
#pragma unroll
        for (int k = 0; k < OWN; k++) x[k] = of_all(x[k], class_size);
    }
}

// Own columns with a root, in a batch of so many roots.
__device__ __forceinline__ unsigned used_columns(const Place& at, int roots) {
    const int unused = at.own_column() + OWN - min(roots - at.group * COLUMNS, COLUMNS);
    return unused >= OWN ? 0 : FULL >> max(unused, 0);
}

// The columns in which x > limit.
template <typename T>
__device__ __forceinline__ unsigned above(const T* x, T limit) {
    unsigned found = 0;
#pragma unroll
    for (int k = 0; k < OWN; k++) found |= (x[k] > limit) << k;
    return found;
}

// Mark own columns of a group.
__device__ __forceinline__ void mark_columns(unsigned* marked, const Place& at, unsigned columns) {
#pragma unroll
    for (int k = 0; k < OWN; k++) {
        const int column = at.own_column() + k;
        if (columns >> k & 1) atomicOr(&marked[at.group * WORDS + column / 32], 1u << column % 32);
    }
}

// How often an own column counts.
__device__ __forceinline__ double times_of(const Place& at, int k, const double* root_weights) {
    return root_weights ? root_weights[at.group * COLUMNS + at.own_column() + k] : 1.0;
}

// Add the lanes' shares to the score of the vertex; scores has a row a group and part.
__device__ __forceinline__ void add_score(const Place& at, int n, double share, double* scores) {
    share = warp_sum(share);
    if ((threadIdx.x & 31) == 0 && share != 0)
        scores[((size_t)at.group * (COLUMNS / PART) + blockIdx.z) * n + at.v] += share;
}
