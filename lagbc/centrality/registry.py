"""Every centrality as one record: its sums, the function that finishes them, its arguments.

The public functions, `centralities`, the NetworkX backend, the command line and the table in the documentation come
from these records, made of decorated functions by `lagbc.centrality.declare`. Modules of records load no numerical
library, as the command line lists all records.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from lagbc.calls import whole_import
from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.extensions import OF_CENTRALITIES, load_extensions
from lagbc.frozen import frozen
from lagbc.plan.options import parse_count, parse_flag

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from lagbc.graph.graph import Graph
    from lagbc.run.execute import Result
    from lagbc.types import CentralityName, DemandLike, Vertices

# Arguments that restrict or weigh the sums; centralities of one sweep have them in common.
OF_THE_SUMS = ("sources", "targets", "source_weights", "target_weights", "demand", "cutoff", "k", "rng")
# Arguments of finishing, of path counts alone, or of sums that decay; each goes to the centralities that take it.
OF_THE_SCORES = ("decay", "rtol", "normalized", "endpoints", "wf_improved", "log2")
# Arguments that a single centrality takes, and needs.
OF_ONE = ("states", "groups")


@frozen
class Arguments:
    """The arguments of a call, besides the graph; `lagbc.bc`, `lagbc.closeness` and `lagbc.stress` explain each."""

    sources: Vertices | None = None
    targets: Vertices | None = None
    source_weights: ArrayLike | Mapping[Any, float] | None = None
    target_weights: ArrayLike | Mapping[Any, float] | None = None
    demand: DemandLike | None = None
    cutoff: ArrayLike | None = None
    decay: ArrayLike | None = None
    rtol: float | None = None
    k: int | None = None
    rng: int | np.random.Generator | None = None
    normalized: bool = False
    endpoints: bool = False
    wf_improved: bool = True
    log2: bool = False
    states: ArrayLike | Mapping[Any, float] | None = None
    groups: Iterable[Vertices] | None = None

    @property
    def given(self) -> set[str]:
        """Names of the arguments with another value than their default."""
        usual, given = vars(NONE_GIVEN), set[str]()
        for name, value in vars(self).items():
            if value is not usual[name] and not (isinstance(value, int | float) and value == usual[name]):
                given.add(name)
        return given

    def checked(self) -> Arguments:
        """Return the arguments with flags and `k` as Python's; TypeError or ValueError names one that is none."""
        parsed: dict[str, Any] = {name: parse_flag(name, getattr(self, name)) for name in FLAGS}
        if self.k is not None:
            parsed["k"] = parse_count("k", self.k)
        changed = {name: value for name, value in parsed.items() if value is not getattr(self, name)}
        return replace(self, **changed) if changed else self


class Read(NamedTuple):
    """How a graph is read: arguments as for `lagbc.bc`."""

    directed: bool | None = None
    weighted: bool | str | None = None
    strength: bool | str = False


NONE_GIVEN = Arguments()
ARGUMENTS = tuple(field.name for field in fields(Arguments))
FLAGS = tuple(field.name for field in fields(Arguments) if isinstance(field.default, bool))


@dataclass(frozen=True)
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
    networkx : tuple of str
        The functions of NetworkX that it computes.
    needs : str
        An argument without a default, of this centrality alone; `centralities` does not compute it then.
    weigh : callable, optional
        ``weigh(graph, arguments)`` returns the arguments of the sweep, made of `needs`.
    count : callable, optional
        ``count(A, directed, weighted, strength, options, arguments)`` returns the first argument of `finish`, in place
        of sums over roots; there are no `sums` then.

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
    networkx: tuple[str, ...] = ()
    needs: str = ""
    weigh: Callable[[Graph, Arguments], Arguments] | None = None
    count: Callable[..., Any] | None = None


# Modules of the centralities of lagbc, in the order of lists.
_MODULES = ("betweenness", "distances", "stress", "reach", "percolation", "group")
_CENTRALITIES: dict[str, Centrality] = {}
_BUILT_IN: list[Centrality] = []


@cache
def _load_built_in() -> None:
    """Import the modules of lagbc's own centralities, which add their records."""
    for module in _MODULES:
        whole_import(f"lagbc.centrality.{module}")
    _BUILT_IN.extend(_CENTRALITIES.values())


def register_centrality(centrality: Centrality) -> None:
    """Add a centrality, for `lagbc.centralities` to compute by its name, in this process.

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

    Examples
    --------
    >>> import lagbc
    >>> lagbc.register_centrality(
    ...     lagbc.Centrality(
    ...         name="reached",
    ...         sums=frozenset({"reached"}),
    ...         finish=lambda result, arguments: result.sums.reached,
    ...         takes=frozenset({"sources"}),
    ...         summary="how many vertices reach each",
    ...     )
    ... )
    >>> import scipy.sparse as sp
    >>> path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    >>> lagbc.centralities(path, "reached")
    {'reached': array([0., 1., 2.])}
    >>> lagbc.unregister_centrality("reached")
    """
    from lagbc.methods.sums import Sums

    if not isinstance(centrality, Centrality):
        raise InvalidTypeError(f"{centrality!r} is no lagbc.Centrality")
    _load_built_in()
    _require_known("sums", centrality.sums, [field.name for field in fields(Sums)])
    add(centrality)


def add(centrality: Centrality) -> None:
    """Add a record; ValueError if there is one of its name, or if it takes an unknown argument."""
    if centrality.name in _CENTRALITIES:
        raise InvalidValueError(f"there is a centrality {centrality.name!r} already")
    _require_known("takes", centrality.takes, ARGUMENTS)
    _CENTRALITIES[centrality.name] = centrality


def _require_known(field_name: str, named: frozenset[str], there: Sequence[str]) -> None:
    if unknown := named.difference(there):
        raise InvalidValueError(
            f"{field_name}: there is no {', '.join(sorted(unknown))}; there are: {', '.join(there)}"
        )


def unregister_centrality(name: str) -> None:
    """Remove a centrality that was added; ValueError if there is none of this name."""
    _load_built_in()
    if _CENTRALITIES.get(name) in (None, *_BUILT_IN):
        raise InvalidValueError(f"there is no centrality {name!r} that was added")
    del _CENTRALITIES[name]


def registered() -> tuple[Centrality, ...]:
    """Return all centralities, in the order of their addition."""
    _load_built_in()
    return tuple(_CENTRALITIES.values())


def shared() -> tuple[Centrality, ...]:
    """Return the centralities that may share a sweep: all that `centralities` computes."""
    return tuple(record for record in registered() if not record.needs)


def find(name: object, taken: Callable[[Centrality], bool] = lambda _: True) -> Centrality:
    """Return the centrality of a name that may share a sweep; ValueError, with those `taken`, if there is none."""
    there = {record.name: record for record in shared()}
    if isinstance(name, str) and name not in there:
        load_extensions(OF_CENTRALITIES)
        there = {record.name: record for record in shared()}
    if not isinstance(name, str) or name not in there:
        parts = re.split("[, ]+", str(name))
        listed = f"there are: {', '.join(one for one, record in there.items() if taken(record))}"
        instead = f"several are a list, {parts}" if all(part in there for part in parts) else listed
        raise InvalidValueError(f"there is no centrality {name!r}; {instead}")
    return there[name]


def all_sums(centralities: Iterable[Centrality]) -> frozenset[str]:
    """Return the sums of some centralities."""
    sums: frozenset[str] = frozenset()
    return sums.union(*map(attrgetter("sums"), centralities))


def that_take(names: Iterable[CentralityName], arguments: Arguments) -> tuple[CentralityName, ...]:
    """Return the centralities that take all given arguments of the sums."""
    given = arguments.given.intersection(OF_THE_SUMS)
    return tuple(name for name in names if given <= find(name).takes)


def require_taken(centralities: tuple[Centrality, ...], arguments: Arguments) -> None:
    """Raise ValueError if a given argument means nothing to a centrality of the sweep, or to all of them."""
    for name in sorted(arguments.given, key=(*OF_THE_SUMS, *OF_THE_SCORES, *OF_ONE).index):
        without = [centrality.name for centrality in centralities if name not in centrality.takes]
        if without and (name in OF_THE_SUMS or len(without) == len(centralities)):
            or_them = ", or them" if len(without) < len(centralities) else ""
            raise InvalidValueError(f"{name} means nothing to {', '.join(without)}; leave it out{or_them}")
