// Compiled without exceptions, so that a cleanup of pthread is no destructor.
#include <Python.h>
#include <pthread.h>

#include <chrono>
#include <thread>

namespace lagbc {

// Before Python 3.14, a thread that takes the GIL while the interpreter ends is ended by pthread_exit. That unwinds the
// stack: it aborts the process at a frame that cannot throw, as nanobind's, and cannot read frames of zig's C++
// library. The cleanup is called before any frame is left.
void take_gil(PyThreadState* state) {
    const auto sleep = [](void*) {
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    };
    pthread_cleanup_push(sleep, nullptr);
    PyEval_RestoreThread(state);
    pthread_cleanup_pop(0);
}

}  // namespace lagbc
