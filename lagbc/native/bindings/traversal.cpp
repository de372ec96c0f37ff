// A worker of the traversals for Python, small bicomponents, and paths that rounding keeps from a tie.
#include "traversal.h"

#include "../kernels/traversal/small.h"
#include "../kernels/traversal/sweep.h"
#include "../kernels/traversal/ties.h"
#include "sums.h"

namespace lagbc {

inline auto items(TraversalSize& size) {
    return std::tuple(Item("n", size.n), Item("nnz", size.nnz), Item("most", size.most), Item("buckets", size.buckets),
                      Item("block", size.block), Item("most_kept", size.most_kept), Item("has_omega", size.has_omega),
                      Item("has_class_sizes", size.has_class_sizes), Item("has_coordinates", size.has_coordinates),
                      Item("has_trips", size.has_trips), Item("roots", size.roots),
                      Item("of_vertices", size.of_vertices), Item("of_edges", size.of_edges),
                      Item("of_roots", size.of_roots));
}

inline auto items(Columns& first) {
    return std::tuple(Item("dependency", first.dependency), Item("stress", first.stress),
                      Item("reached", first.reached), Item("distance", first.distance), Item("inverse", first.inverse),
                      Item("edges", first.edges), Item("depth", first.depth), Item("targets", first.targets),
                      Item("gravity", first.gravity), Item("straight", first.straight));
}

namespace {

template <class Index>
void sum_near(Traversal<Index>& s, Span<const int64_t> roots, int64_t first, int64_t last, Found& found) {
    sum_roots(s, {roots, first, last, common_omega(s), {}}, s.near, found);
}

// The entries of the kept blocks: vertices or edges in matrix order, a row of numbers for each total, and where each
// block ends.
auto entries(const Optional<Touched>& touched, int64_t blocks, Span<const int64_t> order) {
    const int64_t count = touched.is_there ? kept_entries(touched, blocks) : 0, room = touched.kept_names.size();
    Buffer<int64_t> names(count), ends(blocks, 0);
    Buffer<double> sums(touched.rows * count);
    for (int64_t i = 0; i < count; ++i) names[i] = order[touched.kept_names[i]];
    for (int64_t row = 0; row < touched.rows; ++row)
        std::copy_n(touched.kept_sums.data() + row * room, count, sums.data() + row * count);
    if (touched.is_there) std::copy_n(touched.kept_ends.data(), blocks, ends.data());
    return std::tuple(result(std::move(names)), given_away(std::move(sums), touched.rows, count),
                      result(std::move(ends)));
}

// The vertices or edges that have a row, in matrix order.
template <class Name>
Buffer<int64_t> names_of(Span<Name> names, int64_t count, Span<const int64_t> order) {
    Buffer<int64_t> found(count);
    for (int64_t i = 0; i < count; ++i) found[i] = order[names[i]];
    return found;
}

// Copy the first rows, or those at some places.
Buffer<double> copied(Matrix<double> rows, int64_t count, const int64_t* places = nullptr) {
    Buffer<double> copy(count * rows.width);
    for (int64_t i = 0; i < count; ++i)
        std::copy_n(rows[places == nullptr ? i : places[i]].data, rows.width, copy.data() + i * rows.width);
    return copy;
}

// Clear the first rows, and take them from their names.
template <class Name>
void clear(Span<Name> row_of, Span<Name> names, Matrix<double> rows, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        row_of[names[i]] = std::numeric_limits<Name>::max();
        rows[i].fill(0.0);
    }
}

// Raise the ValueError of a sum whose columns have no room.
template <class Index>
void require_room(Columns& first, int64_t radii, int64_t cutoffs, const Near<Index>& near) {
    const auto require = [&](const auto& item) {
        const int64_t* place = &item.place;
        const bool decays = place == &first.dependency || place == &first.edges || place == &first.gravity;
        const bool of_roots =
            place == &first.depth || place == &first.targets || place == &first.gravity || place == &first.straight;
        const Matrix<double>& room = place == &first.edges ? near.by_edge : of_roots ? near.by_root : near.by_vertex;
        const int64_t end = *place + (decays ? radii : cutoffs);
        if (*place >= 0 && end > room.width)
            raise_value(std::string(item.name) + " has to end by column " + std::to_string(room.width) + ", not " +
                        std::to_string(end));
    };
    std::apply([&](const auto&... item) { (require(item), ...); }, items(first));
}

template <class Index>
void bind_worker(nb::module_& m, const char* name) {
    using S = Traversal<Index>;
    nb::class_<S> bound(m, name);
    // The graph, its order and the weights of roots live as long as the worker.
    method(
        bound, "__init__",
        [](S* self, In<"size", TraversalSize> size, In<"sums", uint32_t> sums, In<"graph", const Csr<Index>&> graph,
           In<"order", Span<const int64_t>> order, In<"position", Span<const int64_t>> position,
           In<"root_weights", Optional<Span<const double>>> root_weights,
           In<"omega", Optional<Span<const double>>> omega, In<"class_sizes", Optional<Span<const double>>> class_sizes,
           In<"x", Optional<Span<const double>>> x, In<"y", Optional<Span<const double>>> y,
           In<"per_length", double> per_length, In<"radius", double> radius, In<"limit", double> limit,
           In<"rtol", double> rtol, In<"endpoints", bool> endpoints, In<"linear", bool> linear) {
            const Csr<Index>& searched = graph;
            const int64_t n = searched.n();
            sized_by_vertex(n, order, position, root_weights, omega, class_sizes, x, y);
            require_size("graph", searched, size.n, size.nnz);
            if (size.has_omega != omega.is_there || size.has_class_sizes != class_sizes.is_there ||
                size.has_coordinates != x.is_there || size.has_coordinates != y.is_there)
                raise_value("size has to tell whether there are omega, class_sizes, x and y");
            if (size.buckets > 0 && (size.buckets & (size.buckets - 1)) != 0)
                raise_value("buckets have to be a power of two, not " + std::to_string(size.buckets));
            TraversalSize asked = size;
            asked.asks = Asks::of(sums);
            S& s = *new (self) S(asked);
            s.graph = &searched;
            s.sum_near = sum_near<Index>;
            s.order = order;
            s.position = {position, true};
            s.root_weights = root_weights;
            put_in_order(s.omega, omega, order);
            put_in_order(s.class_sizes, class_sizes, order);
            put_in_order(s.near.x, x, order);
            put_in_order(s.near.y, y, order);
            s.buckets.per_length = per_length;
            s.asked.radius = radius;
            s.asked.limit = limit;
            s.asked.rtol = rtol;
            s.asked.endpoints = endpoints;
            s.asked.linear = linear;
        },
        nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>());
    bound.def_static(
        "bytes",
        [](In<"size", TraversalSize> size, In<"sums", uint32_t> sums) {
            TraversalSize asked = size;
            asked.asks = Asks::of(sums);
            return S(asked, true).memory.bytes();
        },
        nb::arg("size"), nb::arg("sums"));
    show_arrays(bound);
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
            s.near.radii = radii;
            s.near.decays = decays;
            s.near.cutoffs = cutoffs;
            s.near.columns = columns;
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
            s.trips.numbers = numbers;
            s.trips.ends = ends;
            s.trips.first = first;
            s.trips.shifts = shifts;
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
            return std::tuple(result(std::move(found.depth)), result(std::move(found.overflowed)), s.totals.kept);
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
            return std::tuple(entries(s.totals.of_vertices, s.totals.kept, s.order),
                              entries(s.totals.of_edges, s.totals.kept, edge_order));
        },
        "The kept blocks: vertices, a row for each of their totals, and where each block ends; the same of edges.");
    method(
        bound, "sum_within",
        [](S& s, In<"roots", Span<const int64_t>> roots) {
            require_block(roots, s);
            Found found(roots.size);
            without_gil([&] { sum_near(s, roots, 0, roots.size, found); });
            return result(std::move(found.overflowed));
        },
        "Search from roots in matrix order, or absent (-1), into the sums within bounds: a mask of those that "
        "overflowed.");
    method(
        bound, "take_within",
        [](S& s, In<"roots", Span<const int64_t>> roots, In<"edge_order", Optional<Span<const int64_t>>> edge_order) {
            Near<Index>& near = s.near;
            require_block(roots, s);
            require_edge_order(edge_order, s.graph->indices.size, near.edges > 0);
            const int64_t vertices = near.vertices, edges = near.edges;
            Buffer<int64_t> present(roots.size), places(roots.size);
            int64_t count = 0;
            for (int64_t k = 0; k < roots.size; ++k) {
                if (roots[k] < 0) continue;
                present[count] = roots[k];
                places[count++] = k;
            }
            // Memory that runs out leaves the sums as they are.
            auto taken = without_gil([&] {
                return std::tuple(names_of(near.vertex_of_row, vertices, s.order),
                                  names_of(near.edge_of_row, edges, edge_order), copied(near.by_vertex, vertices),
                                  copied(near.by_edge, edges), copied(near.by_root, count, places.data()));
            });
            without_gil([&] {
                clear(near.row_of_vertex, near.vertex_of_row, near.by_vertex, vertices);
                clear(near.row_of_edge, near.edge_of_row, near.by_edge, edges);
                for (int64_t k = 0; k < count; ++k) near.by_root[places[k]].fill(0.0);
                near.vertices = near.edges = 0;
            });
            auto& [of_vertices, of_edges, by_vertex, by_edge, by_root] = taken;
            return std::tuple(result(std::move(of_vertices)), result(std::move(of_edges)),
                              given_away(std::move(present), count),
                              given_away(std::move(by_vertex), vertices, near.by_vertex.width),
                              given_away(std::move(by_edge), edges, near.by_edge.width),
                              given_away(std::move(by_root), count, near.by_root.width));
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
