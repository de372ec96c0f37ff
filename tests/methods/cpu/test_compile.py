"""Compiled functions are kept on disk where that can be, and run where it cannot."""

import ast
import importlib.util
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import pytest

import lagbc
from lagbc.methods.cpu import compile as compiling

# Two functions, so that what is said once is not said twice.
MODULE = """
from lagbc.methods.cpu.compile import njit

@njit
def twice(x):
    return x + x

@njit
def four_times(x):
    return twice(twice(x))
"""
SAID = "compiled functions cannot be kept on disk"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Return a module of compiled functions, which are kept in the folder ``cache`` beside it."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    compiling._warn_of_no_cache.cache_clear()
    file = tmp_path / "compiled.py"
    file.write_text(MODULE, encoding="ascii")
    yield file
    compiling._warn_of_no_cache.cache_clear()


def call(file):
    """Call a function as a new process would; returns whether it came from disk."""
    spec = importlib.util.spec_from_file_location("compiled", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.four_times(3) == 12
    return bool(module.four_times.stats.cache_hits)


def test_kept_on_disk(file):
    assert not call(file)
    assert call(file)


def test_no_folder_can_be_written(file, tmp_path, monkeypatch):
    """Not even by root: what would be a folder is a file."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    blocked = tmp_path / "__pycache__"
    blocked.touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(blocked))
    for variable in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(variable, str(blocked))
    with pytest.warns(RuntimeWarning, match=f"{SAID}.*NUMBA_CACHE_DIR") as said:
        assert not call(file)
    assert len(said) == 1


def test_no_space(file, tmp_path):
    pytest.importorskip("resource")
    script = f"""
import resource, sys
sys.path.insert(0, {str(tmp_path)!r})
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
import compiled
assert compiled.four_times(3) == 12
"""
    variables = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | variables)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(SAID) == 1
    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: b"no pickle"])
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_damaged_files_are_thrown_away(file, tmp_path, suffix, damage):
    call(file)
    damaged = list((tmp_path / "cache").rglob(f"*four_times*.{suffix}"))
    assert damaged
    for path in damaged:
        path.write_bytes(damage(path.read_bytes()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not call(file)
        assert call(file)


def test_all_is_compiled_by_it():
    """A module that took numba's own njit would fail where no folder can be written."""
    for path in Path(lagbc.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "numba":
                assert not {"njit", "jit"} & {alias.name for alias in node.names}, path
