// What all levels share, compiled for any processor.
#include <new>

#include "buffer.h"

namespace lagbc {

void throw_out_of_memory() {
    throw std::bad_alloc();
}

}  // namespace lagbc
