"""Kernels of edge lists: vertices numbered over many pieces, floats that are read as Python reads them."""

import sys

import numpy as np
import pytest

from lagbc.native import core


def text_of(words):
    """Return words as a text, and where each begins and ends."""
    sizes = np.array([len(word) for word in words], np.int64)
    starts = np.cumsum(sizes + 1) - sizes - 1
    return np.frombuffer(b"".join(word + b"\n" for word in words), np.uint8), starts, starts + sizes


def numbered(known, words):
    """Number words as a dictionary does."""
    return [known.setdefault(word, len(known)) for word in words]


def test_integers_are_numbered_as_they_first_occur():
    rng = np.random.default_rng(1)
    known, expected = core.Integers(), {}
    for piece in range(12):
        keys = rng.integers(-(2**63), 2**63 - 1, 1000) if piece % 2 else rng.integers(-50, 3000, 1000)
        assert core.number_integers(known, keys).tolist() == numbered(expected, keys.tolist())
        if piece == 6:
            known.free_slots()
    assert known.ids.tolist() == list(expected)
    assert known.count == len(expected) > 5000  # more than there are slots at first


def test_names_are_numbered_as_they_first_occur():
    """Tails and heads in turn."""
    rng = np.random.default_rng(2)
    known, expected = core.Names(), {}
    for piece in range(12):
        words = [b"v" * (i % 40) + str(i).encode() for i in range(500 * (1 + piece - (piece == 7)))]
        ends = rng.integers(0, len(words), (2, 500))
        tails, heads, wrong = core.number_names(known, *(text_of([words[v] for v in column]) for column in ends))
        in_turn = numbered(expected, [words[v] for v in ends.T.ravel().tolist()])
        assert np.stack([tails, heads], axis=1).ravel().tolist() == in_turn
        assert wrong == -1
        if piece == 6:
            known.free_slots()
    assert known.text.tobytes() == b"".join(word + b"\n" for word in expected)
    assert np.diff(known.offsets).tolist() == [len(word) + 1 for word in expected]
    assert known.count == len(expected) > 3000


@pytest.mark.parametrize("wrong", [b"", b"a\nb", b"\n"])
def test_no_name_is_empty_or_has_lines(wrong):
    text, starts, stops = text_of([b"a", b"b", wrong, b"c"])
    column, other = (text, starts, stops), text_of([b"a"] * 4)
    for tails, heads in ((column, other), (other, column)):
        found = core.number_names(core.Names(), tails, heads)
        assert [len(found[0]), len(found[1]), found[2]] == [2, 2, 2]


def test_what_is_shared_with_a_table_is_read_only():
    known = core.Integers()
    core.number_integers(known, np.array([7, 7, 9]))
    assert known.ids.tolist() == [7, 9]
    with pytest.raises(ValueError, match="read-only"):
        known.ids[0] = 1


ON_WINDOWS = sys.platform == "win32"
EASY = ["1", "-2.5", "+.5", "7.", "1e22", "-1.5E-3", "123456789012345", "0", "-0.0", "9007199254740991", "4e-22"]
HALFWAY = "9007199254740993"
HARD = ["", "+", "-", ".", "e5", "1e", "1e+", "1e23", HALFWAY, "1e00005", "nan", "inf", "1_0", "0x1", "1 ", "--1"]


def test_floats_are_those_of_python():
    # Windows has x87 round to 53 bits: there all is rounded once, and nothing is left to Python as halfway.
    easy, hard = ([*EASY, HALFWAY], [word for word in HARD if word != HALFWAY]) if ON_WINDOWS else (EASY, HARD)
    values, left = core.parse_floats(*text_of([word.encode() for word in easy + hard]))
    assert left.tolist() == list(range(len(easy), len(easy) + len(hard)))
    assert values[: len(easy)].tobytes() == np.array([float(word) for word in easy]).tobytes()


def test_long_floats_are_rounded_once():
    """Of 16 to 18 digits, some halfway between two floats but for the last digit; few are left to Python."""
    rng = np.random.default_rng(0)
    words = [repr(number) for number in (rng.random(2000) * 10.0 ** rng.integers(-4, 5, 2000)).tolist()]
    words += [
        f"-{m}e{power}" for m, power in zip(rng.integers(2**53, 2**62, 2000), rng.integers(-22, 23, 2000), strict=True)
    ]
    words += [str(m) for m in (2 * rng.integers(2**53, 2**54, 200) + 1).tolist()]  # halfway
    values, hard = core.parse_floats(*text_of([word.encode() for word in words]))
    told = np.setdiff1d(np.arange(len(words)), hard)
    assert values[told].tobytes() == np.array([float(words[i]) for i in told]).tobytes()
    assert len(told) > 3500


@pytest.mark.parametrize(
    "word", ["9223372036854775808", "-9223372036854775809", "", "+", "1.0", "1 ", "99999999999999999999"]
)
def test_what_is_no_integer_of_64_bits(word):
    values = np.empty(3, np.int64)
    fields = text_of([b"9223372036854775807", b"-9223372036854775808", word.encode()])
    for plain in (False, True):
        assert core.parse_integers(*fields, plain, values) == 2
        assert values[:2].tolist() == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize("word", ["007", "+7", "-0", "-07", "00", "+0"])
def test_integers_that_are_not_plain(word):
    values, fields = np.empty(4, np.int64), text_of([b"0", b"-7", b"70", word.encode()])
    assert core.parse_integers(*fields, False, values) == -1
    assert values.tolist() == [0, -7, 70, int(word)]
    assert core.parse_integers(*fields, True, values) == 3


def test_a_line_is_split_or_told_why_it_is_not():
    def split(line, separator=b" ", glued=False):
        text = np.frombuffer(bytearray(line + b"\n"), np.uint8)
        bounds, count = core.split_line(text, separator[0], glued)
        assert len(bounds) == 2 * max(count, 0)
        return [bytes(text[a:b]) for a, b in bounds.reshape(-1, 2)] if count >= 0 else count

    assert split(b"  ann\t'bob'  # c") == [b"ann", b"'bob'"]
    assert split(b'"a ""b"" c", d#e,', b",") == [b'a "b" c', b"d#e", b""]
    assert split(b"7,8#c", b",", glued=True) == [b"7", b"8"]
    assert split(b'a "b') == split(b'"a""', b",") == -1
    assert split(b'"a"b') == split(b'"a" b', b",") == -2


@pytest.mark.parametrize("word", ["x", "1-2", "9223372036854775808", "+", "1.0"])
def test_rows_of_integers(word):
    text = f"1 -2\n\n% c\n  +3\t{2**63 - 1} \n4 {word}\n5 y\n% x\n"
    numbers, sizes, wrong = core.parse_rows(np.frombuffer(text.encode(), np.uint8))
    assert numbers.tolist() == [1, -2, 3, 2**63 - 1, 4, 0, 5, 0]
    assert (sizes.tolist(), wrong) == ([2, 0, -1, 2, 2, 2, -1], 4)
    assert core.parse_rows(np.empty(0, np.uint8))[2] == -1
