"""Bytes of the host's memory that lagbc may take: stated by the caller's environment, or a share of the free memory."""

from __future__ import annotations

import os
import re

from lagbc.errors import InvalidValueError
from lagbc.limits import free_memory

BUDGET_VARIABLE = "LAGBC_MEMORY"
# Share of the free memory that a call takes, unless the variable says otherwise.
_DEFAULT_SHARE = 0.5
_UNITS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def host_budget() -> int:
    """Return the bytes of a call on the host: stated, or a share of the free memory; ValueError for no size."""
    stated = stated_budget()
    return int(_DEFAULT_SHARE * free_memory()) if stated is None else stated


def stated_budget() -> int | None:
    """Return the bytes of ``LAGBC_MEMORY``, such as 8GB, 512MiB or 2e9; None if unset, ValueError if it is no size."""
    text = os.environ.get(BUDGET_VARIABLE)
    return None if text is None else parse_size(BUDGET_VARIABLE, text)


def parse_size(name: str, size: str | float) -> int:
    """Return a size such as "8GB", "512MiB", "2e9" or 10**9 in bytes; else a ValueError calls it `name`."""
    match = re.fullmatch(r"\s*([0-9.]+(?:e\+?[0-9]+)?)\s*([KMGT]?)(i?)B?\s*", str(size), re.IGNORECASE)
    try:
        if match is None:
            raise InvalidValueError
        return int(float(match[1]) * (1024 if match[3] else 1000) ** _UNITS[match[2].upper()])
    except (ValueError, OverflowError):  # 1e400 is infinite
        raise InvalidValueError(f"{name}={size!r} is not a size; write e.g. 8GB, 512MiB or a number of bytes") from None
