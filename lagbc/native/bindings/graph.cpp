// Kernels of graphs and their orders for Python.
#include "../kernels/graph/csr.h"
#include "../kernels/graph/order.h"
#include "../kernels/graph/proximity.h"
#include "../kernels/graph/search.h"
#include "../kernels/graph/survey.h"
#include "numpy.h"

namespace lagbc {
// Entries, or room for them.
template <class Matrix>
    requires requires(Matrix& of) { of.columns, of.values; }
auto items(Matrix& of) {
    const int64_t nnz = of.rows.size;
    return std::tuple(Item("rows", of.rows), Item("columns", of.columns, nnz), Item("values", of.values, nnz));
}

void bind_graph(nb::module_& m) {
    def<"indptr", "indices", "first", "last">(m, "inspect", inspect<Narrow>, inspect<Wide>);
    def<"indptr", "indices", "values", "first", "last">(m, "count_mirrored", count_mirrored<Narrow>,
                                                        count_mirrored<Wide>);
    def<"indptr", "indices", "values", "factor", "first", "last", "sums">(m, "add_mirrored", add_mirrored<Narrow>,
                                                                          add_mirrored<Wide>);
    def<"indptr", "indices", "values">(m, "merge", merge<Narrow>, merge<Wide>);
    def<"indptr", "first", "last", "rows">(m, "expand_rows", expand_rows<Narrow>, expand_rows<Wide>);
    def<"columns", "first", "last", "shift", "counts">(m, "count_ranges", count_ranges<Narrow>, count_ranges<Wide>);
    def<"entries", "first", "last", "shift", "places", "put">(m, "put_under_ranges", put_under_ranges<Narrow>,
                                                              put_under_ranges<Wide>);
    def<"entries", "first", "last", "begin", "end", "indptr", "heads", "values">(m, "sort_range", sort_range<Narrow>,
                                                                                 sort_range<Wide>);
    def<"ours", "theirs", "first", "last", "counts">(m, "count_joined", count_joined<Narrow>, count_joined<Wide>);
    def<"ours", "theirs", "first", "last", "indptr", "indices", "values">(m, "join", join<Narrow>, join<Wide>);
    def<"indptr", "order">(m, "begin_rows", begin_rows);
    def<"graph", "order", "position", "first", "last", "starts", "tails", "heads", "values">(
        m, "relabel", relabel<Narrow>, relabel<Wide>);
    def<"indptr", "indices">(m, "find_components", find_components<Narrow>, find_components<Wide>);
    def<"indptr", "indices", "roots">(m, "search_from", search_from<Narrow>, search_from<Wide>);
    def<"indptr", "components">(m, "widest_row", widest_row<Narrow>, widest_row<Wide>);
    def<"indptr", "indices", "components">(m, "search_from_hub", search_from_hub<Narrow>, search_from_hub<Wide>);
    def<"indptr", "indices", "first", "last", "level", "hubs", "frontier", "seen", "joined", "distances">(
        m, "join_searches", join_searches<Narrow>, join_searches<Wide>);
    def<"keys", "order">(m, "sort_by_key", sort_by_key<uint8_t>, sort_by_key<int32_t>, sort_by_key<int64_t>);
    def<"indptr">(m, "order_by_length", order_by_length);
    def<"order">(m, "places_in", places_in);
    def<"lengths", "places", "rows", "found">(m, "line_up", line_up);
    def<"indptr", "indices", "piece", "vertex", "nearest", "pieces", "points", "stop">(
        m, "measure_landmarks", measure_landmarks<Narrow>, measure_landmarks<Wide>);
    def<"indptr", "indices", "lengths", "high", "degrees", "order", "position", "starts", "heads", "values">(
        m, "survey", survey<Narrow>, survey<Wide>);
    def<"indptr", "indices", "lengths", "high", "numbers", "heads", "values">(
        m, "survey_one_way", survey_one_way<Narrow>, survey_one_way<Wide>);
}

}  // namespace lagbc
