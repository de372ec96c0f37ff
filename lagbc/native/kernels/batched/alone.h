// The operations on rows one by one, for the tests, which hold them against NumPy at every level.
#pragma once

#include "products.h"

namespace lagbc::alone {

template <class Distance>
uint64_t relax_row(Rows<Distance> values, int64_t v, int64_t w, double length) {
    return lagbc::relax_row(values[v], values[w], length_of(length, values[v]));
}

template <class Distance>
double minimum_of_row(Rows<const Distance> values, int64_t v, uint64_t mask) {
    return lagbc::minimum_of_row(values[v], mask);
}

template <class Distance>
uint64_t finite_in_row(Rows<const Distance> values, int64_t v) {
    return lagbc::finite_in_row(values[v]);
}

inline uint64_t positive_in_row(Rows<const double> values, int64_t v) {
    return lagbc::positive_in_row(values[v]);
}

template <class Distance>
uint64_t tight_in_row(Rows<const Distance> values, int64_t v, int64_t w, double length, double rtol) {
    return lagbc::tight_in_row(values[v], values[w], length, rtol);
}

inline uint64_t put_row(Rows<double> values, int64_t v, uint64_t mask, Rows<const double> total, double limit) {
    return lagbc::put_row(values[v], mask, load_row(total[0]), limit);
}

inline double finish_row(Rows<double> values, int64_t v, uint64_t mask, Rows<const double> total, double omega,
                         Rows<const double> times) {
    return lagbc::finish_row(values[v], mask, load_row(total[0]), splat_row(omega), times[0]);
}

inline double finish_paths_row(Rows<double> paths, Rows<const double> values, int64_t v, uint64_t mask,
                               Rows<const double> total, double omega, Rows<const double> times) {
    return lagbc::finish_paths_row(paths[v], values[v], mask, load_row(total[0]), splat_row(omega), times[0]);
}

inline double dot_rows(Rows<const double> values, int64_t v, int64_t w, uint64_t mask, Rows<const double> times) {
    return lagbc::dot_rows(values[v], values[w], mask, times[0]);
}

inline double sum_row(Rows<const double> values, int64_t v, uint64_t mask) {
    return lagbc::sum_row(values[v], mask);
}

inline double sum_inverse_row(Rows<const double> values, int64_t v, uint64_t mask) {
    return lagbc::sum_inverse_row(values[v], mask);
}

inline void raise_row(Rows<double> largest, Rows<const double> values, int64_t v, uint64_t mask) {
    Row row = load_row(largest[0]);
    lagbc::raise_row(row, values[v], mask);
    store_row(largest[0], row);
}

// The columns met, and in `total` the sums over the edges of v, whose ends are live in the columns of `bits`.
template <class Index>
uint64_t gather(const Csr<Index>& edges, Span<const uint64_t> bits, int64_t v, uint64_t wanted, Rows<double> values,
                Rows<double> total) {
    Row row = zero_row();
    const uint64_t met = lagbc::gather(edges.indptr, edges.indices, ByEnd{bits.data}, v, wanted, values, row);
    store_row(total[0], row);
    return met;
}

}  // namespace lagbc::alone
