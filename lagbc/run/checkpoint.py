"""A file that lets a killed run go on where it was, to the same bits."""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import CheckpointError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method

# What is done is a prefix of the roots in the order of `lagbc.run.sweep.line_up`: another order is another format.
_FORMAT = "lagbc checkpoint 3"
# Before the names of the sums in the file.
_SUM = "sum_"


@dataclass(eq=False)
class Checkpoint:
    """Raw sums over a prefix of the roots, and what they belong to.

    Attributes
    ----------
    path : Path
    graph_digest, options_digest : str
        Of the pattern, and of all options that change the raw sums.
    roots : ndarray of int64
        All roots of the run, as they were drawn or given.
    state : (int, Sums)
        How many roots, in sweep order, are summed, and their raw sums. One attribute, so that an interrupt between
        two assignments cannot part them.
    """

    path: Path
    graph_digest: str
    options_digest: str
    roots: NDArray[np.int64]
    state: tuple[int, Sums]

    def save(self) -> None:
        """Write the file in one step: a reader sees the old one or the new one, whenever the process dies."""
        done, raw = self.state
        descriptor, temporary = tempfile.mkstemp(prefix=self.path.name, dir=self.path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                np.savez(
                    file,
                    format=_FORMAT,
                    graph=self.graph_digest,
                    options=self.options_digest,
                    roots=self.roots,
                    done=done,
                    **{f"{_SUM}{name}": array for name, array in raw},
                )
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def open_checkpoint(
    path: str | os.PathLike[str],
    graph: Graph,
    method: Method,
    plan: SweepPlan,
    roots: NDArray[np.int64],
    *,
    sampled: bool,
    redraw: bool,
) -> Checkpoint:
    """Read a checkpoint, or start one at no roots done.

    Parameters
    ----------
    path : path of the file; its folder must exist
    roots : ndarray of int64
        The roots of this call.
    sampled : bool
        Whether `roots` are a random sample.
    redraw : bool
        Whether they were drawn without a seed, so that the sample of the file is as good and is to be used.

    Raises
    ------
    CheckpointError
        The file is no checkpoint, or belongs to another graph, other options or other roots.
    """
    path = Path(path)
    fresh = Checkpoint(
        path,
        _digest_graph(graph),
        _digest_options(method, plan, sampled),
        roots,
        (0, Sums.zeros(np, plan.sums, graph.n, graph.nnz)),
    )
    if not path.parent.is_dir():
        raise CheckpointError(f"checkpoint {path} cannot be written: there is no folder {path.parent}")
    if not path.exists():
        return fresh
    found = _read(path)
    for what, mine, its in (
        ("another graph or direction, or to another version's order of it", fresh.graph_digest, found.graph_digest),
        (
            "other options (method, scores, dtype, endpoints, rtol, weights of vertices, or k in place of sources)",
            fresh.options_digest,
            found.options_digest,
        ),
    ):
        if mine != its:
            raise CheckpointError(f"checkpoint {path} belongs to {what}; name another file, or delete it")
    same_roots = len(found.roots) == len(roots) if redraw else np.array_equal(np.sort(found.roots), np.sort(roots))
    if not same_roots:
        raise CheckpointError(f"checkpoint {path} belongs to other roots; name another file, or delete it")
    return found


def _read(path: Path) -> Checkpoint:
    try:
        with np.load(path, allow_pickle=False) as file:
            if str(file["format"]) != _FORMAT:
                raise ValueError
            raw = Sums(**{name.removeprefix(_SUM): file[name] for name in file.files if name.startswith(_SUM)})
            return Checkpoint(path, str(file["graph"]), str(file["options"]), file["roots"], (int(file["done"]), raw))
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        problem = f"{path} is not a lagbc checkpoint of this version"
        raise CheckpointError(f"{problem}; name another file, or delete it") from error


def _digest_graph(graph: Graph) -> str:
    digest = hashlib.blake2b(f"{graph.n} {graph.nnz} {graph.directed}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(as_numpy(graph.indptr)).data)
    # What is done is a prefix of the sweep order, which another version or machine may choose otherwise.
    digest.update(np.ascontiguousarray(graph.order).data)
    digest.update(np.ascontiguousarray(as_numpy(graph.indices)).data)
    if graph.weights is not None:
        digest.update(np.ascontiguousarray(as_numpy(graph.weights)).data)
    return digest.hexdigest()


def _digest_options(method: Method, plan: SweepPlan, sampled: bool) -> str:
    digest = hashlib.blake2b(digest_size=16)
    digest.update(
        f"{method.name} {method.device} {method.weighted} {plan.dtype} {plan.endpoints} {plan.rtol} {sampled} "
        f"{sorted(plan.sums)}".encode()
    )
    for weights in (plan.omega, plan.multiplicity):
        digest.update(b"none" if weights is None else weights.tobytes())
    return digest.hexdigest()
