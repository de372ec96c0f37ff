"""Values of edges, as a caller takes them: as lengths; as strengths w, which are lengths 1 / w; or not at all.

Where a graph is read, and nowhere else, strengths become lengths (`lagbc.graph.validate`); a `Graph` has lengths alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError

# The edge attribute that holds the values by default, as in NetworkX and igraph.
LENGTH = "weight"
# The arguments that take an edge attribute by name, in messages.
BY_NAME = "weighted= or strength="
# The advice of errors: where edges have length 0, scores of others depend on the order of vertices.
_OF_ZERO_LENGTHS = "Merge the ends of an edge of length 0, or add a small length to every edge, such as 1 to degrees"


class Values(NamedTuple):
    """How values of edges are taken; of parallel edges the shortest counts, which has the largest strength."""

    word: str  # "length" or "strength"; "" if they are not taken
    are_taken: bool  # whether edges have lengths
    are_strengths: bool  # whether they are w of lengths 1 / w
    attribute: str | None = None  # the edge attribute that the caller names

    @property
    def argument(self) -> str:
        """The argument that takes them so."""
        return "strength" if self.are_strengths else "weighted"

    @property
    def name(self) -> str:
        """The name of the edge attribute that holds them."""
        return LENGTH if self.attribute is None else self.attribute

    def advice(self, wrong: NDArray[Any], otherwise: str) -> str:
        """Return the advice on values that are no such lengths: of its own where all are 0."""
        return _OF_ZERO_LENGTHS if self.word == "length" and not wrong.any() else otherwise


NO_VALUES, LENGTHS, STRENGTHS = Values("", False, False), Values("length", True, False), Values("strength", True, True)


def parse_values(weighted: Any, strength: Any, usual: Values = NO_VALUES) -> Values:
    """Return how a caller takes values: the `usual` way if it is not told; errors name arguments that contradict."""
    if weighted is None and strength is False:
        return usual
    weighted, strength = of_python(weighted), of_python(strength)
    for name, given in (("weighted", weighted), ("strength", strength)):
        if not (isinstance(given, bool | str) or (given is None and name == "weighted")):
            raise InvalidTypeError(f"{name}={given!r} is neither True nor False nor the name of an edge attribute")
    if strength is False and not isinstance(weighted, str):
        return usual if weighted is None else LENGTHS if weighted else NO_VALUES  # strength may have been NumPy's False
    if weighted is False:
        raise InvalidValueError(
            f"strength={strength!r} takes the values as strengths, weighted=False takes none; leave out one"
        )
    named = [given for given in (strength, weighted) if isinstance(given, str)]
    if len({*named}) > 1:
        raise InvalidValueError(f"strength={strength!r} and weighted={weighted!r} name two attributes; leave out one")
    return (LENGTHS if strength is False else STRENGTHS)._replace(attribute=named[0] if named else None)


def of_python(flag: Any) -> Any:
    """Return a flag of NumPy as one of Python, and anything else as it is."""
    return bool(flag) if isinstance(flag, np.bool_) else flag


def are_no_lengths(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark values that are not finite and > 0."""
    wrong: NDArray[np.bool_] = ~(np.isfinite(values) & (values > 0))
    return wrong


def no_attribute(kind: str, attribute: str, there: Iterable[Any]) -> InvalidValueError:
    """Make the error that no edge has an attribute; it names the attributes there are."""
    names = sorted(repr(name) for name in there if isinstance(name, str))
    others = f"they have {', '.join(names)}, of which {BY_NAME} takes one by name" if names else "they have none"
    return InvalidValueError(
        f"the edges of the {kind} have no attribute {attribute!r}; {others}; weighted=False counts hops"
    )
