// Sums within bounds of neighbouring roots for Python.
#include "../kernels/within/sums.h"
#include "numpy.h"

namespace lagbc {

inline auto items(BallSize& size) {
    return std::tie(size.n, size.rows, size.edges, size.is_symmetric, size.has_paths, size.has_edges);
}

namespace {

template <class Index, class Number>
void bind_ball(nb::module_& m, const char* name) {
    using B = BallOf<Index, Number>;
    nb::class_<B> bound(m, name);
    method(
        bound, "__init__",
        [](B* self, In<"size", BallSize> size, In<"worker", Traversal<Index>&> worker,
           In<"into", const Csr<Index>&> into, In<"far", double> far, In<"worth", double> worth) {
            const Csr<Index>&graph = *worker.value.graph, &transpose = into;
            require_size("into", transpose, graph.n(), graph.indices.size);
            if (size.n != transpose.n()) raise_value("size has to be that of the graph");
            if (!transpose.lengths.is_there || !graph.lengths.is_there) raise_value("into has to have lengths");
            B& ball = *new (self) B(size);
            ball.worker = &worker.value;
            ball.into = &transpose;
            ball.far = static_cast<Number>(far.value);
            ball.worth = worth;
        },
        nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    show_memory(bound, [](In<"size", BallSize> size) { return B(size, true); });
    method(
        bound, "sum_within",
        [](B& ball, In<"roots", Span<const int64_t>> roots) {
            require_block(roots, ball.worker->order.size, ball.worker->near.by_root.size);
            Found found(roots.size);
            without_gil([&] { sum_blocks(ball, roots, found); });
            return std::move(found.overflowed);
        },
        "As `sum_within` of its worker, blocks of neighbouring roots together where that is worth it.");
}

}  // namespace

void bind_within(nb::module_& m) {
    bind_ball<Narrow, uint16_t>(m, "ShortBall32");
    bind_ball<Wide, uint16_t>(m, "ShortBall64");
    bind_ball<Narrow, double>(m, "Ball32");
    bind_ball<Wide, double>(m, "Ball64");
}

}  // namespace lagbc
