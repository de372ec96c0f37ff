"""Several devices, of which the host plays each: bits, failures, memory, interrupts."""

import sys
import threading
import time
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import product
from types import SimpleNamespace
from weakref import ref

import numpy as np
import pytest
import scipy.sparse as sp
from chained import junctions, ones
from every_call import CALLS, CHAINS, A, assert_same, in_parts
from killed import done_in
from strategies import grid, with_lengths
from swept import work

import lagbc
from lagbc import call as one_way
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.limits import Room
from lagbc.methods import table
from lagbc.methods.contract import Batching, StopFlag, SweepPlan
from lagbc.methods.cpu import batched
from lagbc.options import check_options
from lagbc.planning import devices
from lagbc.run import gpus
from lagbc.run.bicomponents import Held, Slices
from lagbc.run.run import work_of
from lagbc.run.work import NONE_DONE, threaded

pytestmark = pytest.mark.usefixtures("short_chunks")

ROWS = {row.name: row for row in lagbc.METHODS if row.device == "cuda" and row.weighted}
PLAIN = {"directed": False, "reduce": "none", "device": "cpu", "method": "batched"}


class DeviceLostError(Exception):
    pass


class Fake:
    """The host as a device: it fails when it is entered the n-th time, takes some time, or waits for such a failure."""

    at_work = threading.local()
    failures = (DeviceLostError,)

    def __init__(self, name, lasts=10**9, delay=0.0, copies=10**9):
        self.name, self.lasts, self.delay, self.left = name, lasts, delay, copies
        self.entered, self.copied, self.threads = 0, [], set()
        self.failed, self.after = threading.Event(), None

    @contextmanager
    def context(self):
        self.entered += 1
        if self.after is not None and self.entered > 1:  # the other device is entered once this one is prepared
            self.after.failed.wait(20)
        if self.entered > self.lasts:
            self.failed.set()
            raise DeviceLostError(f"no more of {self.name}")
        self.threads.add(threading.get_ident())
        Fake.at_work.name = self.name
        time.sleep(self.delay)
        yield
        Fake.at_work.name = None

    def copy(self, graph):
        self.copied.append(graph.moved(np.copy))
        return self.copied[-1]

    def wait(self):
        pass

    def copies(self):
        self.left -= 1
        return Late() if self.left >= 0 else Lost()


class Late:
    """Copies that are there after the wait alone."""

    def __init__(self):
        self.copied = []

    def __call__(self, array):
        self.copied.append((array.copy(), np.full_like(array, np.nan)))
        return self.copied[-1][1]

    def wait(self):
        for array, copy in self.copied:
            copy[:] = array


class Lost(Late):
    """Copies that a device does not end."""

    def wait(self):
        raise DeviceLostError("the copy is lost")


@pytest.fixture(autouse=True)
def no_thread_left():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


@pytest.fixture
def on(monkeypatch):
    """Have runs swept on some devices, wherever several may sweep."""

    def choose(*chosen):
        def carry(work, first, last):
            here = threaded if isinstance(work, Slices) else partial(gpus.over_devices, chosen)
            return here(work, first, last)

        for name in ("inline", "threaded"):
            monkeypatch.setattr(one_way, name, carry)
        return chosen

    return choose


def fakes(count, **how):
    return [Fake(f"host {i}", **how) for i in range(count)]


@pytest.fixture
def assert_bits(short_chunks):
    """Compare a call on the devices with one on none."""
    expected = lagbc.bc(A, **PLAIN)
    return lambda **given: np.testing.assert_array_equal(lagbc.bc(A, **PLAIN, **given), expected)


@pytest.mark.parametrize("call", CALLS)
def test_bits_of_any_number_of_devices(on, call):
    graph, which, given = CALLS[call]
    expected = lagbc.centralities(graph, which, **given)
    for count in (1, 3, 7):
        on(*fakes(count))
        assert_same(lagbc.centralities(graph, which, **given), expected)


@pytest.mark.parametrize("roots", [1, 63, 64, 65, 200, 300])
def test_few_roots_are_shared_in_whole_blocks(on, roots):
    reached = np.flatnonzero(as_graph(A, directed=False).out_degrees)[:roots]
    expected = lagbc.bc(A, sources=reached, **PLAIN)
    two = on(*fakes(2))
    np.testing.assert_array_equal(lagbc.bc(A, sources=reached, **PLAIN), expected)
    assert [len(device.copied) for device in two] == [1, int(roots > 64)]


@pytest.mark.parametrize(
    ("directed", "prepared"), [(False, {"order", "reordered"}), (True, {"order", "reordered", "_reverse"})]
)
def test_each_device_has_a_thread_at_a_time_and_a_copy_of_what_is_prepared(on, directed, prepared):
    three = on(*fakes(3, delay=0.01))
    lagbc.bc(sp.triu(A) + sp.tril(A, -99) if directed else A, **PLAIN | {"directed": directed})
    for device in three:
        (graph,) = device.copied
        assert device.entered > 1
        if device is not three[0]:
            assert prepared <= vars(graph).keys()


def test_who_is_free_takes_the_next_chunk(on):
    slow, fast = on(Fake("slow", delay=0.2), Fake("fast"))
    lagbc.bc(A, **PLAIN, batch=64)
    assert fast.entered > slow.entered


@pytest.mark.parametrize("lasts", [0, 1, 2])
@pytest.mark.parametrize("which", [0, 1])
def test_a_device_that_fails_hands_its_chunk_on(on, assert_bits, which, lasts):
    three = on(*fakes(3, delay=0.05))
    three[which].lasts, three[which].delay = lasts, 0
    with pytest.warns(RuntimeWarning, match=rf"host {which} has failed.* no more of host {which}"):
        assert_bits()


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_a_device_that_loses_sums_on_their_way_hands_their_spans_on(on, assert_bits, copies):
    on(Fake("host 0", copies=copies), Fake("host 1", delay=0.02))
    with pytest.warns(RuntimeWarning, match="host 0 has failed.* the copy is lost") as warned:
        assert_bits(batch=64)
    assert len(warned) == 1


def test_two_spans_of_a_device_are_under_way(on, assert_bits):
    """One is begun while the one before is not there yet, and no third, though others have time for it."""
    changed, under_way, most = threading.Condition(), 0, 0

    class Waiting(Late):
        """Copies whose wait lasts until the device has begun another span, at the end until nobody begins one."""

        def wait(self):
            nonlocal under_way, most
            with changed:
                under_way += 1
                most = max(most, under_way)
                changed.notify_all()
                changed.wait_for(lambda: under_way > 1, timeout=0.2)
            super().wait()
            with changed:
                under_way -= 1

    slow, _ = on(Fake("slow"), Fake("at work for long", delay=0.3))
    slow.copies = Waiting
    assert_bits(batch=64)
    assert most == 2


@pytest.mark.parametrize("healthy", [0, 2])
def test_a_device_that_loses_two_spans_is_lost_once(on, assert_bits, healthy):
    """Both are handed on, or the run ends."""
    together = threading.Barrier(2)

    class Both(Lost):
        def wait(self):
            with suppress(threading.BrokenBarrierError):
                together.wait(0.5)
            super().wait()

    failing, *_ = on(*fakes(1 + healthy, delay=0.02))
    failing.copies, failing.delay = Both, 0
    if not healthy:
        with pytest.raises(RuntimeError, match="all devices have failed, host 0 as the last"):
            lagbc.bc(A, **PLAIN, batch=64)
        return
    with pytest.warns(RuntimeWarning, match="host 0 has failed") as warned:
        assert_bits(batch=64)
    assert len(warned) == 1


def test_devices_that_fail_all(on, assert_bits, tmp_path):
    """The checkpoint holds what was done, and goes on from it."""
    file = tmp_path / "run"
    on(*fakes(2, lasts=2, delay=0.01))
    with (
        pytest.warns(RuntimeWarning, match="the others go on without it"),
        pytest.raises(RuntimeError, match=r"all devices have failed, host . as the last: no more of host") as raised,
    ):
        lagbc.bc(A, **PLAIN, checkpoint=file)
    assert isinstance(raised.value.__cause__, DeviceLostError)
    assert 0 < done_in(file) < 659
    on(*fakes(2))
    assert_bits(checkpoint=file)


@pytest.fixture
def scarce(monkeypatch):
    """Devices that hold so many workers at most, by their names; on the host that is what is given up."""
    room = {}

    def prepare(graph, plan, prepare=batched.prepare):
        if plan.threads > room.get(getattr(Fake.at_work, "name", None), 10**9):
            raise MemoryError("no room")
        return prepare(graph, plan)

    monkeypatch.setattr(batched, "prepare", prepare)
    return room


@pytest.mark.parametrize("name", ["host 0", "host 1"])
def test_a_device_without_memory_makes_do_with_less(on, assert_bits, scarce, name):
    scarce[name] = 1
    on(*fakes(2, delay=0.01))
    with pytest.warns(lagbc.MemoryWarning, match=rf"{name}: batched on cpu ran out of memory.*threads=1") as warned:
        assert_bits(threads=2)
    assert len(warned) == 1


def test_a_device_with_room_for_no_block_is_done_without(on, assert_bits, scarce):
    scarce["host 0"] = 0
    on(*fakes(2))
    with pytest.warns(RuntimeWarning, match="host 0 has failed.*with the smallest batch"):
        assert_bits()
    scarce["host 1"] = 0
    on(*fakes(2))
    with (
        pytest.warns(RuntimeWarning, match="host 0 has failed"),
        pytest.raises(MemoryError, match="all devices have failed, host 1 as the last"),
    ):
        lagbc.bc(A, **PLAIN)


def test_an_error_of_the_run_is_none_of_the_devices(on, monkeypatch):
    def backward(*_):
        raise ValueError("a length that rounding absorbs")

    monkeypatch.setattr(batched, "backward", backward)
    on(*fakes(3))
    with pytest.raises(ValueError, match="rounding absorbs"):
        lagbc.bc(A, **PLAIN)


@pytest.mark.parametrize(("after", "apart"), [(1, 2**28), (2, 2**28), (4, 2**28), (1, 11200)])
def test_interrupted_runs_go_on_with_the_same_bits(on, assert_bits, monkeypatch, tmp_path, after, apart):
    """Begun on one device amid a chunk, interrupted on two, ended on three, and read once more."""
    file = tmp_path / "run"
    monkeypatch.setattr(gpus, "_APART", apart)

    def stop(progress):
        if progress.done >= stop.at:
            raise KeyboardInterrupt

    stop.at = 64 * after
    with pytest.raises(KeyboardInterrupt):
        lagbc.bc(A, **PLAIN, batch=64, threads=1, checkpoint=file, progress=stop)
    on(*fakes(2))
    stop.at += 1
    with pytest.raises(KeyboardInterrupt):
        lagbc.bc(A, **PLAIN, checkpoint=file, progress=stop)
    assert done_in(file) % 64 == 0
    assert done_in(file) > stop.at - 2
    on(*fakes(3))
    assert_bits(checkpoint=file)
    assert_bits(checkpoint=file)


def test_parts_of_a_run_on_several_devices(on, tmp_path):
    expected = lagbc.bc(A, **PLAIN)
    three = on(*fakes(3))
    np.testing.assert_array_equal(lagbc.merge_parts(in_parts(tmp_path, 2, A, **PLAIN))["bc"], expected)
    assert all(device.copied for device in three)


@pytest.mark.parametrize("which", [0, 1])
def test_groups_of_junctions_are_handed_on(on, which, tmp_path):
    how = {"directed": False, "reduce": "all", "device": "cpu", "threads": 2}
    expected = lagbc.edge_bc(CHAINS, **how).toarray()
    two = on(*fakes(2))
    two[which].lasts, two[1 - which].after = 1, two[which]
    with pytest.warns(RuntimeWarning, match=f"host {which} has failed"):
        np.testing.assert_array_equal(lagbc.edge_bc(CHAINS, **how).toarray(), expected)
    on(*fakes(2))
    merged = lagbc.merge_parts(in_parts(tmp_path, 2, CHAINS, "edge_bc", **how))
    np.testing.assert_array_equal(merged["edge_bc"].toarray(), expected)


def test_a_group_that_is_larger_than_a_device_has_room_for():
    """As on a GPU that has run out of memory: it is cut, and all that leaves chains has the same bits."""
    held = []
    for size, spans in ((192, [(0, 150)]), (64, [(0, 64), (64, 128), (128, 150)])):
        work = work_of(*junctions(ones(CHAINS), size=size), Room())
        hand, total = work.open(StopFlag()), NONE_DONE
        assert [*work.batches(0, 150)] == spans
        for span in work.batches(0, 150):
            total = work.add(total, span, hand(span, work.items[span.place]))
        held.append(Held.of(work.contracted, total.whole))
    whole, parts = held
    for one, other in ((whole.junction, parts.junction), *zip(whole.flows, parts.flows, strict=True)):
        np.testing.assert_array_equal(one, other)
    for one, other in ((whole.dependency, parts.dependency), (whole.along, parts.along)):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert whole.flows.out.any()
    assert whole.along.any()


def test_groups_are_halved_where_bits_do_not_depend_on_them(monkeypatch):
    module = SimpleNamespace(batching=Batching(block=256, auto=256), arrays=lambda graph, sweep: {})
    piece, sweep = junctions(ones(CHAINS), ROWS["delta-stepping"])
    monkeypatch.setattr(lagbc.Method, "load", lambda row: module)

    def smaller(size):
        work = work_of(piece, sweep._replace(batch=size), Room(10**9, 10**9), module)
        return work.smaller(MemoryError(), lambda message: None).batch

    assert [smaller(size) for size in (2048, 512, 768)] == [1024, 256, 512]
    with pytest.raises(MemoryError, match="delta-stepping on cuda ran out of memory with the smallest batch, 256"):
        smaller(256)
    module.batching = module.batching._replace(concurrent=True)
    with pytest.raises(MemoryError):
        smaller(2048)


@pytest.mark.parametrize(
    ("count", "done"), [(1, [128, 256, 384, 512, 576, 640, 659]), (2, [128, 256, *range(320, 659, 64), 659])]
)
def test_progress_is_told_of_what_a_device_is_given(on, count, done):
    on(*fakes(count))
    seen = []
    lagbc.bc(A, **PLAIN, progress=seen.append)
    assert [told.done for told in seen] == done


@pytest.mark.parametrize(
    ("roots", "batch", "count", "lengths"),
    [
        (40 * 4096, 4096, 4, [4096] * 40),  # chunks are given out whole
        (40 * 4096, 1024, 2, [4096] * 38 + [1024] * 8),  # the last ones in batches
        (1024, 1024, 2, [512] * 2),
        (1024, 4096, 4, [256] * 4),
        (100, 4096, 4, [100]),
        (12288, 4096, 2, [3072] * 4),  # two rounds
        (21000, 4096, 2, [4096] * 2 + [3328] * 3 + [2824]),
        (12288, 512, 2, [512] * 24),
    ],
)
def test_how_many_roots_a_device_is_given_at_a_time(monkeypatch, roots, batch, count, lengths):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cuda": 4096})
    module, places = SimpleNamespace(batching=Batching(block=256, auto=4096)), np.arange(roots)
    given = as_graph(grid(4, 5), weighted=True), places, ROWS["delta-stepping"]
    of = work(*given, SweepPlan(batch=batch), ordered=places, module=module)

    def given_out():
        spans = [*gpus._spans(of, 0, roots, count)]
        assert [span.first for span in spans] == [0, *(span.last for span in spans[:-1])]
        assert spans[-1].last == roots
        return [len(places[span.place]) for span in spans]

    assert given_out() == lengths
    whole = [4096] * (roots // 4096) + [roots % 4096] * (roots % 4096 > 0)
    with monkeypatch.context() as patched:
        patched.setattr(gpus, "_APART", count * 4096 // 256 * of.bytes_of_sums - 1)  # less than a portion a device
        assert given_out()[: roots // (count * 4096) * count] == whole[: roots // (count * 4096) * count]
        assert len({*given_out()[roots // (count * 4096) * count : -1]}) <= 1
        patched.setattr(gpus, "_APART", 0)  # no panel is sent for itself
        assert given_out() == whole
    module.batching = module.batching._replace(block=1)
    assert given_out() == whole


@pytest.mark.parametrize("apart", [0, 3, 9, 40, 10**6])
def test_the_spans_of_a_run_that_goes_on_are_the_rest(monkeypatch, apart):
    """Begun amid a chunk, as by another batch, and with panels of which all, some or none are sent one by one."""
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cuda": 1024})
    module = SimpleNamespace(batching=Batching(block=64, auto=1024))
    given = as_graph(grid(4, 5), weighted=True), np.arange(9000), ROWS["delta-stepping"]
    for batch, count, first in product((64, 256, 1024), (2, 3), range(0, 9000, 64)):
        of = work(*given, SweepPlan(batch=batch), ordered=np.arange(9000), module=module)
        monkeypatch.setattr(gpus, "_APART", apart * of.bytes_of_sums)
        spans = [*gpus._spans(of, first, 9000, count)]
        assert [first, *(span.last for span in spans)] == [*(span.first for span in spans), 9000]
        assert all(span.first < span.last for span in spans)


def test_a_graph_moves_with_what_was_worked_out_of_it():
    graph = as_graph(with_lengths(grid(4, 5), [1, 2]), weighted=True)
    _ = graph.order, graph.reordered.transpose, graph.transpose, graph.depth
    host = as_graph(grid(4, 5))
    vars(graph)["copied_from"] = ref(host)
    seen = []

    def move(array):
        seen.append(id(array))
        return array.copy()

    moved = graph.moved(move)
    assert len(set(seen)) == len(seen) > 6
    assert moved.copied_from() is host
    assert vars(moved).keys() == vars(graph).keys()
    assert moved.reordered.transpose is moved.reordered.transpose
    for ours, theirs in ((moved, graph), (moved.reordered, graph.reordered), (moved.transpose, graph.transpose)):
        for a, b in zip(ours.csr, theirs.csr, strict=True):
            np.testing.assert_array_equal(a, b)
            assert not np.shares_memory(a, b)
    symmetric = as_graph(grid(4, 5), directed=False)
    _ = symmetric.transpose
    assert (twin := symmetric.moved(np.copy)).transpose is twin


@pytest.mark.parametrize(
    ("device", "kind", "numbers"),
    [
        *(("auto", "auto", None), ("cpu", "cpu", None), ("cuda", "cuda", None), ("all", "cuda", "all")),
        *((1, "cuda", (1,)), (np.int64(2), "cuda", (2,)), ([0, 2], "cuda", (0, 2)), ([0, 0], "cuda", (0, 0))),
        (range(3), "cuda", (0, 1, 2)),
    ],
)
def test_devices_that_are_asked_for(device, kind, numbers):
    settings = check_options("auto", {"device": device})
    assert (settings.device, settings.devices) == (kind, numbers)
    with lagbc.config(device=device):
        assert check_options("auto", {}).devices == numbers


@pytest.mark.skipif(table.count_gpus() > 0, reason="there is a GPU")
@pytest.mark.parametrize("device", [0, [0, 1], "all"])
def test_a_gpu_that_is_asked_for_where_there_is_none(device):
    with pytest.raises(lagbc.MissingDependencyError, match="needs"):
        lagbc.bc(A, device=device)


def test_gpus_that_there_are_not(monkeypatch):
    monkeypatch.setattr(table, "count_gpus", lambda: 2)
    assert table.gpu_numbers("all") == (0, 1)
    assert table.gpu_numbers((1, 0)) == (1, 0)
    assert table.gpu_numbers(None) == ()
    with pytest.raises(ValueError, match="device=2: there are 2 GPUs, 0 to 1"):
        lagbc.plan(A, device=[0, 2])
    monkeypatch.setattr(table, "count_gpus", lambda: 1)
    with pytest.raises(ValueError, match="device=1: there is one GPU, 0"):
        lagbc.bc(A, device=1)
    monkeypatch.setattr(table, "count_gpus", lambda: 0)
    assert table.gpu_numbers((5,)) == ()


@pytest.fixture
def noted(monkeypatch):
    """Four GPUs, by what of CuPy they are made of, and the notes of which device and which stream are current."""
    notes = []

    class Noting:
        def __init__(self, *what, **how):
            self.what = (*what, *how.items())

        def __enter__(self):
            notes.append(self.what)

        def __exit__(self, *_):
            notes.append("left")

        def synchronize(self):
            notes.append("waited")

    errors = SimpleNamespace(CUDARuntimeError=DeviceLostError, CUDADriverError=DeviceLostError)
    cuda = SimpleNamespace(Device=Noting, Stream=Noting, runtime=errors, driver=errors)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))
    monkeypatch.setattr(table, "count_gpus", lambda: 4)
    monkeypatch.setattr(devices, "_stream", cache(devices._stream.__wrapped__))  # else these streams would stay
    return notes


def test_a_gpu_by_its_number(noted):
    gpu = devices.Gpu(3)
    assert gpu.name == "GPU 3"
    assert noted == [(3,), "left"]  # its stream is made on it
    noted.clear()
    with gpu.context():
        assert noted == [(3,), (("non_blocking", True),)]
    gpu.wait()
    assert noted[2:] == ["left", "left", "waited"]
    noted.clear()
    with table.reading_gpu(A, (2, 3)):
        assert noted == [(2,)]
    with table.reading_gpu(A, None):
        assert noted == [(2,), "left"]
    on_host = as_graph(A)
    assert gpu.copy(on_host) is on_host
    assert devices.Gpu(3)._stream is gpu._stream is not devices.Gpu(3, 1)._stream


def test_gpus_share_what_is_swept_there(noted):
    row = SimpleNamespace(device="cuda")
    several = ([3, 1], ["GPU 3", "GPU 1"]), ("all", ["GPU 0", "GPU 1", "GPU 2", "GPU 3"])
    for asked, names in (*several, (2, []), ("cuda", [])):
        settings = check_options("auto", {"device": asked})
        assert [gpu.name for gpu in devices.devices_of(settings, row)] == names
        assert not devices.devices_of(settings, SimpleNamespace(device="cpu"))
