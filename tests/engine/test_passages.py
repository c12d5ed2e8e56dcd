"""Passages: which texts have them, how many, and the score of the best, against windows cut by hand."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from hebbarium.engine.errors import HebbariumError
from hebbarium.engine.passages import OVERLAP, SHARED, SIZE, SPAN, Passages
from hebbarium.engine.ports.embedder import HashingEmbedder, Spans, Vectors
from hebbarium.engine.ports.word_pieces import cuts
from hebbarium.engine.records import Event
from hebbarium.engine.storage.event_log import AROUND, EventLog
from hebbarium.engine.storage.postings import Idf, terms_of

EMBEDDER = HashingEmbedder(32)


class LetterEmbedder(HashingEmbedder):
    """Reads a piece for each character."""

    def pieces(self, text: str) -> Spans:
        return np.array([(i, i + 1) for i in range(len(text))], np.int32).reshape(-1, 2)


def words(count: int, first: int = 0) -> list[str]:
    return [f"w{i}" for i in range(first, first + count)]


def made(*texts: str) -> tuple[Passages, EventLog]:
    log = EventLog()
    for row, text in enumerate(texts):
        log.write(Event(float(row), text, dated=False), row)
    return Passages(log, EMBEDDER), log


def test_only_texts_that_are_longer_than_a_window_have_passages() -> None:
    passages, _ = made("short", " ".join(words(SIZE)), " ".join(words(SIZE + 1)), " ".join(words(2 * SIZE - OVERLAP + 1)))
    assert passages.counts(4).tolist() == [0, 0, 2, 3]
    for shown in ([], [0, 3], [1, 2], [2], [0, 1, 2, 3]):
        assert passages.counts(4, np.array(shown, np.int64)).tolist() == [[0, 0, 2, 3][row] for row in shown]
    long = words(SIZE + 1)
    assert passages.of([" ".join(long), "short"]) == [" ".join(long[:SIZE]), " ".join(long[SIZE - OVERLAP:])]


@pytest.mark.parametrize("extra", range(-70, 3))
@pytest.mark.parametrize("letter", ["x", "é"])
def test_texts_near_the_limit_are_divided_as_they_are_written_out(extra: int, letter: str) -> None:
    """With one piece a letter, of texts with date, speaker and caption around the limit: passages are those of the whole text."""
    letters = LetterEmbedder(32)
    log, text = EventLog(), letter * (SIZE + extra)
    log.write(Event(8.0e6, text, "Ada", caption="boat"), 0)
    written = log.rendered(0)
    assert len(written) > len(text) + 7 and Passages(log, letters).counts(1).tolist() == [len(cuts(letters, written, (SIZE, OVERLAP))[0])]
    short = Passages(log, EMBEDDER)
    assert short.counts(1).tolist() == [0] and log.is_short(0, SIZE) == (letter == "x" and len(text) + 7 + AROUND <= SIZE)


def test_texts_that_are_surely_short_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    passages, _ = made(*["short"] * 50, " ".join(words(SIZE + 1)))
    asked = list[int]()
    rendered = EventLog.rendered
    monkeypatch.setattr(EventLog, "rendered", lambda self, row: asked.append(row) or rendered(self, row))
    assert passages.counts(51).tolist() == [0] * 50 + [2] and set(asked) == {50}


def test_the_best_window_counts_and_rows_that_come_later_are_covered() -> None:
    long, query = words(SIZE + 100, 500), EMBEDDER.embed([" ".join(words(20, 760))])[0]
    passages, log = made("short", " ".join(long))
    cut = EMBEDDER.embed([" ".join(long[:SIZE]), " ".join(long[SIZE - OVERLAP:])])
    out = passages.scores(query, np.empty(2, dtype=np.float32))
    assert np.isnan(out[0]) and np.isclose(out[1], (cut @ query).max(), atol=1e-6)
    log.write(Event(2.0, " ".join(long[::-1]), dated=False), 2)
    again = passages.scores(query, np.empty(3, dtype=np.float32))
    assert np.isclose(again[1], out[1]) and not np.isnan(again[2]) and passages.counts(3).tolist() == [0, 2, 2]


def test_passages_of_some_rows_are_counted_without_passages_and_as_rows_come() -> None:
    passages, log = made("short", "shorter")
    assert passages.counts(2, np.array([1, 0])).tolist() == [0, 0]
    log.write(Event(9.0, " ".join(words(SIZE + 1)), dated=False), 2)
    assert passages.counts(3, np.array([2, 0])).tolist() == [2, 0]


def test_a_memory_without_long_texts_embeds_nothing() -> None:
    passages, _ = made("one", "two")
    assert np.isnan(passages.scores(EMBEDDER.embed(["one"])[0], np.empty(2, dtype=np.float32))).all()


def test_rows_whose_windows_could_not_be_embedded_are_tried_again() -> None:
    class Failing(HashingEmbedder):
        fails = True

        def embed(self, texts: Sequence[str]) -> Vectors:
            if self.fails:
                raise HebbariumError("no connection")
            return super().embed(texts)

    embedder, log = Failing(32), EventLog()
    log.write(Event(0.0, " ".join(words(SIZE + 1)), dated=False), 0)
    passages = Passages(log, embedder)
    with pytest.raises(HebbariumError, match="no connection"):
        passages.counts(1)
    embedder.fails = False
    assert passages.counts(1).tolist() == [2]


def test_words_are_searched_in_spans_once_a_text_is_long() -> None:
    passages, log = made("short words", "w3 alone")
    out = np.full(2, -1.0, dtype=np.float32)
    assert passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, out) is None and out.tolist() == [-1.0, -1.0]
    log.write(Event(2.0, " ".join(words(SIZE + 1)), dated=False), 2)
    out = np.full(3, -1.0, dtype=np.float32)
    spans = passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, out)
    assert spans is not None and spans.tolist() == [1, 1, -(-(SIZE + 1 - SPAN) // (SPAN - SHARED)) + 1]
    assert out[0] == 0.0 and out[1] > out[2] > 0.0          # the shorter span with the word scores more
    log.write(Event(3.0, "w3", dated=False), 3)
    again = np.zeros(4, dtype=np.float32)
    found = passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, again)
    assert found is not None and found[3] == 1 and again[3] > again[1]


@pytest.mark.parametrize("last", range(1, 37, 5))
def test_words_after_an_interrupted_question_are_those_of_an_undisturbed_memory(last: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the spans of later rows are added, anywhere: one row alone holds the word, and each has its spans."""
    def told(log: EventLog, rows: range) -> None:
        for row in rows:
            log.write(Event(float(row), " ".join(words(300, 1000 * row)) + " apple" * (row == 5), dated=False), row)

    def asked(passages: Passages, n: int) -> tuple[list[float], list[int]]:
        out = np.empty(n, dtype=np.float32)
        spans = passages.words(["appl"], Idf.LUCENE.weight, 1.2, 0.75, out)
        assert spans is not None
        return out.tolist(), spans.tolist()

    undisturbed, log = EventLog(), EventLog()
    told(undisturbed, range(9))
    told(log, range(3))
    passages, calls = Passages(log, EMBEDDER), list[int]()
    asked(passages, 3)
    told(log, range(3, 9))

    def interrupted(text: str, stop_words: bool) -> list[str]:
        calls.append(1)
        if len(calls) == last:
            raise KeyboardInterrupt
        return terms_of(text, stop_words=stop_words)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("hebbarium.engine.passages.terms_of", interrupted)
        asked(passages, 9)
    scores, spans = asked(passages, 9)
    assert [row for row, score in enumerate(scores) if score] == [5] and spans == [-(-(300 - SPAN) // (SPAN - SHARED)) + 1] * 9
    assert (scores, spans) == asked(Passages(undisturbed, EMBEDDER), 9)


@pytest.mark.parametrize("place", ["_rows", "_starts", "_vectors"])
def test_vectors_after_an_interrupted_question_are_those_of_an_undisturbed_memory(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the vectors of later rows are joined to the earlier ones, at any of the arrays."""
    passages, log = made(" ".join(words(SIZE + 1)), "short")
    query, out = EMBEDDER.embed([" ".join(words(20, 3010))])[0], np.empty(4, dtype=np.float32)
    passages.scores(query, out[:2])
    for row in (2, 3):
        log.write(Event(float(row), " ".join(words(SIZE + 9, 1000 * row)), dated=False), row)
    joined = np.concatenate

    def interrupted(arrays: Any) -> Any:
        if arrays[0] is getattr(passages, place):
            raise KeyboardInterrupt
        return joined(arrays)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(np, "concatenate", interrupted)
        passages.scores(query, out)
    assert passages.counts(4).tolist() == [2, 0, 2, 2]
    windows = [(log.text(row).split()[:SIZE], log.text(row).split()[SIZE - OVERLAP:]) for row in (0, 2, 3)]
    best = [float((EMBEDDER.embed([" ".join(part) for part in each]) @ query).max()) for each in windows]
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

    embedder, log = Counting(32), EventLog()
    embedder.divided = []
    texts = [" ".join(words(SIZE, 7)), " ".join(words(SIZE + 1)), " ".join(words(SIZE + 9))]   # all are long in characters
    for row, text in enumerate(texts):
        log.write(Event(float(row), text, dated=False), row)
    passages = Passages(log, embedder)
    before = passages.of(texts[:2])         # before these have a row, as at encoding
    out = np.zeros(3, dtype=np.float32)
    assert len(before) == 2 and passages.counts(3).tolist() == [0, 2, 2]
    assert passages.words(["w3"], Idf.LUCENE.weight, 1.2, 0.75, out) is not None and out[0] == 0.0 < out[1]
    assert embedder.divided == texts
    passages.forget()
    assert passages.counts(3).tolist() == [0, 2, 2] and len(embedder.divided) == 6
