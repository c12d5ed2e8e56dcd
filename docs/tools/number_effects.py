"""Measure what the numbers that no paper prints do, for the static check ST-13:

    python docs/tools/number_effects.py                     # mechanisms whose numbers changed
    python docs/tools/number_effects.py recency heat        # these

Each number is made a factor of three lower and higher, in lives of growing company: alone, with other
choices of the mechanism, and in the sets that hold it.  What changes most is its witness.  Where
nothing changes, the evidence runs with the wrong number; where no check fails, too, the number is free
on that side, and `free` is written to registry.yaml.  Results go to audit/effects.json.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from hebbarium.audit.effects import (
    FILE,
    NOTICED,
    NumberEffect,
    NumberWitness,
    changed,
    off,
    own_numbers,
    typed,
    written,
)
from hebbarium.audit.life import Circumstances, lived, observed
from hebbarium.audit.mutation.bench import MutationBench
from hebbarium.audit.mutation.numbers import Number
from hebbarium.audit.mutation.sites import GeneratedMutant, Group, MutantKind
from hebbarium.audit.mutation.trial import GeneratedFate
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.catalogue.registry import Entry, Registry
from hebbarium.engine.contract.hooks import parameter_types

SURVIVES = (GeneratedFate.SURVIVED, GeneratedFate.NOT_REACHED)
REGISTRY = Path(__file__).parents[2] / "registry.yaml"


def circumstances(entry: Entry, registry: Registry) -> Iterator[Circumstances]:
    """The lives of a mechanism, the simplest first."""
    yield Circumstances()
    types = parameter_types(entry.load().params_class)
    for name, p in entry.params.items():
        others = [c for c in p.choices if c != p.value] or (
            [not p.value] if types.get(name) is bool else []
        )
        for other in others:
            yield Circumstances(choices={name: other})
    holding = [s for s in registry.sets.values() if entry.id in s.mechanisms]
    by_size = sorted(holding, key=lambda s: len(s.mechanisms))
    for chosen in dict.fromkeys(s.name for s in (*by_size[:1], *by_size[-1:])):
        yield Circumstances(chosen)


def measured(entry: Entry, registry: Registry) -> dict[str, NumberEffect]:
    """What each number of ours does."""
    plain: dict[str, Mapping[str, float]] = {}
    effects, bench = dict[str, NumberEffect](), None
    for name, p in own_numbers(entry).items():
        witnesses, silent = list[NumberWitness](), list[float]()
        for wrong in off(entry, name):
            witness = _witness(entry, registry, name, wrong, plain)
            if witness is None:
                bench = bench or MutationBench(entry.id, registry, static=False)
                outcome = bench.number(
                    Number(
                        GeneratedMutant(name, Group.NUMBERS, MutantKind.NUMBER, name, p.kind),
                        name,
                        typed(entry, name, wrong),
                    )
                )
                if outcome.fate in SURVIVES:
                    silent.append(wrong)
                elif outcome.by:
                    witnesses.append(NumberWitness(wrong, check=outcome.by))
            else:
                witnesses.append(witness)
        value = float(p.value)
        free = _range(value, silent) if silent else None
        effects[name] = NumberEffect(value, tuple(witnesses), free)
    return effects


def _range(value: float, silent: list[float]) -> tuple[float, float]:
    """From the number to the values at which nothing changes, rounded towards it."""
    low, high = min(value, *silent), max(value, *silent)
    return _rounded(low, value), _rounded(high, value)


def _rounded(end: float, value: float) -> float:
    """The end to three digits, no farther from the value than it was."""
    if end == value or not end:
        return end
    step = 10.0 ** (math.floor(math.log10(abs(end))) - 2)
    whole = math.ceil(end / step - 1e-9) if end < value else math.floor(end / step + 1e-9)
    return float(f"{whole * step:.3g}")


def _witness(
    entry: Entry, registry: Registry, name: str, wrong: float, plain: dict[str, Mapping[str, float]]
) -> NumberWitness | None:
    for around in circumstances(entry, registry):
        try:
            if repr(around) not in plain:
                plain[repr(around)] = observed(lived(registry, entry.id, around))
            other = Circumstances(around.of, {**around.choices, name: typed(entry, name, wrong)})
            once, off_by_three = plain[repr(around)], observed(lived(registry, entry.id, other))
        except HebbariumError:
            continue  # the wrong number is refused, or the choice needs what a life has not
        shares = {k: s for k, s in changed(once, off_by_three).items() if k in once}
        if shares and max(shares.values()) >= NOTICED:
            best = max(sorted(shares), key=lambda k: shares[k])
            return NumberWitness(wrong, around, best, once[best], off_by_three.get(best, 0.0))
    return None


def write_free(effects: Mapping[str, Mapping[str, NumberEffect]]) -> None:
    """Write `free` of each measured number to registry.yaml, and take away what is not so."""
    entry = name = ""
    lines: list[str] = []
    old = False  # whether the line before was of a former `free`
    for line in REGISTRY.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"(\w+):$", line):
            entry, name = match[1], ""
        elif match := re.match(r"    (\w+):$", line):
            name = match[1]
        effect = effects.get(entry, {}).get(name)
        old = line == "      free:" or (old and line.startswith("        - "))
        if effect and old:
            continue
        lines.append(line)
        if effect and effect.free and line.startswith("      kind:"):
            lines += ["      free:", *(f"        - {end!r}" for end in effect.free)]
    REGISTRY.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(chosen: list[str]) -> None:
    registry = Registry.read()
    held = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    for id, entry in registry.entries.items():
        numbers = own_numbers(entry)
        stale = {n: float(p.value) for n, p in numbers.items()} != {
            n: r["at"] for n, r in held.get(id, {}).items()
        }
        if id not in chosen and (chosen or not stale):
            continue
        print(id, flush=True)
        effects = measured(entry, registry)
        held[id] = {name: written(effect) for name, effect in effects.items()}
        kept = {i: held[i] for i in registry.entries if i in held}
        FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        write_free({id: effects})


if __name__ == "__main__":
    main(sys.argv[1:])
