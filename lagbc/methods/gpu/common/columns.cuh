// Names that the kernels of the batched method share.
//
// 256 roots are the 256 columns of a group: a vertex has a row of 256 bits (BYTES bytes, WORDS words) for each set it
// may be in, and a row of 256 values. Rows are in sweep order; a group's arrays follow those of the group before.

constexpr int COLUMNS = 256;
constexpr int BYTES = COLUMNS / 8;
constexpr int WORDS = COLUMNS / 32;
constexpr int WARPS = 8;  // of a block

// With CLASS_SIZES, vertex v stands for class_sizes[v] equal ones in the interior of a path: path counts are those to
// all of them, and c is the sum of theirs. Without, the pointer is not read.
#ifndef CLASS_SIZES
#define CLASS_SIZES 0
#endif

// x of all members from x of each; of an integer without room for it, the largest.
template <typename T>
__device__ __forceinline__ T of_all(T x, double class_size) { return x * T(class_size); }
__device__ __forceinline__ unsigned long long of_all(unsigned long long x, double class_size) {
    return __double2ull_rz((double)x * class_size);
}
