"""The contract between a run and its methods: arrays, the request of a run, and the members of a method's module.

A method is a module with the members of `MethodModule`. A run uses them in this order:

    batching.round(...)                    before anything is allocated: the batches of the method
    arrays(graph, plan) -> specifications  the same: all arrays of a state and of one batch
    prepare(graph, plan) -> state          once per run and worker, with these arrays: transpose, order, upload
    forward(state, roots) -> levels, ...   dist and sigma of a batch; one or more `Levels`, one after the other
    backward(state, levels, sums, omega)   adds the sums of the roots of these levels, a row a block

Where a plan has bounds, ``sum_within(state, blocks)`` takes the place of the last two; methods with ``bounds=True`` in
their row have it, and `blocks`.

A method may have ``touched(state, levels)``: it returns the sums of these levels as `SparseSums`, one for each block,
if the blocks touch few vertices, and else None. It takes the place of `backward`, with the same bits, at a cost by the
touched vertices.

Between `forward` and `backward` nothing else happens to the state, so that a method keeps dist, sigma and levels in it.

Vertices are numbered in one of two orders. In **matrix order**, the caller's, are `graph` itself, the roots of
`forward`, the plan's omega, root_weights and class_sizes, and the sums. In **sweep order**, where vertices read
together lie together, are ``graph.reordered`` and a method's own arrays, the omega of `backward`, and the result of
`paths`. ``graph.order[i]`` is the vertex at place i of the sweep order, ``graph.position[v]`` the place of vertex v;
edge e of ``graph.reordered`` is edge ``graph.edge_order[e]`` of `graph`. A method may do without: it then sweeps
`graph` as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, Union, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError, OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY, OF_EDGES, PATH_SUMS, SQUARES, SUMS_WITH_CLASS_SIZES, Bounds, SparseSums, Sums

if TYPE_CHECKING:
    from scipy import sparse


# ---- Arrays: a method states each once, to be counted and, in Python, allocated

FLOAT, INTEGER, WORD, BYTE = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.uint8)
NARROW, HALF_WORD = np.dtype(np.int32), np.dtype(np.uint32)


class Array(NamedTuple):
    """An array: its shape, its dtype, and the number that fills it; None leaves it unfilled."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fill: float | None = None


class Counted(NamedTuple):
    """Arrays that a kernel, a library, a batch or a state allocates by itself, at some time: they are counted alone."""

    arrays: Arrays


def counted(count: int) -> Counted:
    """State the bytes of a state that C++ allocates."""
    return Counted({"bytes": Array((count,), BYTE)})


# Arrays by name, in groups and groups of groups; None is an array that a plan does without.
Arrays: TypeAlias = Mapping[str, Union[Array, Counted, "Arrays", None]]


def bytes_of(arrays: Arrays) -> int:
    """Count the bytes of all arrays."""
    total = 0
    for one in arrays.values():
        if isinstance(one, Array):
            total += prod(one.shape) * one.dtype.itemsize
        elif one is not None:
            total += bytes_of(one.arrays if isinstance(one, Counted) else one)
    return total


def repeated(count: int, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """State `count` copies of a group's arrays, each as one array with one more axis."""
    return {name: Array((count, *one.shape), one.dtype, one.fill) for name, one in arrays.items()}


def allocate(xp: Any, arrays: Arrays) -> dict[str, Any]:
    """Allocate arrays, by name and in the same groups, in `xp`, numpy or cupy; None and what is `Counted` stay."""
    made: dict[str, Any] = {}
    for name, one in arrays.items():
        if one is None:
            made[name] = None
        elif not isinstance(one, Array):
            made[name] = one.arrays if isinstance(one, Counted) else allocate(xp, one)
        else:
            make = xp.zeros if one.fill == 0 else xp.empty  # zero pages that are never written take no memory
            made[name] = make(one.shape, one.dtype)
            if one.fill:
                made[name].fill(one.fill)
    return made


# ---- Plans


class Interrupted(Exception):  # noqa: N818 (a request, not an error)
    """Raised by a method that saw the stop flag between two levels; its state may be thrown away."""


class StopFlag:
    """A flag that running kernels poll once a level."""

    def __init__(self) -> None:
        # nonzero once the run shall stop; compiled code polls the array itself
        self.value: NDArray[np.uint8] = np.zeros(1, np.uint8)
        self._mirrors: list[NDArray[np.uint8]] = []

    def mirror(self, flag: NDArray[np.uint8]) -> None:
        """Let `flag`, in memory that a device can read, be set with this one, at once if this one is set."""
        self._mirrors.append(flag)
        if self.value[0]:
            flag[0] = 1

    def set(self) -> None:
        """Ask every worker to stop at its next level."""
        for flag in (self.value, *self._mirrors):
            flag[0] = 1

    def check(self) -> None:
        """Raise `Interrupted` if the flag is set."""
        if self.value[0]:
            raise Interrupted


@dataclass(slots=True, eq=False)
class SweepPlan:
    """The request of a run to a method; read by all of its functions.

    Fields that only some methods read are options: the row of METHODS names those of a method.

    Raises
    ------
    ValueError
        With `class_sizes`, a sum is asked for that is not made with them, or endpoints, or float32.

    Notes
    -----
    A path count P[v] is the number of shortest paths from the root to all m[v] members of v. With c[w] over the tight
    successors w of v, class_sizes change two lines of the sweep, once a row when its gather is finished:

        forward    P[v] = m[v] * (sum of P[u] over tight predecessors u);   P[root] = 1, whatever m[root] is
        backward   b[v] = sum of c[w];   c[v] = m[v] * (omega[v] / P[v] + b[v])

    The sums are over all members together: root_weights[s] P[v] b[v] of a vertex v other than the root, and
    root_weights[s] P[v] c[w] of a tight edge v -> w. Pairs of members of one vertex are in no sum.
    """

    batch: int  # roots (columns) in one batch
    threads: int = 1  # CPU threads in all
    dtype: str = "float64"  # type of path counts and dependencies; scores are always float64
    endpoints: bool = False  # whether the ends of a path count as vertices on it
    omega: NDArray[np.float64] | None = None  # (n,): how many targets each vertex stands for; None is one each
    root_weights: NDArray[np.float64] | None = None  # (n,): how often each vertex counts as a root; None is once each
    # (n,): m, how many equal vertices each vertex stands for in the interior of a path, whole numbers >= 1; None is one
    # each. An option. Only "dependency" and "edges", and squares of both, are summed with them, in float64.
    class_sizes: NDArray[np.float64] | None = None
    # (n, n): Row s says how many targets each vertex stands for where s is the root, in place of omega. An option;
    # `backward` of the other methods with ``demand=True`` in their row of METHODS is given the weights of its columns.
    demand: sparse.csr_array | None = None
    # (2, n): x and y of each vertex, for "straight"; None where that is not summed
    xy: NDArray[np.float64] | None = None
    # Cutoffs and decays; None is none. Only methods with ``bounds=True`` in their row read them.
    bounds: Bounds | None = None
    # The sums over paths are multiplied by 2**exponent: with -1 an undirected pair counts once. Methods do not read it:
    # see `lagbc.run.sweeps.into_range`.
    exponent: int = 0
    rtol: float = 0.0  # an option: relative difference up to which two path lengths count as equal
    bucket_width: float | None = None  # an option: of Delta-stepping, as a length; None lets the method choose
    sums: frozenset[str] = DEPENDENCY  # the sums asked for: names of fields of `lagbc.methods.sums.Sums`
    roots: int | None = None  # count of the run's roots, in all batches; None if it is not known
    # The schedule of a traversal: "all-blocks" puts all thread blocks of a GPU on one root, "one-block" one; dijkstra
    # has "work-efficient" and "node-parallel". None lets the method choose.
    variant: str | None = None
    method: str = ""  # name of the row of METHODS that is run, for a module that serves several rows
    # traversals: threads that share the edges of a vertex, a power of two up to 32; None lets the method choose
    virtual_warp: int | None = None
    # Whether a pair (s, t) counts 2 d(s, v) / d(s, t) at v in place of 1: over all roots of an undirected graph the
    # same sum, but less spread over them where v is between many pairs. With "dependency" and its squares alone. An
    # option.
    linear: bool = False
    # Whether `forward` has to yield all roots of a batch in one `Levels`. Among methods with lengths, those with target
    # weights of single roots can.
    at_once: bool = False
    # whether path counts are kept in the rows of the dependencies, which take their place: the same bits in less memory
    # and more time
    in_place: bool = False
    budget: int | None = None  # Bytes that the whole run may take; None is no limit. Methods do not read it.
    # bytes that a worker may take beyond its `arrays`, where something grows on demand; None is no limit
    growth: int | None = None
    stop: StopFlag = field(default_factory=StopFlag)  # polled once a level

    def __post_init__(self) -> None:
        if self.linear and not self.sums == {"dependency", "dependency_squares"}:
            raise InvalidValueError("linear: made of dependency and its squares alone")
        if self.sums & SQUARES and (self.endpoints or self.bounds is not None):
            raise InvalidValueError("squares of sums are not made with endpoints or bounds")
        if self.class_sizes is None:
            return
        asked = [*sorted(self.sums - SUMS_WITH_CLASS_SIZES), *["endpoints"] * self.endpoints]
        asked += [self.dtype] * (self.dtype != "float64")
        if asked:
            raise InvalidValueError(f"{', '.join(asked)}: not made where vertices stand for several members")

    def require_growth(self, more: int) -> None:
        """Raise MemoryError if a worker's arrays may not take `more` bytes beyond the stated ones."""
        if self.growth is not None and more > self.growth:
            raise OutOfMemoryError(
                f"arrays need {more} bytes more than was counted, of which {self.growth} may be taken"
            )

    @property
    def radius(self) -> float:
        """The distance to which a root has to search."""
        return np.inf if self.bounds is None else self.bounds.radius(self.sums)

    def times_of(self, roots: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how often each of some roots counts."""
        return np.ones(len(roots)) if self.root_weights is None else self.root_weights[roots]

    def columns(self, name: str) -> int:
        """Count the columns of a sum."""
        return 1 if self.bounds is None else self.bounds.columns(name)

    def summed(self, graph: Graph) -> int:
        """Count the numbers of the sums over all roots of a graph."""
        count = 0
        for name in self.sums:
            count += self.columns(name) * (graph.nnz if name in OF_EDGES else graph.n)
        return count

    def require_path_counts(self) -> None:
        """Raise ValueError if no sum asked for needs path counts, so that they are not counted."""
        if not self.sums & PATH_SUMS:
            raise InvalidValueError("sigma is not there: no sum that the plan asks for needs path counts")

    def with_flag(self, stop: StopFlag) -> SweepPlan:
        """Return the same plan with another stop flag."""
        return SweepPlan(*(*_BUT_THE_FLAG(self), stop))

    @property
    def sigma_limit(self) -> float:
        """The largest path count that leaves omega / sigma a normal number; roots with larger ones are recomputed."""
        largest = 2.0**126 if self.dtype == "float32" else 2.0**1022
        if self.bounds is not None:
            largest *= self.bounds.least
        if self.omega is None or not self.omega.any():
            return largest
        return largest * min(1.0, float(self.omega[self.omega > 0].min()))


# A copy by the module copy takes four times as long, and each call makes one.
_BUT_THE_FLAG = attrgetter(*[one.name for one in fields(SweepPlan)][:-1])


# ---- Modules


class Batching(NamedTuple):
    """The batches that a method takes."""

    # A batch is a multiple of this many roots, which are summed together: a row of the batch's sums is a block. Where
    # it is 1, all roots of a batch are one block.
    block: int
    auto: int  # the batch of ``batch="auto"`` where memory allows it
    widest: int | None = None  # largest batch of one worker; None is no limit
    # whether batches run side by side, one a worker, and a worker a thread, with a state of its own from `prepare`;
    # else one worker sweeps them one after the other, and shares each out among threads or on the device itself
    concurrent: bool = False

    def round(self, batch: int) -> int:
        """Round a batch up to a multiple of the block, and down to the widest."""
        rounded = -(-batch // self.block) * self.block
        return rounded if self.widest is None else min(rounded, self.widest)

    def rows(self, first: int, last: int) -> slice:
        """Return the rows of a batch's sums for its roots ``first:last``; `first` begins a block."""
        return slice(first // self.block, -(-last // self.block)) if self.block > 1 else slice(0, 1)


class Levels(Protocol):
    """The yield of a forward sweep, with any other members: some roots of the batch; their levels are in the state."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of these roots in the batch, whole blocks of it. Each place of a batch is yielded once."""

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """For each of these roots, whether a path count left the range of the plan's dtype."""


@dataclass(slots=True, eq=False)
class OfWholeBatch:
    """The part that `Levels` of all roots of a batch share."""

    roots: NDArray[np.int64]

    @property
    def places(self) -> NDArray[np.int64]:
        """All places of the batch."""
        return np.arange(len(self.roots))


@runtime_checkable
class CountedLevels(Protocol):
    """`Levels` with their count, if a method can tell it: for comparisons and benchmarks, not for a run."""

    @property
    def depth(self) -> int:
        """Number of the last level; the roots are level 0."""


class MethodModule(Protocol):
    """A method."""

    @property
    def batching(self) -> Batching:
        """The batches that it takes."""

    def arrays(self, graph: Graph, plan: SweepPlan) -> Arrays:
        """State one worker's arrays: all those of a state and of a batch, besides `graph` and the batch's sums.

        A run counts their bytes (`bytes_of`) before `prepare` makes them. Arrays that grow on
        demand are stated in their first size, enough for most graphs; before one grows beyond,
        `SweepPlan.require_growth` is asked. `Graph.reordered` and its transpose are counted with the graph.
        """

    def prepare(self, graph: Graph, plan: SweepPlan) -> Any:
        """Build a worker's state, with its arrays, for one thread at a time and any number of batches."""

    def forward(self, state: Any, roots: NDArray[np.int64]) -> Iterator[Levels]:
        """Search from a batch of roots; a root of -1 is absent, keeps its place and adds nothing.

        Where a method has to sweep some blocks apart from the others, it yields several `Levels`; each is swept
        backward before the next is asked for.

        Raises
        ------
        Interrupted
            The plan's stop flag is set; it is polled once a level, here and in `backward`.
        """

    def backward(self, state: Any, levels: Any, sums: Sums, omega: Any = None) -> None:
        """Add the sums of the levels' roots in range, each block to its row of the batch's sums, in matrix order.

        Parameters
        ----------
        sums : Sums
            Of the whole batch; rows of blocks that `levels` does not hold are left as they are.
        omega : array of float64, shape (rows, columns), or None
            Target weights per vertex with edges, in sweep order, and column of these levels. They replace the plan's
            and, as these may have been scaled, are on their scale. They may be of any size, as each column is scaled by
            itself (`lagbc.methods.sums`). A row of METHODS with ``demand=True`` takes them; the others raise
            NotImplementedError.

        Raises
        ------
        OverflowError
            Target weights of one column are too far apart to be scaled.
        """


class ReadsPaths(Protocol):
    """A method whose distances and path counts can be read between `forward` and `backward`."""

    def paths(self, state: Any, levels: Any) -> tuple[Any, Any]:
        """Return dist and sigma of the levels' roots, shape (rows, columns), rows being vertices in sweep order.

        dist is inf where a vertex is not reached, and sigma is 0. They are on the method's device, to be read only, and
        hold until the next sweep of the state. ValueError says that no sum of the plan needs path counts.
        """


class Blocks(NamedTuple):
    """The blocks in which a method sums roots within bounds: fixed by the roots alone, each summed to `SparseSums`.

    Other numbers give another order of the sums.
    """

    most: int  # most, least: roots of a block
    least: int
    enough: int  # blocks that keep the device at work: with more blocks of the least size than these, blocks are larger

    def size(self, roots: int) -> int:
        """Return how many of these roots are summed together."""
        return min(self.most, max(self.least, -(-roots // self.enough)))


class SumsWithin(Protocol):
    """A method that sums pairs within the bounds of its plan: a row of METHODS with ``bounds=True``."""

    @property
    def blocks(self) -> Blocks:
        """The sizes of its blocks."""

    def sum_within(
        self, state: Any, blocks: Sequence[NDArray[np.int64]]
    ) -> Iterable[tuple[SparseSums, NDArray[np.bool_]]]:
        """Sum blocks of roots, at a cost by the vertices within reach; a root of -1 is absent.

        Yields
        ------
        sums : SparseSums
            Of each block, on the host and on the scale of the plan's omega; its roots are the given ones, without
            absent.
        overflowed : ndarray of bool, shape (len(block),)
            A mask of the roots that left the range of float64; they add nothing.
        """
