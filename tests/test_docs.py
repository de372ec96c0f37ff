"""Examples in docstrings run and print what they say; every public name says what it is."""

import ast
import doctest
import importlib
import inspect
import operator
import pkgutil
import re
import runpy
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import click
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import lagbc
from lagbc import tuning
from lagbc.centrality.compiled import SOURCES
from lagbc.extensions import OF_FORMATS
from lagbc.interfaces.cli import main
from lagbc.io.source import example_names
from lagbc.methods.table import EXTRAS
from lagbc.reduce.blocks import split
from lagbc.reduce.chains import contract
from lagbc.reduce.twins import merge
from lagbc.reduce.weighted import Weighted
from lagbc.scores.records import registered

ROOT = Path(__file__).parents[1]

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(lagbc.__path__, "lagbc.")
    if not module.name.startswith(("lagbc.methods.gpu", "lagbc.cuda", "lagbc.native.rows_"))
)


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


def test_the_reference_has_every_public_name():
    listed = "\n".join(page.read_text() for page in sorted((ROOT / "docs/api").glob("*.md")))
    modules = {name for name in lagbc.__all__ if inspect.ismodule(getattr(lagbc, name))}
    plots = {f"lagbc.plots.{name}" for name in lagbc.plots.__all__ if name.startswith("plot_")}
    named = set(re.findall(r"\.\. auto(?:function|class|data|exception):: (\S+)", listed))
    assert named == (set(lagbc.__all__) - modules) | plots
    assert modules - {"plots"} == set(re.findall(r"\.\. automodule:: lagbc\.(\w+)", listed))


FUNCTIONS = ["compare", "plan", "centralities", "shortest_path_counts"]


@pytest.mark.parametrize("name", [*FUNCTIONS, *(record.name for record in registered())])
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
    planned = lagbc.plan(graph.matrix, directed=graph.directed)
    assert str(planned).startswith(planned.in_short)
    table = lagbc.compare(graph.matrix, 2, methods="batched", device="cpu", directed=graph.directed)
    assert str(table) == table.to_markdown()


def test_docstrings_name_the_examples():
    names = inspect.getdoc(lagbc.example_path).partition("name : str\n")[2].splitlines()[0]
    assert re.findall(r'"([\w-]+)"', names) == example_names()


def table(page, name):
    """Cells of the table between two comments of a page of the documentation, without the head."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0].strip().splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return head, rows


def quoted(cell):
    """Names in a cell; one that begins with an underscore continues the one before."""
    names = re.findall(r"`([^`]+)`", cell)
    return [names[i - 1] + name if name.startswith("_") else name for i, name in enumerate(names)]


def test_the_table_of_methods_is_methods():
    _, rows = table("docs/choosing.md", "methods")
    shown = [
        (*quoted(name), formulation, device, weighted, quoted(needs)[:1])
        for name, formulation, device, weighted, needs in rows
    ]
    assert shown == [
        (
            row.name,
            row.formulation,
            row.device,
            "yes" if row.weighted else "no",
            [f"lagbc[{EXTRAS[row.requires]}]"] if row.requires in EXTRAS else [],
        )
        for row in lagbc.METHODS
    ]


def test_the_table_of_centralities_is_the_registry():
    (_, _, *heads, _), rows = table("README.md", "centralities")
    shown = []
    for name, networkx, *cells, also in rows:
        takes = {
            argument for head, cell in zip(heads, cells, strict=True) if cell == "yes" for argument in quoted(head)
        }
        shown.append((*quoted(name), tuple(quoted(networkx)), takes | set(quoted(also))))
    assert shown == [(record.name, record.networkx, record.takes) for record in registered()]


def test_the_python_of_the_readme():
    """The block runs, and a line that ends in a comment with a list returns it, to three digits."""
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    names = {}
    exec(block, names)
    shown = re.findall(r"^(lagbc\S.*?)  +# (\[.*?\])", block, re.MULTILINE)
    assert len(shown) > 3
    for expression, values in shown:
        np.testing.assert_allclose(eval(expression, names), ast.literal_eval(values), atol=5e-4, err_msg=expression)
    assert names["both"].keys() == {"bc", "stress"}


def test_edges_are_joined_in_both_orientations(capsys):
    """The block of the page prints the scores that it says."""
    pytest.importorskip("pandas")
    page = (ROOT / "docs" / "conventions.md").read_text(encoding="utf-8")
    block = page.split("## Tables of edges")[1].split("```python\n")[1].split("```")[0]
    names = {}
    exec(block, names)
    printed = capsys.readouterr().out.strip()
    assert f"# {printed}" in block
    graph = nx.MultiGraph([("a", "b"), ("b", "b"), ("b", "c"), ("b", "c")])
    names["once"] = lagbc.table(graph, lagbc.edge_bc(graph))
    exec("\n".join(line for line in block.splitlines() if line.startswith(("turned", "both"))), names)
    assert sorted(names["both"].index) == sorted([*graph.edges, *((v, u, key) for u, v, key in graph.edges if u != v)])


def commands():
    """Lines of the README that begin with a command of lagbc."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^    lagbc (.*?)(?:  .*)?$", text, re.MULTILINE)


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_readme_are_understood(line):
    """What they do is tested with the command line."""
    name, *arguments = line.split()
    main.get_command(click.Context(main), name).make_context(name, arguments)


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https:)([^)#]+)", text):
        assert (page.parent / target).exists(), target
    for heading in re.findall(r"\]\(#([^)]+)", text):
        assert heading in [line.strip("# ").lower().replace(" ", "-") for line in text.splitlines()], heading


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_names_in_pages_can_be_typed(page):
    for name in re.findall(r"\blagbc\.([A-Za-z_]+)", page.read_text(encoding="utf-8")):
        assert hasattr(lagbc, name) or f"lagbc.{name}" == OF_FORMATS, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_are_as_short_as_they_shall_be(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 120
    assert page.name != "README.md" or len(lines) <= 150


def test_files_that_contributors_are_sent_to_exist():
    """Paths are within the package or the tests, or begin with a folder of the checkout; names alone are in one."""
    folders = (ROOT, ROOT / "lagbc", ROOT / "tests")
    named = {file.name for folder in folders[1:] for file in folder.rglob("*.*")}
    for page in ("contributing.md", "method.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for path in re.findall(r"`([a-z_]+/[a-z_./]*|(?:[a-z_]+/)*[A-Za-z_]+\.(?:py|md|cuh|json))`", text):
            if "NAME" not in path:
                assert path in named or any((folder / path).exists() for folder in folders), path


def test_modules_that_results_name_exist_or_are_told_to_be_gone():
    """In the commands and tables of benchmarks; the public functions and modules of others are none."""
    for page in [ROOT / "benchmarks" / "README.md", *(ROOT / "benchmarks" / "results").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"\b((?:lagbc|benchmarks)/[\w/]*\w\.(?:py|h|cpp|cu|cuh))\b", text):
            assert (ROOT / path).exists(), (page.name, path)
        for name, gone in re.findall(r"\b((?:lagbc|benchmarks)(?:\.[a-z_0-9]+)+)\b`?( \(gone\))?", text):
            module = ROOT / name.replace(".", "/")
            found = [*module.parent.glob(f"{module.name}.*")] or module.is_dir() or hasattr(lagbc, module.name)
            assert bool(found) != bool(gone), (page.name, name)


def test_the_picture_of_the_architecture_shows_what_is_there():
    pytest.importorskip("matplotlib")
    for rooms, *_ in runpy.run_path(str(ROOT / "docs" / "images" / "draw.py"))["FLOORS"]:
        for name, _, holds in rooms:
            folders = [ROOT / "lagbc" / folder for folder in name.split()]
            assert all(folder.exists() for folder in folders), name
            for file in (word for word in holds.split() if word.endswith((".py", "/"))):
                assert any((folder / file).exists() for folder in (*folders, ROOT / "lagbc")), file


def test_the_picture_of_reductions_shows_what_is_done(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    drawn = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "images" / "draw.py")))
    names = sorted(drawn.AT)
    edges = np.array([[names.index(v) for v in edge] for edge in (*drawn.LEFT, *drawn.RIGHT, *drawn.SINGLE)])
    A = sp.coo_array((np.ones(len(edges)), edges.T), shape=(len(names), len(names)))
    ones = np.ones(len(names))
    blocks = split(Weighted(lagbc.as_graph(A, directed=False), ones, ones))
    places = [blocks.tree.copies[copies] for copies, _ in blocks.tree.large]
    (left, at_left), (right, at_right) = sorted(
        zip(blocks.large, places, strict=True), key=lambda block: block[0].graph.n
    )
    for piece, at, block in ((left, at_left, drawn.LEFT), (right, at_right, drawn.RIGHT)):
        there = [names[v] for v in at]
        assert sorted(there) == sorted(set("".join(block)))
        assert piece.sources.tolist() == [drawn.stands_for(v, block) for v in there]
    merged, _ = merge(left)
    assert sorted(merged.class_sizes) == [1] * (left.graph.n - len(drawn.TWINS)) + [len(drawn.TWINS)]
    contracted = contract(right)
    assert {names[at_right[v]] for v in contracted.vertices} == set(drawn.ENDS)
    lengths = sorted(len(chain) - 1 for chain in drawn.CHAINS for _ in range(2))
    assert sorted(contracted.graph.weights) == lengths


def test_the_page_of_reductions_tells_what_is_left_of_the_examples():
    page = (ROOT / "docs" / "reductions.md").read_text(encoding="utf-8")
    told = re.findall(rf"(\d+) %(?: of the\s+work is left)? of ({'|'.join(example_names())})\b", page)
    assert {name for _, name in told} == {"ca-GrQc", "power", "us-airports"}
    assert "minnesota stays as it is" in page
    assert " of the work" not in lagbc.plan(lagbc.read_graph("example:minnesota"), device="cpu").reason
    for share, name in told:
        graph = lagbc.read_graph(lagbc.example_path(name))
        assert f"; {share} % of the work; " in lagbc.plan(graph, device="cpu").reason


def test_every_cuda_source_is_package_data():
    for source in SOURCES:
        for path in (source.path, *source.headers):
            assert (files("lagbc") / path).is_file(), path
