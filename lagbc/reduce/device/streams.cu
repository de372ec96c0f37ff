// Demand between vertices inside chains, for a group of roots at a time; lagbc/reduce/streams.py has the formulas.
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

// Count of the vertices, from the end on, that leave by it alone, and whether one more does both.
struct Place {
    int count;
    bool tie;
};

// For `inside` vertices at ascending distances; a vertex leaves by the end if twice its distance is below the gap.
__device__ __forceinline__ Place place_of(bool in_hops, const double* distances, int inside, double gap) {
    if (in_hops) {
        const int place = (int)fmin(fmax(gap - 1.0, 0.0), 2.0 * inside);
        return {place >> 1, (place & 1) != 0};
    }
    int low = 0, high = inside;
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (2.0 * distances[middle] < gap) low = middle + 1;
        else high = middle;
    }
    return {low, low < inside && 2.0 * distances[low] == gap};
}

// A chain as it is seen from its first end; the sums have one more entry than it has vertices inside.
struct Chain {
    double length;
    int inside;
    const double *distances, *sources, *targets, *source_sums, *target_sums;
};

__device__ __forceinline__ Chain chain_of(int c, const double* lengths, const int* starts, const double* distances,
                                          const double* sources, const double* targets, const double* source_sums,
                                          const double* target_sums) {
    const int first = starts[c];
    return {lengths[c],      starts[c + 1] - first, distances + first,      sources + first,
            targets + first, source_sums + first + c, target_sums + first + c};
}

// The way of a vertex inside a chain to one end of another chain: its distance, and the number of its paths, `to`, of
// which `by` leave by the end at hand.
struct Way {
    double far, by, to;
};

__device__ __forceinline__ Way way_to(int v, double p, double rest, bool before, bool tie, const double* near,
                                      const double* by_near, const double* far, const double* by_far) {
    const bool is_near = before || tie;
    const double by = is_near ? by_near[v] : 0.0;
    return {is_near ? p + near[v] : rest + far[v], by, by + (before ? 0.0 : by_far[v])};
}

// Weights of a chain's vertices that a vertex reaches by the end at hand: targets by the first and by the second end of
// the chain, and sources by either.
struct Reached {
    double first, second, sources;
};

__device__ __forceinline__ Reached reach(bool in_hops, const Chain& chain, const Way& u, const Way& v) {
    const Place place = place_of(in_hops, chain.distances, chain.inside, chain.length + v.far - u.far);
    const int count = place.count, behind = count + place.tie, all = chain.inside;
    const double part_u = u.by / u.to, part_v = v.by / v.to;
    Reached reached = {chain.target_sums[count] * part_u, (chain.target_sums[all] - chain.target_sums[behind]) * part_v,
                       chain.source_sums[count] * part_u};
    reached.sources += (chain.source_sums[all] - chain.source_sums[behind]) * part_v;
    if (place.tie) {
        const double share_u = u.by / (u.to + v.to), share_v = v.by / (u.to + v.to);
        reached.first += chain.targets[count] * share_u;
        reached.second += chain.targets[count] * share_v;
        reached.sources += chain.sources[count] * (share_u + share_v);
    }
    return reached;
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
            const Chain chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
            if (2.0 * p < gap_u && 2.0 * p < gap_v) {
                to_targets += chain.target_sums[chain.inside];
                to_sources += chain.source_sums[chain.inside];
                continue;
            }
            const Way first = way_to(u, p, rest, 2.0 * p < gap_u, 2.0 * p == gap_u, near, by_near, far, by_far);
            const Way second = way_to(v, p, rest, 2.0 * p < gap_v, 2.0 * p == gap_v, near, by_near, far, by_far);
            const Reached reached = reach(in_hops, chain, first, second);
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
        const Place place = place_of(in_hops, distances + first, starts[c + 1] - starts[c], gap);
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
    const Chain chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
    const int u = ends[c], v = ends[chains + c];
    const offset at = (offset)k * chains + c, entry = (offset)2 * k * chains + c;
    double as_root = through[at], by_first = entered[entry], by_second = entered[entry + chains];
    for (int h = first_halves[a]; h < first_halves[a + 1]; h++) {
        const int own = halves[h] >> 1, side = halves[h] & 1, other = column[ends[(1 - side) * chains + own]];
        if (other < 0 || own == c) continue;
        const double *far = dist + (offset)other * rows, *by_far = sigma + (offset)other * rows;
        const double length = lengths[own], *places = distances + (offset)side * inside + starts[own];
        const int count = starts[own + 1] - starts[own];
        const Place place_u = place_of(in_hops, places, count, length + far[u] - near[u]);
        const Place place_v = place_of(in_hops, places, count, length + far[v] - near[v]);
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
            const Reached reached = reach(in_hops, chain, first, second);
            by_first += sources[leaving + i] * reached.first;
            by_second += sources[leaving + i] * reached.second;
        }
    }
    through[at] = as_root;
    entered[entry] = by_first;
    entered[entry + chains] = by_second;
}

// Demand, both ways, between vertex i inside a chain and its vertices first to last, this one left out.
__device__ __forceinline__ double pairs(const Chain& chain, int i, int first, int last) {
    return chain.sources[i] * (chain.target_sums[last] - chain.target_sums[first]) +
           chain.targets[i] * (chain.source_sums[last] - chain.source_sums[first]);
}

// Sum the demand between vertices of the same chain; demand that leaves it by one end and enters by the other goes to
// `entered`. A thread has a chain whose first end is a root; lagbc/native/kernels/reduce/within.h says more.
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
    const Chain chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
    const double* p = chain.distances;
    const double round_trip = chain.length + dist[(offset)k * rows + b], paths = sigma[(offset)k * rows + b];
    const double straight = 1.0 / (1.0 + paths), bent = paths / (1.0 + paths);
    const int count = chain.inside;
    double *before_first = around + starts[c], *before_second = around + inside + starts[c];
    double *own = within + starts[c], *next = onward + starts[c];
    double total = 0;
    // `after`: the first vertex that is not nearer straight from i. Demand that begins at i waits in `onward`.
    for (int i = 0, after = 0; i < count; i++) {
        after = max(after, i + 1);
        while (after < count && 2.0 * (p[after] - p[i]) < round_trip) after++;
        const bool tie = after < count && 2.0 * (p[after] - p[i]) == round_trip;
        double begun = pairs(chain, i, i + 1, after), beyond = pairs(chain, i, after + tie, count);
        if (tie) {
            const double both = pairs(chain, i, after, after + 1);
            begun += both * straight;
            beyond += both * bent;
        }
        next[i] = begun;
        before_first[i] = beyond;
        total += beyond;
    }
    // `before`: how many vertices are not nearer straight from j.
    double inner = 0;
    for (int j = 0, before = 0; j < count; j++) {
        while (before < j && 2.0 * (p[j] - p[before]) >= round_trip) before++;
        const bool tie = before > 0 && 2.0 * (p[j] - p[before - 1]) == round_trip;
        double ended = pairs(chain, j, before, j), beyond = pairs(chain, j, 0, before - tie);
        if (tie) {
            const double both = pairs(chain, j, before - 1, before);
            ended += both * straight;
            beyond += both * bent;
        }
        before_second[j] = beyond;
        inner = fmax(inner - ended, 0.0);  // rounding may leave a trifle below zero
        own[j] = inner;
        inner += next[j];
        next[j] = j + 1 < count ? inner : 0.0;
    }
    entered[((offset)2 * k + 1) * chains + c] += total;
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
        const Chain chain = chain_of(c, lengths, starts, distances, sources, targets, source_sums, target_sums);
        const Place place = place_of(in_hops, chain.distances, chain.inside, chain.length + near[v] - near[u]);
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
