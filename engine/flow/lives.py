"""Lives: what decides the state of a memory, computed from declarations.

The life of a memory is its events encoded, its maintenance and its sleeps.  A mechanism whose hooks
all belong to RETRIEVE decides nothing of it as long as no query learns, and neither does the weight
of a signal.  Memories with equal lives can therefore be lived once and asked with several plans
(`engine.arms`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ..contract.columns import Phase
from ..contract.hooks import Mechanism
from ..contract.vocabulary import RECALLED, WORTH
from .dataflow import phases_touched

WEIGHT = "weight"


def decides(m: Mechanism[Any], *, limited: bool = False) -> bool:
    """Whether the mechanism decides a life without learning from recall.

    limited  whether the memory has a capacity; without one, hooks that only vote on WORTH do not
             run

    It does if it has a hook outside RETRIEVE, or if a hook touches a structure that steps outside
    RETRIEVE fill.
    """
    hooks = [h for h in type(m).hooks() if limited or h.sets or set(h.adds) != {WORTH}]
    return not phases_touched(hooks) <= {Phase.RETRIEVE}


def learns(mechanisms: Iterable[Mechanism[Any]]) -> bool:
    """Whether recall can change a memory of these mechanisms: a hook reads RECALLED."""
    return any(RECALLED in h.reads for m in mechanisms for h in type(m).hooks())


def life_of(
    mechanisms: Iterable[Mechanism[Any]], *, recall: bool = False, limited: bool = False
) -> dict[str, dict[str, Any]]:
    """Mechanism -> parameter -> value of what decides the life of a memory.

    recall   whether queries learn.  If a hook reads RECALLED, the answers then decide the life, and
             all mechanisms with all parameters count
    limited  whether the memory has a capacity

    A parameter that is a file stands for the digest of its content.
    """
    chosen = tuple(mechanisms)
    if recall and learns(chosen):
        return {m.id: _values(m) for m in chosen}
    return {
        m.id: {name: value for name, value in _values(m).items() if name != WEIGHT}
        for m in chosen
        if decides(m, limited=limited)
    }


def differing(there: Mapping[str, Mapping[str, Any]], here: Mapping[str, Mapping[str, Any]]) -> str:
    """The first difference between two lives in words; "" if they are equal.

    >>> differing({"heat": {"d": 0.5}}, {"heat": {"d": 0.7}})
    'heat.d is 0.5 there and 0.7 here'
    >>> differing({"heat": {}}, {})
    'heat is on there and off here'
    """
    for id in dict.fromkeys((*there, *here)):
        if id not in there or id not in here:
            return f"{id} is {'on' if id in there else 'off'} there and {'on' if id in here else 'off'} here"
        for name in dict.fromkeys((*there[id], *here[id])):
            if there[id].get(name) != here[id].get(name):
                return f"{id}.{name} is {there[id].get(name)} there and {here[id].get(name)} here"
    return ""


def _values(m: Mechanism[Any]) -> dict[str, Any]:
    return {name: getattr(value, "sha256", value) for name, value in asdict(m.params).items()}
