"""Present state: of memories that tell states of one thing, the state that the question asks for is
answered first: the newest, a former, the first.

"The patch is in review", "the patch is merged", "the patch is reverted" match a question about the
patch alike, so their order is chance.  A question asks for the newest state by its words ("now",
"latest", "the last time", "still") or by its tense ("where does Bo live"), for a former one
("before", "previous"), for the one before another that it names ("before the Renault") or for the
first ("originally") by its words.  One that asks for all states,
for a summary or for an order is left alone.

Two memories among the best tell states of one thing if

    frame     their words are mostly the same, but for the value: numbers, dates and denials count
              as values
    label     both begin with the same label ("Sprint goal: ..."), and the question has no other
              words
    fact      rules read a fact of the same subject and predicate from both, of which the later one
              replaces the earlier one, or repeats it
    change    the later one says in free words that what the earlier one states is no longer so, or
              that a name in it has ended, and the same speaker said both; what replaces the later
              one replaces the earlier one, too
    question  the question says in words which state it asks for, and both have the same of its
              words, as many as any memory has; if the speaker is the subject of one alone, the
              question names the subject of the other; if it asks whether a state still holds, one
              of these words is not in both subjects
    still     the question asks whether the state of one still holds, and of all that announce a
              change of the same subject in the same field of life, the other one is the first;
              "I" is a subject that a question names by the name of its speaker

A text that only asks or supposes tells no state: what tells one goes before it.  What "used to" be
so is older than all that is so.  The car of an owner ("my neighbour's car") is another than a car
without that owner.

Besides, nothing that the question names may set them apart: of "order 4471 has shipped" and
"order 4480 has shipped" only one answers "has order 4471 shipped?".  In a question that is answered
with yes or no the value is named, and does not set them apart ("is the door locked?").  What the
speaker says of himself is compared with what the same speaker says.

The state asked for is put directly before the first of them; all other memories keep their order.
The state that a question names is the newest of those that hold most of the words after "before",
if not all hold as many; the one told before it is asked for.
The time of a memory is when it was told, and of one time the later row counts.  A time ahead of the
present is one that nobody has confirmed: until the present reaches it, the memory counts as told
when it arrived.  The rules are for English, and ours.

Cost: O(n) for the pool of p candidates, and O(words) for each pair of one of the first l candidates
with another one, at most l p.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, NamedTuple

from ...engine.contract.columns import Phase
from ...engine.contract.hooks import Cue, Mechanism, Params, hook
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    ARRANGED,
    ARRIVED,
    CHRONOLOGICAL,
    CREATED,
    KIND,
    NOW,
    RERANKED,
    SPEAKER,
    TEXTS,
)
from ...engine.state.ranking import best
from ...engine.text.english import word_set
from ...engine.text.features import features, terms_of
from ...engine.text.memo import remembered
from ..shared.facts import FactRelation, FactStanding, agree, facts_of, predicate_of, relation
from ..shared.questions import (
    SENTENCE_END,
    AskedState,
    asks,
    asks_summary,
    state_asked,
    state_before,
)
from ..shared.times import told_at
from ..shared.told_changes import covered_by_change, ends_state, subject_of

# of a text that is compared: a longer one tells more than one thing
MOST_CHARACTERS: Final = 400
# by how much it is put before the first, as a share of the best score
APART: Final = 1e-5


_STILL: Final = re.compile(r"\b(?:still|any ?more|any longer)\b")
_LABEL: Final = re.compile(r"\s*([^:\n]{1,60}):\s")
_SELF: Final = word_set("i i'm i've i'll i'd me my mine myself we we're we've we'll us our ours")
_DENIALS: Final = word_set(
    "no not never none nobody nothing neither nor cannot without any more longer anymore"
)
# Words that say when a state holds, and not which.
_TIMES: Final = word_set("now nowadays currently still already again")
# Stems of what a label says of the state, not of the thing: "New password: rose".
_NEWEST: Final = frozenset(terms_of("new current latest updated"))
# A first word, and a first verb, of a text that only supposes.
_OPENS_SUPPOSING: Final = word_set("if maybe perhaps suppose imagine")
_SUPPOSES: Final = word_set("would might")
_BEING: Final = word_set(
    "am is are was were be been being has have had isn't aren't wasn't weren't hasn't haven't hadn't"
)
_ASKING: Final = word_set(
    "is are am was were do does did has have had can could will would may must should isn't aren't don't doesn't didn't hasn't haven't can't won't"
)
# Words of a question that say which state is wanted, and not of what.
_WANTED: Final = frozenset(
    terms_of(
        "now nowadays current currently presently present moment these days today latest newest recent recently most last time times state status still "
        "any more longer anymore yet end after all finally lately up to date right know tell remind please"
    )
)


# --- texts ----------------------------------------------------------------------------------------
class Told(NamedTuple):
    """What is read of a text.

    words   that neither deny nor say when a state holds
    stems   of all words
    topic   stems of the words before the first verb, or before a colon; of all if neither is seen
    values  stems of numbers and dates
    being   whether the verb says what something is or has
    own     whether the speaker says it of himself
    himself whether the speaker is the subject
    label   stems of what stands before a first colon, if that is short, without "new" and the like
    plain   words that are no part of a number or date
    meant   words that mean something
    owners  words before the first verb that name an owner ("neighbour's")
    states  whether it states something: it is no question, and supposes nothing ("maybe", "would")
    former  whether it says what used to be so
    """

    words: frozenset[str]
    stems: frozenset[str]
    topic: frozenset[str]
    values: frozenset[str]
    being: bool
    own: bool
    himself: bool
    label: frozenset[str]
    plain: frozenset[str]
    meant: frozenset[str]
    owners: frozenset[str]
    states: bool
    former: bool


@remembered
def told(text: str) -> Told:
    """The words of a text, its topic and its values.  O(length).

    >>> read = told("The door code is not 4711.")
    >>> sorted(read.words), sorted(read.topic), sorted(read.values)
    (['4711', 'code', 'door', 'is', 'the'], ['code', 'door', 'the'], ['4711'])
    """
    said = features(text)
    stems, values = terms_of(text), frozenset(terms_of(" ".join((*said.numbers, *said.dates))))
    head, colon, _ = text.partition(":")
    subject = subject_of(said.words)
    verb = subject.verb if said.words else 0
    lead = head if colon else " ".join(said.words[:verb])
    former = said.words[verb : verb + 2] == ("used", "to")
    kept = frozenset(
        word
        for word in (*said.words[:verb], *said.words[verb + 2 * former :])
        if word not in _DENIALS and word not in _TIMES and not word.endswith("n't")
    )
    being = bool(colon) or (verb < len(said.words) and said.words[verb] in _BEING)
    return Told(
        kept,
        frozenset(stems),
        frozenset(terms_of(lead)),
        values,
        being,
        not _SELF.isdisjoint(said.words),
        subject.who == "self",
        frozenset(terms_of(labelled[1], stop_words=True)) - _NEWEST
        if (labelled := _LABEL.match(text))
        else frozenset(),
        frozenset(word for word in kept if not values.issuperset(terms_of(word))),
        frozenset(word for word in kept if terms_of(word, stop_words=True)),
        frozenset(word for word in said.words[:verb] if word.endswith("'s")),
        not (
            (asks(text) and not SENTENCE_END.search(text.strip()))
            or not _OPENS_SUPPOSING.isdisjoint(said.words[:1])
            or not _SUPPOSES.isdisjoint(said.words[verb : verb + 1])
        ),
        former,
    )


def likeness(one: Told, other: Told) -> float:
    """2 |A n B| / (|A| + |B|) of the words of two texts (Dice), without numbers and dates that only
    one has; 0 unless a word that means something is in both.  O(words).

    >>> likeness(told("Ticket 812 is open"), told("Ticket 812 is closed")), likeness(told("Weight: 82 kg"), told("Weight: 81 kg"))
    (0.75, 1.0)
    >>> likeness(told("It is"), told("It is"))
    0.0
    """
    if one.meant.isdisjoint(other.words):
        return 0.0
    shared = 2 * len(one.words & other.words)
    return shared / (shared + len(one.plain - other.words) + len(other.plain - one.words))


def same_fact(earlier: str, later: str, first: str, second: str) -> bool:
    """Whether rules read a state of the same subject and predicate from both texts, which the later
    one replaces or tells again.  O(length).

    first, second  who says each

    >>> same_fact("I live in Oslo.", "I moved to Lima.", "Ada", "Ada"), same_fact("I live in Oslo.", "I moved to Lima.", "Ada", "Bo")
    (True, False)
    """
    return any(
        relation(old, new) is FactRelation.SUPERSEDES
        or (
            (old.subject, old.predicate) == (new.subject, new.predicate)
            and old.standing is new.standing is FactStanding.HOLDS
            and predicate_of(new)[0]
            and agree(old.value, new.value)
        )
        for old in facts_of(earlier, first)
        for new in facts_of(later, second)
    )


def wanted(times: Sequence[float], asked: AskedState) -> int:
    """Which of some memories of one thing is the state asked for: the newest; the oldest; or the
    newest of the former ones, or the only one.  O(g log g).

    times  (g,)  h  when each was told, by row; of one time the later row is the newer

    >>> [wanted([1.0, 5.0, 3.0], asked) for asked in (AskedState.NEWEST, AskedState.FIRST, AskedState.FORMER)]
    [1, 0, 2]
    """
    oldest = sorted(range(len(times)), key=lambda place: (times[place], place))
    return (
        oldest[0]
        if asked is AskedState.FIRST
        else oldest[-2:][0]
        if asked is AskedState.FORMER
        else oldest[-1]
    )


def preceding(times: Sequence[float], named: Sequence[int]) -> int | None:
    """Which of some memories of one thing was told directly before the one that is named; None if
    none is, or nothing was told before it.  O(g log g).

    times  (g,)  h  when each was told, by row; of one time the later row is the newer
    named  (g,)     how many of the words that name it each holds; of several with most the newest

    >>> preceding([1.0, 5.0, 3.0], [0, 1, 0]), preceding([1.0, 5.0, 3.0], [1, 0, 0]), preceding([1.0, 2.0], [1, 1])
    (2, None, None)
    """
    if min(named) == max(named):
        return None
    oldest = sorted(range(len(times)), key=lambda place: (times[place], place))
    at = max(rank for rank, place in enumerate(oldest) if named[place] == max(named))
    return oldest[at - 1] if at else None


# --- plug-in --------------------------------------------------------------------------------------
class ComparedMemory(NamedTuple):
    """One of the best memories, with what the question and its text have in common."""

    row: int
    text: str
    speaker: str
    time: float
    told: Told
    asked: frozenset[str]


class StateQuestion(NamedTuple):
    """What the question asks for.

    words   stems that say of what
    open    whether it is answered with yes or no, or with one of two values that it names
    said    whether it says in words which state it asks for
    still   whether it asks if a state still holds
    own     whether it asks in the first person
    most    as many of its words as any candidate has
    """

    words: frozenset[str]
    open: bool
    said: bool
    still: bool
    own: bool
    most: int


@dataclass(frozen=True, slots=True)
class PresentStateParams(Params):
    pool: int  # p, candidates
    leaders: int  # l, of the first ones, whose other states are looked for
    likeness: float  # least, of two frames
    # least share of what the earlier one states that the later one says to be no longer so
    covered: float


class PresentState(Mechanism[PresentStateParams]):
    """Answers first the one of several states that the question asks for."""

    @hook(
        Phase.RETRIEVE,
        reads=(RERANKED, ANSWERABLE, CREATED, ARRIVED, NOW, SPEAKER, KIND, TEXTS, CHRONOLOGICAL),
        adds=(ARRANGED,),
        sets=(),
    )
    def prefer(self, view: Any, cue: Cue) -> None:
        words = " ".join(cue.features.words)
        asked = state_asked(words)
        if asked is AskedState.ANY or view.chronological or asks_summary(words):
            return
        rows = best(view.reranked, view.answerable, self.params.pool)
        if rows.size < 2:
            return
        question, before = frozenset(cue.features.terms) - _WANTED, frozenset[str]()
        if asked is AskedState.PRECEDING:
            thing, named = state_before(words)
            question = frozenset(terms_of(thing, stop_words=True)) - _WANTED
            before = frozenset(terms_of(named, stop_words=True)) - question
        times = told_at(view.created[rows], view.arrived[rows], view.now).tolist()
        candidates = [
            candidate
            for row, time in zip(rows.tolist(), times, strict=True)
            if (candidate := self._read(view, row, time, question)) is not None
        ]
        most = max((len(candidate.asked) for candidate in candidates), default=0)
        said = cue.features.words
        either = bool(said) and (
            said[0] in _ASKING or "or" in said or "still" in said or "yet" in said
        )
        step = APART * max(abs(float(view.reranked[rows[0]])), APART)
        for group in self._groups(
            candidates,
            StateQuestion(
                question,
                either,
                asked is not AskedState.PRESENT,
                asked is AskedState.NEWEST and bool(_STILL.search(words)),
                not _SELF.isdisjoint(said),
                most,
            ),
        ):
            states = sorted(
                (candidate for candidate in group if candidate.told.states),
                key=lambda candidate: candidate.row,
            )
            if not states:
                continue
            told_when = [
                -math.inf if candidate.told.former else candidate.time for candidate in states
            ]
            place = (
                preceding(told_when, [len(before & member.told.stems) for member in states])
                if asked is AskedState.PRECEDING
                else wanted(told_when, asked)
            )
            if place is not None and (chosen := states[place].row) != group[0].row:
                view.arranged[chosen] += view.reranked[group[0].row] + step - view.reranked[chosen]

    @staticmethod
    def _read(view: Any, row: int, time: float, question: frozenset[str]) -> ComparedMemory | None:
        """A candidate; None of what the memory made, and of a text that tells more than one
        thing.
        """
        text = view.texts[row] if view.kind[row] == 0 else ""
        if not text or len(text) > MOST_CHARACTERS:
            return None
        read, speaker = told(text), view.texts.event(row).speaker
        return ComparedMemory(
            row, text, speaker, time, read, question & (read.stems | frozenset(terms_of(speaker)))
        )

    def _groups(
        self, candidates: list[ComparedMemory], question: StateQuestion
    ) -> list[list[ComparedMemory]]:
        """Each of the first candidates with all others that tell states of the same, each
        candidate once.
        """
        groups, taken = list[list[ComparedMemory]](), set[int]()
        for leader in candidates[: self.params.leaders]:
            if leader.row not in taken:
                group = [
                    leader,
                    *(
                        candidate
                        for candidate in candidates
                        if candidate.row not in taken
                        and candidate is not leader
                        and self._of_one(leader, candidate, question)
                    ),
                ]
                waiting = group[1:]
                while waiting:  # what replaces a later state replaces the first, too
                    member = waiting.pop()
                    known = taken.union(other.row for other in group)
                    later = [
                        candidate
                        for candidate in candidates
                        if candidate.row not in known
                        and (candidate.time, candidate.row) > (member.time, member.row)
                        and self._replaces(candidate, member, question)
                    ]
                    group += later
                    waiting += later
                if question.still:
                    group += self._ending(group, leader, candidates, question)
                taken.update(member.row for member in group)
                groups += [group] * (len(group) > 1)
        return groups

    def _of_one(
        self, leader: ComparedMemory, other: ComparedMemory, question: StateQuestion
    ) -> bool:
        """Whether two candidates tell states of one thing."""
        if (leader.told.own or other.told.own) and leader.speaker != other.speaker:
            return False
        if self._set_apart(leader, other, question):
            return self._replaces(leader, other, question)
        if (
            likeness(leader.told, other.told) >= self.params.likeness
            and leader.told.owners == other.told.owners
        ):
            return True
        if leader.told.label == other.told.label and 0 < len(question.words) == len(
            question.words & leader.told.label
        ):
            return True
        if (
            question.said
            and leader.asked == other.asked
            and len(leader.asked) == question.most
            and 2 * question.most >= len(question.words) > 0
            and _of_one_subject(leader.told, other.told, question)
            and not (question.still and leader.asked <= leader.told.topic & other.told.topic)
        ):
            return True
        return self._follows(leader, other)

    @staticmethod
    def _set_apart(one: ComparedMemory, other: ComparedMemory, question: StateQuestion) -> bool:
        """Whether a word of the question that only one of two has sets them apart."""
        return not all(
            _is_value(word, mine.told, question)
            for mine, theirs in ((one, other), (other, one))
            for word in mine.asked - theirs.asked
        )

    def _replaces(
        self, one: ComparedMemory, other: ComparedMemory, question: StateQuestion
    ) -> bool:
        """Whether the later of two replaces what the earlier one states, and no value that the
        question names sets them apart.
        """
        named = not question.words.isdisjoint(one.told.values | other.told.values)
        return not (named and self._set_apart(one, other, question)) and self._follows(one, other)

    @staticmethod
    def _ending(
        group: list[ComparedMemory],
        leader: ComparedMemory,
        candidates: list[ComparedMemory],
        question: StateQuestion,
    ) -> list[ComparedMemory]:
        """The first candidate that ends the state that a leader tells, if nothing of its group is
        newer; of none if there is none.
        """
        since = leader.time, leader.row
        speaker = frozenset(terms_of(leader.speaker))
        named = question.own or not speaker.isdisjoint(question.words)
        own = (speaker or frozenset(("i",))) if named else frozenset[str]()
        if any((member.time, member.row) > since for member in group):
            return []
        ending = (
            candidate
            for candidate in candidates
            if (candidate.time, candidate.row) > since
            and not (leader.told.own and leader.speaker != candidate.speaker)
            and ends_state(
                candidate.text,
                leader.text,
                question.words,
                own if candidate.speaker == leader.speaker else frozenset(),
            )
        )
        return list(islice(ending, 1))

    def _follows(self, one: ComparedMemory, other: ComparedMemory) -> bool:
        """Whether the later of two replaces what the earlier one states."""
        earlier, later = sorted((one, other), key=lambda candidate: (candidate.time, candidate.row))
        return same_fact(earlier.text, later.text, earlier.speaker, later.speaker) or (
            earlier.speaker == later.speaker
            and covered_by_change(later.text, earlier.text) >= self.params.covered
        )


def _of_one_subject(one: Told, other: Told, question: StateQuestion) -> bool:
    """Whether two texts with the same words of a question may speak of the same: not, if the
    speaker is the subject of one, and of the other a person or thing that the question does not
    name ("my aunt").
    """
    return one.himself == other.himself or not question.words.isdisjoint(
        (other if one.himself else one).topic
    )


def _is_value(word: str, of: Told, question: StateQuestion) -> bool:
    """Whether a word of the question is a value in a text, of which the question asks whether it
    holds; it then sets no two states apart.
    """
    return question.open and word not in of.topic and (of.being or word not in of.values)
