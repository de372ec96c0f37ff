"""Frozen dataclasses with fast construction: the ``__init__`` of Python's own sets each field by a call."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from functools import wraps
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen(cls: Class) -> Class:
    """Make a class a frozen dataclass with equality by identity."""
    return _with_fast_init(dataclass(frozen=True, eq=False)(cls))  # type: ignore[no-any-return]


@dataclass_transform(frozen_default=True, eq_default=True, field_specifiers=(field,))
def frozen_value(cls: Class) -> Class:
    """Make a class a frozen dataclass with equality by fields."""
    return _with_fast_init(dataclass(frozen=True)(cls))  # type: ignore[no-any-return]


def _with_fast_init(made: Any) -> Any:
    """Give a frozen dataclass an ``__init__`` that writes the dict of an object; no slots, no `InitVar`."""
    positional, keywords, lines, known = ["self"], ["*"], ["values = self.__dict__"], dict[str, Any]()
    for one in fields(made):
        if not one.init:
            continue
        name, parameter, value = one.name, one.name, one.name
        if one.default_factory is not MISSING:
            known[f"make_{name}"], known[f"no_{name}"] = one.default_factory, object()
            parameter, value = f"{name}=no_{name}", f"make_{name}() if {name} is no_{name} else {name}"
        elif one.default is not MISSING:
            known[f"usual_{name}"] = one.default
            parameter = f"{name}=usual_{name}"
        (keywords if one.kw_only else positional).append(parameter)
        lines.append(f"values[{name!r}] = {value}")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join([*positional, *(keywords if len(keywords) > 1 else [])])
    body = "\n    ".join(lines)
    text = f"def __init__({parameters}):\n    {body}\n"
    exec(compile(text, f"<{made.__module__}.{made.__qualname__}>", "exec"), known)
    made.__init__ = wraps(made.__init__)(known["__init__"])
    return made
