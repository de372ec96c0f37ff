"""The request of a call: sums, roots, weights of vertices. Each argument is checked here.

Without a tolerance of lengths, rounding may take ties from paths: callers are warned, of strengths by these alone, of
lengths where a short search finds some.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.arguments import OF_THE_SUMS, Arguments
from lagbc.demand import origins, parse_demand
from lagbc.errors import InvalidTypeError, InvalidValueError, TieWarning, warn
from lagbc.graph.csr import as_numpy
from lagbc.graph.given import array_of, as_reals, refuse_masked
from lagbc.graph.graph import Graph
from lagbc.graph.names import Names, in_words, parse_numbers, vertex_numbers
from lagbc.methods.sums import OF_BOUNDS, PATH_SUMS, Bounds
from lagbc.native import core, csr
from lagbc.options import parse_count, parse_flag, parse_real

if TYPE_CHECKING:
    from scipy import sparse

    from lagbc.types import Vertices

# Sums of up to some 50 lengths in two orders differ by at most this part; others hardly ever come so near.
_NEAR = 2.0**-48
# Edges that all searches look at, and one of some: small graphs are searched whole. An edge takes 20 to 40 ns.
_EDGES, _EDGES_OF_ROOT = 2**15, 2**12
# Lengths that are looked at to tell that all are whole numbers, whose sums are exact.
_LENGTHS = 1000


class Request(NamedTuple):
    """The request of a call, the same for every method and machine; n is the number of vertices."""

    sums: frozenset[str]  # fields of `lagbc.methods.sums.Sums`
    roots: NDArray[np.int64]  # distinct vertices
    omega: NDArray[np.float64] | None = None  # (n,): targets that each vertex stands for; None is one each
    root_weights: NDArray[np.float64] | None = None  # (n,): how often each counts as a root; None is once
    class_sizes: NDArray[np.float64] | None = None  # (n,): equal vertices that each is inside a path; None is one
    demand: sparse.csr_array | None = None  # (n, n): a row of omega for each root; the pairs are ordered
    bounds: Bounds | None = None  # cutoffs and decays
    xy: NDArray[np.float64] | None = None  # (2, n): coordinates of each vertex; None where no lines are summed
    weighs_pairs: bool = False  # omega or root_weights are the caller's weights, of any size
    endpoints: bool = False  # the ends of a path count as vertices on it
    rtol: float = 0.0  # relative difference up to which two lengths of paths are equal
    is_sample: bool = False  # the roots are a random sample, whose sums estimate those over all vertices


def make_request(
    graph: Graph,
    sums: frozenset[str],
    given: Arguments,
    sample: Callable[[int, int], NDArray[np.int64] | None] | None = None,
) -> Request:
    """Check arguments, whose vertices have numbers, and turn them into a request for some sums.

    ``sample(k, n)`` returns the roots of a resumed run, if they are as good as a sample drawn without a seed.
    """
    n, names = graph.n, graph.names
    k, endpoints, targets, target_weights = given.k, given.endpoints, given.targets, given.target_weights
    demand = root_weights = omega = None
    if given.demand is not None:
        _require_alone(given)
        demand = parse_demand(n, given.demand, names)
    roots = parse_roots(n, given.sources, k, given.rng, names) if demand is None else origins(demand)
    if sample is not None and k is not None and given.rng is None and (before := sample(k, n)) is not None:
        roots = before
    if given.source_weights is not None:
        root_weights = parse_vertex_weights("source_weights", given.source_weights, n, names)
    if targets is not None or target_weights is not None:
        omega = parse_targets(n, targets, target_weights, names, endpoints=endpoints)
    is_weighted = target_weights is not None or root_weights is not None
    if is_weighted and (given.normalized or endpoints or k is not None):
        raise InvalidValueError("target_weights and source_weights do not go with normalized, endpoints or k")
    bounds = parse_bounds(sums, given.cutoff, given.decay)
    if given.decay is not None and (given.normalized or endpoints):
        raise InvalidValueError("decay weighs targets, and does not go with normalized or endpoints")
    if root_weights is not None and sums <= PATH_SUMS:  # roots of weight 0 add nothing to sums that roots weigh
        roots = roots[root_weights[roots] > 0]
    return Request(
        sums=sums,
        roots=roots,
        omega=omega,
        root_weights=root_weights,
        demand=demand,
        bounds=bounds,
        xy=given.coordinates,
        weighs_pairs=is_weighted,
        endpoints=endpoints,
        rtol=0.0 if given.rtol is None else parse_tolerance(given.rtol),
        is_sample=k is not None,
    )


def _require_alone(arguments: Arguments) -> None:
    """Raise ValueError if an argument beside the demand chooses or weighs pairs, or scales their sum."""
    given = arguments.given - {"demand", "cutoff"}
    beside = [name for name in (*OF_THE_SUMS, "decay", "normalized", "endpoints") if name in given]
    if beside:
        raise InvalidValueError(f"demand says how often each pair of vertices counts; leave out {', '.join(beside)}")


def parse_roots(
    n: int,
    sources: Vertices | None,
    k: int | None,
    rng: int | np.random.Generator | None,
    names: Names | None = None,
) -> NDArray[np.int64]:
    """Return the roots: all, the given ones, or `k` drawn ones, ascending; `names` are the vertices' names."""
    if k is None:
        if rng is not None:
            raise InvalidValueError("rng goes with k, the number of roots to draw")
        return np.arange(n) if sources is None else parse_vertices("sources", n, sources, names)
    if sources is not None:
        raise InvalidValueError("sources (a partial sum) and k (an estimate from random roots) exclude each other")
    count = parse_count("k", k)
    if count > n:
        raise InvalidValueError(f"k={count} roots cannot be drawn from {n} vertices without repeats")
    return np.sort(parse_generator(rng).choice(n, count, replace=False))


def parse_generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """Return a generator of random numbers."""
    refuse_masked("rng", rng)
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise InvalidValueError(f"rng={rng!r} is neither an integer >= 0 nor a numpy.random.Generator") from None


def parse_vertices(name: str, n: int, given: Vertices, names: Names | None = None) -> NDArray[np.int64]:
    """Return distinct vertices, in the given order; messages call them by their names."""
    vertices = parse_numbers(name, n, given)
    distinct, counts = np.unique(vertices, return_counts=True)
    if len(distinct) < len(vertices):
        weights = {"sources": "source_weights", "targets": "target_weights"}
        often = f"; {weights[name]}, which bc and edge_bc take, count one often" if name in weights else ""
        twice = in_words(names, int(distinct[counts > 1][0]))
        raise InvalidValueError(f"{name} names {twice} more than once; name it once{often}")
    return vertices


def parse_targets(
    n: int,
    targets: Vertices | None,
    target_weights: ArrayLike | Mapping[Any, float] | None,
    names: Names | None = None,
    *,
    endpoints: bool,
) -> NDArray[np.float64]:
    """Return how many targets each vertex stands for: 1 for each of `targets`, or its weight."""
    if target_weights is not None and targets is None:
        return parse_vertex_weights("target_weights", target_weights, n, names)
    if target_weights is not None or endpoints:
        raise InvalidValueError("targets does not go with target_weights or endpoints")
    omega = np.zeros(n)
    omega[parse_vertices("targets", n, cast("Vertices", targets), names)] = 1
    return omega


def parse_vertex_weights(
    name: str, weights: ArrayLike | Mapping[Any, float], n: int, names: Names | None = None
) -> NDArray[np.float64]:
    """Return a finite number >= 0 for each vertex."""
    parsed = vertex_numbers(name, weights, n, names)
    invalid = ~(np.isfinite(parsed) & (parsed >= 0))
    if invalid.any():
        first = int(np.argmax(invalid))
        raise InvalidValueError(
            f"{name} holds {np.count_nonzero(invalid)} values that are not finite and >= 0, "
            f"the first at {in_words(names, first)}: {parsed[first]}"
        )
    return parsed


def parse_bounds(sums: frozenset[str], cutoff: ArrayLike | None, decay: ArrayLike | None) -> Bounds | None:
    """Return cutoffs and decays, if some are given or a sum needs them; inf and 0 stand for none."""
    if cutoff is None and decay is None and not sums & OF_BOUNDS:
        return None
    return Bounds(
        np.array([np.inf]) if cutoff is None else parse_cutoffs(cutoff),
        np.zeros(1) if decay is None else parse_decays(decay),
    )


def parse_cutoffs(cutoff: ArrayLike) -> NDArray[np.float64]:
    """Return one cutoff or several, each another."""
    return _parse_columns("cutoff", cutoff, "a distance >= 0")


def parse_decays(decay: ArrayLike) -> NDArray[np.float64]:
    """Return one decay or several, each another."""
    decays = _parse_columns("decay", decay, "a rate, finite and >= 0")
    if not np.isfinite(decays).all():
        raise InvalidValueError(f"decay={decay!r}: it is a rate, finite and >= 0, or several")
    return decays


def _parse_columns(name: str, given: ArrayLike, what: str) -> NDArray[np.float64]:
    """Return one number or several, none of them negative, and none twice: columns of scores are called by them."""
    is_number = isinstance(given, Real) and not isinstance(given, bool)
    numbers = array_of(name, parse_real(name, given) if is_number else given, f"{what}, or a 1-D array of such")
    if numbers.ndim > 1 or not numbers.size:
        raise InvalidValueError(f"{name} has shape {numbers.shape}; it is {what}, or a 1-D array of such, at least one")
    if numbers.dtype.kind not in "iufO" or (numbers.dtype == object and not numbers.ndim):
        raise InvalidTypeError(f"{name}={given!r} holds what is no real number; it is {what}, or a 1-D array of such")
    numbers = np.atleast_1d(as_reals(name, numbers, lambda i: f"at place {i}")).astype(np.float64)
    if not (numbers >= 0).all():
        raise InvalidValueError(f"{name}={given!r}: it is {what}, or several")
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) < len(numbers):
        raise InvalidValueError(f"{name} holds {distinct[counts > 1][0]} more than once; name it once")
    return numbers


def parse_tolerance(rtol: Any) -> float:
    """Return a relative tolerance of lengths; None is 0."""
    if rtol is None:
        return 0.0
    tolerance = parse_real("rtol", rtol)
    if not 0 <= tolerance < 1:
        raise InvalidValueError(f"rtol={rtol!r}: it is a relative difference, from 0 to less than 1")
    return tolerance


def require_flags(**flags: Any) -> None:
    """Raise TypeError if one of the named arguments is neither True nor False."""
    for name, flag in flags.items():
        parse_flag(name, flag)


def warn_of_ties(graph: Graph, rtol: float | None, roots: NDArray[np.int64], *, everywhere: bool = True) -> None:
    """Warn of ties of lengths that rounding breaks, unless a tolerance is given.

    Strengths tell of them; lengths are searched, if all paths from the roots count, `everywhere`.
    """
    if rtol is not None or graph.weights is None:
        return
    remedy = "rtol=1e-9 takes them for ties, rtol=0 leaves it at that"
    if graph.of_strengths:
        if has_rounded_inverses(graph):
            of = (
                "lengths 1 / w are rounded, and paths that tie in exact numbers (1/3 + 1/6, 1/2) may not tie in float64"
            )
            warn(f"{of}; {remedy}", TieWarning)
    elif everywhere and (found := _find_near_tie(graph, roots)) is not None:
        root, v, *sums = found
        ends = f"from {in_words(graph.names, root)} to {in_words(graph.names, v)}"
        of = f"paths {ends} are {sums[0]!r} and {sums[1]!r} long: rounding keeps them, and maybe others, from a tie"
        warn(f"{of}; {remedy}, and whole numbers (metres for kilometres) tie exactly", TieWarning)


def has_rounded_inverses(graph: Graph) -> bool:
    """Whether lengths 1 / w are rounded: so are all but powers of two."""
    return bool((np.frexp(as_numpy(graph.weights))[0] != 0.5).any())


def _find_near_tie(graph: Graph, roots: NDArray[np.int64]) -> tuple[int, int, float, float] | None:
    """Return a root, a vertex, and two sums of lengths of paths between them that differ by rounding alone.

    All roots of a small graph are searched from, and some of a large one, each along few edges, on the host; None if no
    such paths are found.
    """
    if graph.is_on_device or not len(roots) or graph.weights is None:
        return None
    first = graph.weights[:_LENGTHS]
    if np.array_equal(first, np.rint(first)):
        return None
    if graph.nnz * len(roots) > _EDGES:
        count = min(_EDGES // min(graph.nnz, _EDGES_OF_ROOT), len(roots))
        roots = roots[(2 * np.arange(count) + 1) * len(roots) // (2 * count)]
    found = core.find_near_tie(csr(*graph.csr), np.ascontiguousarray(roots), _EDGES_OF_ROOT, _NEAR)
    return None if found[0] < 0 else found
