"""Texts made of the records of centralities: types of the public names, names of centralities, README's table.

``python -m lagbc.interfaces.stub`` writes them; a test holds them against the records.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import lagbc
from lagbc.centrality.declare import FUNCTIONS
from lagbc.centrality.registry import Centrality, registered, shared

PACKAGE = Path(lagbc.__file__).parent
STUB, TYPES, README = PACKAGE / "__init__.pyi", PACKAGE / "types.py", PACKAGE.parent / "README.md"
_MADE, _END = (
    "# Generated from the registered centralities by ``python -m lagbc.interfaces.stub``: edit them, not this part.\n",
    "# End of the generated part.\n",
)
_HEAD = '''"""Types of the public names; made by ``python -m lagbc.interfaces.stub``."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.run.shares import Written
'''
# Names of `lagbc.types` in signatures.
_TYPES = (
    *("Auto", "CentralityName", "ColumnsOfScores", "DemandLike", "EdgeScores", "GraphLike", "One", "Several"),
    *("Scores", "ScoresAndErrors", "Vertices"),
)
# Annotations of cutoff and decay in overloads, and whether scores have several columns.
_COLUMNS = (
    ("One | None = ...", "One | None = ...", False),
    ("Several", "ArrayLike | None = ...", True),
    ("One | None = ...", "Several", True),
)
_WIDTH = 120
# Columns of the table in the README.
_SHOWN = (("cutoff",), ("sources", "k", "rng"), ("targets", "rtol"), ("source_weights", "target_weights"))


def stub() -> str:
    """Write the types of the public names of lagbc."""
    records = {one.name: one for one in registered()}
    made = dict(sorted(FUNCTIONS.items())) | {name: getattr(lagbc, name) for name in ("centralities", "save_part")}
    body = "\n".join(
        line for name, function in made.items() for line in _types_of_function(name, function, records.get(name))
    )
    homes = {f"lagbc.{home}": set(names) - made.keys() for home, names in vars(lagbc)["_HOMES"].items()}
    homes["lagbc.types"] = {name for name in _TYPES if name in body}
    lines = [_HEAD.rstrip(), f"from lagbc import {', '.join(f'{name} as {name}' for name in vars(lagbc)['_MODULES'])}"]
    for home, names in sorted(homes.items()):
        again = home != "lagbc.types"
        listed = ", ".join(f"{name} as {name}" if again else name for name in sorted(names))
        lines += [f"from {home} import {listed}"] if names else []
    return "\n".join([*lines, "", "__version__: str", f"__all__ = {list(lagbc.__all__)!r}", "", body, ""])


def _types_of_function(name: str, function: Callable[..., Any], record: Centrality | None) -> Iterator[str]:
    """Write the type of a function, by overloads if arguments change the type of its result."""
    parameters = list(inspect.signature(function).parameters.values())
    several = name == "centralities" or (record is not None and record.of_edges)
    if not several and all(one.name != "standard_error" for one in parameters):
        returned = "Written" if name == "save_part" else "NDArray[np.float64]"
        yield f"def {name}({_write_parameters(parameters)}) -> {returned}: ..."
        return
    told = {"standard_error", *(("cutoff", "decay") if several else ())}
    keywords = [one for one in parameters if one.kind is one.KEYWORD_ONLY and one.name not in told]
    of = f"_Of{name.title().replace('_', '')}"
    yield f"class {of}(Options, total=False):"
    yield from (f"    {one.name}: {one.annotation}" for one in keywords)
    leading = _write_parameters([one for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD])
    for errors in (False, True):
        standard = "standard_error: Literal[True]" if errors else "standard_error: Literal[False] = ..."
        for cutoff, decay, columns in _COLUMNS if several else ((None, None, False),):
            bounds = f"cutoff: {cutoff}, decay: {decay}, " if several else ""
            yield "@overload"
            yield (
                f"def {name}({leading}, *, {bounds}{standard}, **others: Unpack[{of}])"
                f" -> {_type_of_scores(record, columns, errors)}: ..."
            )


def _write_parameters(parameters: Sequence[inspect.Parameter]) -> str:
    """Write parameters, without their defaults."""
    listed = []
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and "*" not in listed:
            listed.append("*")
        before = "**" if one.kind is one.VAR_KEYWORD else ""
        after = "" if one.default is one.empty else " = ..."
        listed.append(f"{before}{one.name}: {one.annotation}{after}")
    return ", ".join(listed)


def _type_of_scores(record: Centrality | None, columns: bool, errors: bool) -> str:
    """Return the type of scores of a centrality, or of several, or of a pair of scores and errors."""
    if record is None:
        alone = "ColumnsOfScores" if columns else "Scores"
    elif record.of_edges:
        alone = "list[EdgeScores]" if columns else "EdgeScores"
    else:
        return "ScoresAndErrors" if errors else "NDArray[np.float64]"
    return f"tuple[{alone}, {alone}]" if errors else alone


def names() -> str:
    """Write the types of names and scores of the centralities that may share a sweep."""
    quoted = [f'"{one.name}"' for one in shared()]
    listed = f"    {', '.join(quoted)}\n"
    if len(listed) > _WIDTH + 1:  # as the formatter breaks it
        listed = "".join(f"    {name},\n" for name in quoted)
    lines = [f"CentralityName: TypeAlias = Literal[\n{listed}]", "", ""]
    lines += ["class _ScoresOfVertices(TypedDict):"]
    lines += [f"    {one.name}: NDArray[np.float64]" for one in shared() if not one.of_edges]
    for kind, told, of_edges in (
        ("Scores", " that were asked for, each the result of the function with its name", "EdgeScores"),
        (
            "ColumnsOfScores",
            " with several cutoffs or decays: (n, columns), or a matrix a column",
            "list[EdgeScores]",
        ),
    ):
        lines += ["", "", f"class {kind}(_ScoresOfVertices):"]
        lines += [f'    """The scores from `lagbc.centralities`{told}."""', ""]
        lines += [f"    {one.name}: {of_edges}" for one in shared() if one.of_edges]
    return "\n".join(lines) + "\n\n\n"


def rows() -> str:
    """Write the table of centralities of the README."""
    heads = [", ".join(f"`{name}`" for name in some) for some in _SHOWN]
    heads = ["name", "NetworkX", *heads, "also"]
    lines = []
    for record in registered():
        shown = [record.takes.issuperset(some) for some in _SHOWN]
        left = record.takes.difference(*(some for some, is_shown in zip(_SHOWN, shown, strict=True) if is_shown))
        also = [name for name in inspect.signature(FUNCTIONS[record.name]).parameters if name in left]
        cells = [_quoted([record.name]), _quoted(record.networkx), *("yes" if one else "-" for one in shown)]
        lines.append([*cells, _quoted(also)])
    rows = "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, *lines))
    return rows.replace("\n", f"\n|{'---|' * len(heads)}\n", 1)


def _quoted(listed: Sequence[str]) -> str:
    """Quote names; a name that begins with the first one is shortened."""
    first = listed[0] if listed else ""
    return ", ".join(f"`{name if name == first else name.removeprefix(first)}`" for name in listed) or "-"


def made(path: Path) -> str:
    """Return the text of a file, its parts that come from the records made anew."""
    if path == STUB:
        return stub()
    text = path.read_text(encoding="utf-8")
    begin, end, part = (
        (_MADE, _END, names()) if path == TYPES else ("<!-- centralities -->\n", "<!-- /centralities -->\n", rows())
    )
    before, rest = text.split(begin)
    return before + begin + part + end + rest.split(end)[1]


if __name__ == "__main__":
    for path in (TYPES, STUB, README):
        path.write_text(made(path), encoding="utf-8")
