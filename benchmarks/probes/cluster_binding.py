"""Cluster binding: matches of one session of an entity count for more together than as many
apart (Poirazi, Brannon & Mel 2003).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, Life
from .stimuli import FOODS, NAMES, OBJECTS, PLACES, Stimuli

SIZES: Final = (2, 6)
CASES: Final = 4
FORMS: Final = (
    "{} bought {} in town.",
    "{} cooked {} for the guests.",
    "{} never liked {} before.",
    "{} ordered {} twice.",
    "{} wrote about {} in a letter.",
    "{} asked for {} again.",
)


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("cluster_binding", seed)
    names, foods = s.draw(NAMES, len(SIZES) * CASES), s.draw(FOODS, len(SIZES) * CASES)
    others = [
        f"The {thing} is in the {place}."
        for thing, place in zip(s.draw(OBJECTS, 20), s.draw(PLACES, 20), strict=True)
    ]
    numbers = {}
    for kind in ("together", "apart"):
        memory = life.fresh()
        ids: dict[int, list[str]] = {i: [] for i in range(len(names))}
        turns = [(k, i) for i in range(len(names)) for k in range(SIZES[i % len(SIZES)])]
        # person by person, or turn by turn
        for n, (k, i) in enumerate(turns if kind == "together" else sorted(turns)):
            session = f"person {i}" if kind == "together" else f"turn {k}"
            ids[i].append(
                memory.tell(
                    FORMS[k].format(names[i], foods[i]),
                    session=session,
                    at=memory.now + 10 * MINUTE,
                )
            )
            if n % 2 == 0 and n // 2 < len(others):
                memory.tell(others[n // 2], session=session, at=memory.now + MINUTE)
        memory.wait(1.0)
        for size in SIZES:
            mine = range(SIZES.index(size), len(names), len(SIZES))
            numbers[f"{size} {kind}"] = mean(
                [
                    _mean_margin(memory, f"What about {names[i]} and {foods[i]}?", ids[i])
                    for i in mine
                ]
            )
    return numbers | {
        "gain of 6": numbers["6 together"] - numbers["6 apart"],
        "gain of 2": numbers["2 together"] - numbers["2 apart"],
    }


def _mean_margin(life: Life, question: str, ids: list[str]) -> float:
    """Mean score of some events above the mean of all others, in their standard deviations."""
    events = life.everything(question).events
    mine, others = (
        [e.score for e in events if e.id in ids],
        [e.score for e in events if e.id not in ids],
    )
    centre = mean(others)
    spread = mean([(x - centre) ** 2 for x in others]) ** 0.5 if others else 0.0
    return (mean(mine) - centre) / spread if spread > 0.0 else float("nan")


PROBES = (
    Probe(
        id="cluster_binding/sessions",
        capability="Six matches of one session support each other more than two do, and more than six of different sessions.",
        source="poirazi2003pyramidal",
        place="branch nonlinearity; checks 13.2 and 13.5",
        unit="sd of the others' scores",
        protocol="8 people with 2 or 6 sentences about one food each, all in one session or each in another, among 20 other sentences; asked for person "
        "and food: mean score of these sentences.",
        band=(Above("6 together", "6 apart"), Above("gain of 6", "gain of 2")),
        matters=("dendritic_integration",),
        sets=("night", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
