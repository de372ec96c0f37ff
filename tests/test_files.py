"""Files are whole or as before: every writer writes beside the old file, and says what failed, where and when."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import lagbc
from lagbc import files, plots
from lagbc.files import UNFINISHED, require_writable, write_whole
from lagbc.interfaces.cli import main

A = sp.random_array((60, 60), density=0.1, rng=1, format="csr")
OLD = b"what was there before"
FULL = r"No space left on device after [\d,]+ bytes; it holds what it held before"


@pytest.fixture
def full_disk(monkeypatch):
    """No file takes more than its first 10 bytes."""

    class Full(files._Named):
        def write(self, data):
            with self.named():
                if self._count:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(bytes(data)[:10])

    monkeypatch.setattr(files, "_Named", Full)


def run_command(*arguments):
    """A command that writes a file, as a function of its path; an error of it is one of the function."""

    def write(path):
        done = CliRunner().invoke(main, [*arguments, str(path)], catch_exceptions=False)
        if done.exit_code:
            raise lagbc.Error(done.stderr)

    return write


def merge(path):
    parts = [path.with_name(f"part{number}.npz") for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        if not part.exists():
            lagbc.save_part(part, (number, 2), A, "bc", device="cpu")
    run_command("merge", *map(str, parts), "--out")(path)


BC = ("bc", "example:karate")
SCORES = {
    "out": run_command(*BC, "--out"),
    "edges": run_command("edge-bc", "example:karate", "--out"),
    "table": run_command("centralities", "example:karate", "--which", "bc,stress", "--out"),
    "groups": run_command("group-bc", "example:karate", "--group", "1,2", "--out"),
    "merged": merge,
}
WRITERS = {
    **{f"{name}.{suffix}": write for name, write in SCORES.items() for suffix in ("npy", "csv")},
    **{f"plot.{suffix}": run_command(*BC, "--plot") for suffix in ("png", "svg", "pdf")},
    "part.npz": run_command(*BC, "--part", "1/2", "--out"),
    "networks.png": run_command("centralities", "example:karate", "--which", "bc", "--plot"),
    "compared.png": run_command("compare", "example:karate", "--methods", "batched", "--device", "cpu", "--plot"),
    "map.png": lambda path: plots.plot_map(A, np.ones(60), path, xy=np.ones((60, 2))),
    "saved.npz": lambda path: lagbc.save_part(path, (1, 2), A, "bc", device="cpu"),
}
NEEDS_MATPLOTLIB = (".png", ".svg", ".pdf")


@pytest.fixture(params=WRITERS)
def writer(request, tmp_path):
    if request.param.endswith(NEEDS_MATPLOTLIB):
        pytest.importorskip("matplotlib")
    return WRITERS[request.param], tmp_path / request.param


def test_a_file_is_replaced(writer):
    write, path = writer
    path.write_bytes(OLD)
    path.chmod(0o640)
    write(path)
    assert len(path.read_bytes()) > len(OLD)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not list(path.parent.glob(f"*{UNFINISHED}"))


def test_a_full_disk_leaves_the_file_of_before(writer, request):
    write, path = writer
    if path.name.startswith("merged"):
        write(path)  # makes the parts
    path.write_bytes(OLD)
    request.getfixturevalue("full_disk")
    with pytest.raises(lagbc.Error, match=rf"{path.name} could not be written: {FULL}"):
        write(path)
    assert path.read_bytes() == OLD
    assert not list(path.parent.glob(f"*{UNFINISHED}"))


def _interrupted(path, data, *, flush):
    with write_whole(path) as file:
        file.write(data)
        if flush:
            file.flush()
        raise KeyboardInterrupt


def test_a_file_that_is_not_finished_is_not_there(tmp_path):
    path = tmp_path / "scores"
    path.write_bytes(OLD)
    with pytest.raises(KeyboardInterrupt):
        _interrupted(path, b"half", flush=True)
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_within_is_not_hidden_by_a_full_disk(tmp_path, full_disk):
    with pytest.raises(KeyboardInterrupt):
        _interrupted(tmp_path / "scores", b"more than ten bytes, which are in the buffer", flush=False)
    assert not list(tmp_path.iterdir())


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(files.os, "fsync", lambda number: told.append(os.fstat(number).st_size))
    monkeypatch.setattr(Path, "replace", lambda begun, target: told.append(target.name))
    with write_whole(tmp_path / "scores") as file:
        file.write(b"12345")
    assert told == [5, "scores"]


def test_a_link_is_followed_and_a_pipe_is_written_itself(tmp_path):
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    link.symlink_to(target)
    with write_whole(link) as file:
        file.write(b"12345")
    assert link.is_symlink()
    assert target.read_bytes() == b"12345"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with write_whole(pipe) as file:
        file.write(b"12345")
    assert os.read(reader, 10) == b"12345"
    os.close(reader)
    message = r"/dev/full could not be written: No space left on device after 0 bytes$"
    with pytest.raises(lagbc.Error, match=message), write_whole(Path("/dev/full")) as file:
        file.write(b"12345")


def test_a_limit_of_the_system(tmp_path):
    """A real refusal, in the middle of an array that NumPy would write around the buffer."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "scores.npy"
    path.write_bytes(OLD)

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))

    command = [sys.executable, "-m", "lagbc", *BC, "--device", "cpu", "--out", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert done.returncode == 1
    message = f"lagbc: error: {path} could not be written: File too large after 200 bytes; it holds what it held before"
    assert done.stderr.splitlines()[-1] == message
    assert path.read_bytes() == OLD
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("command", [("bc", "--json"), ("bc",), ("info",), ("info", "--json"), ("compare",)])
def test_standard_output_that_takes_no_more(command):
    name, *options = command
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "lagbc", name, "example:karate", *options]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr.splitlines()[-1] == "lagbc: error: standard output: No space left on device"
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


# The name of a file has at most 255 bytes, also of the file beside it that is written first.
LONG, TOO_LONG = "a" * 250, "is no name of a file that can be written: File name too long"
NAMES = {
    "nul": ("a\0b", "holds a NUL"),
    "long": (LONG, TOO_LONG),
    "long folder": (f"{LONG * 20}/a", TOO_LONG),
    "missing folder": ("missing/a", "cannot be written: there is no folder"),
    "folder": ("", "is a folder"),
}


@pytest.mark.parametrize(("name", "message"), NAMES.values(), ids=NAMES)
def test_what_cannot_be_written_is_refused_before_the_run(tmp_path, name, message):
    path = Path(f"{tmp_path}/{name}")
    with pytest.raises(lagbc.Error, match=message):
        require_writable(path)
    with pytest.raises(lagbc.Error, match=message):
        lagbc.save_part(path, (1, 2), None, "bc")


@pytest.mark.parametrize("which", ["nul", "long", "long folder"])
def test_names_of_checkpoints(tmp_path, which):
    name, message = NAMES[which]
    with pytest.raises(lagbc.CheckpointError, match=f"^checkpoint .*{message}"):
        lagbc.bc(A, checkpoint=f"{tmp_path}/{name}")


def test_a_folder_that_takes_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda folder, mode: False)  # root may write everywhere
    with pytest.raises(lagbc.Error, match=f"this user may make no file in '{tmp_path}'"):
        require_writable(tmp_path / "scores")


def test_nothing_else_writes_files():
    """What opens a file to write it is in lagbc.files, and others take its file; here are those that need not."""
    package = Path(lagbc.__file__).parent
    calls = ("np.save(", "savetxt(", "savefig(path", '.open("w', '.open("x', ', "w") as', ".tofile(", "write_text(")
    elsewhere = {
        (file.relative_to(package).as_posix(), call)
        for file in package.rglob("*.py")
        for call in calls
        if call in file.read_text(encoding="utf-8")
    }
    assert elsewhere == {
        ("comparison/measure.py", "write_text("),  # a switch of the system
        ("interfaces/process.py", ', "w") as'),  # nowhere
        ("run/partial.py", ', "w") as'),  # within an archive
    }
