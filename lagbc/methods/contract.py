"""The contract between a run and its methods: arrays, the request of a run, and the members of a method's module.

A method is a module with the members of `MethodModule`. A run uses them in this order:

    batching.round(...)                    the batches of the method, before anything is allocated
    arrays(graph, plan) -> specifications  all arrays of a state and of one batch, before anything is allocated
    prepare(graph, plan) -> state          once per run and worker, with these arrays: transpose, order, upload
    forward(state, roots) -> levels, ...   dist and sigma of a batch; one or more `Levels`, one after the other
    backward(state, levels, sums, omega)   adds the sums of the roots of these levels, a row a block

Where a plan has bounds, ``sum_within(state, blocks)`` takes the place of the last two. A method whose row has
``bounds=True`` has it, and `blocks`.

A method may have ``touched(state, levels)``. If the blocks of these levels touch few vertices, it returns their sums as
`SparseSums`, one for each block, else None. It has the bits of `backward`, which it replaces, and costs time by the
touched vertices alone.

A state holds dist, sigma and levels from `forward` to `backward`: no other function is called in between.

Vertices are numbered in one of two orders. In **matrix order**, the caller's, are `graph` itself, the roots of
`forward`, the plan's omega, root_weights and class_sizes, and the sums. In **sweep order**, where vertices read
together lie together, are ``graph.reordered`` and a method's own arrays, the omega of `backward`, and the result of
`paths`. ``graph.order[i]`` is the vertex at place i of the sweep order, ``graph.position[v]`` the place of vertex v;
edge e of ``graph.reordered`` is edge ``graph.edge_order[e]`` of `graph`. A method may also sweep `graph` as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import prod
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, Union, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.errors import InvalidValueError, OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY, OF_EDGES, PATH_SUMS, SQUARES, SUMS_WITH_CLASS_SIZES, Bounds, SparseSums, Sums

if TYPE_CHECKING:
    from scipy import sparse


# ---- Arrays: a method states each once; a run counts them, and Python allocates them from the statement

FLOAT, INTEGER, WORD, BYTE = np.dtype(np.float64), np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.uint8)
NARROW, HALF_WORD = np.dtype(np.int32), np.dtype(np.uint32)


class Array(NamedTuple):
    """An array: its shape, its dtype, and the number that fills it; None leaves it unfilled."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    fill: float | None = None


class Counted(NamedTuple):
    """Arrays that are counted, but not allocated here: a kernel or a library allocates them, or a batch does later."""

    arrays: Arrays


# Arrays by name, in groups and groups of groups. A number is one of bytes that C++ allocates; None stands for an array
# that the plan does not need.
Arrays: TypeAlias = Mapping[str, Union[Array, Counted, int, "Arrays", None]]


def bytes_of(arrays: Arrays) -> int:
    """Count the bytes of all arrays."""
    total = 0
    for one in arrays.values():
        if isinstance(one, Array):
            total += prod(one.shape) * one.dtype.itemsize
        elif isinstance(one, int):
            total += one
        elif one is not None:
            total += bytes_of(one.arrays if isinstance(one, Counted) else one)
    return total


def repeated(count: int, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """State `count` copies of each array, as one array with a first axis more."""
    return {name: Array((count, *one.shape), one.dtype, one.fill) for name, one in arrays.items()}


def allocate(xp: Any, arrays: Arrays) -> dict[str, Any]:
    """Allocate arrays in `xp`, numpy or cupy, by name in the same groups; others stay as they are stated."""
    made: dict[str, Any] = {}
    for name, one in arrays.items():
        if one is None or isinstance(one, int):
            made[name] = one
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
    """Raised by a method that saw the stop flag between two levels; its state is of no more use."""


class StopFlag:
    """A flag that running kernels poll once a level."""

    def __init__(self) -> None:
        # nonzero once the run is to stop; compiled code polls this array
        self.value: NDArray[np.uint8] = np.zeros(1, np.uint8)
        self._mirrors: list[NDArray[np.uint8]] = []

    def mirror(self, flag: NDArray[np.uint8]) -> None:
        """Set `flag`, which a device can read, whenever this flag is set, at once if it is set already."""
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
    """The request of a run to a method.

    A field that only some methods read is an option; the row of a method in METHODS names the options that it reads.

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
    dtype: str = "float64"  # of path counts and dependencies; scores are always float64
    endpoints: bool = False  # whether the ends of a path count as vertices on it
    omega: NDArray[np.float64] | None = None  # (n,): how many targets each vertex stands for; None is one each
    root_weights: NDArray[np.float64] | None = None  # (n,): how often each vertex counts as a root; None is once each
    # An option. (n,): m, how many equal vertices each vertex stands for in the interior of a path, whole numbers >= 1;
    # None is one each. Only "dependency" and "edges", and squares of both, are summed with them, in float64.
    class_sizes: NDArray[np.float64] | None = None
    # An option. (n, n): in row s, how many targets each vertex stands for where s is the root, in place of omega. To
    # the `backward` of other methods with ``demand=True`` in their row the run passes the weights of its columns.
    demand: sparse.csr_array | None = None
    # (2, n): x and y of each vertex, for the sum "straight"
    xy: NDArray[np.float64] | None = None
    # Cutoffs and decays; only methods with ``bounds=True`` in their row read them.
    bounds: Bounds | None = None
    # The run multiplies sums over paths by 2**exponent (`lagbc.run.sweeps.into_range`): with -1 an undirected pair
    # counts once. Methods do not read it.
    exponent: int = 0
    rtol: float = 0.0  # an option: relative difference up to which two path lengths count as equal
    bucket_width: float | None = None  # an option: of Delta-stepping, as a length; None lets the method choose
    sums: frozenset[str] = DEPENDENCY  # names of fields of `lagbc.methods.sums.Sums`
    roots: int | None = None  # count of the run's roots, in all batches; None if it is not known
    # The schedule of a traversal: "all-blocks" puts all thread blocks of a GPU on one root, "one-block" one; dijkstra
    # has "work-efficient" and "node-parallel". None lets the method choose.
    variant: str | None = None
    method: str = ""  # name of the row of METHODS that is run, for a module that serves several rows
    # traversals on a GPU: threads that share the edges of a vertex, a power of two up to 32; None lets the method
    # choose
    virtual_warp: int | None = None
    # An option. Whether a pair (s, t) counts 2 d(s, v) / d(s, t) at v in place of 1. Over all roots of an undirected
    # graph the sum is the same, but its terms differ less where v is between many pairs. With "dependency" and its
    # squares alone.
    linear: bool = False
    # Whether `forward` has to yield all roots of a batch in one `Levels`. With lengths, only methods with
    # ``demand=True`` can.
    at_once: bool = False
    # whether dependencies take the place of path counts in memory: the same bits in less memory and more time
    in_place: bool = False
    budget: int | None = None  # bytes that the whole run may take; None is no limit. Methods do not read it.
    # bytes that a worker may take beyond its `arrays`, for queues that grow; None is no limit
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
        """Raise MemoryError if a worker may not take `more` bytes beyond its `arrays`."""
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
        return sum(self.columns(name) * (graph.nnz if name in OF_EDGES else graph.n) for name in self.sums)

    def require_path_counts(self) -> None:
        """Raise ValueError if no sum of the plan needs path counts: then methods do not count paths."""
        if not self.counts_paths:
            raise InvalidValueError("sigma is not there: no sum that the plan asks for needs path counts")

    @property
    def counts_paths(self) -> bool:
        """Whether some sum needs path counts."""
        return not self.sums.isdisjoint(PATH_SUMS)

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

    # Roots that are summed together: a batch is a multiple of them, and its sums have a row for each block. Where it is
    # 1, all roots of a batch are one block.
    block: int
    auto: int  # the batch of ``batch="auto"`` where memory allows it
    widest: int | None = None  # largest batch of one worker; None is no limit
    # True: each thread is a worker, with a state of its own from `prepare`, and batches run side by side. False: one
    # worker sweeps them one after the other, and itself shares a batch out among threads or on the device.
    concurrent: bool = False

    def round(self, batch: int) -> int:
        """Round a batch up to a multiple of the block, and down to the widest."""
        rounded = -(-batch // self.block) * self.block
        return rounded if self.widest is None else min(rounded, self.widest)

    def chunk(self, device: str) -> int:
        """Return the roots of a chunk on a device: `tuning.CHUNK_ROOTS`, or the next multiple of the block."""
        return -(-tuning.CHUNK_ROOTS[device] // self.block) * self.block

    def rows(self, first: int, last: int) -> slice:
        """Return the rows of a batch's sums for its roots ``first:last``; `first` begins a block."""
        return slice(first // self.block, -(-last // self.block)) if self.block > 1 else slice(0, 1)


class Levels(Protocol):
    """Some roots of a batch, whose levels a forward sweep left in the state; it may have other members."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of these roots in the batch, ascending, whole blocks of it. A batch yields each place once."""

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """For each of these roots, whether a path count left the range of the plan's dtype."""


@dataclass(slots=True, eq=False)
class OfWholeBatch:
    """`Levels` that hold all roots of a batch."""

    roots: NDArray[np.int64]

    @property
    def places(self) -> NDArray[np.int64]:
        """All places of the batch."""
        return np.arange(len(self.roots))


@runtime_checkable
class CountedLevels(Protocol):
    """`Levels` that tell their count, for comparisons and benchmarks; a run does not read it."""

    @property
    def depth(self) -> int:
        """Number of the last level; the roots are level 0."""


class MethodModule(Protocol):
    """A method."""

    @property
    def batching(self) -> Batching:
        """The batches that it takes."""

    def arrays(self, graph: Graph, plan: SweepPlan) -> Arrays:
        """State one worker's arrays: of its state and of a batch, besides `graph` and the batch's sums.

        A run counts their bytes (`bytes_of`) before `prepare` makes them. An array that grows is stated in its first
        size, enough for most graphs; `SweepPlan.require_growth` is asked before it grows. `Graph.reordered` and its
        transpose are counted with the graph.
        """

    def prepare(self, graph: Graph, plan: SweepPlan) -> Any:
        """Build a worker's state, for any number of batches, one thread at a time."""

    def forward(self, state: Any, roots: NDArray[np.int64]) -> Iterator[Levels]:
        """Search from a batch of roots; a root of -1 is absent, keeps its place and adds nothing.

        A method that has to sweep some blocks apart yields several `Levels`; each is swept backward before the next is
        asked for.

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
            Target weights, a row for each vertex with edges, in sweep order, and a column for each root of these
            levels, in place of the plan's and on their scale. They may be of any size: each column is scaled by itself
            (`lagbc.methods.sums`). Methods whose row has no ``demand=True`` raise NotImplementedError.

        Raises
        ------
        OverflowError
            The target weights of a column are too far apart to be scaled.
        """


class ReadsPaths(Protocol):
    """A method whose distances and path counts can be read between `forward` and `backward`."""

    def paths(self, state: Any, levels: Any) -> tuple[Any, Any]:
        """Return dist and sigma of the levels' roots, shape (rows, columns), rows being vertices in sweep order.

        Where a root does not reach a vertex, dist is inf and sigma 0. The arrays are on the method's device, are not to
        be changed, and hold until the next sweep of the state. ValueError says that no sum of the plan needs path
        counts.
        """


class Blocks(NamedTuple):
    """The sizes of the blocks in which a method sums roots within bounds; they fix the order of the sums."""

    most: int  # most, least: roots of a block
    least: int
    enough: int  # blocks that keep the device at work: blocks grow beyond the least size where there are more

    def size(self, roots: int) -> int:
        """Return the size of the blocks of so many roots."""
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
            Of each block, on the host and on the scale of the plan's omega; its roots are those of the block that are
            not absent.
        overflowed : ndarray of bool, shape (len(block),)
            A mask of the roots whose path counts left the range of float64; they add nothing.
        """
