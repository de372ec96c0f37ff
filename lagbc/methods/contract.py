"""The contract between a run and its methods: what a run asks for, and what a method's module has to hold.

A method is a module with the members of `MethodModule`. A run uses them in this order:

    batching.round(...)                    before anything is allocated: which batches the method takes
    arrays(graph, plan) -> specifications  the same: all that prepare and one batch allocate
    prepare(graph, plan) -> state          once per run and worker: transpose, order, upload, allocate
    forward(state, roots) -> levels, ...   dist and sigma of a batch; one or more `Levels`, one after the other
    backward(state, levels, sums, omega)   adds what the roots of these levels sum to, a row a block

Where a plan has bounds, ``sum_within(state, blocks)`` takes the place of the last two; methods whose row says
``bounds=True`` have it, and `blocks`.

Between `forward` and `backward` nothing else happens to the state, so that a method keeps dist, sigma and levels in it.

Vertices are numbered in one of two orders. In **matrix order**, the caller's, are `graph` itself, the roots that
`forward` is given, the plan's omega, multiplicity and members, and the sums. In **sweep order**, in which vertices that
are read together lie together, are ``graph.reordered`` and what a method keeps of it; the omega that `backward` is
given, and what `paths` returns. ``graph.order[i]`` is the vertex at place i of the sweep order, ``graph.position[v]``
the place of vertex v; edge e of ``graph.reordered`` is edge ``graph.edge_order[e]`` of `graph`. A method may do
without: it then sweeps `graph` as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError, OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.methods.arrays import Arrays
from lagbc.methods.sums import DEPENDENCY, SQUARES, SUMS_WITH_MEMBERS, Bounds, SparseSums, Sums

if TYPE_CHECKING:
    from scipy import sparse


class Interrupted(Exception):  # noqa: N818 (a request, not an error)
    """Raised by a method that saw the stop flag between two levels; its state may be thrown away."""


class StopFlag:
    """A flag that running kernels poll once a level.

    Attributes
    ----------
    value : ndarray of uint8, shape (1,)
        Nonzero once the run shall stop; the array itself is what compiled code polls.
    """

    def __init__(self) -> None:
        self.value: NDArray[np.uint8] = np.zeros(1, np.uint8)
        self._mirrors: list[NDArray[np.uint8]] = []

    def mirror(self, flag: NDArray[np.uint8]) -> None:
        """Let `flag`, in memory that a device can read, be set with this one, at once if this one is."""
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


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """What a run asks of a method; read by all of its functions.

    Attributes
    ----------
    batch : int
        Roots (columns) in one batch.
    threads : int
        CPU threads in all.
    dtype : str
        Type of path counts and dependencies; scores are always float64.
    endpoints : bool
        Whether the ends of a path count as vertices on it.
    omega : ndarray of float64, shape (n,), or None
        How many targets each vertex stands for; None is one each.
    multiplicity : ndarray of float64, shape (n,), or None
        How often each vertex counts as a root; None is once each.
    members : ndarray of float64, shape (n,), or None
        m, how many equal vertices each stands for in the interior of a path, whole numbers >= 1; None is one each. Only
        methods with "members" among their options read them, and only "dependency" and "edges", and squares of both,
        are summed with them, in float64.
    demand : csr_array of float64, shape (n, n), or None
        Row s says how many targets each vertex stands for where s is the root, in place of omega. Only a `sum_within`
        whose row of METHODS says so reads it: `backward` is given the weights of its columns.
    bounds : Bounds or None
        How far apart pairs may be to count, and how much less they do the farther they are; None is no matter. Only
        methods whose row says so read it.
    exponent : int
        The sums over paths are multiplied by 2**exponent: with -1 an undirected pair counts once. Methods do not read
        it: see `lagbc.run.weights`.
    rtol : float
        Relative difference up to which two path lengths count as equal.
    sums : frozenset of str
        The sums asked for: names of fields of `lagbc.methods.sums.Sums`.
    bucket_width : float or None
        Of Delta-stepping, as a length; None lets the method choose.
    method : str
        Name of the row of METHODS that is run; what a module that serves several rows goes by.
    roots : int or None
        How many the run has, in all batches; None if that is not known.
    variant : str or None
        Which of a traversal's ways is taken: "all-blocks" puts all blocks of a GPU on one root, "one-block" one;
        "work-efficient" and "node-parallel" are those of dijkstra. None lets the method choose.
    virtual_warp : int or None
        Traversals: threads that share the edges of a vertex, a power of two up to 32; None lets the method choose.
    linear : bool
        Whether a pair (s, t) counts 2 d(s, v) / d(s, t) at v in place of 1: of an undirected graph the same sum over
        all roots, and less spread over them where v is between many pairs. With "dependency" and its squares alone;
        only methods with "linear" among their options read it.
    at_once : bool
        Whether `forward` has to yield all roots of a batch in one `Levels`. Of methods with lengths, those do so that
        take target weights of single roots.
    in_place : bool
        Whether path counts are kept in the rows of the dependencies that take their place: the same bits in less memory
        and more time.
    budget : int or None
        Bytes that the whole run may take; None is no limit. Methods do not read it.
    growth : int or None
        Bytes that a worker may take beyond its `arrays`, where something grows on demand; None is no limit.
    stop : StopFlag
        Polled once a level.

    Raises
    ------
    ValueError
        With `members`, a sum is asked for that is not made with them, or endpoints, or float32.

    Notes
    -----
    A path count P[v] is the number of shortest paths from the root to all m[v] members of v. With c[w] over the tight
    successors w of v, members change two lines of the sweep, once a row when its gather is finished:

        forward    P[v] = m[v] * (sum of P[u] over tight predecessors u);   P[root] = 1, whatever m[root] is
        backward   b[v] = sum of c[w];   c[v] = m[v] * (omega[v] / P[v] + b[v])

    The sums are those of all members together: multiplicity[s] P[v] b[v] of a vertex v other than the root, and
    multiplicity[s] P[v] c[w] of a tight edge v -> w. Pairs of members of one vertex are in no sum.
    """

    batch: int
    threads: int = 1
    dtype: str = "float64"
    endpoints: bool = False
    omega: NDArray[np.float64] | None = None
    multiplicity: NDArray[np.float64] | None = None
    members: NDArray[np.float64] | None = None
    demand: sparse.csr_array | None = None
    bounds: Bounds | None = None
    exponent: int = 0
    rtol: float = 0.0
    bucket_width: float | None = None
    sums: frozenset[str] = DEPENDENCY
    roots: int | None = None
    variant: str | None = None
    method: str = ""
    virtual_warp: int | None = None
    linear: bool = False
    at_once: bool = False
    in_place: bool = False
    budget: int | None = None
    growth: int | None = None
    stop: StopFlag = field(default_factory=StopFlag)

    def __post_init__(self) -> None:
        if self.linear and not self.sums == {"dependency", "dependency_squares"}:
            raise InvalidValueError("linear: made of dependency and its squares alone")
        if self.sums & SQUARES and (self.endpoints or self.bounds is not None):
            raise InvalidValueError("squares of sums are not made with endpoints or bounds")
        if self.members is None:
            return
        asked = [*sorted(self.sums - SUMS_WITH_MEMBERS), *["endpoints"] * self.endpoints]
        asked += [self.dtype] * (self.dtype != "float64")
        if asked:
            raise InvalidValueError(f"{', '.join(asked)}: not made where vertices stand for several members")

    def require_growth(self, more: int) -> None:
        """Raise MemoryError if a worker's arrays may not take so many bytes more than they were stated to."""
        if self.growth is not None and more > self.growth:
            raise OutOfMemoryError(
                f"arrays need {more} bytes more than was counted, of which {self.growth} may be taken"
            )

    @property
    def radius(self) -> float:
        """How far is to be searched."""
        return np.inf if self.bounds is None else self.bounds.radius(self.sums)

    def columns(self, name: str) -> int:
        """Count the columns of a sum."""
        return 1 if self.bounds is None else self.bounds.columns(name)

    def with_flag(self, stop: StopFlag) -> SweepPlan:
        """Return the same plan with another stop flag."""
        plan = object.__new__(SweepPlan)
        vars(plan).update(vars(self), stop=stop)
        return plan

    @property
    def sigma_limit(self) -> float:
        """The largest path count that leaves omega / sigma a normal number; roots with larger ones are recomputed."""
        largest = 2.0**126 if self.dtype == "float32" else 2.0**1022
        if self.bounds is not None:
            largest *= self.bounds.least
        if self.omega is None or not self.omega.any():
            return largest
        return largest * min(1.0, float(self.omega[self.omega > 0].min()))


@dataclass(frozen=True)
class Batching:
    """Which batches a method takes.

    Attributes
    ----------
    block : int
        A batch is a multiple of this many roots, which are summed together: a row of the batch's sums is a block. Where
        it is 1, all roots of a batch are one block.
    auto : int
        The batch of ``batch="auto"`` where memory allows it.
    widest : int or None
        Largest batch of one worker; None is no limit.
    concurrent : bool
        Whether batches run side by side, one a worker, and a worker a thread, with a state of its own from `prepare`;
        else one worker sweeps them one after the other, and shares each out among threads or on the device itself.
    """

    block: int
    auto: int
    widest: int | None = None
    concurrent: bool = False

    def round(self, batch: int) -> int:
        """Round a batch up to a multiple of the block, and down to the widest."""
        rounded = -(-batch // self.block) * self.block
        return rounded if self.widest is None else min(rounded, self.widest)

    def rows(self, first: int, last: int) -> slice:
        """Rows of a batch's sums that its roots ``first:last`` are summed in; `first` begins a block."""
        return slice(first // self.block, -(-last // self.block)) if self.block > 1 else slice(0, 1)


class Levels(Protocol):
    """What a forward sweep yields, whatever else it holds: some roots of the batch, whose levels are in the state."""

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of these roots in the batch, whole blocks of it. Each place of a batch is yielded once."""

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """For each of these roots, whether a path count left the range of the plan's dtype."""


@runtime_checkable
class CountedLevels(Protocol):
    """`Levels` that tell how many they are, if a method can: comparisons and benchmarks show it, a run does without."""

    @property
    def depth(self) -> int:
        """Number of the last level, those of the roots being 0."""


class MethodModule(Protocol):
    """A method."""

    @property
    def batching(self) -> Batching:
        """Which batches it takes."""

    @property
    def options(self) -> frozenset[str]:
        """The fields of `SweepPlan` that only some methods read, and this one does, such as "rtol"."""

    def arrays(self, graph: Graph, plan: SweepPlan) -> Arrays:
        """State one worker's arrays: all that `prepare` and a batch allocate, besides `graph` and the batch's sums.

        A run counts their bytes (`lagbc.methods.arrays.bytes_of`), and `prepare` allocates those of its state. Arrays
        that grow on demand are stated as large as they are at first, which is as large as most graphs need; before one
        grows beyond, `SweepPlan.require_growth` is asked. `Graph.reordered` and its transpose are counted with the
        graph.
        """

    def prepare(self, graph: Graph, plan: SweepPlan) -> Any:
        """Build a worker's state. It is used by one thread at a time, for any number of batches."""

    def forward(self, state: Any, roots: NDArray[np.int64]) -> Iterator[Levels]:
        """Search from a batch of roots; a root of -1 is an absent one, which keeps its place and adds nothing.

        Where a method has to sweep some blocks apart from the others, it yields several `Levels`; each is swept
        backward before the next is asked for.

        Raises
        ------
        Interrupted
            The plan's stop flag is set; it is polled once a level, here and in `backward`.
        """

    def backward(self, state: Any, levels: Any, sums: Sums, omega: Any = None) -> None:
        """Add what the levels' roots in range sum to, each block to its row of the batch's sums, in matrix order.

        Parameters
        ----------
        sums : Sums
            Of the whole batch; rows of blocks that `levels` does not hold are left as they are.
        omega : array of float64, shape (rows, columns), or None
            Target weights per vertex that has edges, in sweep order, and column of these levels, in place of the
            plan's and, as these may have been scaled, on their scale. They may be of any size, as each column is
            scaled by itself (`lagbc.methods.targets`). A row of METHODS with ``demand=True`` takes them; the others
            raise NotImplementedError.

        Raises
        ------
        OverflowError
            Target weights of one column are too far apart to be scaled.
        """


class ReadsPaths(Protocol):
    """A method that lets a step between `forward` and `backward` read what the search found."""

    def paths(self, state: Any, levels: Any) -> tuple[Any, Any]:
        """Return dist and sigma of the levels' roots, shape (rows, columns), rows being vertices in sweep order.

        dist is inf where a vertex is not reached, and sigma is 0. They are on the method's device, to be read only, and
        hold until the next sweep of the state.
        """


@dataclass(frozen=True)
class Blocks:
    """How a method sums roots within bounds: in blocks, which the roots alone fix, each to `SparseSums`.

    Other numbers than these are another order of the sums.

    Attributes
    ----------
    most, least : int
        Roots of a block.
    enough : int
        So many blocks keep the device at work: blocks are of more roots than the least where there are more of these.
    """

    most: int
    least: int
    enough: int

    def size(self, roots: int) -> int:
        """Tell how many roots are summed together."""
        return min(self.most, max(self.least, -(-roots // self.enough)))


class SumsWithin(Protocol):
    """A method that sums what lies within the bounds of its plan: a row of METHODS with ``bounds=True``."""

    @property
    def blocks(self) -> Blocks:
        """How many roots are summed together."""

    def sum_within(
        self, state: Any, blocks: Sequence[NDArray[np.int64]]
    ) -> Iterable[tuple[SparseSums, NDArray[np.bool_]]]:
        """Sum blocks of roots, at the cost of what they reach; a root of -1 is an absent one.

        Yields
        ------
        sums : SparseSums
            Of each block, on the host and on the scale of the plan's omega; roots are those given that are not absent.
        overflowed : ndarray of bool, shape (len(block),)
            Which of them left the range of float64; they add nothing.
        """
