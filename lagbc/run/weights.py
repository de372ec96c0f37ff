"""Weights of targets and roots, scaled so that float64 holds all numbers that a method makes of them.

They are scaled as in `lagbc.methods.targets`, all roots by one shift. Roots without such a shift are left to the
routine of single roots, in which every number has an exponent of its own.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.contract import SweepPlan
from lagbc.methods.targets import shift_into_range
from lagbc.plan.demand import without_far_apart


def into_range(plan: SweepPlan, n: int) -> tuple[SweepPlan, NDArray[np.bool_]]:
    """Scale the weights of a plan for a method.

    Parameters
    ----------
    plan : SweepPlan
        Without endpoints, if it has weights: the ends of a path are not weighed by omega. With a demand it has no
        omega, root_weights or exponent.
    n : int
        Number of vertices.

    Returns
    -------
    plan : SweepPlan
        Itself, if it is in range. Else roots out of range have weight 0, or no demand.
    beyond : ndarray of bool, shape (n,)
        The roots out of range.
    """
    if plan.demand is not None:
        demand, beyond = without_far_apart(plan.demand)
        return replace(plan, demand=demand), beyond
    shift = 0 if plan.omega is None else _shift(plan.omega)
    if not shift and not plan.exponent:
        return plan, np.zeros(n, np.bool_)
    omega, times = plan.omega, np.ones(n) if plan.root_weights is None else plan.root_weights
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(times, shift + plan.exponent)
        beyond = np.ldexp(scaled, -shift - plan.exponent) != times
        if omega is not None and shift:
            scaled_omega = np.ldexp(omega, -shift)
            beyond |= bool((np.ldexp(scaled_omega, shift) != omega).any())
            omega = scaled_omega
    scaled[beyond] = 0
    return replace(plan, omega=omega, root_weights=scaled, exponent=0), beyond


def _shift(omega: NDArray[np.float64]) -> int:
    """Return the exponent to take from omega."""
    if not omega.any():
        return 0
    return int(shift_into_range(omega[omega > 0].min(), omega.max()))
