"""Sleep benefit: twelve hours with a night keep more than twelve hours of the day, most of all
of weak memories.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import DAY, MINUTE, START, Life, Need
from .stimuli import Stimuli, sentence

EACH, USES, NEW = 12, 2, 8
HALF_DAY: Final = 12.0


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("sleep_benefit", seed)
    facts, others, found = s.facts(2 * EACH + NEW), s.chatter(16), dict[str, float]()
    texts = [sentence(fact) for fact in facts]
    weak, strong, new = texts[:EACH], texts[EACH : 2 * EACH], texts[2 * EACH :]
    # told at 9 am or at 9 pm, asked 12 h later
    for name, told in (("wake", START + DAY), ("sleep", START + HALF_DAY)):
        one = life.fresh()
        # a day of talk before, in both
        one.tell_all(others, apart=30 * MINUTE)
        ids = one.tell_all(weak + strong, apart=MINUTE, at=told)
        for text in strong * USES:
            one.ask(text, k=1, learn=True)
        one.until(told + HALF_DAY)
        strength = one.strength(ids)
        found |= {f"weak, {name}": mean(strength[:EACH]), f"strong, {name}": mean(strength[EACH:])}
        late = one.tell_all(new, apart=10 / 3600)
        found[f"new after {name}"] = mean(one.strength(late))
    gains = {
        f"gain of {kind}": found[f"{kind}, sleep"] - found[f"{kind}, wake"]
        for kind in ("weak", "strong")
    }
    return found | gains


PROBES = (
    Probe(
        id="sleep_benefit/wake_sleep",
        capability="After a night more is left than after a day, weak memories gain most, and new ones are learnt better.",
        source="tononi2014sleep",
        place="sleep and consolidation; check 16.7",
        unit="ln, ACTIVATION + LOG_STRENGTH",
        protocol="24 facts told at 9 am or at 9 pm, half of them recalled twice at once; strength 12 h later; then 8 new facts. A day of "
        "other talk before.",
        band=(
            Above("weak, sleep", "weak, wake"),
            Above("gain of weak", "gain of strong"),
            Above("new after sleep", "new after wake"),
        ),
        matters=("sleep_replay", "synaptic_renormalisation"),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.LEARNING, Need.SLEEP}),
        run=run,
        measures=Measures(columns=("activation", "log_strength"), answers=True, learns=True),
    ),
)
