// The check of roots within bounds, for a worker of the traversals and for a ball.
#pragma once

#include "../kernels/traversal/state.h"
#include "numpy.h"

namespace lagbc {

// Raise the error of roots that are no vertices, or too many for a block within bounds.
template <class Index>
void require_block(Span<const int64_t> roots, const Traversal<Index>& s) {
    require_roots(roots, s.order.size);
    if (roots.size > s.near.by_root.size)
        raise_value("a block within bounds has " + std::to_string(s.near.by_root.size) + " roots at most, not " +
                    std::to_string(roots.size));
}

}  // namespace lagbc
