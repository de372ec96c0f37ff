"""Operations on arrays of the host and of a device: the same names and parameters, with or without a device."""

import ast
from pathlib import Path

import numpy as np

import lagbc
from lagbc.graph.csr import ops_of
from lagbc.graph.host import ops

FOLDER = Path(lagbc.__file__).parent / "graph"


def parameters_of(place):
    """Names of the operations of a place, each with the names of its parameters; nothing is imported."""
    tree = ast.parse((FOLDER / place / "ops.py").read_text())
    found = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            module = ast.parse((FOLDER / place / f"{node.module.rpartition('.')[2]}.py").read_text())
            defined = {one.name: one.args for one in module.body if isinstance(one, ast.FunctionDef)}
            for alias in node.names:
                of = defined[alias.name]
                found[alias.name] = [one.arg for one in of.args], len(of.defaults), [one.arg for one in of.kwonlyargs]
    return found


def test_host_and_device_have_the_same_operations():
    host = parameters_of("host")
    assert host == parameters_of("device")
    assert sorted(host) == sorted(ops.__all__)


def test_operations_of_arrays_on_the_host():
    assert ops_of(np.zeros(1)) is ops
