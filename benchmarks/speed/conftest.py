"""Fixtures of the speed suites: synthetic conversations, an embedder that costs nothing, memories
of 1k, 10k and 100k units, a table of figures.

Texts are English small talk from templates: about 22 words, a vocabulary that grows with the memory
by Zipf's law, and in two of three turns the name of a person or a place, drawn by the same law.
Nothing is read or downloaded; the same seed gives the same texts.

Memories with a file repeat a small one of 1,000 events, see large.py.

A measure and its reference are timed in turn, so that their ratio is reliable on a busy machine
even where the times are not.  Of rounds of at most 100 ms the table has the median of quiet ones,
too: those before and after which a loop of Python ran at its full speed, see quiet.py.
"""

from __future__ import annotations

import gc
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hebbarium.benchmarks.speed import quiet
from hebbarium.benchmarks.speed.large import SMALL, WITHOUT, Files, tiled
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import WORD, Vectors
from hebbarium.engine.ports.tokens import Tokens, coded

DIMENSIONS = 384  # of all-MiniLM-L6-v2
# ms; in longer rounds a processor is disturbed and left alone several times
LONG = 100.0
FEWEST = 5  # quiet rounds, for their median
TURNS = 20  # per session, a minute apart; one session a day
FIRST = 24.0 * 365 * 40  # h
MONTH = 24.0 * 30

SYLLABLES = (
    "an",
    "re",
    "in",
    "er",
    "at",
    "on",
    "is",
    "or",
    "en",
    "st",
    "al",
    "co",
    "de",
    "un",
    "ing",
    "ti",
    "es",
    "ma",
    "ri",
    "ta",
    "lo",
    "mi",
    "ca",
    "pro",
    "ver",
    "com",
    "per",
    "ness",
    "ment",
    "ly",
    "ed",
    "bu",
    "po",
    "sha",
    "ki",
    "gro",
    "wel",
    "fa",
    "ju",
    "tor",
)
TEMPLATES = (
    "I went to {P} with {N} last weekend and we talked about the {w} {w} for hours.",
    "Did {N} ever tell you what happened with the {w} and the {w} after the {w}?",
    "We are thinking about the {w} for the {w}, but it costs {d} dollars and I am not sure.",
    "My sister said the {w} was better than the {w}, and I have to agree with her.",
    "That sounds lovely! I have been trying to {w} more since we moved to {P}.",
    "The {w} is finally done, it took {d} days and a lot of {w}.",
    "Yes, I remember, you said it was {w} and that nobody would {w} it.",
    "{N} and {N} are coming over on Friday, so we need {w}, {w} and something to drink.",
    "I started {w} in {d} and it has helped me with my {w} more than anything else.",
    "Oh no, I am so sorry to hear that the {w} did not work out for you and {N}.",
    "What do you think about the new {w} at the {P} library, is it worth the trip?",
    "I promised {N} that I would bring the {w} before the {w} starts next month.",
    "There was a {w} in the garden this morning and the dog would not stop barking at the {w}.",
    "Thanks! It means a lot to me, the {w} was hard and the {w} even harder.",
    "Actually it was not {P}, it was the town next to it where they have the {w} every year.",
    "How is the {w} going, are you still working on it with {N}?",
)


class ZipfWords:
    """Draws from a vocabulary by Zipf's law, p proportional to 1 / (rank + 2); O(log words) a
    draw.
    """

    def __init__(self, words: Sequence[str], rng: np.random.Generator) -> None:
        total = np.cumsum(1.0 / (np.arange(len(words)) + 2.0))
        self.words, self.rng, self.edges = list(words), rng, total / total[-1]
        self.pending: Iterator[int] = iter(())

    def draw(self) -> str:
        for number in self.pending:
            return self.words[number]
        self.pending = iter(np.searchsorted(self.edges, self.rng.random(4096)).tolist())
        return self.draw()


def coined(rng: np.random.Generator, count: int, capital: bool = False) -> list[str]:
    """Words of two to four syllables that no text holds yet."""
    coined_words: dict[str, None] = {}
    while len(coined_words) < count:
        word = "".join(rng.choice(SYLLABLES, rng.integers(2, 5)))
        coined_words[word.capitalize() if capital else word] = None
    return list(coined_words)


@cache
def conversation(n: int, seed: int = 7) -> tuple[Event, ...]:
    """n events of two speakers; a shorter conversation is a prefix of a longer one of the same
    seed.
    """
    rng = np.random.default_rng(seed)
    slots = {
        "w": ZipfWords(coined(rng, 20_000), rng),
        "N": ZipfWords(coined(rng, 4_000, True), rng),
        "P": ZipfWords(coined(rng, 1_000, True), rng),
    }
    events = []
    for i in range(n):
        template = TEMPLATES[int(rng.integers(len(TEMPLATES)))] + (
            " " + TEMPLATES[int(rng.integers(len(TEMPLATES)))] if i % 3 == 0 else ""
        )
        parts = template.split("{")
        text = parts[0] + "".join(
            (str(rng.integers(2, 2000)) if p[0] == "d" else slots[p[0]].draw()) + p[2:]
            for p in parts[1:]
        )
        events.append(
            Event(
                FIRST + 24.0 * (i // TURNS) + (i % TURNS) / 60.0,
                text,
                ("Caroline", "Melanie")[i % 2],
                f"session_{i // TURNS}",
                f"e{i}",
            )
        )
    return tuple(events)


@cache
def questions(n: int, count: int = 64) -> tuple[Query, ...]:
    """Questions in words of the conversation's events; three in four name a person."""
    rng, events = np.random.default_rng(n), conversation(n)
    names = [
        word
        for event in events[:500]
        for word in event.text.split()
        if word.istitle() and word.isalpha() and len(word) > 6
    ]
    asked = []
    for i, row in enumerate(rng.integers(n, size=count).tolist()):
        words = " ".join(events[row].text.rstrip(".!?").split()[-8:])
        who = f" with {names[int(rng.integers(len(names)))]}" if i % 4 else ""
        asked.append(
            Query(f"{('When did', 'What did', 'Why does', 'Who told')[i % 4]} {words}{who}?")
        )
    return tuple(asked)


@cache
def words_of(text: str) -> NDArray[np.int32]:
    """(w, 3) start, end and checksum of each word of a text."""
    codes = [
        (*word.span(), zlib.crc32(word.group().encode()) & 1023) for word in WORD.finditer(text)
    ]
    return np.array(codes, np.int32).reshape(-1, 3)


class FreeEmbedder:
    """Random unit vectors by a checksum of the text: two halves of 1,024 choices each, so that
    some texts share a half.
    """

    name, revision, dimensions = "free", "1", DIMENSIONS

    def __init__(self) -> None:
        halves = np.random.default_rng(1).standard_normal((2, 1024, DIMENSIONS // 2))
        self._halves = (
            halves / np.linalg.norm(halves, axis=2, keepdims=True) / np.sqrt(2.0)
        ).astype(np.float32)
        words = coded(
            np.random.default_rng(2).standard_normal((1024, DIMENSIONS)), np.zeros((1024, 2))
        )
        self._codes, self._scales = words.codes, words.scales

    def embed(self, texts: Sequence[str]) -> Vectors:
        sums = np.array([zlib.crc32(text.encode()) for text in texts], np.int64)
        return np.concatenate([self._halves[0, sums & 1023], self._halves[1, sums >> 22]], axis=1)

    def embed_tokens(self, texts: Sequence[str]) -> Tokens:
        """A vector for each word, one of 1,024 by a checksum; known texts are looked up."""
        words = [words_of(text) for text in texts]
        codes, offsets = (
            np.concatenate([np.empty((0, 3), np.int32), *words]),
            np.cumsum([0, *map(len, words)]),
        )
        return Tokens(
            self._codes[codes[:, 2]],
            self._scales[codes[:, 2]],
            offsets,
            np.ascontiguousarray(codes[:, :2]),
        )


def fresh(
    n: int,
    without: Sequence[str] = (),
    observer: Observer | None = None,
    chosen: str = "minimal",
    also: Sequence[str] = (),
    nights: float = MONTH,
) -> Engine:
    """A memory of n units with a set of mechanisms and those that are added.  Cost: about 0.5 ms a
    unit.

    nights  h from one consolidation to the next

    Ticks are a month long, and the index finds no neighbours during building, so that a write gate,
    which searches the index on every event, admits all: otherwise building would be quadratic.
    """
    registry = Registry.read()
    base = registry.set(chosen).without(without)
    mechanisms = registry.build(
        replace(base, mechanisms={**base.mechanisms, **{id: {} for id in also}})
    )
    memory = Engine(
        mechanisms, FreeEmbedder(), tick_hours=MONTH, consolidate_every=nights, observer=observer
    )
    index: Any = memory.assembly.index
    index.search = lambda *_: (np.empty(0, np.int64), np.empty(0, np.float32))
    for event in conversation(n):
        memory.encode(event)
    del index.search
    memory.advance(memory.now + 1.0)
    assert memory.store.n == n
    return memory


# --- times, targets, ratios -----------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class TimedFigure:
    """One line of the table: times in ms; `ratio` is the median over the rounds of the reference's
    time over ours.

    quiet, rounds  median of the quiet rounds (None: there are too few, or they are too long to be
                   judged), and how many they are
    """

    what: str
    least: float
    median: float
    quiet: float | None
    rounds: int
    target: float | None
    ratio: float | None
    reference: str


class ReferenceTimer:
    """Times a call with pytest-benchmark, in turn with a reference, and keeps the figure.
    loops: seconds of all loops of `quiet` so far.
    """

    def __init__(
        self, benchmark: Any, name: str, figures: list[TimedFigure], loops: list[float]
    ) -> None:
        self.benchmark, self.name, self.figures, self.loops = benchmark, name, figures, loops

    def __call__(
        self,
        timed: Callable[[], Any],
        rounds: int,
        *,
        target: float | None = None,
        reference: Callable[[], Any] | None = None,
        against: str = "",
        per: int = 1,
        warmup: int = 2,
    ) -> None:
        """rounds of `timed`.

        target     ms  upper bound of the median; AssertionError if even the fastest round exceeds
                       it
        reference      called and timed before each round, outside pytest-benchmark's timing;
                       `against` names it
        per            units of work in a call: times are divided by it
        """
        others, before, after = list[float](), list[float](), list[float]()

        def setup() -> None:
            after.append(quiet.loop())  # of the round before
            if reference is not None:
                start = perf_counter()
                reference()
                others.append(perf_counter() - start)
            before.append(quiet.loop())

        self.benchmark.pedantic(
            timed, setup=setup, rounds=rounds, iterations=1, warmup_rounds=warmup
        )
        after.append(quiet.loop())
        stats = self.benchmark.stats
        if stats is None:  # pytest --benchmark-disable
            return
        least, median = 1e3 * stats.stats.min / per, 1e3 * stats.stats.median / per
        ratio = (
            float(np.median(np.array(others[warmup:]) / stats.stats.data))
            if reference is not None
            else None
        )
        self.loops.extend((*before, *after))
        times = 1e3 * np.array(stats.stats.data) / per
        calm = times[
            quiet.quiet(before[warmup:], after[warmup + 1 :], min(self.loops))
            & (times * per <= LONG)
        ]
        still = float(np.median(calm)) if calm.size >= FEWEST else None
        self.benchmark.extra_info.update(
            {
                "target_ms": target,
                "ratio": ratio,
                "reference": against,
                "quiet_ms": still,
                "quiet_rounds": calm.size,
            }
        )
        self.figures.append(
            TimedFigure(self.name, least, median, still, calm.size, target, ratio, against)
        )
        assert target is None or least <= target, (
            f"the fastest of {rounds} rounds takes {least:.3f} ms, the target is {target} ms"
        )


FIGURES = pytest.StashKey[list[TimedFigure]]()
LOOPS = pytest.StashKey[list[float]]()


@pytest.fixture(scope="session")
def memory() -> Callable[[int], Engine]:
    """The memory of n units that all suites share; the suite that makes it grow runs last."""
    return cache(fresh)


@pytest.fixture(scope="session")
def grown() -> Callable[..., Engine]:
    """A new memory for one test: n, mechanisms to leave out, observer, set, mechanisms to add,
    time between nights.
    """
    return fresh


@pytest.fixture(scope="session")
def turns() -> Callable[[int, int], Iterator[Event]]:
    """Events first, first + 1, ... of the conversation, `count` of them, then the same again; without
    ids, which a memory takes once.
    """
    return lambda first, count: cycle(
        [replace(event, id="") for event in conversation(first + count)[first:]]
    )


@pytest.fixture(scope="session")
def asked() -> Callable[[int], Iterator[Query]]:
    """The questions about n units, repeated without end."""
    return lambda n: cycle(questions(n))


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """The closed file of a memory of a set with so many units, see `tiled`, and a function that
    opens it with further options of `Engine`.
    """
    small = cache(
        lambda chosen: fresh(SMALL, without=WITHOUT.get(chosen, ()), chosen=chosen, nights=1e6)
    )

    @cache
    def made(chosen: str, n: int) -> tuple[Path, Callable[[], Engine]]:
        source, path = small(chosen), tmp_path_factory.mktemp("saved") / f"{chosen} {n}.db"
        tiled(source, n, path).close()
        gc.collect()  # a million units and their copy do not fit together
        return path, lambda **options: Engine(
            source.assembly.mechanisms,
            source.assembly.embedder,
            **{
                "path": path,
                "tick_hours": 0.0,
                "consolidate_every": 1e6,
                "durable": False,
                **options,
            },
        )

    return made


@pytest.fixture
def clock(benchmark: Any, request: pytest.FixtureRequest) -> ReferenceTimer:
    loops = request.config.stash[LOOPS]
    if not loops:  # among so many are some at full speed
        loops.extend(quiet.loop() for _ in range(500))
    name, stash = (
        request.node.nodeid.rpartition("bench_")[2].replace(".py::test_", " "),
        request.config.stash,
    )
    return ReferenceTimer(benchmark, name, stash[FIGURES], loops)


def pytest_configure(config: pytest.Config) -> None:
    config.stash[FIGURES], config.stash[LOOPS] = [], []


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Collects bench_*.py, which a plain `pytest` does not unless the file is named."""
    own = file_path.match("bench_*.py") and not parent.session.isinitpath(file_path)
    return pytest.Module.from_parent(parent, path=file_path) if own else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: "bench_encode" in item.nodeid)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Prints the figures as a table for README.md."""
    figures = config.stash[FIGURES]
    if figures:
        heads = (
            "what",
            "least, ms",
            "median, ms",
            "quiet, ms",
            "rounds",
            "target, ms",
            "ratio",
            "of",
        )
        terminalreporter.write_line(f"\n| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for f in figures:
        quiet_ms, target, ratio = (
            f"{value:{form}}" if value is not None else ""
            for value, form in ((f.quiet, ".3g"), (f.target, "g"), (f.ratio, ".2f"))
        )
        cells = (
            f.what,
            f"{f.least:.3g}",
            f"{f.median:.3g}",
            quiet_ms,
            str(f.rounds),
            target,
            ratio,
            f.reference,
        )
        terminalreporter.write_line(f"| {' | '.join(cells)} |")
