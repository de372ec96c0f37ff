"""A call in parts, each computed by a process of its own into a file, and their merge: for array jobs of a cluster."""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lagbc.arguments import Arguments, Read
from lagbc.call import Call, carriers_of, digests_of_call, prepare, require_memory, result_of, works_of
from lagbc.calls import log_plan, running
from lagbc.centrality.compute import check_call, find_all, finish_call, warn_of_ties_of
from lagbc.errors import InvalidTypeError, InvalidValueError, PartError
from lagbc.files import require_name, require_writable
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.table import reading_gpu
from lagbc.options import Options, check_options, with_defaults
from lagbc.run.partial import PartialFile, Writer
from lagbc.run.shares import Share, Written, labels_in, merge_shares, require_complete, write_share
from lagbc.types import CentralityName, GraphLike

# Arguments that a file holds as arrays, and as values of JSON.
_ARRAYS = ("sources", "targets", "source_weights", "target_weights", "cutoff", "decay")
_VALUES = ("k", "rng", "rtol", "normalized", "endpoints", "wf_improved", "log2")
# The names of the arrays of a demand, and of a graph.
_CSR, _GRAPH = ("data", "indices", "indptr"), ("indptr", "indices", "weights")
# Options that change the plan of a run, also those from `lagbc.config`.
_OPTIONS = ("method", "device", "reduce", "memory", "dtype", "bucket_width")


def write_part(
    path: str | os.PathLike[str],
    part: tuple[int, int],
    A: GraphLike,
    which: CentralityName | Iterable[CentralityName],
    batch: int | str,
    read: Read,
    options: Options,
    arguments: Arguments,
) -> Written:
    """Compute a part of a call into a file; arguments as for `lagbc.save_part`."""
    share, target = _parse_part(part), parse_path(path)
    given = with_defaults(options)
    for name in ("checkpoint", "executor", "comm"):
        if given.get(name) is not None:
            raise InvalidValueError(f"a part takes no {name}=; leave it out, and make more parts of the run")
    centralities = find_all(which)
    arguments, settings = check_call(centralities, batch, options, arguments)
    if arguments.k is not None and not isinstance(arguments.rng, Integral):
        raise InvalidValueError("k= draws roots, the same in all parts: pass them the same integer as rng=")
    told = f"part {share} of {', '.join(one.name for one in centralities)}"
    with running(told, settings.stop), reading_gpu(A, settings.devices):
        call = prepare(A, centralities, read, settings, arguments)
        log_plan(told, call.plan)
        warn_of_ties_of(call)
        return _save_share(target, share, call)


def _save_share(path: Path, share: Share, call: Call) -> Written:
    """Compute a share of a call into a file."""
    told, arrays = _describe_call(call), _arrays_of(call)

    def describe(file: Writer) -> None:
        if share.number == 1:
            given = {name: getattr(call.settings, name) for name in _OPTIONS}
            options = {name: value for name, value in given.items() if value is not None}
            file.add_json("call", told | {"options": options})
            _add_graph(file, call.graph)
            for name, array in arrays.items():
                file.add(f"call/{name}", array)

    require_memory(call)
    call.plan.warn_of_less_memory(call.settings.batch)
    works, digests = works_of(call), digests_of_call(call) | {"arguments": _digest(told, arrays)}
    with ExitStack() as stack:
        carriers = carriers_of(call.plan, works, call.settings, stack)
        return write_share(path, works, carriers, digests, share, call.settings, describe)


def merge_files(paths: Sequence[Path]) -> tuple[Graph, dict[str, Any], Arguments]:
    """Merge the files of all parts; return the graph of the call, its scores, and its arguments."""
    with ExitStack() as stack:
        files = require_complete([stack.enter_context(PartialFile(path)) for path in paths])
        call, graph = _plan_again(files[0])
        sums = merge_shares(files, works_of(call), digests_of_call(call))
        return graph, finish_call(graph, call, result_of(call, sums)), call.arguments


def _plan_again(file: PartialFile) -> tuple[Call, Graph]:
    """Prepare the call of a file, with numbers for names of vertices; return it, and the graph with names."""
    told, graph = file.json("call"), _graph_in(file)
    try:
        arguments = Arguments(**told["values"], **_arrays_in(file, told["arrays"], graph.n))
        centralities, settings = find_all(told["which"]), check_options("auto", told["options"])
        return prepare(graph.with_names(None), centralities, Read(), settings, arguments, labels_in(file)), graph
    except (TypeError, ValueError) as error:
        raise PartError(f"{file.path}: {error}") from error


def _describe_call(call: Call) -> dict[str, Any]:
    """Describe a call in JSON: its centralities, arguments of one value, dtypes and dimensions of arrays."""
    given = call.arguments.given
    values = {name: getattr(call.arguments, name) for name in _VALUES if name in given}
    return {
        "which": [one.name for one in call.centralities],
        "values": {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()},
        "arrays": {name: [array.dtype.str, array.ndim] for name, array in _arrays_of(call).items()},
    }


def _arrays_of(call: Call) -> dict[str, NDArray[Any]]:
    """Return the arguments that are arrays, and the arrays of the demand."""
    given = {name: getattr(call.arguments, name) for name in _ARRAYS}
    arrays = {name: np.asarray(array) for name, array in given.items() if array is not None}
    if (demand := call.request.demand) is not None:
        arrays |= {f"demand_{name}": getattr(demand, name) for name in _CSR}
    return arrays


def _arrays_in(file: PartialFile, kinds: dict[str, tuple[str, int]], n: int) -> dict[str, Any]:
    """Read the arrays of `_arrays_of`, whose dtype and dimensions `kinds` has, with the demand as a matrix."""
    arrays: dict[str, Any] = {
        name: file.array(f"call/{name}", (None,) * ndim, dtype) for name, (dtype, ndim) in kinds.items()
    }
    demand = [arrays.pop(f"demand_{name}", None) for name in _CSR]
    return arrays if demand[0] is None else arrays | {"demand": sparse.csr_array(tuple(demand), shape=(n, n))}


def _digest(told: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    digest = hashlib.blake2b(json.dumps(told).encode(), digest_size=16)
    for array in arrays.values():
        digest.update(f"{array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _add_graph(file: Writer, graph: Graph) -> None:
    """Write a graph, with the names of its vertices if all are integers or strings."""
    names = None if graph.names is None else np.asarray(graph.names, object).tolist()
    if names is not None and not all(isinstance(name, int | str) for name in names):
        names = None
    file.add_json("graph", {"directed": graph.directed, "weighted": graph.weighted, "names": names})
    for name, array in zip(_GRAPH, graph.csr, strict=True):
        if array is not None:
            file.add(f"graph/{name}", as_numpy(array))


def _graph_in(file: PartialFile) -> Graph:
    told = file.json("graph")
    indptr = file.array("graph/indptr", (None,), np.int64)
    indices = file.array("graph/indices", (None,), np.integer)
    values = file.array("graph/weights") if told["weighted"] else np.ones(len(indices), np.bool_)
    shape = (len(indptr) - 1, len(indptr) - 1)
    try:
        matrix = sparse.csr_array((values, indices, indptr), shape=shape)
        graph = as_graph(matrix, directed=told["directed"], weighted=told["weighted"], copy=False)
    except (TypeError, ValueError) as error:
        raise PartError(f"{file.path} holds no graph: {error}") from error
    return graph.with_names(_names_of(told["names"]))


def _names_of(names: list[Any] | None) -> NDArray[Any] | None:
    if names is None:
        return None
    if all(isinstance(name, str) for name in names):
        return np.array(names, np.dtypes.StringDType())
    return np.array(names, np.int64 if all(isinstance(name, int) for name in names) else object)


def parse_path(path: Any) -> Path:
    """Return the path of a file that can be written."""
    try:
        target = Path(path)
    except TypeError:
        raise InvalidTypeError(f"{path!r} is not a path") from None
    require_name(target)
    if target.exists() and not target.is_file():
        raise PartError(f"{path} is a folder, a pipe or a device; name a file")
    require_writable(target)
    return target


def _parse_part(part: Any) -> Share:
    try:
        number, of = map(operator.index, part)
    except (TypeError, ValueError):
        raise InvalidTypeError(
            f"part={part!r}: it is a pair of integers, such as (2, 4) for the second of four"
        ) from None
    if not 1 <= number <= of:
        raise InvalidValueError(f"part={part!r}: it is one of 1, 2, ... up to the number of parts, such as (2, 4)")
    return Share(number, of)
