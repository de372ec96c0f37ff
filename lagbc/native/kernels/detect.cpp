// Prints the best level that this processor runs: CMake asks with -DLAGBC_LEVELS=native.
#include <cstdio>

#include "processor.h"

int main() {
    using namespace lagbc::processor;
    std::puts(runs_v4() ? "v4" : runs_v3() ? "v3" : runs_v2() ? "v2" : "generic");
}
