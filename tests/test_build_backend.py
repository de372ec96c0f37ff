"""Which compiler the installation takes: the system's, or zig's where that has none of C++20."""

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed (the extra 'test')")
ROOT = Path(__file__).parents[1]


@pytest.fixture
def backend(monkeypatch):
    """The backend, in the checkout, as it is called; no environment variable names a compiler, and none stays set."""
    for name in ("CXX", "LAGBC_ZIG_TARGET", "CMAKE_ARGS", "_PYTHON_HOST_PLATFORM", "SETUPTOOLS_EXT_SUFFIX"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location("lagbc_build", ROOT / "build_backend" / "lagbc_build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def have_programs(monkeypatch, folder, **statuses):
    """Let PATH have programs that end with some statuses, and nothing else."""
    for name, status in statuses.items():
        put_program(folder / name, f"exit {status}")
    monkeypatch.setenv("PATH", str(folder))


def put_program(file, command):
    file.write_text(f"#!/bin/sh\n{command}\n")
    file.chmod(0o755)


def requirements(backend):
    return [hook({}) for hook in (backend.get_requires_for_build_wheel, backend.get_requires_for_build_editable)]


def test_compilers_are_asked_for_modern_cpp(backend, monkeypatch, tmp_path):
    have_programs(monkeypatch, tmp_path, **{"g++": 1, "c++": 0, "clang++": 0})
    assert backend.system_compiler() == "c++"
    assert not [one for needed in requirements(backend) for one in needed if "zig" in one]


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
def test_a_compiler_that_is_there_is_taken(backend):
    assert backend.system_compiler() == "g++"


@pytest.mark.parametrize("statuses", [{}, {"g++": 1, "clang++": 1}], ids=["none", "old ones"])
def test_zig_is_required_where_there_is_no_compiler(backend, monkeypatch, tmp_path, statuses):
    have_programs(monkeypatch, tmp_path, **statuses)
    assert all([one for one in needed if one.startswith("ziglang")] for needed in requirements(backend))
    needed = backend.get_requires_for_build_editable({"wheel.cmake": "false"})
    assert not [one for one in needed if "zig" in one], "nothing is compiled"
    monkeypatch.setenv("CXX", "of-the-user")
    assert backend.system_compiler() == "of-the-user"
    monkeypatch.setenv("LAGBC_ZIG_TARGET", "x86_64-linux-gnu.2.28")
    assert backend.system_compiler() is None


@pytest.mark.parametrize("target", [None, "x86_64-linux-gnu.2.28"])
def test_commands_of_zig(backend, monkeypatch, tmp_path, target):
    """They have the names that CMake looks for, and know no processor but the oldest."""
    if target is not None:
        monkeypatch.setenv("LAGBC_ZIG_TARGET", target)
    monkeypatch.chdir(tmp_path)
    have_programs(monkeypatch, tmp_path)
    put_program(tmp_path / "zig", 'echo "$@"')
    monkeypatch.setitem(sys.modules, "ziglang", SimpleNamespace(__file__=str(tmp_path / "__init__.py")))
    backend.choose_compiler()

    def said(command):
        return subprocess.run([command, "a b"], capture_output=True, text=True, check=True).stdout.strip()

    assert said(backend.os.environ["CXX"]) == f"c++ -target {target or 'native'} -mcpu=baseline -Wl,-s a b"
    assert [said(shutil.which(name)) for name in ("ar", "ranlib")] == ["ar a b", "ranlib a b"]


@pytest.mark.parametrize("target", ["x86_64-linux-gnu.2.28", "aarch64-macos.11.0", "x86_64-windows-gnu"])
def test_a_wheel_for_another_platform(backend, monkeypatch, tmp_path, target):
    """It has the name of its platform, and the headers of Windows say so."""
    monkeypatch.setenv("LAGBC_ZIG_TARGET", target)
    monkeypatch.setenv("LAGBC_WINDOWS_PYTHON", "windows")
    platform, version = backend.PLATFORMS[target], sys.version_info[1]
    backend.cross_compile(target, tmp_path)
    assert f"-DCMAKE_SYSTEM_NAME={platform.system}" in backend.os.environ["CMAKE_ARGS"].split()
    tag = backend.for_platform({"build-dir": "here"})["wheel.tags"]
    assert tag == f"{'cp311-cp311' if version == 11 else 'cp312-abi3'}-{platform.tag}"
    headers = [file.read_text(encoding="utf-8") for file in tmp_path.glob("include*/pyconfig.h")]
    assert ["MS_WINDOWS" in text for text in headers] == [True] * (platform.system == "Windows")


def test_platforms_that_are_not_known_are_refused(backend, monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match=r"LAGBC_ZIG_TARGET has to be one of x86_64-linux-gnu.2.28, .*, not sparc"):
        backend.cross_compile("sparc", tmp_path)


def test_the_page_has_pip_get_all_that_a_build_requires():
    """Before the command to build again, which takes the tools of the environment."""
    required = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    page = (ROOT / "docs" / "native.md").read_text(encoding="utf-8")
    got = page.split("    pip install --no-build-isolation")[0].splitlines()[-1].split()
    assert {re.match(r"[\w-]+", one)[0] for one in required} | {"cmake", "ninja"} == {*got} - {"pip", "install"}
