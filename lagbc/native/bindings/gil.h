// The GIL, which kernels run without.
#pragma once

#include <Python.h>

namespace lagbc {

// Take the GIL back. Where the interpreter has ended meanwhile, this thread sleeps until the process ends.
void take_gil(PyThreadState* state);

// A thread without the GIL, as long as this lives.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    WithoutGil(const WithoutGil&) = delete;
    ~WithoutGil() { take_gil(state_); }

private:
    PyThreadState* state_;
};

}  // namespace lagbc
