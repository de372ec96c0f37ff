"""What shells are offered while a command is typed."""

import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner
from commands import run, succeed

from lagbc.interfaces.cli import main
from lagbc.io.source import example_names
from lagbc.methods.table import METHODS

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
    script = succeed("completion", shell)
    assert "_LAGBC_COMPLETE=" + shell + "_complete" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def test_the_help_says_what_goes_where():
    lines = [line.strip() for line in succeed("completion", "--help").splitlines()]
    assert 'zsh:   eval "$(lagbc completion zsh)"     in ~/.zshrc, below compinit' in lines


def test_unknown_shell():
    assert run("completion", "ksh").exit_code == 2


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
    [
        (["bc", "example", ":", "ka"], ["karate"]),
        (["bc", "--devi"], ["--device"]),
        (["bc", "example", ":"], example_names()),
    ],
)
def test_bash_itself(tmp_path, words, replies):
    """Bash splits words at colons, and puts what is offered in the place of the last part."""
    program = tmp_path / "lagbc"
    program.write_text(f"#!{sys.executable}\nfrom lagbc.interfaces.cli import main\nmain(prog_name='lagbc')\n")
    program.chmod(0o755)
    line = " ".join(f"'{word}'" for word in ["lagbc", *words])
    script = (
        f'eval "$(lagbc completion bash)"\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}\n'
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
