// Thread blocks that search together, with a barrier of their own.

// The thread blocks of a launch are cut into groups of `blocks` each, of which this is number `block`. All blocks of a
// group are resident at once.
struct Group {
    int index, block, blocks;
    unsigned* barrier;   // arrivals at the group's barriers so far; it may wrap
    unsigned target;  // arrivals that end the next barrier

    __device__ Group(int blocks_per_group, unsigned* barriers)
        : index(blockIdx.x / blocks_per_group), block(blockIdx.x % blocks_per_group), blocks(blocks_per_group),
          barrier(barriers + index), target(0) {}

    __device__ int groups() const { return gridDim.x / blocks; }
    __device__ int thread() const { return block * blockDim.x + threadIdx.x; }
    __device__ int threads() const { return blocks * blockDim.x; }

    // All writes of the group before are seen by all of it after. Its blocks are resident, so none waits in vain.
    __device__ void wait() {
        target += blocks;
        __syncthreads();
        if (blocks == 1) return;
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(barrier, 1u);
            while ((int)(*(volatile unsigned*)barrier - target) < 0) __nanosleep(20);
            __threadfence();
        }
        __syncthreads();
    }
};
