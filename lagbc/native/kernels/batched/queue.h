// The queue of (vertex, bit row) entries that a sweep of 64 roots keeps: entry i is live in the columns masks()[i].
//
// The forward sweep fills it, so that every vertex stands after those that precede it on shortest paths; the first
// entries are the roots'. The backward sweep reads it from the end.
//
// It has room for as many entries as graphs of a kind were seen to use, and grows between two levels or phases.
#pragma once

#include <algorithm>

#include "../buffer.h"

namespace lagbc {

template <class Index>
class Queue {
public:
    // room: first entries; rows: vertices, each with at most 64 entries; growth: bytes that may be taken beyond the
    // room, or less than zero for any.
    Queue(int64_t room, int64_t rows, int64_t growth)
        : vertices_(room), masks_(room), room_(room), rows_(rows), growth_(growth) {}

    int64_t size() const { return vertices_.size(); }
    Index* vertices() const { return vertices_.data(); }
    uint64_t* masks() const { return masks_.data(); }

    // Make room for `needed` entries, or for half as many again: a sweep asks for up to one a row more than it will
    // write. While one part moves, it is there twice.
    void require(int64_t needed) {
        if (needed <= size()) return;
        const int64_t wider = std::max(needed, std::min(size() * 3 / 2, rows_ * (columns + 1)));
        const int64_t entry = sizeof(Index) + sizeof(uint64_t);
        const int64_t more = (wider - room_) * entry + size() * static_cast<int64_t>(sizeof(uint64_t));
        if (growth_ >= 0 && more > growth_) throw_beyond_growth(more, growth_);
        vertices_.resize(wider);
        masks_.resize(wider);
    }

    void put(int64_t i, int64_t v, uint64_t mask) const {
        vertices_[i] = static_cast<Index>(v);
        masks_[i] = mask;
    }

private:
    Buffer<Index> vertices_;
    Buffer<uint64_t> masks_;
    int64_t room_, rows_, growth_;
};

}  // namespace lagbc
