// What the kernels of the batched method share.
//
// 256 roots are the 256 columns of a group: a vertex has a row of 256 bits (BYTES bytes, WORDS words) for each set it
// may be in, and a row of 256 values. Rows are in sweep order; a group's arrays follow those of the group before.
//
// VALUE (double or float) is the type of path counts and dependencies; sums of scores are double.

typedef VALUE value;
typedef long long offset;

constexpr int COLUMNS = 256;
constexpr int BYTES = COLUMNS / 8;
constexpr int WORDS = COLUMNS / 32;
constexpr int WARPS = 8;  // of a block
constexpr unsigned ALL = 0xffffffffu;

__device__ __forceinline__ double warp_sum(double x) {
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(ALL, x, step);
    return x;
}

// Some blocks of a launch, all of them resident, that wait for each other.
struct Group {
    int index, member, members;
    unsigned* barrier;   // arrivals at the group's barriers so far
    unsigned target;     // arrivals that end the next one

    __device__ Group(int members, unsigned* barriers)
        : index(blockIdx.x / members), member(blockIdx.x % members), members(members), barrier(barriers + index),
          target(0) {}

    __device__ int warp() const { return member * WARPS + threadIdx.x / 32; }
    __device__ int warps() const { return members * WARPS; }

    // All writes of the group before are seen by all of it after. Its blocks are resident, so none waits in vain.
    __device__ void wait() {
        target += members;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(barrier, 1u);
            // The counter wraps around, as the target does.
            while ((int)(*(volatile unsigned*)barrier - target) < 0) __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
    }
};
