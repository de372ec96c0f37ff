"""Parts of a call, merged to the bits of one call; and what is refused."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from chained import ring_of_diamonds
from every_call import CALLS, A, assert_same, in_parts
from killed import Killed, rewrite, stop
from strategies import grid, scale_free

import lagbc

pytestmark = pytest.mark.usefixtures("short_chunks")

SWEPT = {"directed": False, "reduce": "none"}


@pytest.mark.parametrize("call", CALLS)
def test_merged_parts_have_the_bits_of_one_call(call, tmp_path):
    """Some are of more parts than there are blocks of roots."""
    graph, which, given = CALLS[call]
    expected = lagbc.centralities(graph, which, **given)
    for of in (1, 2, 3, 5, 12) if call in ("directed", "chains", "cutoffs") else (1, 2, 3, 5):
        assert_same(lagbc.merge_parts(in_parts(tmp_path, of, graph, which, **given)[::-1]), expected)


def test_chains_are_among_the_calls():
    graph, which, given = CALLS["chains"]
    assert "junctions" in lagbc.plan(graph, which=which, **given).reason


def test_parts_have_about_as_many_roots(tmp_path):
    """And the same bits with other threads and batches."""
    how = ({"threads": 1, "batch": 64}, {"threads": 2}, {"memory": "700KB"}, {"threads": 2, "batch": 128})
    paths = [tmp_path / f"{i}.npz" for i in range(4)]
    written = [lagbc.save_part(paths[i], (i + 1, 4), A, **SWEPT, **how[i]) for i in range(4)]
    assert [part.roots for part in written] == [192, 128, 192, 147]
    assert_same(lagbc.merge_parts(paths), {"bc": lagbc.bc(A, **SWEPT)})


def test_progress_counts_the_roots_of_the_part(tmp_path):
    seen = []
    part = lagbc.save_part(tmp_path / "part", (2, 3), A, **SWEPT, batch=64, progress=seen.append)
    done = [told.done for told in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1].total == part.roots


def test_numbers_of_names_and_attributes(tmp_path):
    nx = pytest.importorskip("networkx")
    G, which = nx.relabel_nodes(nx.karate_club_graph(), str), ("bc", "edge_bc")
    given = {"sources": ["3", "0"], "weighted": True, "reduce": "none"}
    assert_same(lagbc.merge_parts(in_parts(tmp_path, 2, G, which, **given)), lagbc.centralities(G, which, **given))


SAMPLE = {"k": 50, "rng": 0}
# Arguments of the first part, and the graph and arguments of the second.
OTHERS = {
    "another graph": ({}, scale_free(700, 3000, seed=5), {}),
    "another graph, direction or lengths": ({}, A, {"directed": False}),
    "a call with other arguments": ({}, A, {"normalized": True}),
    "with other arguments than": ({}, A, {"sources": np.arange(600)}),
    "other arguments": (SAMPLE, A, SAMPLE | {"rng": 1}),
    "other methods, or devices": ({}, A, {"method": "work-efficient"}),
    "other methods, or devices than": ({}, A, {"reduce": "all"}),
}


@pytest.mark.parametrize("message", OTHERS)
def test_parts_of_other_calls_are_refused(message, tmp_path):
    first, graph, second = OTHERS[message]
    on_cpu = {"reduce": "none", "device": "cpu"}
    paths = in_parts(tmp_path, 2, A, **on_cpu | first)
    lagbc.save_part(paths[1], (2, 2), graph, **on_cpu | second)
    with pytest.raises(lagbc.PartError, match=f"2-2.npz belongs to .*{message}.*2-1.npz"):
        lagbc.merge_parts(paths)


def test_parts_that_are_missing_or_twice_there_are_named(tmp_path):
    paths, others = in_parts(tmp_path, 4, A), in_parts(tmp_path, 3, A)
    shutil.copy(paths[1], tmp_path / "copy.npz")
    for given, message in (
        (paths[:3], "part 4 of 4 is missing"),
        (paths[1:3], "parts 1, 4 of 4 are missing"),
        ([*paths, tmp_path / "copy.npz"], "part 2 is there twice: .*4-2.npz and .*copy.npz"),
        ([paths[0], *others[1:]], "4-1.npz is one of 4 parts, .*3-2.npz one of 3"),
        ([], "no part to merge"),
    ):
        with pytest.raises(lagbc.PartError, match=message):
            lagbc.merge_parts(given)
    with pytest.raises(FileNotFoundError):
        lagbc.merge_parts([tmp_path / "none"])


def test_damaged_files_are_named(tmp_path):
    """Cut off, with bytes lost, with a byte changed anywhere, or no part at all."""
    paths = in_parts(tmp_path, 2, grid(6, 6), reduce="none")
    whole, wrong = paths[0].read_bytes(), tmp_path / "wrong.npz"
    rng = np.random.default_rng(0)
    for cut, lost in rng.integers(1, len(whole), (10, 2)):
        wrong.write_bytes(whole[:cut] if cut % 2 else whole[:cut] + whole[cut + lost :])
        with pytest.raises(lagbc.PartError, match=r"wrong\.npz is damaged, or no part of a run of this"):
            lagbc.merge_parts([wrong, paths[1]])
    expected = {"bc": lagbc.bc(grid(6, 6), reduce="none")}
    for place in rng.integers(0, len(whole), 60):
        changed = bytearray(whole)
        changed[place] ^= 0x10
        wrong.write_bytes(changed)
        with suppress(lagbc.PartError):  # else it is a byte that nothing reads
            assert_same(lagbc.merge_parts([wrong, paths[1]]), expected)
    np.savez(wrong, a=1)
    with pytest.raises(lagbc.PartError, match="damaged, or no part"):
        lagbc.merge_parts([wrong, paths[1]])


@pytest.mark.parametrize("paths", ["a.npz", Path("a.npz"), 3])
def test_paths_are_a_list(paths):
    with pytest.raises(TypeError, match=r"^paths=.*: it is a list of the paths of all parts"):
        lagbc.merge_parts(paths)


@pytest.mark.parametrize("left_out", ["graph", "roots", "methods", "options", "order", None])
def test_a_file_without_digests_is_named(left_out, tmp_path):
    """Whole, but written by another program: one digest, or all, are not there."""
    (path,) = in_parts(tmp_path, 1, grid(6, 6), reduce="none")
    head = json.loads(np.load(path)["head"].tobytes())
    if left_out is None:
        del head["digests"]
    else:
        del head["digests"][left_out]
    rewrite(path, head=np.frombuffer(json.dumps(head).encode(), np.uint8))
    with pytest.raises(lagbc.PartError, match=r"1-1\.npz is damaged, or no part of a run of this version"):
        lagbc.merge_parts([path])


TOO_MANY = {"A": ring_of_diamonds(), "which": "edge_bc", "directed": False, "reduce": "all", "device": "cpu"}
REFUSED = {
    "a generator": ("part", {"k": 3, "rng": np.random.default_rng(0)}, ValueError, "the same integer as rng="),
    "an interruption": ("part", {"progress": stop, "reduce": "none"}, Killed, None),
    "no folder": ("none/part", {}, FileNotFoundError, "none"),
    "a folder": (".", {}, lagbc.PartError, "is a folder"),
    "counts that are too large for chains": ("part", TOO_MANY, lagbc.PartError, "all parts with reduce='none'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_no_file_is_begun_or_left(case, tmp_path):
    """tests/test_error_texts.py has more that a part does not take."""
    path, given, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        lagbc.save_part(tmp_path / path, (1, 2), **{"A": A} | given)
    assert not list(tmp_path.iterdir())
