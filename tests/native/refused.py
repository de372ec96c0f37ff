"""Calls of kernels that are refused."""

import re

import pytest


def refused(error, message, call, *given, **named):
    """Require that a call raises an error which says so."""
    with pytest.raises(error, match=message):
        call(*given, **named)


def of_shape(name, *shape, found=None):
    """Return what is said of an array of another shape: the shape that it has to be of, and its own, `found`."""
    own = r"\(\d+,[ \d]*\)" if found is None else re.escape(str(found))
    return rf"^{name} has to be of shape {re.escape(str(shape))}, not {own}$"
