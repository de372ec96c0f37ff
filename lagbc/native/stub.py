"""Types of the compiled module, for type checkers: ``python -m lagbc.native.stub`` writes core.pyi after a build.

Needs nanobind, of the extra "test".
"""

from __future__ import annotations

from pathlib import Path

from lagbc.native import core

STUB = Path(__file__).with_name("core.pyi")
_SHORT = {"numpy.typing.NDArray": "NDArray", "numpy.": "np."}
_HEAD = '''"""Types of the compiled module; made by ``python -m lagbc.native.stub``."""

import numpy as np
from numpy.typing import NDArray

'''


def stub() -> str:
    """Describe the compiled module."""
    from nanobind.stubgen import StubGen

    generator = StubGen(core)
    generator.put(core)
    text = generator.get()
    for long, short in _SHORT.items():
        text = text.replace(long, short)
    imports = "import ", "from np.typing "  # the head has them
    lines = [line.rstrip() for line in text.splitlines() if not line.startswith(imports)]
    return _HEAD + "\n".join(lines).strip() + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
