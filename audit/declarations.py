"""What a mechanism declares of its signals, its columns and its rest, against what it does, and
whether it leaves archived and made rows alone.

Each function yields what is not as declared, in words.  The lives are those of `life`: the same life
told a thousand days later, after two more events, by nights of three hours, and with questions whose
words or vectors are exchanged, or that have words that nobody said.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import islice, pairwise, product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..engine.catalogue.registry import Entry, Registry, Value
from ..engine.contract import vocabulary as v
from ..engine.contract.columns import Column, Facet, Phase, Scale, Scope, Signal, signal
from ..engine.contract.drafts import Draft, Kind
from ..engine.contract.hooks import Hook, Mechanism, Params, Tick, Touched, at_rest, hook, item_of
from ..engine.contract.records import Event, Query
from ..engine.memory.engine import Engine
from ..engine.text.words import terms_of
from .effects import typed
from .life import (
    QUESTIONS,
    REST,
    START,
    TOKENS,
    TOLD,
    Circumstances,
    ShortWindow,
    everyone,
    lived,
    replying,
)

Scores = NDArray[np.float64]
Seen = list[tuple[str, NDArray[Any]]]  # names and values
# facets whose scores depend on the vector of the question alone, on its words alone, and on neither
BY_VECTOR: Final = frozenset({Facet.MEANING, Facet.COMPLETION})
BY_WORDS: Final = frozenset({Facet.WORDS, Facet.FORM})
BY_NEITHER: Final = frozenset({Facet.TIME, Facet.USE})
# what the engine keeps of texts as they were told
TOLD_TEXTS: Final = frozenset(
    {"index", "lexicon", "trigrams", "passages", "spans", "texts", "cues"}
)
TIMED: Final = (1, 4)  # numbers of the questions that name a time
FEW: Final = 4
# words by which the meaning of a signal says that some memories have no score
LEFT_OUT: Final = re.compile(r"\b(NaN|silent)\b")
MET: Final = 0.75  # share of a floor below 0 that the score of the opposite of a text has to reach
COMPLETED: Final = 0.85  # of the score of a whole text: half of it was completed
IN_ORDER: Final = (
    "What did we talk about first?"  # asks for an end of the history, and names no time
)
ALIKE_AT_LEAST: Final = 0.3  # the best score of a similarity
MISSPELT: Final = "stashun mll gardn"
# words that nobody said, added to a question
FOREIGN: Final = " bafulk dafulk fafulk gafulk kafulk lafulk zozulk zizulk"
UNMOVED: Final = 1e-3  # relative change of a score that counts as none
# two questions of one kind about other things
ALIKE: Final = ("Where did Ada see the blue boat?", "Where did Bo find the red car?")
ROUNDING: Final = 1e-6
SHIFT: Final = 1001 * 24.0  # h; whole weeks, so that days of the week stay
TWO_BEFORE: Final = ("Hm.", "Hm.")  # texts that move the rows of a life by two


# --- signals ----------------------------------------------------------------------------------------
class Exchanged(ShortWindow):
    """Hashing that gives some texts the vectors of others.

    other    text -> text whose vector it gets
    opposed  texts that get the opposite of their vector
    """

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.other: Mapping[str, str] = {}
        self.opposed: frozenset[str] = frozenset()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = super().embed([self.other.get(text, text) for text in texts])
        if self.opposed and len(texts):
            vectors = vectors * np.where([text in self.opposed for text in texts], -1.0, 1.0)[
                :, None
            ].astype(np.float32)
        return vectors


class PlainLife:
    """The life of a mechanism in the usual company, lived once for all checks that only look at it.

    embedder  by which questions get vectors of other texts
    """

    def __init__(self, entry: Entry, registry: Registry) -> None:
        self._entry, self._registry = entry, registry
        self.embedder = Exchanged(32)

    @cached_property
    def memory(self) -> Engine:
        return lived(self._registry, self._entry.id, embedder=self.embedder)

    @cached_property
    def heard(self) -> Engine:
        """`memory`, if signals of the mechanism give scores there.  Else the life with a language
        model, and with weight 1 for a mechanism that ships with weight 0; if no signal gives scores
        there either, eight people tell it.
        """
        weight = self._entry.params.get("weight")
        choices = {} if weight is None or weight.value else {"weight": 1.0}
        if not choices and self._speaks(self.memory):
            return self.memory
        around = Circumstances(choices=choices)
        ways: dict[str, Any] = {"embedder": self.embedder, "language_model": replying()}
        memory = lived(self._registry, self._entry.id, around, **ways)
        if self._speaks(memory):
            return memory
        return lived(self._registry, self._entry.id, around, told=BY_MANY, **ways)

    def _speaks(self, memory: Engine) -> bool:
        signals = [c for c in self._entry.load().owns if isinstance(c, Signal)]
        memory.retrieve(QUESTIONS[0])
        memory.retrieve(QUESTIONS[1])
        return any(not np.isnan(memory.column(s)).all() for s in signals)


class Unlike:
    """An embedder that gives each text of NOTHING_ALIKE a vector orthogonal to all others.  A longer
    text has the vector of the one that it contains; texts that contain none share one vector.
    """

    name, revision, dimensions, window = "unlike", "1", 64, 24

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            told = (number for number, (*_, said) in enumerate(NOTHING_ALIKE) if said in text)
            vector[next(told, self.dimensions - 1)] = 1.0
        return vectors


def _words() -> Iterator[str]:
    """Words of no language, all different."""
    for first, second, third in product("bdfgklmnprstvz", "aeiou", "bdfgklmnprstvz"):
        yield f"{first}{second}{third}ulk"


def _nothing_alike() -> tuple[tuple[float, str, str, str], ...]:
    words = _words()
    return tuple(
        (later, session, speaker, " ".join(islice(words, 4))) for later, session, speaker, _ in TOLD
    )


NAMES: Final = ("Ada", "Bo", "Cleo", "Dora", "Eve", "Finn", "Gus", "Hal")
BY_MANY: Final = tuple(
    (later, session, NAMES[number % len(NAMES)], text)
    for number, (later, session, _, text) in enumerate(TOLD)
)
# the life told in words of which none occurs twice, so that only circumstances are common to memories
NOTHING_ALIKE: Final = _nothing_alike()


@dataclass(frozen=True)
class SignalScores:
    """What a signal scored, of the visible memories, in the life whose texts are alike.

    hooks        of its mechanism
    by_question  of QUESTIONS
    more         of these with words that nobody said
    shares_words whether memories have a term of the question
    by_vector, by_words  whether scores change with the vector of a question alone, with its words
                         alone
    in_order     of a question for an end of the history
    misspelt     of words that nobody said
    of_kind      whether scores differ between questions of one kind
    told, halves of texts that were told, and of every second word of them
    nearest      the memory that matches each of these texts best
    opposite     of the opposites of their vectors, in one array
    speaks       whether there is a score, and no memory has it from where and by whom it was said
    unlike       the life whose texts are not alike
    """

    signal: Signal
    hooks: tuple[Hook, ...]
    by_question: list[Scores]
    more: list[Scores]
    shares_words: list[NDArray[np.bool_]]
    by_vector: bool
    by_words: bool
    in_order: Scores
    misspelt: Scores
    of_kind: bool
    told: list[Scores]
    halves: list[Scores]
    nearest: list[int]
    opposite: Scores
    speaks: bool
    unlike: UnlikeLife

    @cached_property
    def reads(self) -> set[Touched]:
        """What the hooks that set the signal read."""
        return _read_for(self.hooks, self.signal)

    @property
    def of_match(self) -> bool:
        """Whether it starts from memories that match the question."""
        return v.MATCH in self.reads

    @property
    def of_use(self) -> bool:
        """Whether it reads how often memories were used."""
        return not self.reads.isdisjoint((v.ACTIVATION, v.LOG_STRENGTH))

    @cached_property
    def asked(self) -> bool:
        """Whether scores depend on the question."""
        first, *others = self.by_question
        return not all(np.array_equal(first, other, equal_nan=True) for other in others)

    @cached_property
    def moved(self) -> bool:
        """Whether words that nobody said change the best score of a question."""
        return _moved_by(self.by_question, self.more)

    @property
    def unsaid(self) -> bool:
        """Whether memories that share no word with a question have scores above the floor."""
        return any(
            (~np.isnan(x) & (x > self.signal.floor) & ~shares).any()
            for x, shares in zip(self.by_question, self.shares_words, strict=True)
        )

    @cached_property
    def of_sounds(self) -> bool:
        """Whether misspelt words have scores."""
        return bool((~np.isnan(self.misspelt) & (self.misspelt != 0.0)).any())

    @cached_property
    def all_scores(self) -> Scores:
        """Of all questions and texts, NaN where a memory has none."""
        scores = np.concatenate([*self.by_question, *self.told])
        return self.in_order if np.isnan(scores).all() else scores

    @cached_property
    def given(self) -> Scores:
        """The scores that there are."""
        return self.all_scores[~np.isnan(self.all_scores)]

    @property
    def of_all(self) -> bool:
        """Whether every memory has a score for every question."""
        return self.given.size == self.all_scores.size

    @property
    def most(self) -> float:
        """The best score in both lives."""
        return max(float(self.given.max()), self.unlike.scores[self.signal.name].newest)

    def texts_with(self, place: Callable[[Scores, int], bool]) -> list[bool]:
        """Of each text whose nearest memory has a score, what a function says of the scores and
        that memory.
        """
        return [
            place(x, row)
            for x, row in zip(self.told, self.nearest, strict=True)
            if not np.isnan(x[row])
        ]

    @property
    def finds_texts_alone(self) -> bool:
        """Whether most texts have their best score alone."""
        alone = self.texts_with(lambda x, row: np.count_nonzero(x >= x[row] - ROUNDING) == 1)
        return self.of_all and bool(alone) and float(np.mean(alone)) > 0.5


def wrong_signals(entry: Entry, registry: Registry, life: PlainLife | None = None) -> Iterator[str]:
    """Signals whose facet, directness, floor or scale their scores contradict."""
    for scores in signal_scores(entry, registry, life):
        yield from contradictions(scores)


def contradictions(scores: SignalScores) -> Iterator[str]:
    """What the scores of a signal contradict of what is declared of it."""
    for judged in (_wrong_among_unlike, _by_what_it_reads, _floor_by_scale):
        yield from judged(scores)
    if scores.given.size:
        for judged in BY_SCORES:
            yield from judged(scores)


def signal_scores(
    entry: Entry, registry: Registry, life: PlainLife | None = None
) -> Iterator[SignalScores]:
    """Live and ask what the signals of a mechanism are judged by."""
    loaded = entry.load()
    signals = [c for c in loaded.owns if isinstance(c, Signal)]
    if not signals:
        return
    life = life or PlainLife(entry, registry)
    embedder, memory = life.embedder, life.heard
    visible = memory.column(v.VISIBLE).copy()

    def scores(question: str) -> dict[str, Scores]:
        memory.retrieve(question)
        return {s.name: np.array(memory.column(s), np.float64)[visible] for s in signals}

    plain = [scores(question) for question in QUESTIONS]
    shares_words = [_share_words(memory, question)[visible] for question in QUESTIONS]
    ordered = scores(IN_ORDER)
    turned = (*QUESTIONS[3:], *QUESTIONS[:3])
    # blanks make a question another text with the same words
    embedder.other = {f"{q} ": other for q, other in zip(QUESTIONS, turned, strict=True)}
    same_words = [scores(f"{q} ") for q in QUESTIONS]
    embedder.other = {}
    more = [scores(q + FOREIGN) for q in QUESTIONS]
    embedder.other = {f"{other}  ": q for q, other in zip(QUESTIONS, turned, strict=True)}
    same_vector = [scores(f"{other}  ") for other in turned]
    embedder.other = {}
    misspelt, alike = scores(MISSPELT), [scores(question) for question in ALIKE]
    told, nearest = list[dict[str, Scores]](), list[int]()
    for _, _, _, text in TOLD[::9]:
        told.append(scores(text))
        nearest.append(int(np.argmax(memory.column(v.MATCH)[visible])))
    halves = [scores(" ".join(text.split()[::2])) for _, _, _, text in TOLD[::9]]
    # nothing is less similar to a text than its opposite
    embedder.other = {f"{text}   ": text for _, _, _, text in TOLD[::9]}
    embedder.opposed = frozenset(embedder.other)
    opposite = [scores(text) for text in embedder.other]
    embedder.other, embedder.opposed = {}, frozenset()
    unlike = UnlikeLife(entry, registry, signals)
    for s in signals:
        # what a hook embeds besides a text may be where and by whom it was said
        embeds = v.EMBEDDER in _read_for(loaded.hooks(), s)
        speaks = not embeds and any(not np.isnan(p[s.name]).all() for p in plain)
        yield SignalScores(
            s,
            loaded.hooks(),
            by_question=[p[s.name] for p in plain],
            more=[m[s.name] for m in more],
            shares_words=shares_words,
            by_vector=_differ(plain, same_words, s),
            by_words=_differ(plain, same_vector, s),
            in_order=ordered[s.name],
            misspelt=misspelt[s.name],
            of_kind=_differ(alike[:1], alike[1:], s),
            told=[t[s.name] for t in told],
            halves=[h[s.name] for h in halves],
            nearest=nearest,
            opposite=np.concatenate([o[s.name] for o in opposite]),
            speaks=speaks,
            unlike=unlike,
        )


def _share_words(memory: Engine, question: str) -> NDArray[np.bool_]:
    """Whether memories have a term of the question."""
    asked, texts = set(terms_of(question)), memory.store.structures[v.TEXTS]
    return np.array(
        [bool(asked & set(terms_of(texts.rendered(row)))) for row in range(memory.store.n)]
    )


def _read_for(hooks: Iterable[Hook], s: Signal) -> set[Touched]:
    """What the hooks that set a signal read."""
    return read_by(declared for declared in hooks if s in declared.sets)


def read_by(hooks: Iterable[Hook]) -> set[Touched]:
    """The columns and structures that hooks read."""
    return {item_of(read) for declared in hooks for read in declared.reads}


def _differ(once: list[dict[str, Scores]], other: list[dict[str, Scores]], s: Signal) -> bool:
    return any(
        not np.allclose(a[s.name], b[s.name], rtol=1e-5, atol=ROUNDING, equal_nan=True)
        for a, b in zip(once, other, strict=True)
    )


# Each of the following functions yields what contradicts one declaration of a signal.


def _by_what_it_reads(of: SignalScores) -> Iterator[str]:
    s, reads = of.signal, of.reads
    if s.facet is Facet.TIME and of.of_use:
        yield f"{s.name} is evidence of TIME, and reads how often memories were used"
    if s.facet is Facet.USE and not of.of_use:
        yield f"{s.name} is evidence of USE, and reads no use"
    if s.facet is Facet.CONTEXT and read_by(of.hooks).isdisjoint((v.NOW, v.SESSION, v.SPEAKER)):
        yield f"{s.name} is evidence of CONTEXT, and reads neither when, where nor by whom"
    if s.facet in (Facet.KIND, Facet.FORM) and (of.of_use or v.NOW in reads):
        yield (
            f"{s.name} is evidence of {s.facet.name}, and reads the time or how often memories were "
            "used"
        )
    if s.facet in BY_VECTOR and reads & {v.SESSION, v.SPEAKER}:
        yield f"{s.name} is evidence of {s.facet.name}, and reads where or by whom it was said"
    if s.facet in BY_WORDS and of.of_match:
        yield f"{s.name} is evidence of {s.facet.name}, and starts from memories that match"
    if s.scale is Scale.LOG_ODDS and not of.of_use:
        yield f"{s.name} is an estimate of need in ln odds, and reads none"


def _floor_by_scale(of: SignalScores) -> Iterator[str]:
    s = of.signal
    if s.scale is Scale.SUPPORT and s.floor != 0.0:
        yield f"{s.name} is an amount, and its floor is {s.floor:g}, not 0"
    if s.scale is Scale.LOG_ODDS and s.floor != 0.0:
        yield f"{s.name} is in ln odds, of which those of a typical memory are 0, and its floor is {s.floor:g}"
    if s.floor > 0.0:
        yield f"{s.name} has the floor {s.floor:g}, above what has nothing in common"


def _scale(of: SignalScores) -> Iterator[str]:
    s = of.signal
    if s.scale is not Scale.LOG_ODDS and of.of_use and not of.asked:
        yield f"{s.name} is an estimate of need, and its scale is {s.scale.value}"
    if s.scale is Scale.SUPPORT:
        yield from _amount(of)
    if s.scale is Scale.SIMILARITY:
        yield from _similarity(of)


def _amount(of: SignalScores) -> Iterator[str]:
    s, least = of.signal, of.given.min()
    if least < -ROUNDING:
        yield f"{s.name} is an amount, and has the score {least:g}"
    if 1.0 - 1e-3 <= of.most <= 1.0 + ROUNDING:
        yield f"{s.name} is an amount, and has the bound 1 of a similarity"
    # words that nobody said make a question less similar to all texts, and leave what it shares
    if of.asked and not of.of_match and of.moved:
        yield f"{s.name} is an amount, and changes with words that nobody said"


def _similarity(of: SignalScores) -> Iterator[str]:
    s, least, best = of.signal, of.given.min(), of.given.max()
    if best > 1.0 + ROUNDING or least < min(s.floor, -1.0) - ROUNDING:
        yield f"{s.name} is a similarity, and has scores from {least:g} to {best:g}"
    if s.floor >= -1.0 and of.most < ALIKE_AT_LEAST:
        yield f"{s.name} is a similarity, and is never above {of.most:g}"
    if s.direct and s.facet is not Facet.WHEN and of.asked and not of.moved:
        yield f"{s.name} is a similarity, and is the same with words that nobody said"


def _floor(of: SignalScores) -> Iterator[str]:
    s, least = of.signal, of.given.min()
    # a memory without a score is no better than one that matches
    if s.direct and not of.of_all and least < s.floor - ROUNDING:
        yield f"{s.name} has the floor {s.floor:g} and the score {least:g}"
    if not s.direct and s.floor < 0.0:
        yield (
            f"{s.name} is added to what matches, and its floor {s.floor:g} takes from memories of "
            "which it says nothing"
        )
    if s.scale is not Scale.SIMILARITY:
        return
    if np.median(of.given) < s.floor - ROUNDING:
        yield f"{s.name} has the floor {s.floor:g}, above half of its scores"
    lowest = float(np.nanmin([least, *of.opposite]))
    # a floor from -1 to 0 is that of a cosine, a lower one that of scores that go below -1
    bottom = MET * s.floor if s.floor >= -1.0 else -1.0 - ROUNDING
    if s.floor < 0.0 and lowest > bottom:
        yield f"{s.name} has the floor {s.floor:g}, and is never below {lowest:g}"
    promised = of.of_all and not LEFT_OUT.search(s.meaning)
    if promised and least < s.floor - ROUNDING:
        yield (
            f"{s.name} scores all memories, and has the floor {s.floor:g} and the score {least:g}"
        )


def _directness(of: SignalScores) -> Iterator[str]:
    s = of.signal
    if s.direct and of.of_match:
        yield f"{s.name} is direct, and starts from memories that match"
    if s.direct and not of.asked:
        yield f"{s.name} is direct, and is the same for every question"
    learnt = {
        c
        for declared in of.hooks
        if declared.phase in (Phase.CONSOLIDATE, Phase.MAINTAIN)
        for c in (*declared.adds, *declared.sets)
    }
    if not s.direct and of.asked and not of.of_match and not learnt & of.reads:
        yield f"{s.name} is computed from the question alone, and is not called direct"


def _facet_of_vectors(of: SignalScores) -> Iterator[str]:
    s = of.signal
    if s.facet not in BY_VECTOR:
        return
    if not of.asked:
        yield f"{s.name} is evidence of {s.facet.name}, whatever the question"
    if not of.of_match and of.by_words:
        yield f"{s.name} is evidence of {s.facet.name}, and depends on words besides the vector"
    whole, half = _mean_best(of.told), _mean_best(of.halves)
    completed = half >= COMPLETED * whole
    if s.facet is Facet.COMPLETION and not completed:
        yield f"{s.name} is evidence of COMPLETION, and {half:g} for half a text, {whole:g} for all of it"
    if s.facet is Facet.MEANING and completed:
        yield f"{s.name} is evidence of MEANING, and for half a text as high as for all of it"


def _facet_of_words(of: SignalScores) -> Iterator[str]:
    s = of.signal
    # the length of a text is its form, too, whatever the question
    if s.facet is Facet.WORDS and not of.asked:
        yield f"{s.name} is evidence of WORDS, whatever the question"
    if s.facet is Facet.WORDS and of.unsaid:
        yield f"{s.name} is evidence of WORDS, and has scores for memories that share none"
    if s.facet in BY_WORDS and not of.of_match and of.by_vector:
        yield f"{s.name} is evidence of {s.facet.name}, and depends on the vector besides the words"
    if s.facet is Facet.WORDS and s.direct and of.of_sounds:
        yield f"{s.name} is evidence of WORDS, and has scores for words that nobody said"
    if s.facet is Facet.FORM and s.direct and not of.of_sounds:
        yield f"{s.name} is evidence of FORM, and has no score for misspelt words"


def _facet_of_texts(of: SignalScores) -> Iterator[str]:
    """By a facet of what a text says, or how, the text finds itself; by one of what stands around
    it, not it alone.
    """
    s = of.signal
    finding = of.texts_with(lambda x, row: x[row] >= np.nanmax(x) - ROUNDING)
    by_text = s.facet in BY_VECTOR or (s.facet is Facet.FORM and of.asked)
    if by_text and finding and np.mean(finding) < 0.5:
        yield f"{s.name} is evidence of {s.facet.name}, and a text seldom finds itself by it"
    around = s.facet is Facet.ASSOCIATION or (s.facet is Facet.CONTEXT and s.direct)
    if around and of.finds_texts_alone:
        yield f"{s.name} is evidence of {s.facet.name}, and of all memories a text finds itself by it"
    if (
        s.facet in (Facet.ASSOCIATION, Facet.CONTEXT)
        and {item.name for item in of.reads if item is not v.VISIBLE} <= TOLD_TEXTS
    ):
        yield f"{s.name} is evidence of {s.facet.name}, and reads nothing but texts"


def _facet_of_association(of: SignalScores) -> Iterator[str]:
    s = of.signal
    if s.facet is not Facet.ASSOCIATION:
        return
    if not of.asked:
        yield f"{s.name} is evidence of ASSOCIATION, whatever the question"
    elif not of.unsaid:
        yield f"{s.name} is evidence of ASSOCIATION, and reaches only memories that share a word"


def _facet_of_context(of: SignalScores) -> Iterator[str]:
    s = of.signal
    if s.facet is not Facet.CONTEXT:
        return
    if not of.asked and not of.reads & {v.SESSION, v.SPEAKER}:
        yield f"{s.name} is evidence of CONTEXT, and reads neither the session nor the speaker"
    if s.direct and (of.by_vector or of.by_words):
        yield f"{s.name} is direct evidence of CONTEXT, and depends on what the question says"


def _facet_of_times_and_kinds(of: SignalScores) -> Iterator[str]:
    s = of.signal
    if s.facet in BY_NEITHER and of.asked:
        yield f"{s.name} is evidence of {s.facet.name}, and depends on the question"
    silent = [bool(np.isnan(x).all()) for x in of.by_question]
    untimed = all(silence for number, silence in enumerate(silent) if number not in TIMED)
    if (s.facet is Facet.WHEN) != untimed:
        yield f"{s.name} is evidence of {s.facet.name}, and is silent without a time: {silent}"
    if s.facet is Facet.KIND and of.of_kind:
        yield f"{s.name} is evidence of KIND, and differs between questions of one kind"


# what is judged by scores, for signals that give any
BY_SCORES: Final = (
    _scale,
    _floor,
    _directness,
    _facet_of_vectors,
    _facet_of_words,
    _facet_of_texts,
    _facet_of_association,
    _facet_of_context,
    _facet_of_times_and_kinds,
)


@dataclass(slots=True)
class UnlikeScores:
    """What a signal scores in the life in which no two texts are alike.

    asked   of the memories whose texts are the questions
    others  of all other visible memories, by question
    newest  the best one for the last text just after it was told, -inf without any
    """

    asked: list[float] = field(default_factory=list)
    others: list[Scores] = field(default_factory=list)
    newest: float = -math.inf

    @property
    def told_apart(self) -> list[bool]:
        """By question, whether the scores of other memories differ, or only some have one."""
        given = [x[~np.isnan(x)] for x in self.others]
        return [
            bool(x.size and (x.size < y.size or np.ptp(x) > ROUNDING))
            for x, y in zip(given, self.others, strict=True)
        ]


class UnlikeLife:
    """The life of NOTHING_ALIKE, in which every fifth of its texts is asked for at the end.

    scores  by the name of the signal
    """

    def __init__(self, entry: Entry, registry: Registry, signals: list[Signal]) -> None:
        self._signals = signals
        self.scores = {s.name: UnlikeScores() for s in signals}
        self._memory = lived(
            registry,
            entry.id,
            told=NOTHING_ALIKE,
            used={},
            embedder=Unlike(),
            after=self._ask_for_newest,
        )
        visible = self._memory.column(v.VISIBLE).copy()
        for row in range(4, self._memory.store.n, 5):
            others = visible & (np.arange(len(visible)) != row)
            for name, scores in self._asked_for(row).items():
                self.scores[name].asked.append(float(scores[row]))
                self.scores[name].others.append(scores[others])

    def _ask_for_newest(self, memory: Engine, number: int) -> None:
        if number == len(NOTHING_ALIKE) - 1:
            memory.retrieve(NOTHING_ALIKE[-1][3])
            for s in self._signals:
                scores = np.asarray(memory.column(s), np.float64)
                self.scores[s.name].newest = float(
                    np.max(scores, initial=-math.inf, where=~np.isnan(scores))
                )

    def _asked_for(self, row: int) -> dict[str, Scores]:
        self._memory.retrieve(NOTHING_ALIKE[row][3])
        return {s.name: np.array(self._memory.column(s), np.float64) for s in self._signals}

    @cached_property
    def joined(self) -> dict[str, tuple[Scores, Scores]]:
        """By the name of the signal, scores of memories before and after they were used, often and
        in one session, with the memory that is asked for, and right after it.
        """
        memory, before = self._memory, self._of_others()
        for asked, other in USED_TOGETHER * TIMES_USED:
            for rows in ([asked, other], [asked], [other]):
                question = Query(NOTHING_ALIKE[rows[0]][3], session="z")
                memory.use(memory.retrieve(question), rows, 1.0)
                memory.advance(memory.now + 0.01)
        memory.advance(memory.now + 30.0)  # a night later
        after = self._of_others()
        return {name: (before[name], after[name]) for name in before}

    def _of_others(self) -> dict[str, Scores]:
        asked = [(self._asked_for(row), other) for row, other in USED_TOGETHER]
        return {
            s.name: np.array([scores[s.name][other] for scores, other in asked])
            for s in self._signals
        }


# memories that are told at other times, in other sessions and by other people: one is asked for,
# and both are used
USED_TOGETHER: Final = ((4, 31), (14, 2))
TIMES_USED: Final = 20


def _wrong_among_unlike(of: SignalScores) -> Iterator[str]:
    """What the scores contradict where memories have nothing but their circumstances in common."""
    s, life = of.signal, of.unlike
    unlike = life.scores[s.name]
    given = [x[~np.isnan(x)] for x in unlike.others]
    apart = 2 * sum(unlike.told_apart) > len(given)
    speaks = of.speaks or not np.isnan(unlike.asked).all()
    if s.facet is Facet.CONTEXT and speaks and not apart:
        yield f"{s.name} is evidence of CONTEXT, and is silent where memories have it alone in common"
    if s.facet in BY_VECTOR and any(
        x.size and x.max() > 0.5 * y for x, y in zip(given, unlike.asked, strict=True) if y > 0.0
    ):
        yield f"{s.name} is evidence of {s.facet.name}, and unlike memories have more than half the score of the one asked for"
    if s.facet is Facet.ASSOCIATION and apart:
        before, after = life.joined[s.name]
        if np.array_equal(before, after, equal_nan=True):
            yield f"{s.name} is evidence of ASSOCIATION, and use of two memories together changes nothing"
    if s.scale is Scale.SIMILARITY and of.of_match:
        most = float(np.nanmax(life.joined[s.name][1], initial=-math.inf))
        if most > 1.0 + ROUNDING:
            yield f"{s.name} is a similarity, and use raises it to {most:g}"


def _moved_by(once: list[Scores], other: list[Scores]) -> bool:
    """Whether the memory with the best score of a question has another score in `other`."""
    for x, y in zip(once, other, strict=True):
        if not np.isnan(x).all():
            row = np.nanargmax(x)
            if not abs(x[row] - y[row]) <= UNMOVED * abs(x[row]):
                return True
    return False


def _mean_best(by_question: list[Scores]) -> float:
    """Mean of the best scores; NaN without any."""
    best = [float(np.nanmax(x)) for x in by_question if not np.isnan(x).all()]
    return float(np.mean(best)) if best else math.nan


# --- columns ----------------------------------------------------------------------------------------
def wrong_upkeep(entry: Entry, registry: Registry, life: PlainLife | None = None) -> Iterator[str]:
    """Columns that are readings of the clock, numbers of rows or factors along the rows, and are not
    declared so, or the other way round.
    """
    columns = [c for c in entry.load().owns if isinstance(c, Column) and c.persists]
    if not columns:
        return
    read = read_by(h for h in entry.load().hooks() if h.phase is Phase.RETRIEVE)

    @cache
    def undated(start: float = START, first: tuple[str, ...] = ()) -> Engine:
        return lived(
            registry, entry.id, undated=True, after=_used_in_session, start=start, first=first
        )

    for column in columns:
        if np.dtype(column.dtype).kind == "f":
            yield from _wrong_clock(column, undated(), undated(start=START + SHIFT))
        if _may_number_rows(column) and column in read:
            yield from _wrong_numbers_of_rows(column, undated(), undated(first=TWO_BEFORE))
        if column.upkeep.chained and not (
            column.scope is Scope.MEMORY
            and np.dtype(column.dtype).kind == "f"
            and (column.unit, column.neutral, column.low, column.high) == ("1", 1.0, 0, 1)
        ):
            yield f"{column.name} is declared chained, and is no factor from 0 to 1 that is 1 by itself"
    yield from _unchained(entry, registry, [c for c in columns if _may_chain(c)])
    yield from wrong_considered(entry, life or PlainLife(entry, registry))


def _wrong_clock(column: Column, plain: Engine, later: Engine) -> Iterator[str]:
    """What is wrong if a column is not declared a reading of the clock and goes with it, or the
    other way round.

    later  the same life, SHIFT later
    """
    before, after = (np.asarray(m.column(column), np.float64) for m in (plain, later))
    if before.shape != after.shape:
        return
    moved = _moved(before, after, float(column.neutral))
    clock = bool(moved.size and np.allclose(moved, SHIFT, rtol=1e-6))
    if clock != column.upkeep.clock and moved.size:
        yield (
            f"{column.name} is {'' if column.upkeep.clock else 'not '}declared a reading of "
            f"the clock, and {'goes' if clock else 'does not go'} with it"
        )


def _may_number_rows(column: Column) -> bool:
    kind = np.dtype(column.dtype).kind
    return kind in "iu" and column.scope is Scope.MEMORY and column.neutral == -1


def _wrong_numbers_of_rows(column: Column, plain: Engine, grown: Engine) -> Iterator[str]:
    """What is wrong if a column is not declared to hold numbers of rows and grows with the rows
    before, or the other way round.

    grown  the same life after TWO_BEFORE
    """
    before = np.asarray(plain.column(column), np.float64)
    after = np.asarray(grown.column(column), np.float64)[len(TWO_BEFORE) :]
    if after.shape != before.shape:
        return
    moved = (after - before)[(before >= 0.0) | (after >= 0.0)]
    rows = bool(moved.size and np.all(moved == float(len(TWO_BEFORE))))
    if moved.size and rows != (column.upkeep.rows is not None):
        yield (
            f"{column.name} is {'not ' if rows else ''}declared to hold numbers of rows, and "
            f"{'grows' if rows else 'does not grow'} with the rows before"
        )


def _used_in_session(memory: Engine, number: int) -> None:
    """After some events asks in their session, and uses the answer."""
    if number % 8 in (3, 4):
        _, session, _, text = TOLD[number]
        answer = memory.retrieve(Query(text, session=session))
        memory.use(answer, answer.rows[:2].tolist(), 0.8)


def wrong_considered(entry: Entry, life: PlainLife) -> Iterator[str]:
    """Columns that say how much few memories are raised, and no others, though they match the
    question little, and that a shortlist is not told to consider; or the other way round.
    """
    hooks = [declared for declared in entry.load().hooks() if declared.phase is Phase.RETRIEVE]
    read = read_by(hooks)
    columns = [c for c in entry.load().owns if isinstance(c, Column) and _may_mark(c)]
    for column in columns:
        if column.upkeep.considered and column not in read:
            yield f"{column.name} is considered, and no question reads it"
        if column.upkeep.considered and any({column, v.MATCH} <= read_by([h]) for h in hooks):
            yield f"{column.name} is considered, and raises memories by those that match"
    columns = [c for c in columns if c in read]
    raising = {
        c
        for declared in hooks
        for c in (*declared.adds, *declared.sets)
        if isinstance(c, Column)
        and c.scope is Scope.CANDIDATE
        and np.dtype(c.dtype).kind == "f"
        and not isinstance(c.neutral, Column)
    }
    if not columns or not raising:
        return
    memory = life.memory
    visible = memory.column(v.VISIBLE).copy()
    raised, unlike = np.zeros(len(visible), np.bool_), False
    for question in (*QUESTIONS, *ALIKE):
        memory.retrieve(question)
        now = np.zeros(len(visible), np.bool_)
        for c in raising:
            least = c.floor if isinstance(c, Signal) else float(c.neutral)
            values = np.array(memory.column(c), np.float64)
            now |= visible & np.isfinite(values) & (values > least)
        match = np.where(visible, memory.column(v.MATCH), -np.inf)
        best = np.argsort(-match, kind="stable")[:FEW]
        unlike |= bool(np.setdiff1d(np.flatnonzero(now), best).size)
        raised |= now
    for column in columns:
        marked = visible & (np.asarray(memory.column(column)) != column.neutral)
        few = 0 < np.count_nonzero(marked) <= len(visible) // FEW
        marks = few and unlike and bool(raised.any()) and not (raised & ~marked).any()
        if column.upkeep.considered and not marks:
            yield (
                f"{column.name} is considered, and its {np.count_nonzero(marked)} of {len(visible)} "
                "memories are not those that are raised"
            )
        if marks and not column.upkeep.considered and np.dtype(column.dtype).kind == "f":
            yield f"{column.name} says how much few memories are raised, and is not considered"


def _may_mark(column: Column) -> bool:
    return column.scope is Scope.MEMORY and column.persists and not column.shape


def _moved(before: Scores, after: Scores, neutral: float) -> Scores:
    """The differences of the cells that are set."""
    given = np.isfinite(before) & np.isfinite(after)
    given &= ~((before == neutral) & (after == neutral))
    return np.asarray((after - before)[given])


def _may_chain(column: Column) -> bool:
    return (
        column.scope is Scope.MEMORY
        and np.dtype(column.dtype).kind == "f"
        and not column.shape
        and (column.unit, column.neutral, column.low, column.high) == ("1", 1.0, 0, 1)
    )


def _unchained(entry: Entry, registry: Registry, columns: list[Column]) -> Iterator[str]:
    """Columns of factors for which a shortlist is nearer to the whole memory if they were declared
    otherwise.
    """
    signals = [c for c in entry.load().owns if isinstance(c, Signal)]
    if not columns or not signals:
        return
    memory = lived(registry, entry.id, shortlist=64)
    shortlist = memory.assembly.shortlist
    if shortlist is None:
        return
    rows = np.array([row for row in range(memory.store.n) if row % 3 != 1], np.int64)
    whole = []
    for question in QUESTIONS:
        memory.retrieve(question, whole=True)
        whole.append([np.array(memory.column(s), np.float64)[rows] for s in signals])

    def error() -> float:
        """How far the scores of some of the rows are from those of all."""
        off = 0.0
        for question, scores in zip(QUESTIONS, whole, strict=True):
            shortlist.store.show(rows[:1])  # what was gathered before is gathered again
            memory.retrieve(f"{question} ")
            for s, all_scores in zip(signals, scores, strict=True):
                part = np.array(shortlist.store.array(s), np.float64)
                off += float(np.nansum(np.abs(part - all_scores)))
        return off

    # these rows in place of likely ones, in a memory too small for a choice
    shortlist.asks = lambda rows: True  # type: ignore[method-assign]
    shortlist.chosen = lambda cue: (rows, np.ones(len(rows), np.float32))  # type: ignore[method-assign]
    for column in columns:
        declared = column.upkeep
        as_declared = error()
        object.__setattr__(column, "upkeep", replace(declared, chained=not declared.chained))
        try:
            otherwise = error()
        finally:
            object.__setattr__(column, "upkeep", declared)
        if otherwise < as_declared * (1.0 - 1e-3):
            yield (
                f"{column.name} is {'' if declared.chained else 'not '}declared chained, and a "
                f"shortlist is nearer to the whole memory if it {'is not' if declared.chained else 'is'}"
            )


# --- rest -------------------------------------------------------------------------------------------
NIGHT: Final = 3.0  # h from sleep to sleep
# so that a memory sleeps within sessions
OFTEN: Final[Mapping[str, Any]] = {"consolidate_every": 2 * NIGHT, "rest": 4 * NIGHT}
FADING: Final = 0.1  # ln a square root of an hour


class Teller(Mechanism[Params]):
    """In the first sleep after an event makes a summary of it that names a thing of its own."""

    @hook(Phase.CONSOLIDATE, reads=(v.WRITING.before,), adds=(v.DRAFTS,), sets=())
    def draft(self, view: Any, tick: Tick) -> None:
        told = np.flatnonzero(view.writing < 0)
        if told.size and told[-1] == len(view.writing) - 1:
            text = f"Dora bought car {len(view.writing)} for {len(view.writing)} dollars."
            view.drafts.add(Draft(text, Kind.SUMMARY, (int(told[-1]),)))

    @at_rest(reads=())
    def told(self, view: Any, tick: Tick) -> bool:
        return True


class Fading(Mechanism[Params]):
    """Memories fade with time, so that what is read of their strength and of their need is another in
    each sleep, and differs between memories.
    """

    @hook(Phase.MAINTAIN, reads=(v.ARRIVED,), adds=(v.LOG_STRENGTH, v.ACTIVATION), sets=())
    def fade(self, view: Any, tick: Tick) -> None:
        age = np.maximum(tick.end - view.arrived, 0.0)
        view.log_strength -= FADING * np.sqrt(age)
        view.activation -= FADING * np.log1p(age)


def wrong_rest(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism that says that it is at rest and changes in a later sleep, or changes no more and
    never says so.
    """
    loaded = entry.load()
    if not loaded.rests():
        return
    written = {
        item
        for declared in loaded.hooks()
        if declared.phase is Phase.CONSOLIDATE
        for item in (*declared.adds, *declared.sets)
        if isinstance(item, Column) and item.persists and item.upkeep.fresh is None
    }
    nights: list[tuple[int, bool, dict[str, object]]] = []

    def watch(memory: Engine, number: int) -> None:
        if number == 0:
            ask = memory.assembly.at_rest

            def asked(slept: Tick) -> bool:
                state: dict[str, object] = {c.name: memory.column(c).tobytes() for c in written}
                links = memory.store.structures[v.GRAPH]
                state["links"] = links.alive.tobytes()
                state["rows"] = memory.column(v.VISIBLE).tobytes()
                state["writings"] = len(memory.store.structures[v.WRITINGS])
                told = int(np.count_nonzero(memory.column(v.WRITING) < 0))
                nights.append((told, ask(slept), state))
                return False  # so that the nights that would change nothing are slept, too

            # a memory at rest would skip these nights
            memory.assembly.at_rest = asked  # type: ignore[method-assign]
        if number % 4 == 3:
            memory.advance(memory.now + 4 * NIGHT)

    beside = Teller("teller", Params(1.0), order=10**5), Fading("fading", Params(1.0))
    lived(registry, entry.id, beside=beside, consolidate_every=NIGHT, after=watch)
    for (when, rests, before), (later, _, after) in pairwise(nights):
        if rests and when == later and before != after:
            changed = ", ".join(sorted(name for name in before if before[name] != after.get(name)))
            yield f"it says that it is at rest, and the next sleep changes {changed}"
            return
    last = nights[-int(REST / NIGHT / 2) :]
    if last and all(state == last[0][2] for _, _, state in last) and not any(r for _, r, _ in last):
        yield "no sleep changes anything for weeks, and it does not say that it is at rest"


# --- rows that are not events, and rows that are not answered ---------------------------------------
class MakerOfArchivedRows(Mechanism[Params]):
    """In the first sleep after an event makes rows of its session: of half of it, and the last one
    of half of the first event of the session.

    kinds     of these rows
    archives  whether it archives them at once
    own       the rows that it made, ascending
    """

    def __init__(
        self,
        kinds: Sequence[Kind] = (Kind.SUMMARY, Kind.BUNDLE, Kind.SEGMENT),
        *,
        archives: bool = True,
    ) -> None:
        super().__init__("archivist", Params(1.0), order=10**5)
        self.kinds, self.archives, self.own = kinds, archives, list[int]()

    @hook(
        Phase.CONSOLIDATE,
        reads=(v.WRITING.before, v.TEXTS, v.SESSION, v.SPEAKER),
        adds=(v.DRAFTS,),
        sets=(),
    )
    def draft(self, view: Any, tick: Tick) -> None:
        told = np.flatnonzero(view.writing < 0)
        if told.size and told[-1] == len(view.writing) - 1:
            last = int(told[-1])
            first = int(told[view.session[told] == view.session[last]][0])
            for kind in self.kinds:
                row = first if kind is self.kinds[-1] else last
                text = view.texts[row]
                part = text[: len(text) // 2].strip() or text
                view.drafts.add(
                    Draft(
                        part,
                        kind,
                        (row,),
                        session=int(view.session[row]),
                        speaker=int(view.speaker[row]),
                    )
                )

    @hook(Phase.CONSOLIDATE, reads=(v.MADE,), adds=(v.HIDE,), sets=())
    def archive(self, view: Any, tick: Tick) -> None:
        mine = [row for row, draft in view.made if draft.maker == self.id]
        view.hide[mine] += self.archives
        self.own += mine


def wrong_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism for which rows count that sleep made and archived, or that match and are archived,
    or that cannot do without rows.
    """
    yield from wrong_few_rows(entry, registry)
    yield from wrong_made_rows(entry, registry)
    yield from wrong_kinds(entry, registry)
    yield from wrong_archived_rows(entry, registry)
    yield from wrong_state_of_archived_rows(entry, registry)


def wrong_few_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism, with each of its choices, that answers from a memory without rows that may be
    answered, or changes it when it is asked.  Raises what the mechanism raises in a memory of no
    rows, of one row, and of archived rows alone.
    """
    for around in (Circumstances(), *_choices(entry)):
        memory = Engine(
            everyone(registry, entry.id, around),
            ShortWindow(32),
            tick_hours=1.0,
            consolidate_every=24.0,
            language_model=replying(),
        )
        chosen = f" with {dict(around.choices)}" if around.choices else ""
        asked = [_changed_by_a_question(memory, START + night * 24.0, 0) for night in (0, 2)]
        memory.encode(Event(START + 60.0, TOLD[0][3], TOLD[0][2], TOLD[0][1], "e0"))
        asked += [
            _changed_by_a_question(memory, START + 60.0 + night * 24.0, 10) for night in (0, 2)
        ]
        for row in range(memory.store.n):
            memory.archive(row)
        asked.append(_changed_by_a_question(memory, memory.now, 0))
        asked.append(_changed_by_a_question(memory, memory.now + 48.0, 10))
        for changed in asked:
            if changed:
                yield f"a question to a memory of few rows{chosen} {changed}"
                return


def _choices(entry: Entry) -> Iterator[Circumstances]:
    """Each other word and truth value of each parameter."""
    for name, p in entry.params.items():
        others = (not p.value,) if isinstance(p.value, bool) else p.choices
        for value in others:
            if value != p.value:
                yield Circumstances(choices={name: value})


def _changed_by_a_question(memory: Engine, time: float, most: int) -> str:
    """What is wrong if a memory is asked that may answer with `most` rows; "" if nothing is."""
    memory.advance(time)
    kept = [c for c in memory.store.columns if c.scope.persists]
    before = {c.name: memory.column(c).tobytes() for c in kept}
    answer = memory.retrieve(Query(QUESTIONS[0], session=TOLD[0][1]), 20)
    if memory.sources:
        memory.context(QUESTIONS[0], TOKENS, session=TOLD[0][1])
    if len(answer) > most:
        return f"is answered by {len(answer)} rows"
    changed = [c.name for c in kept if memory.column(c).tobytes() != before[c.name]]
    return f"changes {', '.join(changed)}" if changed else ""


def wrong_made_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism that treats events otherwise because sleep made rows that nobody can see."""
    for around in _as_shipped_and_switched_on(entry):
        yield from _wrong_made_rows(entry, registry, around)


def _as_shipped_and_switched_on(entry: Entry) -> Iterator[Circumstances]:
    yield Circumstances()
    if choices := _switched_on(entry):
        yield Circumstances(choices=choices)


def _switched_on(entry: Entry) -> dict[str, Value]:
    """Choices by which a mechanism does what it ships without: numbers that are 0, and questions to a
    language model.
    """
    asked: dict[str, Value] = {
        name: p.value is False or "model"
        for name, p in entry.params.items()
        if (name == "model" and p.value is False) or ("model" in p.choices and p.value != "model")
    }
    return asked | {
        name: typed(entry, name, 1.0 if p.high is None else min(1.0, p.high))
        for name, p in entry.params.items()
        if name != "weight" and not isinstance(p.value, (bool, str)) and p.value == 0
    }


def _wrong_made_rows(entry: Entry, registry: Registry, around: Circumstances) -> Iterator[str]:
    loaded, archivist = entry.load(), MakerOfArchivedRows()
    plain, grown = (
        lived(
            registry,
            entry.id,
            around,
            beside=beside,
            language_model=replying(),
            after=_used_in_session,
            **OFTEN,
        )
        for beside in ((), (archivist,))
    )
    rows = np.delete(np.arange(grown.store.n), archivist.own)
    if len(rows) != plain.store.n:
        yield f"{plain.store.n} rows are stored, and {len(rows)} beside rows that sleep made"
        return
    yield from _wrong_columns_of_events(loaded, plain, grown, rows)
    signals = [c for c in loaded.owns if isinstance(c, Signal)]
    # in a session, of which the last row is one that sleep made
    in_session = [Query(q, session=TOLD[-1][1]) for q in QUESTIONS[:3]]
    for question in (*map(Query, QUESTIONS), *in_session):
        asked = question.text
        alone, beside = plain.retrieve(question, 20), grown.retrieve(question, 20)
        if rows[alone.rows].tolist() != beside.rows.tolist():
            yield f"{asked!r} has another answer beside rows that sleep made and archived"
            return
        for s in signals:
            once, other = plain.column(s), grown.column(s)[rows]
            if not np.allclose(once, other, rtol=1e-4, atol=1e-5, equal_nan=True):
                yield f"{s.name} of events differs beside rows that sleep made and archived"
                return
        if plain.sources and not question.session:
            alone_text, beside_text = (
                NUMBERED.sub("", m.context(asked, PLENTY, session="h").text) for m in (plain, grown)
            )
            if alone_text != beside_text:
                yield f"{asked!r} has another context beside rows that sleep made and archived"
                return


def _wrong_columns_of_events(
    loaded: type[Mechanism[Any]], plain: Engine, grown: Engine, rows: NDArray[np.int64]
) -> Iterator[str]:
    """Columns of `grown` whose cells in `rows`, the events, are others than in `plain`."""
    place = np.full(grown.store.n, -2)
    place[rows] = np.arange(len(rows))
    owned = [
        c for c in loaded.owns if isinstance(c, Column) and c.scope is Scope.MEMORY and c.persists
    ]
    for column in (v.VISIBLE, *owned):
        once, other = np.asarray(plain.column(column)), np.asarray(grown.column(column))[rows]
        if column.upkeep.rows is ...:
            if not np.array_equal(once, _renumbered(other, place)):
                yield f"{column.name} of events names rows that sleep made and archived"
        elif np.dtype(column.dtype).kind == "f" and column.upkeep.rows is None:
            if not np.allclose(once, other, rtol=1e-5, atol=ROUNDING, equal_nan=True):
                yield f"{column.name} of events differs beside rows that sleep made and archived"
        elif column.upkeep.rows is None and not (
            np.array_equal(once, other)
            # numbers of rows or of writings, which are more beside those that sleep made
            or (column.neutral == -1 and _same_order(once, other))
        ):
            yield f"{column.name} of events differs beside rows that sleep made and archived"


def _renumbered(numbers: NDArray[Any], place: NDArray[np.int64]) -> NDArray[Any]:
    """Numbers of rows as `place` counts them; what is no row of it stays."""
    rows = (numbers >= 0) & (numbers < len(place))
    return np.where(rows, place[np.where(rows, numbers, 0).astype(np.int64)], numbers)


def _same_order(once: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two numberings differ only in that some numbers are left out."""
    pairs = np.unique(np.stack([once.ravel(), other.ravel()], axis=1), axis=0)
    apart = np.diff(pairs, axis=0) > 0
    return bool(apart.all() and ((pairs[:, 0] < 0) == (pairs[:, 1] < 0)).all())


def wrong_kinds(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism for which the kinds of rows that are no events count, and whose entry does not say
    so.
    """
    loaded = entry.load()
    said = f"{entry.summary} {entry.acts_on}"
    if v.KIND not in read_by(loaded.hooks()) or any(w.search(said) for w in WORDS_OF.values()):
        return
    for around in _as_shipped_and_switched_on(entry):
        yield from _wrong_kinds(entry, registry, around)


def _wrong_kinds(entry: Entry, registry: Registry, around: Circumstances) -> Iterator[str]:
    first, *others = (
        _seen_with_rows_of(kind, entry, registry, around)
        for kind in (Kind.SUMMARY, Kind.BUNDLE, Kind.SEGMENT)
    )
    for other in others:
        if name := _first_unlike(first, other, rtol=1e-5, atol=ROUNDING):
            yield f"{name} differs with the kind of rows that are no events"
            return


def _first_unlike(once: Seen, other: Seen, *, rtol: float, atol: float) -> str:
    """The name of the first value that two lives do not share; "" if they share all."""
    for (name, x), (_, y) in zip(once, other, strict=True):
        if x.shape != y.shape or not np.allclose(x, y, rtol=rtol, atol=atol, equal_nan=True):
            return name
    return ""


def _seen_with_rows_of(kind: Kind, entry: Entry, registry: Registry, around: Circumstances) -> Seen:
    """Names and values of what is seen of a life in which sleep makes visible rows of a kind."""
    loaded, maker = entry.load(), MakerOfArchivedRows((Kind.SUMMARY,), archives=False)

    def as_kind(memory: Engine, number: int) -> None:
        # the engine writes rows of each kind in its own way; only what hooks read is changed
        memory.store.array(v.KIND)[maker.own] = kind

    beside = (maker, Fading("fading", Params(1.0)))
    ways: dict[str, Any] = {"language_model": replying(), "after": as_kind, **OFTEN}
    memory = lived(registry, entry.id, around, beside=beside, **ways)
    as_kind(memory, len(TOLD))
    values: Seen = [
        (c.name, np.array(memory.column(c), np.float64))
        for c in loaded.owns
        if isinstance(c, Column) and c.scope.persists
    ]
    signals = [c for c in loaded.owns if isinstance(c, Signal)]
    for question in QUESTIONS[:4]:
        asked = Query(question, session="h")
        values.append((f"the answer to {question!r}", memory.retrieve(asked, 20).rows))
        values += [(s.name, np.array(memory.column(s), np.float64)) for s in signals]
    if memory.sources:
        offered = memory.context(QUESTIONS[0], PLENTY, session="h").text
        values.append(("a context", np.array(list(map(ord, offered)), np.float64)))
    return values


# words of an entry for the kinds of rows that are no events
WORDS_OF: Final = {
    Kind.SEGMENT: re.compile(r"\bsegments?\b"),
    Kind.BUNDLE: re.compile(r"\bbundles?\b"),
    Kind.SUMMARY: re.compile(r"\bsummar(y|ies)\b"),
}
NUMBERED: Final = re.compile(r"\[(\d+|Truncated.*)\]")  # rows, and what was left out
PLENTY: Final = 4000  # tokens, so that the digits of a row leave nothing out
LOUD: Final = signal("loud", Facet.MEANING, "a score of the check", scale=Scale.SIMILARITY)


@dataclass(frozen=True, slots=True)
class LoudParams(Params):
    weight: float


class Loud(Mechanism[LoudParams]):
    """Gives archived rows a score, and all others their place in the memory.

    score  of archived rows
    """

    owns = (LOUD,)
    score = 0.0

    @hook(Phase.RETRIEVE, reads=(v.VISIBLE,), adds=(), sets=(LOUD,))
    def speak(self, view: Any, cue: Any) -> None:
        n = len(view.visible)
        view.loud[...] = np.where(view.visible, np.cos(np.arange(n)), self.score)


def wrong_archived_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism whose scores of visible rows depend on how well archived rows match."""
    if all(declared.phase is not Phase.RETRIEVE for declared in entry.load().hooks()):
        return  # it sees no score
    loud = Loud("loud", LoudParams(1.0, 1.0), order=-1)
    memory = lived(registry, entry.id, beside=(loud,))
    for row in range(5, memory.store.n, 7):
        memory.archive(row)
    visible = memory.column(v.VISIBLE).copy()
    own = [c for c in entry.load().owns if isinstance(c, Column) and c.scope is Scope.CANDIDATE]
    seen = []
    for number, score in enumerate((-1.0, 1.0)):
        loud.score = score
        answers, columns = [], []
        for question in QUESTIONS:
            # a blank, since the answer to the same question is kept
            answers.append(memory.retrieve(question + " " * number, 10).rows.tolist())
            columns += [np.array(memory.column(c), np.float64)[visible] for c in own]
        seen.append((answers, columns))
    (rows, columns), (others, louder) = seen
    names = [c.name for _ in QUESTIONS for c in own]
    wrong = {
        name
        for name, once, other in zip(names, columns, louder, strict=True)
        if not np.allclose(once, other, rtol=1e-5, atol=ROUNDING, equal_nan=True)
    }
    for name in sorted(wrong):
        yield f"{name} of visible memories depends on how well archived ones match"
    if not wrong and rows != others:
        yield "answers depend on how well archived memories match"


OF_ARCHIVED: Final = re.compile(r"\barchived\b")
# numbers of the events that are archived in the midst of a life, and of the one after which they are
ARCHIVED_EARLY: Final = (3, 8, 13, 18, 23, 27)
ARCHIVED_AFTER: Final = 30


def wrong_state_of_archived_rows(entry: Entry, registry: Registry) -> Iterator[str]:
    """A mechanism for which it counts, later in a life, what it holds of rows that were archived
    before, and whose entry does not say so: these rows exchange what it holds of them.  Factors along
    the rows do count.
    """
    loaded = entry.load()
    words = [
        entry.acts_on,
        *(d.what for d in entry.departures),
        *(p.note for p in entry.params.values()),
    ]
    if entry.variety_of or OF_ARCHIVED.search(" ".join(words)):
        return
    held = [
        c
        for c in loaded.owns
        if isinstance(c, Column)
        and c.scope is Scope.MEMORY
        and c.persists
        and c.neutral != -1  # no numbers of rows or of writings
        and c.upkeep.rows is None
        and not c.upkeep.chained
    ]
    if not held:
        return
    kept, exchanged = (_seen_after_archiving(entry, registry, held, e) for e in (False, True))
    if name := _first_unlike(kept, exchanged, rtol=1e-4, atol=1e-5):
        yield f"{name} depends on what is held of archived rows"


def _seen_after_archiving(
    entry: Entry, registry: Registry, held: list[Column], exchanged: bool
) -> Seen:
    """Names and values of what is seen at the end of the visible rows."""

    def archive(memory: Engine, number: int) -> None:
        if number == ARCHIVED_AFTER:
            rows = [row for row in ARCHIVED_EARLY if row < memory.store.n]
            for row in rows:
                memory.archive(row)
            for column in held if exchanged else ():
                cells = memory.store.array(column)
                cells[rows] = cells[np.roll(rows, 1)]

    memory = lived(registry, entry.id, language_model=replying(), after=archive)
    visible = memory.column(v.VISIBLE).copy()

    def seen(columns: Iterable[Column]) -> Seen:
        return [(c.name, np.array(memory.column(c), np.float64)[visible]) for c in columns]

    signals = [c for c in entry.load().owns if isinstance(c, Signal)]
    values = seen(held)
    for question in QUESTIONS:
        values.append((f"the answer to {question!r}", memory.retrieve(question, 10).rows.copy()))
        values += seen(signals)
    return values
