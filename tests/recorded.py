"""What was recorded of calls, in files of `data`: of the CPU, and of each kind of GPU."""

import argparse
import json
import sys
from pathlib import Path

DATA = Path(__file__).parent / "data"


def read(stem, device="cpu"):
    """Return what there is of the CPU, or of the kind of GPU that is there; nothing if it was not recorded."""
    path = file_of(stem, device)
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found if device == "cpu" else found.get(kind_of_gpu(), {})


def write(stem, calls):
    """Write what each of `calls` returns on the device that the command line names; of a GPU beside other kinds.

    Those that fail are told at the end, and the others written.
    """
    parser = argparse.ArgumentParser(description=f"Write tests/data/{stem}.json anew, or of a GPU {stem}_cuda.json.")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--out", type=Path, help="another file")
    given = parser.parse_args()
    out = given.out or file_of(stem, given.device)
    found, failed = {}, []
    for name, perform in calls(given.device).items():
        try:
            found[name] = perform()
        except Exception as error:
            failed.append(f"{name}: {error!r}")
    if given.device == "cuda":
        others = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
        found = others | {kind_of_gpu(): found}
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    sys.exit("\n".join(failed) or None)


def file_of(stem, device):
    return DATA / f"{stem}{'_cuda' * (device == 'cuda')}.json"


def kind_of_gpu():
    """Name the compute capability of the GPU that is there, such as "sm_90": the same kind gives the same bits."""
    import cupy

    return f"sm_{cupy.cuda.Device().compute_capability}"
