"""The build backend: scikit-build-core, with zig's compiler where the system has none of C++20.

LAGBC_ZIG_TARGET=x86_64-linux-gnu.2.28 has zig's taken in any case, and the result run with that glibc or a later one.
"""

import os
import shutil
import subprocess
from pathlib import Path

from scikit_build_core import build
from scikit_build_core.build import (  # noqa: F401
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

# Its library and its language: a class as the type of a template's parameter.
SAMPLE = "#include <concepts>\nstruct Name { int of; };\ntemplate <Name> struct Made;\nMade<Name{1}>* made;\n"
COMPILES = "-std=c++20", "-fsyntax-only", "-x", "c++", "-"


def system_compiler():
    """Name the compiler of CXX, or the first that compiles C++20; None if it is to be zig's."""
    if "LAGBC_ZIG_TARGET" in os.environ:
        return None
    if os.environ.get("CXX"):
        return os.environ["CXX"]
    for name in filter(shutil.which, ("g++", "c++", "clang++")):
        if subprocess.run([name, *COMPILES], input=SAMPLE, text=True, capture_output=True).returncode == 0:
            return name
    return None


def compiles(config_settings):
    """Whether this build compiles kernels; `wheel.cmake=false` says that another one does."""
    return (config_settings or {}).get("wheel.cmake") != "false"


def requirements():
    return [] if system_compiler() else ["ziglang>=0.15"]


def choose_compiler():
    """Have CMake take it; scikit-build-core by itself takes the one that built Python, be it there or not."""
    os.environ["CXX"] = system_compiler() or zig()


def zig():
    """Make commands of zig by the names that CMake looks for, where a later build finds them again; return c++."""
    import ziglang

    target = os.environ.get("LAGBC_ZIG_TARGET", "native")
    folder = Path("build", f"zig-{target}").absolute()
    folder.mkdir(parents=True, exist_ok=True)
    # zig takes the processor that it runs on, unless told otherwise; the options of a level come later, and win.
    for name, options in {"c++": f"-target {target} -mcpu=baseline", "ar": "", "ranlib": ""}.items():
        command = f'exec "{Path(ziglang.__file__).with_name("zig")}" {name} {options} "$@"'
        folder.joinpath(name).write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        folder.joinpath(name).chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    # As nanobind links: zig's C++ library is compiled, in a minute, for all that links alike.
    os.environ["LDFLAGS"] = "-Wl,-s"
    return str(folder / "c++")


def get_requires_for_build_wheel(config_settings=None):
    return build.get_requires_for_build_wheel(config_settings) + requirements()


def get_requires_for_build_editable(config_settings=None):
    more = requirements() if compiles(config_settings) else []
    return build.get_requires_for_build_editable(config_settings) + more


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    choose_compiler()
    return build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    if compiles(config_settings):
        choose_compiler()
    return build.build_editable(wheel_directory, config_settings, metadata_directory)
