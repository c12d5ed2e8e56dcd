"""Numbers that no paper prints, and what they do: in a short life each number is a factor of three
lower and higher, and what changes most is its witness.

`effects.json` holds the witnesses; `docs/tools/number_effects.py` measures them.  The static check
ST-13 lives the same lives with the numbers that ship: a witness nearer to its value at three times
the number than to its value at the number is a number that is off.  Where nothing changes in any life
and no check of the evidence fails, the registry says `free` with the range.

A record is of one number: if the registry has another, it has to be measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from ..engine.base.errors import HebbariumError
from ..engine.catalogue.registry import Entry, Parameter, Registry, Value
from ..engine.contract.hooks import parameter_types
from ..engine.memory.engine import Engine
from .life import Circumstances, everyone, lived, observed

FILE: Final = Path(__file__).parent / "effects.json"
FACTOR: Final = 3.0
NOTICED: Final = 1e-3  # least relative change of a witness
SAME: Final = 1e-6  # relative change that counts as none


@dataclass(frozen=True, slots=True)
class NumberWitness:
    """What changes if a number is off to one side.

    to       the number that is off
    around   the life in which it was measured
    name     of what was observed
    right, wrong  its value at the number that ships, and at `to`
    check    id of the check of the evidence that fails at `to`, where no life changes
    """

    to: float
    around: Circumstances = field(default_factory=Circumstances)
    name: str = ""
    right: float = 0.0
    wrong: float = 0.0
    check: str = ""


@dataclass(frozen=True, slots=True)
class NumberEffect:
    """What was measured of a number.

    at         the number of which it was measured
    witnesses  of the sides to which something changes
    free       range over which nothing changes
    """

    at: float
    witnesses: tuple[NumberWitness, ...] = ()
    free: tuple[float, float] | None = None


def own_numbers(entry: Entry) -> dict[str, Parameter]:
    """The numbers of an entry that no paper prints; words, truth values and paths are choices."""
    return {
        name: p
        for name, p in entry.params.items()
        if p.kind != "paper" and not p.choices and not isinstance(p.value, (bool, str))
    }


def off(entry: Entry, name: str) -> list[float]:
    """The number a factor of three lower and higher, as far as its bounds allow: 0 becomes -1 and 1, a
    whole number stays one and changes by 1 at least.
    """
    p = entry.params[name]
    value = float(p.value)
    lower, higher = (
        (value / FACTOR, value * FACTOR) if value >= 0.0 else (value * FACTOR, value / FACTOR)
    )
    if value == 0.0:
        lower, higher = -1.0, 1.0
    if parameter_types(entry.load().params_class).get(name) is int:
        lower, higher = min(round(lower), int(value) - 1), max(round(higher), int(value) + 1)
    low = p.low if p.low is not None else lower
    high = p.high if p.high is not None else higher
    return [x for x in (max(lower, low), min(higher, high)) if x != value]


def typed(entry: Entry, name: str, value: float) -> Value:
    """The number with the type of its parameter."""
    return int(value) if parameter_types(entry.load().params_class).get(name) is int else value


@cache
def shipped() -> Mapping[str, Mapping[str, NumberEffect]]:
    """The records, by mechanism and parameter."""
    return {
        id: {name: _read(record) for name, record in records.items()}
        for id, records in json.loads(FILE.read_text(encoding="utf-8")).items()
    }


def _read(record: Any) -> NumberEffect:
    return NumberEffect(
        record["at"],
        tuple(
            NumberWitness(
                w["to"],
                Circumstances(w.get("set", ""), w.get("choices", {})),
                w.get("name", ""),
                w.get("right", 0.0),
                w.get("wrong", 0.0),
                w.get("check", ""),
            )
            for w in record.get("witnesses", ())
        ),
        tuple(record["free"]) if "free" in record else None,
    )


def written(effect: NumberEffect) -> dict[str, Any]:
    """The form of an effect in the file."""
    return {
        "at": effect.at,
        "witnesses": [
            {"to": w.to}
            | ({"set": w.around.of} if w.around.of else {})
            | ({"choices": dict(w.around.choices)} if w.around.choices else {})
            | (
                {"check": w.check}
                if w.check
                else {"name": w.name, "right": w.right, "wrong": w.wrong}
            )
            for w in effect.witnesses
        ],
    } | ({"free": list(effect.free)} if effect.free else {})


def differences(
    entry: Entry,
    registry: Registry,
    records: Mapping[str, NumberEffect] | None,
    plain: Callable[[], Engine] | None = None,
) -> Iterator[str]:
    """What is wrong with the numbers of an entry that no paper prints: a number of which nothing
    was measured, that is another than the one measured, or whose witness says that it is off.

    records  None: nothing was measured of the mechanism, such as one of a package
    plain    gives the life of the mechanism in the usual company, if there is one already
    """
    if records is None:
        yield from _without_effect(entry, registry)
        return
    witnesses = [w for effect in records.values() for w in effect.witnesses if not w.check]
    lives = _WitnessLives(entry, registry, witnesses, plain)
    for name, p in own_numbers(entry).items():
        effect, value = records.get(name), float(p.value)
        if effect is None:
            yield f"what {name} does was not measured"
            continue
        if value != effect.at:
            yield f"{name} is {value:g}, and was measured at {effect.at:g}"
        if effect.free != p.free:
            yield f"{name} is free in {p.free}, measured {effect.free}"
        for witness in effect.witnesses:
            if not witness.check:
                yield from _off(name, witness, lives)


def _off(name: str, witness: NumberWitness, lives: _WitnessLives) -> Iterator[str]:
    try:
        seen = lives.seen(witness.around).get(witness.name)
    except HebbariumError as error:
        yield f"a life ends with {error.what}"
        seen = None
    if seen is None:
        yield f"nothing shows {witness.name}, the witness of {name}"
    elif not abs(seen - witness.right) < 0.5 * abs(witness.wrong - witness.right):
        yield (
            f"{name} acts as if it were off: {witness.name} is {seen:.6g}, measured "
            f"{witness.right:.6g}, and {witness.wrong:.6g} at {witness.to:g}"
        )


class _WitnessLives:
    """The lives of a mechanism in which its witnesses were measured, each lived once.

    plain  gives the life in the usual company, if there is one already
    """

    def __init__(
        self,
        entry: Entry,
        registry: Registry,
        witnesses: Sequence[NumberWitness],
        plain: Callable[[], Engine] | None,
    ) -> None:
        self._entry, self._registry, self._plain = entry, registry, plain
        self._witnesses, self._seen = witnesses, dict[str, Mapping[str, float]]()

    def seen(self, around: Circumstances) -> Mapping[str, float]:
        """What the witnesses of a life name of it.  Raises what the mechanism raises, once."""
        key = repr(around)
        if key not in self._seen:
            self._seen[key] = {}
            self._seen[key] = self._observed(around)
        return self._seen[key]

    def _observed(self, around: Circumstances) -> Mapping[str, float]:
        """The mechanisms of a set that ships live it once for all of them."""
        if around.of:
            everybody = everyone(self._registry, self._entry.id, around)
            present = tuple((type(m), m.params) for m in everybody)
            return _seen(_Company(present, self._entry.id, around, self._registry))
        if around == Circumstances() and self._plain:
            memory = self._plain()
        else:
            memory = lived(self._registry, self._entry.id, around)
        return observed(memory, {w.name for w in self._witnesses if w.around == around})


@dataclass(frozen=True, slots=True)
class _Company:
    """The mechanisms of a life, which with their parameters decide it."""

    present: tuple[tuple[type, Any], ...]
    id: str = field(compare=False)
    around: Circumstances = field(compare=False)
    registry: Registry = field(compare=False)


@lru_cache(maxsize=32)
def _seen(company: _Company) -> Mapping[str, float]:
    return observed(lived(company.registry, company.id, company.around))


def _without_effect(entry: Entry, registry: Registry) -> Iterator[str]:
    """Each number is changed here: something has to change with one that is not free, and nothing
    within the range of one that is.
    """
    numbers = own_numbers(entry)
    if not numbers:
        return
    plain = observed(lived(registry, entry.id))

    def most(name: str, value: float) -> float:
        choices = {name: typed(entry, name, value)}
        other = observed(lived(registry, entry.id, Circumstances(choices=choices)))
        return max(changed(plain, other).values(), default=0.0)

    for name, p in numbers.items():
        if p.free is None:
            if not any(most(name, x) for x in off(entry, name)):
                yield f"{name} changes nothing in a short life, and does not say where it is free"
        elif any(most(name, end) >= NOTICED for end in {*p.free} - {float(p.value)}):
            yield f"{name} says that it is free in {list(p.free)}, and changes a short life there"


def changed(once: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """What differs between two lives -> by how much, as a share of the larger."""
    shares = {}
    for name in once.keys() | other.keys():
        a, b = once.get(name, 0.0), other.get(name, 0.0)
        if abs(a - b) > SAME * max(abs(a), abs(b), 1e-6):
            shares[name] = abs(a - b) / max(abs(a), abs(b))
    return shares
