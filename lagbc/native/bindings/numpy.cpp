#include "numpy.h"

namespace lagbc {
namespace {

std::string text(nb::handle h) {
    return nb::cast<std::string>(nb::str(h));
}

std::string name_of(nb::dlpack::dtype dtype) {
    constexpr const char* kinds[] = {"int", "uint", "float", "", "", "", "bool"};
    return kinds[dtype.code] + (dtype.code == 6 ? "" : std::to_string(dtype.bits));
}

std::string shape_of(int64_t rows, int64_t width) {
    return "(" + std::to_string(rows) + (width < 0 ? ",)" : ", " + std::to_string(width) + ")");
}

// The dtype and shape of an array, or the type of any other object.
std::string found(nb::handle given) {
    if (given.is_none()) return "None";
    if (!nb::hasattr(given, "dtype") || !nb::hasattr(given, "shape"))
        return "of type " + text(given.type().attr("__name__"));
    std::string words = "an array of " + text(given.attr("dtype")) + " of shape " + text(given.attr("shape"));
    const nb::object array = nb::module_::import_("numpy").attr("ndarray");
    if (PyObject_IsInstance(given.ptr(), array.ptr()) != 1) return words;
    const nb::object flags = given.attr("flags");
    if (!nb::cast<bool>(flags["C_CONTIGUOUS"])) words += " that is not C-contiguous";
    if (!nb::cast<bool>(flags["ALIGNED"])) words += " that is not aligned";
    if (!nb::cast<bool>(flags["WRITEABLE"])) words += " that is read-only";
    return words;
}

}  // namespace

void raise_value(const std::string& message) {
    throw nb::value_error(message.c_str());
}

void refuse(const char* name, nb::dlpack::dtype dtype, const char* shape, bool is_writable, bool is_contiguous,
            bool is_optional, nb::handle given) {
    const std::string message = std::string(name) + " has to be a " + (is_writable ? "writable " : "") +
                                (is_contiguous ? "C-contiguous " : "") + "array of " + name_of(dtype) + " of " + shape +
                                (is_optional ? ", or None" : "") + ", not " + found(given);
    throw nb::type_error(message.c_str());
}

void refuse_tuple(const char* name, int64_t count, nb::handle given) {
    const bool is_tuple = nb::isinstance<nb::tuple>(given);
    const std::string message = std::string(name) + " has to be a tuple of " + std::to_string(count) + ", not " +
                                (is_tuple ? "of " + std::to_string(nb::len(given)) : found(given));
    throw nb::type_error(message.c_str());
}

void refuse_size(const char* name, int64_t rows, int64_t width, int64_t found_rows, int64_t found_width) {
    raise_value(std::string(name) + " has to be of shape " + shape_of(rows, width) + ", not " +
                shape_of(found_rows, found_width));
}

void put_in_order(Span<double> to, Optional<Span<const double>> from, Span<const int64_t> order) {
    for (int64_t i = 0; from.is_there && i < order.size; ++i) to[i] = from[order[i]];
}

void require_roots(Span<const int64_t> roots, int64_t n) {
    for (const int64_t root : roots)
        if (root >= n)
            throw nb::index_error(
                ("root " + std::to_string(root) + " is none of the " + std::to_string(n) + " vertices").c_str());
}

void require_block(Span<const int64_t> roots, int64_t n, int64_t most) {
    require_roots(roots, n);
    if (roots.size > most)
        raise_value("a block within bounds has " + std::to_string(most) + " roots at most, not " +
                    std::to_string(roots.size));
}

void require_size(const char* name, int64_t n, int64_t nnz, int64_t found_n, int64_t found_nnz) {
    if (found_n == n && found_nnz == nnz) return;
    const auto size = [](int64_t rows, int64_t edges) {
        return std::to_string(rows) + " rows and " + std::to_string(edges) + " edges";
    };
    raise_value(std::string(name) + " has to have " + size(n, nnz) + ", not " + size(found_n, found_nnz));
}

nb::ndarray<nb::numpy> array_named(const Memory& memory, nb::handle holder, const char* name) {
    for (const Memory::Array& one : memory.arrays()) {
        if (std::string(name) != one.name) continue;
        const nb::dlpack::dtype dtype{one.code, static_cast<uint8_t>(8 * one.item), 1};
        const std::size_t shape[] = {static_cast<std::size_t>(one.rows), static_cast<std::size_t>(one.width)};
        return nb::ndarray<nb::numpy>(one.data, one.width < 0 ? 1 : 2, shape, holder, nullptr, dtype);
    }
    throw nb::attribute_error(name);
}

}  // namespace lagbc
