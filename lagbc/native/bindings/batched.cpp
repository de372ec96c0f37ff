// Kernels of the batched method for Python, and the records of its workers.
#include "../kernels/batched/alone.h"
#include "../kernels/batched/block.h"
#include "../kernels/batched/groups.h"
#include "../kernels/batched/lengths.h"
#include "../kernels/batched/levels.h"
#include "../kernels/batched/probe.h"
#include "../kernels/batched/waiting.h"
#include "families.h"
#include "numpy.h"
#include "records.h"
#include "sums.h"

namespace lagbc {
namespace {

// A copy of a queue's array, as it may move when the queue grows.
template <class T>
Buffer<T> copied(const T* from, int64_t size) {
    Buffer<T> copy(size);
    std::copy_n(from, size, copy.data());
    return copy;
}

template <class Index>
void bind_queue(nb::module_& m, const char* name) {
    using Class = Queue<Index>;
    Described<Class>::name = name;
    static const std::string vertices = "def vertices(self) -> " + annotation(Described<Buffer<Index>>::description);
    static const std::string masks = "def masks(self) -> " + annotation(Described<Buffer<uint64_t>>::description);
    nb::class_<Class>(m, name)
        .def(nb::init<int64_t, int64_t, int64_t>(), nb::arg("room"), nb::arg("rows"), nb::arg("growth"))
        .def("__len__", &Class::size)
        .def_prop_ro(
            "vertices", [](const Class& queue) { return copied(queue.vertices(), queue.size()); },
            nb::sig(vertices.c_str()))
        .def_prop_ro(
            "masks", [](const Class& queue) { return copied(queue.masks(), queue.size()); }, nb::sig(masks.c_str()));
}

template <class Class, class Index, class... Fields>
void bind_sweep(nb::module_& m, const char* name, Fields... fields) {
    using S = Sweep<Index>;
    record<Class>(m, name, Field{"out", &S::out, "n, nnz"}, Field{"queue", &S::queue}, Field{"order", &S::order, "n"},
                  Field{"omega", &S::omega, "n"}, Field{"class_sizes", &S::class_sizes, "n"},
                  Field{"values", &S::values, "n, 64"}, Field{"paths", &S::paths, "n, 64"}, Field{"stop", &S::stop},
                  Field{"sigma_limit", &S::sigma_limit}, Field{"endpoints", &S::endpoints}, Field{"linear", &S::linear},
                  Field{"roots", &S::roots}, Field{"entries", &S::entries}, Field{"depth", &S::depth},
                  Field{"overflowed", &S::overflowed}, fields...);
}

template <class Index>
void bind_levels(nb::module_& m, const char* name) {
    using S = LevelSweep<Index>;
    bind_sweep<S, Index>(m, name, Field{"into", &S::into, "n, nnz"}, Field{"bits", &S::bits, "3, n"},
                         Field{"visited", &S::visited, "n"}, Field{"starts", &S::starts, "n + 2"},
                         Field{"active", &S::active}, Field{"pull_share", &S::pull_share});
}

template <class Class, class Index, class... Fields>
void bind_counting(nb::module_& m, const char* name, Fields... fields) {
    using S = CountingSweep<Index>;
    bind_sweep<Class, Index>(m, name, Field{"count_width", &S::count_width}, Field{"waiting", &S::waiting, "n"},
                             Field{"pushed", &S::pushed, "n"}, Field{"nearest", &S::nearest, "n"},
                             Field{"lists", &S::lists, "2, n"}, Field{"tight_masks", &S::tight_masks, "nnz"},
                             Field{"in_starts", &S::in_starts, "n + 1"}, Field{"in_ends", &S::in_ends, "nnz"},
                             Field{"in_masks", &S::in_masks, "nnz"}, fields...);
}

template <class Index>
void bind_waiting(nb::module_& m, const char* name) {
    using S = WaitingSweep<Index>;
    bind_counting<S, Index>(m, name, Field{"frontier", &S::frontier, "2, n"}, Field{"levels", &S::levels},
                            Field{"level_starts", &S::level_starts, "n + 2"});
}

template <class Index>
void bind_lengths(nb::module_& m, const char* name) {
    using S = LengthSweep<Index>;
    bind_counting<S, Index>(m, name, Field{"width", &S::width}, Field{"rtol", &S::rtol}, Field{"longest", &S::longest},
                            Field{"counts", &S::counts}, Field{"distances", &S::distances, "n, 64"},
                            Field{"short_distances", &S::short_distances, "n, 64"}, Field{"is_short", &S::is_short},
                            Field{"tight_starts", &S::tight_starts, "n + 1"},
                            Field{"tight_ends", &S::tight_ends, "nnz"});
}

void bind_blocks(nb::module_& m) {
    using S = BlockSweep;
    record<S>(m, "BlockSweep", Field{"out", &S::out, "rows, entries"}, Field{"into", &S::into, "rows, nnz"},
              Field{"reach", &S::reach, "n, nnz"}, Field{"order", &S::order, "n"}, Field{"omega", &S::omega, "n"},
              Field{"values", &S::values, "n, 64"}, Field{"paths", &S::paths, "n, 64"}, Field{"stop", &S::stop},
              Field{"sigma_limit", &S::sigma_limit}, Field{"endpoints", &S::endpoints}, Field{"linear", &S::linear},
              Field{"overflowed", &S::overflowed}, Field{"bits", &S::bits, "n"}, Field{"wanted", &S::wanted, "rows"},
              Field{"marks", &S::marks, "rows"}, Field{"totals", &S::totals, "slice, 64"},
              Field{"path_totals", &S::path_totals, "slice, 64"}, Field{"met", &S::met, "slice"}, Field{"own", &S::own},
              Field{"dependency", &S::dependency, "n"}, Field{"stress", &S::stress, "n"},
              Field{"dependency_squares", &S::dependency_squares, "n"});
}

}  // namespace
void bind_batched(nb::module_& m) {
    bind_queue<Narrow>(m, "Queue32");
    bind_queue<Wide>(m, "Queue64");
    bind_levels<Narrow>(m, "LevelSweep32");
    bind_levels<Wide>(m, "LevelSweep64");
    bind_waiting<Narrow>(m, "WaitingSweep32");
    bind_waiting<Wide>(m, "WaitingSweep64");
    bind_lengths<Narrow>(m, "LengthSweep32");
    bind_lengths<Wide>(m, "LengthSweep64");
    bind_blocks(m);
    record<Groups>(m, "Groups", Field{"in_group", &Groups::in_group, "n, groups"},
                   Field{"is_member", &Groups::is_member, "n"}, Field{"position", &Groups::position, "n"},
                   Field{"endpoints", &Groups::endpoints}, Field{"shares", &Groups::shares, "n, groups"},
                   Field{"distances", &Groups::distances, "n, 64"});
    def<"sweep", "positions">(m, "search_batch", search_levels<Narrow>, search_levels<Wide>, search_waiting<Narrow>, search_waiting<Wide>, search_lengths<Narrow>, search_lengths<Wide>);
    def<"sweep", "omega", "times", "edge_order", "sums">(m, "sum_paths", sum_levels<Narrow>, sum_levels<Wide>, sum_waiting<Narrow>, sum_waiting<Wide>, sum_lengths<Narrow>, sum_lengths<Wide>);
    def<"sweep", "sums">(m, "sum_distances", sum_level_distances<Narrow>, sum_level_distances<Wide>, sum_waiting_distances<Narrow>, sum_waiting_distances<Wide>, sum_length_distances<Narrow>, sum_length_distances<Wide>);
    def<"sweep", "dist">(m, "write_levels", level_distances<Narrow>, level_distances<Wide>, waiting_distances<Narrow>, waiting_distances<Wide>);
    def<"sweep", "positions", "dist">(m, "length_distances", length_distances<Narrow, double>, length_distances<Narrow, uint16_t>, length_distances<Wide, double>, length_distances<Wide, uint16_t>);
    def<"sweep", "groups", "first", "last", "panel", "totals">(m, "add_batch_shares", add_batch_shares<WaitingSweep, Narrow>, add_batch_shares<WaitingSweep, Wide>, add_batch_shares<LengthSweep, Narrow>, add_batch_shares<LengthSweep, Wide>);
    def<"sweep", "rows", "masks", "has_values", "has_paths">(m, "pack_rows", pack_rows);
    def<"sweep", "message", "first", "has_values", "has_paths">(m, "take_rows", take_rows);
    def<"sweep", "live">(m, "push_rows", push_rows);
    def<"sweep", "block", "rows", "first", "last", "base", "has_values", "has_paths">(m, "multiply_rows", multiply_rows);
    def<"sweep", "message", "first", "has_values", "has_paths">(m, "add_rows", add_rows);
    def<"sweep", "first", "last">(m, "found_rows", found_rows);
    def<"sweep", "rows", "masks", "first", "times", "level">(m, "finish_rows", finish_rows);
    def<"masks">(m, "count_columns", count_columns);
    def<"sweep", "rows", "masks", "starts", "sums">(m, "sum_row_distances", sum_row_distances);
    def<"graph", "roots", "most", "stop">(m, "probe_hops", probe_hops<Narrow>, probe_hops<Wide>);
    def<"values", "v", "w", "length">(m, "relax_row", alone::relax_row<double>, alone::relax_row<uint16_t>);
    def<"values", "v", "mask">(m, "minimum_of_row", alone::minimum_of_row<double>, alone::minimum_of_row<uint16_t>);
    def<"values", "v">(m, "finite_in_row", alone::finite_in_row<double>, alone::finite_in_row<uint16_t>);
    def<"values", "v">(m, "positive_in_row", alone::positive_in_row);
    def<"values", "v", "w", "length", "rtol">(m, "tight_in_row", alone::tight_in_row<double>, alone::tight_in_row<uint16_t>);
    def<"values", "v", "mask", "total", "limit">(m, "put_row", alone::put_row);
    def<"values", "v", "mask", "total", "omega", "times">(m, "finish_row", alone::finish_row);
    def<"paths", "values", "v", "mask", "total", "omega", "times">(m, "finish_paths_row", alone::finish_paths_row);
    def<"values", "v", "w", "mask", "times">(m, "dot_rows", alone::dot_rows);
    def<"values", "v", "mask">(m, "sum_row", alone::sum_row);
    def<"values", "v", "mask">(m, "sum_inverse_row", alone::sum_inverse_row);
    def<"largest", "values", "v", "mask">(m, "raise_row", alone::raise_row);
    def<"edges", "bits", "v", "wanted", "values", "total">(m, "gather", alone::gather<Narrow>, alone::gather<Wide>);
}

}  // namespace lagbc
