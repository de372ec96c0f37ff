"""Hundreds of mutated files: each is read right or refused by name, whatever is in it."""

import subprocess
import sys
from pathlib import Path

import pytest
from strategies import times

WORKER = Path(__file__).parent / "fuzz_worker.py"
COUNT, SEED = times(300), 0


@pytest.mark.parametrize("form", ["edge list", "Matrix Market", "METIS", "SciPy npz"])
def test_mutated_files_are_read_right_or_refused(form, tmp_path):
    command = [sys.executable, str(WORKER), form, str(COUNT), str(SEED), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    last = done.stdout.split("\n")[-2:][0]
    assert done.returncode == 0, f"status {done.returncode} after {last!r}: {done.stderr[-2000:]}"
    word, accepted = last.split()
    assert word == "accepted"
    assert COUNT // 6 < int(accepted) < COUNT, "as many are right, and some are refused"
