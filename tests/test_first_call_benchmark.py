"""Whole processes and first calls: the page, of a few of them, and what an environment holds."""

import json
import sys

import pytest
import scipy.sparse as sp
from click.testing import CliRunner

from benchmarks import first_call

KARATE = "`lagbc bc example:karate`"


def test_page(tmp_path, monkeypatch):
    monkeypatch.setattr(first_call, "PROCESSES", {"nothing": ["-c", "pass"], KARATE: first_call.PROCESSES[KARATE]})
    monkeypatch.setattr(first_call, "CALLS", {"hops": first_call.CALLS["hops"]})
    page = tmp_path / "page.md"
    page.write_text("former head\nInstalled with [plot]: 1 MB.\n")
    given = ["--rounds", "1", "--longest", "2", "--former", str(first_call.machine.ROOT), "--out", str(page)]
    done = CliRunner().invoke(first_call.main, given, catch_exceptions=False)
    assert done.exit_code == 0
    lines = page.read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith(("| nothing", f"| {KARATE}", "| hops", "| `"))]
    assert [len(row) for row in rows] == [5, 5, 7, 2, 2]
    assert "medians of 1 rounds" in lines[0]
    assert lines[-1] == "Installed with [plot]: 1 MB."
    assert "old" not in lines


# Says how many kernels are kept, and keeps one more a process.
CUPY = """
import os, pathlib, types
kernels = pathlib.Path(os.environ["CUPY_CACHE_DIR"])
kernels.mkdir(exist_ok=True)
log = open({log!r}, "a")
print(len(list(kernels.iterdir())), file=log)
(kernels / str(os.getpid())).touch()
__version__ = "99"
zeros = range
device = types.SimpleNamespace(synchronize=lambda: None)
runtime = types.SimpleNamespace(getDeviceProperties=lambda _: {{"name": b"a stand-in"}})
cuda = types.SimpleNamespace(Device=lambda: device, runtime=runtime)
"""


def test_page_of_a_gpu(tmp_path, monkeypatch):
    """A stand-in for CuPy tells that one of two processes begins without kernels, and the other with those of one."""
    (tmp_path / "cupy.py").write_text(CUPY.format(log=str(tmp_path / "log")))
    monkeypatch.setattr(first_call.machine, "ROOT", tmp_path)
    monkeypatch.setattr(first_call, "verify", lambda checkout: None)
    call = "print(lagbc.bc(A, k=2, rng=1, device='cpu').shape, file=cupy.log)"
    monkeypatch.setattr(first_call, "ON_GPU", {"ten": (lambda: sp.eye_array(10, k=1, format="csr"), call)})
    page = tmp_path / "page.md"
    page.write_text("former head\n\n## Notes\n\nThese stay.\n")
    done = CliRunner().invoke(
        first_call.main, ["--device", "cuda", "--rounds", "1", "--out", str(page)], catch_exceptions=False
    )
    assert done.exit_code == 0
    calls = ["(10,)"] * 2
    assert (tmp_path / "log").read_text().split() == ["0", *calls, "1", *calls] * 2, "in the round before, too"
    text = page.read_text()
    assert "on a stand-in, CuPy 99" in text
    assert text.endswith("|\n\n## Notes\n\nThese stay.\n")
    assert "former head" not in text
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ten")]
    assert [row[1:3] for row in rows] == [["this", "none"], ["this", "all"]]
    for row in rows:
        whole, imports, context, first, _ = (float(cell.removesuffix(" |")) for cell in row[3:])
        assert whole == pytest.approx(imports + context + first, abs=0.021)


def test_a_checkout_that_python_does_not_load_is_refused(tmp_path):
    """An editable install goes before it, or there is none."""
    done = CliRunner().invoke(first_call.main, ["--former", str(tmp_path), "--out", str(tmp_path / "page.md")])
    assert done.exit_code == 2
    assert f"not the lagbc of {tmp_path}" in " ".join(done.output.replace("│", " ").split())
    assert not (tmp_path / "page.md").exists()


def test_an_installation_is_of_no_device(tmp_path):
    done = CliRunner().invoke(first_call.main, ["--device", "cuda", "--install", "wheel"])
    assert done.exit_code == 2
    assert "leave out --device" in done.output


def test_a_process_that_fails_is_told(tmp_path):
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        first_call.run(["-c", "1 / 0"], first_call.machine.ROOT)


@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs are saved to cache:UserWarning")
def test_every_call_is_one(tmp_path, monkeypatch, capsys):
    """In this process, which has loaded most of what they load."""
    case = tmp_path / "case.npz"
    first_call.save_case(case)
    for call in first_call.CALLS.values():
        monkeypatch.setattr(sys, "argv", ["", str(case), call])
        exec(first_call._FIRST_AND_SECOND, {})
        first, second = json.loads(capsys.readouterr().out)
        assert first.keys() == second.keys() == {"wall", "processor"}
