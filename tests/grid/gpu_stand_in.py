"""A stand-in for CuPy and for the kernels of a rank's rows on a GPU: NumPy, so that the host's side runs anywhere.

It is imported before lagbc's modules of GPUs, in a process of its own.
"""

import sys
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np

BYTES, COLUMNS = 32, 256


class Array(np.ndarray):
    """An array of the stand-in's device."""

    def get(self):
        return np.array(self)


def on_device(function):
    return lambda *given, **named: np.asarray(function(*given, **named)).view(Array)


class Stream(nullcontext):
    """Work that is done at once."""

    ptr = 0

    def __init__(self, non_blocking=False):
        super().__init__(self)

    def synchronize(self):
        pass


NAMES = "empty", "zeros", "full", "concatenate", "flatnonzero", "cumsum", "unpackbits", "ascontiguousarray"
cupy = SimpleNamespace(
    **{name: on_device(getattr(np, name)) for name in NAMES},
    asarray=on_device(lambda array, dtype=None: np.array(array, dtype)),
    ndarray=Array,
    cuda=SimpleNamespace(Device=lambda number: nullcontext(), Stream=Stream, get_current_stream=Stream),
)
sys.modules["cupy"] = cupy
sys.modules["cupy.cuda"] = cupy.cuda

from lagbc.methods.gpu.batched import block  # noqa: E402


def flags_of(masks):
    return np.unpackbits(np.ascontiguousarray(masks), axis=-1, bitorder="little").astype(bool)


def bits_of(flags):
    return np.packbits(flags, axis=-1, bitorder="little")


def has_bit(bitmap, row):
    return bitmap[row // 32] >> np.uint32(row % 32) & 1


def set_bit(bitmap, row):
    bitmap[row // 32] |= np.uint32(1 << row % 32)


def moved(row, given):
    return row // given["from"] * given["to"] + row % given["from"] + given["shift"]


def values_of(given):
    """Of each row of a message: its number, its columns, and the places of its values."""
    end = 0
    for j in range(given["count"]):
        columns = np.flatnonzero(flags_of(given["masks"][j]))
        if given.get("ends") is not None:
            assert given["ends"][j] == end + len(columns)
        yield j, int(given["rows"][j]), columns, slice(end, end + len(columns))
        end += len(columns)


def launch_per_level_forward(given):
    indices, indptr = np.asarray(given["in_indices"]), given["in_indptr"].tolist()
    is_live = flags_of(np.asarray(given["live"]).view(np.uint8))[indices]
    for v in range(given["n"]):
        if given["touched"] is not None and not has_bit(given["touched"], v):
            continue
        of_row = slice(indptr[v], indptr[v + 1])
        entering = indices[of_row][is_live[of_row]]
        if not len(entering):
            given["next"][v] = 0
            continue
        met = flags_of(given["frontier"][entering]) & ~flags_of(given["visited"][v])
        found = met.any(axis=0)
        if given["counts"] is not None:
            total = np.where(met, given["counts"][entering], 0).sum(axis=0)
        given["next"][v] = bits_of(found)
        if not found.any():
            continue
        given["visited"][v] |= bits_of(found)
        set_bit(given["next_live"], v)
        if given["counts"] is not None:
            given["totals"][v][found] = total[found]
            given["overflowed"] |= bits_of(found & (total > given["limit"]))


def launch_per_level_touch(given):
    for u in range(given["n"]):
        if has_bit(given["live"], u):
            for v in given["indices"][given["indptr"][u] : given["indptr"][u + 1]]:
                set_bit(given["touched"], v)


def count_bits(given):
    given["sizes"][:] = flags_of(given["masks"]).sum(axis=1)


def pack_values(given):
    for _, row, columns, place in values_of(given):
        given["packed"][place] = given["values"][moved(row, given)][columns]


def unpack_values(given):
    for _, row, columns, place in values_of(given):
        given["values"][moved(row, given), columns] = given["packed"][place]


def mark_rows(given):
    for j, row, _, _ in values_of(given):
        set_bit(given["bitmap"], moved(row, given))
        if given["bits"] is not None:
            given["bits"][moved(row, given)] = given["masks"][j]


def count_columns(given):
    for _, row, columns, _ in values_of(given):
        given["counts"][row // given["from"] * COLUMNS + columns] += 1


def add_values(given):
    for j, row, columns, place in values_of(given):
        row = moved(row, given)
        before = flags_of(given["met"][row])
        for totals, packed in (("totals", "packed"), ("path_totals", "packed_paths")):
            if given[totals] is not None:
                own = given[totals][row]
                own[columns] = np.where(before[columns], own[columns], 0) + given[packed][place]
        given["met"][row] |= given["masks"][j]
        set_bit(given["met_live"], row)


def close_rows(given):
    for j, row, columns, _ in values_of(given):
        total = given["totals"][row]
        given["values"][moved(row, given), columns] = total[columns]
        marked = given["overflowed"][row // given["from"]]
        marked |= bits_of(flags_of(given["masks"][j]) & (total > given["limit"]))


def finish_rows(given):
    n, length = given["n"], given["length"]
    for _, row, columns, _ in values_of(given):
        group, place = divmod(row, length)
        own, of_slice = given["own"] + place, group * given["slice"] + place - given["first"]
        met = flags_of(given["met"][of_slice])[columns]
        weights = given["root_weights"][group * COLUMNS + columns]
        sigma, omega = given["values"][group * n + own][columns], given["omega"][own]
        if given["paths"] is not None:
            onward = np.where(met, given["path_totals"][of_slice][columns], 0)
            given["stress"][group, own] += (weights * sigma * onward).sum()
            given["paths"][group * n + own, columns] = omega + onward
        onward = np.where(met, given["totals"][of_slice][columns], 0)
        given["scores"][group, own] += (weights * sigma * onward).sum() + given["endpoints"] * len(columns)
        if given["squares"] is not None:
            given["squares"][group, own] += (weights * (sigma * onward) ** 2).sum()
        given["values"][group * n + own, columns] = omega / sigma + onward


class Kernels:
    """Kernels by their names, whose parameters are those of the source."""

    def __init__(self, real):
        self._real = real

    def kernel(self, name, variant=None):
        from lagbc.cuda.kernel import declared

        parameters = {parameter for parameter, *_ in declared(self._real.source, name)}

        def launch(grid, threads, **given):
            assert given.keys() == parameters, given.keys() ^ parameters
            globals()[name](given)

        return launch

    def own_columns(self, variant):
        return self._real.own_columns(variant)


block.FORWARD, block.BLOCK = Kernels(block.FORWARD), Kernels(block.BLOCK)
