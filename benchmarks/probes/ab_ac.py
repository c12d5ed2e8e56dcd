"""AB-AC: a second list with the same cues destroys the first one in one block, and not if both
are interleaved (McClelland et al. 1995).
"""

from __future__ import annotations

import math
from typing import Final

from .harness.base import Above, Claim, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import NAMES, OBJECTS, Stimuli

PAIRS, ROUNDS = 12, 3
KEPT: Final = 0.9


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("ab_ac", seed)
    names, things = s.draw(NAMES, PAIRS), s.draw(OBJECTS, 2 * PAIRS)
    first = [f"{name} borrowed the {thing}." for name, thing in zip(names, things, strict=False)]
    second = [
        f"{name} returned the {thing}." for name, thing in zip(names, things[PAIRS:], strict=True)
    ]
    numbers = {}
    for order in ("blocked", "interleaved"):
        strength = {}
        for name in ("alone", "both"):
            memory, ids = life.fresh(), dict[str, str]()
            for turn in range(2 * ROUNDS):
                is_first = turn < ROUNDS if order == "blocked" else turn % 2 == 0
                if is_first or name == "both":
                    _study(memory, first if is_first else second, ids)
                memory.wait(DAY)
            strength[name] = mean(memory.strength([ids[text] for text in first]))
        numbers[f"{order}: kept"] = math.exp(strength["both"] - strength["alone"])
    return numbers


def answers(life: Life, seed: int) -> Numbers:
    s = Stimuli("ab_ac, answers", seed)
    names, things = s.draw(NAMES, PAIRS), s.draw(OBJECTS, 2 * PAIRS)
    lists = [
        [f"{name} {verb} the {thing}." for name, thing in zip(names, mine, strict=True)]
        for verb, mine in (("borrowed", things[:PAIRS]), ("returned", things[PAIRS:]))
    ]
    first, second = (life.tell_all(texts, apart=MINUTE, at=life.now + MINUTE) for texts in lists)
    numbers = {}
    for when in ("before", "after"):
        sides = (lists[0], first, second), (lists[1], second, first)
        numbers[f"lead {when} sleep"] = mean(
            [life.lead(*pair) for side in sides for pair in zip(*side, strict=True)]
        )
        life.sleep()
    return numbers


def _study(life: Life, texts: list[str], ids: dict[str, str]) -> None:
    """Tell what is new, recall what is known."""
    for text in texts:
        if text in ids:
            life.ask(text, k=1, learn=True)
            life.wait(MINUTE)
        else:
            ids[text] = life.tell(text, at=life.now + MINUTE)


def _probe(variant: str, capability: str, claim: Claim) -> Probe:
    return Probe(
        id=f"ab_ac/{variant}",
        capability=capability,
        source="mcclelland1995why",
        place="catastrophic interference; check 3.3",
        unit="strength of the first list, as a share of that without the second list",
        protocol="12 people with one thing each, then the same people with 12 others; each list is studied on 3 days, one after the other or in "
        "turns; in other lives the first list is studied on the same days without the second.",
        band=(claim, Above("interleaved: kept", "blocked: kept")),
        matters=("systems_transfer", "sleep_orthogonalisation"),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING, Need.SLEEP}),
        run=run,
        measures=Measures(
            columns=("activation", "log_strength", "sleep_end", "sleep_onset"),
            answers=True,
            learns=True,
        ),
    )


PROBES = (
    _probe(
        "blocked",
        "A second list with the same cues, learnt in one block, overwrites the first.",
        Within("blocked: kept", high=KEPT),
    ),
    _probe(
        "interleaved",
        "Learning two lists with the same cues in turns keeps the first one.",
        Within("interleaved: kept", low=KEPT),
    ),
    Probe(
        id="ab_ac/answers",
        capability="After a night, two memories with one cue are told apart better than before.",
        source="norman2005methods",
        place="sleep separates memories that interfere",
        unit="sd of all scores",
        protocol="12 people who borrowed one thing and returned another one; each sentence is asked for in its own words, before and after a "
        "night; lead over the other sentence about the same person.",
        band=(Above("lead after sleep", "lead before sleep"),),
        matters=("sleep_orthogonalisation",),
        sets=("night", "everything"),
        needs=frozenset({Need.SLEEP}),
        run=answers,
        measures=Measures(
            columns=("activation", "log_strength", "sleep_end", "sleep_onset"),
            answers=True,
            learns=True,
        ),
    ),
)
