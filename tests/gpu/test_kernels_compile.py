"""Every CUDA source compiles with NVRTC for every architecture that is supported; this needs no GPU and no driver."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest
from strategies import times

import lagbc
from lagbc.centrality.compiled import SOURCES, variants
from lagbc.cuda import kernel
from lagbc.methods.gpu import kernels

nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings is not installed (the extra 'kernels')")
pathfinder = pytest.importorskip("cuda.pathfinder")
sys.path.insert(0, str(Path(__file__).parents[2] / "wheels"))
cubins = pytest.importorskip("cubins", reason="this is no checkout")

ARCHITECTURES = (75, 80, 90, 100)
VARIANTS = {label: (source.text, options) for label, source, options in variants()}


def source_of(variant):
    return variant.split("[")[0]


OF_SOURCES = {name: [*group] for name, group in itertools.groupby(sorted(VARIANTS, key=source_of), source_of)}
# Asked about more where random graphs are drawn more often.
THOROUGH = times(1) > 1


def options_of(variants):
    return {option for variant in variants for option in VARIANTS[variant][1]}


def with_every_option(variants):
    """Return few of the variants of a source that have all options that any has."""
    missing, chosen = options_of(variants), []
    while missing:
        chosen.append(max(variants, key=lambda variant: len(missing & options_of([variant]))))
        missing -= options_of([chosen[-1]])
    return chosen


# Most of the time is that of the assembler and the optimizer, which do not say whether a source is right. So these
# variants of each source are made machine code for one architecture in turn, and the rest text for an assembler; the
# first variant of each source is optimized as for a run.
CHOSEN = {name: group if THOROUGH else with_every_option(group) for name, group in OF_SOURCES.items()}


def in_turn():
    """Yield each chosen variant with an architecture; where more is asked for, each source with all of them."""
    turn = itertools.cycle(ARCHITECTURES)
    for group in CHOSEN.values():
        for number in range(max(len(group), len(ARCHITECTURES)) if THOROUGH else len(group)):
            yield group[number % len(group)], next(turn)


ASSEMBLED = {*in_turn()}
OPTIMIZED = {pair for pair in ASSEMBLED if pair[0] in {group[0] for group in CHOSEN.values()}}
# All architectures read the same text, and the oldest has the fewest intrinsics: a front end that takes a variant for
# it takes it for the others.
TEXTS = {*itertools.product(VARIANTS, ARCHITECTURES if THOROUGH else ARCHITECTURES[:1])} - ASSEMBLED


def headers():
    """Options that name the include directories of the CUDA runtime and of its C++ library."""
    found = [pathfinder.find_nvidia_header_directory(library) for library in ("cudart", "cccl")]
    if None in found:
        pytest.skip("the headers of nvidia-cuda-runtime or nvidia-cuda-cccl are not installed (the extra 'kernels')")
    return [f"--include-path={directory}" for directory in found]


def compile_source(source, architecture, options):
    """Compile for an architecture, such as sm_80 to machine code, or compute_80 to text; return it with the log."""
    try:
        program = cubins.call(nvrtc.nvrtcCreateProgram, source.encode(), b"", 0, [], [])
    except RuntimeError as error:  # cuda-bindings loads the library at the first call
        pytest.skip(f"NVRTC cannot be loaded: {error}")
    options = [f"--gpu-architecture={architecture}", *options]
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
        log = bytearray(cubins.call(nvrtc.nvrtcGetProgramLogSize, program))
        cubins.call(nvrtc.nvrtcGetProgramLog, program, log)
        text = log.decode().strip("\0 \n")
        assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, text
        if architecture.startswith("sm_"):
            size, get = nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN
        else:
            size, get = nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX
        made = bytearray(cubins.call(size, program))
        cubins.call(get, program, made)
        return bytes(made), text
    finally:
        cubins.call(nvrtc.nvrtcDestroyProgram, program)


@pytest.mark.parametrize(("variant", "architecture"), sorted(ASSEMBLED | TEXTS))
def test_compiles_without_a_warning(variant, architecture):
    source, options = VARIANTS[variant]
    case = variant, architecture
    options = [*options, "--device-as-default-execution-space", *headers()]  # as CuPy does
    if case not in OPTIMIZED:
        options.append("--Ofast-compile=max")
    if case in ASSEMBLED:
        made, log = compile_source(source, f"sm_{architecture}", options)
        assert made.startswith(b"\x7fELF")
    else:
        made, log = compile_source(source, f"compute_{architecture}", [*options, "--minimal"])
        assert f".target sm_{architecture}\n".encode() in made
    assert "warning #" not in log, log  # the front end's; ptxas has its own


def test_each_option_is_assembled():
    for name, group in OF_SOURCES.items():
        assert options_of({variant for variant, _ in ASSEMBLED if source_of(variant) == name}) == options_of(group)
    sources = {(source_of(variant), architecture) for variant, architecture in ASSEMBLED}
    assert sources == {*itertools.product(OF_SOURCES, ARCHITECTURES)} or not THOROUGH
    assert {architecture for _, architecture in ASSEMBLED} == {*ARCHITECTURES}
    assert {source_of(variant) for variant, _ in OPTIMIZED} == {*OF_SOURCES}
    assert {variant for variant, architecture in ASSEMBLED | TEXTS if architecture == min(ARCHITECTURES)} == {*VARIANTS}
    assert not [source.name for source in SOURCES if "__CUDA_ARCH__" in source.text]


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
    text = NUMBERS.read_text(encoding="utf-8")
    binary, log = compile_source(f"{text}{OF_NUMBERS}", f"sm_{architecture}", ["-std=c++17"])
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
        compile_source(broken, "sm_80", [*options, *headers()])


def test_every_kernel_file_is_compiled():
    """No source is left out of `variants`, and no header is there for nothing."""
    package = Path(lagbc.__file__).parent
    files = {file.relative_to(package).as_posix() for suffix in ("cu", "cuh") for file in package.rglob(f"*.{suffix}")}
    files.add("reduce/one_chain.h")  # of C++ and CUDA
    assert files == {path for source in SOURCES for path in (source.path, *source.headers)}
    assert {source.name for source in SOURCES} == {label.split("[")[0] for label in VARIANTS}


def test_a_wheel_brings_kernels_under_the_names_by_which_they_are_found(monkeypatch, tmp_path):
    monkeypatch.setattr(kernels, "SHIPPED", kernels.SHIPPED[5:6])
    cubins.main(tmp_path)
    ((probe, variant),) = kernels.SHIPPED
    names = [kernel.shipped_name(probe.source, probe.options(variant), sm) for sm in kernel.ARCHITECTURES]
    assert all((tmp_path / name).read_bytes().startswith(b"\x7fELF") for name in names)


def test_the_sources_do_not_load_cupy():
    command = "import sys, lagbc.centrality.compiled; sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0
