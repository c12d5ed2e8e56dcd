"""Paired associates: of two words that were studied together, one brings up the other (Hebb
1949).
"""

from __future__ import annotations

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, SECOND, Life
from .stimuli import WORDS, Stimuli

PAIRS, ROUNDS = 12, 3


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("paired_associates", seed)
    words = s.draw(WORDS, 2 * PAIRS)
    pairs = list(zip(words[::2], words[1::2], strict=True))
    ids: dict[str, set[str]] = {word: set() for word in words}
    for _ in range(ROUNDS):
        # the neighbours of a pair change from round to round
        for i in s.rng.permutation(PAIRS):
            for word in pairs[i]:
                ids[word].add(life.tell(word))
                life.wait(2 * SECOND)
            life.wait(MINUTE)
        life.wait(1.0)
    partner = {a: b for pair in pairs for a, b in (pair, pair[::-1])}
    other = {a: partner[b] for a, b in zip(words, words[2:] + words[:2], strict=True)}
    hits = {
        kind: sum(_second(life, a, ids[a], ids[b]) for a, b in of.items()) / len(words)
        for kind, of in (("partner", partner), ("other", other))
    }
    margins = [life.margin(a, ids[b]) for a, b in partner.items()]
    return {
        **hits,
        "margin of partner": mean(margins),
        "dense": sum(_nearest(life, a, partner[a], words, ids) for a in words) / len(words),
    }


def _second(life: Life, cue: str, own: set[str], wanted: set[str], k: int = 3) -> bool:
    """Whether a word is among the k best of the others."""
    answered = [event.id for event in life.everything(cue).events if event.id not in own]
    return any(id in wanted for id in answered[:k])


def _nearest(
    life: Life, cue: str, wanted: str, words: list[str], ids: dict[str, set[str]], k: int = 3
) -> bool:
    others = [word for word in words if word != cue]
    cosines = dict(
        zip(others, life.cosines(cue, [min(ids[word]) for word in others]).tolist(), strict=True)
    )
    return bool(sum(cosine >= cosines[wanted] for cosine in cosines.values()) <= k)


PROBES = (
    Probe(
        id="paired_associates/words",
        capability="A word brings up the word that it was studied with.",
        source="hebb1949organization",
        place="association by contiguity",
        unit="share of words in the top 3",
        protocol="12 pairs of unrelated words, 2 s apart, a minute between pairs, in three rounds of other orders; each word is asked for, and the three "
        "best others are looked at: its partner, a word of another pair, and its partner by cosine alone.",
        band=(Above("partner", "other", 2.0), Above("partner", "dense")),
        matters=("hebbian_association", "temporal_context"),
        sets=("default", "waking", "everything"),
        run=run,
        also=("margin of partner",),
        measures=Measures(answers=True),
    ),
)
