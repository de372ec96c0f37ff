"""Kernels of a CUDA source run on the host, compiled by a C++ compiler: their logic, without a GPU and without CuPy."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from lagbc.cuda.kernel import declared

COMPILER = shutil.which("g++")
_HEADER = Path(__file__).with_name("emulation.hpp")
_NUMBERS = {"int": ctypes.c_int, "offset": ctypes.c_longlong, "double": ctypes.c_double}


class Kernels:
    """What stands in for `lagbc.cuda.kernel.Kernels`, with blocks of 256 threads."""

    def __init__(self, source, folder):
        self._source, text = source, source.text
        found = re.findall(r"__global__ void (?:__launch_bounds__\([^)]*\)\s*)?(\w+)\(([^)]*)\)", text)
        for name, parameters in found:
            names = ", ".join(one for one, *_ in declared(source, name))
            text += (
                f'\nextern "C" void run_{name}(int columns_, int rows_, {parameters}) '
                f"{{ emulate(columns_, rows_, 256, [=] {{ {name}({names}); }}); }}\n"
            )
        folder.joinpath("kernels.cpp").write_text(f'#include "{_HEADER}"\n{text}', encoding="utf-8")
        # Kernels of the device contract products and sums unlike this; here nothing is contracted.
        options = ("-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w")
        command = [COMPILER, *options, "-o", str(folder / "kernels.so"), str(folder / "kernels.cpp")]
        subprocess.run(command, check=True)
        self._library = ctypes.CDLL(str(folder / "kernels.so"))

    def begin_compile(self):
        pass

    def kernel(self, name):
        parameters = [parameter for parameter, *_ in declared(self._source, name)]
        return SimpleNamespace(parameters=parameters)

    def launch(self, name, items, /, *rows, **arguments):
        parameters, grid = declared(self._source, name), (-(-items // 256), *rows)
        assert arguments.keys() == {parameter for parameter, *_ in parameters}
        given = []
        for parameter, kind, is_pointer in parameters:
            argument = arguments[parameter]
            if is_pointer:
                assert argument.flags.c_contiguous
                assert argument.dtype == {"int": np.int32, "double": np.float64}[kind], parameter
                given.append(ctypes.c_void_p(argument.ctypes.data))
            else:
                given.append(_NUMBERS[kind](argument))
        getattr(self._library, f"run_{name}")(*(ctypes.c_int(size) for size in (*grid, 1)[:2]), *given)


class Array(np.ndarray):
    """An array that is taken for one of CuPy's."""

    def get(self, out=None):
        if out is None:
            return np.array(self)
        out[...] = self
        return out


class Arrays:
    """What stands in for the module cupy: its arrays begin with no number that could be taken for a sum."""

    @staticmethod
    def asarray(array, dtype=None):
        return np.array(array, dtype).view(Array)

    @staticmethod
    def ascontiguousarray(array, dtype=None):
        return np.array(array, dtype, order="C").view(Array)

    @staticmethod
    def empty(shape):
        return np.full(shape, np.nan).view(Array)

    @staticmethod
    def zeros(shape):
        return np.zeros(shape).view(Array)
