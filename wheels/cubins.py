"""Compile the kernels of a GPU that wheels bring: ``python wheels/cubins.py FOLDER``.

NVRTC compiles each for each architecture, as CuPy would on the user's machine. That takes neither a GPU nor a driver,
and no compiled kernel of the CPU: cuda-bindings, nvidia-cuda-nvrtc and numpy are enough. ``LAGBC_CUBINS=FOLDER`` of
CMake puts them into a wheel.
"""

import sys
from pathlib import Path
from typing import Any

from cuda.bindings import nvrtc

ROOT = Path(__file__).resolve().parents[1]


def call(function: Any, *arguments: Any) -> Any:
    """Call NVRTC; return its result, if it has one besides the status."""
    status, *results = function(*arguments)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise SystemExit(f"wheels/cubins.py: {function.__name__}: {status.name}")
    return results[0] if results else None


def compiled(text: str, options: tuple[str, ...], architecture: int) -> bytes:
    """Return the machine code of a source."""
    program = call(nvrtc.nvrtcCreateProgram, text.encode(), b"", 0, [], [])
    as_cupy = "-ftz=true"  # it adds this to all options
    given = [option.encode() for option in (*options, as_cupy, f"-arch=sm_{architecture}")]
    call(nvrtc.nvrtcCompileProgram, program, len(given), given)
    code = bytearray(call(nvrtc.nvrtcGetCUBINSize, program))
    call(nvrtc.nvrtcGetCUBIN, program, code)
    call(nvrtc.nvrtcDestroyProgram, program)
    return bytes(code)


def main(folder: Path) -> None:
    """Write each kernel under the name by which lagbc finds it."""
    sys.path.insert(0, str(ROOT))
    from lagbc.cuda.kernel import ARCHITECTURES, shipped_name
    from lagbc.methods.gpu.kernels import SHIPPED

    folder.mkdir(parents=True, exist_ok=True)
    for kernels, variant in SHIPPED:
        options = kernels.options(variant)
        for architecture in ARCHITECTURES:
            name = shipped_name(kernels.source, options, architecture)
            (folder / name).write_bytes(compiled(kernels.source.text, options, architecture))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
