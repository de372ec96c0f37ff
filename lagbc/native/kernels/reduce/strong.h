// Strong components of the bicomponents of a directed graph, and the arcs between them, along which reach.h spreads
// weights: lagbc/reduce/blocks.py.
//
// A copy is a vertex in one of its bicomponents (layout.h). A whole graph may stand for one bicomponent, with its
// vertices for copies.
//
// R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1 (1972) 146-160.
#pragma once

#include <algorithm>
#include <tuple>

#include "../buffer.h"

namespace lagbc {

// The strong components of all bicomponents; an arc leads to the same component or to one of a smaller number.
template <class Index>
struct Strong {
    Span<const Index> component;        // the component of each copy
    Span<const int64_t> component_ptr;  // components of bicomponent b: component_ptr[b] to component_ptr[b + 1] - 1
    Span<const int64_t> member_ptr;     // the copies of each component, ascending
    Span<const Index> members;

    int64_t count() const { return member_ptr.size - 1; }
};

// Sort the indices of `numbers` by number, ties by index; return where each number begins, and the sorted indices.
template <class Index>
std::tuple<Buffer<int64_t>, Buffer<Index>> group(Span<const Index> numbers, int64_t count) {
    Buffer<int64_t> ptr(count + 1, 0), next(count);
    Buffer<Index> sorted(numbers.size);
    for (const Index number : numbers) ++ptr[number + 1];
    for (int64_t c = 0; c < count; ++c) {
        next[c] = ptr[c];
        ptr[c + 1] += ptr[c];
    }
    for (int64_t x = 0; x < numbers.size; ++x) sorted[next[numbers[x]]++] = static_cast<Index>(x);
    return {std::move(ptr), std::move(sorted)};
}

// Tarjan's search of one bicomponent after the other, without recursion. `path` holds the copies from the root to the
// current one, `next` the entry at which each goes on, and `waiting` the copies without a component.
template <class Index>
class StrongSearch {
public:
    StrongSearch(Span<const int64_t> indptr, Span<const Index> indices, Stop stop)
        : indptr_(indptr),
          indices_(indices),
          stop_(stop),
          component_(copies(), -1),
          discovered_(copies(), -1),
          low_(copies()),
          path_(copies()),
          waiting_(copies()),
          next_(copies()) {}

    void search_from(Index root) {
        if (discovered_[root] >= 0 || stop_.is_set()) return;
        discover(root);
        while (depth_ > 0 && !stop_.is_set()) {
            const Index v = path_[depth_ - 1];
            if (next_[v] < indptr_[v + 1]) {
                const Index w = indices_[next_[v]++];
                if (discovered_[w] < 0)
                    discover(w);
                else if (component_[w] < 0)
                    low_[v] = std::min(low_[v], discovered_[w]);
            } else {
                leave(v);
            }
        }
    }

    int64_t count() const { return count_; }
    Buffer<Index>& component() { return component_; }

private:
    int64_t copies() const { return indptr_.size - 1; }

    void discover(Index v) {
        discovered_[v] = low_[v] = time_++;
        next_[v] = indptr_[v];
        waiting_[top_++] = v;
        path_[depth_++] = v;
    }

    void leave(Index v) {
        if (--depth_ > 0) {
            const Index u = path_[depth_ - 1];
            low_[u] = std::min(low_[u], low_[v]);
        }
        if (low_[v] != discovered_[v]) return;
        while (component_[v] < 0) component_[waiting_[--top_]] = count_;
        ++count_;
    }

    Span<const int64_t> indptr_;
    Span<const Index> indices_;
    Stop stop_;
    Buffer<Index> component_, discovered_, low_, path_, waiting_;
    Buffer<int64_t> next_;
    Index time_ = 0, count_ = 0;
    int64_t depth_ = 0, top_ = 0;
};

// The arrays of `Strong`; bicomponent b has the copies ptr[b] to ptr[b + 1] - 1. O(copies + nnz).
template <class Index>
std::tuple<Buffer<Index>, Buffer<int64_t>, Buffer<int64_t>, Buffer<Index>> find_strong(Span<const int64_t> ptr,
                                                                                       Span<const int64_t> indptr,
                                                                                       Span<const Index> indices,
                                                                                       Stop stop) {
    StrongSearch<Index> search(indptr, indices, stop);
    Buffer<int64_t> component_ptr(ptr.size, 0);
    for (int64_t b = 0; b < ptr.size - 1; ++b) {
        for (int64_t root = ptr[b]; root < ptr[b + 1]; ++root) search.search_from(static_cast<Index>(root));
        component_ptr[b + 1] = search.count();
    }
    if (stop.is_set())  // copies may be left without a component
        return {Buffer<Index>(0), Buffer<int64_t>(0), Buffer<int64_t>(0), Buffer<Index>(0)};
    auto [member_ptr, members] = group<Index>(search.component().view(), search.count());
    return {std::move(search.component()), std::move(component_ptr), std::move(member_ptr), std::move(members)};
}

// The arcs between components, each once: row pointers and heads, then the same of the reversed arcs.
template <class Index>
std::tuple<Buffer<int64_t>, Buffer<Index>, Buffer<int64_t>, Buffer<Index>> condense(Span<const int64_t> indptr,
                                                                                    Span<const Index> indices,
                                                                                    const Strong<Index>& strong) {
    const int64_t count = strong.count();
    Buffer<int64_t> arc_ptr(count + 1, 0), last(count, -1);  // the last component with an arc to each
    Buffer<Index> heads(indices.size), tails(indices.size);
    int64_t arcs = 0;
    for (int64_t c = 0; c < count; ++c) {
        for (int64_t k = strong.member_ptr[c]; k < strong.member_ptr[c + 1]; ++k) {
            const Index x = strong.members[k];
            for (int64_t e = indptr[x]; e < indptr[x + 1]; ++e) {
                const Index d = strong.component[indices[e]];
                if (d == c || last[d] == c) continue;
                last[d] = c;
                tails[arcs] = static_cast<Index>(c);
                heads[arcs++] = d;
            }
        }
        arc_ptr[c + 1] = arcs;
    }
    heads.resize(arcs);
    auto [back_ptr, back_tails] = group<Index>({heads.data(), arcs}, count);
    for (int64_t k = 0; k < arcs; ++k) back_tails[k] = tails[back_tails[k]];
    return {std::move(arc_ptr), std::move(heads), std::move(back_ptr), std::move(back_tails)};
}

}  // namespace lagbc
