"""Surprise: a message is worth the more, the more of it was not said before."""

from __future__ import annotations

from ...engine.contract.vocabulary import NEWS
from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, Life, Need
from .stimuli import FOODS, NAMES, PLACES, Stimuli

EACH, BEFORE = 10, 20


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("surprise_recall", seed)
    names, prices = (
        s.draw(NAMES, BEFORE + EACH),
        (s.rng.choice(800, BEFORE + 2 * EACH, replace=False) + 101).tolist(),
    )
    places, foods = (
        [PLACES[i] for i in s.rng.integers(len(PLACES), size=BEFORE + 2 * EACH)],
        s.shuffled(FOODS),
    )
    known = [
        f"{name} paid {price} euros at the {place}."
        for name, price, place in zip(names, prices, places, strict=False)
    ][:BEFORE]
    life.tell_all(known, apart=10 * MINUTE)
    told: list[tuple[str, str]] = []
    for i in range(EACH):
        told.append(
            ("restated", f"As I said, {names[i]} paid {prices[i]} euros at the {places[i]}.")
        )
        told.append(
            (
                "half new",
                f"{names[EACH + i]} paid {prices[EACH + i]} euros and then {prices[BEFORE + i]} euros more for {foods[i]}.",
            )
        )
        told.append(
            (
                "new",
                f"{names[BEFORE + i]} paid {prices[BEFORE + EACH + i]} euros at the {places[BEFORE + i]}.",
            )
        )
    ids: dict[str, list[str]] = {"restated": [], "half new": [], "new": []}
    for i in s.rng.permutation(len(told)):
        kind, text = told[i]
        ids[kind].append(life.tell(text, at=life.now + 10 * MINUTE))
    return {kind: mean(life.of(NEWS, of_kind)) for kind, of_kind in ids.items()}


PROBES = (
    Probe(
        id="surprise_recall/news",
        capability="A message has the more news, the more of its facts were not said before.",
        source="truememory2026",
        place="4.1 stage 4, surprise index",
        unit="1, NEWS",
        protocol="20 payments with name, amount and place; then 10 that restate one, 10 that add an amount to a known one and 10 new ones, in random "
        "order; NEWS of each kind.",
        band=(Above("new", "restated"), Above("half new", "restated"), Above("new", "half new")),
        matters=("surprise_index",),
        sets=("everything",),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("news",)),
    ),
)
