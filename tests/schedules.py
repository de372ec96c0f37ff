"""The batched method in hops by either schedule, as modules of the contract."""

from functools import partial
from types import SimpleNamespace

from lagbc.methods.cpu.batched import hops


def scheduled(schedule):
    return SimpleNamespace(
        **vars(hops) | {"arrays": schedule.arrays, "prepare": partial(hops.prepare, schedule=schedule)}
    )


by_levels, when_ready = scheduled(hops.LEVEL_ORDER), scheduled(hops.READY_ORDER)
