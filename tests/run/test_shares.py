"""Parts of a call, merged to the bits of one call; and what is refused."""

import json
import shutil
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from chained import ring_of_diamonds
from every_call import CALLS, A, assert_same
from killed import rewrite
from strategies import grid, scale_free

import lagbc

pytestmark = pytest.mark.usefixtures("short_chunks")


def save(folder, of, graph=A, which="bc", **given):
    """Write all parts; return their files."""
    paths = [folder / f"{of}-{number}.npz" for number in range(1, of + 1)]
    written = [lagbc.save_part(path, (i, of), graph, which, **given) for i, path in enumerate(paths, 1)]
    assert sum(part.roots for part in written) == written[0].of
    assert not [path for path in folder.iterdir() if path not in paths and path.name.startswith(f"{of}-")]
    return paths


@pytest.mark.parametrize("call", CALLS)
def test_merged_parts_have_the_bits_of_one_call(call, tmp_path):
    graph, which, given = CALLS[call]
    expected = lagbc.centralities(graph, which, **given)
    for of in (1, 2, 3, 5):
        assert_same(lagbc.merge_parts(save(tmp_path, of, graph, which, **given)[::-1]), expected)


def test_chains_are_among_the_calls():
    graph, which, given = CALLS["chains"]
    assert "junctions" in lagbc.plan(graph, which=which, **given).reason


@pytest.mark.parametrize("call", ["directed", "chains", "cutoffs"])
def test_more_parts_than_blocks(call, tmp_path):
    graph, which, given = CALLS[call]
    paths = save(tmp_path, 12, graph, which, **given)
    assert_same(lagbc.merge_parts(paths), lagbc.centralities(graph, which, **given))


def test_parts_have_about_as_many_roots(tmp_path):
    written = [lagbc.save_part(tmp_path / "part", (i, 4), A, directed=False, reduce="none") for i in (1, 2, 3, 4)]
    assert [part.roots for part in written] == [192, 128, 192, 147]


def test_bits_of_parts_with_other_threads_and_batches(tmp_path):
    how = ({"threads": 1, "batch": 64}, {"threads": 2}, {"memory": "700KB"}, {"threads": 2, "batch": 128})
    paths = [tmp_path / f"{i}.npz" for i in range(4)]
    for i, path in enumerate(paths):
        lagbc.save_part(path, (i + 1, 4), A, directed=False, reduce="none", **how[i])
    assert_same(lagbc.merge_parts(paths), {"bc": lagbc.bc(A, directed=False, reduce="none")})


def test_progress_counts_the_roots_of_the_part(tmp_path):
    seen = []
    lagbc.save_part(tmp_path / "part", (2, 3), A, directed=False, reduce="none", batch=64, progress=seen.append)
    done = [told.done for told in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1].total == lagbc.save_part(tmp_path / "part", (2, 3), A, directed=False, reduce="none")[0]


def test_numbers_of_names_and_attributes(tmp_path):
    nx = pytest.importorskip("networkx")
    G = nx.relabel_nodes(nx.karate_club_graph(), str)
    paths = save(tmp_path, 2, G, ("bc", "edge_bc"), sources=["3", "0"], weighted=True, reduce="none")
    expected = lagbc.centralities(G, ("bc", "edge_bc"), sources=["3", "0"], weighted=True, reduce="none")
    assert_same(lagbc.merge_parts(paths), expected)


OTHERS = {
    "another graph": (scale_free(700, 3000, seed=5), {}),
    "another graph, direction or lengths": (A, {"directed": False}),
    "a call with other arguments": (A, {"normalized": True}),
    "with other arguments than": (A, {"sources": np.arange(600)}),
    "other methods, or devices": (A, {"method": "work-efficient"}),
    "other methods, or devices than": (A, {"reduce": "all"}),
}


@pytest.mark.parametrize("message", OTHERS)
def test_parts_of_other_calls_are_refused(message, tmp_path):
    graph, given = OTHERS[message]
    paths = save(tmp_path, 2, reduce="none", device="cpu")
    lagbc.save_part(paths[1], (2, 2), graph, **{"reduce": "none", "device": "cpu"} | given)
    with pytest.raises(lagbc.PartError, match=f"2-2.npz belongs to .*{message}.*2-1.npz"):
        lagbc.merge_parts(paths)


def test_parts_of_other_samples_are_refused(tmp_path):
    paths = save(tmp_path, 2, k=50, rng=0)
    lagbc.save_part(paths[1], (2, 2), A, k=50, rng=1)
    with pytest.raises(lagbc.PartError, match="other arguments"):
        lagbc.merge_parts(paths)


def test_parts_that_are_missing_or_twice_there_are_named(tmp_path):
    paths, others = save(tmp_path, 4), save(tmp_path, 3)
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
    paths = save(tmp_path, 2, grid(6, 6), reduce="none")
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
    (path,) = save(tmp_path, 1, grid(6, 6), reduce="none")
    head = json.loads(np.load(path)["head"].tobytes())
    if left_out is None:
        del head["digests"]
    else:
        del head["digests"][left_out]
    rewrite(path, head=np.frombuffer(json.dumps(head).encode(), np.uint8))
    with pytest.raises(lagbc.PartError, match=r"1-1\.npz is damaged, or no part of a run of this version"):
        lagbc.merge_parts([path])


def test_what_a_part_does_not_take(tmp_path):
    """tests/test_error_texts.py has more of it; no file is begun."""
    with pytest.raises(ValueError, match=r"the same integer as rng="):
        lagbc.save_part(tmp_path / "part", (1, 2), A, k=3, rng=np.random.default_rng(0))
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_an_interrupted_part(tmp_path):
    def stop(progress):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lagbc.save_part(tmp_path / "part", (1, 2), A, progress=stop, reduce="none")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        lagbc.save_part(tmp_path / "none" / "part", (1, 2), A)


def test_counts_that_are_too_large_for_chains(tmp_path):
    given = {"directed": False, "reduce": "all", "device": "cpu"}
    with pytest.raises(lagbc.PartError, match="run all parts with reduce='none'"):
        lagbc.save_part(tmp_path / "part", (1, 1), ring_of_diamonds(), "edge_bc", **given)
    assert not list(tmp_path.iterdir())


def test_what_is_no_file_is_not_written_to(tmp_path):
    with pytest.raises(lagbc.PartError, match="is a folder"):
        lagbc.save_part(tmp_path, (1, 2), A)
