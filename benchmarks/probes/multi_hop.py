"""Multi-hop association: from A, through A-B and B-C, to what is known of C."""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import MINUTE, SECOND, Life
from .stimuli import SYLLABLES, Stimuli

CHAINS: Final = 10
HOPS: Final = (1, 2, 3)
OTHERS: Final = 40


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("multi_hop", seed)
    per_chain = len(HOPS) + 1
    made = iter(
        [f"{a}{b}".capitalize() for a, b in zip(*[iter(s.draw(SYLLABLES, 600))] * 2, strict=True)]
    )
    chains = [[next(made) for _ in range(per_chain)] for _ in range(CHAINS)]
    others = [(next(made), next(made)) for _ in range(OTHERS)]
    strangers = [[next(made) for _ in range(per_chain)] for _ in range(CHAINS)]
    numbers = {}
    for name in ("linked", "broken"):
        memory = life.fresh()
        pairs = [
            [
                (chain[h], chain[h + 1]) if name == "linked" or h == 0 else (other[h], chain[h + 1])
                for h in range(len(HOPS))
            ]
            for chain, other in zip(chains, strangers, strict=True)
        ]
        order = [pair for chain in pairs for pair in chain] + others
        texts = [f"{a} works with {b}." for a, b in order]
        places = _order(seed, len(texts))  # the same for both conditions
        told = memory.tell_all([texts[i] for i in places], apart=5 * MINUTE)
        ids = dict(zip((order[i] for i in places), told, strict=True))
        memory.wait(10 * SECOND)
        for hop in HOPS:
            numbers[f"{name}, {hop} hop{'s' * (hop > 1)}"] = (
                sum(
                    memory.hit(f"Who does {chain[0]} work with?", ids[mine[hop - 1]])
                    for chain, mine in zip(chains, pairs, strict=True)
                )
                / CHAINS
            )
        numbers[f"{name}, margin at 2 hops"] = mean(
            [
                memory.margin(f"Who does {chain[0]} work with?", ids[mine[1]])
                for chain, mine in zip(chains, pairs, strict=True)
            ]
        )
    return numbers


def _order(seed: int, n: int) -> list[int]:
    order: list[int] = Stimuli("multi_hop, order", seed).rng.permutation(n).tolist()
    return order


PROBES = (
    Probe(
        id="multi_hop/chain",
        capability="Asked about A, the memory finds what is linked to it only through others.",
        source="jimenez2024hipporag",
        place="multi-hop retrieval",
        unit="share of chains whose row is in the top 3",
        protocol="10 chains 'A works with B', 'B works with C', 'C works with D' among 40 other pairs of invented names, in random order; asked for A. "
        "In a second life every link after the first starts from an unknown name. Beside the hits, the margin of C.",
        band=(Within("linked, 1 hop", low=0.8), Above("linked, 2 hops", "broken, 2 hops", 2.0)),
        matters=("spreading_activation", "personalized_pagerank", "hebbian_association"),
        sets=("waking", "everything"),
        run=run,
        also=("linked, margin at 2 hops",),
        measures=Measures(answers=True),
    ),
)
