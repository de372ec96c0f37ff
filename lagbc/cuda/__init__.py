"""CUDA sources compiled, and their kernels launched: the lowest floor of all code that runs on a GPU.

Here is the folder that keeps compiled kernels between processes. CuPy keeps them in ``CUPY_CACHE_DIR``,
``~/.cupy/kernel_cache`` by default, and cannot be imported where it cannot make that folder. Then they are kept in
``lagbc-<user id>/cupy`` among the temporary files (``TMPDIR``), if that folder is the user's own. Where neither can be
written every process compiles them anew, and a warning says so.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

from lagbc.errors import warn

VARIABLE = "CUPY_CACHE_DIR"


def folder() -> Path:
    """Return the folder in which CuPy keeps kernels."""
    return Path(os.environ.get(VARIABLE) or Path("~/.cupy/kernel_cache").expanduser())


@cache
def provide_folder() -> None:
    """Name a writable folder to CuPy, once a process and before its import; a RuntimeWarning if none lasts."""
    if "cupy" in sys.modules or _can_write(folder()):
        return
    own = _own_folder()
    if own is None:
        own = Path(tempfile.mkdtemp(prefix="lagbc-"))
        warn(
            f"compiled kernels cannot be kept in {folder()}, so that every process compiles those that did not come "
            f"with lagbc again, which takes seconds; set {VARIABLE} to a folder that can be written",
            RuntimeWarning,
        )
    os.environ[VARIABLE] = str(own / "cupy")


def _can_write(path: Path) -> bool:
    """Whether files can be made in a folder; the folder is made, too, as CuPy would."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return True
    except OSError:
        return False


def _own_folder() -> Path | None:
    """Make a folder among the temporary files that nobody else reads or writes, as its files are executed."""
    user = f"-{os.getuid()}" if hasattr(os, "getuid") else ""  # without ids, the temporary files are the user's own
    own = Path(tempfile.gettempdir(), f"lagbc{user}")
    try:
        own.mkdir(mode=0o700, exist_ok=True)
        found = own.lstat()
    except OSError:
        return None
    is_own = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
    return own if stat.S_ISDIR(found.st_mode) and is_own and os.access(own, os.W_OK | os.X_OK) else None
