"""Trips as they are given, by the names of vertices or not, as a matrix in the order of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lagbc.errors import InvalidTypeError, InvalidValueError
from lagbc.graph.given import column_of, reals_of, refuse_masked, require_reals
from lagbc.graph.names import Names, numbers_of
from lagbc.plan.request import parse_numbers

# Columns of a table of trips.
_FROM, _TO, _TRIPS = "from", "to", "trips"


def matrix_of(demand: Any, n: int, names: Names | None) -> Any:
    """Return a demand as a matrix of SciPy or NumPy in the order of the vertices; one that is no other is not checked.

    Parameters
    ----------
    demand : matrix, data frame, mapping of mappings, or pair of names and a matrix
        As `lagbc.bc` has it.
    n : int
        Number of vertices.
    names : sequence, or None
        What they are called.

    Raises
    ------
    TypeError, ValueError
        It is of another form, or it names what is no vertex.
    """
    if type(demand).__module__.partition(".")[0] in ("cupy", "cupyx") and hasattr(demand, "get"):
        return demand.get()
    if sparse.issparse(demand) or isinstance(demand, np.ndarray):
        return demand
    if isinstance(demand, Mapping):
        return _of_mappings(demand, n, names)
    if isinstance(demand, tuple) and len(demand) == 2:
        called, matrix = demand
        return _of_names(called, called, matrix, n, names)
    if hasattr(demand, "columns") and hasattr(demand, "__getitem__"):
        return _of_frame(demand, n, names)
    raise InvalidTypeError(
        f"demand is a {type(demand).__qualname__}; it is a sparse matrix of SciPy or CuPy or a dense 2-D ndarray, of "
        f"shape ({n}, {n}), a pair of names and such a matrix, a data frame with the columns {_FROM}, {_TO} and "
        f"{_TRIPS}, or a dict of dicts"
    )


def _of_mappings(demand: Mapping[Any, Any], n: int, names: Names | None) -> sparse.coo_array:
    for origin, row in demand.items():
        if not isinstance(row, Mapping):
            raise InvalidTypeError(f"demand[{origin!r}] is {row!r}; it is a dict of destinations and their trips")
    tails = [origin for origin, row in demand.items() for _ in row]
    heads = [destination for row in demand.values() for destination in row]
    trips = [number for row in demand.values() for number in row.values()]
    return _laid_out(("the origins of demand", "its destinations", "its trips"), tails, heads, trips, n, names)


def _of_frame(frame: Any, n: int, names: Names | None) -> sparse.coo_array:
    """Read a table with columns of these names, or a matrix whose index and columns are vertices, as pandas has it."""
    titles = list(getattr(frame, "column_names", None) or frame.columns)
    if all(title in titles for title in (_FROM, _TO, _TRIPS)):
        tails, heads, trips = (column_of(f"demand[{title!r}]", frame[title]) for title in (_FROM, _TO, _TRIPS))
        called = (f"demand[{title!r}]" for title in (_FROM, _TO, _TRIPS))
        return _laid_out(called, tails, heads, trips, n, names)
    if not hasattr(frame, "index"):
        raise InvalidValueError(
            f"demand has the columns {', '.join(map(str, titles))}; a table of trips has {_FROM}, {_TO} and {_TRIPS}"
        )
    try:
        return _of_names(list(frame.index), titles, frame.to_numpy(), n, names)
    except (TypeError, ValueError) as error:
        raise type(error)(
            f"{error} (a data frame without the columns {_FROM}, {_TO} and {_TRIPS} is a matrix of trips, whose index "
            "and columns are vertices)"
        ) from None


def _of_names(origins: Any, destinations: Any, matrix: Any, n: int, names: Names | None) -> sparse.coo_array:
    """Put the rows and columns of a matrix of some vertices in the order of all."""
    refuse_masked("demand", matrix)
    if not (sparse.issparse(matrix) or isinstance(matrix, np.ndarray)) or matrix.ndim != 2:
        raise InvalidTypeError(f"demand has a {type(matrix).__qualname__} for a matrix; it is one of SciPy or NumPy")
    rows = _numbers("the origins of demand", origins, n, names)
    columns = _numbers("the destinations of demand", destinations, n, names)
    if matrix.shape != (len(rows), len(columns)):
        raise InvalidValueError(
            f"demand has a matrix of shape {matrix.shape} for {len(rows)} names of origins and {len(columns)} of "
            "destinations"
        )
    for what, numbers in (("origins", rows), ("destinations", columns)):
        if len(np.unique(numbers)) < len(numbers):
            raise InvalidValueError(f"the {what} of demand name a vertex twice; add up its trips")
    require_reals("demand", matrix)
    entries = sparse.coo_array(matrix)
    return sparse.coo_array((entries.data, (rows[entries.row], columns[entries.col])), shape=(n, n))


def _laid_out(
    called: Iterable[str], tails: Any, heads: Any, trips: Any, n: int, names: Names | None
) -> sparse.coo_array:
    """Make a matrix of lists of origins, destinations and trips; `called` is what messages call these."""
    of_tails, of_heads, of_trips = called
    ends = _numbers(of_tails, tails, n, names), _numbers(of_heads, heads, n, names)
    return sparse.coo_array((reals_of(of_trips, trips).astype(np.float64), ends), shape=(n, n))


def _numbers(what: str, given: Any, n: int, names: Names | None) -> NDArray[np.int64]:
    """Return the numbers of vertices, which may be there more than once."""
    return parse_numbers(what, n, numbers_of(what, names, given))
