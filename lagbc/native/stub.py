"""Types of the compiled module, for type checkers: ``python -m lagbc.native.stub`` writes core.pyi after a build.

Needs nanobind, of the extra "test".
"""

from __future__ import annotations

import re
from pathlib import Path

from lagbc.native import core

STUB = Path(__file__).with_name("core.pyi")
_SHORT = {"numpy.typing.NDArray": "NDArray", "numpy.": "np."}
# Attributes that are read and written are methods in pairs, and one-line texts stand on three lines.
_PAIR = re.compile(
    r"@property\n +def (?P<name>\w+)\(self\) -> (?P<kind>.+): \.\.\.\n\n +@(?P=name)\.setter\n"
    r" +def (?P=name)\(self, value: (?P=kind)\) -> None: \.\.\."
)
_TEXT = re.compile(r'"""\n +(.+)\n +"""')
# Nothing stands between one member and the next, or one function and the next.
_GAP = re.compile(r"\n\n(?= +\S|def |@)")
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
    text = "\n".join(line.rstrip() for line in text.splitlines() if not line.startswith(imports)).strip()
    text = _TEXT.sub(r'"""\1"""', _PAIR.sub(r"\g<name>: \g<kind>", text))
    return _HEAD + _GAP.sub("\n", text) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
