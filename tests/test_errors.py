"""Errors have one base; warnings point at the line that called lagbc, however deep inside the call their reason is."""

import ast
import builtins
import inspect
import pickle
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from click.testing import CliRunner

import lagbc
from lagbc import errors
from lagbc.interfaces.cli import main
from lagbc.methods.cpu import batched

pytestmark = pytest.mark.filterwarnings("ignore:.*conversions to backend graphs are saved to cache")

G = nx.cycle_graph(200)
A = nx.to_scipy_sparse_array(G)

CALLS = {
    "bc": lambda: lagbc.bc(A, threads=2),
    "edge_bc": lambda: lagbc.edge_bc(A, threads=2),
    "centralities": lambda: lagbc.centralities(A, ("bc", "closeness"), threads=2),
    "networkx": lambda: nx.betweenness_centrality(G, backend="lagbc", threads=2),
    "networkx edges": lambda: nx.edge_betweenness_centrality(G, backend="lagbc", threads=2),
    "compare": lambda: lagbc.compare(A, np.arange(200), methods="batched", device="cpu", threads=2),
}


@pytest.fixture
def scarce(monkeypatch):
    """Memory for one worker of method "batched", and no more."""
    prepare = batched.prepare

    def prepare_one(graph, plan):
        if plan.threads > 1:
            raise MemoryError
        return prepare(graph, plan)

    monkeypatch.setattr(batched, "prepare", prepare_one)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_warning_points_at_the_caller(scarce, call):
    with pytest.warns(lagbc.MemoryWarning, match="goes on with") as caught:
        call()
    line = inspect.getsourcelines(call)[1]
    told = [warning for warning in caught if warning.category is lagbc.MemoryWarning]
    assert {(warning.filename, warning.lineno) for warning in told} == {(__file__, line)}


def test_a_warning_is_shown_once_a_line_and_may_be_an_error(scarce, recwarn):
    warnings.simplefilter("default")
    for _ in range(2):
        lagbc.bc(A, threads=2)
    assert len(recwarn) == 1
    warnings.simplefilter("error")
    with pytest.raises(lagbc.MemoryWarning):
        lagbc.bc(A, threads=2)


# Raised beside the errors of lagbc, each in the modules of its line: what others ask for by contract, and what a
# caller within lagbc catches.
FOREIGN = {
    "NotImplementedError": "methods interfaces.networkx run.sweeps interfaces.cli.task",
    "AttributeError": "__init__",
    "KeyboardInterrupt": "run.ranks run.tasks native.pool interfaces.process",
    "ImportError": "native",
    "IndexError": "graph.host run.sweeps",
    "ValueError": "graph.host",
    "LookupError": "cuda.kernel",
    "AssertionError": "io.formats.edge_lists",
    "Interrupted": "methods run",
    "Ended": "grid.sweep",
    "NotContractible": "reduce run.bicomponents",
    "NotReducible": "reduce.blocks",
    "TooSlow": "comparison.measure",
    "BadParameter": "interfaces.cli",
    "UsageError": "interfaces.cli",
    "NodeNotFound": "interfaces.networkx",
    "NetworkXError": "interfaces.networkx",
}
KINDS = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, lagbc.Error)]


def raised(tree):
    """Names of the classes that a module raises, and of the built-in errors that it makes."""
    for node in ast.walk(tree):
        made = node.exc if isinstance(node, ast.Raise) else node
        called = made.func if isinstance(made, ast.Call) else made if isinstance(node, ast.Raise) else None
        name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        kind = getattr(builtins, name, None)
        is_error = inspect.isclass(kind) and issubclass(kind, BaseException)
        if is_error or (isinstance(node, ast.Raise) and name.lstrip("_")[:1].isupper()):
            yield name


def test_all_errors_of_the_package_have_one_base():
    package = Path(lagbc.__file__).parent
    ours, foreign = {kind.__name__ for kind in KINDS}, set()
    for file in package.rglob("*.py"):
        module = ".".join(file.relative_to(package).with_suffix("").parts)
        for name in raised(ast.parse(file.read_text(encoding="utf-8"))):
            where = [place for place in FOREIGN.get(name, "").split() if f"{module}.".startswith(f"{place}.")]
            assert name in ours or where, f"{module} raises {name}"
            foreign.update((name, place) for place in where)
    assert foreign == {(name, place) for name, places in FOREIGN.items() for place in places.split()}


def test_what_is_raised_is_found():
    source = (
        "def f():\n    raise ValueError\n    error = TypeError('a')\n    raise error\n    raise nx.NodeNotFound('b')\n"
    )
    assert sorted(raised(ast.parse(source))) == ["NodeNotFound", "TypeError", "ValueError"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_goes_to_another_process(kind):
    error = kind("where, and what to do")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.args, str(copy)) == (kind, error.args, "where, and what to do")
    assert type(kind.__new__(kind)) is kind  # as some libraries make them, without their __init__


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not lagbc.Error])
def test_an_error_is_a_built_in_one_too(kind):
    assert any(base.__module__ == "builtins" and base is not Exception for base in kind.__mro__[1:-3])
    assert kind.__doc__ != lagbc.Error.__doc__


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: lagbc.bc(A, sources=[200]), ValueError),
        (lambda: lagbc.bc(A, sources="all"), TypeError),
        (lambda: lagbc.bc(A, memory=10), MemoryError),
    ],
)
def test_one_clause_catches_what_calls_raise(call, kind):
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, lagbc.Error)


# Messages

LONG = "a" * 10**6
MANY = list(range(10**5))
NAMED = nx.relabel_nodes(nx.path_graph(3), {0: LONG})
OF_ANY_LENGTH = {
    "a name that no vertex has": lambda: lagbc.bc(nx.path_graph(["a", "b"]), sources=[LONG]),
    "names of vertices": lambda: lagbc.bc(NAMED, sources=["b"]),
    "one string": lambda: lagbc.bc(NAMED, sources=LONG),
    "entries": lambda: lagbc.bc(A, cutoff=[*MANY, "far"]),
    "negative entries": lambda: lagbc.bc(A, cutoff=[*MANY, -1]),
    "generator": lambda: lagbc.bc(A, k=2, rng=LONG),
    "count": lambda: lagbc.bc(A, k=MANY),
    "device": lambda: lagbc.bc(A, device=[*MANY, "0"]),
    "method": lambda: lagbc.bc(A, method=LONG),
    "argument": lambda: lagbc.bc(A, **{LONG: 1}),
    "memory": lambda: lagbc.bc(A, memory=LONG),
    "checkpoint": lambda: lagbc.bc(A, checkpoint=LONG),
    "matrix": lambda: lagbc.bc(LONG),
    "flag": lambda: lagbc.bc(A, directed=MANY),
    "states": lambda: lagbc.percolation(nx.path_graph(2), {0: 0.5, 1: 0.5, LONG: 0.5}),
    "group": lambda: lagbc.group_bc(A, [LONG]),
    "centralities": lambda: lagbc.centralities(A, [LONG]),
    "file": lambda: lagbc.read_graph(MANY),
    "example": lambda: lagbc.read_graph(f"example:{LONG}"),
    "group of NetworkX": lambda: nx.group_betweenness_centrality(G, [0, *(-1 - v for v in MANY)], backend="lagbc"),
}


@pytest.mark.parametrize("call", OF_ANY_LENGTH.values(), ids=OF_ANY_LENGTH)
def test_a_message_is_short_whatever_it_names(call):
    with pytest.raises((lagbc.Error, nx.NodeNotFound)) as caught:
        call()
    message = str(caught.value)
    assert len(message) == 300
    assert " ... " in message


def test_the_middle_of_a_message_is_left_out():
    message = str(errors.InvalidValueError(f"sources holds {LONG!r}, which no vertex is called; name another"))
    assert message.startswith("sources holds 'aaa")
    assert message.endswith("aaa', which no vertex is called; name another")
    short = "a" * 300
    assert str(errors.InvalidValueError(short)) == short
    assert errors.ExecutorError(short, 3).args == (short, 3)


def test_a_warning_is_short():
    with pytest.warns(UserWarning, match=r"^a{150} \.\.\. a{145}$") as caught:
        errors.warn(LONG, UserWarning)
    assert len(str(caught[0].message)) == 300


@pytest.mark.parametrize("option", ["--sources", "--cutoff", "--batch", "--device", "--part", "--ends", "--method"])
def test_a_line_of_the_command_is_short(option):
    done = CliRunner().invoke(main, ["bc", "example:karate", option, LONG])
    assert done.exit_code in (1, 2)
    assert len(done.stderr.splitlines()[-1]) < 400
    assert " ... " in done.stderr
