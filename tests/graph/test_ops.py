"""Operations on arrays of the host and of a device: the same names and parameters, with or without a device."""

import ast
from pathlib import Path

import numpy as np

import lagbc
from lagbc.graph.csr import ops_of
from lagbc.graph.host import ops

FOLDER = Path(lagbc.__file__).parent / "graph"


def functions_of(file):
    """Functions that a file defines, by name."""
    return {one.name: one.args for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)}


def parameters_of(place):
    """Names of the operations of a place, each with the names of its parameters; nothing is imported."""
    tree, kernels = ast.parse((FOLDER / place / "ops.py").read_text()), functions_of(FOLDER.parent / "native/core.pyi")
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != "lagbc.native":
            defined = functions_of(FOLDER / place / f"{node.module.rpartition('.')[2]}.py")
            found |= {alias.name: defined[alias.name] for alias in node.names}
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            found[node.targets[0].id] = kernels[node.value.attr]
    return {
        name: ([one.arg for one in (*of.posonlyargs, *of.args)], len(of.defaults), [one.arg for one in of.kwonlyargs])
        for name, of in found.items()
    }


def test_host_and_device_have_the_same_operations():
    host = parameters_of("host")
    assert host == parameters_of("device")
    assert sorted(host) == sorted(ops.__all__)


def test_operations_of_arrays_on_the_host():
    assert ops_of(np.zeros(1)) is ops
