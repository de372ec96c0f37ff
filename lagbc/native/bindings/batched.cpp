// The sweeps of the batched method for Python, and the probe.
#include "../kernels/batched/block.h"
#include "../kernels/batched/groups.h"
#include "../kernels/batched/lengths.h"
#include "../kernels/batched/levels.h"
#include "../kernels/batched/probe.h"
#include "../kernels/batched/waiting.h"
#include "numpy.h"
#include "sums.h"

namespace lagbc {

template <std::same_as<BatchRequest> Request>  // and no sweep, which is one, too
auto items(Request& r) {
    return std::tie(r.sigma_limit, r.endpoints, r.linear, r.active, r.pull_share, r.count_width, r.width, r.rtol,
                    r.longest);
}

namespace {

// Return the rows of roots in matrix order, or absent (-1), written to `rows`.
Span<const int64_t> rows_of(Span<const int64_t> roots, Span<const int64_t> position, int64_t (&rows)[columns]) {
    if (roots.size > columns)
        raise_value("a batch has " + std::to_string(roots.size) + " roots; a state has 64 columns");
    require_roots(roots, position.size);
    for (int64_t k = 0; k < roots.size; ++k) rows[k] = roots[k] < 0 ? -1 : position[roots[k]];
    return {rows, roots.size};
}

// Raise the ValueError of a count of more than n vertices.
void require_count(const char* name, int64_t count, int64_t n) {
    if (count < 0 || count > n)
        raise_value(std::string(name) + " has to be from 0 to " + std::to_string(n) + ", not " + std::to_string(count));
}

// Bind the parts that all sweeps have in common.
template <class S>
nb::class_<S> bind_arrays(nb::module_& m, const char* name) {
    nb::class_<S> bound(m, name);
    method(
        bound, "poll", [](S& s, In<"stop", Stop> stop) { s.stop = stop; }, nb::keep_alive<1, 2>(),
        "Have kernels poll a flag that another thread may set.");
    bound.def_rw("overflowed", &S::overflowed);
    return bound;
}

// A sweep of a whole graph.
template <class S, class Index>
nb::class_<S> bind_sweep(nb::module_& m, const std::string& name) {
    nb::class_<S> bound = bind_arrays<S>(m, name.c_str());
    // The graph and its order live as long as the sweep.
    method(
        bound, "__init__",
        [](S* self, In<"out", const Csr<Index>&> graph, In<"into", const Csr<Index>&> into,
           In<"order", Span<const int64_t>> order, In<"position", Span<const int64_t>> position,
           In<"sums", uint32_t> sums, In<"room", int64_t> room, In<"growth", int64_t> growth,
           In<"is_short", bool> is_short, In<"omega", Optional<Span<const double>>> omega,
           In<"class_sizes", Optional<Span<const double>>> class_sizes, In<"request", BatchRequest> request) {
            const Csr<Index>& out = graph.value;
            const int64_t n = out.n(), nnz = out.indices.size;
            require_size("into", into.value, n, nnz);
            sized_by_vertex(n, order, position, omega, class_sizes);
            require_count("active", request.active, n);
            if (room < 0) raise_value("room has to be at least 0");
            if (requires(S& s) { s.short_distances; } && !out.lengths.is_there) raise_value("out has to have lengths");
            S& s = *new (self) S({n, nnz, room, growth, Asks::of(sums), class_sizes.is_there, is_short});
            static_cast<BatchRequest&>(s) = request;
            s.out = &out;
            if constexpr (requires { s.into; }) s.into = &into.value;
            s.order = order;
            s.position = position;
            put_in_order(s.omega, omega, order);
            put_in_order(s.class_sizes, class_sizes, order);
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>());
    show_memory(bound,
                [](In<"n", int64_t> n, In<"nnz", int64_t> nnz, In<"sums", uint32_t> sums, In<"room", int64_t> room,
                   In<"is_short", bool> is_short, In<"has_class_sizes", bool> has_class_sizes) {
                    return S({n, nnz, room, -1, Asks::of(sums), has_class_sizes, is_short}, true);
                });
    method(
        bound, "forward",
        [](S& s, In<"roots", Span<const int64_t>> roots) {
            int64_t rows[columns];
            without_gil([&] { search(s, rows_of(roots, s.position, rows)); });
            return std::tuple(s.entries, s.depth, s.overflowed);
        },
        "Search from roots in matrix order, or absent (-1): entries, depth, and the columns that overflowed.");
    method(
        bound, "backward",
        [](S& s, In<"sums", BatchSums> sums, In<"omega", Optional<Rows<const double>>> omega,
           In<"times", Optional<Span<const double>>> times,
           In<"edge_order", Optional<Span<const int64_t>>> edge_order) {
            const int64_t n = s.order.size, nnz = s.out->indices.size;
            require_sizes(sums, n, nnz);
            require_asked(sums, s.asks);
            if (sums.depth.size > columns) sized(sums.depth, "depth", columns);
            sized(times, columns);
            require_edge_order(edge_order, nnz, sums.edges.is_there || sums.edges_squares.is_there);
            if (omega.is_there && omega.size > n) sized(omega, n);  // of the vertices with edges, which come first
            double once[columns];
            std::fill_n(once, columns, 1.0);
            const Span<const double> often = times.is_there ? times : Span<const double>{once, columns};
            return without_gil([&] {
                if (s.asks.distances()) sum_distances(s, sums);
                return !s.asks.paths() || sum_paths(s, omega, often, edge_order, sums);
            });
        },
        "Add to a row of sums: over distances first, as counts may take their place; False if it was stopped.");
    if constexpr (requires(const S& s, Matrix<double> dist) { write_levels(s, dist); })
        method(bound, "write_levels", [](const S& s, In<"dist", Matrix<double>> dist) {
            sized(dist, s.order.size, std::min<int64_t>(dist.width, columns));
            without_gil([&] { write_levels(s, dist); });
        });
    bound.def_prop_ro(
        "queue",
        [](nb::handle_t<S> self) {
            const Queue<Index>& queue = *nb::cast<S&>(self).queue;
            return std::tuple(shown(Span<Index>{queue.vertices(), queue.size()}, self),
                              shown(Span<uint64_t>{queue.masks(), queue.size()}, self));
        },
        "Vertices and masks of the entries, for tests; views that hold until it grows.");
    return bound;
}

template <class Index>
void bind_sweeps(nb::module_& m, const std::string& bits) {
    bind_sweep<LevelSweep<Index>, Index>(m, "LevelSweep" + bits);
    bind_sweep<WaitingSweep<Index>, Index>(m, "WaitingSweep" + bits);
    using Lengths = LengthSweep<Index>;
    auto lengths = bind_sweep<Lengths, Index>(m, "LengthSweep" + bits);
    lengths.def_ro("is_short", &Lengths::is_short);
    lengths.def_prop_ro("counts_in_place", [](const Lengths& s) { return s.distances.data == s.values.data; });
    method(lengths, "write_distances",
           [](Lengths& s, In<"roots", Span<const int64_t>> roots, In<"dist", Rows<double>> dist) {
               int64_t rows[columns];
               sized(dist, s.order.size);
               const Rows<double>& into = dist;
               without_gil([&] { write_distances(s, rows_of(roots, s.position, rows), into); });
           });
    def<"sweep", "groups", "first", "last", "panel", "totals">(
        m, "add_batch_shares", add_batch_shares<WaitingSweep, Index>, add_batch_shares<LengthSweep, Index>);
    def<"graph", "roots", "most", "stop">(m, "probe_hops", probe_hops<Index>);
}

void bind_blocks(nb::module_& m) {
    using S = BlockSweep;
    using Graph = const Csr<Narrow>&;
    nb::class_<S> bound = bind_arrays<S>(m, "BlockSweep");
    method(
        bound, "__init__",
        [](S* self, In<"into", Graph> into, In<"out", Graph> out, In<"reach", Graph> reach, In<"slice", int64_t> slice,
           In<"own", int64_t> own, In<"sums", uint32_t> sums, In<"omega", Optional<Span<const double>>> omega,
           In<"request", BatchRequest> request) {
            const int64_t n = reach.value.n(), rows = into.value.n();
            require_size("out", out.value, rows, out.value.indices.size);
            require_size("reach", reach.value, n, into.value.indices.size);
            require_count("own", own, n);
            if (omega.size > n - own) sized(omega, n - own);
            S& s = *new (self) S({n, rows, slice, Asks::of(sums)});
            static_cast<BatchRequest&>(s) = request;
            s.into = &into.value;
            s.out = &out.value;
            s.reach = &reach.value;
            s.own = own;
            if (omega.is_there) std::copy_n(omega.data, omega.size, s.omega.data + own);
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    show_memory(bound, [](In<"n", int64_t> n, In<"rows", int64_t> rows, In<"slice", int64_t> slice,
                          In<"sums", uint32_t> sums) { return S({n, rows, slice, Asks::of(sums)}, true); });
    def<"sweep", "rows", "masks", "has_values", "has_paths">(m, "pack_rows", pack_rows);
    def<"sweep", "message", "first", "has_values", "has_paths">(m, "take_rows", take_rows);
    def<"sweep", "live">(m, "push_rows", push_rows);
    def<"sweep", "block", "rows", "first", "last", "base", "has_values", "has_paths">(m, "multiply_rows",
                                                                                      multiply_rows);
    def<"sweep", "message", "first", "has_values", "has_paths">(m, "add_rows", add_rows);
    def<"sweep", "first", "last">(m, "found_rows", found_rows);
    def<"sweep", "rows", "masks", "first", "times", "level">(m, "finish_rows", finish_rows);
    def<"sweep", "rows", "masks", "starts", "sums">(m, "sum_row_distances", sum_row_distances);
    def<"masks">(m, "count_columns", count_columns);
}

void bind_groups(nb::module_& m) {
    nb::class_<Groups> bound(m, "Groups");
    method(
        bound, "__init__",
        [](Groups* self, In<"in_group", Matrix<const bool>> in_group, In<"is_member", Span<const bool>> is_member,
           In<"endpoints", bool> endpoints, In<"has_distances", bool> has_distances) {
            sized(is_member, in_group.size);
            Groups& groups = *new (self) Groups(in_group.size, in_group.width, has_distances);
            groups.in_group = in_group;
            groups.is_member = is_member;
            groups.endpoints = endpoints;
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    show_memory(bound, [](In<"n", int64_t> n, In<"groups", int64_t> groups, In<"has_distances", bool> has_distances) {
        return Groups(n, groups, has_distances, true);
    });
}

}  // namespace

void bind_batched(nb::module_& m) {
    bind_sweeps<Narrow>(m, "32");
    bind_sweeps<Wide>(m, "64");
    bind_blocks(m);
    bind_groups(m);
}

}  // namespace lagbc
