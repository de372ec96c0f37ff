"""The file of a share of a run: a zip archive of arrays, written one after the other and read the same way.

It holds the sums of each chunk apart, since sums of chunks are added in order: numbers of shape (n,), for edges
(nnz,), a chunk. Neither side ever has more than one of them in memory.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_magic, write_array
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError, PartError
from lagbc.files import written
from lagbc.methods.sums import OF_ROOTS, SparseSums, Sums

_FORMAT = "lagbc part 1"
# Of sums at some vertices and edges: which these are.
_PLACES = ("vertices", "edges", "roots")


class ShareWriter:
    """Writes the file of a share."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.written: dict[str, int] = {}

    def add(self, name: str, array: NDArray[Any], *, compressed: bool = False) -> None:
        """Write an array."""
        member = zipfile.ZipInfo(f"{name}.npy")
        member.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        with self._archive.open(member, "w", force_zip64=True) as file:
            write_array(file, np.asarray(array, order="C"), version=(1, 0), allow_pickle=False)

    def add_json(self, name: str, value: Any) -> None:
        """Write what JSON holds."""
        self.add(name, np.frombuffer(json.dumps(value).encode(), np.uint8), compressed=True)

    def add_sums(self, part: str, sums: Sums) -> None:
        """Write the next sums of a part of the plan."""
        number = self.written.get(part, 0)
        for name, array in sums:
            self.add(f"{part}/{number}/{name}", array, compressed=name in OF_ROOTS)
        self.written[part] = number + 1

    def add_sparse(self, part: str, summed: SparseSums) -> None:
        """Write the next sums of a part of the plan, which are of some vertices and edges."""
        number = self.written.get(part, 0)
        for name in _PLACES:
            self.add(f"{part}/{number}/at_{name}", getattr(summed, name))
        self.add_sums(part, summed.sums)


@contextmanager
def writing(path: Path) -> Iterator[ShareWriter]:
    """Write a file, which is there when it is finished, and not before."""
    with written(path) as file, zipfile.ZipFile(file, "w") as archive:
        writer = ShareWriter(archive)
        writer.add_json("format", _FORMAT)
        yield writer


class ShareFile:
    """A file of a share that is read; a context manager.

    Raises
    ------
    PartError
        It is none, or is damaged.
    OSError
        It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._reading():
            self._archive = zipfile.ZipFile(path)
            if self.json("format") != _FORMAT:
                raise InvalidValueError

    def __enter__(self) -> ShareFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def has(self, name: str) -> bool:
        """Whether there is an array of a name."""
        return f"{name}.npy" in self._archive.namelist()

    def json(self, name: str) -> Any:
        """Read what was written by `ShareWriter.add_json`."""
        return json.loads(self.array(name, np.uint8).tobytes())

    def array(self, name: str, dtype: Any, shape: tuple[int | None, ...] = (None,)) -> NDArray[Any]:
        """Read an array of a type and shape; a length of None may be any."""
        with self._reading(), self._archive.open(f"{name}.npy") as file:
            if read_magic(file) != (1, 0):
                raise InvalidValueError
            found, _, found_dtype = read_array_header_1_0(file)
            fits = len(found) == len(shape) and all(b in (None, a) for a, b in zip(found, shape, strict=True))
            size = int(np.prod(found, dtype=object)) * found_dtype.itemsize
            if found_dtype != dtype or not fits or size > self._archive.getinfo(f"{name}.npy").file_size:
                raise InvalidValueError
        with self._reading(), self._archive.open(f"{name}.npy") as file:
            array: NDArray[Any] = read_array(file, allow_pickle=False)
        return array

    def sums(self, part: str, number: int, shapes: Mapping[str, tuple[int | None, ...]]) -> Sums:
        """Read sums of a part of the plan, of some shapes."""
        return Sums(**{name: self.array(f"{part}/{number}/{name}", float, shape) for name, shape in shapes.items()})

    def sparse(self, part: str, number: int, shapes: Mapping[str, tuple[int | None, ...]]) -> SparseSums:
        """Read sums of a part of the plan, of some vertices and edges; `shapes` are those of all."""
        vertices, edges, roots = (self.indices(f"{part}/{number}/at_{name}") for name in _PLACES)
        summed = SparseSums(vertices, edges, roots, Sums())
        few = {name: (len(summed.rows(name)), *shape[1:]) for name, shape in shapes.items()}
        summed = replace(summed, sums=self.sums(part, number, few))
        with self._reading():
            for name, shape in shapes.items():
                rows, most = summed.rows(name), shape[0]
                if most is None or (len(rows) and not 0 <= rows.min() <= rows.max() < most):
                    raise InvalidValueError
        return summed

    def indices(self, name: str) -> NDArray[Any]:
        """Read numbers of vertices or edges, of 32 or 64 bits."""
        return self.array(name, np.int32 if self._is_of(name, np.int32) else np.int64)

    def _is_of(self, name: str, dtype: Any) -> bool:
        with self._reading(), self._archive.open(f"{name}.npy") as file:
            read_magic(file)
            return bool(read_array_header_1_0(file)[2] == dtype)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (OSError, MemoryError, PartError):
            raise
        except Exception as error:  # what a damaged archive raises can be anything
            raise PartError(f"{self.path} is damaged, or no part of a run of this version of lagbc") from error
