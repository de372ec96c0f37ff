// The kernels of graphs and their orders: one line each.
#pragma once

#include "../family.h"
#include "csr.h"
#include "order.h"
#include "proximity.h"
#include "search.h"
#include "survey.h"

namespace lagbc::LAGBC_LEVEL {

using GraphKernels = Family<
    Level, "graph",  //
    Kernel<"inspect(indptr, indices, first, last)", inspect<Narrow>, inspect<Wide>>,
    Kernel<"count_mirrored(indptr, indices, values, first, last)", count_mirrored<Narrow>, count_mirrored<Wide>>,
    Kernel<"merge(indptr, indices, values)", merge<Narrow>, merge<Wide>>,
    Kernel<"expand_rows(indptr, first, last, rows)", expand_rows<Narrow>, expand_rows<Wide>>,
    Kernel<"count_ranges(columns, first, last, shift, counts)", count_ranges<Narrow>, count_ranges<Wide>>,
    Kernel<"put_under_ranges(entries, first, last, shift, places, put)", put_under_ranges<Narrow>,
           put_under_ranges<Wide>>,
    Kernel<"sort_range(entries, first, last, begin, end, indptr, heads, values)", sort_range<Narrow>, sort_range<Wide>>,
    Kernel<"count_joined(ours, theirs, first, last, counts)", count_joined<Narrow>, count_joined<Wide>>,
    Kernel<"join(ours, theirs, first, last, indptr, indices, values)", join<Narrow>, join<Wide>>,
    Kernel<"begin_rows(indptr, order)", begin_rows>,
    Kernel<"relabel(graph, order, position, first, last, starts, tails, heads, values)", relabel<Narrow>,
           relabel<Wide>>,
    Kernel<"find_components(indptr, indices)", find_components<Narrow>, find_components<Wide>>,
    Kernel<"search_from(indptr, indices, roots)", search_from<Narrow>, search_from<Wide>>,
    Kernel<"widest_row(indptr, components)", widest_row<Narrow>, widest_row<Wide>>,
    Kernel<"search_from_hub(indptr, indices, components)", search_from_hub<Narrow>, search_from_hub<Wide>>,
    Kernel<"join_searches(indptr, indices, first, last, level, hubs, frontier, seen, joined, distances)",
           join_searches<Narrow>, join_searches<Wide>>,
    Kernel<"sort_by_key(keys, order)", sort_by_key<uint8_t>, sort_by_key<int32_t>, sort_by_key<int64_t>>,
    Kernel<"order_by_length(indptr)", order_by_length>, Kernel<"places_in(order)", places_in>,
    Kernel<"line_up(lengths, places, rows)", line_up>,
    Kernel<"measure_landmarks(indptr, indices, piece, vertex, nearest, pieces, points, stop)",
           measure_landmarks<Narrow>, measure_landmarks<Wide>>,
    Kernel<"sort_by_keys(keys, order)", sort_by_keys>,
    Kernel<"bisect(points, shift, order, first, last, leaf, once, steps)", bisect>,
    Kernel<"survey(indptr, indices, lengths, high, degrees, order, position, starts, heads, values)", survey<Narrow>,
           survey<Wide>>,
    Kernel<"survey_one_way(indptr, indices, lengths, high, numbers, heads, values)", survey_one_way<Narrow>,
           survey_one_way<Wide>>>;

}  // namespace lagbc::LAGBC_LEVEL
