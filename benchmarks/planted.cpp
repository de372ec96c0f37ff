// Errors that the sanitizers have to notice, a function each: `python -m benchmarks.sanitize --native` calls them.
//
// Arrays are those of kernels, and the flags of the compiler, too. Of a race both threads are in the function before
// one goes on: nothing puts what they do in an order.
#include "../lagbc/native/bindings/numpy.h"

namespace lagbc {
namespace {

// Wait until both threads have come here.
void meet(Span<uint8_t> arrived) {
    __atomic_fetch_add(arrived.data, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(arrived.data, __ATOMIC_RELAXED) < 2) {
    }
}

double read_past_the_end(Span<const double> values) {
    return values[values.size];
}

void write_before_the_start(Span<double> values) {
    values[-1] = 1.0;
}

double read_row_that_is_not_there(Rows<const double> values) {
    return values[values.size][0];
}

double read_buffer_that_moved(int64_t size) {
    Buffer<double> buffer(size, 1.0);
    const double* before = buffer.data();
    buffer.resize(1000 * size);
    return before[0];
}

double read_freed_buffer(int64_t size) {
    Buffer<double> buffer(size, 1.0);
    const Span<const double> view = buffer.view();
    buffer = Buffer<double>();
    return view[0];
}

double read_none(Optional<Span<const double>> values) {
    return values[0];
}

uint64_t shift_by_all_bits(int64_t bits) {
    return uint64_t{1} << bits;
}

int32_t count_beyond_32_bits(int32_t count) {
    return count + 1;
}

double read_misaligned(Span<const uint8_t> bytes) {
    return *reinterpret_cast<const double*>(bytes.data + 1);
}

int64_t read_column_64(int64_t column) {
    int64_t counts[columns] = {};
    return counts[column];
}

int64_t cast_beyond_64_bits(double number) {
    return static_cast<int64_t>(number);
}

void add_to_one_sum(Span<double> sums, Span<uint8_t> arrived) {
    meet(arrived);
    for (int64_t i = 0; i < sums.size; ++i) sums[i] += 1.0;
}

void read_flag_plainly(Span<uint8_t> flag, Span<uint8_t> arrived, bool sets) {
    meet(arrived);
    if (sets)
        flag[0] = 1;
    else if (flag[0] != 0)
        arrived[0] = 3;
}

}  // namespace
}  // namespace lagbc

NB_MODULE(planted, m) {
    using namespace lagbc;
    def<"values">(m, "read_past_the_end", read_past_the_end);
    def<"values">(m, "write_before_the_start", write_before_the_start);
    def<"values">(m, "read_row_that_is_not_there", read_row_that_is_not_there);
    def<"size">(m, "read_buffer_that_moved", read_buffer_that_moved);
    def<"size">(m, "read_freed_buffer", read_freed_buffer);
    def<"values">(m, "read_none", read_none);
    def<"bits">(m, "shift_by_all_bits", shift_by_all_bits);
    def<"count">(m, "count_beyond_32_bits", count_beyond_32_bits);
    def<"bytes">(m, "read_misaligned", read_misaligned);
    def<"column">(m, "read_column_64", read_column_64);
    def<"number">(m, "cast_beyond_64_bits", cast_beyond_64_bits);
    def<"sums", "arrived">(m, "add_to_one_sum", add_to_one_sum);
    def<"flag", "arrived", "sets">(m, "read_flag_plainly", read_flag_plainly);
}
