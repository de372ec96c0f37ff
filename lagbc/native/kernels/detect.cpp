// Prints the best level that this processor runs: CMake asks with -DLAGBC_LEVELS=native.
#include <cstdio>
#include <cstring>

#include "processor.h"

int main() {
    const char* levels = lagbc::processor::levels();
    std::printf("%.*s\n", static_cast<int>(std::strcspn(levels, " ")), levels);
}
