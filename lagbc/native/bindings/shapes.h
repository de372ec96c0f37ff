// The arrays of a record with lengths that go together.
//
// A shape is written as in docstrings, "n + 1", "2, n", "n, 64": sums of numbers and of sizes by name, which the fields
// of a record have in common. The first field whose shape names a size tells how large it is.
#pragma once

#include <string>
#include <string_view>

#include "../kernels/arrays.h"

namespace lagbc {

// Lengths of an array; none of a field that is None.
struct Lengths {
    int64_t of[2] = {};
    int count = 0;
};

template <class T>
Lengths lengths_of(const Span<T>& array) {
    return {{array.size}, 1};
}

template <class T>
Lengths lengths_of(const Matrix<T>& array) {
    return {{array.size, array.width}, 2};
}

template <class T>
Lengths lengths_of(const Rows<T>& array) {
    return {{array.size, columns}, 2};
}

template <class View>
Lengths lengths_of(const Optional<View>& array) {
    return array.is_there ? lengths_of(static_cast<const View&>(array)) : Lengths();
}

// Lengths of a graph: its vertices and edges.
template <class Index>
Lengths lengths_of(const Ref<const Csr<Index>>& graph) {
    return {{graph->n(), graph->indices.size}, 2};
}

template <class T>
concept HasLengths = requires(const T& value) { lengths_of(value); };

// The sizes of a record as far as its fields have told them.
class Sizes {
public:
    // Whether an array has a shape; None has any.
    bool fit(std::string_view shape, const Lengths& lengths) noexcept;

    // "(n + 1,), n being 5", of the sizes that are known.
    std::string words(std::string_view shape) const;

private:
    struct Size {
        std::string_view name;
        int64_t size;
    };

    bool fit_one(std::string_view sum, int64_t length) noexcept;
    const Size* find(std::string_view name) const noexcept;

    static constexpr int most = 12;
    Size known_[most];
    int count_ = 0;
};

// "(n + 1,)" and "(5,)"
std::string as_tuple(std::string_view shape);
std::string as_tuple(const Lengths& lengths);

}  // namespace lagbc
