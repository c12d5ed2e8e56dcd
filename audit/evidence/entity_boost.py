"""Evidence for entity_boost: sums over lists, names of questions by hand, and the scores of a
story from its senders, recipients and texts.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import FUSED, LOG_PRIOR, PRIMED
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, figure
from ..memory import encode, memory_of, neighbour
from .shared.scripts import giving

DIRECT, MENTION, UNRELATED = 0.30, 0.20, -0.15
STORY: tuple[tuple[str, str, str], ...] = (  # text, sender, recipient
    ("We sold the boat", "Zoë Byron", "Bo"),
    ("Zoë Byron sold a boat", "Bo", ""),
    ("Bo is a fool", "Cleo", "Hal"),
    ("It rains", "Cleo", "Zoë Byron"),
    ("The boat leaks", "user", "assistant"),
    ("The user saw a bobcat", "", ""),
    ("Dan, the boat!", "self", "Bo"),
    ("We sang for Hal", "Dan", "Dan"),
)
QUESTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("What did Zoë Byron sell?", ("zoe byron",)),
    ("Is it Bo's boat?", ("bo",)),
    ("Did Dan or Cleo see Bo?", ("bo", "cleo", "dan")),
    ("What did the user say of himself?", ()),
    ("Who saw Zoe?", ()),
    ("Where is Bobby's boat?", ()),
    ("What did Hal hear?", ("hal",)),  # who never says anything
    ("What did Cleo tell Hal?", ("cleo", "hal")),
    ("", ()),
)


def plain(text: str) -> str:
    return text.replace("ë", "e").lower()


def wanted(
    names: tuple[str, ...],
    fused: NDArray[np.float64],
    most: int,
    direct: float,
    mention: float,
    unrelated: float,
) -> NDArray[np.float64]:
    """Scores on [0, 1] of the story by the rules of the source, one memory after another."""
    score = (fused - fused.min()) / (fused.max() - fused.min())
    pool = sorted(range(len(STORY)), key=lambda i: (-fused[i], i))[:most]
    for i, (text, sender, recipient) in enumerate(STORY) if names else ():
        boost = 0.0
        if i in pool and {plain(sender), plain(recipient)} & set(names):
            boost += direct
        if i in pool and any(name in plain(text) for name in names):
            boost += mention
        score[i] += boost or unrelated
    return np.asarray(score)


@equation(
    "EB-1",
    source="True Memory, public code: the three shares, memory by memory",
    rtol=1e-12,
    figure="shares",
)
def shares_are_added(specimen: Any) -> Any:
    rng = np.random.default_rng(1)
    involved, mentioned = rng.random(40) < 0.5, rng.random(40) < 0.5
    measured, expected = [], []
    for shares in ((DIRECT, MENTION, UNRELATED), (0.7, -0.4, 0.05)):
        out = np.full(40, 0.5)
        specimen.add_boosts(involved, mentioned, *shares, out)
        measured.append(out)
        expected.append(
            [
                0.5 + (shares[0] * a + shares[1] * b if a or b else shares[2])
                for a, b in zip(involved, mentioned, strict=True)
            ]
        )
    return np.array(measured), np.array(expected)


@adaptation(
    "EB-2",
    source="runs of one to four words by a pattern over the joined words; numbers of names, by hand",
)
def every_run_of_a_question_may_be_a_name(specimen: Any) -> Any:
    words = ("is", "ada", "byron's", "aunt", "self", "user", "in", "rome")
    bare, listed = [re.sub("'s$", "", w) for w in words], list(specimen.runs(words).values())
    runs = [" ".join(bare[i : i + n]) for i in range(8) for n in (1, 2, 3, 4) if i + n <= 8]
    named, numbered = specimen.name_number("Ada Byron"), specimen.number_of(("ada", "byron"))
    none = [
        specimen.name_number(name)
        for name in ("", "user", "Self", "assistant", "system", "a b c d e", "!")
    ]
    apart = len(
        {
            specimen.name_number(name)
            for name in ("Ada", "Ada Byron", "ada b", "AdaByron", "Zoë", "zoe")
        }
    )
    return [str(sorted(listed)), named == numbered, named > 0, *none, apart], [
        str(sorted(set(runs) - {"self", "user"})),
        True,
        True,
        *[0] * 7,
        5,
    ]


@adaptation(
    "EB-2b",
    source="definition: the numbers of 200,000 names differ and fill 63 bits; 32 bits would give some of them the same number",
)
def names_are_told_apart(specimen: Any) -> Any:
    numbers = [specimen.number_of((f"n{i}",)) for i in range(200_000)]
    return [len(set(numbers)), max(numbers).bit_length()], [200_000, 63]


def told(specimen: Any, fused: Any, prior: float = 0.0, **values: Any) -> Any:
    """The story, with given FUSED."""

    def lower(view: Any, _: Any) -> None:
        view.log_prior += prior

    memory = memory_of(
        specimen,
        giving(Phase.RETRIEVE, FUSED, fused),
        neighbour(Phase.RETRIEVE, lower, adds=(LOG_PRIOR,), id="lower"),
        **values,
    )
    encode(
        memory,
        *(
            Event(
                float(i), text, sender, attributes=(("recipient", to),) if to else (), dated=False
            )
            for i, (text, sender, to) in enumerate(STORY)
        ),
    )
    return memory


@equation(
    "EB-3",
    source="True Memory, public code, over the story: sender, recipient and text of each of the best memories",
    rtol=1e-5,
    atol=1e-6,
)
def a_memory_boosts_the_people_named(specimen: Any) -> Any:
    rng, measured, expected = np.random.default_rng(3), [], []
    cases: tuple[tuple[int, tuple[float, float, float], dict[str, Any]], ...] = (
        (200, (DIRECT, MENTION, UNRELATED), {}),
        (5, (0.6, 0.1, -0.4), {"direct": 0.6, "mention": 0.1, "unrelated": -0.4, "candidates": 5}),
    )
    for most, shares, values in cases:
        for question, names in QUESTIONS:
            fused = np.round(rng.normal(size=len(STORY)), 3)
            memory = told(specimen, fused, **values)
            memory.retrieve(question)
            measured.append(memory.column(PRIMED))
            expected.append(wanted(names, fused, most, *shares))
    return np.array(measured), np.array(expected)


@adaptation(
    "EB-4",
    source="by hand: boosts of the best answerable memories alone, beside another prior; archived senders are known",
    rtol=1e-6,
)
def what_cannot_be_answered_is_no_candidate(specimen: Any) -> Any:
    """Of the memories that are not archived, row 4, whose boat holds the name, and row 6, to Bo,
    are best.
    """
    fused = np.array([8.0, 1.0, 2.0, 7.0, 6.0, 3.0, 5.0, 4.0])
    memory = told(specimen, fused, prior=float(np.log(0.5)), candidates=2)
    memory.archive(0)
    memory.archive(3)
    memory.retrieve("What is it about Bo?")
    seen = [1, 2, 4, 5, 6, 7]
    boosts = {4: MENTION, 6: DIRECT + MENTION}
    return memory.column(PRIMED)[seen], [
        0.5 * (fused[i] - 1.0) / 5.0 + boosts.get(i, UNRELATED) for i in seen
    ]


@limit(
    "EB-5",
    source="definition: without events, or without a known name, scores are those of a memory without it",
    rtol=1e-6,
    atol=1e-7,
)
def nobody_named_nothing_changes(specimen: Any) -> Any:
    fused = np.arange(8.0)
    empty = memory_of(specimen, "lexical_bm25").retrieve("What did Ada say?").rows.size
    memory, measured = told(specimen, fused), []
    for question in (
        "What leaks?",
        "What did the assistant say?",
        "What did Ada say?",
        "What did Byron say?",
    ):
        memory.retrieve(question)
        measured += [*memory.column(PRIMED)]
    return [empty, *measured], [0, *np.tile(fused / 7.0, 4)]


@figure(
    "shares",
    caption="Score after the boosts over the score before, of the best",
    source="True Memory, public code",
)
def scores_after(specimen: Any) -> Picture:
    before = np.linspace(0.0, 1.0, 21)

    def curve(involved: bool, mentioned: bool) -> Any:
        out = before.copy()
        specimen.add_boosts(
            np.full(21, involved), np.full(21, mentioned), DIRECT, MENTION, UNRELATED, out
        )
        return out

    cases = (
        ("from or to, and mentioned", True, True),
        ("from or to", True, False),
        ("mentioned", False, True),
        ("neither", False, False),
    )
    return Picture(
        "score before",
        "score after",
        tuple(Curve(name, before, curve(*case)) for name, *case in cases),
    )


@mutant("a sender who is mentioned, too, gets one share", rejected_by="EB-1")
def larger(specimen: Any) -> Any:
    def add_boosts(
        involved: Any, mentioned: Any, direct: float, mention: float, unrelated: float, out: Any
    ) -> None:
        out += np.where(involved, direct, np.where(mentioned, mention, unrelated))

    return specimen.replacing("add_boosts", add_boosts)


@mutant("names have one word", rejected_by="EB-2")
def first_names(specimen: Any) -> Any:
    original = specimen.runs
    return specimen.replacing(
        "runs", lambda words: {n: name for n, name in original(words).items() if " " not in name}
    )


@mutant("names have numbers of 32 bits", rejected_by="EB-2b")
def short_numbers(specimen: Any) -> Any:
    original = specimen.number_of
    return specimen.replacing("number_of", lambda words: original(words) % 2**32)


@mutant("recipients are not known", rejected_by="EB-3")
def senders_alone(specimen: Any) -> Any:
    original = specimen.EntityBoost.note

    def note(self: Any, view: Any, incoming: Any) -> None:
        original(self, view, incoming)
        view.recipient_name[view.row] = 0

    return specimen.overriding("EntityBoost", note=note)


@mutant("the name of somebody who never says anything is sought in no text", rejected_by="EB-3")
def names_of_senders(specimen: Any) -> Any:
    def boost(self: Any, view: Any, cue: Any) -> None:
        p, named = self.params, specimen.runs(cue.features.words)
        sent = np.isin(view.sender_name, list(named))
        involved = sent | np.isin(view.recipient_name, list(named))
        if involved.any():
            names = {named[int(number)] for number in view.sender_name[sent]}
            mentioned = np.array(
                [any(name in plain(text) for name in names) for text, _, _ in STORY]
            )
            may = np.isin(
                np.arange(len(sent)), specimen.best(view.fused, view.answerable, p.candidates)
            )
            specimen.add_boosts(
                involved & may, mentioned & may, p.direct, p.mention, p.unrelated, view.primed
            )

    return specimen.overriding("EntityBoost", boost=boost)


@mutant("candidates are taken by row", rejected_by="EB-4")
def first_rows(specimen: Any) -> Any:
    return specimen.replacing(
        "best", lambda scores, allowed, most: np.arange(min(most, len(scores)))
    )


@mutant("a query that names nobody lowers all", rejected_by="EB-5")
def always(specimen: Any) -> Any:
    original = specimen.EntityBoost.boost

    def boost(self: Any, view: Any, cue: Any) -> None:
        before = view.primed.copy()
        original(self, view, cue)
        if (view.primed == before).all():
            view.primed += self.params.unrelated

    return specimen.overriding("EntityBoost", boost=boost)
