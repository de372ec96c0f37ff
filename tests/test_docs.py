"""Examples in docstrings run and print what they say; every public name says what it is."""

import doctest
import importlib
import inspect
import operator
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

import lagbc
from lagbc.methods.gpu.kernels import SOURCES

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(lagbc.__path__, "lagbc.")
    if not module.name.startswith(("lagbc.methods.gpu", "lagbc.cuda"))
)


def test_bc_has_an_example():
    assert doctest.DocTestFinder().find(lagbc.bc, globs={})[0].examples


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"{name} needs {error.name}")
    outcome = doctest.testmod(module, extraglobs={"lagbc": lagbc}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0


@pytest.mark.parametrize("name", lagbc.__all__)
def test_public_names_are_documented(name):
    public = getattr(lagbc, name)
    assert name in dir(lagbc)
    if callable(public):
        assert inspect.getdoc(public)


CENTRALITIES = ["edge_bc", "closeness", "harmonic", "eccentricity", "eccentricity_centrality", "stress"]


@pytest.mark.parametrize(
    "name", ["bc", "compare", "estimate_memory", "select_method", "centralities", "shortest_path_counts", *CENTRALITIES]
)
def test_every_parameter_is_documented(name):
    function = getattr(lagbc, name)
    text = inspect.getdoc(function).split("Parameters\n")[1].split("Returns\n")[0]
    for parameter in inspect.signature(function).parameters:
        assert parameter in text, parameter


def test_version():
    assert lagbc.__version__ == version("lagbc")


def test_version_of_a_tree_that_is_not_installed():
    script = f"import sys; sys.path.insert(0, {str(Path(lagbc.__file__).parents[1])!r}); import lagbc"
    command = [sys.executable, "-I", "-S", "-c", f"{script}; print(lagbc.__version__)"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == lagbc.__version__


def test_names_in_docstrings_are_there():
    """What help() names can be typed by whoever has imported lagbc and nothing else."""
    public = [getattr(lagbc, name) for name in lagbc.__all__]
    public += [member for one in public if inspect.isclass(one) for member in vars(one).values() if callable(member)]
    texts = [inspect.getdoc(one) or "" for one in public if callable(one) or inspect.ismodule(one)]
    names = {name for text in texts for name in re.findall(r"\blagbc((?:\.\w+)+)", text)}
    assert {".bc", ".as_graph"} <= names
    for name in names:
        assert name.split(".")[1] in lagbc.__all__, name
        assert operator.attrgetter(name[1:])(lagbc) is not None
    script = "import lagbc\nfor name in lagbc.__all__: getattr(lagbc, name)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_records_that_are_printed_are_read():
    graph = lagbc.read_graph("example:karate")
    chosen = lagbc.select_method(graph.matrix, directed=graph.directed)
    assert str(chosen) == chosen.reason
    table = lagbc.compare(graph.matrix, 2, methods="batched", device="cpu", directed=graph.directed)
    assert str(table) == table.to_markdown()


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'lagbc' has no attribute 'betweeness'"):
        _ = lagbc.betweeness


def test_the_method_table_of_the_readme_is_methods():
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    table = readme.split("<!-- methods -->")[1].split("<!-- /methods -->")[0]
    shown = [tuple(cell.strip(" `") for cell in line.split("|")[1:5]) for line in table.strip().splitlines()[2:]]
    assert shown == [(row.name, row.formulation, row.device, "yes" if row.weighted else "no") for row in lagbc.METHODS]


def test_every_cuda_source_is_package_data():
    for source in SOURCES:
        for path in (source.path, *source.headers):
            assert (files("lagbc") / path).is_file(), path
