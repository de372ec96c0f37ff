"""Compiled functions are kept on disk where that can be, and run where it cannot."""

import ast
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numba
import pytest

import lagbc
from lagbc.cpu import compile as compiling

# Two functions, so that what is said once is not said twice.
MODULE = """
from lagbc.cpu.compile import njit

@njit
def twice(x):
    return x + x

@njit
def four_times(x):
    return twice(twice(x))
"""
PACKAGE = Path(lagbc.__file__).parent
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


@pytest.fixture
def homeless(tmp_path, monkeypatch):
    """Return a folder of temporary files; no other can be written, not even by root: what would be one is a file."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    blocked = tmp_path / "__pycache__"
    blocked.touch()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(blocked))
    for variable in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(variable, str(blocked))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    return temporary


def test_kept_among_temporary_files(file, homeless):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not call(file)
        assert call(file)
    (folder,) = homeless.iterdir()
    assert list(folder.rglob("*.nbi"))
    if os.name == "posix":
        assert folder.name == f"lagbc-{os.getuid()}"
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_user_without_home(file, homeless, tmp_path, monkeypatch):
    """A path that begins with ~ is one below the folder that the process happens to be in."""
    pwd = pytest.importorskip("pwd")

    def unknown(user):
        raise KeyError(user)

    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    monkeypatch.chdir(tmp_path)
    assert not call(file)
    assert call(file)
    assert not (tmp_path / "~").exists()


def _is_a_file(folder, monkeypatch):
    folder.touch()


def _is_a_link(folder, monkeypatch):
    elsewhere = folder.with_name("elsewhere")
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)


def _is_open_to_others(folder, monkeypatch):
    folder.mkdir()
    folder.chmod(0o777)


def _is_another_users(folder, monkeypatch):
    other = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: other)
    folder.with_name(f"lagbc-{other}").mkdir(mode=0o700)


@pytest.mark.skipif(os.name != "posix", reason="folders have no owners")
@pytest.mark.parametrize("spoil", [_is_a_file, _is_a_link, _is_open_to_others, _is_another_users])
def test_no_folder_can_be_written(file, homeless, monkeypatch, spoil):
    """Nor is one taken that others could have put code into."""
    spoil(homeless / f"lagbc-{os.getuid()}", monkeypatch)
    with pytest.warns(RuntimeWarning, match=f"{SAID}.*NUMBA_CACHE_DIR") as said:
        assert not call(file)
    assert len(said) == 1
    assert not list(homeless.rglob("*.nbi"))


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


def test_code_for_other_types_is_thrown_away(file, tmp_path):
    """Two processes that compile a function for different types at once may name their files alike."""
    script = "import compiled; print(compiled.twice(3), compiled.twice(0.5))"
    assert run(script, tmp_path) == ["6 1.0"]
    one, other = (tmp_path / "cache").rglob("*twice*.nbc")
    code = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(code)
    assert run(script, tmp_path) == ["6 1.0"]


def run(script, folder, count=1):
    """Run a script in new processes, side by side, with `folder` in front of the path; return what each printed."""
    path = os.pathsep.join([str(folder), str(PACKAGE.parent)])
    variables = {"NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-W", "error", "-c", script]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | variables, cwd=folder)
        for _ in range(count)
    ]
    printed = [process.communicate()[0].strip() for process in started]
    assert not any(process.returncode for process in started)
    return printed


def test_a_callee_in_another_file(tmp_path):
    package = tmp_path / "lagbc"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__", "data"))
    head = "from lagbc.cpu.compile import njit\n"
    callee, caller = (package / "methods" / "cpu" / f"{name}.py" for name in ("callee", "caller"))
    caller.write_text(
        f"{head}from lagbc.methods.cpu.callee import step\n\n@njit\ndef twice(x):\n    return step(step(x))\n",
        encoding="ascii",
    )
    script = "from lagbc.methods.cpu.caller import twice; print(twice(1))"
    for added in (1, 5):
        callee.write_text(f"{head}\n@njit\ndef step(x):\n    return x + {added}\n", encoding="ascii")
        assert run(script, tmp_path) == [str(1 + 2 * added)]


def test_two_processes_at_once(file, tmp_path):
    script = "import compiled; print(compiled.four_times(3), sum(compiled.four_times.stats.cache_hits.values()))"
    assert {printed.split()[0] for printed in run(script, tmp_path, 2)} == {"12"}
    assert run(script, tmp_path) == ["12 1"]


def test_an_index_that_is_ahead_of_the_code(file, tmp_path, monkeypatch):
    """Another process has written its index, and not yet the code that it names."""
    call(file)
    (index,) = (tmp_path / "cache").rglob("*four_times*.nbi")
    (code,) = (tmp_path / "cache").rglob("*four_times*.nbc")
    old = code.read_bytes()
    file.write_text(MODULE.replace("twice(twice(x))", "twice(twice(x)) + 0"), encoding="ascii")
    assert not call(file)
    new = code.read_bytes()
    assert index.exists()
    assert new != old
    code.write_bytes(old)
    assert not call(file)


def test_all_is_compiled_by_it():
    """A module that took numba's own njit would fail where no folder can be written."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "numba":
                assert not {"njit", "jit"} & {alias.name for alias in node.names}, path


def test_all_that_is_compiled_is_digested():
    """What a compiled function takes from another file of the package lies in the folders that are digested."""
    compiled = 0
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        origins = {
            alias.asname or alias.name: node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lagbc")
            for alias in node.names
        }
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            if {"njit", "intrinsic"}.isdisjoint(ast.unparse(decorator) for decorator in function.decorator_list):
                continue
            compiled += 1
            names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            used = {origins[name] for name in names & origins.keys()}
            files = [path, *(PACKAGE.parent.joinpath(*module.split(".")) for module in used)]
            assert all(any(file.is_relative_to(folder) for folder in compiling.SOURCES) for file in files), function
    assert compiled > 20
