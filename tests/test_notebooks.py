"""Notebooks run from top to bottom, and what is stored in them is whole, has figures and is small."""

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("ipykernel", reason="notebooks run in a kernel (the extra 'notebook')")
pytest.importorskip("matplotlib", reason="notebooks draw (the extra 'plot')")
nbclient = pytest.importorskip("nbclient", reason="notebooks are run by nbclient (the extra 'notebook')")
nbformat = pytest.importorskip("nbformat")
jupyter_client = pytest.importorskip("jupyter_client")

# A few roads: a call of group_bc takes seconds where all are, for however many groups.
SOUTH = """
few = (ends.row < 400) & (ends.col < 400)
graph = sp.csr_array((lengths[few], (ends.row[few], ends.col[few])), shape=ends.shape)
graph = lagbc.as_graph(graph, directed=False, weighted=True)
"""
# What a notebook draws and times more of than it takes to see that it runs.
FEWER = {
    "01_quickstart": [("for seed in range(5)", "for seed in range(1)"), ("landmarks=150", "landmarks=20")],
    "02_semiring_vs_traversal": [
        ("compare(file.matrix, 1024,", "compare(file.matrix, 1,"),
        ("64, replace=False", "8, replace=False"),
        ("count=64", "count=8"),
        ('files["minnesota"].matrix, 6,', 'files["minnesota"].matrix, 1,'),
        ("whole = graphs | {", "whole = {"),
    ],
    "03_weighted": [
        ("np.arange(-4, 5)", "np.arange(-1, 2)"),
        ("rounds=3", "rounds=1"),
        ("graph.order[:256]", "graph.order[:64]"),
        ("in graphs.items():\n    table", "in [*graphs.items()][:1]:\n    table"),
        ("compare(graph, 64,", "compare(graph, 1,"),
    ],
    "04_streets": [
        ('kind="stable")[:40]', 'kind="stable")[:3]'),
        ("for _ in range(3):", "for _ in range(1):"),
        ("scores = lagbc.bc(graph)", f"{SOUTH}\nscores = lagbc.bc(graph)"),
        ('(("the three highest ", highest), ("one after another ", chosen))', '[("one after another ", chosen)]'),
    ],
    "05_estimates": [
        ("[200, 400, 800, 1600]", "[200, 400]"),
        ("range(2)]).mean()", "range(1)]).mean()"),
        ("grid_2d_graph(8, 8)", "grid_2d_graph(6, 6)"),
        ("ladder(3, 40)", "ladder(2, 8)"),
        ("kadabra(G, 0.01, 0.9)", 'kadabra(G, 0.1, 0.9) if name == "ladder" else None'),  # each imports NetworKit
        ("rng=seed) for seed in range(10)", "rng=seed) for seed in range(2)"),
        ("for seed in range(400)", "for seed in range(40)"),
    ],
}
NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def path(request):
    return request.param


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def figures(notebook):
    return [output for output in outputs(notebook) if "image/png" in output.get("data", {})]


def test_there_are_notebooks():
    assert [path.stem[:2] for path in NOTEBOOKS] == [f"{i + 1:02}" for i in range(len(NOTEBOOKS))]
    assert len(NOTEBOOKS) == 5


def test_what_is_stored(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    assert not [
        output for output in outputs(notebook) if output.output_type == "error" or output.get("name") == "stderr"
    ]
    assert len(figures(notebook)) >= 3
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run once, from top to bottom"
    assert path.stat().st_size < 500_000


def code_that_finds(name):
    """Return the lines of a cell that find and read a stored file."""
    notebook = nbformat.read(NOTEBOOKS[1], as_version=4)
    (source,) = [cell.source for cell in notebook.cells if cell.cell_type == "code" and name in cell.source]
    return source[: source.index("stored = ")]


@pytest.mark.parametrize("folder", [".", "notebooks", "benchmarks/results"])
def test_stored_results_are_found_from_anywhere_in_the_checkout(monkeypatch, tmp_path, folder):
    elsewhere = SimpleNamespace(__file__=str(tmp_path / "lagbc" / "__init__.py"))
    names = {"Path": Path, "lagbc": elsewhere}
    monkeypatch.chdir(NOTEBOOKS[1].parents[1] / folder)
    exec(code_that_finds("seeds.jsonl"), names)
    assert names["results"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"seeds\.jsonl is missing: it is part of a checkout of lagbc"):
        exec(code_that_finds("seeds.jsonl"), names)


def shorten(notebook, fewer):
    """Let a notebook draw and time less; a figure is drawn once, and not before that to see how large its parts are."""
    once = '%config InlineBackend.print_figure_kwargs = {"bbox_inches": None}'
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    code[0].source = "%reset -f\n" + code[0].source.replace("%matplotlib inline", f"%matplotlib inline\n{once}")
    for many, few in fewer:
        (cell,) = [cell for cell in code if many in cell.source]
        cell.source = cell.source.replace(many, few)
    for cell in code:
        cell.source = cell.source.replace(', layout="constrained"', "")


@pytest.fixture(scope="module")
def kernel():
    """The one that all notebooks run in, as each imports the same for seconds; the first cell forgets all names."""
    manager = jupyter_client.KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(NOTEBOOKS[0].parent))
    yield manager
    manager.shutdown_kernel(now=True)


def test_it_runs(path, kernel):
    """All cells, with smaller numbers."""
    notebook = nbformat.read(path, as_version=4)
    stored = len(figures(notebook))
    shorten(notebook, FEWER[path.stem])
    nbclient.NotebookClient(notebook, km=kernel, timeout=600).execute()  # raises what a cell raises
    assert len(figures(notebook)) == stored
