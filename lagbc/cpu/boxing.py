"""What compiled functions return is made into objects of Python without running Python code.

numba asks a Python function for the class of every array that it returns, and calls the class of a named tuple. Python
calls the handlers of signals where its code runs: a Ctrl-C during the compiled function raises KeyboardInterrupt there,
amid the tuple that is made, and numba does not look for it. The call ends with a SystemError, or Python crashes. Here
all is made by functions in C, so that a signal waits for the code that called. A call takes less time, too.
"""

# numba has no types.
# mypy: disable-error-code="misc,no-untyped-def,no-untyped-call"

from __future__ import annotations

import numpy as np
from numba.core import compiler, types
from numba.core.cpu import CPUContext
from numba.core.pythonapi import PythonAPI


class Compiler(compiler.Compiler):
    """The compiler of `numba.njit`, as its `pipeline_class`, for functions that return numbers, arrays and tuples."""

    def __init__(self, typingctx, targetctx, *args):
        super().__init__(typingctx, targetctx.subtarget(__class__=_Context), *args)


class _Context(CPUContext):
    def get_python_api(self, builder):
        return _PythonAPI(self, builder)


class _PythonAPI(PythonAPI):
    """Calls of Python's C interface; arrays and named tuples have their class from the constants of the function."""

    def from_native_value(self, typ, val, env_manager=None):
        self._constants = env_manager
        if not isinstance(typ, types.NamedTuple | types.NamedUniTuple):
            return super().from_native_value(typ, val, env_manager)
        items = self.from_native_value(types.Tuple(typ.types), val, env_manager)
        args = self.tuple_pack([self._constant(typ.instance_class), items])
        named = self.call(self._constant(tuple.__new__), args)
        self.decref(args)
        self.decref(items)
        return named

    def serialize_object(self, obj):
        return obj if obj is np.ndarray else super().serialize_object(obj)

    def unserialize(self, serialized):
        return self._constant(np.ndarray) if serialized is np.ndarray else super().unserialize(serialized)

    def _constant(self, obj):
        return self._constants.read_const(self._constants.add_const(obj))
