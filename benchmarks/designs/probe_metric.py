"""The metric `probe:NAME`: arms are scored by a number of a behavioural probe, one value for
each seed, instead of by questions of a data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ...engine.base.errors import InputError, nearest

PREFIX: Final = "probe:"


@dataclass(frozen=True, slots=True)
class Measure:
    """What a probe can be scored by.

    claims  the number of each claim of its band, in order, such as a difference; () for a probe
            whose numbers are printed without a verdict
    names   numbers that the band names
    seeds   how many the probe has if none are given
    """

    claims: tuple[str, ...]
    names: tuple[str, ...]
    seeds: int


@dataclass(frozen=True, slots=True)
class ProbeMetric:
    """One number of a probe.

    probe   name/variant
    number  that of a claim of its band, or one that the band names
    seeds   how many the probe has if none are given
    """

    probe: str
    number: str
    seeds: int

    @property
    def text(self) -> str:
        """As a design's file spells it.

        >>> ProbeMetric("gate_auc/stream", "AUC", 10).text
        'probe:gate_auc/stream:AUC'
        """
        return f"{PREFIX}{self.probe}:{self.number}"


def parsed(metric: str, known: Mapping[str, Measure], where: str) -> ProbeMetric:
    """The number that `probe:NAME`, `probe:NAME/VARIANT` or `probe:NAME/VARIANT:NUMBER` means;
    without a number, the first claim of the band.

    known  the probes by id
    where  of the metric, for errors

    Raises InputError for a probe or number that does not exist, for a name with several variants,
    and for a probe without a band.

    >>> parsed("probe:fan", {"fan/steps": Measure(("slow - fast",), ("slow", "fast"), 10)}, "")
    ProbeMetric(probe='fan/steps', number='slow - fast', seeds=10)
    """
    name, colon, number = metric.removeprefix(PREFIX).partition(":")
    scored = [id for id, measure in known.items() if measure.claims]
    variants = [id for id in known if name in (id, id.partition("/")[0])]
    if not variants:
        names = dict.fromkeys(id.partition("/")[0] for id in scored)
        raise InputError(
            f"there is no probe {name!r}", where=where, cure=nearest(name, [*scored, *names])
        )
    if len(variants) > 1:
        raise InputError(
            f"the probe {name!r} has {len(variants)} variants",
            where=where,
            cure=f"write {' or '.join(PREFIX + id for id in variants)}",
        )
    (id,) = variants
    measure = known[id]
    if not measure.claims:
        raise InputError(
            f"the probe {id!r} has no verdict, so that no number of it scores an arm",
            where=where,
            cure=f"choose a probe with a band, such as {PREFIX}{scored[0]}"
            if scored
            else "choose a probe with a band",
        )
    choices = list(dict.fromkeys((*measure.names, *measure.claims)))
    if colon and number not in choices:
        raise InputError(
            f"the band of the probe {id!r} has no number {number!r}",
            where=where,
            cure=nearest(number, choices),
        )
    return ProbeMetric(id, number or measure.claims[0], measure.seeds)
