"""Reconsolidation: a reminder opens a memory; what is said then strengthens it, updates it, or
is a memory of its own (Nader et al. 2000).
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import DAY, MINUTE, SECOND, Life, Need
from .stimuli import PLACES, Stimuli, sentence

EACH: Final = 8
KINDS: Final = ("equal", "altered", "foreign", "none")
UNTOUCHED: Final = 0.05  # ln


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("reconsolidation", seed)
    facts = s.facts((len(KINDS) + 1) * EACH)
    kinds, foreign = (
        {kind: facts[i * EACH : (i + 1) * EACH] for i, kind in enumerate(KINDS)},
        facts[len(KINDS) * EACH :],
    )
    ids = {
        fact: life.tell(sentence(fact), at=life.now + MINUTE)
        for i in range(EACH)
        for kind in KINDS
        for fact in [kinds[kind][i]]
    }
    life.wait(2 * DAY)
    new: dict[tuple[str, str, str], str] = {}
    for i in range(EACH):
        for kind in ("equal", "altered", "foreign"):
            fact = kinds[kind][i]
            name, thing, place = fact
            other = s.draw([p for p in PLACES if p != place], 1)[0]
            said = {
                "equal": sentence(fact),
                "altered": sentence((name, thing, other)),
                "foreign": sentence(foreign[i]),
            }[kind]
            life.ask(
                f"Where does {name} keep the {thing}?"
                if kind != "foreign"
                else f"Where does {foreign[i][0]} keep the {foreign[i][1]}?",
                1,
                learn=kind != "foreign",
            )
            new[fact] = life.tell(said, at=life.now + 30 * SECOND)
            life.wait(MINUTE)
    life.wait(DAY)
    strength = {kind: mean(life.strength([ids[fact] for fact in kinds[kind]])) for kind in KINDS}
    answers = {
        fact: [e.id for e in life.ask(f"Where does {fact[0]} keep the {fact[1]}?", 5).events]
        for fact in kinds["altered"]
    }
    both = [new[fact] in answer and ids[fact] in answer for fact, answer in answers.items()]
    first = [
        next((id == new[fact] for id in answer if id in (new[fact], ids[fact])), False)
        for fact, answer in answers.items()
    ]
    return {
        "equal": strength["equal"],
        "none": strength["none"],
        "foreign - none": strength["foreign"] - strength["none"],
        "both versions reachable": sum(both) / EACH,
        "new version first": sum(first) / EACH,
    }


PROBES = (
    Probe(
        id="reconsolidation/mismatch",
        capability="A reminder that agrees strengthens, one that differs updates, an unrelated one leaves alone.",
        source="osan2011mismatch",
        place="three regimes of mismatch; check 1.7",
        unit="ln, ACTIVATION + LOG_STRENGTH; share of facts",
        protocol="32 facts; 2 d later a third of them is recalled and told again, a third recalled and told with another place, and beside the rest "
        "unrelated facts are told; 8 are left alone. Strength and the answers a day later.",
        band=(
            Above("equal", "none"),
            Within("foreign - none", -UNTOUCHED, UNTOUCHED),
            Within("both versions reachable", low=0.8),
            Within("new version first", low=0.8),
        ),
        matters=("reconsolidation", "curation"),
        sets=("everything",),
        needs=frozenset({Need.COLUMNS, Need.LEARNING}),
        run=run,
        measures=Measures(columns=("activation", "log_strength"), answers=True, learns=True),
    ),
)
