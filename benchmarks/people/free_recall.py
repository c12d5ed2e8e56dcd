"""Free recall: lists of words are told to a memory, time passes, and words are recalled one
after the other, each next one cued by the last.

Protocol.  The lists of one person are told to one memory, in order, each in a session of its own,
word by word at the printed rate, with the modality as an attribute.  The distractor of delayed recall
is time alone: a memory for agents would keep arithmetic as memories of their own, which people do
not.  The first
question has no text; each next one has the word that was recalled last as text, and is asked in the
session of the list.  A recalled word is used, so that mechanisms which learn from recall, or whose
context moves with it, do so.  No word is recalled twice.  Words of earlier lists can be recalled:
intrusions.  Two practice lists come first, as in the experiment; they are not counted.

Curves are those of the literature: recall by position; position of the first recall; moves by lag
among the moves that were possible (Kahana 1996); how many are recalled; intrusions by the number of
lists back; and pauses between recalls by output position, relative to their mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.times import hours
from ...engine.contract.records import Event, Query
from ..probes.harness.life import CANDIDATES, standardised
from ..systems.base import Retrieved, System, TakesFeedback
from .data import RecallTrial
from .readout import STOP, Choice, Readout, chances, drawn, pause

Floats = NDArray[np.float64]
START: Final = hours(datetime(2026, 1, 5, 9))
MS: Final = 1.0 / 3_600_000.0  # h
RECALL_PERIOD: Final = 60_000  # ms, in the experiment with delayed recall, here in both
BETWEEN_RECALLS: Final = 3_000  # ms, about people's mean
MOST_LAG: Final = 5
LISTS_BACK: Final = 5
OUTPUTS: Final = 6  # pauses between recalls that are counted
CURVES: Final = ("position", "first", "lags", "number", "intrusions", "pauses")
Counts = dict[str, tuple[Floats, Floats]]


# --- curves ---------------------------------------------------------------------------------------
def counts(trials: Sequence[RecallTrial], length: int) -> Counts:
    """Numerator and denominator of every curve, over the trials of one length.

    The counts of several people are added before they are divided, so every list counts alike.
    Moves are counted between two correct recalls without another one between them, and the first
    recall is the first correct one.
    """
    n = 0
    position, first = np.zeros(length), np.zeros(length)
    number, back = np.zeros(length + 1), np.zeros(LISTS_BACK)
    moved, possible = np.zeros(2 * length - 1), np.zeros(2 * length - 1)
    waited, pauses = np.zeros(OUTPUTS), np.zeros(OUTPUTS)
    places = np.arange(1, length + 1)
    for trial in trials:
        if trial.length != length:
            continue
        n += 1
        left = np.ones(length, np.bool_)
        last, since, recalled = 0, 0, 0
        for place, time in zip(trial.recalls, trial.times, strict=True):
            if -LISTS_BACK <= place < 0:
                back[-place - 1] += 1
            if place < 1 or not left[place - 1]:
                last = 0
                continue
            if last:
                possible[places[left] - last + length - 1] += 1
                moved[place - last + length - 1] += 1
                if recalled <= OUTPUTS:
                    waited[recalled - 1] += time - since
                    pauses[recalled - 1] += 1
            if not recalled:
                first[place - 1] += 1
            left[place - 1] = False
            position[place - 1] += 1
            recalled += 1
            last, since = place, time
        number[recalled] += 1
    lags = [lag + length - 1 for lag in range(-MOST_LAG, MOST_LAG + 1) if lag and abs(lag) < length]
    all_lists = np.array([float(n)])
    return {
        "position": (position, all_lists),
        "first": (first, all_lists),
        "lags": (moved[lags], possible[lags]),
        "number": (number, all_lists),
        "intrusions": (back, all_lists),
        "pauses": (waited, pauses),
    }


def added(several: Sequence[Counts]) -> Counts:
    """The sum of counts of one length."""
    return {
        name: (
            np.sum([counted[name][0] for counted in several], axis=0),
            np.sum([counted[name][1] for counted in several], axis=0),
        )
        for name in several[0]
    }


def curves(counted: Counts) -> dict[str, Floats]:
    """The curves of counts; NaN where nothing was possible.  Pauses are divided by their mean."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = {name: top / bottom for name, (top, bottom) in counted.items()}
        waits = shares["pauses"]
        known = np.isfinite(waits)
        mean = waits[known].mean() if known.any() else np.nan
        return shares | {"pauses": waits / mean}


# --- protocol -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Lived:
    """What a person's lists gave in a memory.

    trials   with the recalls of the memory in place of the person's; times in a unit of their own
    refused  words that the memory did not store, of `told`
    """

    trials: tuple[RecallTrial, ...]
    refused: int
    told: int


def practised(own: Sequence[RecallTrial], others: Sequence[RecallTrial]) -> list[RecallTrial]:
    """Two practice lists of number -1 and 0 from another person's, without words of the own ones."""
    known = {word for trial in own for word in trial.words}
    lists = []
    for number, trial in zip((-1, 0), others, strict=False):
        words = tuple(word for word in trial.words if word not in known)
        if words:
            lists.append(replace(trial, number=number, words=words, recalls=(), times=()))
    return lists


def events_of(trial: RecallTrial, start: float) -> list[Event]:
    """The words of a list as events from `start`, h; ids are `number:position`."""
    return [
        Event(
            start + i * trial.rate * MS,
            word,
            session=session_of(trial),
            id=f"{trial.number}:{i + 1}",
            dated=False,
            attributes=(("modality", trial.modality),),
        )
        for i, word in enumerate(trial.words)
    ]


def session_of(trial: RecallTrial) -> str:
    return f"list {trial.number}"


def recalled_by(
    system: System, trials: Sequence[RecallTrial], readout: Readout, stream: np.random.Generator
) -> Lived:
    """Tell a memory the lists and let it recall each.

    trials  of one person in order; those of a number below 1 are practice and not given back
    stream  of the readout's draws
    """
    list_of = _Person(system)
    lived = list[RecallTrial]()
    for trial in trials:
        list_of.tell(trial)
        recalls, times = list[int](), list[int]()
        elapsed = 0.0
        for step in range(len(list_of.words)):
            answer, support, ids = list_of.faced(step * BETWEEN_RECALLS)
            chosen = drawn(chances(support, readout), stream)
            if chosen == STOP:
                break
            elapsed += pause(support, readout)
            event = ids[chosen]
            list_of.recall(answer, event)
            recalls.append(list_of.place(event))
            times.append(round(elapsed * 1e6))
        list_of.leave()
        if trial.number >= 1:
            lived.append(replace(trial, recalls=tuple(recalls), times=tuple(times)))
    return Lived(tuple(lived), *list_of.refused())


def followed_by(
    system: System, trials: Sequence[RecallTrial]
) -> tuple[list[Choice], tuple[int, int]]:
    """Lead a memory through the recalls that a person made, and note what it would have chosen
    among at each; and how many words it refused, of how many.

    A recall of another list has no known word and is passed over, as is a repetition.  A word that
    is not among the candidates counts as the one of least support, which is the most that it can
    have.  The last choice of a list is to stop.
    """
    list_of, choices = _Person(system), list[Choice]()
    for trial in trials:
        list_of.tell(trial)
        if trial.number < 1:
            list_of.leave()
            continue
        for place, time in zip(trial.recalls, trial.times, strict=True):
            event = f"{trial.number}:{place}"
            if place < 1 or list_of.words[event] in list_of.said:
                continue
            answer, support, ids = list_of.faced(min(time, RECALL_PERIOD))
            if ids:
                chosen = ids.index(event) if event in ids else int(support.argmin())
                choices.append(Choice(support, chosen, trial.number))
            list_of.recall(answer, event)
        choices.append(Choice(list_of.faced(RECALL_PERIOD)[1], STOP, trial.number))
        list_of.leave()
    return choices, list_of.refused()


class _Person:
    """One memory that lives a person's session: the clock, what was told, and what was recalled."""

    def __init__(self, system: System) -> None:
        self.system, self.words = system, dict[str, str]()
        self.said = set[str]()
        self._now, self._text, self._number = START, "", 0
        self._session, self._began = "", START
        self._known = dict[str, bool]()

    def tell(self, trial: RecallTrial) -> None:
        """Tell a list and let the distractor pass."""
        events = events_of(trial, self._now)
        self.system.encode(events)
        self.words |= {event.id: event.text for event in events}
        self._began = events[-1].time + (trial.rate + trial.distractor) * MS
        self._now, self._number, self._session = self._began, trial.number, session_of(trial)
        self.said, self._text = set(), ""
        log: Any = getattr(getattr(self.system, "engine", None), "event_log", None)
        self._known |= {e.id: bool(log.rows_of(e.id)) if log else True for e in events}

    def faced(self, after: float) -> tuple[Retrieved, Floats, list[str]]:
        """`after` ms of recall, the answer; the standardised scores of its words that were not yet
        said, and their ids.
        """
        self._now = max(self._now, self._began + after * MS)
        self.system.advance(self._now)
        answer = self.system.retrieve(Query(self._text, session=self._session), CANDIDATES)
        support = standardised([event.score for event in answer.events])
        free = [
            place
            for place, event in enumerate(answer.events)
            if event.id in self.words and self.words[event.id] not in self.said
        ]
        return answer, support[free], [answer.events[place].id for place in free]

    def recall(self, answer: Retrieved, event: str) -> None:
        """Say a word: it is used, and cues what follows."""
        if isinstance(self.system, TakesFeedback):
            self.system.use(answer, [event])
        self._text = self.words[event]
        self.said.add(self._text)

    def place(self, event: str) -> int:
        """The position in the present list, or minus the number of lists back."""
        number, position = map(int, event.split(":"))
        return position if number == self._number else number - self._number

    def leave(self) -> None:
        """Let the recall period end."""
        self._now = max(self._now, self._began + RECALL_PERIOD * MS)

    def refused(self) -> tuple[int, int]:
        return sum(not known for known in self._known.values()), len(self._known)


def texts_of(trials: Sequence[RecallTrial]) -> list[str]:
    """The words of trials, each once, in order, for one batch of the embedder."""
    return list(dict.fromkeys(word for trial in trials for word in trial.words))


def summary(counted: Mapping[str, tuple[Floats, Floats]]) -> dict[str, float]:
    """Means over lists: words recalled, and intrusions of the five lists before."""
    n = float(counted["position"][1][0])
    return {
        "recalled": float(counted["position"][0].sum() / n) if n else float("nan"),
        "intrusions": float(counted["intrusions"][0].sum() / n) if n else float("nan"),
    }
