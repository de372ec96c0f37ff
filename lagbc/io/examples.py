"""The networks that come with lagbc."""

from __future__ import annotations

from pathlib import Path

from lagbc.errors import InvalidValueError, did_you_mean

_DATA = Path(__file__).parent.parent / "data"
_SUFFIX = ".mtx.gz"
_COORDINATES = ".xy.csv.gz"
# Prefix of the name of a network that comes with lagbc, in place of a path.
EXAMPLE = "example:"


def example_names() -> list[str]:
    """Return the names of the networks that come with lagbc, sorted."""
    return sorted(file.name.removesuffix(_SUFFIX) for file in _DATA.glob("*" + _SUFFIX))


def example_path(name: str) -> Path:
    """Return the path of a network that comes with lagbc.

    Parameters
    ----------
    name : str
        "ca-GrQc", "karate", "lesmis", "minnesota", "power" or "us-airports".

    Returns
    -------
    pathlib.Path
        A Matrix Market file, gzip-compressed, for `read_graph`.

    Raises
    ------
    ValueError
        If there is no network of this name; the message lists all names.
    """
    names = example_names()
    if name not in names:
        there = did_you_mean(name, names, f"there are: {', '.join(names)}")
        raise InvalidValueError(f"no shipped network is called {name!r}; {there}")
    return _DATA / (name + _SUFFIX)


def example_coordinates(name: str) -> Path | None:
    """Return the path of the coordinates of a network that comes with lagbc; None if it has none."""
    path = _DATA / (name + _COORDINATES)
    return path if path.exists() else None
