"""The arguments of a call besides options: how its graph is read, and of what its scores are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from lagbc.options import parse_count, parse_flag

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from lagbc.types import DemandLike, Vertices

# Arguments that restrict or weigh the sums; centralities of one sweep have them in common.
OF_THE_SUMS = ("sources", "targets", "source_weights", "target_weights", "demand", "cutoff", "k", "rng")
# Arguments of finishing, of path counts alone, or of sums that decay; each goes to the centralities that take it.
OF_THE_SCORES = ("decay", "rtol", "normalized", "endpoints", "wf_improved", "log2")
# Arguments that one function takes, or two.
OF_ONE = ("states", "groups", "coordinates", "u", "top")


class Arguments(NamedTuple):
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
    coordinates: Any = None
    u: Any = None
    top: int | None = None

    @property
    def given(self) -> set[str]:
        """Names of the arguments with another value than their default."""
        given = set[str]()
        for name, value, usual in zip(self._fields, self, NONE_GIVEN, strict=True):
            if value is not usual and not (isinstance(value, int | float) and value == usual):
                given.add(name)
        return given

    def checked(self) -> Arguments:
        """Return the arguments with flags and counts as Python's; TypeError or ValueError names one that is none."""
        changed: dict[str, Any] = {}
        for name in FLAGS:
            if type(flag := getattr(self, name)) is not bool:
                changed[name] = parse_flag(name, flag)
        for name in ("k", "top"):
            if getattr(self, name) is not None:
                changed[name] = parse_count(name, getattr(self, name))
        return self._replace(**changed) if changed else self


class Read(NamedTuple):
    """How a graph is read: arguments as for `lagbc.bc`."""

    directed: bool | None = None
    weighted: bool | str | None = None
    strength: bool | str = False


NONE_GIVEN = Arguments()
ARGUMENTS = Arguments._fields
FLAGS = tuple(name for name, usual in Arguments._field_defaults.items() if isinstance(usual, bool))
