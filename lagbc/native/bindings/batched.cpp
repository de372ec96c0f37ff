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
namespace {

// The rows of roots in matrix order, or absent (-1).
struct RowsOfRoots {
    int64_t rows[columns];
    Span<const int64_t> span;

    RowsOfRoots(Span<const int64_t> roots, Span<const int64_t> position) : span{rows, roots.size} {
        if (roots.size > columns)
            raise_value("a batch has " + std::to_string(roots.size) + " roots; a state has 64 columns");
        require_roots(roots, position.size);
        for (int64_t k = 0; k < roots.size; ++k) rows[k] = roots[k] < 0 ? -1 : position[roots[k]];
    }
};

// Raise the ValueError of a count of more than n vertices.
template <Text text>
void require_count(const In<text, int64_t>& count, int64_t n) {
    if (count.value < 0 || count.value > n)
        raise_value(std::string(count.name) + " has to be from 0 to " + std::to_string(n) + ", not " +
                    std::to_string(count.value));
}

// Bind the parts that all sweeps have in common.
template <class S>
nb::class_<S> bind_arrays(nb::module_& m, const char* name) {
    nb::class_<S> bound(m, name);
    show_arrays(bound);
    method(
        bound, "poll", [](S& s, In<"stop", Stop> stop) { s.stop = stop; }, nb::keep_alive<1, 2>(),
        "Have kernels poll a flag that another thread may set.");
    bound.def_rw("overflowed", &S::overflowed);
    return bound;
}

// The argument for a field: a graph for a pointer to one.
template <class T>
using GivenFor = std::conditional_t<std::is_pointer_v<T>, std::add_lvalue_reference_t<std::remove_pointer_t<T>>, T>;

template <class T>
void put(T& field, const T& given) {
    field = given;
}
template <class Index>
void put(const Csr<Index>*& field, const Csr<Index>& given) {
    field = &given;
}

// A sweep of a whole graph, made with arguments for fields of its own, too.
template <class S, class Index, Text... texts, class... Of, class... T, class... Extra>
nb::class_<S> bind_sweep(nb::module_& m, const char* name, std::tuple<T Of::*...> fields, const Extra&... extra) {
    nb::class_<S> bound = bind_arrays<S>(m, name);
    // The graph and its order live as long as the sweep.
    method(
        bound, "__init__",
        [fields](S* self, In<"out", const Csr<Index>&> graph, In<"order", Span<const int64_t>> order,
                 In<"position", Span<const int64_t>> position, In<"sums", uint32_t> sums, In<"room", int64_t> room,
                 In<"growth", int64_t> growth, In<"is_short", bool> is_short,
                 In<"omega", Optional<Span<const double>>> omega,
                 In<"class_sizes", Optional<Span<const double>>> class_sizes, In<"sigma_limit", double> sigma_limit,
                 In<"endpoints", bool> endpoints, In<"linear", bool> linear, In<texts, GivenFor<T>>... more) {
            const Csr<Index>& out = graph;
            const int64_t n = out.n();
            sized_by_vertex(n, order, position, omega, class_sizes);
            if (room < 0) raise_value("room has to be at least 0");
            if (requires(S& s) { s.rtol; } && !out.lengths.is_there) raise_value("out has to have lengths");
            const auto require_field = [&](const auto& given) {
                if constexpr (std::is_same_v<decltype(given.value), const Csr<Index>&>)
                    require_size(given.name, given.value, n, out.indices.size);
                if constexpr (std::is_same_v<decltype(given.value), int64_t>) require_count(given, n);
            };
            (require_field(more), ...);
            S& s = *new (self) S({n, out.indices.size, room, growth, Asks::of(sums), class_sizes.is_there, is_short});
            static_cast<BatchRequest&>(s) = {sigma_limit, endpoints, linear};
            s.out = &out;
            s.order = order;
            s.position = position;
            put_in_order(s.omega, omega, order);
            put_in_order(s.class_sizes, class_sizes, order);
            std::apply([&](auto... field) { (put(s.*field, more.value), ...); }, fields);
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), extra...);
    bound.def_static(
        "bytes",
        [](int64_t n, int64_t nnz, uint32_t sums, int64_t room, bool is_short, bool has_class_sizes) {
            return S({n, nnz, room, -1, Asks::of(sums), has_class_sizes, is_short}, true).memory.bytes();
        },
        nb::arg("n"), nb::arg("nnz"), nb::arg("sums"), nb::arg("room"), nb::arg("is_short"),
        nb::arg("has_class_sizes"));
    method(
        bound, "forward",
        [](S& s, In<"roots", Span<const int64_t>> roots) {
            const RowsOfRoots rows(roots, s.position);
            without_gil([&] { search(s, rows.span); });
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
    using Levels = LevelSweep<Index>;
    using Waiting = WaitingSweep<Index>;
    using Lengths = LengthSweep<Index>;
    auto levels = bind_sweep<Levels, Index, "into", "active", "pull_share">(
        m, ("LevelSweep" + bits).c_str(), std::tuple(&Levels::into, &Levels::active, &Levels::pull_share),
        nb::keep_alive<1, 14>());
    auto waiting = bind_sweep<Waiting, Index, "count_width">(m, ("WaitingSweep" + bits).c_str(),
                                                             std::tuple(&Waiting::count_width));
    auto lengths = bind_sweep<Lengths, Index, "count_width", "width", "rtol", "longest">(
        m, ("LengthSweep" + bits).c_str(),
        std::tuple(&Lengths::count_width, &Lengths::width, &Lengths::rtol, &Lengths::longest));
    method(levels, "write_levels", [](const Levels& s, In<"dist", Matrix<double>> dist) {
        sized(dist, s.order.size, std::min<int64_t>(dist.width, columns));
        without_gil([&] { write_levels(s, dist); });
    });
    method(waiting, "write_levels", [](const Waiting& s, In<"dist", Matrix<double>> dist) {
        sized(dist, s.order.size, std::min<int64_t>(dist.width, columns));
        without_gil([&] { write_levels(s, dist); });
    });
    lengths.def_ro("is_short", &Lengths::is_short);
    lengths.def_prop_ro("counts_in_place", [](const Lengths& s) { return s.distances.data == s.values.data; });
    method(lengths, "write_distances",
           [](Lengths& s, In<"roots", Span<const int64_t>> roots, In<"dist", Rows<double>> dist) {
               const RowsOfRoots rows(roots, s.position);
               sized(dist, s.order.size);
               without_gil([&] { write_distances(s, rows.span, static_cast<const Rows<double>&>(dist)); });
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
           In<"sigma_limit", double> sigma_limit, In<"endpoints", bool> endpoints, In<"linear", bool> linear) {
            Graph by_heads = into, by_tails = out, columns_of = reach;
            const int64_t n = columns_of.n();
            require_size("out", by_tails, by_heads.n(), by_tails.indices.size);
            require_size("reach", columns_of, n, by_heads.indices.size);
            require_count(own, n);
            if (omega.size > n - own) sized(omega, n - own);
            S& s = *new (self) S({n, by_heads.n(), slice, Asks::of(sums)});
            static_cast<BatchRequest&>(s) = {sigma_limit, endpoints, linear};
            s.into = &by_heads;
            s.out = &by_tails;
            s.reach = &columns_of;
            s.own = own;
            if (omega.is_there) std::copy_n(omega.data, omega.size, s.omega.data + own);
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    bound.def_static(
        "bytes",
        [](int64_t n, int64_t rows, int64_t slice, uint32_t sums) {
            return S({n, rows, slice, Asks::of(sums)}, true).memory.bytes();
        },
        nb::arg("n"), nb::arg("rows"), nb::arg("slice"), nb::arg("sums"));
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
    bound.def_static(
        "bytes",
        [](int64_t n, int64_t groups, bool has_distances) {
            return Groups(n, groups, has_distances, true).memory.bytes();
        },
        nb::arg("n"), nb::arg("groups"), nb::arg("has_distances"));
    show_arrays(bound);
}

}  // namespace

void bind_batched(nb::module_& m) {
    bind_sweeps<Narrow>(m, "32");
    bind_sweeps<Wide>(m, "64");
    bind_blocks(m);
    bind_groups(m);
}

}  // namespace lagbc
