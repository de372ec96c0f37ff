"""The registry of centralities: each is a record of its sums, the function that makes scores of them, its arguments.

The public functions, `centralities`, the NetworkX backend, the command line and the documentation read the records.
This module loads no numerical library, as the command line lists all records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, TypeVar

from lagbc.arguments import ARGUMENTS, OF_ONE, OF_THE_SCORES, OF_THE_SUMS
from lagbc.errors import InvalidTypeError, InvalidValueError, did_you_mean
from lagbc.extensions import OF_CENTRALITIES, load_extensions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lagbc.arguments import Arguments
    from lagbc.graph.graph import Graph
    from lagbc.scores.finish import Result

Column = TypeVar("Column")


@dataclass(frozen=True, slots=True)
class Centrality:
    """One record of the registry.

    Attributes
    ----------
    name : str
        Of the public function.
    sums : frozenset of str
        Names of fields of `Sums`, in ``lagbc/methods/sums.py``.
    finish : callable
        ``finish(result, arguments)`` returns scores: an ndarray of float64, a number a vertex, or a number an edge in
        the order of the graph's edges. ``result.sums`` has the sums as attributes, NumPy arrays in matrix order, over
        the vertices ``result.roots``; ``result.graph`` has ``n``, ``nnz``, ``directed`` and ``weights``;
        ``result.pairs`` is 2 where sums over paths count an undirected pair from both its ends, else 1. ``arguments``
        has all of `takes` as they were given, and defaults for the others.
    takes : frozenset of str
        Its arguments, some of "sources", "targets", "source_weights", "target_weights", "demand", "cutoff", "decay",
        "k", "rng", "rtol", "normalized", "endpoints", "wf_improved" and "log2"; others are refused. With several of
        "cutoff" or "decay" `finish` is called once for each. With "k" the sums are over the drawn roots: `finish`
        scales them to all where ``arguments.k`` is not None, a sum over the roots other than v by ``(result.graph.n -
        1) / (roots other than v)``.
    summary : str
        A line about it, for tables and the command line.
    of_edges : bool
        Whether scores are of edges.
    of_graph : bool
        Whether it has numbers of the whole graph in place of scores; `centralities` does not compute it then.
    networkx : tuple of str
        The functions of NetworkX that it computes.
    needs : str
        An argument without a default, of this centrality alone; `centralities` does not compute it then.
    weigh : callable, optional
        ``weigh(graph, arguments)`` returns the arguments of the sweep, made of `needs`.

    Examples
    --------
    An estimate of the number of vertices that reach each, from roots drawn at random:

    >>> import numpy as np
    >>> def finish(result, arguments):
    ...     n, roots, reached = result.graph.n, result.roots, result.sums.reached
    ...     if arguments.k is None:
    ...         return reached
    ...     others = len(roots) - np.isin(np.arange(n), roots)
    ...     return reached * (n - 1) / np.maximum(others, 1)
    >>> takes = frozenset({"sources", "k", "rng"})
    >>> record = lagbc.Centrality("reached", frozenset({"reached"}), finish, takes, "how many vertices reach each")
    >>> lagbc.register_centrality(record)
    >>> scores = lagbc.centralities(np.ones((5, 5)), "reached", k=3, rng=1)["reached"]
    >>> scores.tolist()
    [4.0, 4.0, 4.0, 4.0, 4.0]
    >>> lagbc.unregister_centrality("reached")
    """

    name: str
    sums: frozenset[str]
    finish: Callable[[Result, Arguments], NDArray[np.float64]]
    takes: frozenset[str]
    summary: str
    of_edges: bool = False
    of_graph: bool = False
    networkx: tuple[str, ...] = ()
    needs: str = ""
    weigh: Callable[[Graph, Arguments], Arguments] | None = None


def _of_finish(name: str) -> Callable[..., Any]:
    """Return a function of `lagbc.scores.finish`, a module that loads numerical libraries; a call imports it."""
    return partial(_finish, name)


def _finish(name: str, *given: Any) -> Any:
    import lagbc.scores.finish as functions

    return getattr(functions, name)(*given)


# Arguments of all sums over roots, of sums over paths between pairs of vertices, and of sums over targets.
_SAMPLES = frozenset({"sources", "cutoff", "k", "rng"})
_PAIRS = _SAMPLES | {"targets", "source_weights", "target_weights", "demand", "decay", "rtol"}
_TARGETS = frozenset({"targets", "target_weights", "cutoff"})

BC = Centrality(
    name="bc",
    sums=frozenset({"dependency"}),
    finish=_of_finish("betweenness"),
    takes=_PAIRS | {"normalized", "endpoints"},
    summary="betweenness: the share of shortest paths that lead through a vertex",
    networkx=("betweenness_centrality", "betweenness_centrality_subset"),
)
EDGE_BC = Centrality(
    name="edge_bc",
    sums=frozenset({"edges"}),
    finish=_of_finish("edge_betweenness"),
    takes=_PAIRS | {"normalized"},
    summary="betweenness of edges: the share of shortest paths that use one",
    of_edges=True,
    networkx=("edge_betweenness_centrality", "edge_betweenness_centrality_subset"),
)
CLOSENESS = Centrality(
    name="closeness",
    sums=frozenset({"reached", "distance"}),
    finish=_of_finish("closeness"),
    takes=_SAMPLES | {"wf_improved", "u", "top"},
    summary="closeness: one over the mean distance into a vertex",
    networkx=("closeness_centrality",),
)
HARMONIC = Centrality(
    name="harmonic",
    sums=frozenset({"inverse"}),
    finish=_of_finish("harmonic"),
    takes=_SAMPLES | {"top"},
    summary="harmonic centrality: the sum of inverse distances into a vertex",
    networkx=("harmonic_centrality",),
)
ECCENTRICITY = Centrality(
    name="eccentricity",
    sums=frozenset({"depth"}),
    finish=_of_finish("eccentricity"),
    takes=frozenset({"cutoff"}),
    summary="eccentricity: the largest distance out of a vertex",
    networkx=("eccentricity", "diameter", "radius", "center", "periphery"),
)
ECCENTRICITY_CENTRALITY = Centrality(
    name="eccentricity_centrality",
    sums=frozenset({"depth"}),
    finish=_of_finish("eccentricity_centrality"),
    takes=frozenset({"cutoff"}),
    summary="(n - 1) over the eccentricity",
)
DISTANCES = Centrality(
    name="distances",
    sums=frozenset({"reached", "distance", "inverse", "depth"}),
    finish=_of_finish("distances"),
    takes=_SAMPLES,
    summary="distances of all pairs: their mean and sum, efficiency, diameter and radius",
    of_graph=True,
    networkx=("average_shortest_path_length", "wiener_index", "global_efficiency"),
)
STRESS = Centrality(
    name="stress",
    sums=frozenset({"stress"}),
    finish=_of_finish("stress"),
    takes=_SAMPLES | {"targets", "rtol", "log2"},
    summary="stress: the number of shortest paths that lead through a vertex",
)
REACH = Centrality(
    name="reach",
    sums=frozenset({"targets"}),
    finish=_of_finish("reach"),
    takes=_TARGETS,
    summary="reach: how many targets lie within the cutoff of a vertex",
)
GRAVITY = Centrality(
    name="gravity",
    sums=frozenset({"gravity"}),
    finish=_of_finish("gravity"),
    takes=_TARGETS | {"decay"},
    summary="gravity: how many targets a vertex reaches, each counted the less the farther it is",
)
STRAIGHTNESS = Centrality(
    name="straightness",
    sums=frozenset({"targets", "straight"}),
    finish=_of_finish("straightness"),
    takes=_TARGETS | {"coordinates"},
    summary="straightness: the mean of straight lines over distances to the targets of a vertex",
    needs="coordinates",
    weigh=_of_finish("take_coordinates"),
)
PERCOLATION = Centrality(
    name="percolation",
    sums=frozenset({"dependency"}),
    finish=_of_finish("percolation"),
    takes=frozenset({"states", "rtol"}),
    summary="percolation: the share of percolated paths that lead through a vertex",
    networkx=("percolation_centrality",),
    needs="states",
    weigh=_of_finish("weigh_by_states"),
)
# Centralities of groups have no sums over roots, but searches of their own.
GROUP_BC = Centrality(
    name="group_bc",
    sums=frozenset(),
    finish=_of_finish("group_betweenness"),
    takes=frozenset({"groups", "rtol", "normalized", "endpoints"}),
    summary="betweenness of groups: the share of shortest paths that meet one",
    networkx=("group_betweenness_centrality",),
    needs="groups",
)
GROUP_CLOSENESS = Centrality(
    name="group_closeness",
    sums=frozenset(),
    finish=_of_finish("group_closeness"),
    takes=frozenset({"groups", "wf_improved"}),
    summary="closeness of groups: one over the mean distance into one",
    networkx=("group_closeness_centrality",),
    needs="groups",
)
GROUP_HARMONIC = Centrality(
    name="group_harmonic",
    sums=frozenset(),
    finish=_of_finish("group_harmonic"),
    takes=frozenset({"groups"}),
    summary="harmonic centrality of groups: the sum of inverse distances into one",
    needs="groups",
)
GROUP_DEGREE = Centrality(
    name="group_degree",
    sums=frozenset(),
    finish=_of_finish("group_degree"),
    takes=frozenset({"groups", "normalized"}),
    summary="degree of groups: how many vertices outside an edge leads to",
    networkx=("group_degree_centrality",),
    needs="groups",
)
# In the order of documentation and command line.
BUILT_IN = (
    *(BC, EDGE_BC, CLOSENESS, HARMONIC, ECCENTRICITY, ECCENTRICITY_CENTRALITY, STRESS),
    *(REACH, GRAVITY, STRAIGHTNESS, PERCOLATION, GROUP_BC, GROUP_CLOSENESS, GROUP_HARMONIC, GROUP_DEGREE, DISTANCES),
)
# The default of `lagbc.centralities`.
USUAL = (BC, CLOSENESS, HARMONIC, ECCENTRICITY, STRESS)
_CENTRALITIES = {one.name: one for one in BUILT_IN}


def register_centrality(centrality: Centrality) -> None:
    """Add a centrality, for `lagbc.centralities` to compute by its name, in this process; `Centrality` has an example.

    Parameters
    ----------
    centrality : Centrality
        It does not become a function of `lagbc`. The program ``lagbc``, a process of its own, knows it if a package
        that is installed names the module that adds it as an entry point of the group ``lagbc.centralities``.

    Raises
    ------
    TypeError
        `centrality` is no `Centrality`.
    ValueError
        There is one of this name, or the name of a sum or an argument is wrong.
    """
    from lagbc.methods.sums import Sums

    if not isinstance(centrality, Centrality):
        raise InvalidTypeError(f"{centrality!r} is no lagbc.Centrality")
    if centrality.name in _CENTRALITIES:
        raise InvalidValueError(f"there is a centrality {centrality.name!r} already")
    _require_known("sums", centrality.sums, [field.name for field in fields(Sums)])
    _require_known("takes", centrality.takes, ARGUMENTS)
    _CENTRALITIES[centrality.name] = centrality


def _require_known(field_name: str, named: frozenset[str], there: Sequence[str]) -> None:
    if unknown := named.difference(there):
        raise InvalidValueError(
            f"{field_name}: there is no {', '.join(sorted(unknown))}; there are: {', '.join(there)}"
        )


def unregister_centrality(name: str) -> None:
    """Remove a centrality that was added; ValueError if there is none of this name."""
    if _CENTRALITIES.get(name) in (None, *BUILT_IN):
        raise InvalidValueError(f"there is no centrality {name!r} that was added")
    del _CENTRALITIES[name]


def registered() -> tuple[Centrality, ...]:
    """Return all centralities, in the order of their addition."""
    return tuple(_CENTRALITIES.values())


def shared() -> tuple[Centrality, ...]:
    """Return the centralities that `lagbc.centralities` computes: they may share a sweep."""
    return tuple(record for record in registered() if not (record.needs or record.of_graph))


def find(name: object, taken: Callable[[Centrality], bool] = lambda _: True) -> Centrality:
    """Return the centrality of a name that may share a sweep; if there is none, ValueError lists those `taken`."""
    if isinstance(name, str) and name not in {record.name for record in shared()}:
        load_extensions(OF_CENTRALITIES)
    there = {record.name: record for record in shared()}
    if not isinstance(name, str) or name not in there:
        parts = re.split("[, ]+", str(name))
        named = {one: record for one, record in there.items() if taken(record)}
        functions = {its: one for one, record in named.items() for its in record.networkx if "centrality" in its}
        one = did_you_mean(name, {one: one for one in named} | functions, f"there are: {', '.join(named)}")
        instead = f"several are a list, {parts}" if all(part in there for part in parts) else one
        raise InvalidValueError(f"there is no centrality {name!r}; {instead}")
    return there[name]


def all_sums(centralities: Iterable[Centrality]) -> frozenset[str]:
    """Return the sums of some centralities."""
    sums: frozenset[str] = frozenset()
    for one in centralities:
        sums |= one.sums
    return sums


def usual(arguments: Arguments) -> tuple[Centrality, ...]:
    """Return the default of `lagbc.centralities`: those of `USUAL` that take all given arguments of the sums."""
    given = arguments.given.intersection(OF_THE_SUMS)
    return tuple(one for one in USUAL if given <= one.takes)


def require_taken(centralities: tuple[Centrality, ...], arguments: Arguments) -> None:
    """Raise ValueError if a given argument means nothing to a centrality of the sweep, or to all of them."""
    for name in sorted(arguments.given, key=(*OF_THE_SUMS, *OF_THE_SCORES, *OF_ONE).index):
        without = [centrality.name for centrality in centralities if name not in centrality.takes]
        if without and (name in OF_THE_SUMS or len(without) == len(centralities)):
            or_them = ", or them" if len(without) < len(centralities) else ""
            raise InvalidValueError(f"{name} means nothing to {', '.join(without)}; leave it out{or_them}")


def require_decays(centralities: tuple[Centrality, ...], arguments: Arguments) -> None:
    """Raise ValueError if gravity has no decay, or a centrality that takes none would be changed by it."""
    from lagbc.methods.sums import DECAYING  # lists of records load no NumPy

    if arguments.decay is None:
        if "gravity" in all_sums(centralities):
            raise InvalidValueError("gravity needs decay, by how much a target counts less for each unit of distance")
        return
    if without := [one.name for one in centralities if one.sums & DECAYING and "decay" not in one.takes]:
        raise InvalidValueError(f"decay changes sums of {', '.join(without)}, which takes none; ask for it by itself")


def require_defined_sample(n: int, centralities: tuple[Centrality, ...], *, endpoints: bool) -> None:
    """Raise ValueError if a sample of one root leaves the score of this root undefined."""
    from lagbc.scores.finish import require_defined

    of_vertices = [one for one in centralities if not (one.of_edges or one.of_graph)]
    if of_vertices:
        require_defined(n, endpoints=endpoints and all("endpoints" in one.takes for one in of_vertices))


def title_of(cutoff: float | None, decay: float | None) -> str:
    """Return the title of a column, of its cutoff and its decay if they are given."""
    named = (("cutoff", cutoff), ("decay", decay))
    return ", ".join(f"{name} {float(one)!r}".removesuffix(".0") for name, one in named if one is not None)


def titled(name: str, columns: Sequence[Column], cutoff: Any, decay: Any) -> dict[str, Column]:
    """Return columns by their titles, those of the first cutoff first; ValueError if cutoffs and decays do not fit."""
    from lagbc.request import parse_cutoffs, parse_decays  # the program's help has titles, and no NumPy

    cutoffs = [None] if cutoff is None else parse_cutoffs(cutoff).tolist()
    decays = [None] if decay is None else parse_decays(decay).tolist()
    bounds = [*product(cutoffs, decays)]
    if len(bounds) == len(columns):
        return dict(zip((title_of(*one) for one in bounds), columns, strict=True))
    given = " and ".join(word for word, one in (("cutoff", cutoff), ("decay", decay)) if one is not None)
    raise InvalidValueError(
        f"{name} has {len(columns)} columns, "
        + (f"but there are {len(bounds)} of {given}" if given else "pass the cutoff= and decay= that they are of")
    )
