"""Results files: JSON, a line a measurement, to which a run that was stopped adds what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def read(path: Path) -> list[Row]:
    """Return the lines of a file; none where there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def append(path: Path, rows: Iterable[Row]) -> Iterator[Row]:
    """Write each row as it is made, and pass it on."""
    with path.open("a") as file:
        for row in rows:
            print(json.dumps(row), file=file, flush=True)
            yield row
