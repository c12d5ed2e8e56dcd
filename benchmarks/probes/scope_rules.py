"""Scope: what a rule keeps from an answer is not answered, and the rest is as before."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within
from .harness.life import MINUTE, Life
from .stimuli import NAMES, OBJECTS, PLACES, Stimuli

KEPT, EACH, FIRST = "Secretary", 10, 10
OPEN: Final = "Colleague"
RULES: Final = f"""rules:
  - name: what the secretary says stays out
    then: exclude
    where: {{speaker: {KEPT}}}
"""


def run(life: Life, seed: int) -> Numbers:
    with TemporaryDirectory() as folder:
        (file := Path(folder) / "rules.yaml").write_text(RULES, encoding="utf-8")
        return answered(life.fresh(settings={"rule_filter": {"rules": str(file)}}), seed)


def answered(life: Life, seed: int) -> Numbers:
    s = Stimuli("scope_rules", seed)
    names, things, places = (
        s.draw(NAMES, 2 * EACH),
        s.draw(OBJECTS, 2 * EACH),
        s.draw(PLACES, 2 * EACH),
    )
    ids = {}
    for i in s.rng.permutation(2 * EACH).tolist():
        speaker = KEPT if i < EACH else OPEN
        ids[i] = life.tell(
            f"{names[i]} keeps the {things[i]} in the {places[i]}.",
            speaker,
            at=life.now + 5 * MINUTE,
        )
    hits = [
        life.hit(f"Where does {names[i]} keep the {things[i]}?", ids[i], FIRST)
        for i in range(2 * EACH)
    ]
    return {
        "kept back, answered": sum(hits[:EACH]) / EACH,
        "open, answered": sum(hits[EACH:]) / EACH,
    }


PROBES = (
    Probe(
        id="scope_rules/speaker",
        capability="What one speaker said stays out of every answer if a rule says so; everything else is answered.",
        source="cortex2026",
        place="3.3 stage 5, hard rules",
        unit="share in the top 10",
        protocol="10 facts of the speaker Secretary, whom a rule excludes, and 10 of the speaker Colleague, in random order; each is asked for. The rule "
        "is a file that the probe writes as its user would (`rule_filter.rules`: exclude where speaker is Secretary); a set without "
        "`rule_filter` has no use for it.",
        band=(
            Within("kept back, answered", high=0.0),
            Within("open, answered", low=0.9),
            Above("open, answered", "kept back, answered"),
        ),
        matters=("rule_filter",),
        sets=("everything",),
        run=run,
        measures=Measures(answers=True),
    ),
)
