// Demand between vertices inside chains, for a group of roots at a time; lagbc/reduce/chains.py has the formulas.
//
// Column k of dist and sigma belongs to root k of the group; behind them are far ends of chains. Half 2 c + side is
// chain c seen from an end; arrays of two rows have the chains from their first ends on, and from their second. A vertex
// inside, at p from the end a, leaves by a for a junction t if 2 p < L + d(b, t) - d(a, t), by both at equality.
//
// Every number has one writer, which sums in an order that the graph alone fixes: nothing is added atomically.
//
//     sum_out        a warp has a vertex inside and an end: the demand that leaves it there
//     to_junctions   a thread has a root and a row: the demand that leaves chains at the root for the junction
//     to_chains      a thread has a root and a chain: the demand that leaves chains at the root for the chain
//     within_chains  a thread has a chain: the demand between its own vertices
//     enter          a thread has a root and a row: the demand that enters the chains at the row; M is finished
//     sum_junctions  a thread has a root: the demand that passes it as it leaves its chains

constexpr int TILE = 32;
constexpr int BLOCK = 256, WARPS = BLOCK / 32;

using namespace lagbc;

__device__ __forceinline__ Chain<int> chain_of(int c, const double* lengths, const int* starts, const double* distances,
                                          const double* sources, const double* targets, const double* source_sums,
                                          const double* target_sums) {
    const int first = starts[c];
    return {lengths[c],      starts[c + 1] - first, distances + first,      sources + first,
            targets + first, source_sums + first + c, target_sums + first + c};
}

// Write the transpose of a matrix. A thread block has a tile.
extern "C" __global__ void turn(int rows, int columns, const double* __restrict__ matrix, double* turned) {
    __shared__ double tile[TILE][TILE + 1];
    const int row = blockIdx.x * TILE, column = blockIdx.y * TILE;
    const int x = threadIdx.x % TILE, y = threadIdx.x / TILE;
    for (int i = y; i < TILE; i += BLOCK / TILE)
        if (row + i < rows && column + x < columns) tile[i][x] = matrix[(offset)(row + i) * columns + column + x];
    __syncthreads();
    for (int i = y; i < TILE; i += BLOCK / TILE)
        if (column + i < columns && row + x < rows) turned[(offset)(column + i) * rows + row + x] = tile[x][i];
}

// The demand that leaves each vertex inside a chain by one of its ends, both directions together; `passing` lacks the
// demand of the junction there. `slot` is the root of each row, or -1, `column` the column of each far end, or -1. A
// thread block has a half, its warps the vertices inside.
extern "C" __global__ void sum_out(int rows, int chains, int inside, int in_hops, const int* __restrict__ ends,
        const double* __restrict__ lengths, const int* __restrict__ starts, const double* __restrict__ distances,
        const double* __restrict__ sources, const double* __restrict__ targets,
        const double* __restrict__ source_sums, const double* __restrict__ target_sums,
        const double* __restrict__ row_sources, const double* __restrict__ row_targets, const int* __restrict__ slot,
        const int* __restrict__ column, const double* __restrict__ dist, const double* __restrict__ sigma, double* out,
        double* passing) {
    const int own = blockIdx.x >> 1, side = blockIdx.x & 1, lane = threadIdx.x & 31;
    const int a = ends[side * chains + own], b = ends[(1 - side) * chains + own];
    const int k = slot[a], other = column[b];
    if (k < 0 || other < 0) return;
    const double *near = dist + (offset)k * rows, *by_near = sigma + (offset)k * rows;
    const double *far = dist + (offset)other * rows, *by_far = sigma + (offset)other * rows;
    const double length = lengths[own];
    for (int i = starts[own] + threadIdx.x / 32; i < starts[own + 1]; i += WARPS) {
        const offset at = (offset)side * inside + i;
        const double p = distances[at], rest = length - p;
        double to_targets = 0, to_sources = 0;
        for (int v = lane; v < rows; v += 32) {
            const double gap = length + far[v] - near[v];
            if (v == a || 2.0 * p > gap) continue;
            const double share = 2.0 * p < gap ? 1.0 : by_near[v] / (by_near[v] + by_far[v]);
            to_targets += row_targets[v] * share;
            to_sources += row_sources[v] * share;
        }
        for (int c = lane; c < chains; c += 32) {
            const int u = ends[c], v = ends[chains + c];
            const double gap_u = length + far[u] - near[u], gap_v = length + far[v] - near[v];
            if (c == own || (2.0 * p > gap_u && 2.0 * p > gap_v)) continue;
            const Chain<int> chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
            if (2.0 * p < gap_u && 2.0 * p < gap_v) {
                to_targets += chain.target_sums[chain.inside];
                to_sources += chain.source_sums[chain.inside];
                continue;
            }
            const Way first = way_to(u, p, rest, 2.0 * p < gap_u, 2.0 * p == gap_u, near, by_near, far, by_far);
            const Way second = way_to(v, p, rest, 2.0 * p < gap_v, 2.0 * p == gap_v, near, by_near, far, by_far);
            const ByEnds reached = reach(in_hops, chain, first, second);
            to_targets += reached.first + reached.second;
            to_sources += reached.sources;
        }
        to_targets = warp_sum(to_targets);
        to_sources = warp_sum(to_sources);
        if (lane) continue;
        const double gap = length + far[a] - near[a];
        const double here = 2.0 * p < gap ? 1.0 : 2.0 * p == gap ? by_near[a] / (by_near[a] + by_far[a]) : 0.0;
        const double passes = sources[at] * to_targets + targets[at] * to_sources;
        passing[at] = passes;
        out[at] = passes + here * (sources[at] * row_targets[a] + targets[at] * row_sources[a]);
    }
}

// Add the demand that leaves chains at each root for junctions. A thread has a root and a row.
extern "C" __global__ void to_junctions(int rows, int chains, int inside, int in_hops, const int* __restrict__ ends,
        const double* __restrict__ lengths, const int* __restrict__ starts, const double* __restrict__ distances,
        const double* __restrict__ sources, const double* __restrict__ source_sums,
        const double* __restrict__ row_targets, const int* __restrict__ halves, const int* __restrict__ first_halves,
        const int* __restrict__ group, const int* __restrict__ column, const double* __restrict__ dist,
        const double* __restrict__ sigma, double* demand) {
    const int v = blockIdx.x * BLOCK + threadIdx.x, k = blockIdx.y, a = group[k];
    if (v >= rows || v == a) return;
    const offset at = (offset)k * rows + v;
    double sum = demand[at];
    for (int h = first_halves[a]; h < first_halves[a + 1]; h++) {
        const int c = halves[h] >> 1, side = halves[h] & 1, other = column[ends[(1 - side) * chains + c]];
        if (other < 0) continue;
        const offset beyond = (offset)other * rows + v, first = (offset)side * inside + starts[c];
        const double gap = lengths[c] + dist[beyond] - dist[at];
        const Place<int> place = place_of(in_hops, distances + first, starts[c + 1] - starts[c], gap);
        double weight = source_sums[first + (offset)side * chains + c + place.count];
        if (place.tie) weight += sources[first + place.count] * (sigma[at] / (sigma[at] + sigma[beyond]));
        sum += row_targets[v] * weight;
    }
    demand[at] = sum;
}

// Add the demand that leaves chains at each root for other chains: `through`, the source weight that enters a chain as
// from the root itself, and `entered`, by the first and by the second end, the demand of vertices that may leave by
// different ends for the two ends of the chain. A thread has a root and a chain.
extern "C" __global__ void to_chains(int rows, int chains, int inside, int in_hops, const int* __restrict__ ends,
        const double* __restrict__ lengths, const int* __restrict__ starts, const double* __restrict__ distances,
        const double* __restrict__ sources, const double* __restrict__ targets,
        const double* __restrict__ source_sums, const double* __restrict__ target_sums,
        const int* __restrict__ halves, const int* __restrict__ first_halves, const int* __restrict__ group,
        const int* __restrict__ column, const double* __restrict__ dist, const double* __restrict__ sigma,
        double* through, double* entered) {
    const int c = blockIdx.x * BLOCK + threadIdx.x, k = blockIdx.y, a = group[k];
    if (c >= chains) return;
    const double *near = dist + (offset)k * rows, *by_near = sigma + (offset)k * rows;
    const Chain<int> chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
    const int u = ends[c], v = ends[chains + c];
    const offset at = (offset)k * chains + c, entry = (offset)2 * k * chains + c;
    double as_root = through[at], by_first = entered[entry], by_second = entered[entry + chains];
    for (int h = first_halves[a]; h < first_halves[a + 1]; h++) {
        const int own = halves[h] >> 1, side = halves[h] & 1, other = column[ends[(1 - side) * chains + own]];
        if (other < 0 || own == c) continue;
        const double *far = dist + (offset)other * rows, *by_far = sigma + (offset)other * rows;
        const double length = lengths[own], *places = distances + (offset)side * inside + starts[own];
        const int count = starts[own + 1] - starts[own];
        const Place<int> place_u = place_of(in_hops, places, count, length + far[u] - near[u]);
        const Place<int> place_v = place_of(in_hops, places, count, length + far[v] - near[v]);
        const int alike = min(place_u.count, place_v.count);
        const int most = max(place_u.count + place_u.tie, place_v.count + place_v.tie);
        const offset leaving = (offset)side * inside + starts[own];
        as_root += source_sums[leaving + (offset)side * chains + own + alike];
        for (int i = alike; i < most; i++) {
            const double p = places[i], rest = length - p;
            const Way first = way_to(u, p, rest, i < place_u.count, place_u.tie && i == place_u.count, near, by_near,
                                     far, by_far);
            const Way second = way_to(v, p, rest, i < place_v.count, place_v.tie && i == place_v.count, near, by_near,
                                      far, by_far);
            const ByEnds reached = reach(in_hops, chain, first, second);
            by_first += sources[leaving + i] * reached.first;
            by_second += sources[leaving + i] * reached.second;
        }
    }
    through[at] = as_root;
    entered[entry] = by_first;
    entered[entry + chains] = by_second;
}

// Sum the demand between vertices of the same chain; demand that leaves it by one end and enters by the other goes to
// `entered`. A thread has a chain whose first end is a root; lagbc/reduce/one_chain.h says more.
extern "C" __global__ void within_chains(int rows, int chains, int inside, const int* __restrict__ ends,
        const double* __restrict__ lengths, const int* __restrict__ starts, const double* __restrict__ distances,
        const double* __restrict__ sources, const double* __restrict__ targets,
        const double* __restrict__ source_sums, const double* __restrict__ target_sums, const int* __restrict__ slot,
        const double* __restrict__ dist, const double* __restrict__ sigma, double* entered, double* around,
        double* within, double* onward) {
    const int c = blockIdx.x * BLOCK + threadIdx.x;
    if (c >= chains) return;
    const int k = slot[ends[c]], b = ends[chains + c];
    if (k < 0) return;
    const Chain<int> chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
    const offset at = starts[c], back = (offset)inside + at;
    const double dist_around = dist[(offset)k * rows + b], ways_around = sigma[(offset)k * rows + b];
    entered[((offset)2 * k + 1) * chains + c] +=
        sum_within(chain, dist_around, ways_around, around + at, around + back, within + at, onward + at);
}

// Let the demand that leaves by each root, or starts at it, enter the chains, and finish M. `returned` is M(a, a),
// demand that leaves and enters at a and starts no path. A thread has a root and a row.
extern "C" __global__ void enter(int rows, int chains, int in_hops, const int* __restrict__ ends,
        const double* __restrict__ lengths, const int* __restrict__ starts, const double* __restrict__ distances,
        const double* __restrict__ sources, const double* __restrict__ targets,
        const double* __restrict__ source_sums, const double* __restrict__ target_sums,
        const double* __restrict__ row_sources, const double* __restrict__ row_targets,
        const int* __restrict__ halves, const int* __restrict__ first_halves, const int* __restrict__ group,
        const double* __restrict__ dist, const double* __restrict__ sigma, const double* __restrict__ through,
        const double* __restrict__ entered, double* demand, double* returned) {
    const int row = blockIdx.x * BLOCK + threadIdx.x, k = blockIdx.y, a = group[k];
    if (row >= rows) return;
    const double *near = dist + (offset)k * rows, *by = sigma + (offset)k * rows;
    const double start = row == a ? 0.0 : row_sources[a];
    double sum = demand[(offset)k * rows + row];
    for (int h = first_halves[row]; h < first_halves[row + 1]; h++) {
        const int c = halves[h] >> 1, side = halves[h] & 1, u = ends[c], v = ends[chains + c];
        const Chain<int> chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
        const Place<int> place = place_of(in_hops, chain.distances, chain.inside, chain.length + near[v] - near[u]);
        const double all = chain.target_sums[chain.inside];
        double weight = side ? all - chain.target_sums[place.count + place.tie] : chain.target_sums[place.count];
        if (place.tie) weight += chain.targets[place.count] * (by[side ? v : u] / (by[u] + by[v]));
        sum += (through[(offset)k * chains + c] + start) * weight + entered[((offset)2 * k + side) * chains + c];
    }
    if (row == a) returned[k] = sum;
    demand[(offset)k * rows + row] = row == a ? 0.0 : sum + row_sources[a] * row_targets[row];
}

// Sum the demand that passes each root as it leaves its chains. A thread has a root.
extern "C" __global__ void sum_junctions(int roots, int inside, const int* __restrict__ starts,
        const int* __restrict__ halves, const int* __restrict__ first_halves, const int* __restrict__ group,
        const double* __restrict__ passing, const double* __restrict__ returned, double* junction) {
    const int k = blockIdx.x * BLOCK + threadIdx.x;
    if (k >= roots) return;
    double sum = 0;
    for (int h = first_halves[group[k]]; h < first_halves[group[k] + 1]; h++) {
        const int c = halves[h] >> 1, side = halves[h] & 1;
        for (int i = starts[c]; i < starts[c + 1]; i++) sum += passing[(offset)side * inside + i];
    }
    junction[k] = sum - returned[k];
}
