"""Written signatures agree with the arguments of a call, the records, the overloads and the docstrings."""

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import get_overloads

import pytest

import lagbc
from lagbc.arguments import ARGUMENTS, NONE_GIVEN, OF_ONE, Arguments, Read
from lagbc.scores.records import BUILT_IN

ALL = {*ARGUMENTS} - {*OF_ONE}
# Of a plan, and of parts, no standard errors are computed.
WITHOUT_ERRORS = ("plan", "save_part")
TAKES = {one.name: set(one.takes) for one in BUILT_IN} | {"centralities": ALL, "save_part": ALL, "plan": ALL}
OF_GROUPS = [one.name for one in BUILT_IN if one.needs == "groups"]
# Parameters before the keywords, of functions that have others than the matrix.
LEADING = {
    "closeness": ["A", "u: Any = None", "top: int | None = None"],
    "harmonic": ["A", "top: int | None = None"],
    "straightness": ["A", "coordinates: ArrayLike | Mapping[Any, Any] | Coordinates | None = None"],
    "percolation": ["A", "states: ArrayLike | Mapping[Any, float]"],
    **{name: ["A", "groups: Iterable[Vertices]"] for name in OF_GROUPS},
    "centralities": ["A", "which: CentralityName | Iterable[CentralityName] | None = None"],
    "plan": ["A", "which: CentralityName | Iterable[CentralityName] = 'bc'"],
    "save_part": [
        "path: str | os.PathLike[str]",
        "part: tuple[int, int]",
        "A",
        "which: CentralityName | Iterable[CentralityName] = 'bc'",
    ],
}
# The one call of a function, where it is not `compute`: a name of its module, or of another that it loads for it.
CALLED = {
    **dict.fromkeys(OF_GROUPS, "scores_by_distances"),
    "group_bc": "scores_by_paths",
    "group_degree": "scores_by_neighbours",
    "plan": "plan_call",
    "save_part": "lagbc.centrality.parts.write_part",
}
OF_ALL = pytest.mark.parametrize("name", TAKES)


def parameters(name):
    return inspect.signature(getattr(lagbc, name)).parameters


def shown(name, kind, default):
    return f"{name}: {kind} = {default!r}"


def typed(record, name):
    return record.__annotations__[name].__forward_arg__


@OF_ALL
def test_a_signature_is_that_of_its_arguments(name):
    takes = TAKES[name]
    wanted = [text.replace("A", "A: GraphLike") if text == "A" else text for text in LEADING.get(name, ["A"])]
    wanted += [] if name in OF_GROUPS else [shown("batch", "int | Auto", "auto")]
    wanted += [shown(one, typed(Read, one), usual) for one, usual in Read._field_defaults.items()]
    for one, usual in NONE_GIVEN._asdict().items():
        if one in takes - {*OF_ONE}:
            # Parts that are computed apart draw their roots by the same number.
            is_number = (name, one) == ("save_part", "rng")
            wanted.append(shown(one, "int | None" if is_number else typed(Arguments, one), usual))
    wanted += [shown("standard_error", "bool", False)] if "k" in takes and name not in WITHOUT_ERRORS else []
    assert [str(one).replace("'", "") for one in parameters(name).values()] == [
        text.replace("'", "") for text in [*wanted, "**options: Unpack[Options]"]
    ]


@OF_ALL
def test_a_docstring_has_the_parameters_in_their_order(name):
    text = inspect.getdoc(getattr(lagbc, name)).split("Parameters\n----------\n")[1].split("\n\nReturns\n")[0]
    named = re.findall(r"^(\S.*?)(?: :.*)?$", text, re.MULTILINE)
    listed = [one.strip("*") for line in named for one in line.split(", ")]
    there = list(parameters(name))
    if "..." in listed:  # as for `centralities`, but for those that follow
        place = listed.index("...")
        assert listed[:place] == there[:place]
        assert set(listed[place + 1 :]) <= set(there[place:])
    else:
        assert listed == there


@OF_ALL
def test_overloads_have_the_parameters(name):
    """A type checker holds them to the types of the function, but not to all of its parameters."""
    function = getattr(lagbc, name)
    overloads = get_overloads(function)
    assert (len(overloads) > 0) == ("standard_error" in parameters(name))
    for one in overloads:
        *named, others = inspect.signature(one).parameters.values()
        keywords = getattr(sys.modules[function.__module__], others.annotation.removeprefix("Unpack[").rstrip("]"))
        names = {one.name for one in named} | set(keywords.__annotations__)
        assert names == parameters(name).keys() - {"options"} | set(lagbc.Options.__annotations__)


def test_no_folder_takes_the_name_of_a_function():
    """Imported at a call, it would be the attribute of the package."""
    folders = {path.name for path in Path(lagbc.__file__).parent.iterdir() if path.is_dir()}
    for name in folders & {*lagbc.__all__} - {"plots"}:
        importlib.import_module(f"lagbc.{name}")
        assert callable(getattr(lagbc, name))


class CalledError(Exception):
    """The call that a function is made of."""


@OF_ALL
def test_a_function_passes_on_all_that_it_is_given(name, monkeypatch):
    passed = []

    def called(*given):
        passed.extend(given)
        raise CalledError

    function = getattr(lagbc, name)
    module = sys.modules[function.__module__]
    called_by = CALLED.get(name, "compute")
    monkeypatch.setattr(called_by if "." in called_by else f"{module.__name__}.{called_by}", called)
    monkeypatch.setattr(module, "find_all", lambda which: which, raising=False)
    given = {one: object() for one in parameters(name) if one != "options"}
    with pytest.raises(CalledError):
        function(**given, threads=2)
    (arguments,) = (one for one in passed if isinstance(one, Arguments))
    assert arguments == NONE_GIVEN._replace(**{one: given.pop(one) for one in TAKES[name]})
    read = Read(*(given.pop(one) for one in Read._fields))
    records = [one for one in BUILT_IN if one.name == name]
    left = [one for one in passed if one is not arguments]
    for one in (read, {"threads": 2}, *records, *given.values()):
        left.remove(one)
    assert not left
