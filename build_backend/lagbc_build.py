"""The build backend: scikit-build-core, with zig's compiler where the system has none of C++20.

LAGBC_ZIG_TARGET names one of PLATFORMS as zig does, such as x86_64-linux-gnu.2.28. Then zig's compiler is taken in any
case, and makes a wheel for that platform, whatever the machine. For Windows, LAGBC_WINDOWS_PYTHON names the folder of a
Python for Windows, of the version of the running one: its DLLs are linked with.
"""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import NamedTuple

from scikit_build_core import build
from scikit_build_core.build import (  # noqa: F401
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
)

# Its library and its language: a class as the type of a template's parameter.
SAMPLE = "#include <concepts>\nstruct Name { int of; };\ntemplate <Name> struct Made;\nMade<Name{1}>* made;\n"
COMPILES = "-std=c++20", "-fsyntax-only", "-x", "c++", "-"


class Platform(NamedTuple):
    """Whatever a wheel is for: names of CMake, of wheels, and of modules that keep to no stable ABI."""

    system: str
    processor: str
    tag: str
    suffix: str


# glibc 2.28 is that of manylinux_2_28; macOS 11 is the first for both processors.
PLATFORMS = {
    "x86_64-linux-gnu.2.28": Platform(
        "Linux", "x86_64", "manylinux_2_28_x86_64", ".cpython-{version}-x86_64-linux-gnu.so"
    ),
    "aarch64-linux-gnu.2.28": Platform(
        "Linux", "aarch64", "manylinux_2_28_aarch64", ".cpython-{version}-aarch64-linux-gnu.so"
    ),
    "x86_64-windows-gnu": Platform("Windows", "AMD64", "win_amd64", ".cp{version}-win_amd64.pyd"),
    "x86_64-macos.11.0": Platform("Darwin", "x86_64", "macosx_11_0_x86_64", ".cpython-{version}-darwin.so"),
    "aarch64-macos.11.0": Platform("Darwin", "arm64", "macosx_11_0_arm64", ".cpython-{version}-darwin.so"),
}
# The pyconfig.h of Python for Windows is generated, and no other Python has it. The headers of Python and nanobind ask
# for this much of it.
PYCONFIG = """\
#define MS_WIN64
#define MS_WINDOWS
#define NT_THREADS
#define HAVE_DECLSPEC_DLL
#define Py_ENABLE_SHARED
#define SIZEOF_SHORT 2
#define SIZEOF_INT 4
#define SIZEOF_LONG 4
#define SIZEOF_LONG_LONG 8
#define SIZEOF_VOID_P 8
#define SIZEOF_SIZE_T 8
#define SIZEOF_WCHAR_T 2
"""
# For macOS zig links no bundles, and reads no lists of symbols that may be undefined. Python loads dynamic libraries,
# too, and all that they lack may be looked up when they are loaded.
FOR_MACOS = """\
for option; do
    shift
    case $option in
    -bundle) option=-shared ;;
    -Wl,@*) option=-Wl,-undefined,dynamic_lookup ;;
    esac
    set -- "$@" "$option"
done
"""


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
    if target != "native":
        cross_compile(target, folder)
    # zig takes the processor that it runs on, unless told otherwise; the options of a level come later, and win. It
    # compiles its C++ library, in a minute, once for all that links alike: without symbols, as nanobind links.
    for name, options in {"c++": f"-target {target} -mcpu=baseline -Wl,-s", "ar": "", "ranlib": ""}.items():
        command = f'exec "{Path(ziglang.__file__).with_name("zig")}" {name} {options} "$@"'
        folder.joinpath(name).write_text(f"#!/bin/sh\n{FOR_MACOS}{command}\n", encoding="utf-8")
        folder.joinpath(name).chmod(0o755)
    os.environ["PATH"] = f"{folder}{os.pathsep}{os.environ['PATH']}"
    return str(folder / "c++")


def cross_compile(target, folder):
    """Tell CMake of a platform, and scikit-build-core the name of its wheel."""
    if target not in PLATFORMS:
        raise SystemExit(f"LAGBC_ZIG_TARGET has to be one of {', '.join(PLATFORMS)}, not {target}")
    platform, version = PLATFORMS[target], sysconfig.get_config_var("py_version_nodot")
    os.environ["_PYTHON_HOST_PLATFORM"] = platform.tag
    os.environ["SETUPTOOLS_EXT_SUFFIX"] = platform.suffix.format(version=version)
    defined = {"CMAKE_SYSTEM_NAME": platform.system, "CMAKE_SYSTEM_PROCESSOR": platform.processor}
    if platform.system == "Windows":
        headers = folder / f"include{version}"
        shutil.copytree(sysconfig.get_path("include"), headers, dirs_exist_ok=True)
        headers.joinpath("pyconfig.h").write_text(PYCONFIG, encoding="utf-8")
        library = Path(os.environ["LAGBC_WINDOWS_PYTHON"]).absolute()
        defined |= {
            "Python_INCLUDE_DIR": headers,
            "NB_SUFFIX": os.environ["SETUPTOOLS_EXT_SUFFIX"],  # otherwise nanobind takes suffixes of two dashes alone
            "Python_LIBRARY": library / f"python{version}.dll",
            "Python_SABI_LIBRARY": library / "python3.dll",
        }
    os.environ["CMAKE_ARGS"] = " ".join(f"-D{name}={value}" for name, value in defined.items())


def get_requires_for_build_wheel(config_settings=None):
    return build.get_requires_for_build_wheel(config_settings) + requirements()


def get_requires_for_build_editable(config_settings=None):
    more = requirements() if compiles(config_settings) else []
    return build.get_requires_for_build_editable(config_settings) + more


def for_platform(config_settings):
    """Add the tag of the wheel to the settings, where it is for another platform than this one."""
    if "LAGBC_ZIG_TARGET" not in os.environ:
        return config_settings
    version = sysconfig.get_config_var("py_version_nodot")
    abi = f"cp{version}-cp{version}" if version == "311" else "cp312-abi3"
    return {**(config_settings or {}), "wheel.tags": f"{abi}-{PLATFORMS[os.environ['LAGBC_ZIG_TARGET']].tag}"}


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    choose_compiler()
    return build.prepare_metadata_for_build_wheel(metadata_directory, for_platform(config_settings))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    choose_compiler()
    return build.build_wheel(wheel_directory, for_platform(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    if compiles(config_settings):
        choose_compiler()
    return build.build_editable(wheel_directory, config_settings, metadata_directory)
