"""Needle: one unusual fact among many is found by its words, by misspelt words and however long
ago it was told.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, Within, mean
from .harness.life import MINUTE, Life
from .stimuli import NAMES, OBJECTS, PLACES, SYLLABLES, Stimuli, sentence

DEPTHS: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
OTHERS: Final = 60
LIKE: Final = 30  # codes of other things
LETTERS, LINES = 12, 40  # about 450 words each, longer than what the embedder reads


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("needle", seed)
    words = s.draw(SYLLABLES, 3 * (len(DEPTHS) + LIKE))
    names = ["".join(words[i : i + 3]) for i in range(0, len(words), 3)]
    codes = s.rng.choice(9000, len(names), replace=False) + 1000
    texts = [
        f"The access code of {name} is {code}."
        for name, code in zip(names, codes.tolist(), strict=True)
    ]
    hay = s.shuffled([*map(sentence, s.facts(OTHERS)), *texts[len(DEPTHS) :]])
    places = [round(depth * len(hay)) for depth in DEPTHS]
    ids: list[str] = []
    for i in range(len(hay) + 1):
        ids += [
            life.tell(texts[n], at=life.now + 5 * MINUTE)
            for n, place in enumerate(places)
            if place == i
        ]
        if i < len(hay):
            life.tell(hay[i], at=life.now + 5 * MINUTE)
    exact = [
        life.hit(f"What is the access code of {name}?", id, 1)
        for name, id in zip(names, ids, strict=False)
    ]
    misspelt = [f"What is the acess code of {_misspelt(s, name)}?" for name in names[: len(ids)]]
    hits = [life.hit(text, id, 1) for text, id in zip(misspelt, ids, strict=True)]
    dense = [life.dense_hit(text, id, 1) for text, id in zip(misspelt, ids, strict=True)]
    margins = {
        name: mean([life.margin(text, id) for text, id in zip(asked, ids, strict=False)])
        for name, asked in (
            ("margin exact", [f"What is the access code of {name}?" for name in names]),
            ("margin misspelt", misspelt),
        )
    }
    return {
        "hit@1 exact": sum(exact) / len(ids),
        "hit@1 misspelt": sum(hits) / len(ids),
        "dense misspelt": sum(dense) / len(ids),
        **{
            f"exact at depth {depth:.0%}": float(hit)
            for depth, hit in zip(DEPTHS, exact, strict=True)
        },
        **margins,
    }


def _misspelt(s: Stimuli, name: str) -> str:
    """The name with two neighbouring letters exchanged."""
    i = int(s.rng.integers(1, len(name) - 2))
    return name[:i] + name[i + 1] + name[i] + name[i + 2 :]


def passages(life: Life, seed: int) -> Numbers:
    s = Stimuli("needle, passages", seed)
    names, things, places = (
        s.draw(NAMES, LETTERS),
        s.draw(OBJECTS, LETTERS),
        s.draw(PLACES, LETTERS),
    )
    told = []
    for i, (name, thing, place) in enumerate(zip(names, things, places, strict=True)):
        lines = s.chatter(LINES)
        at = s.rng.choice(LINES // 3, 3, replace=False) * 3
        # its own fact in one sentence; the words of two other letters' facts, each in another place
        facts = {
            int(at[0]): f"{name} hid the {thing} in the {place}.",
            int(at[1]): f"{names[i - 1]} hid something.",
            int(at[2]): f"The {things[i - 1]} is fine, and nobody went to the {places[i - 1]}.",
        }
        told.append(" ".join(facts.get(line, text) for line, text in enumerate(lines)))
    ids = life.tell_all(told, apart=30 * MINUTE)
    asked = [
        f"Where did {name} hide the {thing}?" for name, thing in zip(names, things, strict=True)
    ]
    return {
        "letter first": sum(life.hit(text, id, 1) for text, id in zip(asked, ids, strict=True))
        / LETTERS,
        "margin": mean([life.margin(text, id) for text, id in zip(asked, ids, strict=True)]),
        "dense": sum(life.dense_hit(text, id, 1) for text, id in zip(asked, ids, strict=True))
        / LETTERS,
    }


PROBES = (
    Probe(
        id="needle/depths",
        capability="One fact among a hundred is found by its name, also misspelt, wherever it was told.",
        source="",
        place="an experiment of ours",
        unit="share of needles",
        protocol="5 access codes of invented names at depths of 0 to 100% among 60 facts and 30 codes of other names; asked by name and by a name with "
        "two letters exchanged. Beside the hits, the margin of the right code.",
        band=(Within("hit@1 exact", low=0.9), Above("hit@1 misspelt", "dense misspelt")),
        matters=("dense_similarity", "lexical_bm25", "trigram_match", "recency", "heat"),
        sets=("default", "waking", "everything"),
        run=run,
        also=("margin exact", "margin misspelt"),
        measures=Measures(answers=True),
    ),
    Probe(
        id="needle/passages",
        capability="A long message is found by what one sentence of it says, though another one has the same words apart.",
        source="callan1994passage",
        place="retrieval by the best passage",
        unit="share of letters; sd of the others' scores",
        protocol="12 messages of 40 sentences; somewhere in each stands where somebody hid a thing, and the words of another one's fact stand in "
        "other sentences of it; asked where it was hidden; beside it the cosine of the embeddings alone.",
        band=(Within("letter first", low=0.8), Above("letter first", "dense")),
        matters=("passage_words", "dense_similarity", "lexical_bm25"),
        sets=("default", "waking", "everything"),
        run=passages,
        also=("margin",),
        measures=Measures(answers=True),
    ),
)
