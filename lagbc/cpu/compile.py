"""The project's `njit`: all compiled functions of the CPU go through it, and are kept on disk between processes.

numba keeps them in ``NUMBA_CACHE_DIR``, beside the package, or in the user's cache folder, the first that can be
written; else they are kept in ``lagbc-<user id>`` among the temporary files (``TMPDIR``), if that folder is the user's
own. Where none of these can be written they are compiled anew in every process, and a warning says so once.

What is kept holds as long as no source changes that it may have been made of. numba looks at the file of the function
alone, but what it calls is compiled into it, and so are the constants that it reads.
"""

# The classes of numba have no types.
# mypy: disable-error-code="misc"

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator

from lagbc.cpu.boxing import Compiler
from lagbc.errors import warn
from lagbc.phases import in_phase

# All that is compiled is made of sources in these folders of the package, besides a function's own file.
_PACKAGE = Path(__file__).parents[1]
SOURCES = tuple(_PACKAGE / name for name in ("cpu", "graph", "io", "methods", "reduce"))


def njit(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call: without the GIL, with NumPy's division, kept on disk where that can be.

    Warns
    -----
    RuntimeWarning
        Nothing can be kept; once a process.
    """
    compiled: Any = numba.njit(nogil=True, error_model="numpy", pipeline_class=Compiler)(function)
    compiled.compile = in_phase("compile")(compiled.compile)  # called where a type of arguments is new
    try:
        compiled._cache = _Cache(function)  # what cache=True does, with the class of numba
    except (RuntimeError, OSError):  # no folder can be written
        _warn_of_no_cache()
    return compiled


@cache
def digest_of_sources() -> bytes:
    """Digest the files in `SOURCES`, about a millisecond once a process."""
    digest = hashlib.sha256()
    for source in SOURCES:
        for folder, folders, names in os.walk(source):
            folders.sort()
            for name in sorted(names):
                if name.endswith(".py"):
                    digest.update(Path(folder, name).read_bytes())
    return digest.digest()


class _UserWide(UserWideCacheLocator):
    """The user's cache folder, if there is one: numba would make a folder of the name ~ where there is no home."""

    def ensure_cache_path(self):
        if not os.path.isabs(self.get_cache_path()):
            raise FileNotFoundError("this user has no home folder")
        super().ensure_cache_path()


class _Temporary(UserWideCacheLocator):
    """A folder among the temporary files that nobody else reads or writes."""

    def __init__(self, function, file):
        super().__init__(function, file)
        user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""  # without ids, the temporary files are the user's own
        self._own = Path(tempfile.gettempdir(), f"lagbc{user}")
        self._cache_path = str(self._own / self.get_suitable_cache_subpath(file))

    def ensure_cache_path(self):
        self._own.mkdir(mode=0o700, exist_ok=True)
        found = self._own.lstat()
        is_own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
        if not (stat.S_ISDIR(found.st_mode) and is_own):
            # What is read from it is run.
            raise PermissionError(f"{self._own} is not a folder of this user alone")
        super().ensure_cache_path()


class _Files(CompileResultCacheImpl):
    """Where compiled functions are kept, and in which form: each with the stamp of the sources that it was made of.

    numba has a stamp in its index only, which it writes before the code: another process may meet the old code under
    the new index.
    """

    _locator_classes = (  # type: ignore[assignment]
        *(_UserWide if known is UserWideCacheLocator else known for known in CompileResultCacheImpl._locator_classes),
        _Temporary,
    )

    def __init__(self, function):
        super().__init__(function)
        self.stamp = self.locator.get_source_stamp(), digest_of_sources()

    def reduce(self, compiled):
        return self.stamp, super().reduce(compiled)

    def rebuild(self, target_context, kept):
        stamp, payload = kept
        if stamp != self.stamp:
            raise ValueError("compiled from other sources")
        return super().rebuild(target_context, payload)


class _Cache(FunctionCache):
    """A cache that a run can do without: thrown away where it is damaged, given up where it cannot be written."""

    _impl_class = _Files

    def __init__(self, function):
        super().__init__(function)
        self._cache_file._source_stamp = self._impl.stamp

    def load_overload(self, sig, target_context):
        try:
            found = super().load_overload(sig, target_context)
            if found is not None and found.signature.args != tuple(sig):
                # Two processes that compile for different types at once may give both the same name of a file.
                raise ValueError("compiled for other types")
            return found
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
