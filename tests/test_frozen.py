"""Frozen dataclasses: made, printed and replaced as those of Python are."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any

import pytest

from lagbc.frozen import frozen, frozen_value


@frozen
class Place:
    """Each kind of field."""

    first: int
    names: list[str] = field(default_factory=list)
    last: int = 3
    size: int = field(init=False)
    made: bool = field(init=False, default=True)
    label: str = field(kw_only=True)

    def __post_init__(self) -> None:
        vars(self)["size"] = self.last - self.first


@dataclass(frozen=True, eq=False)
class Plain(Place):
    """The same by Python."""


def test_fields_are_those_given_and_defaults():
    place = Place(1, label="a")
    assert (place.first, place.names, place.last, place.size, place.made, place.label) == (1, [], 3, 2, True, "a")
    assert Place(2, ["b"], last=9, label="c").size == 7
    assert Place(1, label="a").names is not place.names


def test_objects_are_printed_and_described_as_those_of_python():
    assert repr(Place(1, label="a")) == repr(Plain(1, label="a")).replace("Plain", "Place")
    assert str(inspect.signature(Place)) == str(inspect.signature(Plain))


@pytest.mark.parametrize("change", [lambda one: setattr(one, "last", 4), lambda one: delattr(one, "last")])
def test_objects_are_frozen(change: Any):
    with pytest.raises(FrozenInstanceError):
        change(Place(1, label="a"))


def test_each_object_is_equal_to_itself_alone():
    one = Place(1, label="a")
    assert one != Place(1, label="a")
    assert len({one, Place(1, label="a")}) == 2


def test_values_are_equal_where_their_fields_are():
    @frozen_value
    class Pair:
        a: int
        b: int = 2

    assert Pair(1) == Pair(1, 2) != Pair(1, 3)
    assert len({Pair(1), Pair(1, 2)}) == 1


def test_objects_are_replaced_and_pickled():
    one = replace(Place(1, label="a"), last=5)
    assert one.size == 4
    assert vars(pickle.loads(pickle.dumps(one))) == vars(one)


@pytest.mark.parametrize("given", [(), (1, [], 2, 3)])
def test_arguments_that_are_missing_or_too_many_are_refused(given: Any):
    with pytest.raises(TypeError, match="__init__"):
        Place(*given, label="a")
