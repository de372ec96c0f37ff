"""Operations on rows of 64 columns, against NumPy, at the level that this process runs."""

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lagbc.native import level

SOURCE = Path(__file__).with_name("rows.cpp")
KERNELS = SOURCE.parents[2] / "lagbc" / "native" / "kernels"
COMPILER = shutil.which("g++") or shutil.which("clang++")
OPTIONS = ("-std=c++20", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-psabi")

WORD, NUMBER = ctypes.c_uint64, ctypes.c_double
INFINITE = np.uint16(2**16 - 1)
MASKS = [0xF0F0_1234_0000_FFFF, 0, 2**64 - 1, 1, 2**63]


def flags_of(mask):
    return (mask >> np.arange(64, dtype=object)) % 2 == 1


def word(flags):
    return sum(1 << k for k in range(64) if flags[k])


def tree_sum(row):
    """Add the two halves, then the halves of the result."""
    while len(row) > 1:
        row = row[: len(row) // 2] + row[len(row) // 2 :]
    return row[0]


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """Call a function of rows.cpp, compiled as kernels are: its result, its name, and arrays and numbers."""
    if COMPILER is None or sys.platform == "win32":
        pytest.skip("needs a C++ compiler")
    built = tmp_path_factory.mktemp("rows") / "rows.so"
    march = [] if level() == "generic" else [f"-march=x86-64-{level()}"]
    command = [COMPILER, *OPTIONS, *march, "-shared", "-fPIC", f"-I{KERNELS}", "-o", str(built), str(SOURCE)]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(built))

    def passed(argument):
        if not isinstance(argument, np.ndarray):
            return (NUMBER if isinstance(argument, float) else WORD)(argument)
        assert argument.flags.c_contiguous
        return ctypes.c_void_p(argument.ctypes.data)

    def call(result, name, *given):
        function = library[name]
        function.restype = result
        return function(*map(passed, given))

    return call


def rows_of(seed, count=3):
    return np.random.default_rng(seed).random((count, 64)) + 1


@pytest.mark.parametrize("mask", MASKS)
def test_put_row(call, mask):
    values, total = rows_of(5), rows_of(6, 1) - 1
    before, bits = values.copy(), flags_of(mask)
    assert call(WORD, "put_row", values[1], mask, total, 0.5) == word(bits & (total[0] > 0.5))
    np.testing.assert_array_equal(values[1], np.where(bits, total[0], before[1]))
    np.testing.assert_array_equal(values[[0, 2]], before[[0, 2]])


@pytest.mark.parametrize("mask", MASKS)
def test_rows_are_finished(call, mask):
    """To the bit: no product and sum are made one, and sums are a tree."""
    values, paths, total, times = rows_of(1), rows_of(2), rows_of(3, 1), rows_of(4, 1)
    sigma, bits = values[2].copy(), flags_of(mask)
    expected = tree_sum(np.where(bits, sigma * total[0] * times[0], 0))
    through = paths[2].copy()
    assert call(NUMBER, "finish_paths_row", paths[2], values[2], mask, total, 0.3, times) == expected
    np.testing.assert_array_equal(paths[2], np.where(bits, 0.3 + total[0], through))
    assert call(NUMBER, "finish_row", values[2], mask, total, 0.3, times) == expected
    np.testing.assert_array_equal(values[2], np.where(bits, 0.3 / sigma + total[0], sigma))


@pytest.mark.parametrize("mask", MASKS)
def test_sums_of_rows(call, mask):
    values, times, bits = rows_of(7), rows_of(8, 1), flags_of(mask)
    values[1, ~bits] = 0  # whose inverse is not taken
    assert call(NUMBER, "sum_row", values[1], mask) == tree_sum(np.where(bits, values[1], 0))
    with np.errstate(divide="ignore"):
        assert call(NUMBER, "sum_inverse_row", values[1], mask) == tree_sum(np.where(bits, 1 / values[1], 0))
    assert call(NUMBER, "dot_rows", values[0], values[2], mask, times) == tree_sum(
        np.where(bits, values[0] * values[2] * times[0], 0)
    )
    largest = np.full((1, 64), 1.5)
    call(None, "raise_row", largest, values[0], mask)
    np.testing.assert_array_equal(largest[0], np.maximum(np.where(bits, values[0], 0), 1.5))


def test_relax_row(call):
    values = np.random.default_rng(1).random((3, 64))
    values[0, :8], values[2, 4:12] = np.inf, np.inf
    before = values.copy()
    nearer = call(WORD, "relax_row", values[0], values[2], 0.25)
    np.testing.assert_array_equal(values[2], np.minimum(before[0] + 0.25, before[2]))
    np.testing.assert_array_equal(values[:2], before[:2])
    assert nearer == word(before[0] + 0.25 < before[2])
    assert 0 < nearer < 2**64 - 1
    assert call(WORD, "relax_row", values[0], values[2], 0.25) == 0


def test_minimum_and_finite_columns_of_a_row(call):
    values = rows_of(2, 2)
    values[1, 3:50:4] = np.inf
    for mask in MASKS:
        assert call(NUMBER, "minimum_of_row", values[1], mask) == values[1, flags_of(mask)].min(initial=np.inf)
    for k in range(64):
        assert call(NUMBER, "minimum_of_row", values[1], 1 << k) == values[1, k]
    assert call(WORD, "finite_in_row", values[1]) == word(np.isfinite(values[1]))
    values[1, [5, 60]] = 0
    assert call(WORD, "positive_in_row", values[1]) == word(values[1] > 0)


def test_rows_of_short_distances(call):
    """What would be more than 65,534 is infinite, and nothing leads on from there."""
    values = np.random.default_rng(4).integers(1, 60, (3, 64)).astype(np.uint16)
    values[0, :8], values[2, 4:13], values[0, 12], values[1, 3:50:4] = INFINITE, INFINITE, INFINITE - 5, INFINITE
    values[0, 20], values[2, 20] = 40_000, 50_000  # beyond what is signed
    through = np.minimum(values[0].astype(int) + 7, int(INFINITE))
    before = values.copy()
    nearer = call(WORD, "relax_short_row", values[0], values[2], 7.0)
    np.testing.assert_array_equal(values[2], np.minimum(through, before[2]))
    np.testing.assert_array_equal(values[:2], before[:2])
    assert nearer == word(through < before[2])
    assert nearer >> 20 & 1
    assert 0 < nearer < 2**64 - 1
    for mask in MASKS:
        smallest = values[1, flags_of(mask)].min(initial=INFINITE)
        assert call(NUMBER, "minimum_of_short_row", values[1], mask) == (np.inf if smallest == INFINITE else smallest)
    for k in range(64):
        assert call(NUMBER, "minimum_of_short_row", values[0], 1 << k) == (
            np.inf if values[0, k] == INFINITE else values[0, k]
        )
    assert call(WORD, "finite_in_short_row", values[1]) == word(values[1] < INFINITE)
    values[2, 12] = 7
    expected = (values[0] < values[2]) & (through == values[2])
    assert call(WORD, "tight_in_short_row", values[0], values[2], 7.0) == word(expected)
    assert 0 < np.count_nonzero(expected) < 60


@pytest.mark.parametrize("rtol", [0.0, 1e-3])
def test_tight_in_row(call, rtol):
    rng = np.random.default_rng(3)
    values = np.empty((2, 64))
    values[0] = rng.integers(1, 9, 64)
    values[1] = values[0] + 2 + rng.choice([0, 0, 1, -1, -2, -3, 1e-12, 1e-3, -1e-3, 1e-1], 64)
    values[0, :4], values[1, 2:4] = np.inf, np.inf
    values[:, 5] = 1e18
    expected = [near < far and abs(near + 2 - far) <= rtol * far for near, far in values.T]
    assert call(WORD, "tight_in_row", values[0], values[1], 2.0, rtol) == word(expected)
    assert 0 < sum(expected) < 60


def test_gather_by_the_bits_of_the_ends(call, index):
    rng = np.random.default_rng(4)
    values = rng.integers(1, 100, (10, 64)).astype(float)
    bits = rng.integers(0, 2**64, 10, dtype=np.uint64)
    wanted, ends = 0x0123_4567_89AB_CDEF, np.array([1, 3, 4, 8, 9], index)
    total, function = np.full(64, np.nan), "gather_narrow" if index == np.int32 else "gather_wide"
    met = call(WORD, function, ends, len(ends), bits, wanted, values, total)
    live = np.array([flags_of(int(bits[u]) & wanted) for u in ends])
    np.testing.assert_array_equal(total, np.where(live, values[ends], 0).sum(axis=0))
    assert met == word(live.any(axis=0))
    assert call(WORD, function, ends, 0, bits, wanted, values, total) == 0
    assert not total.any()
