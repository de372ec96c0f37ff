"""Frozen dataclasses with fast construction: the ``__init__`` of Python's own sets each field by a call."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


class _Made:
    """The default of a field that is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen(cls: Class) -> Class:
    """Make a class a frozen dataclass with equality by identity."""
    return _with_fast_init(dataclass(frozen=True, eq=False, init=False)(cls))  # type: ignore[no-any-return]


@dataclass_transform(frozen_default=True, eq_default=True, field_specifiers=(field,))
def frozen_value(cls: Class) -> Class:
    """Make a class a frozen dataclass with equality by fields."""
    return _with_fast_init(dataclass(frozen=True, init=False)(cls))  # type: ignore[no-any-return]


def _with_fast_init(made: Any) -> Any:
    """Give a frozen dataclass an ``__init__`` that writes the dict of an object; no slots, no `InitVar`."""
    positional, keywords, lines = ["self"], ["*"], ["_values = self.__dict__"]
    known: dict[str, Any] = {"_made": _MADE}
    for one in fields(made):
        if not one.init:
            continue
        name, parameter, value = one.name, one.name, one.name
        if one.default_factory is not MISSING:
            known[f"make_{name}"] = one.default_factory
            parameter, value = f"{name}=_made", f"make_{name}() if {name} is _made else {name}"
        elif one.default is not MISSING:
            known[f"usual_{name}"] = one.default
            parameter = f"{name}=usual_{name}"
        (keywords if one.kw_only else positional).append(parameter)
        lines.append(f"_values[{name!r}] = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*positional, *(keywords if len(keywords) > 1 else [])])
    body = "\n    ".join(lines)
    text = f"def __init__({parameters}):\n    {body}\n"
    exec(compile(text, f"<{made.__module__}.{made.__qualname__}>", "exec"), known)
    init: Any = known["__init__"]
    init.__annotations__ = {one.name: one.type for one in fields(made) if one.init} | {"return": None}
    init.__qualname__ = f"{made.__qualname__}.__init__"
    made.__init__ = init
    return made
