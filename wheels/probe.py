"""What holds of an installed lagbc where this runs: ``python probe.py TESTS STEP ...`` prints a line of JSON a step.

It takes Python, lagbc and what lagbc requires; the steps digests and kernels take pytest, hypothesis, gmpy2 and
NetworkX, too. TESTS is the folder of that name.
"""

import _thread
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

# Where another program runs Python, such as qemu-x86_64, it has to run the processes of the steps, too.
PYTHON = [*shlex.split(os.environ.get("LAGBC_RUNNER", "")), sys.executable]


def imported(_):
    """Import lagbc, and call it."""
    import numpy as np

    import lagbc
    from lagbc.native import level

    assert lagbc.bc(([1.0, 1.0], [1, 2], [0, 1, 2, 2])).tolist() == [0, 1, 0]
    return f"Python {platform.python_version()}, NumPy {np.__version__}, {level()}"


def demo(_):
    """Run the command of the README, without its figure; the scores to a file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scores.csv")
        command = [*PYTHON, "-m", "lagbc", "bc", "example:ca-GrQc", "--top", "10", "--out", file]
        ended = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=folder)
        assert ended.returncode == 0, ended.stderr
        lines = file.read_text(encoding="utf-8").splitlines()
    return f"{len(lines) - 1:,} scores"


def calls(_):
    """Call with CSR triples, on threads, with files, and interrupted."""
    import numpy as np

    import lagbc

    n = 3000
    around = np.arange(n)
    indices = np.sort(np.stack([(around + 1) % n, (around * 7 + 3) % n], axis=1), axis=1).ravel()
    ring = (np.ones(2 * n), indices, np.arange(0, 2 * n + 1, 2))
    one, two = (lagbc.bc(ring, threads=threads) for threads in (1, 2))
    assert (one == two).all()
    assert one.sum() > 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "edges.csv")
        file.write_text("ann,bob\nbob,carl\n", encoding="utf-8")
        assert lagbc.bc(lagbc.read_graph(file)).sum() > 0
        checkpoint = Path(folder, "run.npz")
        assert (lagbc.bc(ring, checkpoint=checkpoint) == one).all()
        assert not list(Path(folder).glob("*.lagbc-part"))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a process in the background ignores
    threading.Timer(0.5, _thread.interrupt_main).start()
    try:
        while True:
            lagbc.bc(ring)
    except KeyboardInterrupt:
        return "passed"


def digests(tests):
    """Compare the bits of scores with those recorded on x86-64: of two small networks where all would take hours."""
    some = "karate or lesmis" if "LAGBC_SLOW" in os.environ else "not structures"
    return by_pytest(tests, "test_score_hashes.py::test_bits", "-k", some)


def kernels(tests):
    """Test the compiled module."""
    return by_pytest(tests, "native")


def by_pytest(tests, what, *options):
    """Return the last line of pytest, without its time; where a test has failed, print the end of its output."""
    settings = ["-q", "-o", "addopts=", "-p", "no:cacheprovider", "--rootdir", tests]
    command = [*PYTHON, "-m", "pytest", *settings, tests / what, *options]
    ended = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", cwd=tests)
    if ended.returncode != 0:
        sys.stderr.write(ended.stdout[-6000:] + ended.stderr[-2000:])
    return re.sub(r", \d+ (deselected|warnings?)| in .*|=+ *", "", (ended.stdout.splitlines() or ["no output"])[-1])


STEPS = {step.__name__: step for step in (imported, demo, calls, digests, kernels)}

if __name__ == "__main__":
    for name in sys.argv[2:] or STEPS:
        try:
            outcome = STEPS[name](Path(sys.argv[1]))
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        print(json.dumps({name: outcome}), flush=True)
