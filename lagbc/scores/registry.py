"""The centralities by their names: lagbc's own, and those that are added."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from operator import attrgetter

from lagbc.arguments import ARGUMENTS, OF_ONE, OF_THE_SCORES, OF_THE_SUMS, Arguments
from lagbc.errors import InvalidTypeError, InvalidValueError, did_you_mean
from lagbc.extensions import OF_CENTRALITIES, load_extensions
from lagbc.scores.records import BUILT_IN, USUAL, Centrality

_CENTRALITIES = {one.name: one for one in BUILT_IN}


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
    """Return the centralities that may share a sweep: all that `centralities` computes."""
    return tuple(record for record in registered() if not (record.needs or record.of_graph))


def find(name: object, taken: Callable[[Centrality], bool] = lambda _: True) -> Centrality:
    """Return the centrality of a name that may share a sweep; ValueError, with those `taken`, if there is none."""
    there = {record.name: record for record in shared()}
    if isinstance(name, str) and name not in there:
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
    return sums.union(*map(attrgetter("sums"), centralities))


def usual(arguments: Arguments) -> tuple[Centrality, ...]:
    """Return the usual centralities of `centralities` that take all given arguments of the sums."""
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
    """Raise ValueError if a decay is missing, or would go unseen."""
    from lagbc.methods.sums import DECAYING  # lists of records load no NumPy

    if arguments.decay is None:
        if "gravity" in all_sums(centralities):
            raise InvalidValueError("gravity needs decay, by how much a target counts less for each unit of distance")
        return
    if without := [one.name for one in centralities if one.sums & DECAYING and "decay" not in one.takes]:
        raise InvalidValueError(f"decay changes sums of {', '.join(without)}, which takes none; ask for it by itself")


def require_defined_sample(n: int, k: int, centralities: tuple[Centrality, ...], *, endpoints: bool) -> None:
    """Raise ValueError if the one root of a sample leaves its own score undefined in some centrality."""
    from lagbc.scores.finish import require_defined

    of_vertices = [one for one in centralities if not (one.of_edges or one.of_graph)]
    if of_vertices:
        require_defined(n, k, endpoints=endpoints and all("endpoints" in one.takes for one in of_vertices))
