// Memory that kernels own: scratch, queues that grow, and results whose size only the kernel knows.
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>

#include "arrays.h"

namespace lagbc {

// Both are a MemoryError in Python; the second says that an array may not grow by as much as it needs.
[[noreturn]] void throw_out_of_memory();
[[noreturn]] void throw_beyond_growth(int64_t needed, int64_t growth);

// `realloc` and `free`, counted by `held_memory`.
void* resize_memory(void* memory, int64_t before, int64_t bytes);
void free_memory(void* memory, int64_t bytes) noexcept;

// The bytes that kernels hold, arrays given to Python among them, and the most at once since the last call.
struct HeldMemory {
    std::atomic<int64_t> now{0}, most{0};
};
extern HeldMemory* held_memory;  // of this module, or of `core`

// An array of numbers on the heap, not initialized. One that a kernel returns becomes an array in Python, uncopied.
template <class T>
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(int64_t size) { resize(size); }
    Buffer(int64_t size, T value) : Buffer(size) { span().fill(value); }
    Buffer(Buffer&& other) noexcept : data_(other.data_), size_(other.size_) {
        other.data_ = nullptr;
        other.size_ = 0;
    }
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Buffer() { free_memory(data_, bytes_of(size_)); }

    // Entries below both sizes stay; new ones are not initialized.
    void resize(int64_t size) {
        data_ = static_cast<T*>(resize_memory(data_, data_ == nullptr ? 0 : bytes_of(size_), bytes_of(size)));
        size_ = size;
    }

    T& operator[](int64_t i) const { return data_[i]; }
    T* data() const { return data_; }
    int64_t size() const { return size_; }
    Span<T> span() const { return {data_, size_}; }
    Span<const T> view() const { return {data_, size_}; }

private:
    static int64_t bytes_of(int64_t size) { return std::max<int64_t>(size, 1) * sizeof(T); }

    T* data_ = nullptr;
    int64_t size_ = 0;
};

// Rows of numbers on the heap, an array of two dimensions in Python.
template <class T>
struct Table {
    Buffer<T> numbers;
    int64_t rows, width;
};

}  // namespace lagbc
