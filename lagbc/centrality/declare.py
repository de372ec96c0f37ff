"""A decorated function as a centrality: its record, and the public function with all its arguments.

The body of the function makes scores of sums; the public function takes over its docstring. No numerical library is
loaded until a public function is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from lagbc.calls import whole_import
from lagbc.centrality.registry import ARGUMENTS, OF_ONE, Arguments, Centrality, Read, add
from lagbc.plan.options import refuse_places, shown_without_others

if TYPE_CHECKING:
    from lagbc.graph.graph import Graph

# Arguments of all sums over roots, and of sums over paths between pairs of vertices.
SAMPLES = frozenset({"sources", "cutoff", "k", "rng"})
PAIRS = SAMPLES | {"targets", "source_weights", "target_weights", "demand", "decay", "rtol"}
# Arguments of every centrality of roots, and of every centrality about the graph: annotations and defaults.
_BATCH = {"batch": ("int | Auto", "auto")}
_GRAPH = {
    "directed": ("bool | None", None),
    "weighted": ("bool | str | None", None),
    "strength": ("bool | str", False),
}
_ERRORS = {"standard_error": ("bool", False)}
_LEADING = {"A": "GraphLike", "which": "CentralityName | Iterable[CentralityName] | None"}
_OF_ARGUMENTS = {field.name: (field.type, field.default) for field in fields(Arguments)}
# Public functions by their names.
FUNCTIONS: dict[str, Callable[..., Any]] = {}


def centrality(
    *,
    takes: Iterable[str],
    summary: str,
    sums: Iterable[str] = (),
    of_edges: bool = False,
    networkx: tuple[str, ...] = (),
    needs: str = "",
    weigh: Callable[[Graph, Arguments], Arguments] | None = None,
    count: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a record of a function that finishes sums, and return the public function; arguments as of `Centrality`."""

    def declare(finish: Callable[..., Any]) -> Callable[..., Any]:
        name = finish.__name__
        record = Centrality(
            name, frozenset(sums), finish, frozenset(takes), summary, of_edges, networkx, needs, weigh, count
        )
        add(record)
        leading = ["A", *([needs] if needs else [])]
        has_errors = "k" in record.takes
        if count is None:
            given = f"A, own, batch, read, options, arguments{', standard_error' if has_errors else ''}"
            run = f"return whole_import('lagbc.centrality.compute').compute({given})"
        else:
            run = "return own.finish(own.count(A, *read, options, arguments), arguments)"
        public = public_function(finish, leading, record.takes, run, own=record, has_errors=has_errors)
        FUNCTIONS[name] = shown_without_others(public)
        return public

    return declare


def takes_all(
    leading: list[str], passed: str, *, has_errors: bool = False, **annotations: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a public function, with all arguments of `centralities`, of a function that takes `Arguments`.

    `leading` are its parameters before these, with their defaults, `passed` the arguments passed to the function, and
    `annotations` those of its other parameters; `has_errors` says whether it takes `standard_error`.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        takes = frozenset(ARGUMENTS).difference(OF_ONE)
        run = f"return own({passed})"
        public = public_function(function, leading, takes, run, own=function, has_errors=has_errors)
        public.__annotations__ |= annotations
        return shown_without_others(public)

    return declare


def public_function(
    function: Callable[..., Any], leading: list[str], takes: frozenset[str], run: str, *, own: Any, has_errors: bool
) -> Callable[..., Any]:
    """Make a function with name, docstring and module of another, and with its parameters written out.

    `leading` are positional parameters, with their defaults, and `takes` names of arguments, whose order and defaults
    `Arguments` gives. The body `run` can read `own`, `read`, `arguments`, the parameters and `whole_import`; it has a
    batch if it reads one.
    """
    positional = {text.partition("=")[0]: text for text in leading}
    of_keywords: dict[str, tuple[Any, Any]] = {**(_BATCH if "batch" in run else {}), **_GRAPH}
    of_keywords |= {name: declared for name, declared in _OF_ARGUMENTS.items() if name in takes - positional.keys()}
    of_keywords |= _ERRORS if has_errors else {}
    keywords = ", ".join(f"{name}={default!r}" for name, (_, default) in of_keywords.items())
    given = ", ".join(f"{name}={name}" for name in ARGUMENTS if name in takes)
    text = f"""
def make(own, Read, Arguments, refuse_places, whole_import):
    def {function.__name__}({", ".join(positional.values())}, *others, {keywords}, **options):
        if others:
            refuse_places({function.__name__}, others)
        read, arguments = Read({", ".join(_GRAPH)}), Arguments({given})
        {run}
    return {function.__name__}
"""
    made: dict[str, Any] = {}
    # Its globals are the names of the module: doctests and tracebacks find the module by them.
    exec(compile(text, f"<{function.__module__}.{function.__name__}>", "exec"), function.__globals__, made)
    public: Callable[..., Any] = made["make"](own, Read, Arguments, refuse_places, whole_import)
    public.__doc__, public.__module__ = function.__doc__, function.__module__
    public.__qualname__ = function.__qualname__
    kinds = _LEADING | {name: str(kind) for name, (kind, _) in of_keywords.items()}
    # An argument without a default is never None.
    kinds |= {name: str(_OF_ARGUMENTS[name][0]).removesuffix(" | None") for name in OF_ONE if name in positional}
    public.__annotations__ = {name: kinds[name] for name in (*positional, *of_keywords) if name in kinds}
    public.__annotations__["options"] = "Unpack[Options]"
    return public
