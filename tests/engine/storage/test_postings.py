"""Lexical indexes against independent references: bm25s, SQLite FTS5, the printed formulas,
sets.
"""

from __future__ import annotations

import math
import sqlite3
import subprocess
import sys

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from hebbarium.engine.base.errors import InputError
from hebbarium.engine.state import postings
from hebbarium.engine.state.postings import (
    LONG,
    BM25Index,
    Idf,
    Postings,
    ScoredRows,
    TrigramIndex,
    TrigramMeasure,
    Vocabulary,
    terms_of,
    trigrams_of,
)
from hebbarium.engine.text.words import terms_of_parts, written

STEMS = [
    "cat", "run", "happi", "walk", "talk", "hope", "plan", "fish", "jump", "paint", "garden",
    "travel", "music", "book",
    "camp", "child", "bread", "stone", "river", "light", "cloud", "green", "tall", "quick",
]  # fmt: skip
ENDINGS = ("", "s", "ed", "ing", "er", "ness", "ful", "fully", "ational", "izer", "ment")

DOCUMENTS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12), min_size=1, max_size=25)
TEXTS = st.lists(
    st.text(st.sampled_from("abcAB é-1_ß'\x00\ud800"), max_size=20) | st.text(max_size=20),
    min_size=1,
    max_size=15,
)


def corpus(seed: int, n: int) -> list[str]:
    """Random texts of inflected words of uneven frequency, some of them empty."""
    rng = np.random.default_rng(seed)
    words = [stem + ending for stem in STEMS for ending in ENDINGS]
    weights = 1.0 / np.arange(1, len(words) + 1)
    order = rng.permutation(len(words))
    return [
        " ".join(
            words[order[i]]
            for i in rng.choice(len(words), rng.integers(0, 30), p=weights / weights.sum())
        )
        for _ in range(n)
    ]


def bm25(documents: list[list[str]]) -> BM25Index:
    index = BM25Index()
    for row, terms in enumerate(documents):
        index.add(row, terms)
    return index


def scored(
    index: BM25Index, terms: list[str], idf: Idf, k1: float = 1.2, b: float = 0.75
) -> NDArray[np.float32]:
    out = np.full(index.n_rows, np.nan, np.float32)
    index.scores(terms, out, idf.weight, k1, b)
    return out


def by_the_formula(
    documents: list[list[str]], query: list[str], idf: Idf, k1: float, b: float
) -> list[float]:
    n, mean = len(documents), sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for term in set(query) & set(document):
            holding = sum(term in other for other in documents)
            ratio = (n - holding + 0.5) / (holding + 0.5)
            weight = math.log(1 + ratio) if idf is Idf.LUCENE else math.log(ratio)
            weight = 1e-6 if weight <= 0 else weight
            tf = document.count(term)
            score += weight * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(document) / mean))
        scores.append(score)
    return scores


@given(
    DOCUMENTS,
    st.lists(st.sampled_from("abcdefghz"), max_size=6),
    st.sampled_from(Idf),
    st.floats(0, 3),
    st.floats(0, 1),
)
def test_bm25_is_the_printed_formula(
    documents: list[list[str]], query: list[str], idf: Idf, k1: float, b: float
) -> None:
    found = scored(bm25(documents), query, idf, k1, b)
    np.testing.assert_allclose(
        found, by_the_formula(documents, query, idf, k1, b), rtol=2e-6, atol=1e-12
    )


@pytest.mark.parametrize("part", [1, 7, 64])
def test_rows_may_be_scored_in_parts(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit, and the trigrams of some rows, too."""
    texts = corpus(5, 100)
    documents = [terms_of(text) for text in texts]
    queries = [terms_of(text) for text in corpus(6, 10)]
    index, trigrams = bm25(documents), trigram(texts)
    shown = ScoredRows(
        np.arange(0, 100, 3),
        np.where(np.arange(100) % 3 == 0, np.arange(100) // 3, -1).astype(np.int32),
    )

    def answers() -> list[bytes]:
        some = [np.empty(34, np.float32) for _ in texts[:10]]
        for text, out in zip(texts, some, strict=False):
            trigrams.scores(text, out, TrigramMeasure.SIMILARITY, shown=shown)
        return [
            *(scored(index, query, Idf.LUCENE).tobytes() for query in queries),
            *(out.tobytes() for out in some),
        ]

    whole = answers()
    monkeypatch.setattr(postings, "PART", part)
    monkeypatch.setattr(postings, "FEW", part)
    assert answers() == whole and any(scored(index, query, Idf.LUCENE).any() for query in queries)


@pytest.mark.parametrize("seed", range(3))
def test_lucene_form_agrees_with_bm25s(seed: int) -> None:
    documents = [terms_of(text, stem=True) for text in corpus(seed, 200)]
    oracle = bm25s.BM25(method="lucene", k1=1.5, b=0.6)
    oracle.index(documents, show_progress=False)
    for query in documents[:20]:
        distinct = list(dict.fromkeys(query))
        found = scored(bm25(documents), query, Idf.LUCENE, k1=1.5, b=0.6)
        reference = oracle.get_scores(distinct) * (1.5 + 1.0) if distinct else np.zeros(200)
        np.testing.assert_allclose(found, reference, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_robertson_form_agrees_with_sqlite_fts5(seed: int) -> None:
    """Same stems, same counts, same formula, for an OR query; a row that does not match scores
    0.
    """
    texts = [
        f"{text}, Café Zoë" if i % 3 == 0 else text for i, text in enumerate(corpus(seed, 200))
    ]
    table = sqlite3.connect(":memory:")
    table.execute("create virtual table t using fts5(x, tokenize='porter unicode61')")
    table.executemany("insert into t(rowid, x) values (?, ?)", enumerate(texts, start=1))
    index = bm25([terms_of(text) for text in texts])
    for text in texts[:20]:
        words = list(dict.fromkeys(terms_of(text, stem=False)))
        if not words:
            continue
        reference = np.zeros(len(texts))
        # Two inflections of one word are two phrases to FTS5; one of each stem is asked, as the
        # index does.
        chosen = list(
            {
                stem: word for word, stem in zip(words, terms_of(" ".join(words)), strict=True)
            }.values()
        )
        match = " OR ".join(f'"{word}"' for word in chosen)
        for rowid, score in table.execute("select rowid, bm25(t) from t where t match ?", (match,)):
            reference[rowid - 1] = -score
        assert np.count_nonzero(reference) > 0
        np.testing.assert_allclose(
            scored(index, terms_of(text), Idf.ROBERTSON), reference, rtol=1e-5, atol=1e-9
        )


@given(DOCUMENTS, st.data())
def test_queries_between_additions_equal_an_index_built_at_once(
    documents: list[list[str]], data: st.DataObject
) -> None:
    growing = BM25Index()
    for row, terms in enumerate(documents):
        growing.add(row, terms)
        query = data.draw(st.lists(st.sampled_from("abcz"), max_size=3))
        expected = scored(bm25(documents[: row + 1]), query, Idf.ROBERTSON)
        assert scored(growing, query, Idf.ROBERTSON).tobytes() == expected.tobytes()


def test_order_and_repeats_of_query_terms_do_not_matter() -> None:
    index = bm25([terms_of(text) for text in corpus(4, 100)])
    query = terms_of(" ".join(STEMS))
    assert (
        scored(index, query, Idf.LUCENE).tobytes()
        == scored(index, [*query[::-1], *query], Idf.LUCENE).tobytes()
    )
    assert scored(index, query, Idf.LUCENE).any()


@given(st.lists(st.lists(st.integers(0, 9), unique=True), max_size=60))
def test_postings_are_lists_per_key(rounds: list[list[int]]) -> None:
    """Blocks move and are used again; what they hold does not change."""
    postings, reference = Postings(np.int32), {key: [] for key in range(10)}  # type: ignore[var-annotated]
    for value, keys in enumerate(rounds):
        postings.append(np.array(keys, np.int64), np.full(len(keys), value, np.int32), 10)
        for key in keys:
            reference[key].append(value)
    for key, values in reference.items():
        begin = postings.start[key]
        assert postings.pool[begin : begin + postings.length[key]].tolist() == values


def test_abandoned_blocks_are_reused() -> None:
    """Of 64 keys that grow to 513 postings one after another each needs a block of 1,024; only the
    first leaves 4 + 8 + ... + 512 behind, which the next ones pass through."""
    postings = Postings(np.int32)
    for key in range(64):
        for value in range(513):
            postings.append(np.array([key]), np.array([value], np.int32), 64)
    assert postings.used == 64 * 1024 + 1020


@pytest.mark.slow
def test_plain_and_compiled_kernels_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = corpus(5, 30)
    jitted = _everything(texts)
    for name in ("_append", "_space_needed", "_bm25", "_overlap"):
        monkeypatch.setattr(postings, name, getattr(postings, name).py_func)
    np.testing.assert_allclose(_everything(texts), jitted, rtol=1e-6)
    assert jitted.any()


def _everything(texts: list[str]) -> NDArray[np.float32]:
    index, trigrams, out = (
        bm25([terms_of(text) for text in texts]),
        trigram(texts),
        np.zeros((4, len(texts)), np.float32),
    )
    for i, idf in enumerate(Idf):
        index.scores(terms_of(texts[3]), out[i], idf.weight)
    for i, measure in enumerate(TrigramMeasure):
        trigrams.scores(texts[3], out[2 + i], measure)
    return out


def trigram(texts: list[str]) -> TrigramIndex:
    index = TrigramIndex()
    for row, text in enumerate(texts):
        index.add(row, text)
    return index


def sets_of_three(text: str) -> set[str]:
    """pg_trgm's definition read literally: blanks around each word, every window of three."""
    found = set()
    for word in terms_of(text, stem=False):
        line = " " + " " + word + " "
        found |= {line[i] + line[i + 1] + line[i + 2] for i in range(len(line) - 2)}
    return found


@given(TEXTS, st.integers(0, 14), st.sampled_from((1.0, 0.5, 0.0)))
def test_trigram_overlap_is_that_of_sets(texts: list[str], which: int, max_df: float) -> None:
    index, query = trigram(texts), texts[which % len(texts)]
    sets, asked = [sets_of_three(text) for text in texts], sets_of_three(query)
    considered = {
        gram for gram in asked if sum(gram in other for other in sets) <= max_df * len(texts)
    }
    for measure in TrigramMeasure:
        out = np.full(len(texts), np.nan, np.float32)
        index.scores(query, out, measure, max_df)
        for text, score in zip(sets, out, strict=True):
            shared = len(considered & text)
            whole = (
                len(asked)
                if measure is TrigramMeasure.CONTAINMENT
                else len(asked) + len(text) - shared
            )
            assert score == pytest.approx(shared / whole if asked else 0.0, rel=1e-6)


@given(TEXTS, st.integers(0, 14), st.integers(0, 14), st.sampled_from((1.0, 0.5)))
def test_trigram_scores_of_some_rows_are_those_of_all_however_rows_came(
    texts: list[str], which: int, first: int, max_df: float
) -> None:
    """Some rows are there at the first question, the others come one by one; then all are
    forgotten.
    """
    query, index = texts[which % len(texts)], trigram(texts[:first])
    for count in range(min(first, len(texts)), len(texts) + 1):
        rows, whole = np.arange(count % 2, count, 2), np.empty(count, np.float32)
        found = np.full(len(rows), np.nan, np.float32)
        index.scores(query, whole, TrigramMeasure.SIMILARITY, max_df)
        index.scores(
            query, found, TrigramMeasure.SIMILARITY, max_df, ScoredRows(rows, np.empty(0, np.int32))
        )
        assert found.tobytes() == whole[rows].tobytes()
        if count < len(texts):
            index.add(count, texts[count])
    index.clear()
    index.scores(
        query,
        np.empty(0, np.float32),
        TrigramMeasure.SIMILARITY,
        shown=ScoredRows(np.empty(0, np.int64), np.empty(0, np.int32)),
    )


def test_trigrams_of_the_manual() -> None:
    """The examples of PostgreSQL's documentation of pg_trgm: show_trgm('cat'), 'foo|bar', and
    similarity('word', 'two words').
    """
    assert set(trigrams_of("cat")) == {"  c", " ca", "cat", "at "}
    assert set(trigrams_of("foo|bar")) == {"  f", " fo", "foo", "oo ", "  b", " ba", "bar", "ar "}
    out = np.zeros(1, np.float32)
    trigram(["two words"]).scores("word", out, TrigramMeasure.SIMILARITY)
    assert round(float(out[0]), 6) == 0.363636


def test_a_misspelt_word_is_found_and_an_unknown_one_is_not() -> None:
    out = np.zeros(3, np.float32)
    index = trigram(["we met in Edinburgh", "a walk in London", ""])
    index.scores("Edinbrugh", out, TrigramMeasure.CONTAINMENT)
    assert out[0] > 0.3 and out[1] == out[2] == 0.0
    index.scores("!?", out, TrigramMeasure.SIMILARITY)
    assert not out.any()


@pytest.mark.parametrize("index", [BM25Index(), TrigramIndex()])
def test_rows_must_be_added_once_and_in_order(index: BM25Index | TrigramIndex) -> None:
    index.add(0, "")
    for row in (0, 2, -1):
        with pytest.raises(InputError, match="row 1 is next"):
            index.add(row, "abc")
    assert index.n_rows == 1 and len(index.vocabulary.numbers) == 0


@pytest.mark.parametrize(
    "out", [np.zeros(2, np.float32), np.zeros(1, np.float64), np.zeros((1, 1), np.float32)]
)
def test_score_vector_must_fit(out: NDArray[np.float32]) -> None:
    with pytest.raises(InputError, match="score vector"):
        bm25([["a"]]).scores(["a"], out, Idf.LUCENE.weight)
    with pytest.raises(InputError, match="score vector"):
        trigram(["a"]).scores("a", out, TrigramMeasure.SIMILARITY)


def test_empty_indexes_and_rows_score_nothing() -> None:
    assert scored(BM25Index(), ["a"], Idf.ROBERTSON).shape == (0,)
    assert scored(bm25([[], []]), ["a"], Idf.LUCENE).tolist() == [0.0, 0.0]
    TrigramIndex().scores("abc", np.zeros(0, np.float32), TrigramMeasure.SIMILARITY)


def test_vocabulary_numbers_in_order_of_first_sight() -> None:
    words = Vocabulary()
    assert words.intern(["b", "a", "b"]) == [0, 1, 0]
    assert words.numbers == {"b": 0, "a": 1} and words.since(1) == ("a",)
    assert bm25([["x", "x"], ["x", "y"]]).document_frequency("x") == 2


@pytest.mark.slow
def test_scores_do_not_depend_on_the_hash_seed() -> None:
    program = (
        "import numpy as np; from hebbarium.engine.state.postings import *; i, o = TrigramIndex(), np.zeros(2, np.float32);"
        "i.add(0, 'an apple'); i.add(1, 'pear');"
        "i.scores('apples', o, TrigramMeasure.SIMILARITY); print(i.vocabulary.since(0), o)"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1 and "app" in printed.pop()


def test_rows_that_do_not_count_are_scored_by_the_statistics_of_the_others() -> None:
    """Scores of the counted rows are those of an index without the others; the others get the
    formula with the same statistics.
    """
    texts = [
        ["mill", "red"],
        ["mill", "mill", "boat"],
        [],
        ["boat", "red", "red", "oslo"],
        ["mill", "oslo"],
    ]
    counted = [True, False, True, True, False]
    whole, alone = BM25Index(), BM25Index()
    trigrams, trigrams_alone = TrigramIndex(), TrigramIndex()
    for row, (terms, counts) in enumerate(zip(texts, counted, strict=True)):
        whole.add(row, terms, counts)
        trigrams.add(row, " ".join(terms), counts)
        if counts:
            alone.add(alone.n_rows, terms)
            trigrams_alone.add(trigrams_alone.n_rows, " ".join(terms))
    assert (whole.n_rows, whole.n_counted, alone.n_rows) == (5, 3, 3)
    assert [whole.document_frequency(t) for t in ("mill", "boat", "oslo", "tree")] == [1, 1, 1, 0]
    for weight in (Idf.ROBERTSON.weight, Idf.LUCENE.weight):
        found, expected = np.empty(5, np.float32), np.empty(3, np.float32)
        whole.scores(["mill", "oslo"], found, weight)
        alone.scores(["mill", "oslo"], expected, weight)
        np.testing.assert_array_equal(found[counted], expected)
        by_hand = [
            sum(weight(3, 1) * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / 2.0)) for tf in tfs)
            for length, tfs in ((3, [2]), (2, [1, 1]))
        ]
        np.testing.assert_allclose(found[[1, 4]], by_hand, rtol=1e-6)
    for most in (0.4, 1.0):
        found, expected = np.empty(5, np.float32), np.empty(3, np.float32)
        trigrams.scores("mill red", found, TrigramMeasure.CONTAINMENT, most)
        trigrams_alone.scores("mill red", expected, TrigramMeasure.CONTAINMENT, most)
        np.testing.assert_array_equal(found[counted], expected)


def test_a_cleared_index_is_as_a_new_one() -> None:
    index = BM25Index()
    index.add(0, ["a", "b"], counted=False)
    index.clear()
    index.add(0, ["b"])
    assert (
        index.n_rows,
        index.n_counted,
        index.document_frequency("a"),
        index.document_frequency("b"),
        len(index.vocabulary.numbers),
    ) == (1, 1, 0, 1, 1)


@given(
    st.lists(st.lists(st.text("ab护", min_size=1, max_size=2), max_size=6), max_size=6),
    st.booleans(),
)
def test_rows_that_come_together_are_as_rows_that_come_alone(
    rows: list[list[str]], counted: bool
) -> None:
    alone, together = BM25Index(), BM25Index()
    alone.journal, together.journal = [], []
    texts = tuple(" ".join(words) for words in rows)
    for index in (alone, together):
        index.add(0, ["a", "护a", "a"])
    for row, text in enumerate(texts, 1):
        alone.add(row, terms_of(text, stop_words=True), counted)
    together.extend(terms_of_parts(texts), counted)
    told = [
        [
            (
                added.keys.tolist(),
                None if added.counts is None else added.counts.tolist(),
                added.names,
            )
            for added in index.journal or ()
        ]
        for index in (alone, together)
    ]
    assert told[0] == told[1]
    assert alone.lengths.tolist() == together.lengths.tolist()
    asked = ["a", "b", "aa", "护a"]
    assert alone.counts(asked) == together.counts(asked)
    scores = [np.zeros(index.n_rows, np.float32) for index in (alone, together)]
    for index, out in zip((alone, together), scores, strict=True):
        index.scores(asked, out, Idf.LUCENE.weight)
    assert scores[0].tolist() == scores[1].tolist()


def test_trigrams_of_a_long_text_are_those_of_its_words() -> None:
    words = [f"w{at * at % 977}" for at in range(900)] + [
        "护照放在桌",
        "여권을",
        "c++",
        "😀",
        "𠀀𠀁𠀂",
    ] * 2
    text = " ".join(words)
    assert len(text) > LONG
    padded = [f"  {word} " for word in dict.fromkeys(written(text))]
    assert trigrams_of(text) == list(
        dict.fromkeys(word[at : at + 3] for word in padded for at in range(len(word) - 2))
    )
