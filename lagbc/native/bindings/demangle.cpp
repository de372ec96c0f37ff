// Names of C++ in messages stay as the compiler has them: to read them takes 0.17 MB of each module that zig links, and
// messages of bindings name types of Python.
#include <cstddef>

extern "C" char* __cxa_demangle(const char*, char*, std::size_t*, int* status) {
    if (status != nullptr) *status = -2;  // none of its names
    return nullptr;
}
