"""Replies of language models: strict JSON, and the part of JSON Schema that servers with strict
output understand.

The checker is ours, because the library `jsonschema` is no dependency of the core, and because it
would pass schemas that such servers refuse. Keywords: type, properties, required,
additionalProperties, items, enum, const, anyOf, minItems, maxItems, minimum, maximum, description,
title.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ..base.errors import InputError

KINDS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "object": lambda value: isinstance(value, dict),
        "array": lambda value: isinstance(value, list),
        "string": lambda value: isinstance(value, str),
        "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
        "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": lambda value: isinstance(value, bool),
        "null": lambda value: value is None,
    }
)
# a schema has one of them, or it would allow everything
ASSERTING = ("type", "enum", "const", "anyOf")
BOUNDS = ("minItems", "maxItems", "minimum", "maximum")
KEYWORDS = frozenset({*ASSERTING, *BOUNDS, "properties", "required", "additionalProperties",
                      "items", "description", "title"})  # fmt: skip
CURE_SCHEMA = f"use {', '.join(sorted(KEYWORDS))}; an object names all its properties in `required` and has additionalProperties false"


def parsed(text: str) -> Any:
    """The value of a JSON text.  Raises ValueError for other text, for NaN, for numbers beyond
    float64, for a key given twice, and for deep nesting.

    >>> parsed('{"a": [1, null]}')
    {'a': [1, None]}
    """
    try:
        return json.loads(
            text, parse_constant=_refused, parse_float=_finite, object_pairs_hook=_unique
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def fault(value: Any, schema: Mapping[str, Any]) -> str:
    """The first place where a JSON value differs from a checked schema, and how; "" if it agrees.
    1.0 and true are no integers.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}
    >>> fault({"n": 3}, schema), fault({"n": "3"}, schema)
    ('', '$.n: no integer')
    """
    return next(_faults(value, schema, "$"), "")


def checked_schema(schema: Any) -> None:
    """Raises InputError unless the schema is one of an object, in the subset of this module."""
    try:
        _check(schema, "$")
    except TypeError as error:
        raise _odd("$", str(error)) from error
    if schema.get("type") != "object":
        raise _odd("$", "the reply is no object")


def _faults(value: Any, schema: Mapping[str, Any], place: str) -> Iterator[str]:
    kinds = _listed(schema.get("type", ()))
    if kinds and not any(KINDS[kind](value) for kind in kinds):
        yield f"{place}: no {' or '.join(kinds)}"
        return
    if ("enum" in schema and not any(_same(value, allowed) for allowed in schema["enum"])) or (
        "const" in schema and not _same(value, schema["const"])
    ):
        yield f"{place}: none of the allowed values"
    if "anyOf" in schema and all(fault(value, form) for form in schema["anyOf"]):
        yield f"{place}: none of the allowed forms"
    if KINDS["number"](value) and not schema.get("minimum", -math.inf) <= value <= schema.get(
        "maximum", math.inf
    ):
        yield f"{place}: out of range"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", math.inf):
            yield f"{place}: {len(value)} items"
        for number, item in enumerate(value if "items" in schema else ()):
            yield from _faults(item, schema["items"], f"{place}[{number}]")
    if isinstance(value, dict) and "properties" in schema:
        known: Mapping[str, Any] = schema["properties"]
        yield from (f"{place}.{name}: missing" for name in known if name not in value)
        if len(value.keys() - known.keys()):
            yield f"{place}: a property that the schema does not name"
        for name, below in known.items():
            if name in value:
                yield from _faults(value[name], below, f"{place}.{name}")


def _check(schema: Any, place: str) -> None:
    if not isinstance(schema, Mapping):
        raise _odd(place, "it is no mapping")
    if unknown := [word for word in schema if word not in KEYWORDS]:
        raise _odd(place, f"{unknown[0]!r} is no keyword")
    if not any(word in schema for word in ASSERTING):
        raise _odd(place, "it allows every value")
    kinds = _listed(schema.get("type", ()))
    if odd := [kind for kind in kinds if kind not in KINDS]:
        raise _odd(place, f"{odd[0]!r} is no type")
    allowed = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    listed = "enum" not in schema or (isinstance(schema["enum"], list) and len(schema["enum"]) > 0)
    if not listed or not all(
        value is None or isinstance(value, str | int | float) for value in allowed
    ):
        raise _odd(
            place, "enum is a list, and it and const hold texts, numbers, true, false and null"
        )
    if odd := [
        word
        for word in BOUNDS
        if word in schema
        and not KINDS["integer" if word.endswith("Items") else "number"](schema[word])
    ]:
        raise _odd(place, f"{odd[0]} is no number")
    if "object" in kinds:
        _check_object(schema, place)
    elif {"properties", "required", "additionalProperties"} & schema.keys():
        raise _odd(place, "it has properties and is no object")
    if ("array" in kinds) != ("items" in schema):
        raise _odd(place, "an array, and nothing else, has items")
    if "items" in schema:
        _check(schema["items"], f"{place}[]")
    if "anyOf" in schema and not (isinstance(schema["anyOf"], list) and schema["anyOf"]):
        raise _odd(place, "anyOf is no list of schemas")
    for form in schema.get("anyOf", ()):
        _check(form, place)


def _check_object(schema: Mapping[str, Any], place: str) -> None:
    known, needed = schema.get("properties"), schema.get("required")
    if (
        not isinstance(known, Mapping)
        or not isinstance(needed, list)
        or set(needed) != set(known)
        or schema.get("additionalProperties") is not False
    ):
        raise _odd(place, "properties may be left out or added")
    for name, below in known.items():
        _check(below, f"{place}.{name}")


def _odd(place: str, why: str) -> InputError:
    return InputError(
        f"the schema of a request cannot be used: {why}", where=place, cure=CURE_SCHEMA
    )


def _listed(kind: str | Sequence[str]) -> Sequence[str]:
    return (kind,) if isinstance(kind, str) else kind


def _same(one: Any, other: Any) -> bool:
    """Equal scalars; true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _refused(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError("a number is too large")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(unique := dict(pairs)) < len(pairs):
        raise ValueError("a key is given twice")
    return unique
