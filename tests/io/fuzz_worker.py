"""Reads mutated files and says of each what came of it; run by test_fuzz in a process of its own.

    python fuzz_worker.py FORMAT COUNT SEED FOLDER

Prints the number of each file before it is read, and at the end how many were accepted. A wrong outcome ends it with
status 1; a crash or a file that takes too long, with a signal.
"""

import gzip
import io
import random
import resource
import signal
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from plain_parsers import parse

from lagbc.errors import GraphFormatError
from lagbc.io.read import read_graph

BUDGET = 64 << 20
SUFFIX = {"Matrix Market": ".mtx", "METIS": ".graph", "edge list": ".txt", "SciPy npz": ".npz"}
MM = "%%MatrixMarket matrix {}\n"
TEXTS = {
    "edge list": [
        "1 2\n2 3\n-5 1\n2 3\n",
        "# c\n1 2 0.5\n2\t3\t1e-2\n1 2 0.25\n% c\n\n3 1 7\n",
        "1,2,3\n 2 , 3,-1\n  \n   # c\n4,4,0\n",
        "10 11 # c\r\n12 10\r\n",
        'ann "New York" 2 # c\n# c\nNew" ann 1e-3\n"a ""b"" c" ann .5\n',
        'name;to;km\n"Smith; J.";b#c;3\n% c\n b#c ; d e;4\n',
        'a b\tc d\nc d\t"x\ty"\n',
    ],
    "Matrix Market": [
        MM.format("coordinate real general") + "% c\n4 4 4\n1 2 0.5\n4 1 -1e-3\n1 2 .25\n3 3 4.\n",
        MM.format("coordinate real general") + "3 3 3\n1 2 0.5\n3 1 1e-3\n2 3 25\n",
        MM.format("coordinate pattern symmetric") + "4 4 3\n2 1\n4 3\n3 3\n",
        MM.format("coordinate integer general") + "3 3 3\n1 2 7\n2 3 -7\n1 2 5\n",
        MM.format("coordinate complex hermitian") + "3 3 2\n2 1 1 2.5\n3 2 4 0\n",
        MM.format("coordinate real skew-symmetric") + "3 3 2\r\n2 1 4\r\n3 1 2\r\n",
        MM.format("array real general") + "2 2\n0\n3\n1.5\n4\n",
        MM.format("array integer symmetric") + "3 3\n1\n2\n3\n4\n5\n6\n",
        MM.format("array real skew-symmetric") + "3 3\n1\n2\n3\n",
    ],
    "METIS": [
        "% c\n4 3\n2\n1 3 4\n2\n2\n",
        "3 2 1\n2 5\n1 5 3 6\n% c\n2 6\n",
        "3 2 011 2\n9 8 2 5\n9 8 1 5 3 6\n9 8 2 6\n",
        "3 1\n2\n1\n\n",
    ],
}
TOKENS = [
    *b" \t\n\r\0\f,;#%-+.eE0\xff\xa0\x85".decode("latin-1"),
    *("1 2\n", "\r\n", "\n\n", " 1", "-1", "+1", "0", "2.7", "0.5", "0x10", "1e308", "1e400", "1_0", "nan", "inf"),
    *("1e", "1.2.3", "1e-", "--1", "1-2", "5-", "\ufeff", "%%MatrixMarket matrix array real general\n", "# hi\r1 2"),
    *("2147483648", "1000000000", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "9" * 4400),
]
ARRAYS = ["data", "indices", "indptr", "row", "col", "offsets", "shape", "format"]


def make(form, number, seed):
    """Make the file of this number: the same one at each call."""
    rng = random.Random(f"{form} {number} {seed}")
    if form == "SciPy npz":
        data = make_npz(rng)
    else:
        data = rng.choice(TEXTS[form]).encode()
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
            data = mutate(rng, data)
    if rng.random() < 0.1:
        data = gzip.compress(data, 1)
        data = mutate(rng, data) if rng.random() < 0.3 else data
    return data


def mutate(rng, data):
    """Change a word, a line or a byte."""
    at, end = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
    token = rng.choice(TOKENS).encode("utf-8" if rng.random() < 0.5 else "latin-1", "replace")
    lines = data.splitlines(keepends=True) or [b""]
    line = rng.randrange(len(lines))
    words = lines[line].split(b" ")
    words[rng.randrange(len(words))] = token
    return rng.choice(
        (
            data[:at] + token + data[at:],
            data[:at] + data[at + 1 :],
            data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :],
            data[:at] + data[min(end, at + 8) :],
            data[: -rng.randrange(1, 9)],
            data + token,
            b"".join((*lines[:line], *lines[line + 1 :])),
            b"".join((*lines[:line], lines[line], *lines[line:])),
            b"".join((*lines[:line], b" ".join(words), *lines[line + 1 :])),
            b"".join((*lines[:line], lines[line].rstrip() + b" " + token + b"\n", *lines[line + 1 :])),
        )
    )


def make_npz(rng):
    """A sparse matrix of any format, with an array that is changed in one of many ways, or none."""
    cells = [[rng.choice((0, 0, 1, 2.5)) for _ in range(4)] for _ in range(4)]
    matrix = sp.coo_array(np.array(cells, rng.choice(("f8", "f4", "i8", "c16"))))
    if rng.random() < 0.2:  # repeated entries
        matrix = sp.coo_array((np.r_[matrix.data, matrix.data], np.c_[matrix.coords, matrix.coords]), shape=(4, 4))
    file = io.BytesIO()
    sp.save_npz(file, matrix.asformat(rng.choice(("csr", "csc", "bsr", "coo", "dia"))), compressed=rng.random() < 0.5)
    change = rng.random()
    if change < 0.2:
        return file.getvalue()
    if change < 0.4:
        return mutate(rng, file.getvalue())
    file.seek(0)
    arrays = dict(np.load(file))
    name = rng.choice([name for name in ARRAYS if name in arrays])
    array = arrays[name]
    if change < 0.7 and array.size and array.dtype.kind in "if":
        array = array.astype(rng.choice((array.dtype, "i8", "i2"))).copy()
        array.flat[rng.randrange(array.size)] = rng.choice((-1, 0, 1, 3, 4, 5, 100, 30000))
        if array.dtype == np.int64 and rng.random() < 0.3:
            array.flat[rng.randrange(array.size)] = rng.choice((2**31, 2**62, -(2**31), -(2**63)))
    else:
        is_number = array.dtype.kind in "if"
        array = rng.choice(
            [
                *(array[:-1] if array.ndim else array, np.append(array, array), array.reshape(1, -1)),
                *(array.astype(kind) for kind in (("S", "f8", "f2", "?") if is_number else ("S",))),
                *(np.array(text) for text in (() if is_number else (b"csr", "bsr", b"nope"))),
                *(np.array(7), np.array([], array.dtype), np.array([[4, 4], [4, 4]]), np.array(["4", "4"])),
            ]
        )
    arrays[name] = array
    if rng.random() < 0.05:
        del arrays[name]
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def entries_of(file):
    coo = file.matrix.tocoo()
    ids = np.arange(coo.shape[0]) if file.labels is None else file.labels
    return dict(zip(zip(ids[coo.row].tolist(), ids[coo.col].tolist(), strict=True), coo.data.tolist(), strict=True))


def same(found, expected):
    return found.keys() == expected.keys() and all(
        found[place] == x or (found[place] != found[place] and x != x) for place, x in expected.items()
    )


def plain_bytes(data):
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def outcome(form, path, data):
    """Return "accepted", "refused", or what is wrong."""
    try:
        file = read_graph(path, budget=BUDGET)
    except (GraphFormatError, MemoryError) as error:
        return "refused" if str(error).startswith(str(path)) else f"an error that does not name the file: {error!r}"
    except Exception as error:
        return f"a raw error: {error!r}"
    expected = parse(file.format, plain_bytes(data))
    if expected is None:
        return f"accepted as {entries_of(file)}, which is malformed"
    return "accepted" if same(entries_of(file), expected) else f"{entries_of(file)}, not {expected}"


def main(form, count, seed, folder):
    limit = 4 << 30
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    warnings.simplefilter("ignore")
    path = Path(folder) / f"graph{SUFFIX[form]}"
    accepted = 0
    for number in range(count):
        data = make(form, number, seed)
        path.write_bytes(data)
        print(number, flush=True)
        signal.alarm(20)
        found = outcome(form, path, data)
        if found not in ("accepted", "refused"):
            sys.exit(f"file {number}: {found}: {data[:400]!r}")
        accepted += found == "accepted"
    print("accepted", accepted)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
