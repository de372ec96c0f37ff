"""The columns of a group of roots on a GPU, and the demand made from them."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.kernel import THREADS
from lagbc.reduce import device
from lagbc.reduce.chains import Flows, Ways

Rows = NDArray[np.int64]

_TILE = 32  # as in the kernel `turn`


class Columns:
    """As `lagbc.reduce.chains.Columns`; row k of the arrays of a group belongs to its root k.

    `flows` is on the host, and brought up to date by `save`.
    """

    def __init__(self, ways: Ways, flows: Flows, size: int, more: int) -> None:
        device.STREAMS.begin_compile()
        self._rows, self._chains, self._inside = len(ways.row_sources), len(ways.lengths), int(ways.starts[-1])
        self._ends, self._in_hops = ways.ends, ways.in_hops
        self._ways = {name: _upload(array) for name, array in ways._asdict().items() if name != "in_hops"}
        self._host_flows, self._flows = flows, Flows(*(cp.asarray(array) for array in flows))
        self._passing = cp.zeros((2, self._inside))
        self._dist, self._sigma = cp.empty((2, size + more, self._rows))
        self._demand, self._through = cp.empty((size, self._rows)), cp.empty((size, self._chains))
        self._entered = cp.empty((size, 2, self._chains))

    def begin(self, group: Rows) -> None:
        """Begin a group, without any demand."""
        self._roots = len(group)
        self._group, self._slot = _upload(group), self._numbered(group, 0)
        for array in (self._demand, self._through, self._entered):
            array.fill(0)

    def write(self, first: int, paths: tuple[Any, Any], class_sizes: NDArray[np.float64] | None) -> float:
        """Write columns from number `first` on; return the largest path count."""
        dist, sigma = (cp.ascontiguousarray(found, np.float64) for found in paths)
        if class_sizes is not None:
            sigma = sigma * cp.asarray(class_sizes)
        for found, columns in ((dist, self._dist), (sigma, self._sigma)):
            _turn(found, columns[first : first + found.shape[1]])
        return float(sigma.max())

    def leave(self, rows: Rows, first: int, stop: NDArray[np.uint8]) -> None:
        """Sum the demand that leaves chains at the roots for far ends `rows`, whose columns begin at number `first`."""
        del stop  # kernels take milliseconds, and are not stopped
        column = self._numbered(rows, first)
        passed = {"out": self._flows.out, "passing": self._passing}
        # A block for each half of a chain.
        self._launch("sum_out", 2 * self._chains * THREADS, slot=self._slot, column=column, **passed)
        self._launch("to_junctions", self._rows, self._roots, column=column, demand=self._demand)
        arrays = {"through": self._through, "entered": self._entered}
        self._launch("to_chains", self._chains, self._roots, column=column, **arrays)

    def enter(self, stop: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Finish M; return the demand that passes each root as it leaves chains."""
        del stop
        returned, junction = cp.empty(self._roots), cp.empty(self._roots)
        _, around, within, onward = self._flows
        of_chains = {"around": around, "within": within, "onward": onward, "entered": self._entered}
        self._launch("within_chains", self._chains, slot=self._slot, **of_chains)
        arrays = {"through": self._through, "entered": self._entered, "demand": self._demand}
        self._launch("enter", self._rows, self._roots, returned=returned, **arrays)
        of_roots = {"passing": self._passing, "returned": returned, "junction": junction}
        self._launch("sum_junctions", self._roots, roots=self._roots, **of_roots)
        return junction.get()

    def weights(self, first: int, count: int) -> Any:
        """Return M of `count` roots as target weights (rows, count)."""
        weights = cp.empty((self._rows, count))
        _turn(self._demand[first : first + count], weights)
        return weights

    def save(self) -> None:
        """Copy the flows of the groups so far to the host."""
        for array, on_host in zip(self._flows, self._host_flows, strict=True):
            array.get(out=on_host)

    def _numbered(self, rows: Rows, first: int) -> Any:
        """Give some rows numbers from `first` on, and the others -1."""
        numbers = np.full(self._rows, -1, np.int32)
        numbers[rows] = first + np.arange(len(rows))
        return cp.asarray(numbers)

    def _launch(self, name: str, *items: int, **given: Any) -> None:
        """Launch a kernel: it takes its arguments from the chains and columns, and the given ones."""
        sizes = {"rows": self._rows, "chains": self._chains, "inside": self._inside, "in_hops": self._in_hops}
        known = {**sizes, **self._ways, "group": self._group, "dist": self._dist, "sigma": self._sigma}
        parameters = device.STREAMS.kernel(name).parameters
        taken = {key: value for key, value in known.items() if key in parameters}
        device.STREAMS.launch(name, *items, **taken, **given)


def _upload(array: Any) -> Any:
    """Copy an array to the device, integers as int32."""
    return cp.asarray(array.astype(np.int32) if array.dtype.kind == "i" else array)


def _turn(matrix: Any, turned: Any) -> None:
    """Write the transpose of a matrix."""
    rows, columns = matrix.shape
    across, down = -(-rows // _TILE), -(-columns // _TILE)  # blocks
    of = {"rows": rows, "columns": columns, "matrix": matrix, "turned": turned}
    device.STREAMS.launch("turn", across * THREADS, down, **of)
