"""The types of public arguments name what there is."""

from typing import get_args

import lagbc
from lagbc import types
from lagbc.centrality.registry import registered


def test_names_are_those_of_the_tables():
    assert set(get_args(types.MethodName)) == {row.name for row in lagbc.METHODS}
    assert set(get_args(types.DeviceName)) == {row.device for row in lagbc.METHODS}
    assert (
        set(get_args(types.CentralityName))
        == set({one.name for one in registered()})
        == set(types.Scores.__annotations__)
    )
