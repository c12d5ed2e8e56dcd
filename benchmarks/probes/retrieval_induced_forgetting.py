"""Retrieval-induced forgetting: recalling some items of a category makes its other items harder
to recall (Anderson, Bjork & Bjork 1994).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within
from .harness.life import MINUTE, SECOND, Life, Need
from .stimuli import Stimuli

CATEGORIES: Final = {
    "fruit": "orange banana lemon cherry mango papaya",
    "tool": "hammer saw drill pliers chisel wrench",
    "bird": "robin sparrow eagle heron finch magpie",
    "metal": "iron copper silver nickel chrome tin",
    "drink": "whisky brandy cider lemonade vermouth rum",
    "tree": "birch maple willow cedar poplar ash",
    "fish": "trout salmon herring mackerel perch eel",
    "cloth": "cotton linen velvet denim satin wool",
}
USED, ROUNDS, TURNS = 6, 3, 2


def run(life: Life, seed: int, restudy: bool = False) -> Numbers:
    s = Stimuli("retrieval_induced_forgetting", seed)
    chosen = s.draw(list(CATEGORIES), USED)
    items = {category: s.shuffled(CATEGORIES[category].split()) for category in chosen}
    hits: dict[str, list[bool]] = {"Rp+": [], "Nrp": [], "Rp-": []}
    for turn in range(TURNS):  # practised and unpractised categories change places
        memory, practised = life.fresh(), chosen[turn::TURNS]
        pairs = [
            (category, item)
            for i in range(6)
            for category in chosen
            for item in [items[category][i]]
        ]
        told = memory.tell_all(
            [f"{category}: {item}" for category, item in pairs], apart=5 * SECOND
        )
        ids = {pair: {id} for pair, id in zip(pairs, told, strict=True)}
        for _ in range(ROUNDS):
            memory.wait(2 * MINUTE)
            for category in practised:
                for item in items[category][:3]:
                    if restudy:
                        ids[category, item].add(memory.tell(f"{category}: {item}"))
                    else:
                        memory.ask(f"{category}: {item}", k=3, learn=True)
                    memory.wait(5 * SECOND)
        memory.wait(20 * MINUTE)
        for category, item in pairs:
            kind = (
                "Nrp"
                if category not in practised
                else "Rp+"
                if item in items[category][:3]
                else "Rp-"
            )
            hits[kind].append(memory.hit(f"{category}: {item[:2]}", ids[category, item]))
    p = {kind: sum(numbers) / len(numbers) for kind, numbers in hits.items()}
    return {**p, "Nrp - Rp-": p["Nrp"] - p["Rp-"]}


def _probe(variant: str, practice: str, restudy: bool) -> Probe:
    band = (
        (Above("Rp+", "Rp-"), Within("Nrp - Rp-", -0.03, 0.03))
        if restudy
        else (Above("Rp+", "Nrp"), Above("Nrp", "Rp-"), Within("Nrp - Rp-", 0.03, 0.20))
    )
    return Probe(
        id=f"retrieval_induced_forgetting/{variant}",
        capability="Reading some items again leaves their competitors as they are."
        if restudy
        else "Recalling some items weakens their competitors.",
        source="anderson1994remembering",
        place="experiment 1; check 15.4",
        unit="share of items in the top 3",
        protocol=f"6 categories of 6 words; half of the words of 3 categories are {practice} three times; 20 min later each is asked for with its "
        "category and first two letters. Rp+ practised, Rp- their competitors, Nrp other categories; counterbalanced over two lives.",
        band=band,
        matters=("retrieval_competition",),
        bounds="ours"
        if restudy
        else "0.11, as experiment 1 is generally quoted (.49 less .38, at second hand); the margin around it is ours",
        sets=("waking", "everything"),
        needs=frozenset({Need.LEARNING}),
        run=partial(run, restudy=restudy),
        measures=Measures(answers=True, learns=True),
    )


PROBES = (_probe("practice", "recalled", False), _probe("restudy", "told again", True))
