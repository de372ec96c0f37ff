// Functions that all levels share, compiled for any processor.
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "buffer.h"

namespace lagbc {
namespace {

struct BeyondGrowth : std::bad_alloc {
    std::string message;

    BeyondGrowth(int64_t needed, int64_t growth)
        : message("arrays need " + std::to_string(needed) + " bytes more than was counted, of which " +
                  std::to_string(growth) + " may be taken") {}
    const char* what() const noexcept override { return message.c_str(); }
};

std::atomic<int64_t> held{0}, most_held{0};

void hold(int64_t bytes) {
    const int64_t now = held.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t most = most_held.load(std::memory_order_relaxed);
    while (most < now && !most_held.compare_exchange_weak(most, now, std::memory_order_relaxed)) {
    }
}

}  // namespace

void* resize_memory(void* memory, int64_t before, int64_t bytes) {
    void* moved = std::realloc(memory, static_cast<std::size_t>(bytes));
    if (moved == nullptr) throw_out_of_memory();
    hold(bytes - before);
    return moved;
}

void free_memory(void* memory, int64_t bytes) noexcept {
    if (memory == nullptr) return;
    std::free(memory);
    hold(-bytes);
}

HeldMemory held_memory() {
    const int64_t now = held.load(std::memory_order_relaxed);
    return {now, most_held.exchange(now, std::memory_order_relaxed)};
}

void throw_out_of_memory() {
    throw std::bad_alloc();
}

void throw_beyond_growth(int64_t needed, int64_t growth) {
    throw BeyondGrowth(needed, growth);
}

}  // namespace lagbc
