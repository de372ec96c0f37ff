// Compiled without exceptions, so that a cleanup of pthread is no destructor.
#include "gil.h"

#include <pthread.h>

#include <chrono>
#include <thread>

namespace lagbc {

// Before Python 3.14, a thread that takes the GIL of an interpreter that ends is ended by pthread_exit. That unwinds
// the stack, and at a frame that cannot throw, as those of nanobind, it aborts the process; frames of zig's C++ library
// it cannot read at all. Cleanups are called before it comes to these.
void take_gil(PyThreadState* state) {
    const auto sleep = [](void*) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    };
    pthread_cleanup_push(sleep, nullptr);
    PyEval_RestoreThread(state);
    pthread_cleanup_pop(0);
}

}  // namespace lagbc
