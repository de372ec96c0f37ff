"""Programs of MPI ranks, as tests start them."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import lagbc

LAUNCHER = shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
TESTS = str(Path(__file__).parent)
RESET = "\x1b[0m"  # Open MPI resets the colours of a terminal, whatever is written to
# Open MPI wants to be told that it may run as root, and more ranks than there are cores.
SAID = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


def programs(folder, begin):
    """Return a function that writes a program of a beginning and a body, and returns its path."""

    def write(body):
        script = folder / "program.py"
        script.write_text(begin + body)
        return script

    return write


def environment():
    path = os.pathsep.join([str(Path(lagbc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, **SAID, "PYTHONPATH": path}


def start(ranks, *arguments):
    command = [LAUNCHER, "-n", str(ranks), sys.executable, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=environment(), start_new_session=True, **pipes)


def printed(ranks, *arguments):
    """Return what a program prints that ends well."""
    status, stdout, stderr = run(ranks, *arguments)
    assert status == 0, stderr
    return stdout


def run(ranks, *arguments):
    """Return the exit status of a program, and what it printed."""
    process = start(ranks, *arguments)
    try:
        stdout, stderr = process.communicate(timeout=300)  # compiling, on few cores
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, stdout.replace(RESET, ""), stderr
