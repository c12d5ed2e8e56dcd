"""Whether a value is one of a parameter: its type, its choices and its bounds."""

from __future__ import annotations

import sys
from typing import Any, Final, Literal, get_args, get_origin

from ..base.errors import RegistryError
from ..base.files import UNIT, FilePath

_NOUNS: Final = {
    bool: ("truth value", "true or false"),
    int: ("whole number", "a whole number"),
    float: ("number", "a number"),
}


def checked_value(value: Any, kind: Any, unit: str, bounds: tuple[float, float], where: str) -> Any:
    """The value of a parameter in its type.  Raises RegistryError for one of another type or out of
    its bounds.

    kind    type of the parameter, as in its class
    unit    as in the registry
    bounds  least and greatest value
    where   named in errors
    """
    if unit == UNIT:
        return FilePath.checked(value, where)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise RegistryError(
                f"{value!r} is none of its choices",
                where=where,
                cure=f"give one of {', '.join(map(str, get_args(kind)))}",
            )
        return value
    unit = "" if unit == "1" else f" {unit}"
    typed = (
        isinstance(value, bool)
        if kind is bool
        else isinstance(value, (int, float)) and not isinstance(value, bool)
    )
    if not typed or not abs(value) <= sys.float_info.max or (kind is int and value != int(value)):
        noun, cure = _NOUNS.get(kind, (kind.__name__, f"a {kind.__name__}"))
        raise RegistryError(
            f"{value!r} is no {noun}",
            where=where,
            cure=f"give {cure}{unit.replace(' ', ' in ', 1)}",
        )
    low, high = bounds
    if not low <= value <= high:
        raise RegistryError(
            f"{value!r} is outside [{low:g}, {high:g}]{unit}",
            where=where,
            cure=f"give a number from {low:g} to {high:g}, its bounds",
        )
    return kind(value)
