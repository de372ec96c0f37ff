"""The program: how it ends when something is wrong, and what it loads."""

import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from commands import fail, run, succeed

from lagbc.centrality import compiled, compute
from lagbc.centrality.compiled import compile_kernels
from lagbc.errors import MemoryWarning
from lagbc.interfaces.cli import main
from lagbc.io.source import example_names
from lagbc.methods.table import METHODS


def raiser(error):
    def run_call(A, call):
        raise error

    return run_call


@pytest.mark.parametrize(
    ("option", "name", "part"),
    [
        ("--out", "scores.txt", "a .npy, .csv or .parquet file"),
        ("--plot", "scores.xyz", "suffix '.xyz'"),
        ("--out", "nowhere/scores.npy", "there is no folder"),
        ("--plot", "nowhere/scores.png", "there is no folder"),
    ],
)
def test_outputs_are_checked_before_the_computation(monkeypatch, tmp_path, option, name, part):
    monkeypatch.setattr(compute, "plan_call", lambda *_: pytest.fail("planned in vain"))
    monkeypatch.setattr(compute, "run_call", lambda *_: pytest.fail("computed in vain"))
    assert part in fail("bc", "example:karate", option, tmp_path / name)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("rtol=3.0: it is a relative difference", "--rtol 3.0: it is a relative difference"),
        ("raise it by memory= or by LAGBC_MEMORY=8GB", "raise it by --memory or by LAGBC_MEMORY=8GB"),
        ("method='a b' takes none: leave out weighted=True", "--method a b takes none: leave out --weighted"),
        ("bucket_width=0 (not 'auto'); weighted=False", "--bucket-width 0 (not 'auto'); leaving out --weighted"),
        ("rng=3, directed=False", "--seed 3, --undirected"),
        ("graph_from_edges(edges, directed=False); k=2", "graph_from_edges(edges, directed=False); --k 2"),
        ("runs/k=3.txt: n=[0]", "runs/k=3.txt: n=[0]"),
    ],
)
def test_errors_speak_of_options(monkeypatch, said, shown):
    monkeypatch.setattr(compute, "run_call", raiser(ValueError(said)))
    assert fail("bc", "example:karate") == f"lagbc: error: {shown}"


def test_a_fault_of_lagbc_keeps_its_traceback(monkeypatch):
    monkeypatch.setattr(compute, "run_call", raiser(ZeroDivisionError()))
    assert isinstance(run("bc", "example:karate").exception, ZeroDivisionError)


def test_warnings_are_one_line(monkeypatch):
    def run_call(A, call):
        warnings.warn(MemoryWarning("smaller\nbatch=8"), stacklevel=1)
        return {"bc": np.zeros(A.n)}

    monkeypatch.setattr(compute, "run_call", run_call)
    result = run("bc", "example:karate")
    assert (result.exit_code, result.stderr) == (0, "lagbc: warning: smaller --batch 8\n")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "with --checkpoint a run can go on"),
        (["--checkpoint", "written"], "keeps the roots that are done"),
        (["--checkpoint", "absent"], "was not written"),
    ],
)
def test_interrupt(monkeypatch, tmp_path, options, says):
    monkeypatch.chdir(tmp_path)

    def run_call(A, call):
        Path("written").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(compute, "run_call", run_call)
    result = run("bc", "example:karate", *options)
    assert result.exit_code == 130
    (line,) = result.stderr.splitlines()
    assert line.startswith("lagbc: interrupted: ")
    assert says in line


# ---- the program itself


def program(*arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=120)


def test_program(path_graph, tmp_path):
    command = ("-c", "from lagbc.interfaces.cli import main; main()", "bc")
    done = program(*command, path_graph, "--undirected", "--out", tmp_path / "scores.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "path.txt: 4 vertices, 3 undirected edges" in done.stdout
    assert (tmp_path / "scores.csv").read_text() == "vertex,score\n10,2.0\n20,0.0\n30,2.0\n40,0.0\n"
    done = program(*command, tmp_path / "nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("lagbc: error: there is no file")


def test_the_package_is_the_program():
    done = program("-m", "lagbc", "--version")
    assert (done.returncode, done.stdout) == (0, f"lagbc {importlib.metadata.version('lagbc')}\n")
    assert succeed("--version") == done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_control_c_ends_the_program():
    code = (
        "import signal, time\n"
        "from lagbc.centrality import compute\n"
        # A background job of a shell starts with the signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "compute.run_call = lambda *_: time.sleep(60)\n"
        "from lagbc.interfaces.cli import main\n"
        "main(['bc', 'example:karate'])"
    )
    with subprocess.Popen(
        [sys.executable, "-u", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while not process.stdout.readline().startswith("method: "):
            assert process.poll() is None
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stderr == "lagbc: interrupted: nothing is kept; with --checkpoint a run can go on where it was stopped\n"


def test_help_loads_nothing_heavy_on_top_of_lagbc_itself():
    code = (
        "import sys, click.testing, lagbc\n"
        "before = set(sys.modules)\n"
        "from lagbc.interfaces.cli import main\n"
        "assert click.testing.CliRunner().invoke(main, ['bc', '--help']).exit_code == 0\n"
        "heavy = {'numpy', 'scipy', 'matplotlib', 'graphblas', 'cupy', 'lagbc.io.read', 'lagbc.plots'}\n"
        "print(sorted(heavy & set(sys.modules) - before))"
    )
    done = program("-c", code)
    assert (done.returncode, done.stdout) == (0, "[]\n")


def test_figures_are_of_the_formats_that_the_help_names(tmp_path):
    figure = pytest.importorskip("matplotlib.figure")
    formats = figure.Figure().canvas.get_supported_filetypes()
    for suffix in {"webp"} & formats.keys():  # `test_files.py` writes .png, .pdf and .svg
        succeed("bc", "example:karate", "--plot", tmp_path / f"karate.{suffix}")
    line = fail("bc", "example:karate", "--plot", tmp_path / "karate.doc")
    assert line.endswith(f"no figure is written with the suffix '.doc'; there are: {', '.join(sorted(formats))}")
    for command in ("bc", "compare", "estimate"):
        assert ".png, .pdf, .svg or another of matplotlib's formats" in " ".join(succeed(command, "--help").split())


# Quiet


# What a command needs besides its graph, and what its result begins with.
NEEDED = {
    "compare": "--roots 2 --device cpu",
    "gravity": "--decay 0.5",
    **dict.fromkeys(("group-bc", "group-closeness", "group-degree", "group-harmonic"), "--group 1"),
    "percolation": "--states states.csv",
    "straightness": "--coordinates xy.csv",
}
BEGINS = {
    "centralities": "ranked by bc",
    "compare": "method ",
    "compile": "",
    "distances": "     pairs  ",
    "girvan-newman": "2 communities: modularity ",
    "info": "edges.txt: ",
}
# Cases beside one a command: roots that are drawn, and trips that no path takes.
MORE = ["bc --k 3", "bc --demand trips.csv"]
FILES = {
    "edges.txt": "0 1\n1 2\n2 3\n4 3\n",
    "xy.csv": "vertex,x,y\n0,0,0\n1,1,0\n2,1,1\n3,0,1\n4,0,0\n",
    "states.csv": "0,1\n1,0.5\n2,0.2\n3,0.1\n",
    "trips.csv": "origin,destination,trips\n0,3,2\n3,0,5\n",
}


@pytest.mark.parametrize("case", [*main.list_commands(None), *MORE])
def test_a_quiet_command_prints_its_result_alone(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiled, "compile_kernels", lambda: compiled.Compiled("20 modules", 3.0, "/folder"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for part in (1, 2) if case == "merge" else ():
        assert run("bc", "edges.txt", "--quiet", "--part", f"{part}/2", "--out", f"{part}.npz").output == ""
    command, *more = f"{case} {NEEDED.get(case, '')}".split()
    given = [command, *{"merge": ["1.npz", "2.npz"], "compile": []}.get(command, ["edges.txt"]), *more]
    loud, quiet = run(*given), run(*given, "--quiet")
    assert (loud.exit_code, quiet.exit_code, quiet.stderr) == (0, 0, "")
    assert loud.output != quiet.output
    assert quiet.stdout.startswith(BEGINS.get(case, "rank "))
    if command not in ("compare", "info"):  # these print times, of two runs
        lines = quiet.stdout.splitlines()
        assert {*lines} <= {*loud.stdout.splitlines()}
        assert not any(line.startswith(("lagbc", "time: ", "standard error: ", "a score ")) for line in lines)
    if any("--out" in option.opts for option in main.get_command(click.Context(main), command).params):
        written = run(*given, "--quiet", "--out", "scores.csv")
        assert (written.exit_code, written.output) == (0, "")
        assert (tmp_path / "scores.csv").stat().st_size


# compile


SEES_GPU = any(row.available for row in METHODS if row.device == "cuda")


@pytest.mark.skipif(SEES_GPU, reason="there is a GPU")
def test_a_device_that_is_not_there():
    assert "needs" in fail("compile", status=1)


@pytest.mark.skipif(not SEES_GPU, reason="there is no GPU")
def test_kernels_of_the_device(monkeypatch):
    from lagbc.cuda import kernel

    done = compile_kernels()
    assert "kernel modules for sm_" in done.what
    assert done.folder
    monkeypatch.setattr(kernel, "_compile", lambda *_: pytest.fail("compiled again"))
    compile_kernels()


# Completion


SHELLS = ["bash", "zsh", "fish"]


def offered(text, shell="zsh"):
    """Values that are offered for the last word of a command."""
    words = text.split(" ")
    environment = {"_LAGBC_COMPLETE": f"{shell}_complete", "COMP_WORDS": text, "COMP_CWORD": str(len(words) - 1)}
    printed = CliRunner(env=environment).invoke(main, prog_name="lagbc").stdout
    if shell == "bash":
        return [line.partition(",")[2] for line in printed.splitlines()]
    return printed.splitlines()[1::3]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_its_script(shell):
    script = CliRunner(env={"_LAGBC_COMPLETE": f"{shell}_source"}).invoke(main, prog_name="lagbc").stdout
    assert "_LAGBC_COMPLETE=" + shell + "_complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_commands_options_and_values(shell):
    assert {"bc", "group-bc", "percolation", "info"} <= set(offered("lagbc ", shell))
    assert set(offered("lagbc bc --so", shell)) == {"--sources", "--source-weights"}
    assert set(offered("lagbc bc --directed --undirected --so", shell)) == {"--sources", "--source-weights"}
    assert offered("lagbc bc --device c", shell) == ["cpu", "cuda"]
    assert offered("lagbc bc --method ", shell) == list(dict.fromkeys(["auto", *(row.name for row in METHODS)]))


def test_examples_and_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert offered("lagbc bc exa") == [f"example:{name}" for name in example_names()]
    assert offered("lagbc bc example:k") == ["example:karate"]
    for text in ("lagbc bc other", "lagbc bc g --out other", "lagbc bc g --target-weights other"):
        assert offered(text) == ["other"]  # of type "file": the shell completes it
    (tmp_path / "example.csv").write_text("1 2\n")
    assert offered("lagbc bc exa") == ["exa"]


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("words", "replies"),
    [("bc example : ka", ["karate"]), ("bc --devi", ["--device"]), ("bc example :", example_names())],
)
def test_bash_itself(tmp_path, words, replies):
    """Bash splits words at colons, and puts what is offered in the place of the last part."""
    program = tmp_path / "lagbc"
    program.write_text(f"#!{sys.executable}\nfrom lagbc.interfaces.cli import main\nmain(prog_name='lagbc')\n")
    program.chmod(0o755)
    line = " ".join(f"'{word}'" for word in ["lagbc", *words.split()])
    script = (
        f'eval "$(_LAGBC_COMPLETE=bash_source lagbc)"\nCOMP_WORDS=({line}); COMP_CWORD={len(words.split())}\n'
        '_lagbc_completion lagbc\nprintf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == replies
