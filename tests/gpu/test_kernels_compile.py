"""Every CUDA source compiles with NVRTC for every architecture that is supported; this needs no GPU and no driver."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import lagbc
from lagbc.run.kernels import SOURCES, variants

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed (the extra 'kernels')")
pathfinder = pytest.importorskip("cuda.pathfinder")

ARCHITECTURES = (75, 80, 90, 100)
VARIANTS = {label: (source.text, options) for label, source, options in variants()}
# Most of the time is the optimizer's, which does not say whether a source is right: each variant is optimized as for a
# run on one of the architectures in turn, on the others hardly.
IN_TURN = dict(zip(VARIANTS, itertools.cycle(ARCHITECTURES)))


def headers():
    """Options that name the include directories of the CUDA runtime and of its C++ library."""
    found = [pathfinder.find_nvidia_header_directory(library) for library in ("cudart", "cccl")]
    if None in found:
        pytest.skip("the headers of nvidia-cuda-runtime or nvidia-cuda-cccl are not installed (the extra 'kernels')")
    return [f"--include-path={directory}" for directory in found]


def call(function, *arguments):
    """Call NVRTC, and return what it gives besides its status."""
    status, *results = function(*arguments)
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, status
    return results[0] if results else None


def compile_source(source, options):
    """Compile to machine code; return it with the compiler's log."""
    try:
        program = call(nvrtc.nvrtcCreateProgram, source.encode(), b"", 0, [], [])
    except RuntimeError as error:  # cuda-bindings loads the library at the first call
        pytest.skip(f"NVRTC cannot be loaded: {error}")
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        log = bytearray(call(nvrtc.nvrtcGetProgramLogSize, program))
        call(nvrtc.nvrtcGetProgramLog, program, log)
        text = log.decode().strip("\0 \n")
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, text
        binary = bytearray(call(nvrtc.nvrtcGetCUBINSize, program))
        call(nvrtc.nvrtcGetCUBIN, program, binary)
        return bytes(binary), text
    finally:
        call(nvrtc.nvrtcDestroyProgram, program)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("variant", VARIANTS)
def test_compiles_without_a_warning(variant, architecture):
    source, options = VARIANTS[variant]
    options = [*options, "--device-as-default-execution-space"]  # as CuPy does
    speed = [] if IN_TURN[variant] == architecture else ["--Ofast-compile=max"]
    binary, log = compile_source(source, [f"--gpu-architecture=sm_{architecture}", *options, *headers(), *speed])
    assert binary.startswith(b"\x7fELF")
    assert "warning #" not in log, log  # the front end's; ptxas has its own


NUMBERS = Path(lagbc.__file__).parent / "native" / "kernels" / "extended" / "number.h"
OF_NUMBERS = """
extern "C" __global__ void add_products(int n, const lagbc::Extended* a, const lagbc::Extended* b, double* c) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const lagbc::Extended sum = lagbc::add(a[i], lagbc::multiply(b[i], lagbc::extended(3.0, 7)));
    c[i] = lagbc::shifted(sum.mantissa, sum.exponent);
}
"""


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_numbers_of_any_size_are_for_both_sides(architecture):
    """What C++ and CUDA may share: NVRTC compiles it, without the headers of a standard library."""
    options = [f"--gpu-architecture=sm_{architecture}", "-std=c++17"]
    text = NUMBERS.read_text(encoding="utf-8")
    binary, log = compile_source(f"{text}{OF_NUMBERS}", options)
    assert binary.startswith(b"\x7fELF")
    assert "warning #" not in log, log


def test_an_error_names_the_file_and_the_line():
    """Sources are put together as text, so that only #line tells where an error is."""
    source, options = next(iter(VARIANTS.values()))
    lines = source.splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("#line"))
    name = lines[last].split('"')[1]
    broken = "\n".join([*lines[: last + 1], "this is no CUDA", *lines[last + 1 :]])
    with pytest.raises(AssertionError, match=rf"{name}\(1\)"):
        compile_source(broken, ["--gpu-architecture=sm_80", *options, *headers()])


def test_every_kernel_file_is_compiled():
    """No source is left out of `variants`, and no header is there for nothing."""
    package = Path(lagbc.__file__).parent
    files = {file.relative_to(package).as_posix() for suffix in ("cu", "cuh") for file in package.rglob(f"*.{suffix}")}
    assert files == {path for source in SOURCES for path in (source.path, *source.headers)}
    assert {source.name for source in SOURCES} == {label.split("[")[0] for label in VARIANTS}


def test_the_sources_do_not_load_cupy():
    command = "import sys, lagbc.run.kernels; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
