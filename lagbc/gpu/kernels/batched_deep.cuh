// What the kernels share that sweep in one launch, for graphs of many levels: meshes and roads.
//
// The blocks of the launch, all resident at once, are cut into `gridDim.x / members` groups of `members` blocks. A
// group searches from its own 256 roots, with a barrier of its own a level: while one group waits the others work.
//
// A vertex is live at few levels and, its roots being near each other, in few columns at each: about 13 of 256 on a
// mesh. So a warp first lists the live columns of its row, then gives each a lane; with 16 or 8 of them the warp takes
// two or four edges at a time, and joins their sums in a fixed order, which depends on the mask alone.

constexpr int DONE = 0, QUEUE_FULL = 1, STOPPED = 2;

__device__ __forceinline__ int warp_of(const Group& group) { return group.member * WARPS + threadIdx.x / 32; }
__device__ __forceinline__ int warps_of(const Group& group) { return group.members * WARPS; }

// List the columns of a mask, a byte a lane, in the warp's shared memory; returns how many there are.
__device__ __forceinline__ int list_columns(unsigned mask, unsigned char* columns) {
    const int lane = threadIdx.x & 31;
    const unsigned below = (1u << lane) - 1;
    int count = 0;
    __syncwarp();
#pragma unroll
    for (int k = 0; k < 8; k++) {
        const unsigned lanes = __ballot_sync(ALL, mask >> k & 1);
        if (mask >> k & 1) columns[count + __popc(lanes & below)] = 8 * lane + k;
        count += __popc(lanes);
    }
    __syncwarp();
    return count;
}

// Lanes that share the edges of a row among `count` live columns: lane -> (part of the edges, place in the list).
struct Share {
    int width, part, parts, place;

    __device__ Share(int count) : width(count <= 8 ? 8 : count <= 16 ? 16 : 32) {
        const int lane = threadIdx.x & 31;
        part = lane / width, parts = 32 / width, place = lane % width;
    }
};
