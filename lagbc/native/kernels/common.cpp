// What all levels share, compiled for any processor.
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

}  // namespace

void throw_out_of_memory() {
    throw std::bad_alloc();
}

void throw_beyond_growth(int64_t needed, int64_t growth) {
    throw BeyondGrowth(needed, growth);
}

}  // namespace lagbc
