// What waits in a search with lengths (see lengths.cuh): an entry for each time that a distance was lowered, with the
// distance, the distance plus the shortest edge, and the vertex. Entries whose vertex has come nearer since then are
// thrown away when the threshold passes them; so an entry that waits is looked at in one piece of memory, and not at its
// vertex.

// Entries that a thread looks at between two barriers.
constexpr int ITEMS = 4;

// A place for each thread that wants one, counted by `count`; all threads of a warp take part.
__device__ __forceinline__ int take_place(bool wanted, int* count) {
    const unsigned lanes = __ballot_sync(ALL, wanted), lane = threadIdx.x % 32;
    int first = 0;
    if (lane == 0 && lanes) first = atomicAdd(count, __popc(lanes));
    return __shfl_sync(ALL, first, 0) + __popc(lanes & ((1u << lane) - 1));
}

struct Waiting {
    double2* bounds;  // distance, and distance plus shortest edge
    int* vertices;
    int most;

    __device__ __forceinline__ void write(int place, double2 bound, int v) const {
        if (place >= most) return;  // the search ends as FULL
        bounds[place] = bound;
        vertices[place] = v;
    }

    // Settle what waits below the threshold, by `put(place, v)` with places from *end on, and return the least distance
    // plus shortest edge of what stays; `is_current(v, dist)` tells whether this is still the distance of v. Entries are
    // written back no further than they were read.
    template <typename IsCurrent, typename Put>
    __device__ __forceinline__ double settle(double threshold, int waits, int* end, int* kept, IsCurrent is_current,
                                             Put put) const {
        double least = number(UNREACHED);
        for (int first = 0; first < waits; first += ITEMS * blockDim.x) {
            double2 bound[ITEMS];
            int v[ITEMS];
            bool finals[ITEMS];
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                const int i = first + k * blockDim.x + threadIdx.x;
                v[k] = i < waits ? vertices[i] : -1;
                bound[k] = i < waits ? bounds[i] : double2{0, 0};
            }
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                finals[k] = v[k] >= 0 && bound[k].x < threshold && is_current(v[k], bound[k].x);
            __syncthreads();
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                const int place = take_place(finals[k], end);
                if (finals[k]) put(place, v[k]);
                const bool stays = v[k] >= 0 && !(bound[k].x < threshold);
                const int next = take_place(stays, kept);
                if (!stays) continue;
                write(next, bound[k], v[k]);
                least = fmin(least, bound[k].y);
            }
        }
        return least;
    }
};
