"""The batched method in hops by either schedule, as modules of the contract."""

from functools import partial
from types import SimpleNamespace

from lagbc.methods.cpu import batched


def scheduled(schedule):
    ours = {name: partial(getattr(batched, name), schedule=schedule) for name in ("arrays", "prepare")}
    return SimpleNamespace(**vars(batched) | ours)


by_levels, when_ready = scheduled(batched.LEVEL_ORDER), scheduled(batched.READY_ORDER)
