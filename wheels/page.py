"""The page of what was made and tried: `benchmarks/results/wheels.md`, from `wheels.json` beside it."""

import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
STEPS = ("imported", "demo", "calls", "digests", "kernels")
HEAD = """# Wheels

`sh setup.sh wheels` makes and checks the wheels, with zig's compiler, on one machine. `sh setup.sh try-linux`,
`try-arm` and `try-windows` try them: a line of the second table is an installation that `wheels/probe.py` used. *demo*
is the command of the README without its figure; *calls* are CSR triples, threads, files and Ctrl-C; *digests* are the
bits of scores, a group of calls each, as they were recorded on x86-64 with AVX-512, under qemu and wine those of two
small networks; *kernels* are the tests of the compiled module, which take a SciPy that wine has not for Python 3.11.
Wheels for macOS are linked and checked, and were never run.

"""


def read() -> dict[str, Any]:
    """Return what is recorded: of wheels by their names, and of steps by platform and system."""
    file = RESULTS / "wheels.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"made": {}, "tried": {}}


def record(row: str, steps: dict[str, str], kind: str = "tried") -> None:
    """Record one row, and make the page anew."""
    found = read()
    found[kind][row] = steps
    text = json.dumps(found, indent=1, sort_keys=True) + "\n"
    RESULTS.joinpath("wheels.json").write_text(text, encoding="utf-8")
    RESULTS.joinpath("wheels.md").write_text(HEAD + "\n".join(lines(found)) + "\n", encoding="utf-8")


def lines(found: dict[str, Any]) -> list[str]:
    """Return both tables."""
    made = [f"| `{name}` | {row['size']} | {row['needs']} |" for name, row in sorted(found["made"].items())]
    tried = [
        f"| {row} | {' | '.join(steps.get(step, '-') for step in STEPS)} |"
        for row, steps in sorted(found["tried"].items())
    ]
    return [
        "| built | size | needs |",
        "|---|---|---|",
        *made,
        "",
        f"| platform | system | {' | '.join(STEPS)} |",
        "|---|---|" + "---|" * len(STEPS),
        *tried,
    ]
