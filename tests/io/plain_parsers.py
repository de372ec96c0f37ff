"""Parsers of graph files, a line and a number at a time: slow, short, and nothing in them but Python.

Each returns the entries as {(row, column): value}, or None for a malformed file. Of repeated entries the smallest
value counts, and a NaN if there is one.
"""

import io
import re
import zipfile

import numpy as np

INTEGER = re.compile(r"[+-]?[0-9]+")
REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
BLANK = " \t\f\v"
BLANKS = re.compile(r"[ \t\f\v]+")


INDICES = {"indices", "indptr", "row", "col", "offsets", "shape"}


class MalformedError(Exception):
    pass


def require(condition):
    if not condition:
        raise MalformedError


def parse(form, data):
    """Entries of a file of this format, or None."""
    try:
        return {"edge list": edge_list, "Matrix Market": matrix_market, "METIS": metis, "SciPy npz": npz}[form](data)
    except MalformedError:
        return None


def text_lines(data):
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1").replace("\r\n", "\n")
    if text.endswith("\r"):  # a \r\n that lacks its end
        text = text[:-1] + "\n"
    require("\0" not in text and "\r" not in text)
    return text.removesuffix("\n").split("\n")


def integer(text, low=-(2**63), high=2**63 - 1):
    require(INTEGER.fullmatch(text) and len(text) < 40 and low <= int(text) <= high)
    return int(text)


def real(text):
    require(REAL.fullmatch(text))
    return float(text)


def words(text):
    return [word for word in BLANKS.split(text) if word]


def merged(entries):
    places = {}
    for place, value in entries:
        places.setdefault(place, []).append(value)
    return {place: smallest(values) for place, values in places.items()}


def smallest(values):
    not_numbers = [value for value in values if value != value]
    return not_numbers[0] if not_numbers else min(values, key=lambda value: (value.real, value.imag))


def edge_list(data):
    """Ends are integers, or names as text."""
    content = [line for line in text_lines(data) if line.strip(BLANK) and line.strip(BLANK)[0] not in "#%"]
    require(content)
    separator = separator_of(content[0])
    first = fields_of(content[0], separator, glued=False)
    below = fields_of(content[1], separator, glued=True) if len(content) > 1 else []
    if has_titles(first, below):
        require(below)
        content = content[1:]
    fields = fields_of(content[0], separator, glued=True)
    names = not all(is_integer(field) for field in fields[:2]) or len(fields) < 2
    if not names and separator == "\t" and len(fields_of(content[0], " ", glued=True)) == len(fields):
        separator = " "
    rows = [fields_of(line, separator, glued=not names) for line in content]
    columns = len(rows[0])
    require(columns in (2, 3) and all(len(row) == columns for row in rows))
    ends = end_as_name if names else canonical
    return merged(((ends(row[0]), ends(row[1])), real(row[2] or "nan") if columns == 3 else 1.0) for row in rows)


def separator_of(line):
    bare = re.sub('"([^"]|"")*"', "", line)
    for part in (re.split("[#%]", bare)[0], bare):
        require(not ("," in part and ";" in part))
        for byte in ",;":
            if byte in part:
                return byte
    return "\t" if "\t" in bare.strip(BLANK) else " "


def has_titles(first, below):
    if any(REAL.fullmatch(field) for field in first):
        return False
    return len(below) == len(first) > 1 and (
        all(map(INTEGER.fullmatch, below[:2])) or (len(below) == 3 and bool(REAL.fullmatch(below[2])))
    )


def fields_of(line, separator, *, glued):
    """A character at a time: blanks around fields are no part of them, doubled quotes within quotes are one."""
    blanks = BLANK.replace(separator, "") if separator == "\t" else BLANK
    fields, rest = [], line.strip(blanks)
    while True:
        field, rest = quoted(rest) if rest.startswith('"') else plain(rest, separator, glued)
        fields.append(field)
        after = rest.lstrip(blanks)
        if not after or (after[0] in "#%" and (glued or separator == " ")):
            return fields
        if separator == " ":
            require(after != rest)
        else:
            require(after[0] == separator)
            after = after[1:].lstrip(blanks)
        rest = after


def quoted(text):
    field, i = "", 1
    while True:
        require(i < len(text))
        if text[i] != '"':
            field, i = field + text[i], i + 1
        elif text[i : i + 2] == '""':
            field, i = field + '"', i + 2
        else:
            return field, text[i + 1 :]


def plain(text, separator, glued):
    ends = (BLANK if separator == " " else separator) + ("#%" if glued else "")
    size = next((i for i, byte in enumerate(text) if byte in ends), len(text))
    return text[:size].strip(BLANK.replace(separator, "") if separator == "\t" else BLANK), text[size:]


def is_integer(text):
    return bool(INTEGER.fullmatch(text)) and len(text) < 40 and str(int(text)) == text and -(2**63) <= int(text) < 2**63


def canonical(text):
    require(is_integer(text))
    return int(text)


def end_as_name(field):
    require(field)
    try:
        return field.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedError from None


def matrix_market(data):
    lines = text_lines(data)
    banner = [word.lower() for word in words(lines[0])]
    require(len(banner) >= 5 and banner[:2] in (["%%matrixmarket", "matrix"], ["%matrixmarket", "matrix"]))
    layout, field, symmetry = banner[2:5]
    field = {"double": "real"}.get(field, field)
    start = next((i for i, line in enumerate(lines) if i and words(line) and not line.startswith("%")), None)
    require(start is not None)
    size = [integer(word, 0) for word in words(lines[start])]
    require(layout in ("array", "coordinate") and len(size) == (3 if layout == "coordinate" else 2))
    n = size[0]
    require(size[1] == n)
    rows = [words(line) for line in lines[start + 1 :] if words(line)]
    dense = layout == "array"
    if dense:
        places = [(i, j) for j in range(n) for i in range(n) if is_listed(i, j, symmetry)]
    else:
        places = [
            (integer(row[0], 1, n) - 1, integer(row[1], 1, n) - 1) for row in rows if require(len(row) > 1) is None
        ]
        rows = [row[2:] for row in rows]
    require(len(places) == len(rows) == (len(places) if dense else size[2]))
    entries = [(place, value(row, field)) for place, row in zip(places, rows, strict=True)]
    if symmetry != "general":
        mirrors = {"symmetric": lambda x: x, "skew-symmetric": lambda x: -x, "hermitian": lambda x: x.conjugate()}
        mirror = mirrors.get(symmetry)
        require(mirror)
        entries += [((j, i), mirror(x)) for (i, j), x in entries if i != j]
    return {place: x for place, x in merged(entries).items() if not dense or x != 0}


def is_listed(i, j, symmetry):
    return symmetry == "general" or i > j or (i == j and symmetry != "skew-symmetric")


def value(row, field):
    require(len(row) == {"pattern": 0, "complex": 2}.get(field, 1))
    if field == "pattern":
        return 1.0
    if field == "integer":
        return integer(row[0])
    if field == "unsigned-integer":
        return integer(row[0], 0, 2**64 - 1)
    require(field in ("real", "complex"))
    return real(row[0]) if field == "real" else complex(real(row[0]), real(row[1]))


def metis(data):
    lines = [line for line in text_lines(data) if not line.startswith("%")]
    require(lines)
    header = words(lines[0])
    require(2 <= len(header) <= 4)
    n, m = integer(header[0], 0), integer(header[1], 0)
    fmt = header[2].rjust(3, "0") if len(header) > 2 else "000"
    require(re.fullmatch("[01]{3}", fmt))
    constraints = integer(header[3], 0) if len(header) > 3 else 1
    skip = int(fmt[0]) + int(fmt[1]) * constraints
    rows, rest = lines[1 : n + 1], lines[n + 1 :]
    require(len(rows) == n and not any(words(line) for line in rest))
    entries = {}
    for u, row in enumerate(rows):
        numbers = [integer(word) for word in words(row)]
        require(len(numbers) >= skip)
        numbers = numbers[skip:]
        targets, weights = (numbers[::2], numbers[1::2]) if fmt[2] == "1" else (numbers, [1] * len(numbers))
        require(len(targets) == len(weights))
        for v, weight in zip(targets, weights, strict=True):
            require(1 <= v <= n and (u, v - 1) not in entries)
            entries[u, v - 1] = float(weight)
    require(len(entries) == 2 * m and all(entries.get((v, u)) == w for (u, v), w in entries.items()))
    return entries


def npz(data):
    """The arrays by NumPy; what they mean by loops."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            require(sum(member.file_size for member in archive.infolist()) < 10**6)
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        kind = arrays["format"].item()
        kind = kind if isinstance(kind, str) else kind.decode("ascii")
        rows, columns = (int(size) for size in arrays["shape"].ravel())
        require(arrays["data"].dtype.kind in "biufc")
        require(all(arrays[name].dtype.kind in "iu" for name in INDICES & arrays.keys()))
        entries = merged(list(stored_entries(kind, arrays, rows, columns)))
    except Exception as error:
        raise MalformedError from error
    require(rows == columns)
    require(all(0 <= i < rows and 0 <= j < rows for i, j in entries))
    return {place: x for place, x in entries.items() if x != 0 or kind not in ("dia", "bsr")}


def stored_entries(kind, arrays, rows, columns):
    values = arrays["data"]
    if kind == "coo":
        for i, j, x in zip(arrays["row"].tolist(), arrays["col"].tolist(), values.tolist(), strict=True):
            yield (i, j), x
    elif kind == "dia":
        for offset, diagonal in zip(arrays["offsets"].tolist(), values.tolist(), strict=True):
            for j, x in enumerate(diagonal[:columns]):
                if 0 <= j - offset < rows:
                    yield (j - offset, j), x
    else:
        require(kind in ("csr", "csc", "bsr"))
        height, width = values.shape[1:] if kind == "bsr" else (1, 1)
        pointers, indices, values = (arrays[name].tolist() for name in ("indptr", "indices", "data"))
        require(len(pointers) - 1 == {"csr": rows, "csc": columns, "bsr": rows // height}[kind])
        require(pointers[0] == 0 and pointers == sorted(pointers) and len(indices) >= pointers[-1])
        for i in range(len(pointers) - 1):
            for p in range(pointers[i], pointers[i + 1]):
                if kind == "bsr":
                    for a, b in np.ndindex(height, width):
                        yield (i * height + a, indices[p] * width + b), values[p][a][b]
                else:
                    yield ((i, indices[p]) if kind == "csr" else (indices[p], i)), values[p]
