// A worker of the traversals for Python, small bicomponents, and paths that rounding keeps from a tie.
#include "../kernels/traversal/small.h"
#include "../kernels/traversal/sweep.h"
#include "../kernels/traversal/ties.h"
#include "numpy.h"
#include "sums.h"

namespace lagbc {

inline auto items(TraversalSize& s) {
    return std::tie(s.n, s.nnz, s.most, s.buckets, s.sums, s.block, s.most_kept, s.has_omega, s.has_class_sizes,
                    s.has_coordinates, s.has_trips, s.roots, s.of_vertices, s.of_edges, s.of_roots);
}

inline auto items(TraversalRequest& r) {
    return std::tie(r.radius, r.limit, r.rtol, r.endpoints, r.linear);
}

inline auto items(Columns& c) {
    return std::tie(c.dependency, c.stress, c.reached, c.distance, c.inverse, c.edges, c.depth, c.targets, c.gravity,
                    c.straight);
}

namespace {

// Raise the ValueError of a sum whose columns have no room.
template <class Index>
void require_room(const Columns& c, int64_t radii, int64_t cutoffs, const Near<Index>& near) {
    const int64_t by_vertex = near.by_vertex.width, by_edge = near.by_edge.width, by_root = near.by_root.width;
    const struct {
        const char* name;
        int64_t first, count, room;
    } all[] = {{"dependency", c.dependency, radii, by_vertex}, {"stress", c.stress, cutoffs, by_vertex},
               {"reached", c.reached, cutoffs, by_vertex},     {"distance", c.distance, cutoffs, by_vertex},
               {"inverse", c.inverse, cutoffs, by_vertex},     {"edges", c.edges, radii, by_edge},
               {"depth", c.depth, cutoffs, by_root},           {"targets", c.targets, cutoffs, by_root},
               {"gravity", c.gravity, radii, by_root},         {"straight", c.straight, cutoffs, by_root}};
    for (const auto& [name, first, count, room] : all)
        if (first >= 0 && first + count > room)
            raise_value(std::string(name) + " has to end by column " + std::to_string(room) + ", not " +
                        std::to_string(first + count));
}

template <class Index>
void bind_worker(nb::module_& m, const char* name) {
    using S = Traversal<Index>;
    nb::class_<S> bound(m, name);
    // The graph, its order and the weights of roots live as long as the worker.
    method(
        bound, "__init__",
        [](S* self, In<"size", TraversalSize> size, In<"graph", const Csr<Index>&> graph,
           In<"order", Span<const int64_t>> order, In<"position", Span<const int64_t>> position,
           In<"root_weights", Optional<Span<const double>>> root_weights,
           In<"omega", Optional<Span<const double>>> omega, In<"class_sizes", Optional<Span<const double>>> class_sizes,
           In<"x", Optional<Span<const double>>> x, In<"y", Optional<Span<const double>>> y,
           In<"per_length", double> per_length, In<"request", TraversalRequest> request) {
            sized_by_vertex(graph.value.n(), order, position, root_weights, omega, class_sizes, x, y);
            require_size("graph", graph.value, size.n, size.nnz);
            if (size.has_omega != omega.is_there || size.has_class_sizes != class_sizes.is_there ||
                size.has_coordinates != x.is_there || size.has_coordinates != y.is_there)
                raise_value("size has to tell whether there are omega, class_sizes, x and y");
            if (size.buckets > 0 && (size.buckets & (size.buckets - 1)) != 0)
                raise_value("buckets have to be a power of two, not " + std::to_string(size.buckets));
            S& s = *new (self) S(size);
            s.graph = &graph.value;
            s.sum_near = [](S& of, Span<const int64_t> roots, int64_t first, int64_t last, Found& found) {
                sum_roots(of, {roots, first, last, common_omega(of), {}}, of.near, found);
            };
            s.order = order;
            s.position = {position, true};
            s.root_weights = root_weights;
            put_in_order(s.omega, omega, order);
            put_in_order(s.class_sizes, class_sizes, order);
            put_in_order(s.near.x, x, order);
            put_in_order(s.near.y, y, order);
            s.buckets.per_length = per_length;
            static_cast<TraversalRequest&>(s.asked) = request;
        },
        nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>());
    show_memory(bound, [](In<"size", TraversalSize> size) { return S(size, true); });
    method(
        bound, "poll", [](S& s, In<"stop", Stop> stop) { s.asked.stop = stop; }, nb::keep_alive<1, 2>(),
        "Have kernels poll a flag that another thread may set.");
    method(
        bound, "set_bounds",
        [](S& s, In<"radii", Span<const double>> radii, In<"decays", Span<const double>> decays,
           In<"cutoffs", Span<const double>> cutoffs, In<"columns", Columns> columns) {
            sized(radii, decays.size * cutoffs.size);
            require_room(columns, radii.size, cutoffs.size, s.near);
            if (columns.straight >= 0 && !s.near.x.is_there) raise_value("straight lines need x and y");
            static_cast<Bounds&>(s.near) = {radii, decays, cutoffs, columns};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
        "Set bounds, and the first column of each sum among those of its kind.");
    method(
        bound, "set_trips",
        [](S& s, In<"numbers", Span<const double>> numbers, In<"ends", Span<const Index>> ends,
           In<"first", Span<const int64_t>> first, In<"shifts", Span<const int64_t>> shifts) {
            if (!s.trips.targets.is_there) raise_value("size has to tell whether there are trips");
            sized(ends, numbers.size);
            sized(first, s.order.size + 1);
            sized(shifts, s.order.size);
            s.trips = {numbers, ends, first, shifts, s.trips.targets};
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(),
        "Set trips of each root in matrix order, and the powers of two that they are divided by.");
    method(
        bound, "sum",
        [](S& s, In<"roots", Span<const int64_t>> roots, In<"times", Optional<Span<const double>>> times,
           In<"omega", Optional<Matrix<const double>>> omega) {
            require_roots(roots, s.order.size);
            sized(times, roots.size);
            if (omega.is_there) sized(omega, roots.size, omega.width);  // of the vertices with edges, which come first
            Found found(roots.size);
            without_gil([&] {
                clear_totals(s.totals);  // they are zero already, unless a block was not taken
                const Roots all{roots, 0, roots.size, omega.is_there ? omega : common_omega(s), times};
                sum_roots(s, all, s.totals, found);
            });
            return std::tuple(std::move(found.depth), std::move(found.overflowed), s.totals.kept);
        },
        "Search from roots in matrix order, or absent (-1), up to a block that cannot be kept, which is in the totals: "
        "the largest distance of each, a mask of those that overflowed, and the count of kept blocks.");
    method(
        bound, "take",
        [](S& s, In<"sums", BatchSums> sums, In<"edge_order", Optional<Span<const int64_t>>> edge_order) {
            require_sizes(sums, s.order.size, s.graph->indices.size);
            require_edge_order(edge_order, s.graph->indices.size, sums.edges.is_there || sums.edges_squares.is_there);
            without_gil([&] { take_totals(s.totals, s.order, edge_order, sums); });
        },
        "Add the totals to a row of sums, and clear them.");
    method(
        bound, "kept",
        [](const S& s, In<"edge_order", Optional<Span<const int64_t>>> edge_order) {
            require_edge_order(edge_order, s.graph->indices.size, s.totals.of_edges.is_there);
            return std::tuple(kept_blocks(s.totals.of_vertices, s.totals.kept, s.order),
                              kept_blocks(s.totals.of_edges, s.totals.kept, edge_order));
        },
        "The kept blocks: vertices, a row for each of their totals, and where each block ends; the same of edges.");
    method(
        bound, "sum_within",
        [](S& s, In<"roots", Span<const int64_t>> roots) {
            require_block(roots, s.order.size, s.near.by_root.size);
            Found found(roots.size);
            without_gil([&] { s.sum_near(s, roots, 0, roots.size, found); });
            return std::move(found.overflowed);
        },
        "Search from roots in matrix order, or absent (-1), into the sums within bounds: a mask of those that "
        "overflowed.");
    method(
        bound, "take_within",
        [](S& s, In<"roots", Span<const int64_t>> roots, In<"edge_order", Optional<Span<const int64_t>>> edge_order) {
            require_block(roots, s.order.size, s.near.by_root.size);
            require_edge_order(edge_order, s.graph->indices.size, s.near.edges > 0);
            return without_gil([&] { return take_near(s.near, roots, s.order, edge_order); });
        },
        "Vertices, edges, and roots but for absent ones, in matrix order, and the sums of each, which are cleared.");
    method(bound, "write_paths",
           [](const S& s, In<"roots", Span<const int64_t>> roots, In<"dist", Matrix<double>> dist,
              In<"sigma", Matrix<double>> sigma) {
               require_roots(roots, s.order.size);
               sized(dist, s.order.size, roots.size);
               sized(sigma, s.order.size, roots.size);
               without_gil([&] { write_paths(s, roots, dist, sigma); });
           });
}

}  // namespace

void bind_traversal(nb::module_& m) {
    bind_worker<Narrow>(m, "Traversal32");
    bind_worker<Wide>(m, "Traversal64");
    def<"graph", "roots", "targets", "sources", "places", "dist", "vertices", "edges", "scores", "edge_scores">(
        m, "sum_small_blocks", sum_small_blocks<Narrow>, sum_small_blocks<Wide>);
    def<"graph", "roots", "most", "near">(m, "find_near_tie", find_near_tie<Narrow>, find_near_tie<Wide>);
}

}  // namespace lagbc
