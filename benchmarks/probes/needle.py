"""Needle: one unusual fact among many is found by its words, by misspelt words and however long ago it was told."""
from __future__ import annotations

from typing import Final

from .harness.base import Above, Numbers, Probe, Within
from .harness.life import MINUTE, Life
from .stimuli import SYLLABLES, Stimuli, sentence

DEPTHS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
OTHERS: Final = 60
LIKE: Final = 30        # codes of other things


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("needle", seed)
    words = s.draw(SYLLABLES, 3 * (len(DEPTHS) + LIKE))
    names = ["".join(words[i:i + 3]) for i in range(0, len(words), 3)]
    codes = s.rng.choice(9000, len(names), replace=False) + 1000
    texts = [f"The access code of {name} is {code}." for name, code in zip(names, codes.tolist(), strict=True)]
    hay = s.shuffled([*map(sentence, s.facts(OTHERS)), *texts[len(DEPTHS):]])
    places = [round(depth * len(hay)) for depth in DEPTHS]
    ids: list[str] = []
    for i in range(len(hay) + 1):
        ids += [life.tell(texts[n], at=life.now + 5 * MINUTE) for n, place in enumerate(places) if place == i]
        if i < len(hay):
            life.tell(hay[i], at=life.now + 5 * MINUTE)
    exact = [life.hit(f"What is the access code of {name}?", id, 1) for name, id in zip(names, ids, strict=False)]
    misspelt = [f"What is the acess code of {_misspelt(s, name)}?" for name in names[:len(ids)]]
    found = [life.hit(text, id, 1) for text, id in zip(misspelt, ids, strict=True)]
    dense = [life.dense_hit(text, id, 1) for text, id in zip(misspelt, ids, strict=True)]
    return {"hit@1 exact": sum(exact) / len(ids), "hit@1 misspelt": sum(found) / len(ids), "dense misspelt": sum(dense) / len(ids),
            **{f"exact at depth {depth:.0%}": float(hit) for depth, hit in zip(DEPTHS, exact, strict=True)}}


def _misspelt(s: Stimuli, name: str) -> str:
    """The name with two neighbouring letters exchanged."""
    i = int(s.rng.integers(1, len(name) - 2))
    return name[:i] + name[i + 1] + name[i] + name[i + 2:]


PROBES = (Probe(
    id="needle/depths", capability="One fact among a hundred is found by its name, also misspelt, wherever it was told.",
    source="", place="an experiment of ours", unit="share of needles",
    protocol="5 access codes of invented names at depths of 0 to 100% among 60 facts and 30 codes of other names; asked by name and by a name with "
             "two letters exchanged.",
    band=(Within("hit@1 exact", low=0.9), Above("hit@1 misspelt", "dense misspelt")),
    matters=("dense_similarity", "lexical_bm25", "trigram_match", "recency", "heat"), sets=("default", "everything"), run=run),)
