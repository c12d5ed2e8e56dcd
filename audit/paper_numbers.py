"""Numbers of papers: each parameter of kind `paper` is stated once in the evidence, in the paper's
unit, and compared with what the plug-in holds.

    NUMBERS = (
        paper_number("tau_a", TAU, "s", paper="vanrossum2000stable", where="below eq. (3)"),
        paper_number("beta", BETA, "1/(s Hz)", paper="vanrossum2000stable", where="eq. (3)",
        held=lambda plug_in: plug_in.gains[0]),
    )

Units are converted by the table of this module, not by the engine's: the comparison covers the
engine's conversion, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..engine.base.errors import ContractError
from ..engine.catalogue.registry import Entry, Registry, Value
from ..engine.catalogue.stand_ins import checked_instance

SECONDS: Final[Mapping[str, float]] = {
    "ms": 0.001,
    "s": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
PREFIXES: Final[Mapping[str, tuple[str, float]]] = {
    "uM": ("M", 1e-6),
    "mM": ("M", 1e-3),
    "mV": ("V", 1e-3),
    "kHz": ("Hz", 1e3),
}
RTOL: Final = 1e-9
TERM = re.compile(r"(?P<name>[^\W\d_]+)\^?(?P<power>\d*)")


@dataclass(frozen=True, slots=True)
class PaperNumber:
    """A number that a paper prints.

    parameter  its name in the registry
    value      in `unit`, as the paper prints it; a word or a bool for a choice
    unit       the paper's unit; "1" for none
    paper      key of references.bib; one of the papers of the entry
    where      the place in the paper, such as "table 1" or "below eq. (3)"
    held       what the plug-in computes with, in hours for time and without prefixes (1/(h Hz) for
               1/(s Hz), M for mM); None: `hours(parameter)` for a parameter of time, else the
               parameter itself
    """

    parameter: str
    value: Value
    unit: str
    paper: str
    where: str
    held: Callable[[Any], float] | None = None


def paper_number(
    parameter: str,
    value: Value,
    unit: str,
    *,
    paper: str,
    where: str,
    held: Callable[[Any], float] | None = None,
) -> PaperNumber:
    """Declare a number of a paper; see PaperNumber.  Raises ContractError without a place in the
    paper.
    """
    if not where.strip() or not paper:
        raise ContractError(
            f"number {parameter!r} has no place in a paper",
            where="NUMBERS",
            cure='write paper="key", where="table 1"',
        )
    return PaperNumber(parameter, value, unit, paper, where, held)


def differences(entry: Entry, registry: Registry, numbers: Sequence[PaperNumber]) -> Iterator[str]:
    """Each parameter of kind `paper` without a number, each number without a parameter, and each
    difference between plug-in and paper.
    """
    stated = {number.parameter: number for number in numbers}
    yield from (
        f"{name} is of kind paper, and NUMBERS of the evidence lacks it"
        for name, p in entry.params.items()
        if p.kind == "paper" and name not in stated
    )
    plug_in = checked_instance(registry, entry.id, {"time_scale": 1.0})
    for name, number in stated.items():
        if name not in entry.params:
            yield f"NUMBERS has {name}, which is no parameter"
        elif number.paper not in entry.papers:
            yield f"NUMBERS has {name} of {number.paper}, which is not among the papers"
        else:
            yield from _difference(number, entry.params[name].unit, plug_in)


def _difference(number: PaperNumber, unit: str, plug_in: Any) -> Iterator[str]:
    name, expected = number.parameter, number.value
    if isinstance(expected, (str, bool)):
        if getattr(plug_in.params, name) != expected:
            yield f"{name} is {getattr(plug_in.params, name)!r}, the paper has {expected!r}"
        return
    power, factor = dimension(number.unit)
    own_power, own_factor = dimension(unit)
    if power != own_power:
        yield f"{name} has the unit {unit}, the paper has {number.unit}"
        return
    if number.held is not None:
        held = number.held(plug_in)
    else:
        held = (
            plug_in.hours(name)
            if unit.removeprefix("1/") in SECONDS
            else own_factor * getattr(plug_in.params, name)
        )
    declared = own_factor * getattr(plug_in.params, name)
    if not math.isclose(declared, factor * expected, rel_tol=RTOL, abs_tol=0.0):
        yield f"the registry has {name} = {getattr(plug_in.params, name):g} {unit}, the paper {expected:g} {number.unit}"
    elif not math.isclose(held, factor * expected, rel_tol=RTOL, abs_tol=0.0):
        yield f"the plug-in holds {name} = {held:.9g}, the paper's {expected:g} {number.unit} is {factor * expected:.9g} (hours, no prefixes)"


def dimension(unit: str) -> tuple[dict[str, int], float]:
    """Powers of the base units, with hours for time, and the factor to them.  A unit that is a
    word, such as "synapses", is its own base unit.

    >>> dimension("1/(s2 Hz)") == ({"h": -2, "Hz": -1}, 3600.0 ** 2), dimension("min")[1] * 60 == 1, dimension("score")
    (True, True, ({'score': 1}, 1.0))
    """
    powers: dict[str, int] = {}
    factor = 1.0
    for sign, part in zip((1, -1), re.split(r"/| per ", unit, maxsplit=1), strict=False):
        for term in TERM.finditer(part):
            name, power = term["name"], sign * int(term["power"] or 1)
            base, size = (
                ("h", SECONDS[name] / SECONDS["h"])
                if name in SECONDS
                else PREFIXES.get(name, (name, 1.0))
            )
            powers[base] = powers.get(base, 0) + power
            factor *= size**power
    return {base: power for base, power in powers.items() if power}, factor
