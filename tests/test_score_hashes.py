"""The bits of the scores, call by call: a change of structure changes none of them.

`data/score_hashes.json` holds the sha256 of what each call of `hashed` returns; ``python tests/test_score_hashes.py``
writes it anew, which a commit that means to change the order of sums does, and says so. With ``--device cuda`` it
writes `score_hashes_cuda.json`, for the kind of GPU that is there; `gpu/test_digests.py` compares these.
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import hashed
import pytest
import recorded
from hashed import CARRIED_OUT, CARRIERS, SHIPPED, calls_by_batched, digest
from strategies import arrays

from lagbc import reference, tuning
from lagbc.graph import csr

SMALL = ("karate", "lesmis")


def reference_calls(name):
    """Yield the name of each call of the oracle, and what returns its digest."""
    for weighted, directed in product((False, True), (False, True)):
        graph = hashed.network(name, "lengths" if weighted else None)
        kind = f"{name}-{'lengths' if weighted else 'hops'}-{'directed' if directed else 'undirected'}"
        given = arrays(graph, directed=directed, weighted=weighted)
        for what in ("brandes", "stress", "edge_scores", "eccentricity"):
            yield f"{kind}-reference-{what}", lambda c=given, f=what: digest(getattr(reference, f)(*c))


def of_families(families):
    return {family: {call.name: call.perform for call in calls} for family, calls in families.items()}


GROUPS = {
    **{f"batched {name}": {name: call.perform for name, call in calls_by_batched(name)} for name in SHIPPED},
    **{f"reference {name}": dict(reference_calls(name)) for name in SMALL},
    **of_families(hashed.FAMILIES),
    "structures": dict(hashed.structures()),
}


def calls(device):
    """Return what makes the digest of each call on a device, by its name."""
    groups = GROUPS if device == "cpu" else of_families(hashed.ON_GPU)
    return {name: perform for group in groups.values() for name, perform in group.items()}


@pytest.fixture(scope="module")
def known():
    return recorded.read("score_hashes")


def test_each_digest_has_its_call(known):
    assert sorted(calls("cpu")) == sorted(known)
    assert len(known) == sum(map(len, GROUPS.values()))


@pytest.mark.parametrize("group", GROUPS)
def test_bits(group, known):
    assert not [name for name, perform in GROUPS[group].items() if perform() != known[name]]


# Those that take longest are carried out with lengths that are not whole alone: by the same code.
CARRIED = [call for call in CARRIED_OUT if call.network != "minnesota" or call.lengths == "tenths"]


@pytest.mark.parametrize("call", CARRIED, ids=lambda call: call.name)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_bits_do_not_depend_on_who_computes(call, carrier, tmp_path, known):
    assert CARRIERS[carrier](call, tmp_path) == known[call.name]


@pytest.fixture(scope="module")
def pool():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lagbc.run.tasks", "lagbc.methods.cpu.batched"])
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


@pytest.mark.parametrize("call", CARRIED_OUT, ids=lambda call: call.name)
def test_bits_by_an_executor(call, pool, known):
    assert call.perform(executor=pool) == known[call.name]


@pytest.mark.parametrize("call", CARRIED_OUT, ids=lambda call: call.name)
def test_bits_do_not_depend_on_the_type_of_indices(call, monkeypatch, known):
    monkeypatch.setattr(csr, "_MOST_IN_32_BITS", 0)
    monkeypatch.setattr(tuning, "SURVEYED", 0)  # small graphs are surveyed with narrow columns
    assert call.perform() == known[call.name]


if __name__ == "__main__":
    recorded.write("score_hashes", calls)
