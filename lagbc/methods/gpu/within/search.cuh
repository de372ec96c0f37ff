// Searches that end at a radius: a block of threads has a slot, and goes through roots one after the other.
//
// A slot has a `Vertex` for each row of the graph, in one sector of memory, infinitely far between two searches. A search
// lists what it reaches, level after level, and what is listed is cleared when its sums are made: so a root costs what it
// reaches, however large the graph is.
//
// With lengths (macro DIST) it is Dijkstra's rule in parallel, as lengths.cuh has it; nothing waits that is farther than
// the radius. In hops a level of the search is the next one of distances. Either way the tails of the tight edges into a
// level are in levels before it.
//
// Counts are pulled in the order of the edges, so that their bits depend on the graph and the width of a team alone; in
// which order the vertices of a level are listed does not show. Where no path is counted (COUNTS is 0), tight edges may
// join vertices of a level: then also what is as far as the threshold is settled, and no length is too short to go on.

#ifdef DIST
constexpr bool LENGTHS = true;
#else
constexpr bool LENGTHS = false;
#endif

constexpr int NONE = -1;

struct __align__(32) Vertex {
    Found found;    // dist, and sigma
    double onward;  // of a column: c or t
    int row;        // in the sums of the block of roots; NONE where they have none
};

// What a search lists, in room for `most` vertices.
struct Trail {
    int *settled, *ends;  // vertices; those of level l are ends[l] .. ends[l + 1]
    double* floors;       // the vertices of level l are no nearer than floors[l]
    int most;

    __device__ __forceinline__ void write(int place, int v) const {
        if (place < most) settled[place] = v;  // else the search ends as FULL
    }
};

// Of what is counted per phase there are two places, used by turns: one is read while the other is written.
struct Phase {
    double slots[32];
    int waits[2], end, halt;
};

__device__ __forceinline__ double length_of(const Edges& edges, offset e) { return LENGTHS ? edges.lengths[e] : 1.0; }

struct Search {
    const Team& team;
    const Edges &out, &in;
    const double* shortest;
    double radius, sigma_limit;
    Vertex* vertices;
    Trail trail;
    Waiting waiting;
    const volatile unsigned char* stop;
    Phase& phase;
    int level, count, left;  // last level, settled vertices, and entries that wait

    // Offer w, so far at a distance `now`, a path of length `through`; `least` is lowered to the least distance plus
    // shortest edge that is offered.
    __device__ __forceinline__ void offer(int w, double through, double now, int* waits, double& least) const {
        if (!(through <= radius) || !(through < now)) return;
        bits* dist = (bits*)&vertices[w].found.dist;
        if constexpr (LENGTHS) {
            if (!(through < number(atomicMin(dist, bits_of(through))))) return;
            const double beyond = through + shortest[w];
            least = fmin(least, beyond);
            waiting.write(atomicAdd(waits, 1), {through, beyond}, w);
        } else if (atomicCAS(dist, UNREACHED, bits_of(through)) == UNREACHED) {
            trail.write(count + atomicAdd(waits, 1), w);
        }
    }

    // Count the paths to v, and go on from it; both at once, where all edges lead both ways: one that is tight into v
    // leads to no shorter path from it.
    __device__ __forceinline__ void visit(int v, bool is_root, int* waits, double& least) const {
        const double near = vertices[v].found.dist;
        const bool leads_both_ways = out.indptr == in.indptr, pulls = COUNTS && !is_root;
        value paths = 0;
        if (pulls && !leads_both_ways) {
            const offset end = in.indptr[v + 1];
            for (offset e = in.indptr[v] + team.lane; e < end; e += team.width) {
                const Found tail = vertices[in.indices[e]].found;
                if (is_tight(tail.dist, length_of(in, e), near)) paths += tail.paths;
            }
        }
        const offset end = out.indptr[v + 1];
        for (offset e = out.indptr[v] + team.lane; e < end; e += team.width) {
            const int w = out.indices[e];
            const double length = length_of(out, e);
            const Found at = vertices[w].found;
            if (pulls && leads_both_ways && is_tight(at.dist, length, near)) paths += at.paths;
            else offer(w, near + length, at.dist, waits, least);
        }
        if (!pulls) return;
        paths = team.sum(paths);
        if (team.lane) return;
        vertices[v].found.paths = paths;
        if (!(paths <= sigma_limit)) atomicMax(&phase.halt, OVERFLOWED);
    }

    // Search from a root, and tell how that ended; `looked` is when the host's flag was looked at.
    __device__ int run(int root, long long& looked) {
        __syncthreads();
        if (threadIdx.x == 0) {
            vertices[root].found = {0, 1};
            trail.settled[0] = root, trail.ends[0] = 0, trail.ends[1] = 1, trail.floors[0] = 0;
            phase.waits[0] = 0, phase.end = 1, phase.halt = DONE;
        }
        __syncthreads();
        double least = number(UNREACHED), floor = 0;
        int begin = 0;
        level = 0, count = 1, left = 0;
        for (int turn = 0;; turn ^= 1) {
            int *now = &phase.waits[turn], *next = &phase.waits[turn ^ 1];
            if (threadIdx.x == 0) {
                *next = 0;
                if (asked_to_stop(stop, looked)) atomicMax(&phase.halt, STOPPED);
            }
            for (int i = begin + team.index; i < count; i += team.teams)
                visit(trail.settled[i], level == 0, now, least);
            if (LENGTHS) write_least(phase.slots, least);
            __syncthreads();
            const int waited = *now;
            left = waited;
            const int how = waited > (LENGTHS ? waiting.most : trail.most - count) ? FULL : phase.halt;
            double threshold = level + 1;
            if (LENGTHS && !how) {
                threshold = read_least(phase.slots);
                least = waiting.settle(
                    COUNTS ? threshold : nextafter(threshold, number(UNREACHED)), waited, &phase.end, next,
                    [&](int v, double dist) { return vertices[v].found.dist == dist; },
                    [&](int place, int v) { trail.write(place, v); });
            }
            __syncthreads();
            if (how) return how;
            const int end = LENGTHS ? phase.end : count + waited;
            if (end > trail.most) return FULL;
            left = LENGTHS ? *next : 0;
            begin = count;
            if (end > count) {
                count = end, level++;
                if (threadIdx.x == 0) trail.ends[level + 1] = end, trail.floors[level] = LENGTHS ? floor : threshold;
            } else if (!left || left == waited) {
                // If nothing was settled, what was below the threshold had come nearer before.
                return left ? ABSORBED : DONE;
            }
            floor = threshold;
        }
    }

    // Make all that the search has reached infinitely far again.
    __device__ __forceinline__ void clear() const {
        for (int i = threadIdx.x; i < count; i += blockDim.x) vertices[trail.settled[i]].found.dist = number(UNREACHED);
        const int* waits = LENGTHS ? waiting.vertices : trail.settled + count;
        for (int i = threadIdx.x; i < left; i += blockDim.x) vertices[waits[i]].found.dist = number(UNREACHED);
    }

    // The last level that has vertices no farther than so.
    __device__ __forceinline__ int last_level(double radius) const {
        int last = level;
        while (last > 0 && trail.floors[last] > radius) last--;
        return last;
    }
};
