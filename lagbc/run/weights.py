"""Weights of targets and roots, brought to where float64 holds all that a method makes of them.

A root adds multiplicity * sigma * sum of (omega / sigma) to a score. With omega at either end of the range of float64 a
factor leaves it, though the product may not. So a method gets 2**-shift omega and 2**shift multiplicity: powers of two
change no bit of the product. Roots for which no shift does are left to the routine of single roots, in which every
number has an exponent of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.contract import SweepPlan

# omega stays below 2**900, so that sums over all vertices are finite.
_LARGEST_EXPONENT = 900


def into_range(plan: SweepPlan, n: int) -> tuple[SweepPlan, NDArray[np.bool_]]:
    """Scale the weights of a plan for a method.

    Parameters
    ----------
    plan : SweepPlan
        Without endpoints, if it has weights: the ends of a path are not weighed by omega.
    n : int
        Number of vertices.

    Returns
    -------
    plan : SweepPlan
        Itself, if it is in range. In it, roots out of range have multiplicity 0.
    beyond : ndarray of bool, shape (n,)
        The roots out of range.
    """
    shift = _shift(plan.omega)
    if not shift and not plan.exponent:
        return plan, np.zeros(n, np.bool_)
    omega, times = plan.omega, np.ones(n) if plan.multiplicity is None else plan.multiplicity
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(times, shift + plan.exponent)
        beyond = np.ldexp(scaled, -shift - plan.exponent) != times
        if omega is not None and shift:
            scaled_omega = np.ldexp(omega, -shift)
            beyond |= bool((np.ldexp(scaled_omega, shift) != omega).any())
            omega = scaled_omega
    scaled[beyond] = 0
    return replace(plan, omega=omega, multiplicity=scaled, exponent=0), beyond


def _shift(omega: NDArray[np.float64] | None) -> int:
    """Exponent to take from omega: its smallest is to be 1 or more, and before that its largest below 2**900."""
    if omega is None or not omega.any():
        return 0
    smallest, largest = (int(np.frexp(end)[1]) for end in (omega[omega > 0].min(), omega.max()))
    return max(min(smallest - 1, 0), largest - _LARGEST_EXPONENT)
