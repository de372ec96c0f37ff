"""The bits of the scores, call by call: a change of structure changes none of them.

`data/score_hashes.json` holds the sha256 of what each call returns; ``python tests/test_score_hashes.py`` writes it
anew, which a commit that means to change the order of sums does, and says so.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import adjacency, lengths

import lagbc
from lagbc import reference

RECORDED = Path(__file__).parent / "data" / "score_hashes.json"

SMALL = ("karate", "lesmis")
LARGE = ("power", "us-airports", "ca-GrQc", "minnesota")
FIVE = ("bc", "closeness", "harmonic", "eccentricity", "stress")


def network(name):
    return lagbc.read_graph(f"example:{name}").matrix


def integer_lengths(A):
    """The same edges with lengths 1 to 10, alike both ways."""
    rows, columns = A.nonzero()
    low, high = np.minimum(rows, columns), np.maximum(rows, columns)
    return sp.csr_array(((low * 7919 + high * 104729) % 10 + 1.0, (rows, columns)), shape=A.shape)


def digest(*arrays):
    joined = hashlib.sha256()
    for array in arrays:
        joined.update(np.ascontiguousarray(np.asarray(array, np.float64) + 0.0).tobytes())
    return joined.hexdigest()


def batched_call(A, what, *, directed, weighted, **options):
    """Digest of what a public function returns by `batched` on the CPU."""
    given = {
        "directed": directed,
        "weighted": weighted,
        "method": "batched",
        "device": "cpu",
        "reduce": "none",
        **options,
    }
    if what == "five":
        return digest(*lagbc.centralities(A, FIVE, **given).values())
    scores = getattr(lagbc, what)(A, **given)
    return digest(scores.tocsr().data if sp.issparse(scores) else scores)


def batched_calls(name):
    """Name and digest of every call on a network."""
    A = network(name)
    n = A.shape[0]
    thinned = {"sources": np.arange(0, n, 3)}
    halves = {"source_weights": 1 + np.arange(n) % 3 / 2, "target_weights": 1 + np.arange(n) % 5 / 4}
    arguments = {"": {}, "k": {"k": n // 2, "rng": 1}, "sources": thinned, "weights": halves}
    for weighted in (False, True):
        graph = integer_lengths(A) if weighted else A
        for directed in (False, True):
            kind = f"{name}-{'lengths' if weighted else 'hops'}-{'directed' if directed else 'undirected'}"
            for given, options in arguments.items():
                yield (
                    f"{kind}-bc-{given}",
                    lambda g=graph, d=directed, w=weighted, o=options: batched_call(
                        g, "bc", directed=d, weighted=w, **o
                    ),
                )
            for what in ("edge_bc", "five"):
                yield (
                    f"{kind}-{what}",
                    lambda g=graph, d=directed, w=weighted, f=what: batched_call(g, f, directed=d, weighted=w),
                )


def reference_calls(name):
    """The same of the oracle."""
    A = network(name)
    for weighted in (False, True):
        graph = integer_lengths(A) if weighted else A
        for directed in (False, True):
            kind = f"{name}-{'lengths' if weighted else 'hops'}-{'directed' if directed else 'undirected'}"
            csr = (*adjacency(graph, directed=directed), lengths(graph, directed=directed) if weighted else None)
            for what in ("brandes", "stress", "edge_scores", "eccentricity"):
                yield f"{kind}-reference-{what}", lambda c=csr, f=what: digest(getattr(reference, f)(*c))


def calls():
    for name in (*SMALL, *LARGE):
        yield from batched_calls(name)
    for name in SMALL:
        yield from reference_calls(name)


@pytest.mark.parametrize("name", [*SMALL, *LARGE])
def test_bits_of_batched(name):
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    changed = [call for call, compute in batched_calls(name) if compute() != recorded[call]]
    assert not changed


@pytest.mark.parametrize("name", SMALL)
def test_bits_of_the_reference(name):
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    changed = [call for call, compute in reference_calls(name) if compute() != recorded[call]]
    assert not changed


if __name__ == "__main__":
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps({call: compute() for call, compute in calls()}, indent=1) + "\n", encoding="utf-8")
