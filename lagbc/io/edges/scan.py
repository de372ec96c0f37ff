"""The compiled loops over the bytes of an edge list: lines into fields, fields into numbers, ids into vertices.

A piece of text is an array of bytes that holds whole lines, each ending in a newline. A field is a range
``starts[i, e]`` to ``stops[i, e]`` of it: the i-th wanted one of the e-th edge.
"""

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit

# The separator that is any run of blanks.
BLANKS = ord(" ")

_NEWLINE, _QUOTE, _TAB = ord("\n"), ord('"'), ord("\t")
_ZERO, _POINT, _PLUS, _MINUS, _E = ord("0"), ord("."), ord("+"), ord("-"), ord("e")
_LOWEST = np.iinfo(np.int64).min
_NUMBER = 2**31 - 1
# float64 holds integers up to the first exactly, and powers of ten up to that of the second.
_EXACT, _EXACT_POWER = 2**53, 22
_POWERS = 10.0 ** np.arange(_EXACT_POWER + 1)
# Odd constants that spread keys over a table: 2**64 over the golden ratio, and the prime of the hash FNV-1a.
_GOLDEN, _FNV_BASE, _FNV_PRIME = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@njit
def _is_blank(byte, separator):
    return byte == 32 or byte == 11 or byte == 12 or (byte == _TAB and separator != _TAB)


@njit
def _is_comment(byte):
    return byte == 35 or byte == 37  # number sign and percent sign


@njit
def split_lines(text, separator, columns, wanted, glued, starts, stops, lines):
    """Find the wanted fields of each line that is an edge.

    Parameters
    ----------
    text : ndarray of uint8
        A doubled quote within quotes is made a single one in it.
    separator : int
        A byte, or `BLANKS`. Blanks around a field are no part of it.
    columns : int
        How many fields each line has to have.
    wanted : ndarray of int64, ascending
        Which of them are, counted from 0.
    glued : bool
        Whether a comment begins anywhere; else where a line begins or, between blanks, a field.
    starts, stops : ndarray of int64, shape (len(wanted), lines of the text)
        Filled.
    lines : ndarray of int64, shape (lines of the text,)
        Filled: the line of each edge, counted from 0.

    Returns
    -------
    edges, comments : int
        How many lines there are of either.
    line : int
        The first line that is wrong.
    problem : bool
        Whether there is one.
    """
    p = line = edges = comments = 0
    while p < len(text):
        begin = p
        while _is_blank(text[p], BLANKS):
            p += 1
        if text[p] == _NEWLINE or _is_comment(text[p]):
            comments += text[p] != _NEWLINE
            while text[p] != _NEWLINE:
                p += 1
        else:
            p, found = _split_line(text, begin, separator, wanted, glued, starts[:, edges], stops[:, edges])
            if found != columns:
                return edges, comments, line, True
            lines[edges] = line
            edges += 1
        p += 1
        line += 1
    return edges, comments, -1, False


@njit
def _split_line(text, p, separator, wanted, glued, starts, stops):
    """Find the fields of one line; returns the place of its newline and how many there are, -1 if quotes are wrong."""
    column = at = 0
    while _is_blank(text[p], separator):
        p += 1
    while True:
        if text[p] == _QUOTE:
            begin, end, p = _unquoted(text, p)
            if p < 0:
                return p, -1
        else:
            begin = p
            while not _ends_field(text[p], separator, glued):
                p += 1
            end = p
            while end > begin and _is_blank(text[end - 1], separator):
                end -= 1
        if at < len(wanted) and wanted[at] == column:
            starts[at], stops[at] = begin, end
            at += 1
        column += 1
        after = p
        while _is_blank(text[p], separator):
            p += 1
        if _is_comment(text[p]) and (glued or separator == BLANKS):
            while text[p] != _NEWLINE:
                p += 1
        if text[p] == _NEWLINE:
            return p, column
        if separator == BLANKS:
            if p == after:
                return p, -1
            continue
        if text[p] != separator:
            return p, -1
        p += 1
        while _is_blank(text[p], separator):
            p += 1


@njit
def _ends_field(byte, separator, glued):
    if byte == _NEWLINE or (glued and _is_comment(byte)):
        return True
    return _is_blank(byte, BLANKS) if separator == BLANKS else byte == separator


@njit
def _unquoted(text, p):
    """Return begin and end of what stands between quotes, doubled ones made single, and the place after them or -1."""
    begin = end = p + 1
    p += 1
    while text[p] != _NEWLINE:
        if text[p] == _QUOTE:
            if text[p + 1] != _QUOTE:
                return begin, end, p + 1
            p += 1
        text[end] = text[p]
        end += 1
        p += 1
    return begin, end, -1


@njit
def parse_integers(text, starts, stops, values):
    """Read fields as integers of 64 bits; returns the first that is none, or -1."""
    for i in range(len(values)):
        p, end = starts[i], stops[i]
        negative = p < end and text[p] == _MINUS
        if p < end and (text[p] == _MINUS or text[p] == _PLUS):
            p += 1
        if p == end:
            return i
        value = np.int64(0)  # its negative, of which there is one more
        for q in range(p, end):
            digit = np.int64(text[q]) - _ZERO
            if digit < 0 or digit > 9 or value < -((2**63 - 1) // 10) or 10 * value < _LOWEST + digit:
                return i
            value = 10 * value - digit
        if not negative and value == _LOWEST:
            return i
        values[i] = value if negative else -value
    return -1


@njit
def parse_floats(text, starts, stops, values, hard):
    """Read fields as floats where one product or quotient of exact numbers gives them; returns how many are `hard`.

    A float is m * 10**e, with m < 2**53 and abs(e) <= 22, both exact: it is rounded once, and so correctly. Others, and
    what is no number, are left to Python.
    """
    count = 0
    for i in range(len(values)):
        p, end = starts[i], stops[i]
        negative = p < end and text[p] == _MINUS
        if p < end and (text[p] == _MINUS or text[p] == _PLUS):
            p += 1
        mantissa, power, digits, after_point = np.int64(0), 0, 0, False
        while p < end and mantissa < _EXACT:
            digit = np.int64(text[p]) - _ZERO
            if 0 <= digit <= 9:
                mantissa = 10 * mantissa + digit
                digits += 1
                power -= after_point
            elif text[p] == _POINT and not after_point:
                after_point = True
            else:
                break
            p += 1
        if digits > 0 and p < end and (text[p] | 32) == _E:
            exponent, p = _exponent(text, p + 1, end)
            power += exponent
        if p != end or digits == 0 or mantissa >= _EXACT or abs(power) > _EXACT_POWER:
            hard[count] = i
            count += 1
            continue
        value = mantissa * _POWERS[power] if power >= 0 else mantissa / _POWERS[-power]
        values[i] = -value if negative else value
    return count


@njit
def _exponent(text, p, end):
    """Read a small exponent; one that is none ends before `end`."""
    sign = -1 if p < end and text[p] == _MINUS else 1
    if p < end and (text[p] == _MINUS or text[p] == _PLUS):
        p += 1
    exponent, first = 0, p
    while p < end and p < first + 4 and _ZERO <= text[p] <= _ZERO + 9:
        exponent = 10 * exponent + text[p] - _ZERO
        p += 1
    return sign * exponent, (p if p > first else -1)


@njit
def number_integers(keys, slots, ids, count, numbers):
    """Count up integers in the order in which they first occur; return how many there are then.

    Parameters
    ----------
    keys : ndarray of int64
    slots : ndarray of int32, a power of two of them
        A hash table of numbers, -1 where it is empty; there is room for all keys.
    ids : ndarray of int64
        The integer of each number; `count` of them so far.
    numbers : ndarray of int32, shape (len(keys),)
        Filled.
    """
    mask = len(slots) - 1
    for i in range(len(keys)):
        key = keys[i]
        slot = _slot(np.uint64(key), mask)
        while slots[slot] >= 0 and ids[slots[slot]] != key:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = count
            ids[count] = key
            count += 1
        numbers[i] = slots[slot]
    return count


@njit
def hash_names(text, starts, stops, hashes):
    """Hash fields by FNV-1a."""
    for i in range(len(hashes)):
        key = _FNV_BASE
        for byte in text[starts[i] : stops[i]]:
            key = (key ^ np.uint64(byte)) * _FNV_PRIME
        hashes[i] = key


@njit
def number_names(text, starts, stops, keys, slots, hashes, offsets, names, count, numbers):
    """Count up names in the order in which they first occur; return how many there are then.

    Parameters
    ----------
    text : ndarray of uint8
    starts, stops : ndarray of int64
        Where each name stands in it.
    keys : ndarray of uint64
        The hash of each.
    slots : ndarray of int64, a power of two of them
        A hash table: the number of a name, and above it half of its hash, so that other names are mostly told without
        a look at them; -1 where it is empty. There is room for all names.
    hashes : ndarray of uint64
    offsets : ndarray of int64
    names : ndarray of uint8
        Number v has the hash ``hashes[v]`` and the bytes ``names[offsets[v] : offsets[v + 1]]``, the last a newline.
    count : int
        Names so far.
    numbers : ndarray of int32
        Filled.
    """
    mask = len(slots) - 1
    for i in range(len(numbers)):
        name = text[starts[i] : stops[i]]
        slot, tag = _slot(keys[i], mask), _tag(keys[i])
        while slots[slot] >= 0:
            number = slots[slot] & _NUMBER
            if slots[slot] >> 32 == tag and _are_equal(name, names, offsets[number]):
                break
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = tag << 32 | count
            hashes[count] = keys[i]
            end = offsets[count] + len(name)
            names[offsets[count] : end] = name
            names[end] = _NEWLINE
            count += 1
            offsets[count] = end + 1
        numbers[i] = slots[slot] & _NUMBER
    return count


@njit
def _are_equal(name, names, first):
    """Whether a name and the newline after it stand at a place; no name holds a newline."""
    for q in range(len(name)):
        if names[first + q] != name[q]:
            return False
    return names[first + len(name)] == _NEWLINE


@njit
def _tag(key):
    """31 bits of a hash, so that what holds it is not negative."""
    return np.int64(key >> np.uint64(33))


@njit
def place_integers(ids, count, slots):
    """Enter distinct integers in an empty table."""
    mask = len(slots) - 1
    for number in range(count):
        slots[_free(_slot(np.uint64(ids[number]), mask), slots)] = number


@njit
def place_names(hashes, count, slots):
    """Enter distinct names, by their hashes, in an empty table."""
    mask = len(slots) - 1
    for number in range(count):
        slots[_free(_slot(hashes[number], mask), slots)] = _tag(hashes[number]) << 32 | number


@njit
def _free(slot, slots):
    while slots[slot] >= 0:
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@njit
def _slot(key, mask):
    # The upper half of the product depends on all bits of the key.
    return np.int64((key * _GOLDEN) >> np.uint64(32)) & mask
