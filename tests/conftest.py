"""Fixtures: the methods under test, and the networks that come with lagbc."""

import functools
import gc
import os
import threading
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import lagbc
from lagbc import limits
from lagbc.io.read import read_graph
from lagbc.io.source import example_path

# Compiling a method at its first call takes seconds, so no example has a deadline. Examples are few, as each method has
# its own, and each run of the tests.
settings.register_profile("lagbc", deadline=None, max_examples=12, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("lagbc"), max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "lagbc"))

READY = [row for row in lagbc.METHODS if row.available and find_spec(row.module) is not None]
HOPS = [row for row in READY if not row.weighted]
LENGTHS = [row for row in READY if row.weighted]


@pytest.fixture
def empty_process(monkeypatch):
    """Let the process hold nothing, so that it leaves a call all of a memory that is stated for it."""
    monkeypatch.setattr(limits, "held_memory", lambda: 0)


@pytest.fixture(scope="module", autouse=True)
def small_heap():
    """Let the collector pass over what is there already, such as compilers: looking at it takes a tenth of a second."""
    gc.collect()
    gc.freeze()


def name_of(row):
    return f"{row.name}-{row.device}"


@pytest.fixture(scope="module", params=HOPS, ids=name_of)
def row(request):
    """Every unweighted row of METHODS that can run here."""
    return request.param


@pytest.fixture(scope="module")
def bc(row):
    """`lagbc.bc` by one method; a test that takes it runs once a method."""
    return functools.partial(lagbc.bc, method=row.name, device=row.device)


@pytest.fixture(scope="module", params=LENGTHS, ids=name_of)
def weighted_row(request):
    """Every weighted row of METHODS that can run here."""
    return request.param


@pytest.fixture(scope="module")
def weighted_bc(weighted_row):
    """`lagbc.bc` with lengths by one method."""
    return functools.partial(lagbc.bc, weighted=True, method=weighted_row.name, device=weighted_row.device)


@pytest.fixture(scope="module", params=READY, ids=lambda row: f"{name_of(row)}{'-lengths' * row.weighted}")
def any_row(request):
    """Every row of METHODS that can run here."""
    return request.param


@pytest.fixture(scope="module")
def any_bc(any_row):
    """`lagbc.bc` by one method, in hops or with lengths."""
    return functools.partial(lagbc.bc, weighted=any_row.weighted, method=any_row.name, device=any_row.device)


@pytest.fixture(scope="module", params=[False, True], ids=["hops", "lengths"])
def weighted(request):
    """Whether the values of a graph are taken as lengths."""
    return request.param


@pytest.fixture(scope="module", params=[True, False], ids=["directed", "undirected"])
def directed(request):
    """Whether an edge leads one way."""
    return request.param


@pytest.fixture(scope="module", params=[np.int32, np.int64])
def index(request):
    """The type of indices of a matrix, each of which has kernels of its own."""
    return request.param


@pytest.fixture(scope="session")
def example():
    """Read a network that comes with lagbc."""
    return functools.cache(lambda name: read_graph(example_path(name)))


@pytest.fixture
def short_chunks(monkeypatch):
    """Chunks of two blocks, and groups of junctions of one, so that small graphs have several."""
    monkeypatch.setattr("lagbc.tuning.CHUNK_ROOTS", {"cpu": 128, "cuda": 512})
    monkeypatch.setattr("lagbc.reduce.chains.GROUP", 64)


@pytest.fixture
def start_at_most(monkeypatch):
    """Have the system start so many threads, and no more; the function returns the list of those that it starts."""

    def limit(most):
        start, started = threading.Thread.start, []

        def start_some(thread):
            if len(started) == most:
                raise RuntimeError("can't start new thread")
            started.append(thread)
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_some)
        return started

    return limit


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def write(text, name="graph.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
