"""The facet, directness, scale and floor of a signal against its scores: with questions whose words or
vectors are exchanged, or that have words that nobody said, and in a life in which no two texts are
alike.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...engine.catalogue.registry import Entry, Registry
from ...engine.contract import vocabulary as v
from ...engine.contract.columns import Facet, Scale, Signal
from ...engine.contract.hooks import Hook, Touched
from ...engine.contract.records import Query
from ...engine.memory.engine import Engine
from ...engine.text.words import terms_of
from ..life import QUESTIONS, TOLD, lived
from .lives import ROUNDING, PlainLife, learnt_by, read_by

Scores = NDArray[np.float64]
# facets whose scores depend on the vector of the question alone, on its words alone, and on neither
BY_VECTOR: Final = frozenset({Facet.MEANING, Facet.COMPLETION})
BY_WORDS: Final = frozenset({Facet.WORDS, Facet.FORM})
BY_NEITHER: Final = frozenset({Facet.TIME, Facet.USE})
# what the engine keeps of texts as they were told
TOLD_TEXTS: Final = frozenset(
    {"index", "lexicon", "trigrams", "passages", "spans", "texts", "cues"}
)
TIMED: Final = (1, 4)  # numbers of the questions that name a time
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


def unlike_the_varied(printed: Entry, varied: Entry) -> Iterator[str]:
    """Signals of a printed form whose facet, directness, floor and scale no signal of the form that
    it varies has: both are the same evidence, however they compute it.  What starts from memories
    that match is direct in neither.
    """
    signals = [c for c in varied.load().owns if isinstance(c, Signal)]
    for s in (c for c in printed.load().owns if isinstance(c, Signal)):
        of_match = v.MATCH in _read_for(printed.load().hooks(), s)
        known = [(o.facet, o.direct and not of_match, o.floor, o.scale) for o in signals]
        if (s.facet, s.direct, s.floor, s.scale) not in known:
            yield (
                f"{s.name} is evidence of {s.facet.name}, {'' if s.direct else 'not '}direct, with the "
                f"floor {s.floor:g} and the scale {s.scale.value}, as no signal of {varied.id} is"
            )


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
    if not s.direct and of.asked and not of.of_match and not learnt_by(of.hooks) & of.reads:
        yield f"{s.name} starts from no match and from nothing learnt, and is not called direct"


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
