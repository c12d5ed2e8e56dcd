"""Speaker engram: profiles of speakers, written in sleep, which answer questions about a person;
and a vector of "sender to recipient: text".

Style.  Each message has a style vector, the hashed counts of its character 3-, 4- and 5-grams in
256 cells, of unit length; a speaker's is the mean of those of all messages, of unit length (True
Memory 4.1, stage 5).

Profile.  In sleep the facts that speakers state of themselves are collected in an attribute map:
likes, dislikes, is, has, works, lives, kin, routine and fear.  Each speaker's map is a writing,
made anew when it changes; superseded facts are left out.  The facts are those of `shared/facts.py`.

Question.  If a query asks about a person, by name or as "I", the memories that the profile is made
from get up to 0.8 of the best score, and the messages most similar to the speaker's style up to 0.9
(stage 9, f_L0).  Other queries are not affected.

Separation.  The signal separation_prefixed is the cosine of the query with the embedding of "sender
to recipient: text"; it is silent if memory has fewer than six speakers, as the prefix then tells
little (stage 8, w_sep = 0.8).  Prefixed texts are embedded only then, in one batch: in sleep, and
for a query those of the events since.

Cost: per event O(length); per sleep 0.1 ms for each new event, and its embedding from six speakers;
O(n d) per query.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scale, Scope, signal
from ...engine.contract.drafts import Kind
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, Tick, hook
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import (
    ANSWERABLE,
    EMBEDDER,
    EMBEDDING,
    FUSED,
    KIND,
    PRIMED,
    ROW,
    SPEAKER,
    TEXTS,
    VISIBLE,
    WITHHELD,
    WRITINGS,
)
from ...engine.state.ranking import best
from ...engine.text.features import fold
from ..shared.facts import Fact, FactRelation, FactStanding, facts_of, relation, teller

CELLS: Final = 256

# --- columns --------------------------------------------------------------------------------------
STYLE = Column(
    "style",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "hashed character n-grams of the text, of unit length",
    (CELLS,),
    low=0,
    high=1,
)
PREFIXED_EMBEDDING = Column(
    "prefixed_embedding",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "embedding of 'sender to recipient: text'; 0: not an event, or not embedded yet",
    ("dimensions",),
)
PREFIXED = Column(
    "prefixed",
    np.bool_,
    Scope.MEMORY,
    "1",
    False,
    "whether the text of the event with its prefix is embedded",
)
ENGRAM_ASKER = Column(
    "engram_asker",
    np.int64,
    Scope.GLOBAL,
    "1",
    -1,
    "number of the speaker with the role of the user; -1: none",
    low=-1,
)
PROFILE = Column(
    "profile",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "of a speaker's first event: number of the profile's writing; -1: none",
    low=-1,
)
PROFILES_UNTIL = Column(
    "profiles_until",
    np.int64,
    Scope.GLOBAL,
    "rows",
    0,
    "rows whose facts are in the profiles",
    low=0,
)
# Not part of MATCH, which would shrink where the signal is silent.
SEPARATION_PREFIXED = signal(
    "separation_prefixed",
    Facet.CONTEXT,
    "cosine of the query with 'sender to recipient: text'; NaN with few speakers",
    direct=False,
    scale=Scale.SIMILARITY,
)

# --- the attribute map ----------------------------------------------------------------------------
_ATTRIBUTES: Final = {
    "fears": "fear", "routine": "routine", "lives_in": "lives", "from": "lives",
    "works_at": "works", "works_as": "works", "studies": "works",
    "has": "has", "drives": "has", "uses": "has", "spouse": "kin", "partner": "kin", "child": "kin",
    "is": "is", "age": "is", "marital_status": "is",
    "name": "is", "allergic_to": "is", "plays": "is", "speaks": "is", "eats": "is"}  # fmt: skip
_KIN: Final = frozenset(("wife", "husband", "girlfriend", "boyfriend", "fiance", "fiancee",
                         "mother", "mom", "mum", "father", "dad", "sister", "son",
                         "brother", "daughter", "cousin", "aunt", "uncle", "niece", "nephew",
                         "grandmother", "grandfather", "friend", "child",
                         "baby"))  # fmt: skip
_BETWEEN: Final = " · "
Entry = tuple[Fact, int]  # a fact and the row that states it


def attribute_of(fact: Fact) -> str:
    """Attribute of a fact in a profile, "" if it has none.

    >>> [attribute_of(f) for f in (Fact("mia", "likes", "tea", FactStanding.DENIED), Fact("mia", "brother", "tom"), Fact("mia", "rent", "9"))]
    ['dislikes', 'kin', '']
    """
    if fact.predicate == "likes" and fact.standing is FactStanding.DENIED:
        return "dislikes"
    if fact.standing is not FactStanding.HOLDS:
        return ""
    if fact.predicate == "likes" or fact.predicate.startswith("favourite "):
        return "likes"
    return "kin" if fact.predicate in _KIN else _ATTRIBUTES.get(fact.predicate, "")


def updated(entries: Sequence[Entry], fact: Fact, row: int) -> list[Entry]:
    """The entries of a profile after a fact: those that it supersedes are left out; it is added
    if it has an attribute and is new.  O(entries).
    """
    kept = [
        (known, told)
        for known, told in entries
        if relation(known, fact) is not FactRelation.SUPERSEDES
    ]
    same = (fact.predicate, fact.value, fact.standing)
    if attribute_of(fact) and not any(
        (known.predicate, known.value, known.standing) == same for known, _ in kept
    ):
        kept.append((fact, row))
    return kept


def profile_text(name: str, entries: Sequence[Entry]) -> str:
    """A profile as a text: the name, then one line for each entry.

    >>> profile_text("Mia", [(Fact("mia", "lives_in", "oslo"), 3)])
    'Mia\\nlives · lives_in · oslo'
    """
    return "\n".join(
        (
            name,
            *(
                _BETWEEN.join((attribute_of(fact), fact.predicate, fact.value))
                for fact, _ in entries
            ),
        )
    )


def entries_of(text: str, rows: Sequence[int]) -> list[Entry] | None:
    """The entries of a text that `profile_text` gave, with their rows; None for another text.
    O(length).
    """
    name, *lines = text.split("\n")
    parts = [line.split(_BETWEEN, 2) for line in lines]
    if len(lines) != len(rows) or any(len(part) != 3 for part in parts):
        return None
    return [
        (
            Fact(
                fold(name),
                predicate,
                value,
                FactStanding.DENIED if attribute == "dislikes" else FactStanding.HOLDS,
            ),
            row,
        )
        for (attribute, predicate, value), row in zip(parts, rows, strict=True)
    ]


# --- questions ------------------------------------------------------------------------------------
# Matched against the words of the query in lower case with single spaces; every repeat is bounded.
_PERSONAL: Final = re.compile(
    "|".join(
        (
            r"\b(?:personality|character|traits?|(?:kind|sort) of person|as a person|describe|hobby|hobbies|interests?|interested|free time)\b",
            r"\b(?:likes?|liked|loves?|enjoys?|prefers?|preferences?|favou?rites?|dislikes?|hates?|fond|fan|afraid|scared|fears?|worried|worr(?:y|ies)|anxious|nervous|routines?|habits?|usually|typically)\b",
            r"\b(?:who is|who am|tell me about|what do you know about|what is [^ ]+ like|what am i like|allergic|allergies)\b",
            r"\b(?:where (?:do|does|did|is)(?: [^ ]+){1,4} (?:live|work|from|born)|what (?:do|does)(?: [^ ]+){1,4} do|job|profession|for a living)\b",
            r"\b(?:wife|husband|spouse|partner|married|family|children|kids|parents|siblings?|brothers?|sisters?|pets?|how old)\b",
        )
    )
)
_FIRST: Final = frozenset(("i", "my", "me", "mine", "myself", "i'm", "i've", "i'd"))


def asks_about_a_person(words: str) -> bool:
    """Whether a query, given as its words in lower case with single spaces, asks what someone is
    like, has, does or prefers.  O(length).

    >>> [asks_about_a_person(q) for q in ("what kind of person is ada", "where does bo live", "when did the meeting start")]
    [True, True, False]
    """
    return _PERSONAL.search(words) is not None


# --- equations ------------------------------------------------------------------------------------
@kernel
def add_ngrams(codes: Any, out: Any) -> None:
    """out_b += number of character 3-, 4- and 5-grams in cell b.  True Memory 4.1 stage 5; the hash
    is ours.  Cost: O(length).

    codes  (m,)    code points, int64
    out    (256,)  1  added to

    A gram has the hash (sum c_i 65599^(n - 1 - i)) mod (2^31 - 1), whose product with 2654435761
    gives the cell by bits 24 to 31.  Of an `out` of another length no cell beyond it is written.
    """
    for n in range(3, 6):
        for start in range(codes.shape[0] - n + 1):
            value = 0
            for i in range(start, start + n):
                value = (value * 65599 + codes[i]) % 2147483647
            out[(((value * 2654435761) & 0xFFFFFFFF) >> 24) % out.shape[0]] += 1.0


@kernel
def normalise(vector: Any) -> None:
    """v <- v / |v|; a zero vector stays.  Cost: O(d).

    >>> v = np.array([3.0, 4.0]); normalise(v); v.round(9).tolist()
    [0.6, 0.8]
    """
    square = 0.0
    for i in range(vector.shape[0]):
        square += vector[i] * vector[i]
    if square > 0.0:
        for i in range(vector.shape[0]):
            vector[i] /= np.sqrt(square)


@kernel
def add_up_to(
    fused: Any, low: float, high: float, rows: Any, fit: Any, share: float, out: Any
) -> None:
    """out_i = max(out_i, share fit_i / max fit - s_i), s_i = (f_i - low) / (high - low): a score of
    up to `share` of the best.  f_L0, stage 9.  O(k).

    fused      (n,)  f
    low, high  ()    f of the last and of the best visible memory; equal: s = 1
    rows, fit  (k,)  memories, and how well they fit, negative as 0; if none fits nothing is added
    share      ()    1
    out        (n,)  1  written; the part that is missing

    >>> out = np.zeros(3)
    >>> add_up_to(np.array([1.0, 2.0, 3.0]), 1.0, 3.0, np.array([0, 1, 2]), np.array([4.0, 2.0, 4.0]), 0.8, out)
    >>> out.round(6).tolist()
    [0.8, 0.0, 0.0]
    """
    most = 0.0
    for j in range(fit.shape[0]):
        most = max(most, fit[j])
    if most > 0.0:
        for j in range(rows.shape[0]):
            i = rows[j]
            on_scale = max(0.0, (fused[i] - low) / (high - low)) if low < high else 1.0
            out[i] = max(out[i], share * max(0.0, fit[j]) / most - on_scale)


def style(text: str) -> NDArray[np.float64]:
    """Style vector (256,) of a text, in lower case with single spaces; zeros below three
    characters.  O(length).
    """
    out = np.zeros(CELLS)
    shown = " ".join(text.lower().split())
    add_ngrams(
        np.frombuffer(shown.encode("utf-32-le", "surrogatepass"), dtype=np.uint32).astype(np.int64),
        out,
    )
    normalise(out)
    return out


def prefixed(event: Event) -> str:
    """ "sender to recipient: text"; without a recipient "sender: text", without a sender the
    text.
    """
    recipient = event.get("recipient")
    head = (
        f"{event.speaker} to {recipient}: "
        if event.speaker and recipient
        else f"{event.speaker}: "
        if event.speaker
        else ""
    )
    return f"{head}{event.text}"


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class SpeakerEngramParams(Params):
    profile_share: float  # of the best score, for memories that the profile is made from
    style_share: float  # for messages in the speaker's style
    matches: int  # messages in the speaker's style
    speakers: int  # fewest with which separation_prefixed has a score
    weight: float  # of separation_prefixed


class SpeakerEngram(Mechanism[SpeakerEngramParams]):
    owns = (STYLE, PREFIXED_EMBEDDING, PREFIXED, ENGRAM_ASKER, PROFILE, PROFILES_UNTIL,
            SEPARATION_PREFIXED)  # fmt: skip

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(STYLE, ENGRAM_ASKER))
    def trace(self, view: Any, incoming: Incoming) -> None:
        view.style[view.row] = style(incoming.event.text)
        if view.engram_asker < 0 and incoming.event.speaker == "user":
            view.engram_asker = incoming.speaker

    @hook(
        Phase.CONSOLIDATE,
        reads=(KIND, SPEAKER, TEXTS),
        adds=(WRITINGS,),
        sets=(PROFILE, PROFILES_UNTIL),
    )
    def describe(self, view: Any, tick: Tick) -> None:
        """Add the facts that speakers state of themselves to their profiles; a profile that was
        erased is made anew from all events.
        """
        events, first = np.flatnonzero(view.kind == Kind.EVENT), view.profiles_until
        for number in np.unique(view.speaker[events[events >= first]]).tolist():
            rows = events[view.speaker[events] == number]
            place, known, name = int(rows[0]), self._entries(view, int(rows[0])), ""
            entries = known or []
            for row in (rows if known is None else rows[rows >= first]).tolist():
                text = view.texts[row]
                name = teller(number, text, view.texts.rendered(row))
                for fact in facts_of(text, name):
                    if fact.subject == fold(name):
                        entries = updated(entries, fact, row)
            if entries != known:
                view.profile[place] = view.writings.add(
                    profile_text(name, entries), "profile", self.id, [row for _, row in entries]
                )
        view.profiles_until = len(view.kind)

    @staticmethod
    def _entries(view: Any, place: int) -> list[Entry] | None:
        """Entries of the profile noted at a row; None if there is none, or if it was erased."""
        if view.profile[place] < 0:
            return None
        writing = view.writings[int(view.profile[place])]
        return entries_of(writing.text, writing.sources)

    @hook(
        Phase.CONSOLIDATE,
        reads=(KIND, SPEAKER, WITHHELD, TEXTS, EMBEDDER),
        adds=(),
        sets=(PREFIXED_EMBEDDING, PREFIXED),
    )
    def prefix(self, view: Any, tick: Tick) -> None:
        """Embed the prefixed texts of the events since the last sleep, if memory has enough
        speakers.
        """
        if self._enough(view):
            rows, vectors = self._remaining(view)
            view.prefixed_embedding[rows], view.prefixed[rows] = vectors, True

    @hook(
        Phase.RETRIEVE,
        reads=(PREFIXED_EMBEDDING, PREFIXED, SPEAKER, KIND, WITHHELD, TEXTS, EMBEDDER),
        adds=(),
        sets=(SEPARATION_PREFIXED,),
    )
    def separate(self, view: Any, cue: Cue) -> None:
        """Cosines with the prefixed texts, if memory has enough speakers."""
        if self._enough(view):
            np.matmul(view.prefixed_embedding, cue.vector, out=view.separation_prefixed)
            view.separation_prefixed[view.kind != Kind.EVENT] = np.nan
            rows, vectors = self._remaining(view)
            view.separation_prefixed[rows] = vectors @ cue.vector

    def _enough(self, view: Any) -> bool:
        return bool(
            np.count_nonzero(np.bincount(view.speaker[view.kind == Kind.EVENT]))
            >= self.params.speakers
        )

    @staticmethod
    def _remaining(view: Any) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Rows (k,) of the events whose prefixed texts are not embedded yet, and their vectors
        (k, d), embedded in one batch.
        """
        rows = np.flatnonzero((view.kind == Kind.EVENT) & ~view.prefixed & (view.withheld == 0))
        return rows, view.embedder.embed([prefixed(view.texts.event(row)) for row in rows.tolist()])

    @hook(Phase.RETRIEVE, reads=(FUSED, VISIBLE, ANSWERABLE, EMBEDDING, KIND, SPEAKER, STYLE,
                                 PROFILE, ENGRAM_ASKER, WRITINGS), adds=(PRIMED,),
          sets=())  # fmt: skip
    def recall(self, view: Any, cue: Cue) -> None:
        """Raise what is known of the person asked about."""
        p, words = self.params, cue.features.words
        place = self._person(view, words) if asks_about_a_person(" ".join(words)) else -1
        if place < 0 or not view.visible.any():
            return
        fused, may = view.fused.astype(np.float64), view.answerable
        low, high = float(fused[view.visible].min()), float(fused[view.visible].max())
        rows = np.unique(np.array(view.writings[int(view.profile[place])].sources, dtype=np.int64))
        rows, missing = rows[may[rows]], np.zeros(len(fused))
        add_up_to(
            fused,
            low,
            high,
            rows,
            (view.embedding[rows] @ cue.vector).astype(np.float64),
            p.profile_share,
            missing,
        )
        events = view.kind == Kind.EVENT
        own = (
            view.style[events & (view.speaker == view.speaker[place])]
            .astype(np.float64)
            .sum(axis=0)
        )
        normalise(own)
        fit = view.style @ own.astype(np.float32)
        rows = best(fit, may & events, p.matches)
        add_up_to(fused, low, high, rows, fit[rows].astype(np.float64), p.style_share, missing)
        view.primed += missing.astype(np.float32)

    @staticmethod
    def _person(view: Any, words: Sequence[str]) -> int:
        """The first event of the speaker with a profile whom the query names, or of the asker;
        -1 if there is none.
        """
        asked, places = set(words), np.flatnonzero(view.profile >= 0)
        bare = asked | {word.removesuffix("'s") for word in asked}
        for place in places.tolist():
            name = fold(view.writings[int(view.profile[place])].text.partition("\n")[0]).split()
            if name and name[0] in bare and not (name[0] == "speaker" and name[-1].isdigit()):
                return int(place)
        if view.engram_asker >= 0 and not _FIRST.isdisjoint(asked):
            return next(
                (int(place) for place in places if view.speaker[place] == view.engram_asker), -1
            )
        return -1
