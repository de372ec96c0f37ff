"""Kernels of streams with a place of their source changed, compiled anew: mutants that tests have to catch."""

import ctypes
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import lagbc
from lagbc.native import core

COMPILER = shutil.which("g++") or shutil.which("clang++")
_KERNELS = Path(lagbc.__file__).with_name("native") / "kernels"
_CHANGED = _KERNELS.parents[1] / "reduce" / "one_chain.h", _KERNELS / "reduce" / "streams.h"
_NAMES = ("leave_chains", "enter_chains")

# Kernels take references to records and arrays by value; here all are pointers to what ctypes has made.
_ENTRIES = """
extern "C" bool leave_chains_{number}_{kind}(
    const Ways* ways, const Flows* flows, Span<const int64_t>* roots, Matrix<const {type}>* dist,
    Matrix<const double>* sigma, Span<const int64_t>* column, Matrix<double>* demand, Matrix<double>* through,
    Span<double>* junction, Stop* stop) {{
    return mutant_{number}::leave_chains<{type}>(
        *ways, *flows, *roots, *dist, *sigma, *column, *demand, *through, *junction, *stop);
}}
extern "C" bool enter_chains_{number}_{kind}(
    const Ways* ways, Span<const int64_t>* roots, Matrix<const {type}>* dist, Matrix<const double>* sigma,
    Matrix<double>* demand, Matrix<double>* through, Span<double>* junction, Stop* stop) {{
    return mutant_{number}::enter_chains<{type}>(*ways, *roots, *dist, *sigma, *demand, *through, *junction, *stop);
}}
"""


class Streams:
    """Mutants of the two kernels, numbered as the changes: pairs of a text that is there once, and what it becomes."""

    def __init__(self, changes, folder):
        source = f'#include "{_KERNELS}/common.cpp"\n#include "{_KERNELS}/reduce/ways.h"\n#include <algorithm>\n'
        bodies = [_body(header) for header in _CHANGED]
        for number, (old, new) in enumerate(changes):
            body = "\n".join(bodies)
            assert not old or body.count(old) == 1, old
            source += body.replace(old, new).replace("namespace lagbc {", f"namespace lagbc::mutant_{number} {{")
            source += "namespace lagbc {\n"
            for kind, type_ in (("hops", "int32_t"), ("lengths", "double")):
                source += _ENTRIES.format(number=number, kind=kind, type=type_)
            source += "}\n"
        folder.joinpath("streams.cpp").write_text(source, encoding="utf-8")
        options = ("-std=c++20", "-O0", "-ffp-contract=off", "-shared", "-fPIC", "-w")
        command = [COMPILER, *options, "-o", str(folder / "streams.so"), str(folder / "streams.cpp")]
        subprocess.run(command, check=True)
        self._library = ctypes.CDLL(str(folder / "streams.so"))

    def mutant(self, number):
        """Return what stands for `lagbc.native.core`."""
        kernels = {name: lambda *given, name=name: self._call(name, number, *given) for name in _NAMES}
        return SimpleNamespace(**vars(core) | kernels)

    def _call(self, name, number, ways, *given):
        kind = "hops" if ways.in_hops else "lengths"
        function = getattr(self._library, f"{name}_{number}_{kind}")
        function.restype = ctypes.c_bool
        return function(*(ctypes.byref(_struct(argument)) for argument in (ways, *given)))


def _body(header):
    """Return a header without what it includes."""
    return "".join(line for line in header.read_text(encoding="utf-8").splitlines(True) if not line.startswith("#"))


class _Span(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_int64))


class _Matrix(ctypes.Structure):
    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_int64), ("width", ctypes.c_int64))


def _struct(argument):
    """Return an array, or a tuple of arrays and flags, as kernels see it; it does not keep the arrays."""
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        return (_Span if argument.ndim == 1 else _Matrix)(argument.ctypes.data, *argument.shape)
    if isinstance(argument, bool):
        return ctypes.c_bool(argument)
    items = [_struct(item) for item in argument]
    fields = [(f"field_{place}", type(item)) for place, item in enumerate(items)]
    return type("Record", (ctypes.Structure,), {"_fields_": fields})(*items)
