"""Imports go only downward, importing lagbc loads nothing heavy, and the package has all its files."""

import ast
import functools
import re
import subprocess
import sys
from dataclasses import fields
from importlib import resources
from pathlib import Path

import pytest

import lagbc
from lagbc.methods.sums import Sums

PACKAGE = Path(lagbc.__file__).parent

# The rooms, from the lowest on: folders, and modules that stand in none. A module imports from its own room or from
# those below it; functions and strings that name a module count as imports, too.
FLOORS = (
    ("errors", "extensions", "files", "types", "reference", "tuning", "calls", "native", "cuda", "limits"),
    ("io", "graph"),
    ("methods",),
    ("options", "arguments", "demand", "request"),
    ("reduce",),
    ("planning",),
    ("run",),
    ("scores", "grid"),
    ("call",),
    ("centrality",),
    ("api",),
    ("comparison", "estimates", "plots"),
    ("__init__",),
    ("interfaces", "__main__"),
)
# The same of the headers of compiled kernels.
KERNELS = PACKAGE / "native" / "kernels"
FLOORS_OF_HEADERS = (
    (".",),
    ("extended", "graph", "io", "methods", "reduce", "traversal"),
    ("batched", "paths", "within"),
)


@functools.cache
def sources():
    return {
        ".".join(file.relative_to(PACKAGE).with_suffix("").parts): file.read_text(encoding="utf-8")
        for file in PACKAGE.rglob("*.py")
    }


@functools.cache
def modules():
    return {module: ast.parse(text) for module, text in sources().items()}


def floor(module):
    """Number of the floor that a module, or the folder that it is in, stands on."""
    for number, names in enumerate(FLOORS):
        if module in names:
            return number
    folder, _, _ = module.rpartition(".")
    assert folder, f"{module} stands on no floor"
    return floor(folder)


def imports(tree, *, at_run_time):
    """Modules of lagbc that a module imports; also those only imported for type checking, unless `at_run_time`."""
    found, left_out = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and at_run_time:
            left_out.update(ast.walk(node))
        elif node in left_out:
            continue
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("lagbc.") for alias in node.names if alias.name.startswith("lagbc.")}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            if node.module == "lagbc":
                found |= {alias.name if (PACKAGE / f"{alias.name}.py").exists() else "__init__" for alias in node.names}
            elif node.module and node.module.startswith("lagbc."):
                package = PACKAGE.joinpath(*node.module.split(".")[1:])
                inside = node.module.removeprefix("lagbc.")
                found |= {f"{inside}.{alias.name}" if package.is_dir() else inside for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("lagbc."):
            named = node.value.removeprefix("lagbc.")
            found |= {named} & sources().keys()
    return found


def test_every_module_has_a_floor():
    assert all(floor(module) >= 0 for module in sources())


def test_every_folder_says_what_lives_there():
    folders = [module for module in sources() if module.endswith(".__init__")]
    assert folders
    for folder in folders:
        assert ast.get_docstring(modules()[folder]), folder


@pytest.mark.parametrize("module", sorted(sources()))
def test_imports_go_downward(module):
    for imported in imports(modules()[module], at_run_time=False):
        assert floor(imported) <= floor(module), f"{module} imports {imported} from a floor above it"


def test_imports_have_no_circle():
    """Neither of modules nor of folders, within functions and for type checkers included."""
    below = {module: imports(tree, at_run_time=False) & sources().keys() for module, tree in modules().items()}
    folders = {folder_of(module): set() for module in below}
    for module, needed in below.items():
        folders[folder_of(module)] |= {folder_of(other) for other in needed} - {folder_of(module)}
    require_no_circle(below)
    require_no_circle(folders)


def includes(header):
    """Paths of the headers of kernels that one includes, from their folder."""
    found = re.findall(r'#include "([^"@]+)"', (KERNELS / header).read_text(encoding="utf-8"))
    paths = ((KERNELS / header).parent.joinpath(one).resolve() for one in found)
    return {path.relative_to(KERNELS).as_posix() for path in paths if path.is_relative_to(KERNELS)}


def test_headers_include_downward():
    headers = {file.relative_to(KERNELS).as_posix() for file in KERNELS.rglob("*.h")}
    below = {header: includes(header) & headers for header in headers}
    assert sum(map(len, below.values())) > len(headers) / 2
    for header, needed in below.items():
        for other in needed:
            mine, its = (height_of(one) for one in (header, other))
            assert its <= mine, f"{header} includes {other} from a floor above it"
            assert its < mine or folder_of_header(header) == folder_of_header(other), f"{header} includes {other}"
    require_no_circle(below)


def folder_of_header(header):
    return header.rpartition("/")[0] or "."


def height_of(header):
    return next(number for number, names in enumerate(FLOORS_OF_HEADERS) if folder_of_header(header) in names)


def folder_of(module):
    return module.partition(".")[0]


def require_no_circle(below):
    while below:
        free = {module for module, needed in below.items() if not needed & below.keys() - {module}}
        assert free, f"a circle among {sorted(below)}"
        below = {module: needed for module, needed in below.items() if module not in free}


def test_nothing_imports_the_public_names_from_within():
    lower = {
        module: imports(tree, at_run_time=True)
        for module, tree in modules().items()
        if floor(module) < floor("__init__")
    }
    assert not [module for module, imported in lower.items() if "__init__" in imported]


def last_name(node):
    return getattr(node, "attr", getattr(node, "id", None))


def test_tuned_constants_are_read_where_they_are_used():
    """Through their module, within a function: then a benchmark sets another value by setting the attribute."""
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("lagbc."):
                assert not node.module.endswith(".tuning"), f"{module} imports constants by name"
        defined = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        late = {id(inner) for function in defined for line in function.body for inner in ast.walk(line)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and last_name(node.value) == "tuning":
                assert id(node) in late, f"{module} reads {ast.unparse(node)} when it is imported"


def test_warnings_point_at_the_caller():
    """`lagbc.errors.warn` finds the caller at any depth; a stacklevel counts calls, which change."""
    warning = [name for name, text in sources().items() if "warnings.warn(" in text or "stacklevel" in text]
    assert not warning


def loaded_by(code):
    script = f"import sys\n{code}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    return {*subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()}


def test_graphs_that_are_dealt_are_known_in_one_folder():
    """Besides it there are the doors of a call and of a command."""
    knowing = {
        name for name, tree in modules().items() if any("grid." in one for one in imports(tree, at_run_time=False))
    }
    assert {name for name in knowing if not name.startswith("grid.")} == {"centrality.compute", "interfaces.cli.inputs"}


def dataclasses_of(tree):
    """Each dataclass, with the options of its decorator."""
    for of in ast.walk(tree):
        for decorator in of.decorator_list if isinstance(of, ast.ClassDef) else ():
            name, options = getattr(decorator, "func", decorator), getattr(decorator, "keywords", [])
            if last_name(name) == "dataclass":
                yield of, {option.arg for option in options if option.value.value}


# Dataclasses that are frozen though users do not hold them, or have no slots though they have no cached property.
OTHERS = {
    "OnGrid": "a row of methods, which is frozen and has cached properties",
    "Graph": "which users hold, by `lagbc.as_graph`",
}


def test_records_have_two_styles():
    """Values are named tuples, and the others dataclasses with slots, unless they have cached properties."""
    found = [(module, *one) for module, tree in modules().items() for one in dataclasses_of(tree)]
    assert len(found) > 40
    for module, of, options in found:
        caches = any("cached_property" in map(last_name, getattr(one, "decorator_list", ())) for one in of.body)
        assert ("slots" in options) != caches or of.name in OTHERS, f"{module}.{of.name}"
        assert "frozen" not in options or of.name in {*lagbc.__all__, *OTHERS}, f"{module}.{of.name}"


def writes_into_others(tree):
    """Places where a dict of attributes is written that is not of `self`, or fields are set past the class."""
    for node in ast.walk(tree):
        written = None
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            written = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if ast.unparse(node.func) in ("object.__setattr__", "object.__new__"):
                yield ast.unparse(node)
            elif node.func.attr in ("update", "setdefault", "pop", "clear", "__setitem__"):
                written = node.func.value
        text = "" if written is None else ast.unparse(written)
        if re.fullmatch(r"vars\(.+\)|.*__dict__", text) and text not in ("vars(self)", "self.__dict__"):
            yield text


def test_an_object_is_written_by_its_class_alone():
    assert list(writes_into_others(ast.parse("vars(a)['b'] = 1\nvars(a.b).update(c=1)\na.__dict__['b'] = 1")))
    assert not {module: found for module, tree in modules().items() if (found := list(writes_into_others(tree)))}


def test_import_loads_nothing_heavy():
    heavy = {"graphblas", "cupy", "scipy", "numpy", "matplotlib", "networkx", "tqdm", "psutil", "click"}
    assert not heavy & loaded_by("import lagbc; dir(lagbc)")
    assert not heavy - {"click"} & loaded_by("import lagbc.interfaces.cli")
    assert not heavy & loaded_by("import lagbc.options; lagbc.options.check_options(64, {'threads': 2})")
    assert not heavy & loaded_by("from lagbc.interfaces.nx_metadata import get_info; get_info()")


@pytest.mark.parametrize(
    "code",
    [
        "from lagbc.interfaces.cli import main\nmain(['bc', 'example:karate'], standalone_mode=False)",
        "from lagbc.interfaces.cli import main\nmain(['bc', 'example:lesmis', '--weighted'], standalone_mode=False)",
        "import lagbc, numpy as np\nlagbc.centralities(np.eye(9, k=1))",
        "import networkx as nx\nnx.betweenness_centrality(nx.path_graph(9), backend='lagbc')",
    ],
)
def test_a_first_call_loads_only_what_it_uses(code):
    """Who passes a matrix of SciPy has loaded it; others do without, and a small run without threads."""
    assert not {"scipy", "matplotlib", "tqdm", "psutil", "concurrent", "multiprocessing"} & loaded_by(
        f"{code}\nassert 'numpy.ma' not in sys.modules"
    )


def test_libraries_of_graphs_are_not_imported():
    libraries = {"networkx", "igraph", "graphblas", "rustworkx", "networkit", "pandas", "polars"}
    loaded = loaded_by("import numpy as np, lagbc\nlagbc.bc(np.eye(3, k=1))")
    assert not {"scipy", *libraries} & loaded


def test_lengths_are_grouped_without_scipy():
    made = "import lagbc, numpy as np\nA = np.random.default_rng(0).random((1200, 1200)) < 0.01"
    assert "scipy" not in loaded_by(f"{made}\nlagbc.bc(A, weighted=True, method='batched', device='cpu')")


def test_graph_and_table_load_no_method():
    loaded = loaded_by("import lagbc; lagbc.METHODS, lagbc.bc, lagbc.estimate_memory")
    assert not {"graphblas", "cupy", "matplotlib", "networkx", "tqdm"} & loaded


def test_rows_of_the_table():
    names = [(row.name, row.device, row.weighted) for row in lagbc.METHODS]
    assert len(set(names)) == len(names)
    for row in lagbc.METHODS:
        assert PACKAGE.parent.joinpath(*row.module.split(".")).with_suffix(".py").exists(), row.module
        assert set(row.sums) <= {field.name for field in fields(Sums)}


def test_data_files_are_found():
    data = resources.files("lagbc") / "data"
    names = {file.name for file in data.iterdir()}
    assert {"README.md", "karate.mtx.gz", "lesmis.mtx.gz", "power.mtx.gz"} <= names
    described = (data / "README.md").read_text(encoding="utf-8")
    for name in names - {"README.md"}:
        assert f"`{name.removesuffix('.mtx.gz')}`" in described
    assert sum(len(file.read_bytes()) for file in data.iterdir()) < 3_000_000
