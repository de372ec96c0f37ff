"""Runs that end in their middle, by an error that nothing catches, and files of theirs that are changed."""

import zipfile

import numpy as np

from lagbc.run.partial import Writer


class Killed(BaseException):
    pass


def stop(progress):
    raise Killed


def kill_after(calls):
    """Progress that ends a run when it is told so often."""

    def report(progress):
        nonlocal calls
        calls -= 1
        if calls == 0:
            raise Killed

    return report


def done_in(file):
    """Return how many items are done, by a checkpoint."""
    with np.load(file) as held:
        return int(held["done"].sum())


def rewrite(file, members=(), **changed):
    """Change arrays of a checkpoint, with their digests; None leaves one out. `members` are bytes by name."""
    with np.load(file) as loaded:
        arrays = {name: loaded[name] for name in loaded.files if name not in ("digests", *changed)}
    with zipfile.ZipFile(file, "w") as archive:
        writer = Writer(archive, dict.fromkeys(dict(members), "a digest"))
        for name, content in dict(members).items():
            archive.writestr(f"{name}.npy", content)
        for name, array in (arrays | changed).items():
            if array is not None:
                writer.add(name, array)
        writer.add_json("digests", writer.digests)
