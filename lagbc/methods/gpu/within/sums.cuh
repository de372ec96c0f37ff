// What is summed over a root of a block within cutoffs and decays, once it is searched.
//
// A column of a sum has a radius and a decay: a target at a distance d counts omega exp(-decay d) where d <= radius, else
// nothing. The sweep back goes through the levels within the radius; a block of threads makes one column after the other:
//
//     dependency   total = sum of c over the tight successors;   c = weight / sigma + total;   delta = sigma * total
//     stress       total = sum of t over the tight successors;   t = weight + total;           stress = sigma * total
//     edges        of a tight edge from v to w: sigma[v] * c[w]
//
// Sums lie in rows, one for each vertex or edge that the block of roots has touched; rows are numbered as threads come,
// which does not show in what they hold. A thread has a row at a time, and the roots of a block are added in their order.
//
// What a root sums over all its targets is added as integers, in any order: in units of 2**-64 of a power of two above
// the largest weight.

// Columns of all sums that decay, and of the others.
struct Bounds {
    int cutoffs, radii;
    const double *cutoff, *radius, *decay;
};

// First column of each sum; NONE where it is not asked for.
struct Columns {
    int dependency, stress, reached, distance, inverse, edges, depth, targets, gravity;
};

// Rows of vertices or of edges of a block of roots.
struct Rows {
    double* values;
    int most, columns;
    int* count;  // it may pass `most`: then the block is given up as FULL

    // A new row, of zeros; `named` says what it is of.
    template <typename Name>
    __device__ __forceinline__ int add(Name name, Name* named) const {
        const int row = atomicAdd(count, 1);
        if (row >= most) return row;
        named[row] = name;
        for (int j = 0; j < columns; j++) at(row, j) = 0;
        return row;
    }

    __device__ __forceinline__ double& at(int row, int column) const {
        return values[(size_t)row * columns + column];
    }
};

struct Column {
    double radius, decay;
    const double* omega;  // null: one target each

    __device__ __forceinline__ double weight(int v, double dist) const {
        if (!(dist <= radius)) return 0;
        return (decay > 0 ? exp(-decay * dist) : 1.0) * (omega ? omega[v] : 1.0);
    }
};

// Of one sum over all targets.
struct Exact {
    bits most, high, low;
};

struct Near {
    const Search& search;
    const Team& team;
    const Edges& out;
    Vertex* vertices;
    const double* omega;
    double times;
    bool endpoints;
    Columns columns;
    Rows rows, edges;
    int* named;
    offset* named_edges;
    int* edge_rows;  // row of each edge; NONE where it has none
    Exact& exact;

    // Give rows to the vertices that are settled.
    __device__ __forceinline__ void find_rows() const {
        for (int i = threadIdx.x; i < search.count; i += blockDim.x) {
            const int v = search.trail.settled[i];
            if (vertices[v].row == NONE) vertices[v].row = rows.add(v, named);
        }
        __syncthreads();
    }

    // The sum of the weights of all targets, of which the root is none; alike in all threads.
    __device__ double total_of(const Column& column) const {
        const auto weight = [&](int i) {
            const int v = search.trail.settled[i];
            return column.weight(v, vertices[v].found.dist);
        };
        __syncthreads();
        if (threadIdx.x == 0) exact = {0, 0, 0};
        __syncthreads();
        double most = 0;
        for (int i = 1 + threadIdx.x; i < search.count; i += blockDim.x) most = fmax(most, weight(i));
        atomicMax(&exact.most, bits_of(most));
        __syncthreads();
        if (exact.most == 0) return 0;
        int power;
        frexp(number(exact.most), &power);
        bits high = 0, low = 0;
        for (int i = 1 + threadIdx.x; i < search.count; i += blockDim.x) {
            const double scaled = ldexp(weight(i), 32 - power);
            const bits whole = (bits)scaled;
            high += whole, low += (bits)ldexp(scaled - (double)whole, 32);
        }
        atomicAdd(&exact.high, high);
        atomicAdd(&exact.low, low);
        __syncthreads();
        return ldexp((double)exact.high + ldexp((double)exact.low, -32), power - 32);
    }

    // Sweep back over the tight edges within a column's radius, and add what comes to each vertex to a column of its row
    // and, of edges, to one of theirs; NONE is no such column. With PATHS stress is made in place of the dependency.
    // False if the host asks to stop.
    template <bool PATHS>
    __device__ bool sweep_back(const Column& column, int to, int to_edges, long long& looked) const {
        __syncthreads();
        for (int level = search.last_level(column.radius); level >= 0; level--) {
            const int last = search.trail.ends[level + 1];
            for (int i = search.trail.ends[level] + team.index; i < last; i += team.teams) {
                const int v = search.trail.settled[i];
                const Found at = vertices[v].found;
                if (!(at.dist <= column.radius)) continue;
                double total = 0;
                const offset end = out.indptr[v + 1];
                for (offset e = out.indptr[v] + team.lane; e < end; e += team.width) {
                    const Vertex* head = &vertices[out.indices[e]];
                    const double far = head->found.dist;
                    if (!(far <= column.radius) || !is_tight(at.dist, length_of(out, e), far)) continue;
                    const double onward = head->onward;
                    total += onward;
                    if (to_edges != NONE) add_to_edge(e, to_edges, at.paths * onward * times);
                }
                total = team.sum(total);
                if (team.lane) continue;
                const double weight = column.weight(v, at.dist);
                vertices[v].onward = (PATHS ? weight : weight / at.paths) + total;
                if (to == NONE || level == 0) continue;
                rows.at(vertices[v].row, to) += at.paths * total * times + (!PATHS && endpoints ? weight * times : 0.0);
            }
            if (__syncthreads_or(threadIdx.x == 0 && asked_to_stop(search.stop, looked))) return false;
        }
        return true;
    }

    // A thread has an edge, as its tail has one team.
    __device__ __forceinline__ void add_to_edge(offset e, int column, double share) const {
        int row = edge_rows[e];
        if (row == NONE) row = edge_rows[e] = edges.add(e, named_edges);
        if (row < edges.most) edges.at(row, column) += share;
    }

    // Add what is made of distances alone, for column j.
    __device__ __forceinline__ void add_distances(int j, double cutoff) const {
        for (int i = 1 + threadIdx.x; i < search.count; i += blockDim.x) {
            const Vertex& to = vertices[search.trail.settled[i]];
            const double dist = to.found.dist;
            if (!(dist <= cutoff)) continue;
            if (columns.reached != NONE) rows.at(to.row, columns.reached + j) += 1;
            if (columns.distance != NONE) rows.at(to.row, columns.distance + j) += dist;
            if (columns.inverse != NONE) rows.at(to.row, columns.inverse + j) += 1 / dist;
        }
    }

    // The largest distance up to a cutoff; alike in all threads.
    __device__ double farthest(double cutoff) const {
        __syncthreads();
        if (threadIdx.x == 0) exact.most = 0;
        __syncthreads();
        double most = 0;
        for (int i = threadIdx.x; i < search.count; i += blockDim.x) {
            const double dist = vertices[search.trail.settled[i]].found.dist;
            if (dist <= cutoff) most = fmax(most, dist);
        }
        atomicMax(&exact.most, bits_of(most));
        __syncthreads();
        return number(exact.most);
    }

    // Add all sums; those of the root itself go to `own`. False if the host asks to stop.
    __device__ bool add(const Bounds& bounds, double* own, long long& looked) const {
        if (rows.columns) find_rows();
        if (*rows.count > rows.most) return true;  // which the caller sees
        for (int j = 0; j < bounds.radii; j++) {
            const Column column = {bounds.radius[j], bounds.decay[j], omega};
            if (columns.gravity != NONE) write(own, columns.gravity + j, total_of(column));
            if (columns.dependency == NONE && columns.edges == NONE) continue;
            const int to = columns.dependency == NONE ? NONE : columns.dependency + j;
            const int to_edges = columns.edges == NONE ? NONE : columns.edges + j;
            if (!sweep_back<false>(column, to, to_edges, looked)) return false;
            if (to != NONE && endpoints) add_ends(to, total_of(column));
        }
        for (int j = 0; j < bounds.cutoffs; j++) {
            const Column column = {bounds.cutoff[j], 0, omega};
            if (columns.targets != NONE) write(own, columns.targets + j, total_of(column));
            if (columns.stress != NONE && !sweep_back<true>(column, columns.stress + j, NONE, looked)) return false;
            if (columns.depth != NONE) write(own, columns.depth + j, farthest(column.radius));
            if (columns.reached != NONE || columns.distance != NONE || columns.inverse != NONE)
                add_distances(j, column.radius);
        }
        __syncthreads();
        return true;
    }

    __device__ __forceinline__ void write(double* own, int column, double total) const {
        if (threadIdx.x == 0) own[column] = total;
    }

    // The root is an end of a pair as often as its targets count.
    __device__ __forceinline__ void add_ends(int to, double total) const {
        if (threadIdx.x == 0) rows.at(vertices[search.trail.settled[0]].row, to) += total * times;
    }
};
