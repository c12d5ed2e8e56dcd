"""stage_summary: a summary of each stage of the talk, made in sleep: who, about what, decided,
changed, open.

A stage is what STAGE says, else the session.  It is closed once another stage has a later event, or
after 6 h without an event.  A closed stage of three or more events has one summary as a unit of
memory.  If the stage goes on, a new version is made when it is closed again; it is linked to the
former one, which is archived.

    Who      speakers, those with more events first
    About    words that many events of the stage and few others hold; code and bare numbers are left
             out
    Decided  sentences that state a decision
    Changed  sentences that correct something, or state a fact that changed
    Open     questions after which no other speaker states anything in this stage, promises, and
             what is not done yet

The last three hold sentences as they were said outside of code, the latest of each, under the name
of the speaker.  Every word is one of the stage. Many words and few sentences: a summary is to say
of how much was spoken, and a short one leaves room for those of other stages.

A summary quotes little of its events, so beside them it would take the place of evidence in an
answer.  Unless they are `answered`, summaries are for contexts alone, where a source of their own
shows them.

Cost: about 0.5 ms for each sentence of a closed stage that is new or has grown; O(n log n)
comparisons at each sleep, 2 ms at 20k rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.context.quoting import blocks
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.drafts import Draft, Kind
from ...engine.contract.hooks import Cue, Mechanism, Params, Tick, hook
from ...engine.contract.vocabulary import (
    APART,
    ARRIVED,
    BAN,
    DRAFTS,
    GRAPH,
    HIDE,
    KIND,
    LEXICON,
    MADE,
    NOW,
    SESSION,
    SPEAKER,
    STAGE,
    TEXTS,
    VISIBLE,
)
from ...engine.state.graph import EdgeType
from ...engine.text.condensing import sentences
from ...engine.text.features import SpeechAct, features, terms_of
from ..shared.facts import facts_of, teller

STAGE_SUMMARY = Column(
    "stage_summary",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "of a stage's first event: row of the present summary; -1: none",
    low=-1,
)
STAGE_SUMMARISED = Column(
    "stage_summarised",
    np.int64,
    Scope.MEMORY,
    "events",
    0,
    "of a stage's first event: sources of the present summary",
    low=0,
)

LONGEST: Final = 400  # characters of a sentence in a summary; longer ones are code or lists
SPEAKERS: Final = 5  # names in a summary
_WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_UNFINISHED: Final = re.compile(
    r"\bstill (?:need|have to|has to|waiting|open|unclear|missing)\b|\b(?:not|nobody|nothing|\w{2,8}n['’]t)\b[^.!?]{0,60}\byet\b"
    r"|\b(?:waiting for|remains? (?:to be|open)|yet to be)\b",
    re.IGNORECASE,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def telling(held: Any, others: Any, n: int, out: Any) -> None:
    """out_t = h_t ln((n + 1) / (o_t + 1)): how much a term tells about a stage.  tf-idf over
    events.  Cost: O(terms).

    held    (t,)  events of the stage that hold the term
    others  (t,)  events outside it that do
    n       ()    events outside it

    >>> out = np.empty(3)
    >>> telling(np.array([2, 2, 1]), np.array([0, 9, 0]), 9, out)
    >>> out.round(3).tolist()
    [4.605, 0.0, 2.303]
    """
    for t in range(out.shape[0]):
        out[t] = held[t] * np.log((n + 1.0) / (others[t] + 1.0))


@dataclass(frozen=True, slots=True)
class StageEvent:
    """An event of a stage: who said it, "" if no name is shown, a number for the speaker, and
    the text without code.
    """

    name: str
    speaker: int
    text: str


@dataclass(frozen=True, slots=True)
class StageParts:
    """Sentences of a stage by part, in order."""

    decided: tuple[str, ...]
    changed: tuple[str, ...]
    open: tuple[str, ...]


def parts_of(stage: Sequence[StageEvent]) -> StageParts:
    """What was decided, what changed and what is open.  A sentence is in one part, the first that
    fits.  O(length).

    >>> parts_of([StageEvent("Ada", 0, "We decided to sell the boat. Who wants it?"), StageEvent("Bo", 1, "Cleo does. I'll call her.")])
    StageParts(decided=('Ada: We decided to sell the boat.',), changed=(), open=("Bo: I'll call her.",))
    """
    decided, changed, pending, asked = (
        list[str](),
        list[str](),
        list[tuple[int, int, str]](),
        list[tuple[int, int, str]](),
    )
    for place, said in enumerate(stage):
        states = False
        for number, sentence in enumerate(sentences(said.text)):
            if len(sentence) > LONGEST or not _WORD.search(sentence):
                continue
            act, told = (
                features(sentence).act,
                (place, number, f"{said.name}: {sentence}" if said.name else sentence),
            )
            states = states or act not in (SpeechAct.QUESTION, SpeechAct.NOISE)
            if act is SpeechAct.QUESTION:
                asked.append(told)
            elif act is SpeechAct.DECISION:
                decided.append(told[2])
            elif act is SpeechAct.CORRECTION or any(
                fact.change for fact in facts_of(sentence, said.name)
            ):
                changed.append(told[2])
            elif act is SpeechAct.COMMITMENT or _UNFINISHED.search(sentence):
                pending.append(told)
        if states:
            asked = [question for question in asked if stage[question[0]].speaker == said.speaker]
    return StageParts(
        tuple(dict.fromkeys(decided)),
        tuple(dict.fromkeys(changed)),
        tuple(dict.fromkeys(text for *_, text in sorted([*asked, *pending]))),
    )


def topics(texts: Sequence[str], frequency: Callable[[str], int], n: int, most: int) -> list[str]:
    """The words that tell most about a stage, as first written, no bare numbers; of equal ones the
    longer, then the earlier.  O(length).

    texts      of the stage
    frequency  term -> events of the memory that hold it
    n          events of the memory

    >>> topics(["The boat leaks.", "A boat, again?"], {"boat": 2, "leak": 1}.get, 9, 2)
    ['boat', 'leaks']
    """
    held, written = Counter[str](), dict[str, str]()
    for text in texts:
        text_terms = dict[str, None]()
        for word in (word for word in _WORD.findall(text) if not word.isdigit()):
            for term in terms_of(word, stem=True, stop_words=True):
                written.setdefault(term, word)
                text_terms[term] = None
        held.update(text_terms.keys())
    terms = list(written)
    inside, score = np.array([held[term] for term in terms], dtype=np.int64), np.empty(len(terms))
    outside = np.array(
        [max((frequency(term) or 0) - held[term], 0) for term in terms], dtype=np.int64
    )
    telling(inside, outside, max(n - len(texts), 0), score)
    order = sorted(range(len(terms)), key=lambda t: (-score[t], -len(written[terms[t]]), t))
    return [written[terms[t]] for t in order[:most]]


def summary_of(stage: Sequence[StageEvent], about: Sequence[str], most: int) -> str:
    """The summary as a text, a line for each part that holds anything; "" if nothing but the
    speakers is known.  O(length).

    >>> print(summary_of([StageEvent("Ada", 0, "We chose red."), StageEvent("Bo", 1, "Fine. Who pays?"), StageEvent("Bo", 1, "ok")], ["red"], 2))
    Who: Bo, Ada
    About: red
    Decided: Ada: We chose red.
    Open: Bo: Who pays?
    """
    parts = parts_of(stage)
    if not about and not (parts.decided or parts.changed or parts.open):
        return ""
    names = [
        name for name, _ in Counter(said.name for said in stage if said.name).most_common(SPEAKERS)
    ]
    lines = (
        ("Who", ", ".join(names)),
        ("About", ", ".join(about)),
        ("Decided", " ".join(parts.decided[-most:])),
        ("Changed", " ".join(parts.changed[-most:])),
        ("Open", " ".join(parts.open[-most:])),
    )
    return "\n".join(f"{title}: {text}" for title, text in lines if text)


def stages(
    kind: NDArray[np.int8], stage: NDArray[np.int64], session: NDArray[np.int32]
) -> Iterator[NDArray[np.int64]]:
    """Rows of the events of each stage, in order of its first event; an event without a stage is in
    that of its session.  O(n log n).

    >>> [rows.tolist() for rows in stages(np.array([0, 0, 3, 0, 0]), np.array([-1, 1, 1, 1, -1]), np.array([7, 7, -1, 8, 7]))]
    [[0, 4], [1, 3]]
    """
    events = np.flatnonzero(kind == Kind.EVENT)
    keys = np.where(stage[events] >= 0, stage[events], -2 - session[events].astype(np.int64))
    order = np.argsort(keys, kind="stable")
    groups = (
        np.split(events[order], np.flatnonzero(np.diff(keys[order])) + 1) if events.size else []
    )
    yield from sorted(groups, key=lambda rows: int(rows[0]))


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class StageSummaryParams(Params):
    quiet: float  # h without an event that close a stage
    members: int  # least events of a stage with a summary
    growth: float  # of a stage before its summary is made anew
    sentences: int  # of each part
    words: int  # of what it is about
    answered: bool  # whether summaries are answers beside events


class StageSummary(Mechanism[StageSummaryParams]):
    """Keeps one summary of each closed stage."""

    owns = (STAGE_SUMMARY, STAGE_SUMMARISED)

    @hook(Phase.CONSOLIDATE, reads=(KIND, ARRIVED, SESSION, SPEAKER, TEXTS, LEXICON, VISIBLE.before,
                                    STAGE, STAGE_SUMMARISED.before),
          adds=(DRAFTS,), sets=())  # fmt: skip
    def draft(self, view: Any, tick: Tick) -> None:
        """Draft a summary of each closed stage that has none, or whose events are no longer
        those of its summary.
        """
        p, lexicon = self.params, view.lexicon
        groups = list(stages(_standing(view), view.stage, view.session))
        last = max((int(rows[-1]) for rows in groups), default=-1)
        for rows in groups:
            first = _first(view.stage, int(rows[0]))
            known = int(view.stage_summarised[first])
            goes_on = rows[-1] == last and tick.end - view.arrived[last] < self.hours("quiet")
            if (
                goes_on
                or rows.size < p.members
                or known <= rows.size < max(p.growth * known, known + 1)
            ):
                continue
            stage = [_said(view, row) for row in rows.tolist()]
            text = summary_of(
                stage,
                topics(
                    [said.text for said in stage],
                    lexicon.document_frequency,
                    lexicon.n_counted,
                    p.words,
                ),
                p.sentences,
            )
            if text:
                sessions = set(view.session[rows].tolist())
                session = sessions.pop() if len(sessions) == 1 else -1
                view.drafts.add(
                    Draft(text, Kind.SUMMARY, tuple(rows.tolist()), session=session, stage=first)
                )

    @hook(
        Phase.CONSOLIDATE,
        reads=(MADE, NOW),
        adds=(GRAPH, HIDE),
        sets=(STAGE_SUMMARY, STAGE_SUMMARISED),
    )
    def dress(self, view: Any, tick: Tick) -> None:
        """Note the new summaries; a former version is linked and archived."""
        for row, draft in view.made:
            if draft.maker == self.id:
                former = int(view.stage_summary[draft.stage])
                if former >= 0:
                    view.graph.add(row, former, EdgeType.VERSION, view.now)
                    view.hide[former] += 1
                view.stage_summary[draft.stage], view.stage_summarised[draft.stage] = (
                    row,
                    len(draft.sources),
                )

    @hook(Phase.RETRIEVE, reads=(KIND, STAGE), adds=(BAN, APART), sets=())
    def keep_apart(self, view: Any, cue: Cue) -> None:
        """One vote against each summary, so that none takes the place of an event in an answer."""
        if not self.params.answered:
            summaries = (view.kind == Kind.SUMMARY) & (view.stage >= 0)
            view.ban += summaries
            view.apart += summaries


def _first(stage: NDArray[np.int64], row: int) -> int:
    """Row that stands for a stage, from its first event: the number of the stage; of a session
    the event itself.
    """
    return int(stage[row]) if stage[row] >= 0 else row


def _standing(view: Any) -> NDArray[np.int8]:
    """KIND of each row, -1 for an erased one: archived, and without a text."""
    kind: NDArray[np.int8] = view.kind.copy()
    kind[[row for row in np.flatnonzero(~view.visible).tolist() if not view.texts[row]]] = -1
    return kind


def _said(view: Any, row: int) -> StageEvent:
    speaker, text = int(view.speaker[row]), view.texts[row]
    name = teller(speaker, text, view.texts.rendered(row))
    return StageEvent("" if name == f"speaker {speaker}" else name, speaker, prose(text))


def prose(text: str) -> str:
    """A text without its fenced code.  O(length).

    >>> prose("Run this:\\n```py\\nx = 1\\n```\\nIs it 1?")
    'Run this:\\nIs it 1?'
    """
    return (
        "\n".join(content for fence, _, content in blocks(text) if not fence)
        if "```" in text
        else text
    )
