"""Options of a run: their checks, their defaults by `config`, and the plan that is made of them."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from every_call import assert_same, in_parts
from strategies import cycle, scale_free
from swept import estimate

import lagbc
from lagbc import tuning
from lagbc.errors import MemoryWarning
from lagbc.methods import table
from lagbc.methods.table import METHODS
from lagbc.options import OPTIONS, Options, Settings, check_options

A = scale_free(60, 300, seed=4)
GOING = pytest.mark.filterwarnings("ignore:.* goes with the next release")


def test_config_sets_defaults_and_takes_them_back():
    """Of its own thread alone, also after an exception."""
    usual = check_options("auto", {})
    with lagbc.config(threads=3, memory="2GB"):
        assert (check_options("auto", {}).threads, check_options("auto", {}).memory) == (3, 2 * 10**9)
        with lagbc.config(threads=5):
            assert (check_options("auto", {}).threads, check_options("auto", {}).memory) == (5, 2 * 10**9)
            assert check_options("auto", {"threads": 7}).threads == 7
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(check_options, "auto", {}).result() == usual
        assert check_options("auto", {}).threads == 3
    assert check_options("auto", {}) == usual
    with pytest.raises(ZeroDivisionError), lagbc.config(threads=3):
        raise ZeroDivisionError
    assert check_options("auto", {}) == usual


def test_public_functions_take_the_defaults():
    seen = []
    with lagbc.config(progress=seen.append):
        lagbc.closeness(A)
        lagbc.centralities(A, ("bc", "stress"), progress=False)
    assert seen
    assert seen[-1].done == seen[-1].total <= 60


@pytest.mark.skipif(table.count_gpus() > 0, reason="there is a GPU")
def test_a_way_that_takes_a_gpu():
    with pytest.raises(ImportError, match=r"; leave out ':8' for work-efficient on the CPU$"):
        lagbc.bc(A, method="work-efficient:8")
    with pytest.raises(ImportError, match=r"needs an NVIDIA GPU.*\[cuda13\]'$"):
        lagbc.bc(A, method="hybrid:8")


def test_ways_that_methods_go():
    """A way of each kind, in any order; they are those of the modules, which only import with CuPy."""
    of = {row.key: row for row in METHODS}
    assert of["warp-centric", "cuda", False].goes(["8", "all-blocks"])
    assert of["batched", "cpu", False].goes([])
    assert table.ways_of("warp-centric:8:all-blocks") == ("all-blocks", 8)
    assert table.ways_of("batched") == (None, None)
    for file, name, (*_, widths) in (
        ("hops.py", "WIDTHS", of["hybrid", "cuda", False].ways),
        ("dijkstra.py", "VIRTUAL_WARPS", of["dijkstra", "cuda", True].ways),
    ):
        text = (Path(lagbc.__file__).parent / "methods/gpu/traversal" / file).read_text(encoding="utf-8")
        assert f"{name} = ({', '.join(widths)})" in text


def test_memory_comes_before_the_variable(monkeypatch, empty_process):
    """Either is a limit of small runs, too."""
    assert estimate(A).is_small
    monkeypatch.setenv("LAGBC_MEMORY", "2kB")
    with pytest.raises(MemoryError, match="the budget is 2 kB; raise it by memory= or"):
        lagbc.bc(A)
    for size in ("1e16", 1e16, 10**16, np.int64(10**16)):
        assert estimate(A, memory=size).budget == 10**16
    np.testing.assert_array_equal(lagbc.bc(A, memory="1GB"), lagbc.bc(A, memory=10**9))
    monkeypatch.setenv("LAGBC_MEMORY", "1GB")
    with pytest.raises(MemoryError, match="the budget is 1 kB"):
        lagbc.bc(A, memory=1000)


@GOING
def test_the_estimate_is_of_the_run_that_is_made():
    every, few = lagbc.estimate_memory(A), lagbc.estimate_memory(A, roots=3)
    assert few.total <= every.total
    assert lagbc.estimate_memory(A, memory=1).is_over
    with pytest.raises(ValueError, match="roots=61: it is a count, at most 60"):
        lagbc.estimate_memory(A, roots=61)
    with pytest.raises(ValueError, match="dtype='float32': batched on cpu counts paths in 'float64'"):
        lagbc.estimate_memory(A, device="cpu", dtype="float32")


def test_a_smaller_batch_than_asked_for_is_told():
    needed = estimate(cycle(800), batch=400, method="graphblas", threads=1)
    with pytest.warns(MemoryWarning, match=r"batch=400 is over the memory budget; taking \d+"):
        lagbc.bc(cycle(800), batch=400, method="graphblas", threads=1, memory=needed.total // 2, sources=range(400))


NP_FLAGS = {
    "bc": {"directed": False, "weighted": True, "endpoints": True},
    "edge_bc": {"strength": False, "normalized": True},
    "closeness": {"wf_improved": False},
    "stress": {"log2": True, "k": 20, "rng": 1, "standard_error": False},
    "centralities": {"which": ("closeness", "bc"), "normalized": False, "endpoints": True},
    "group_bc": {"groups": [[0], [1, 2]], "normalized": True, "endpoints": True},
    "estimate": {"endpoints": True, "directed": False, "normalized": False, "guarantee": True, "rng": 1},
}


@pytest.mark.parametrize("name", NP_FLAGS)
def test_flags_and_counts_of_numpy_are_those_of_python(name):
    ours, theirs = (getattr(lagbc, name)(A, **given) for given in (of_numpy(NP_FLAGS[name]), NP_FLAGS[name]))
    assert_same(*(getattr(found, "scores", found) for found in (ours, theirs)))


def of_numpy(given):
    kinds = {bool: np.bool_, int: np.int64}
    return {one: kinds.get(type(value), lambda value: value)(value) for one, value in given.items()}


def test_flags_and_counts_of_numpy_are_kept_in_a_part(tmp_path):
    given = {"directed": False, "normalized": True, "endpoints": True, "k": 20, "rng": 1}
    paths = in_parts(tmp_path, 1, A, **of_numpy(given))
    assert_same(lagbc.merge_parts(paths)["bc"], lagbc.bc(A, **given))


@pytest.mark.parametrize("k", [20, np.int64(20), np.array(20)])
def test_the_roots_that_are_drawn_tell_where_a_graph_is_read(monkeypatch, k):
    """Their number decides whether a large one is read on the GPU."""
    told = []
    monkeypatch.setattr(tuning, "HOST_EDGES", 0)
    monkeypatch.setattr("lagbc.call.begin_on_device", lambda A, roots, settings, weighted: bool(told.append(roots())))
    lagbc.bc(A, k=k)
    assert told == [20]


def test_the_options_of_type_checkers_are_those_of_the_table():
    names = [option.name for option in OPTIONS]
    assert [name for name in names if name != "batch"] == list(Options.__annotations__)
    assert set(Settings._fields) - set(names) == {"devices"}
    assert set(names) <= set(Settings._fields)
    described = Options.__doc__.partition("Attributes")[2]
    assert all(f"    {name} :" in described for name in Options.__annotations__)


def test_defaults_are_what_is_taken_where_nothing_is_given():
    """Also on the command line, where an option is None until something is typed."""
    given = {option.name: option.default for option in OPTIONS if option.name != "batch"}
    assert check_options("auto", given) == check_options("auto", {})
    assert {option.name for option in OPTIONS if option.default is None} == {
        *("threads", "memory", "checkpoint", "stop", "executor", "comm", "grid")
    }
