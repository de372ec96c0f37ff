// Operations on rows, one by one, for test_rows.py.
#include "batched/products.h"

using namespace lagbc;

// The columns met, and in `total` the sums over the ends of edges, which are live in the columns of `bits`.
template <class Index>
uint64_t gather_along(const Index* ends, int64_t count, const uint64_t* bits, uint64_t wanted, double* values,
                      double* total) {
    const int64_t starts[] = {0, count};
    Row row = zero_row();
    const uint64_t met = gather<Index>({starts, 2}, {ends, count}, ByEnd{bits}, 0, wanted, {values, 0}, row);
    store_row(total, row);
    return met;
}

extern "C" {

uint64_t relax_row(const double* near, double* far, double length) {
    return lagbc::relax_row(near, far, length_of(length, near));
}

uint64_t relax_short_row(const uint16_t* near, uint16_t* far, double length) {
    return lagbc::relax_row(near, far, length_of(length, near));
}

double minimum_of_row(const double* values, uint64_t mask) {
    return lagbc::minimum_of_row(values, mask);
}

double minimum_of_short_row(const uint16_t* values, uint64_t mask) {
    return lagbc::minimum_of_row(values, mask);
}

uint64_t finite_in_row(const double* values) {
    return lagbc::finite_in_row(values);
}

uint64_t finite_in_short_row(const uint16_t* values) {
    return lagbc::finite_in_row(values);
}

uint64_t positive_in_row(const double* values) {
    return lagbc::positive_in_row(values);
}

uint64_t tight_in_row(const double* near, const double* far, double length, double rtol) {
    return lagbc::tight_in_row(near, far, length, rtol);
}

uint64_t tight_in_short_row(const uint16_t* near, const uint16_t* far, double length) {
    return lagbc::tight_in_row(near, far, length, 0.0);
}

uint64_t put_row(double* values, uint64_t mask, const double* total, double limit) {
    return lagbc::put_row(values, mask, load_row(total), limit);
}

double finish_row(double* values, uint64_t mask, const double* total, double omega, const double* times) {
    return lagbc::finish_row(values, mask, load_row(total), splat_row(omega), times);
}

double finish_paths_row(double* paths, const double* values, uint64_t mask, const double* total, double omega,
                        const double* times) {
    return lagbc::finish_paths_row(paths, values, mask, load_row(total), splat_row(omega), times);
}

double dot_rows(const double* one, const double* other, uint64_t mask, const double* times) {
    return lagbc::dot_rows(one, other, mask, times);
}

double sum_row(const double* values, uint64_t mask) {
    return lagbc::sum_row(values, mask);
}

double sum_inverse_row(const double* values, uint64_t mask) {
    return lagbc::sum_inverse_row(values, mask);
}

void raise_row(double* largest, const double* values, uint64_t mask) {
    Row row = load_row(largest);
    lagbc::raise_row(row, values, mask);
    store_row(largest, row);
}

uint64_t gather_narrow(const int32_t* ends, int64_t count, const uint64_t* bits, uint64_t wanted, double* values,
                       double* total) {
    return gather_along(ends, count, bits, wanted, values, total);
}

uint64_t gather_wide(const int64_t* ends, int64_t count, const uint64_t* bits, uint64_t wanted, double* values,
                     double* total) {
    return gather_along(ends, count, bits, wanted, values, total);
}
}
