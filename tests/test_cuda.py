"""Kernels by the names of their parameters; this needs neither a GPU nor CuPy."""

import os
import re
import subprocess
import sys
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lagbc import cuda
from lagbc.calls import record
from lagbc.centrality.compiled import SOURCES
from lagbc.cuda import kernel
from lagbc.cuda.kernel import Source, Variant, declared, kernel_of
from lagbc.graph.device import KERNELS as OF_GRAPHS
from lagbc.methods.gpu.kernels import BLOCK, HOPS_SUMS, KERNELS

PATH = "methods/gpu/batched/sums.cu"
POINTERS = ["positions", "columns", "indptr", "indices", "keep", "root_weights", "values", "edge_order"]
POINTERS += ["edges", "edge_squares"]


class Module:
    """A compiled source, which notes each launch."""

    def __init__(self):
        self.launches = []

    def get_function(self, name):
        return lambda *given: self.launches.append((name, *given))


@pytest.fixture
def launched():
    """A kernel of which each launch is noted."""
    module = Module()
    return kernel_of(module, HOPS_SUMS.source, "root_edges", Variant("float32")), module.launches


def test_arguments_are_passed_in_the_order_of_the_source(launched):
    kernel, launches = launched
    arrays = {name: SimpleNamespace(name=name) for name in reversed(POINTERS)}
    kernel((3, 2), 256, nnz=7, **arrays, n=True)
    ((name, grid, block, arguments),) = launches
    assert (name, grid, block) == ("root_edges", (3, 2), (256,))
    assert [argument.name for argument in (*arguments[1:9], *arguments[10:12])] == POINTERS
    assert (arguments[0], type(arguments[0])) == (1, np.int32)
    assert (arguments[9], type(arguments[9])) == (7, np.int64)


def test_pointers(launched):
    """To nothing, and to the memory of the host, which has the same address on the device."""
    kernel, launches = launched
    flags = np.zeros(4, np.uint8)
    kernel((1,), 256, n=1, nnz=0, **dict.fromkeys(POINTERS) | {"keep": flags})
    arguments = launches[0][3]
    assert all(type(argument) is np.intp for argument in arguments[1:9])
    assert [int(argument) for argument in arguments[1:9]] == [0, 0, 0, 0, flags.ctypes.data, 0, 0, 0]


def test_other_arguments_are_refused(launched):
    kernel, launches = launched
    given = dict.fromkeys(POINTERS) | {"n": 1, "nnz": 0}
    with pytest.raises(TypeError, match="level: given or a parameter of the kernel, but not both"):
        kernel((1,), 256, level=2, **given)
    with pytest.raises(TypeError, match="keep, nnz: given or"):
        kernel((1,), 256, **{name: value for name, value in given.items() if name not in ("keep", "nnz")})
    with pytest.raises(OverflowError):
        kernel((1,), 256, **given | {"n": 2**31})
    assert not launches


def test_a_kernel_that_is_not_there():
    with pytest.raises(LookupError, match=f"{PATH} has no kernel edges"):
        declared(Source(PATH), "edges")


def names_of(source):
    """Name the kernels of a source."""
    text = re.sub(r"__launch_bounds__\((?:[^()]|\([^()]*\))*\)", "", source.text)
    return re.findall(r'extern "C" __global__ void\s+(\w+)\(', text)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_every_kernel_is_read(source):
    """All of its parameters have a name of their own, and numbers a type that is known."""
    names = names_of(source)
    assert len(names) == source.text.count("__global__")
    for name in names:
        parameters = declared(source, name)
        assert len({parameter for parameter, _, _ in parameters}) == len(parameters)
        numbers = {kind for _, kind, is_pointer in parameters if not is_pointer}
        assert numbers <= {"int", "offset", "double", "value", "dist", "sum"}


def test_a_compiled_source_is_loaded_without_a_phase(monkeypatch):
    """At the end of a phase a recorder waits for the device: the time of sweeps would be the compiler's."""
    begun, waits = Future(), []
    monkeypatch.setattr(kernel, "begin_compile", lambda *given, **_: (given, begun))
    monkeypatch.setattr(begun, "result", lambda: (begun.done() or begun.set_result(None), "module")[1])
    with record(lambda: waits.append("compile")):
        assert kernel.load(HOPS_SUMS.source, ()) == "module"
        assert waits == ["compile"]
        assert kernel.load(HOPS_SUMS.source, ()) == "module"
        assert waits == ["compile"]


def test_every_launch_has_the_arguments_of_its_kernel():
    """Those of block.cu are held by tests/grid/test_block_by_stand_in.py; lengths on the host are surveyed there."""
    tests = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, tests / "gpu" / "launches.py"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not ran.returncode, ran.stderr
    elsewhere = {"survey_lengths", *names_of(BLOCK.source)}
    kernels = {name for of in (*OF_GRAPHS, *KERNELS) for name in names_of(of.source)}
    assert {*ran.stdout.split()} == kernels - elsewhere


# The cache of compiled kernels


WITHOUT_IDS = not hasattr(os, "getuid")


@pytest.fixture
def unwritable(monkeypatch, tmp_path):
    """CuPy's folder is not to be written; temporary files are in a folder of the test."""
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setenv(cuda.VARIABLE, str(tmp_path / "file" / "kernels"))
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    cuda.provide_folder.cache_clear()
    yield tmp_path
    cuda.provide_folder.cache_clear()


def test_a_folder_that_can_be_written_is_left(monkeypatch, tmp_path):
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setenv(cuda.VARIABLE, str(tmp_path / "new" / "kernels"))
    cuda.provide_folder.cache_clear()
    cuda.provide_folder()
    assert cuda.folder() == tmp_path / "new" / "kernels"
    assert not list(cuda.folder().iterdir())


@pytest.mark.skipif(WITHOUT_IDS, reason="users have no ids")
def test_a_temporary_folder_of_the_user_alone(unwritable):
    cuda.provide_folder()
    own = unwritable / f"lagbc-{os.getuid()}"
    assert cuda.folder() == own / "cupy"
    assert own.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(WITHOUT_IDS, reason="users have no ids")
def test_a_folder_that_others_may_write_is_not_taken(unwritable):
    own = unwritable / f"lagbc-{os.getuid()}"
    own.mkdir()
    own.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="set CUPY_CACHE_DIR to a folder that can be written"):
        cuda.provide_folder()
    assert own not in cuda.folder().parents
    assert cuda.folder().parent.stat().st_mode & 0o777 == 0o700


def test_the_folder_is_provided_before_cupy_is_imported():
    """CuPy makes its folder when it is imported, and cannot be where it cannot."""
    text = Path(cuda.__file__).parents[1].joinpath("methods", "table.py").read_text(encoding="utf-8")
    assert text.index("provide_folder()\n") < text.index('import_module("cupy").cuda')


def test_cupy_is_not_imported():
    command = "import sys; from lagbc import cuda; cuda.provide_folder(); sys.exit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0


# Kernels that come compiled


@pytest.mark.parametrize(("capability", "architecture"), [(75, 75), (80, 80), (86, 80), (103, 100), (120, 120)])
def test_a_gpu_takes_kernels_of_its_major_architecture(monkeypatch, tmp_path, capability, architecture):
    own, source = kernel.files, HOPS_SUMS.source
    monkeypatch.setattr(kernel, "files", lambda package: tmp_path if package == "lagbc.cuda" else own(package))
    (tmp_path / "cubins").mkdir()
    path = tmp_path / "cubins" / kernel.shipped_name(source, (), architecture)
    path.touch()
    assert kernel.shipped(source, (), capability) == str(path)
    for other in ((source, (), 110), (source, ("-DA",), capability), (source._replace(headers=()), (), capability)):
        assert kernel.shipped(*other) is None


@pytest.mark.parametrize("driver_is_old", [False, True])
def test_kernels_that_the_driver_refuses_are_compiled(monkeypatch, driver_is_old):
    def raw_module(*, enable_cooperative_groups, **given):
        is_refused = driver_is_old and "path" in given
        return SimpleNamespace(given=[*given], compile=lambda: int("refused") if is_refused else None)

    device, driver = SimpleNamespace(compute_capability="90"), SimpleNamespace(CUDADriverError=ValueError)
    cuda = SimpleNamespace(driver=driver, Device=lambda number: nullcontext(device))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(RawModule=raw_module, cuda=cuda))
    monkeypatch.setattr(kernel, "shipped", lambda *given: "one.cubin")
    module = kernel._compile(HOPS_SUMS.source, (), cooperative=False, device=0)
    assert module.given == (["code", "options"] if driver_is_old else ["path"])
