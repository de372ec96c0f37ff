// Kernels of graphs and their orders for Python.
#include "../kernels/graph/family.h"
#include "bind.h"
#include "records.h"
#include "tuples.h"

namespace lagbc {

template <class Index>
struct Items<Entries<Index>> {
    using Struct = Entries<Index>;
    static constexpr const char* name = "matrix";
    static constexpr std::tuple fields{Field{"rows", &Struct::rows, "nnz"}, Field{"columns", &Struct::columns, "nnz"},
                                       Field{"values", &Struct::values, "nnz"}};
};

template <class Index>
struct Items<EntriesRoom<Index>> {
    using Struct = EntriesRoom<Index>;
    static constexpr const char* name = "matrix";
    static constexpr std::tuple fields{Field{"rows", &Struct::rows, "nnz"}, Field{"columns", &Struct::columns, "nnz"},
                                       Field{"values", &Struct::values, "nnz"}};
};

}  // namespace lagbc

void lagbc::bind_graph(nb::module_& m, int level) {
    bind(m, level, signatures::GraphKernels());
}
