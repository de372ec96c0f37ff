// lagbc.native.processor: the levels of instructions that this processor runs. Compiled for any processor.
#define PY_SSIZE_T_CLEAN
#include "../kernels/processor.h"

#include <Python.h>

namespace {

PyObject* levels(PyObject*, PyObject*) {
    using namespace lagbc::processor;
    const struct {
        const char* name;
        bool runs;
    } all[] = {{"v4", runs_v4()}, {"v3", runs_v3()}, {"v2", runs_v2()}, {"generic", true}};
    PyObject* found = PyList_New(0);
    for (const auto& [name, runs] : all) {
        if (!runs) continue;
        PyObject* text = PyUnicode_FromString(name);
        if (found == nullptr || text == nullptr || PyList_Append(found, text) != 0) Py_CLEAR(found);
        Py_XDECREF(text);
    }
    return found;
}

PyMethodDef functions[] = {{"levels", levels, METH_NOARGS, "Return the levels by name, the best first."}, {}};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "processor", nullptr, 0, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_processor() {
    return PyModule_Create(&definition);
}
