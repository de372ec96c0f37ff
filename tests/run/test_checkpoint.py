"""The file of a checkpoint: what is read is checked, what cannot be written costs no score."""

import errno
import io
import json
import os
import stat
import subprocess
import sys
import zipfile
from contextlib import suppress
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from chained import hub, subdivided, symmetric
from every_call import in_parts
from killed import Killed, done_in, rewrite, stop
from launcher import TESTS
from strategies import path, scale_free, times

import lagbc
from lagbc import tuning
from lagbc.errors import FileError
from lagbc.graph.validate import as_graph
from lagbc.reduce.weighted import NotContractible
from lagbc.run import partial
from lagbc.run.bicomponents import Junctions

A = scale_free(500, 4000, seed=1)
SWEPT = np.count_nonzero(as_graph(A).out_degrees)


def batched(A, **options):
    return lagbc.bc(A, method="batched", device="cpu", threads=1, **options)


def begun(file, A=A, **options):
    """Return a checkpoint of which some roots are done."""
    with pytest.raises(Killed):
        batched(A, checkpoint=file, progress=stop, **options)
    return file


@pytest.fixture
def file(tmp_path):
    return begun(tmp_path / "run")


# What is read


def refused(file, message, **options):
    """A file is refused and kept; only sums of another run or version, which a checkpoint holds, may be deleted."""
    before = file.read_bytes()
    with pytest.raises(lagbc.CheckpointError, match=f"{file.name} {message}.*name another file") as error:
        batched(A, checkpoint=file, **options)
    assert file.read_bytes() == before
    holds_sums = " belongs to " in str(error.value) or " its sums are " in str(error.value)
    assert ("delete" in str(error.value)) == holds_sums


WRONG = {
    "done": (np.array([-1]), np.array([SWEPT + 1]), np.array([64.0]), np.full(2, 64), None),
    "head": (np.arange(3), None),
    "roots": (None, np.arange(500.0)),
    "0/chunk/dependency": (None, np.zeros(501), np.zeros((500, 1)), np.zeros(500, np.float32), np.zeros(500, "U8")),
}


@pytest.mark.parametrize(("name", "array"), [(name, array) for name in WRONG for array in WRONG[name]])
def test_arrays_are_checked(file, name, array):
    rewrite(file, **{name: array})
    refused(file, "is not a lagbc checkpoint")


@pytest.mark.parametrize(
    ("options", "roots"),
    [
        *(({}, roots) for roots in (np.arange(499), np.arange(1, 501), np.zeros(500, np.int64))),
        *(({"k": 200}, roots) for roots in (np.arange(-1, 199), np.arange(301, 501), np.zeros(200, np.int64))),
    ],
)
def test_roots_are_checked(tmp_path, options, roots):
    """All, and those that were drawn."""
    file = begun(tmp_path / "run", **options)
    rewrite(file, roots=roots)
    refused(file, "belongs to other roots", **options)


@pytest.mark.parametrize("version", [2, 99])
def test_another_form_is_told(file, version):
    """An older version of lagbc wrote it, or a newer one; the file stays as it is."""
    with np.load(file) as held:
        head = json.loads(held["head"].tobytes())
    head["format"] = f"lagbc partial sums {version}"
    rewrite(file, head=np.frombuffer(json.dumps(head).encode(), np.uint8))
    refused(file, "was written by another version of lagbc, and its sums are of another form; go on with that version")


@pytest.mark.parametrize(("constant", "value"), [("GROUPED_ROOTS", 1), ("CHUNK_ROOTS", {"cpu": 128, "cuda": 256})])
def test_another_order_of_the_roots_is_refused(file, monkeypatch, constant, value):
    """What is done is a prefix of the roots in their order, by chunks; another version may choose others."""
    with monkeypatch.context() as patch:
        patch.setattr(tuning, constant, value)
        refused(file, "belongs to another version's order of the roots")
    np.testing.assert_array_equal(batched(A, checkpoint=file), batched(A))


def test_nothing_is_unpacked_that_does_not_fit(file):
    """An array whose header promises more than memory holds, one of objects, and a matrix in place of an archive."""
    header, objects, name = io.BytesIO(), io.BytesIO(), "0/chunk/dependency"
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**50,)})
    np.save(objects, np.array([{}] * 500))
    for content in (header, objects):
        rewrite(file, {name: content.getvalue()}, **{name: None})
        refused(file, "is not a lagbc checkpoint")
    file.write_bytes(header.getvalue())
    refused(file, "is not a lagbc checkpoint")


def test_a_refused_file_is_closed(file, monkeypatch):
    """Some systems would not let it be deleted, as the message says."""
    opened, archives = zipfile.ZipFile, []
    rewrite(file, head=np.arange(3))
    monkeypatch.setattr(zipfile, "ZipFile", lambda *given: archives.append(opened(*given)) or archives[-1])
    with pytest.raises(lagbc.CheckpointError, match="is not a lagbc checkpoint"):
        batched(A, checkpoint=file)
    assert archives
    assert all(archive.fp is None for archive in archives)


def test_arrays_are_those_of_the_digests(file):
    """Of an archive that is whole, but not as a run wrote it: a number more, an array more, and no digests."""
    with np.load(file) as loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    name = "0/chunk/dependency"
    more = {name: arrays[name] + np.eye(1, 500)[0]}, {"0/dependency": np.zeros(500)}, {"digests": None}
    for changed in more:
        with file.open("wb") as stream:
            np.savez(stream, **{name: array for name, array in (arrays | changed).items() if array is not None})
        refused(file, "is not a lagbc checkpoint")


def test_damaged_files_are_named(tmp_path):
    """With a byte changed anywhere, cut off, or with bytes lost: an error of the file, or the right scores."""
    A, rng = scale_free(100, 300, seed=1), np.random.default_rng(0)
    file = begun(tmp_path / "run", A)
    whole, expected = file.read_bytes(), batched(A)
    changed = [bytearray(whole) for _ in range(times(80))]
    for one, place in zip(changed, rng.integers(0, len(whole), len(changed)), strict=True):
        one[place] ^= rng.integers(1, 256)
    places = rng.integers(0, len(whole), (times(20), 2))
    lost = [whole[:place] for place in places[:, 0]] + [whole[:one] + whole[one + 1 + other :] for one, other in places]
    for content in changed:
        file.write_bytes(content)
        with suppress(lagbc.CheckpointError):  # else it is a byte that nothing reads
            np.testing.assert_array_equal(batched(A, checkpoint=file), expected)
    for content in lost:
        file.write_bytes(content)
        with pytest.raises(lagbc.CheckpointError, match="run is not a lagbc checkpoint"):
            batched(A, checkpoint=file)


def test_a_disk_that_cannot_be_read_is_named(file, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(partial, "read_array", fail)
    with pytest.raises(FileError, match="run cannot be read: Input/output error"):
        batched(A, checkpoint=file)


def test_no_file(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file, options in ((tmp_path, {}), (pipe, {}), (pipe, {"k": 10}), (os.devnull, {})):
        with pytest.raises(lagbc.CheckpointError, match=f"{file} is a folder, a pipe or a device"):
            lagbc.bc(A, checkpoint=file, **options)


# What is written


def no_space(self, other):
    raise OSError(28, "No space left on device")


def test_symlink_is_followed(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    for _ in range(2):
        begun(link)
        assert link.is_symlink()
        assert done_in(target) > 0
        assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "target"]
    link.unlink()
    link.symlink_to(tmp_path / "missing" / "target")
    with pytest.raises(lagbc.CheckpointError, match="link cannot be written: there is no folder"):
        batched(A, checkpoint=link)


def test_mode_is_kept(file, monkeypatch):
    """A file that is finished is not written again."""
    file.chmod(0o640)
    scores = batched(A, checkpoint=file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    monkeypatch.setattr(Path, "replace", None)
    np.testing.assert_array_equal(batched(A, checkpoint=file), scores)


def test_what_a_killed_run_left_is_removed(tmp_path):
    kept = {"run.1", "run.part", "run.a.12345678.lagbc-part", "other.12345678.lagbc-part"}
    for name in (*kept, "run.0123abcd.lagbc-part", "run.deadbeef.lagbc-part"):
        (tmp_path / name).touch()
    batched(A, checkpoint=tmp_path / "run")
    assert {entry.name for entry in tmp_path.iterdir()} == kept | {"run"}


def test_tried_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "replace", no_space)
    told = []
    with pytest.raises(FileError, match=r"run cannot be used: .*No space left") as error:
        batched(A, checkpoint=tmp_path / "run", progress=told.append)
    assert not isinstance(error.value, ValueError)
    assert not told
    assert not list(tmp_path.iterdir())


def test_no_score_is_lost(tmp_path, monkeypatch):
    """The disk is full from the first batch on."""
    file = tmp_path / "run"

    def fill(progress):
        monkeypatch.setattr(Path, "replace", no_space)

    with pytest.warns(RuntimeWarning, match=r"run could not be written: .*No space left"):
        scores = batched(A, checkpoint=file, progress=fill)
    np.testing.assert_array_equal(scores, batched(A))
    assert done_in(file) == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    monkeypatch.undo()
    np.testing.assert_array_equal(batched(A, checkpoint=file), scores)


def test_a_piece_begins_anew_on_a_full_disk(tmp_path, monkeypatch):
    """It is not summed from its junctions after all, and no more is written from then on."""

    def fail(self, stop):
        monkeypatch.setattr(Path, "replace", no_space)
        raise NotContractible("counts")

    monkeypatch.setattr(Junctions, "open", fail)
    given = {"directed": False, "device": "cpu"}
    with pytest.warns(RuntimeWarning, match=r"run could not be written: .*No space left"):
        scores = lagbc.bc(hub(300), reduce="all", checkpoint=tmp_path / "run", **given)
    np.testing.assert_allclose(scores, lagbc.bc(hub(300), reduce="none", **given), rtol=1e-12)


def test_an_error_is_not_hidden_by_a_full_disk(file, monkeypatch):
    def fail(progress):
        monkeypatch.setattr(Path, "replace", no_space)
        raise KeyboardInterrupt

    with pytest.warns(RuntimeWarning, match="could not be written"), pytest.raises(KeyboardInterrupt) as raised:
        batched(A, checkpoint=file, progress=fail)
    assert not hasattr(raised.value, "__notes__")


@pytest.mark.parametrize("call", [lagbc.bc, lambda A, **given: lagbc.estimate(A, relative_error=0.3, rng=1, **given)])
def test_a_run_that_goes_on_tells_how_much_is_done(tmp_path, capsys, caplog, call):
    with pytest.raises(Killed):
        call(A, checkpoint=tmp_path / "run", progress=stop)
    caplog.set_level("INFO", "lagbc")
    told = f"%: {tmp_path / 'run'} has {done_in(tmp_path / 'run')} of "
    call(A, checkpoint=tmp_path / "run", progress=True)
    (line,) = [message for message in caplog.messages if message.startswith("resumed at ") and told in message]
    assert capsys.readouterr().err.startswith(f"lagbc: {line}\n")


@pytest.mark.parametrize("call", ["bc", "estimate"])
def test_ctrl_c_tells_the_file(file, call):
    def interrupt(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as raised:
        getattr(lagbc, call)(A, checkpoint=file, progress=interrupt)
    assert raised.value.__notes__ == [f"{file} holds what is summed so far; the same call goes on from it"]


def test_limit_of_file_sizes(tmp_path):
    """A real refusal to write, in the middle of the file."""
    pytest.importorskip("resource")
    script = f"""
import resource, sys, warnings
sys.path.insert(0, {TESTS!r})
from families import path
import lagbc

def limit(progress):
    resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))

A = path(1000)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    plain = {{"method": "batched", "device": "cpu", "reduce": "none"}}
    print(lagbc.bc(A, checkpoint={str(tmp_path / "run")!r}, progress=limit, **plain).sum())
assert any("run could not be written" in str(warning.message) for warning in said), said
try:
    lagbc.bc(A, reduce="none", checkpoint={str(tmp_path / "other")!r})
except OSError as error:
    assert "other cannot be used" in str(error), error
else:
    raise AssertionError
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    np.testing.assert_allclose(float(done.stdout), batched(path(1000)).sum())
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


# Contracted pieces, and the plan


def cubic(leaves):
    """A cubic graph whose edges have four vertices inside, and leaves."""
    graph = nx.random_regular_graph(3, 200, seed=1)
    n, edges = subdivided(200, list(graph.edges), [4] * graph.number_of_edges())
    ends = np.random.default_rng(0).integers(n, size=leaves).tolist()
    edges += [(v, n + number) for number, v in enumerate(ends)]
    return symmetric(n + leaves, edges, np.ones(len(edges)))


@pytest.mark.parametrize("options", [{"reduce": "none"}, {"method": "work-efficient"}], ids=str)
def test_sums_from_junctions_are_kept(tmp_path, options):
    """Options by which the same graph is summed otherwise do not begin the file anew, and its plan is refused, too."""
    given = {"directed": False, "device": "cpu", "reduce": "all", "checkpoint": tmp_path / "run"}
    graph = cubic(0)
    expected, before = lagbc.bc(graph, **given), (tmp_path / "run").read_bytes()
    assert lagbc.plan(graph, **given).labels == ["chains batched cpu"]
    for call in (lagbc.bc, lagbc.plan):
        with pytest.raises(lagbc.CheckpointError, match=r"of batched on cpu \(chains\), and this is .*whole"):
            call(graph, **(given | {"reduce": "none"} | options))
    assert (tmp_path / "run").read_bytes() == before
    np.testing.assert_array_equal(lagbc.bc(graph, **given), expected)


@pytest.mark.parametrize("memory", range(1_000_000, 3_500_000, 250_000))
def test_a_run_goes_on_whatever_fits_into_its_memory(tmp_path, memory):
    """Where its pieces do not fit, it is swept as it is; the same call goes on so, and its parts are merged so."""
    graph, given = cubic(600), {"directed": False, "device": "cpu", "threads": 1, "memory": memory}
    try:
        expected = lagbc.bc(graph, **given)
    except MemoryError:
        pytest.skip("too little memory for any")
    with pytest.raises(Killed):
        lagbc.bc(graph, checkpoint=tmp_path / "run", progress=stop, **given)
    np.testing.assert_array_equal(lagbc.bc(graph, checkpoint=tmp_path / "run", **given), expected)
    np.testing.assert_allclose(lagbc.merge_parts(in_parts(tmp_path, 2, graph, **given))["bc"], expected, rtol=1e-12)
