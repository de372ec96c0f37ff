"""Names of the vertices of a graph: the vertices that names mean, and vertices and edges in messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from numbers import Integral, Real
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError, did_you_mean, quantity, warn
from lagbc.graph.given import array_of, as_reals, refuse_masked

Names = Sequence[Any] | NDArray[Any]


def are_numbers(names: Names) -> bool:
    """Whether some names are real numbers: then a number that a caller gives is a name."""
    if isinstance(names, np.ndarray):
        return names.dtype.kind in "iuf"
    return any(isinstance(name, Real) for name in names)


def listed_names(names: Any, n: int) -> list[Any]:
    """Return given names of n vertices, of Python's types; TypeError or ValueError unless each has one of its own."""
    refuse_masked("names", names)
    if isinstance(names, str | set | frozenset | Mapping) or not isinstance(names, Iterable):
        raise InvalidTypeError(f"names is {names!r}; it is a list with the name of each vertex, in their order")
    listed = names.tolist() if hasattr(names, "tolist") else list(names)
    if getattr(names, "ndim", 1) != 1 or len(listed) != n:
        shape = getattr(names, "shape", (len(listed),))
        raise InvalidValueError(f"names has shape {shape}; it is one name a vertex, shape ({n},)")
    if not all(isinstance(name, Hashable) for name in listed):
        wrong = next(name for name in listed if not isinstance(name, Hashable))
        raise InvalidTypeError(f"names holds {wrong!r}; a name is text, a number, or a tuple of such")
    places: dict[Any, int] = {}
    for place, name in enumerate(listed):
        if _is_missing(name):
            raise InvalidValueError(f"names holds {name!r} at place {place}; each vertex has a name")
        if (before := places.setdefault(name, place)) < place:
            twice = f"{name!r} at place {place}, and {listed[before]!r} at place {before}"
            raise InvalidValueError(f"names holds {twice}; each vertex has a name of its own")
    return listed


def _is_missing(name: Any) -> bool:
    """Whether a name is None, or NaN or NA of pandas, which equal nothing."""
    try:
        return name is None or bool(name != name)
    except TypeError:  # of NA
        return True


def numbers_of(argument: str, names: Names | None, given: Any, *, in_order: bool = True) -> Any:
    """Return the numbers of vertices given by name; `given` itself, if it holds numbers. Messages call it `argument`.

    Integers and whole floats are numbers of vertices, unless some names are real numbers: then 1 and 1.0 are the name
    that is equal. TypeError if `given` is one string or no list, or a set where results are `in_order`. ValueError if
    no vertex has a name, or several have it, or an integer is a number of one vertex and, as text, the name of another.
    """
    refuse_masked(argument, given)
    if isinstance(given, Mapping):
        raise InvalidTypeError(f"{argument} is a mapping, and its values mean nothing here; pass its keys as a list")
    if isinstance(given, set | frozenset):
        if in_order:
            raise InvalidTypeError(f"{argument} is a set, which has no order; pass a list, as results are in its order")
        found = numbers_of(argument, names, list(given))
        return np.sort(found) if all(isinstance(item, Real) for item in found) else found
    if names is None or given is None:
        return given
    if isinstance(given, str):
        raise InvalidTypeError(f"{argument} is the string {given!r}; pass a list of names, [{given!r}]")
    if not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise InvalidTypeError(f"{argument} is {given!r}; pass a list, [{given!r}]")
    items = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if not are_numbers(names):
        if any(isinstance(item, float) for item in items):
            given = items = [int(item) if isinstance(item, float) and item.is_integer() else item for item in items]
        if all(isinstance(item, Integral) for item in items):
            _refuse_ambiguous(argument, items, names)
            return given
    listed = names.tolist() if isinstance(names, np.ndarray) else list(names)
    numbers = {name: i for i, name in enumerate(listed)}
    try:
        found = np.array([numbers[item] for item in items], np.int64)
    except (KeyError, TypeError):
        wrong = next(item for item in items if not _is_among(item, numbers))
        some = ", ".join(repr(name) for name in islice(numbers, 3))
        there = did_you_mean(wrong, numbers.keys(), f"they are called {some}, ...")
        raise InvalidValueError(f"{argument} holds {wrong!r}, which no vertex is called; {there}") from None
    if len(numbers) < len(listed):
        _require_one_each(argument, items, listed)
    return found


def vertex_numbers(
    name: str, given: ArrayLike | Mapping[Any, float], n: int, names: Names | None
) -> NDArray[np.float64]:
    """Return a number for each vertex: given in their order, or by vertex in a mapping or a series of pandas."""
    numbers = array_of(name, _in_order(name, given, n, names), f"one number a vertex, shape ({n},)")
    if numbers.shape != (n,):
        raise InvalidValueError(f"{name} has shape {numbers.shape}; it is one number a vertex, shape ({n},)")
    return as_reals(name, numbers, lambda v: f"at {in_words(names, v)}").astype(np.float64)


def _in_order(name: str, given: ArrayLike | Mapping[Any, float], n: int, names: Names | None) -> ArrayLike:
    """Put a mapping or a series of pandas by vertex in the order of the vertices, 0 for a vertex left out.

    An array, and a series that is numbered 0, 1, ..., are in order.
    """
    is_series = hasattr(given, "to_dict") and getattr(given, "ndim", 0) == 1
    if not isinstance(given, Mapping) and not is_series:
        return given
    table: Mapping[Any, float] = given.to_dict() if is_series else given  # type: ignore[union-attr, assignment]
    if is_series and list(table) == list(range(n)):
        return [*table.values()]
    if len(table) < len(series := cast("Any", given)):
        twice = series.index[series.index.duplicated()].tolist()[0]
        raise InvalidValueError(f"{name} has several numbers for {twice!r}; series.groupby(level=0).sum() adds them")
    numbers = by_vertex(name, table, n, names, 0)
    if len(table) < n:
        among = f"{quantity(len(table), 'vertex', 'vertices')} of {n:,}"
        warn(f"{name} names {among}; the others have 0", UserWarning)
    return numbers


def by_vertex(name: str, table: Mapping[Any, Any], n: int, names: Names | None, missing: Any) -> list[Any]:
    """Return the values of a mapping in the order of the vertices, `missing` for a vertex left out."""
    vertices = range(n) if names is None else list(names)
    if others := table.keys() - set(vertices):
        other = next(vertex for vertex in table if vertex in others)
        raise InvalidValueError(f"{name} has a number for {other!r}, which is none of the {n} vertices")
    return [table.get(vertex, missing) for vertex in vertices]


def parse_numbers(name: str, n: int, given: Any) -> NDArray[np.int64]:
    """Return the numbers of vertices, in the given order."""
    vertices = array_of(name, given, "a 1-D array of vertex numbers")
    if vertices.size == 0:
        return np.zeros(0, np.int64)
    items = vertices.ravel().tolist() if vertices.dtype.kind in "OU" else []
    if (text := next((item for item in items if isinstance(item, str)), None)) is not None:
        raise InvalidTypeError(
            f"{name} holds {text!r}, but the vertices of this graph have no names; pass their numbers, 0..{n - 1} "
            "(lagbc.read_graph and lagbc.graph_from_edges make graphs whose vertices have names)"
        )
    if (beyond := next((item for item in items if isinstance(item, int) and not 0 <= item < n), None)) is not None:
        raise InvalidValueError(f"{name} holds {beyond}, which is not a vertex: there are 0..{n - 1}")
    if vertices.dtype.kind == "f":
        whole = (vertices == np.floor(vertices)) & (np.abs(vertices) < 2**53)
        if not whole.all():
            raise InvalidValueError(f"{name} holds {vertices[~whole][0]}, which is not a vertex: there are 0..{n - 1}")
        vertices = vertices.astype(np.int64)
    if vertices.ndim != 1 or vertices.dtype.kind not in "iu":
        raise InvalidTypeError(
            f"{name} has dtype {vertices.dtype} and shape {vertices.shape}; it is a 1-D array of vertex numbers "
            "(for a mask, pass numpy.flatnonzero(mask))"
        )
    outside = (vertices < 0) | (vertices >= n)
    if outside.any():
        raise InvalidValueError(f"{name} holds {vertices[outside][0]}, which is not a vertex: there are 0..{n - 1}")
    return vertices.astype(np.int64)


def size_in_words(n: int, stored: int, *, directed: bool) -> str:
    """Return the numbers of vertices and edges; an undirected edge is stored twice."""
    edges, kind = (stored, "directed") if directed else (stored // 2, "undirected")
    return f"{quantity(n, 'vertex', 'vertices')}, {quantity(edges, f'{kind} edge')}"


def in_words(names: Names | None, v: int) -> str:
    """Return the name of a vertex for a message, or its number if it has none."""
    return f"vertex {v}" if names is None else f"vertex {_plain_name(names, v)!r}"


def edge_in_words(names: Names | None, tail: int, head: int) -> str:
    """Return the ends of an edge for a message."""
    return f"({tail}, {head})" if names is None else f"({_plain_name(names, tail)!r}, {_plain_name(names, head)!r})"


def _plain_name(names: Names, v: int) -> Any:
    name = names[v]
    return name.item() if isinstance(name, np.generic) else name


def _refuse_ambiguous(argument: str, items: Sequence[Any], names: Names) -> None:
    """Raise ValueError if an integer is the number of one vertex, and as text the name of another."""
    numbers = {int(item) for item in items}
    for v, name in enumerate(names.tolist() if isinstance(names, np.ndarray) else names):
        if isinstance(name, str) and name.isdecimal() and v != (item := int(name)) in numbers:
            other = f", [{str(names[item])!r}] for vertex number {item}" if 0 <= item < len(names) else ""
            raise InvalidValueError(
                f"{argument} holds the integer {item}, and a vertex is called {name!r}, number {v}: pass names, "
                f"[{name!r}] for that one{other}"
            )


def _require_one_each(argument: str, items: Sequence[Any], names: Sequence[Any]) -> None:
    often = Counter(names)
    for item in items:
        if often[item] > 1:
            places = [i for i, name in enumerate(names) if name == item]
            raise InvalidValueError(
                f"{argument} holds {item!r}, which {len(places)} vertices are called, {places[0]} and {places[1]} "
                "among them; give each a name of its own, or pass the numbers of vertices of a matrix"
            )


def _is_among(item: Any, numbers: dict[Any, int]) -> bool:
    try:
        return item in numbers
    except TypeError:  # not hashable
        return False
