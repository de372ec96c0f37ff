// Kernels that several methods need for Python.
#include "../kernels/methods/columns.h"
#include "../kernels/methods/groups.h"
#include "../kernels/methods/highest.h"
#include "numpy.h"

namespace lagbc {

template <class T>
struct ArrayOf<Strided<T>> : ViewOf<Strided<T>, T, nb::ndim<2>> {
    static constexpr const char* shape = "two dimensions";
};

namespace {

template <class Index>
void bind_highest(nb::module_& m, const std::string& bits) {
    using S = BoundedSearch<Index>;
    using Graph = const Csr<Index>&;
    nb::class_<S> bound(m, ("BoundedSearch" + bits).c_str());
    method(
        bound, "__init__",
        [](S* self, In<"out", Graph> out, In<"into", Graph> into, In<"reach", Span<const int64_t>> reach,
           In<"is_exact", bool> is_exact, In<"inverse", bool> inverse, In<"share", bool> share,
           In<"pull_share", double> pull_share) {
            const int64_t n = out.value.n();
            require_size("into", into.value, n, out.value.indices.size);
            sized(reach, n);
            S& s = *new (self) S(n);
            s.scored = {n, inverse, share, is_exact};
            s.out = &out.value;
            s.into = &into.value;
            s.reach = reach;
            s.pull_share = pull_share;
        },
        nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>());
    show_memory(bound, [](In<"n", int64_t> n) { return S(n, true); });
    bound.def_ro("edges", &S::edges);
    method(
        bound, "search",
        [](S& s, In<"roots", Span<const int64_t>> roots, In<"least", double> least, In<"to_the_end", bool> to_the_end,
           In<"stop", Stop> stop) {
            if (roots.size > columns) raise_value("roots has to have at most 64 vertices");
            require_roots(roots, s.reach.size);
            if (std::any_of(roots.begin(), roots.end(), [](int64_t v) { return v < 0; }))
                raise_value("roots has to be >= 0");
            return without_gil([&] { return search_bounded<Index>(s, roots, least, to_the_end, stop); });
        },
        "Search from distinct roots whose score may be at least so much: counts, sums, ended, to be searched again.");
    method(bound, "bound_scores", [](const S& s, In<"depth", int64_t> depth) {
        return without_gil([&] { return bound_scores<Index>(s, depth); });
    });
    def<"graph", "vertex", "roots", "panel", "chunk", "by_levels">(m, "sum_inverses", sum_inverses<Index>);
    def<"component", "member_ptr", "arc_ptr", "heads">(m, "bound_reach", bound_reach<Index>);
}

}  // namespace

void bind_methods(nb::module_& m) {
    bind_highest<Narrow>(m, "32");
    bind_highest<Wide>(m, "64");
    def<"weights", "smallest", "largest">(m, "find_extremes", find_extremes);
    def<"dist", "sigma">(m, "clear_unreached", clear_unreached<double>, clear_unreached<float>);
    def<"columns", "rows">(m, "turn", turn);
    def<"rows", "columns">(m, "turn_back", turn_back<double, double>, turn_back<double, int32_t>,
                           turn_back<float, double>, turn_back<float, int32_t>);
    def<"into", "reached", "dist", "sigma", "is_log", "rtol", "in_group", "endpoints", "shares", "is_passed", "totals">(
        m, "add_group_shares", add_group_shares<Narrow>, add_group_shares<Wide>);
}

}  // namespace lagbc
