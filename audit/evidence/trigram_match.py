"""Evidence for trigram_match: the plug-in on the engine's index, against explicit sets of
trigrams.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.state.postings import TrigramIndex
from ..checks import adaptation, at_least, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of

SINGLE = 1e-6
TEXTS = (
    "Please open src/engine/loop.py and fix load_config()",
    "the loop is in the engine room",
    "loading the configuration file failed",
    "We adopted a puppy named Luna",
    "Luna's puppies chewed my loafers",
    "",
    "1984 was a good year",
    "loop loop LOOP",
)


def scores(
    specimen: Any,
    texts: Sequence[str],
    query: str,
    measure: str = "similarity",
    max_df: float = 1.0,
) -> Any:
    """The signal as the plug-in writes it, with 0 for NaN."""
    index = TrigramIndex()
    for row, text in enumerate(texts):
        index.add(row, text)
    view = SimpleNamespace(trigrams=index, form=np.full(len(texts), np.nan, np.float32))
    params = specimen.TrigramMatchParams(time_scale=1.0, measure=measure, max_df=max_df, weight=1.0)
    specimen.TrigramMatch("trigram_match", params).score(
        view, SimpleNamespace(query=SimpleNamespace(text=query))
    )
    return np.nan_to_num(view.form, nan=0.0)


def cut(text: str) -> set[str]:
    """Trigrams of ASCII words with two blanks before and one after."""
    return {
        f"  {word} "[i : i + 3]
        for word in re.findall("[a-z0-9]+", text.lower())
        for i in range(len(word) + 1)
    }


@equation(
    "TG-1",
    source="PostgreSQL, pg_trgm: similarity of 'word' and 'two words' is 4 / 11",
    rtol=SINGLE,
)
def the_documented_example_has_its_value(specimen: Any) -> Any:
    return scores(specimen, ["two words"], "word"), [4 / 11]


@equation("TG-2", source="definition: |A and B| / |A or B|", rtol=SINGLE)
def similarity_is_the_share_of_common_trigrams(specimen: Any) -> Any:
    queries = ("load_config in loop.py", "puppy Luna", "confguration fil")
    measured = np.concatenate([scores(specimen, TEXTS, q) for q in queries])
    return measured, np.array(
        [len(cut(q) & cut(t)) / len(cut(q) | cut(t)) for q in queries for t in TEXTS]
    )


@equation("TG-3", source="definition: |A and B| / |A|", rtol=SINGLE)
def containment_is_the_share_of_the_querys_trigrams(specimen: Any) -> Any:
    asked = cut("Lunas puppy")
    return scores(specimen, TEXTS, "Lunas puppy", "containment"), np.array(
        [len(asked & cut(t)) / len(asked) for t in TEXTS]
    )


@equation(
    "TG-4",
    source="definition without the trigrams of more than max_df of the memories",
    rtol=SINGLE,
)
def frequent_trigrams_are_skipped(specimen: Any) -> Any:
    query, holding = "loop the puppy loader", Counter(gram for text in TEXTS for gram in cut(text))
    rare = {gram for gram in cut(query) if holding[gram] <= 0.25 * len(TEXTS)}
    shared = np.array([len(rare & cut(t)) for t in TEXTS])
    return scores(specimen, TEXTS, query, max_df=0.25), shared / (
        len(cut(query)) + np.array([len(cut(t)) for t in TEXTS]) - shared
    )


@limit("TG-5", source="closed form", rtol=SINGLE)
def equal_words_score_one_and_unrelated_words_zero(specimen: Any) -> Any:
    return scores(specimen, ["Café über load_config", "xyz"], "uber CAFE load config"), [1.0, 0.0]


@adaptation(
    "TG-6",
    source="purpose: a misspelt word is found, which word search misses",
    figure="misspelling",
)
def the_misspelt_name_is_found(specimen: Any) -> Any:
    similarities = scores(
        specimen, ["Caroline went hiking", "we met Melanie at the museum"], "Carolyne"
    )
    return at_least(similarities[0] - similarities[1], 0.1)


@equation(
    "TG-7",
    source="definition over the events, sets of trigrams; a memory that shares none has no score",
    rtol=SINGLE,
)
def a_memory_scores_its_events_by_their_trigrams(specimen: Any) -> Any:
    measured, expected = [], []
    # the speaker's name is part of the memory
    told = [f"Bo {text}" if i % 2 else text or "!" for i, text in enumerate(TEXTS)]
    holding = Counter(gram for text in told for gram in cut(text))
    for measure, max_df in (
        ("similarity", 1.0),
        ("containment", 1.0),
        ("similarity", 0.25),
        ("containment", 0.5),
    ):
        memory = memory_of(specimen, measure=measure, max_df=max_df)
        encode(
            memory,
            *((float(i), text or "!", "Bo" if i % 2 else "") for i, text in enumerate(TEXTS)),
        )
        memory.archive(3)
        for query in ("load_config in LOOP.py", "Lunas puppy", "?!"):
            memory.retrieve(query)
            rare = {gram for gram in cut(query) if holding[gram] <= max_df * len(told)}
            shared = np.array([len(rare & cut(text)) for text in told])
            united = len(cut(query)) + (
                np.array([len(cut(text)) for text in told]) - shared
                if measure == "similarity"
                else 0
            )
            measured.append(np.nan_to_num(memory.column(specimen.FORM), nan=-1.0))
            expected.append(np.where(shared == 0, -1.0, shared / np.maximum(united, 1)))
    return np.array(measured), np.array(expected)


@figure(
    "misspelling",
    caption="Score of a memory over the number of wrong letters in a name: it falls gradually, where word search finds "
    "nothing after the first",
    source="definition, sets of trigrams",
)
def score_over_wrong_letters(specimen: Any) -> Picture:
    name, wrong = "constantinople", np.arange(8)
    asked = [
        "".join("z" if i in range(1, 2 * int(k), 2) else letter for i, letter in enumerate(name))
        for k in wrong
    ]
    shares = [len(cut(a) & cut(name)) / len(cut(a) | cut(name)) for a in asked]
    return Picture(
        "letters wrong",
        "score",
        (
            *(
                Curve(
                    measure,
                    wrong,
                    [scores(specimen, [name, "other"], a, measure)[0] for a in asked],
                )
                for measure in ("similarity", "containment")
            ),
            dots("sets, similarity", wrong, shares),
        ),
    )


@mutant("words in place of trigrams", rejected_by="TG-2")
def words(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        asked = set(cue.query.text.lower().split())
        view.form[...] = [
            len(asked & set(t.lower().split())) / max(len(asked | set(t.lower().split())), 1)
            for t in TEXTS[: len(view.form)]
        ]

    return specimen.overriding("TrigramMatch", score=score)


@mutant("the plug-in ignores max_df", rejected_by="TG-4")
def uncapped(specimen: Any) -> Any:
    def score(self: Any, view: Any, cue: Any) -> None:
        view.trigrams.scores(
            cue.query.text, view.form, specimen.TrigramMeasure(self.params.measure)
        )

    return specimen.overriding("TrigramMatch", score=score)


@mutant("the score of no shared trigram is 0", rejected_by="TG-7")
def zeros(specimen: Any) -> Any:
    return specimen.replacing("silence_zeros", lambda scores: None)
