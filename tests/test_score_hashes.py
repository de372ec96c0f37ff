"""The bits of the scores, call by call: a change of structure changes none of them.

`data/score_hashes.json` holds the sha256 of what each call of `hashed` returns; ``python tests/test_score_hashes.py``
writes it anew, which a commit that means to change the order of sums does, and says so. With ``--device cuda`` it
writes the digests of the GPU that is there, which `gpu/test_score_hashes_cuda.py` compares.
"""

import argparse
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import pytest
from hashed import (
    CARRIED_OUT,
    FAMILIES,
    SHIPPED,
    arrays_of,
    calls_by_batched,
    digest,
    network,
    structures,
)
from strategies import adjacency, lengths

import lagbc
from lagbc import reference
from lagbc.graph import csr

RECORDED = Path(__file__).parent / "data" / "score_hashes.json"
SMALL = ("karate", "lesmis")


def reference_calls(name):
    """Yield the name of each call of the oracle, and what returns its digest."""
    for weighted, directed in product((False, True), (False, True)):
        graph = network(name, "lengths" if weighted else None)
        kind = f"{name}-{'lengths' if weighted else 'hops'}-{'directed' if directed else 'undirected'}"
        given = (*adjacency(graph, directed=directed), lengths(graph, directed=directed) if weighted else None)
        for what in ("brandes", "stress", "edge_scores", "eccentricity"):
            yield f"{kind}-reference-{what}", lambda c=given, f=what: digest(getattr(reference, f)(*c))


def calls():
    """Return what computes each digest, by its name, of each group of them."""
    named = {f"batched {name}": {name: call.perform for name, call in calls_by_batched(name)} for name in SHIPPED}
    named |= {f"reference {name}": dict(reference_calls(name)) for name in SMALL}
    named |= {family: {call.name: call.perform for call in of_family} for family, of_family in FAMILIES.items()}
    return named | {"structures": dict(structures())}


GROUPS = calls()


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def test_each_digest_has_its_call(recorded):
    names = [name for group in GROUPS.values() for name in group]
    assert sorted(names) == sorted(recorded)


@pytest.mark.parametrize("group", GROUPS)
def test_bits(group, recorded):
    assert not [name for name, compute in GROUPS[group].items() if compute() != recorded[name]]


# The same calls carried out in other ways, of which none changes a bit


@pytest.fixture(scope="module")
def pool():
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lagbc.run.tasks", "lagbc.methods.cpu.batched.hops"])
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        yield pool


class Killed(BaseException):
    pass


def stop(progress):
    raise Killed


def resumed(call, folder, pool):
    """Kill a run at its first news, and go on from its checkpoint."""
    checkpoint = folder / "checkpoint"
    with pytest.raises(Killed):
        call.perform(checkpoint=checkpoint, threads=1, progress=stop)
    return call.perform(checkpoint=checkpoint)


def in_three_parts(call, folder, pool):
    paths = [folder / f"{number}.npz" for number in (1, 2, 3)]
    for number, path in enumerate(paths, 1):
        lagbc.save_part(path, (number, 3), call.matrix, call.which, **call.arguments)
    return digest(*arrays_of(lagbc.merge_parts(paths)))


CARRIERS = {
    "one thread": lambda call, folder, pool: call.perform(threads=1),
    "three threads": lambda call, folder, pool: call.perform(threads=3),
    "batch 65": lambda call, folder, pool: call.perform(batch=65),
    "batch 4096": lambda call, folder, pool: call.perform(batch=4096),
    "resumed": resumed,
    "three parts": in_three_parts,
    "executor": lambda call, folder, pool: call.perform(executor=pool),
}


@pytest.mark.parametrize("call", CARRIED_OUT, ids=lambda call: call.name)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_bits_do_not_depend_on_who_computes(call, carrier, tmp_path, pool, recorded):
    assert CARRIERS[carrier](call, tmp_path, pool) == recorded[call.name]


@pytest.mark.parametrize("call", CARRIED_OUT, ids=lambda call: call.name)
def test_bits_do_not_depend_on_the_type_of_indices(call, monkeypatch, recorded):
    monkeypatch.setattr(csr, "_MOST_IN_32_BITS", 0)
    assert call.perform() == recorded[call.name]


def record(device, out):
    """Write the digests of all calls; of a GPU beside those of other kinds that are in the file."""
    digests = {name: compute() for group in GROUPS.values() for name, compute in group.items()}
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--out", type=Path, default=RECORDED)
    given = parser.parse_args()
    record(given.device, given.out)
