"""The project's `njit`: all compiled functions of the CPU go through it, and are kept on disk between processes.

numba keeps them beside the package, in ``NUMBA_CACHE_DIR`` or in the user's cache folder. Where none of these can be
written the functions are compiled anew in every process, and a warning says so once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

from lagbc.errors import warn


def njit(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call: without the GIL, with NumPy's division, kept on disk where that can be.

    Warns
    -----
    RuntimeWarning
        Nothing can be kept; once a process.
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy")(function)
    try:
        compiled._cache = _Cache(function)  # what cache=True does, with the class of numba
    except RuntimeError:  # no folder can be written
        _warn_of_no_cache()
    return compiled


class _Cache(FunctionCache):  # type: ignore[misc]
    """A cache that a run can do without: thrown away where it is damaged, given up where it cannot be written."""

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling a damaged file can raise anything
            self._discard()
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError:
            # The index is written first: it must not name older code that the new one was to replace.
            self._discard()
            self.disable()
            _warn_of_no_cache()

    def _discard(self):
        with suppress(OSError):
            Path(self.cache_path, f"{self._impl.filename_base}.nbi").unlink(missing_ok=True)


@cache
def _warn_of_no_cache() -> None:
    warn(
        "compiled functions cannot be kept on disk, so that every process compiles them again, which takes seconds; "
        "set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
    )
