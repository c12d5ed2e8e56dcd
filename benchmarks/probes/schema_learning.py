"""Schema learning: what fits known things becomes independent of the hippocampus within two
days, what does not fit does not (Tse et al. 2007).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .harness.base import Measures, Numbers, Probe, Within, mean
from .harness.instruments import lesion
from .harness.life import DAY, MINUTE, Life, Need
from .stimuli import PLACES, Stimuli

KNOWN, DAYS, EACH = 30, 10, 4
DELAYS: Final = {"3 h": 3.0, "48 h": 2 * DAY}
TOOLS: Final = (
    "hammer saw drill pliers chisel wrench screwdriver clamp vice plane rasp mallet crowbar spanner level tape sander grinder lathe "
    "router jigsaw stapler file awl punch square gauge anvil bellows tongs axe hatchet shears trowel spade rake hoe pickaxe"
)


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("schema_learning", seed)
    tools = s.shuffled(TOOLS.split())
    known, fitting, odd = (
        tools[:KNOWN],
        tools[KNOWN : KNOWN + EACH],
        tools[KNOWN + EACH : KNOWN + 2 * EACH],
    )
    home = s.draw(PLACES, 1)[0]
    elsewhere = s.draw([place for place in PLACES if place != home], EACH)
    strengths: dict[tuple[str, str], dict[str, float]] = {}
    told = life.now + DAYS * DAY
    for delay, hours in DELAYS.items():
        for name in ("lesion", "intact"):
            memory = life.fresh(lesion(told + hours)) if name == "lesion" else life.fresh()
            for day in range(DAYS):
                texts = [
                    f"The {tool} hangs on the wall of the {home}." for tool in known[day::DAYS]
                ]
                memory.tell_all(texts, apart=MINUTE, at=told - (DAYS - day) * DAY)
            ids = memory.tell_all(
                [f"The {tool} hangs on the wall of the {home}." for tool in fitting]
                + [
                    f"The {tool} sank in the pond behind the {place}."
                    for tool, place in zip(odd, elsewhere, strict=True)
                ],
                apart=MINUTE,
                at=told,
            )
            memory.until(told + hours + 1.0)
            strength = memory.strength(ids)
            strengths[delay, name] = {
                "consistent": mean(strength[:EACH]),
                "inconsistent": mean(strength[EACH:]),
            }
    return {
        f"{kind} at {delay}": float(
            np.exp(strengths[delay, "lesion"][kind] - strengths[delay, "intact"][kind])
        )
        for delay in DELAYS
        for kind in ("consistent", "inconsistent")
    }


PROBES = (
    Probe(
        id="schema_learning/lesion",
        capability="A new fact that fits a schema survives the loss of the fast store after two days; another does not.",
        source="tse2007schemas",
        place="lesions 3 h and 48 h after new paired associates; check 5.2",
        unit="share of the strength without a lesion",
        protocol="30 tools that hang in one place, 3 a day for 10 days; then 4 that fit and 4 that do not; a lesion 3 h or 48 h later; strength an hour "
        "after it, as a share of that without a lesion.",
        band=(
            Within("consistent at 48 h", low=0.9),
            Within("consistent at 3 h", high=0.5),
            Within("inconsistent at 48 h", high=0.5),
        ),
        matters=("schema_formation", "systems_transfer"),
        sets=("night", "everything"),
        needs=frozenset({Need.COLUMNS, Need.INSTRUMENTS, Need.SLEEP}),
        run=run,
        measures=Measures(columns=("activation", "log_strength")),
    ),
)
