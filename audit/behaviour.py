"""What people or animals do that a mechanism's papers are cited for, and whether a memory with the
mechanism does it: verdicts of probes, and of experiments that people took part in.

The audit runs neither.  `behaviour.json` holds the verdicts of the last runs and says of which code
those of probes are; `docs/tools/behaviour.py` writes it from the results of both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..engine.catalogue.registry import Entry, Registry

FILE = Path(__file__).parent / "behaviour.json"
SHOWN = "shown"
PEOPLE = "people"  # an experiment with people is people/PARADIGM


@dataclass(frozen=True, slots=True)
class Probed:
    """The verdicts of a probe, or of an experiment with people.

    source    keys of the papers whose experiment it is, or whose effect; () for one of ours
    matters   mechanisms that should move it
    verdicts  set -> verdict, for the sets that should show the effect, or that took part
    control   whether a search by words or by one vector alone shows it, too, or, in an experiment
              with people, recency alone
    """

    source: tuple[str, ...]
    matters: tuple[str, ...]
    verdicts: Mapping[str, str]
    control: bool = False


@dataclass(frozen=True, slots=True)
class Phenomenon:
    """A probe or an experiment that a mechanism answers for, with the verdicts of the sets that hold
    the mechanism.  One that a search alone shows is a control: it decides nothing about a mechanism.
    """

    probe: str
    verdicts: Mapping[str, str]
    control: bool = False

    @property
    def shown(self) -> bool:
        """Whether at least one set with the mechanism is inside the band, and no search alone is:
        another mechanism may hide the effect in a larger set.
        """
        return not self.control and SHOWN in self.verdicts.values()

    @property
    def missed(self) -> bool:
        """Whether no set with the mechanism is inside the band."""
        return not self.control and SHOWN not in self.verdicts.values()

    @property
    def text(self) -> str:
        """
        >>> Phenomenon("lag_crp/distractor", {"default": "outside"}).text
        'lag_crp/distractor: outside in default'
        >>> Phenomenon("people/testing", {}).text
        'people/testing: unmeasured in every set with the mechanism'
        """
        said = ", ".join(f"{verdict} in {name}" for name, verdict in self.verdicts.items())
        control = "; a control, since a search alone shows it" if self.control else ""
        return f"{self.probe}: {said or 'unmeasured in every set with the mechanism'}{control}"


@cache
def shipped() -> tuple[Mapping[str, Probed], str]:
    """The verdicts by probe or experiment, and the code that those of probes are of."""
    held = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        id: Probed(tuple(p["source"]), tuple(p["matters"]), p["verdicts"], p["control"])
        for id, p in held["probes"].items()
    }, held["code"]


def phenomena(
    entry: Entry, registry: Registry, probed: Mapping[str, Probed] | None = None
) -> tuple[Phenomenon, ...]:
    """What a mechanism answers for: the probes and experiments that its entry names, and every one
    of its papers that it should move, named or not.
    """
    known = shipped()[0] if probed is None else probed
    named = {
        id: p
        for id, p in known.items()
        if id in entry.phenomena
        or id.partition("/")[0] in entry.phenomena
        or (entry.id in p.matters and not set(p.source).isdisjoint(entry.papers))
    }
    unknown = [
        name
        for name in entry.phenomena
        if not any(name in (id, id.partition("/")[0]) for id in known)
    ]
    return (
        *(
            Phenomenon(
                id,
                {
                    name: verdict
                    for name, verdict in p.verdicts.items()
                    if name in registry.sets and entry.id in registry.sets[name].mechanisms
                },
                p.control,
            )
            for id, p in named.items()
        ),
        *(Phenomenon(name, {}) for name in unknown),
    )
