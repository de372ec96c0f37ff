"""Operations on arrays of the host and of a device: the same names and parameters, with or without a device."""

import ast
import re
from pathlib import Path

import numpy as np

import lagbc
from lagbc.graph import host
from lagbc.graph.csr import ops_of

FOLDER = Path(lagbc.__file__).parent / "graph"


def functions_of(file):
    """Functions that a file defines, by name."""
    return {one.name: one.args for one in ast.parse(file.read_text()).body if isinstance(one, ast.FunctionDef)}


def parameters_of(functions):
    return {
        name: ([one.arg for one in (*of.posonlyargs, *of.args)], len(of.defaults), [one.arg for one in of.kwonlyargs])
        for name, of in functions.items()
    }


def of_host():
    """Names of the host's functions, and of kernels that are operations, each with the names of its parameters."""
    found, kernels = functions_of(FOLDER / "host.py"), functions_of(FOLDER.parent / "native/core.pyi")
    for node in ast.parse((FOLDER / "host.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("core."):
            found[node.targets[0].id] = kernels[node.value.attr]
    return parameters_of(found)


def of_device():
    """The same of a device; nothing is imported."""
    return parameters_of(functions_of(FOLDER / "device" / "ops.py"))


def test_host_and_device_have_the_same_operations():
    device, host = of_device(), of_host()
    both = {name for name in device.keys() & host.keys() if not name.startswith("_")} - {"canonical"}  # of own entries
    assert {name: host[name] for name in both} == {name: device[name] for name in both}


def test_all_operations_that_are_called_are_there():
    texts = [file.read_text() for file in FOLDER.parent.rglob("*.py")]
    called = {
        name
        for text in texts
        if "ops_of" in text
        for name in re.findall(r"(?:\bops_of\([\w.]+\)|(?<![.\w])ops)\.(\w+)", text)
    }
    assert len(called) > 10
    assert called <= of_device().keys()


def test_operations_of_arrays_on_the_host():
    assert ops_of(np.zeros(1)) is host
