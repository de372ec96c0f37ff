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

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Index = TypeVar("Index", np.int32, np.int64)

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
    return _HEAD + _of_either_index(_GAP.sub("\n", text) + "\n")


def _of_either_index(text: str) -> str:
    """Describe each pair of classes that differ in the type of indices as a class of either type."""
    classes = {match[1]: match[0] for match in re.finditer(r"class (\w+):\n(?: .*\n)+", text)}
    names = [name[:-2] for name in classes if name.endswith("32") and f"{name[:-2]}64" in classes]
    of_32 = re.compile(rf"\b({'|'.join(names)})32\b")
    for name in names:
        narrow, wide = classes[f"{name}32"], classes[f"{name}64"]
        assert of_32.sub(r"\g<1>64", narrow).replace("np.int32", "np.int64") == wide
        _, body = narrow.replace("np.int32", "Index").split("\n", 1)
        body = of_32.sub(r"_\1[Index]", body)
        either = f"class _{name}(Generic[Index]):\n{body}"
        versions = "".join(f"{name}{bits} = _{name}[np.int{bits}]\n" for bits in ("32", "64"))
        text = re.sub(f"{re.escape(wide)}\n?", "", text).replace(narrow, f"{either}\n{versions}")
    return text


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
