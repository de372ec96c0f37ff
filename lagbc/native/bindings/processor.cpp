// lagbc.native.processor: the levels of instructions that this processor runs. Compiled for any processor.
#define PY_SSIZE_T_CLEAN
#include "../kernels/processor.h"

#include <Python.h>

namespace {

PyObject* levels(PyObject*, PyObject*) {
    return PyUnicode_FromString(lagbc::processor::levels());
}

PyMethodDef functions[] = {{"levels", levels, METH_NOARGS, "Return the names of the levels, the best first."}, {}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "processor", nullptr, 0, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_processor() {
    return PyModule_Create(&definition);
}
