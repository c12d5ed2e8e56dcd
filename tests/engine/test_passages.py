"""Passages: which texts have them, how many, and the score of the best, against windows cut by
hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hebbarium.engine.arms.variants import Variants
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder, Spans, Vectors
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.ports.word_pieces import LONG, cuts
from hebbarium.engine.state.event_log import AROUND, EventLog
from hebbarium.engine.state.postings import BM25Index, Idf, terms_of
from hebbarium.engine.steps.passages import (
    MOST,
    OVERLAP,
    SHARED,
    SIZE,
    SPAN,
    Growing,
    Passages,
    telling,
)
from hebbarium.engine.text.memo import forget_texts

EMBEDDER = HashingEmbedder(32)


class LetterEmbedder(HashingEmbedder):
    """Reads a piece for each character."""

    def pieces(self, text: str) -> Spans:
        return np.array([(i, i + 1) for i in range(len(text))], np.int32).reshape(-1, 2)


def words(count: int, first: int = 0) -> list[str]:
    return [f"w{i}" for i in range(first, first + count)]


def passages_of(
    log: EventLog, embedder: HashingEmbedder = EMBEDDER, lexicon: BM25Index | None = None
) -> Passages:
    return Passages(log, embedder, lexicon or BM25Index())


def tell(log: EventLog, lexicon: BM25Index, row: int, text: str) -> None:
    log.write(Event(float(row), text, dated=False), row)
    lexicon.add(row, terms_of(text, stop_words=True))


def made(*texts: str) -> tuple[Passages, Callable[[int, str], None]]:
    """The passages of some texts, and what tells a further one."""
    log, lexicon = EventLog(), BM25Index()
    for row, text in enumerate(texts):
        tell(log, lexicon, row, text)
    return passages_of(log, lexicon=lexicon), lambda row, text: tell(log, lexicon, row, text)


def test_only_texts_that_are_longer_than_a_window_have_passages() -> None:
    passages, _ = made(
        "short",
        " ".join(words(SIZE)),
        " ".join(words(SIZE + 1)),
        " ".join(words(2 * SIZE - OVERLAP + 1)),
    )
    assert passages.counts(4).tolist() == [0, 0, 2, 3]
    for shown in ([], [0, 3], [1, 2], [2], [0, 1, 2, 3]):
        assert passages.counts(4, np.array(shown, np.int64)).tolist() == [
            [0, 0, 2, 3][row] for row in shown
        ]
    long, keeps = words(SIZE + 1), Passages(EventLog(), EMBEDDER, BM25Index(), vectors=True)
    assert (
        keeps.parts(" ".join(long)) == [" ".join(long[:SIZE]), " ".join(long[SIZE - OVERLAP :])]
        and keeps.parts("short") == []
    )
    assert passages.parts(" ".join(long)) == [], "nothing reads vectors"


@pytest.mark.parametrize("extra", range(-70, 3))
@pytest.mark.parametrize("letter", ["x", "é"])
def test_texts_near_the_limit_are_divided_as_they_are_written_out(extra: int, letter: str) -> None:
    """With one piece a letter, of texts with date, speaker and caption around the limit:
    passages are those of the whole text.
    """
    letters = LetterEmbedder(32)
    log, text = EventLog(), letter * (SIZE + extra)
    log.write(Event(8.0e6, text, "Ada", caption="boat"), 0)
    written = log.rendered(0)
    assert len(written) > len(text) + 7 and passages_of(log, letters).counts(1).tolist() == [
        len(cuts(letters, written, (SIZE, OVERLAP))[0])
    ]
    short = passages_of(log)
    assert short.counts(1).tolist() == [0] and log.is_short(0, SIZE) == (
        letter == "x" and len(text) + 7 + AROUND <= SIZE
    )


def test_texts_that_are_surely_short_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    passages, _ = made(*["short"] * 50, " ".join(words(SIZE + 1)))
    asked = list[int]()
    rendered = EventLog.rendered
    monkeypatch.setattr(
        EventLog, "rendered", lambda self, row: asked.append(row) or rendered(self, row)
    )
    assert passages.counts(51).tolist() == [0] * 50 + [2] and set(asked) == {50}


def test_the_best_window_counts_and_rows_that_come_later_are_covered() -> None:
    long, query = words(SIZE + 100, 500), EMBEDDER.embed([" ".join(words(20, 760))])[0]
    passages, say = made("short", " ".join(long))
    cut = EMBEDDER.embed([" ".join(long[:SIZE]), " ".join(long[SIZE - OVERLAP :])])
    out = passages.scores(query, np.empty(2, dtype=np.float32))
    assert np.isnan(out[0]) and np.isclose(out[1], (cut @ query).max(), atol=1e-6)
    say(2, " ".join(long[::-1]))
    again = passages.scores(query, np.empty(3, dtype=np.float32))
    assert (
        np.isclose(again[1], out[1])
        and not np.isnan(again[2])
        and passages.counts(3).tolist() == [0, 2, 2]
    )


def test_passages_of_some_rows_are_counted_without_passages_and_as_rows_come() -> None:
    passages, say = made("short", "shorter")
    assert passages.counts(2, np.array([1, 0])).tolist() == [0, 0]
    say(2, " ".join(words(SIZE + 1)))
    assert passages.counts(3, np.array([2, 0])).tolist() == [2, 0]


def test_a_memory_without_long_texts_embeds_nothing() -> None:
    passages, _ = made("one", "two")
    assert np.isnan(
        passages.scores(EMBEDDER.embed(["one"])[0], np.empty(2, dtype=np.float32))
    ).all()


def test_rows_whose_windows_could_not_be_embedded_are_tried_again() -> None:
    class Failing(HashingEmbedder):
        fails = True

        def embed(self, texts: Sequence[str]) -> Vectors:
            if self.fails:
                raise HebbariumError("no connection")
            return super().embed(texts)

    embedder, log = Failing(32), EventLog()
    log.write(Event(0.0, " ".join(words(SIZE + 1)), dated=False), 0)
    passages = passages_of(log, embedder)
    with pytest.raises(HebbariumError, match="no connection"):
        passages.counts(1)
    embedder.fails = False
    assert passages.counts(1).tolist() == [2]


def test_words_are_searched_in_spans_once_a_text_is_long() -> None:
    passages, say = made("short words", "w3 alone")
    out = np.full(2, -1.0, dtype=np.float32)
    assert passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, out) is None and out.tolist() == [
        -1.0,
        -1.0,
    ]
    say(2, " ".join(words(SIZE + 1)))
    out = np.full(3, -1.0, dtype=np.float32)
    spans = passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, out)
    assert spans is not None and spans.tolist() == [
        1,
        1,
        -(-(SIZE + 1 - SPAN) // (SPAN - SHARED)) + 1,
    ]
    # the shorter span with the word scores more
    assert out[0] == 0.0 and out[1] > out[2] > 0.0
    say(3, "w3")
    again = np.zeros(4, dtype=np.float32)
    found = passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, again)
    assert found is not None and found[3] == 1 and again[3] > again[1]


@pytest.mark.parametrize("last", (1, 3, 6))
@pytest.mark.parametrize("step", ("_put", "_measure"))
def test_words_after_an_interrupted_question_are_those_of_an_undisturbed_memory(
    step: str, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the spans of later rows are added, anywhere: one row alone holds the word,
    and each has its spans.
    """

    def told(log: EventLog, lexicon: BM25Index, rows: range) -> None:
        for row in rows:
            tell(log, lexicon, row, " ".join(words(300, 1000 * row)) + " apple" * (row == 5))

    def asked(passages: Passages, n: int) -> tuple[list[float], list[int]]:
        out = np.empty(n, dtype=np.float32)
        spans = passages.words(["appl"], Idf.LUCENE.weight, 1.2, 0.75, out)
        assert spans is not None
        return out.tolist(), spans.tolist()

    undisturbed, log, all_words, lexicon = EventLog(), EventLog(), BM25Index(), BM25Index()
    told(undisturbed, all_words, range(9))
    told(log, lexicon, range(3))
    passages, calls = passages_of(log, lexicon=lexicon), list[int]()
    undisturbed_step = getattr(BM25Index, step)
    asked(passages, 3)
    told(log, lexicon, range(3, 9))

    def interrupted(self: BM25Index, *args: Any) -> None:
        calls.append(1)
        if len(calls) == last:
            raise KeyboardInterrupt
        undisturbed_step(self, *args)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(BM25Index, step, interrupted)
        asked(passages, 9)
    scores, spans = asked(passages, 9)
    assert [row for row, score in enumerate(scores) if score] == [5] and spans == [
        -(-(300 - SPAN) // (SPAN - SHARED)) + 1
    ] * 9
    assert (scores, spans) == asked(passages_of(undisturbed, lexicon=all_words), 9)


@pytest.mark.parametrize("last", range(4))
def test_vectors_after_an_interrupted_question_are_those_of_an_undisturbed_memory(
    last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the vectors of two later rows are put behind the earlier ones, before any of
    the four writes.
    """
    texts = [" ".join(words(SIZE + 1)), "short"]
    passages, say = made(*texts)
    query, out = EMBEDDER.embed([" ".join(words(20, 3010))])[0], np.empty(4, dtype=np.float32)
    passages.scores(query, out[:2])
    for row in (2, 3):
        texts.append(" ".join(words(SIZE + 9, 1000 * row)))
        say(row, texts[-1])
    put, calls = Growing.put, list[int]()

    def interrupted(self: Growing, at: int, cells: Any) -> None:
        calls.append(at)
        if len(calls) == last + 1:
            raise KeyboardInterrupt
        put(self, at, cells)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(Growing, "put", interrupted)
        passages.scores(query, out)
    assert passages.counts(4).tolist() == [2, 0, 2, 2]
    windows = [
        (texts[row].split()[:SIZE], texts[row].split()[SIZE - OVERLAP :]) for row in (0, 2, 3)
    ]
    best = [
        float((EMBEDDER.embed([" ".join(part) for part in each]) @ query).max()) for each in windows
    ]
    found = passages.scores(query, out)
    assert np.isnan(found[1]) and found[[0, 2, 3]].tolist() == pytest.approx(best, abs=1e-6)


def test_forgetting_computes_spans_again() -> None:
    passages, _ = made(" ".join(words(SIZE + 1)), "w3")
    one, other = np.zeros(2, dtype=np.float32), np.zeros(2, dtype=np.float32)
    passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, one)
    passages.forget()
    passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, other)
    assert one.tolist() == other.tolist()


def test_each_text_is_divided_into_word_pieces_once() -> None:
    class Counting(HashingEmbedder):
        divided: list[str]

        def pieces(self, text: str) -> Spans:
            self.divided.append(text)
            return super().pieces(text)

    embedder, log, lexicon = Counting(32), EventLog(), BM25Index()
    embedder.divided = []
    # all are long in characters
    texts = [" ".join(words(SIZE, 7)), " ".join(words(SIZE + 1)), " ".join(words(SIZE + 9))]
    for row, text in enumerate(texts):
        tell(log, lexicon, row, text)
    passages = Passages(log, embedder, lexicon, vectors=True)
    # before these have a row, as at encoding
    before = [part for text in texts[:2] for part in passages.parts(text)]
    out = np.zeros(3, dtype=np.float32)
    assert len(before) == 2 and passages.counts(3).tolist() == [0, 2, 2]
    assert (
        passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, out) is not None
        and out[0] == 0.0 < out[1]
    )
    assert embedder.divided == texts
    passages.forget()
    assert passages.counts(3).tolist() == [0, 2, 2] and embedder.divided == texts
    passages.forget()
    forget_texts()
    assert passages.counts(3).tolist() == [0, 2, 2] and embedder.divided == texts * 2


# --- texts that have more windows than vectors ----------------------------------------------------
def numbered(terms: list[list[int]]) -> list[NDArray[np.int64]]:
    return [np.array(of_window, np.int64) for of_window in terms]


def greedy(terms: Sequence[Iterable[object]], most: int) -> list[int]:
    """The choice by its definition: each round every window is weighed anew."""
    chosen = [0, len(terms) - 1]
    while len(chosen) < most:
        held = {term for at in chosen for term in terms[at]}
        left = [at for at in range(len(terms)) if at not in chosen]
        chosen.append(
            max(
                left,
                key=lambda at: (
                    len(set(terms[at]) - held),
                    min(abs(at - each) for each in chosen),
                    -at,
                ),
            )
        )
    return sorted(chosen)


@given(
    st.lists(st.lists(st.integers(0, 9), max_size=5, unique=True), min_size=4, max_size=12),
    st.integers(2, 6),
)
def test_the_windows_that_stand_for_a_text_are_the_greedy_cover_of_its_terms(
    terms: list[list[int]], most: int
) -> None:
    assert telling(numbered(terms), most).tolist() == (
        greedy(terms, most) if len(terms) > most else list(range(len(terms)))
    )


def test_the_passages_of_a_text_are_chosen_by_the_terms_of_the_spans_within_each_window() -> None:
    text = " ".join(f"w{(at * at) % 1013} v{at // 400}" for at in range(9_000))
    windows, spans = cuts(EMBEDDER, text, (SIZE, OVERLAP), (SPAN, SHARED))
    terms = [
        [
            term
            for a, b in spans.tolist()
            if start <= a and b <= end
            for term in terms_of(text[a:b], stop_words=True)
        ]
        for start, end in windows.tolist()
    ]
    keeps = Passages(EventLog(), EMBEDDER, BM25Index(), vectors=True)
    assert len(windows) > MOST and keeps.parts(text) == [
        text[a:b] for a, b in windows[greedy(terms, MOST)].tolist()
    ]


def test_a_text_that_says_one_thing_is_spread_over_its_length() -> None:
    for terms in ([0], []):
        assert telling(numbered([terms] * 9), 5).tolist() == [0, 2, 4, 6, 8]


LETTERS = st.text(st.characters() | st.sampled_from("\x00\ud800\n 的a1_-"), max_size=40)


@given(LETTERS, st.integers(0, 5_000), LETTERS)
@example("", 0, "")
@example("a", 1_000_000, "")
@example("\n", 100_000, "")
@example("\ud800 ", 20_000, "end")
@example("\x00", 5_000, "\x00 x")
@example("one two ", 30_000, "three")
def test_any_text_has_a_bounded_number_of_windows_from_its_start_to_its_end(
    part: str, times: int, last: str
) -> None:
    text = part * times + last
    passages = Passages(EventLog(), EMBEDDER, BM25Index(), vectors=True, words=True)
    parts = passages.parts(text)
    passages.add(0, text)
    shown, of = passages.read(0)
    assert len(parts) == shown <= min(of, MOST) and shown in (of, MOST)
    if parts:
        assert len(EMBEDDER.embed(parts)) == shown and all(part in text for part in parts)
        assert max(map(len, parts)) < len(text)
    if len(text) <= LONG:  # word pieces are counted
        pieces = EMBEDDER.pieces(text)
        assert (of > 0) == (len(pieces) > SIZE) and all(
            len(EMBEDDER.pieces(each)) <= SIZE for each in parts
        )
        assert not parts or (
            text[pieces[0, 0] :].startswith(parts[0]) and text[: pieces[-1, 1]].endswith(parts[-1])
        )
    elif parts:
        assert text.startswith(parts[0]) and text.endswith(parts[-1])


@pytest.mark.parametrize("count", [20_000, 60_000])
def test_a_very_long_text_is_divided_by_the_mean_length_of_its_word_pieces(count: int) -> None:
    """Within a tenth of the windows that its word pieces would give, over all of the text, and
    each divided like the one before.
    """
    text = " ".join(f"{'river' * (at % 3)}word{at % 97}" for at in range(count))
    assert len(text) > LONG
    for size, overlap in ((SIZE, OVERLAP), (SPAN, SHARED)):
        (windows,) = cuts(EMBEDDER, text, (size, overlap))
        exact = (count - overlap) / (size - overlap)
        assert (
            abs(len(windows) - exact) < 0.1 * exact
            and windows[0, 0] == 0
            and windows[-1, 1] == len(text)
        )
        assert (
            (np.diff(windows[:, 0]) > 0).all()
            and (windows[1:, 0] < windows[:-1, 1]).all()
            and np.ptp(np.diff(windows[:, 0])) <= 1
        )
    asked = list[int]()

    class Counting(HashingEmbedder):
        def pieces(self, text: str, most: int | None = None) -> Spans:
            asked.append(len(text))
            return super().pieces(text, most)

    cuts(Counting(8), text, (SIZE, OVERLAP))
    assert sum(asked) <= 16_000, "a part of it is read"


def sentence(at: int) -> str:
    return f"The {at} lanterns of street {at * 7} were lit by hand number {at * 13} before the rain came down again."


TEXT = " ".join(map(sentence, range(900)))


def told(path: Path | None, sets: str = "default", **options: Any) -> tuple[Engine, Noting]:
    """A memory of a set without its gates, which keeps all that it is told."""
    embedder, registry = Noting(64), Registry.read()
    chosen = registry.set(sets)
    chosen = chosen.without({"predictive_coding", "write_gate_cortex"} & set(chosen.mechanisms))
    return Engine(
        registry.build(chosen), CachedEmbedder(embedder, None), path=path, **options
    ), embedder


class Noting(HashingEmbedder):
    """Notes the texts of each call."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        return super().embed(texts)


def test_a_long_message_is_embedded_once_and_whole_as_it_is_stored() -> None:
    memory, embedder = told(None)
    for hour in range(20):
        memory.encode(
            Event(float(hour), f"We lit lantern {hour} on the quay near house {hour * 17}.", "Ada")
        )
    row = memory.encode(Event(30.0, TEXT, "Bo", id="long"))
    assert isinstance(row, int)
    shown, of = memory.unit(row).windows
    assert shown == MOST < of and memory.unit(0).windows == (0, 0)
    batch = next(
        call for call in embedder.calls if any(len(text) > 2 * len(sentence(0)) for text in call)
    )
    assert len(batch) == MOST + 1, "the text and its passages in one batch"
    before = len(embedder.calls)
    for at in (0, 444, 899):  # a word of any part of it
        query = f"What about hand number {at * 13} of street {at * 7}?"
        assert row in memory.retrieve(query, k=3).rows
        assert embedder.calls[before:] in ([], [[query]]), "questions embed themselves alone"
        before = len(embedder.calls)


READERS = ("dense_similarity", "lexical_bm25", "passage_words")


@pytest.mark.parametrize(
    "without", [gone for n in range(4) for gone in combinations(READERS, n)], ids="-".join
)
def test_a_memory_without_readers_of_passages_answers_as_one_that_had_them(
    without: tuple[str, ...],
) -> None:
    """Which parts a memory keeps as it is told decides what a question costs, and no answer."""
    registry = Registry.read()

    def mechanisms(gone: Sequence[str] = ()) -> list[Mechanism[Any]]:
        kept = (*READERS, "convex_fusion", "trigram_match")
        return [registry.instance(id) for id in kept if id not in gone]

    answers = []
    for gone in ((), without):
        memory = Engine(mechanisms(gone), HashingEmbedder(64))
        memory.encode_all(
            [
                Event(float(at), " ".join(map(sentence, range(at, at + 40))), "Ada")
                for at in range(0, 150, 30)
            ]
        )
        variants = Variants(memory)
        answers.append(variants.retrieve("hand number 65", 5, variants.plan_for(mechanisms())))
    first, second = answers
    assert first.rows.tolist() == second.rows.tolist()
    assert first.scores.tolist() == second.scores.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("sets", ["default", "bm25", "minimal"])
def test_a_memory_that_is_opened_again_asks_without_dividing_or_embedding(
    sets: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def filled(path: Path | None) -> Engine:
        memory, _ = told(path, sets)
        for hour in range(6):
            memory.encode(
                Event(
                    float(hour),
                    f"We lit lantern {hour} on the quay near house {hour * 17}.",
                    "Ada",
                    id=f"s{hour}",
                )
            )
            memory.encode(
                Event(
                    hour + 0.5,
                    " ".join(map(sentence, range(40 * hour, 40 * hour + 60))),
                    "Bo",
                    id=f"l{hour}",
                )
            )
        memory.encode(Event(30.0, TEXT, "Bo", id="long"))
        memory.encode(Event(40.0, "A short one.", "Bo", id="last"))
        return memory

    with filled(tmp_path / "m.db") as memory:
        expected = [memory.retrieve(sentence(at), k=8) for at in (3, 150, 700)]
        digest = memory.digest()
    fresh = filled(None)
    assert fresh.digest() == digest
    with monkeypatch.context() as patched:
        patched.setattr(
            Noting, "pieces", lambda self, text, most=None: pytest.fail("a text is divided again")
        )
        again, embedder = told(tmp_path / "m.db", sets)
        for answer, at in zip(expected, (3, 150, 700), strict=True):
            query = sentence(at)
            asked = again.retrieve(query, k=8)
            assert (
                asked.rows.tolist() == answer.rows.tolist()
                and asked.scores.tobytes() == answer.scores.tobytes()
            )
        assert max(len(text) for call in embedder.calls for text in call) <= len(sentence(700)), (
            "queries and their wordings alone"
        )
        assert again.digest() == digest
    again.encode(Event(50.0, " ".join(map(sentence, range(300, 420))), "Bo", id="later"))
    again.close()
    with told(tmp_path / "m.db", sets)[0] as reopened:
        fresh.encode(Event(50.0, " ".join(map(sentence, range(300, 420))), "Bo", id="later"))
        fresh.advance(50.0)
        assert (
            reopened.retrieve(sentence(350), k=8).scores.tobytes()
            == fresh.retrieve(sentence(350), k=8).scores.tobytes()
        )


def test_after_erasing_answers_are_those_of_the_texts_that_are_left(tmp_path: Path) -> None:
    """Vectors and words of the other long texts stay as they are, those of the erased one leave
    memory and file.
    """
    texts = [" ".join(map(sentence, range(at, at + 60))) for at in (0, 100, 200)]
    memory, embedder = told(tmp_path / "m.db")
    for hour, text in enumerate(texts):
        memory.encode(Event(float(hour), text, "Bo", id=str(hour)))
    memory.erase("1", confirm=True)
    embedder.calls.clear()
    assert memory.unit(1).windows == (0, 0) and memory.unit(2).windows[0] > 1
    kept = memory.retrieve(sentence(130), k=3)
    assert 1 not in kept.rows and max(len(text) for call in embedder.calls for text in call) <= len(
        sentence(130)
    )
    memory.close()
    with told(tmp_path / "m.db")[0] as again:
        assert again.retrieve(sentence(130), k=3).scores.tobytes() == kept.scores.tobytes()
        assert [again.unit(row).windows[0] for row in range(3)] == again.assembly.passages.counts(
            3
        ).tolist()


def test_chunks_of_events_are_embedded_with_their_passages_and_off_means_none() -> None:
    for passages in (True, False):
        embedder = Noting(16)
        memory = Engine(
            [Registry.read().instance("dense_similarity", {"passages": passages})],
            CachedEmbedder(embedder, None),
        )
        events = [
            Event(float(at), " ".join(words(SIZE + 50, 500 * at)), dated=False) for at in range(5)
        ]
        memory.encode_all(events)
        texts = {event.text for event in events}
        parts = {
            " ".join(text.split()[first : first + SIZE])
            for text in texts
            for first in range(0, SIZE + 50 - OVERLAP, SIZE - OVERLAP)
        }
        assert (
            set(embedder.calls[0]) == (texts | parts if passages else texts)
            and len(embedder.calls) == 1
        )
        memory.retrieve("w3")
        assert embedder.calls[1:] == [["w3"]] and (memory.unit(0).windows == (2, 2)) is passages


def test_a_file_keeps_passages_so_that_opening_it_embeds_no_text(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with told(path)[0] as memory:
        for hour in range(4):
            memory.encode(
                Event(
                    float(hour),
                    " ".join(map(sentence, range(50 * hour, 50 * hour + 60 * (hour % 2) + 1))),
                    "Bo",
                    id=str(hour),
                )
            )
        answer = memory.retrieve(sentence(60), k=4)
    again, embedder = told(path)
    assert again.retrieve(sentence(60), k=4).scores.tobytes() == answer.scores.tobytes()
    assert not any(len(text) > len(sentence(60)) for call in embedder.calls for text in call)
    again.close()
