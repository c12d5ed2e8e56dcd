"""Questions that are asked of a shortlist, against plain numpy and against the whole memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

import hebbarium as hb
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import STRATEGIES, assemble, context_of
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import LEXICON, SESSION, VISIBLE
from hebbarium.engine.flow.observer import Observer
from hebbarium.engine.memory.arguments import checked_shortlist
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.scale import shortlist
from hebbarium.engine.scale.shortlist import EACH, PAYS, Shortlist, around, beyond, positive
from hebbarium.engine.state.graph import EdgeType, Graph, entity_node
from hebbarium.engine.state.postings import BM25Index, Idf, ScoredRows, TrigramIndex, TrigramMeasure
from hebbarium.engine.state.ranking import Asked, add_standardised
from hebbarium.testing.conformance import talk

WORDS = ("garden", "river", "violin", "kitchen", "letter", "train", "market", "winter", "painting",
         "doctor", "bicycle", "harbour", "ticket")  # fmt: skip
N = 1100


def conversation(n: int) -> list[Event]:
    """Events in other words each, so that gates admit them."""
    rng = np.random.default_rng(5)
    return [
        replace(
            event,
            text=f"{event.text}. The {' and the '.join(rng.choice(WORDS, 3, replace=False))}, {int(rng.integers(9999))} times?",
        )
        for event in talk(n)
    ]


@pytest.fixture(scope="module")
def life(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a memory of `default` that is large enough for a shortlist of 64."""
    path = tmp_path_factory.mktemp("life") / "life.db"
    with hb.memory("default", path=path, embedding="hashing:64") as made:
        made.encode_all(conversation(N))
        assert made.store.n == N
    return path


def lived(life: Path, rows: int | None) -> Engine:
    """A memory that goes on after that life, with a file of its own and a shortlist of so many
    rows, or none.
    """
    copy = life.with_name(f"{uuid4()}.db")
    shutil.copy(life, copy)
    return hb.memory("default", path=copy, embedding="hashing:64", shortlist=rows)


@pytest.fixture(scope="module")
def memory(life: Path) -> Iterator[Engine]:
    with lived(life, 64) as made:
        yield made


def short(memory: Engine) -> Shortlist:
    found = memory.assembly.shortlist
    assert found is not None
    return found


def whole(memory: Engine, query: Query | str, k: int = 5, learn: bool = False) -> Any:
    """The answer of all rows."""
    kept, memory.assembly.shortlist = memory.assembly.shortlist, None
    try:
        return memory.retrieve(query, k, learn=learn)
    finally:
        memory.assembly.shortlist = kept


QUESTIONS = (
    "what about the violin and the harbour",
    "who painted in Lisbon",
    "when did Ada forget the old mill",
    "zzz",
)


@pytest.mark.slow
def test_the_likely_rows_are_those_of_brute_force(memory: Engine) -> None:
    asker = short(memory)
    for text in QUESTIONS:
        cue = memory.answering.asked(text).cue
        found = asker.likely(cue)
        assert len(set(found.tolist())) == len(found) and found.min() >= 0 and found.max() < N
        cosines = memory.assembly.index.vectors.astype(np.float64) @ cue.vector.astype(np.float64)
        by_words = np.empty(N, np.float32)
        memory.assembly.lexicon.scores(cue.terms, by_words, Idf.LUCENE.weight)
        for scores, share in ((cosines, 32), (by_words, 16)):
            least = np.sort(scores)[-share]
            assert set(np.flatnonzero((scores > least) & (scores > 0)).tolist()) <= set(
                found.tolist()
            )
        # the newest
        assert {N - 1, N - 2} <= set(found.tolist())
        best = int(np.argmax(cosines))
        # and around the best
        assert {row for row in range(best - 2, best + 3) if 0 <= row < N} <= set(found.tolist())


def test_a_shortlist_has_its_size_and_stands_for_all_visible_memories(memory: Engine) -> None:
    asker, hidden = short(memory), [3, 500, 501]
    for row in hidden:
        memory.archive(row)
    for text in QUESTIONS:
        rows, stand_for = asker.chosen(memory.answering.asked(text).cue)
        assert len(rows) == 64 and np.all(np.diff(rows) > 0)
        assert stand_for.sum() == pytest.approx(memory.store.array(VISIBLE).sum())
        assert np.all(stand_for[~memory.store.array(VISIBLE)[rows]] == 0) and set(
            asker.likely(memory.answering.asked(text).cue)[:32].tolist()
        ) <= set(rows.tolist())
        assert 8 <= (stand_for > 1).sum() <= 6 + 4 + 8  # of the three strata of the sample
    for row in hidden:
        memory.restore(row)


@pytest.mark.parametrize("others", ["all", "some"])
@pytest.mark.parametrize("text", QUESTIONS)
def test_a_stratum_of_the_sample_stands_for_as_many_rows_as_it_has(
    memory: Engine, text: str, others: str
) -> None:
    """Of rows that point back to one with words of the question, of other rows with words, and of
    the rest, the weights sum to their number.

    others  which rows of the pool are not likely: if some, it is made anew
    """
    asker, cue = short(memory), memory.answering.asked(text).cue
    asker.likely(cue)
    by_words = np.empty(N, np.float32)
    memory.assembly.lexicon.scores(cue.terms, by_words, Idf.LUCENE.weight)
    worded = by_words > 0
    targets = np.hstack(
        [memory.store.array(c)[c.upkeep.rows].reshape(N, -1) for c in asker._pointing]
    )
    admitted = np.zeros(N, np.bool_)
    admitted[100:350] = True
    back = np.array(
        [
            admitted[row] and any(worded[row - k] and row - k in targets[row] for k in (1, 2))
            for row in range(N)
        ]
    )
    pool = asker._pool(cue, admitted if others == "all" else np.ones(N, np.bool_))
    sample, counts = asker._sample(
        cue, admitted, asker._looked(), pool, range(len(asker._pointing))
    )
    assert len(set(sample.tolist())) == len(sample) and admitted[sample].all()
    for stratum, most in (back, 6), (admitted & worded & ~back, 4), (admitted & ~worded & ~back, 8):
        drawn = stratum[sample]
        assert drawn.sum() == min(stratum.sum(), most)
        assert (
            counts[drawn].sum() == pytest.approx(stratum.sum())
            and len(set(counts[drawn].tolist())) <= 1
        )


@pytest.mark.parametrize("looked", [200, 256, 550])
@pytest.mark.parametrize(
    "text",
    [
        "the garden and the river and the violin and the kitchen and the letter and the train and the market",
        "times",
    ],
)
def test_a_sample_of_words_that_many_rows_have_still_stands_for_all_of_them(
    memory: Engine, text: str, looked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if all rows have the words of the question, as those of the second do."""
    monkeypatch.setattr(shortlist, "LOOKED", looked)
    asker, cue = short(memory), memory.answering.asked(text).cue
    asker.likely(cue)
    assert (asker._words > 0).sum() > looked and ((asker._words > 0).all() == (text == "times"))
    every = np.ones(N, np.bool_)
    sample, counts = asker._sample(
        cue, every, asker._looked(), asker._pool(cue, every), range(len(asker._pointing))
    )
    assert (
        counts.sum() == pytest.approx(N)
        and (counts > 0).all()
        and len(set(sample.tolist())) == len(sample)
    )


def test_the_rows_that_stand_for_others_have_room_on_a_shortlist() -> None:
    """A row of the sample that is cut off would leave what it stands for to another."""
    of = shortlist
    assert of.LIKELY + of.BACK + 2 * of.LONGEST + of.REPLIES + of.WORDED + of.UNWORDED < 1


@pytest.mark.parametrize("n", [600, 1024, 1025, 2048, 3072, 32768, 65536])
def test_rows_spread_over_time_are_of_both_who_take_turns(n: int) -> None:
    rows = shortlist._scattered(n, 512)
    assert (
        len(rows) == 512
        and np.all(np.diff(rows) > 0)
        and rows[0] >= 0
        and rows[-1] < n
        and 0.45 < (rows % 2).mean() < 0.55
    )


def test_means_over_a_shortlist_are_those_of_all_visible_rows_within_sampling_error(
    memory: Engine,
) -> None:
    """Of a number drawn for each row, over 40 drawings: the mean error is within 4 standard
    errors of 0, which the weights and its variance give.
    """
    asker, rng = short(memory), np.random.default_rng(2)
    visible, errors, variances = memory.store.array(VISIBLE), [], []
    for text in (*QUESTIONS[:3], "the garden and the river"):
        rows, counts = asker.chosen(memory.answering.asked(text).cue)
        for _ in range(10):
            values = rng.exponential(size=N)
            errors.append(float(counts @ values[rows] / counts.sum()) - values[visible].mean())
            # the variance of a value is 1
            variances.append(float((counts.astype(np.float64) ** 2).sum() / counts.sum() ** 2))
    assert abs(np.mean(errors)) <= 4 * np.sqrt(np.mean(variances) / len(errors))


def test_rows_shown_for_the_sake_of_others_stand_for_none(memory: Engine) -> None:
    asker = short(memory)
    rows, counts = asker.chosen(memory.answering.asked(QUESTIONS[0]).cue)
    likely = set(asker.likely(memory.answering.asked(QUESTIONS[0]).cue)[:32].tolist())
    assert (counts[[row in likely for row in rows.tolist()]] == 1).all() and set(
        np.flatnonzero(counts == 0).tolist()
    )


def test_answers_are_of_the_shortlist_and_leave_the_state_as_it_is(memory: Engine) -> None:
    before = memory.digest()
    for text in QUESTIONS:
        answer = memory.retrieve(text, 5)
        rows = short(memory).store.rows
        assert len(answer) == 5 and set(answer.rows.tolist()) <= set(rows.tolist())
        assert answer.final.shape == answer.answerable.shape == (N,)
        others = np.setdiff1d(np.arange(N), rows)
        assert np.isnan(answer.final[others]).all() and not answer.answerable[others].any()
        assert (
            answer.scores.tolist()
            == answer.final[answer.rows].tolist()
            == sorted(answer.scores.tolist(), reverse=True)
        )
        assert [hit.text for hit in answer] == [
            memory.event(row).text for row in answer.rows.tolist()
        ]
        again = memory.retrieve(text, 5)
        assert (
            again.rows.tolist() == answer.rows.tolist()
            and again.final.tobytes() == answer.final.tobytes()
        )
    assert memory.digest() == before


@pytest.mark.slow
@pytest.mark.parametrize("readers", [1, 2])
def test_a_question_computes_the_late_columns_of_its_rows_alone(life: Path, readers: int) -> None:
    """Bit for bit the answer of a memory in which those of all rows are of the present."""
    with lived(life, 64) as memory:
        for hours in (1.0, 500.0):
            memory.advance(memory.now + hours)
            run, calls = memory.assembly._run_late, list[float]()
            memory.assembly._run_late = lambda tick, run=run, calls=calls: (
                calls.append(tick.end),
                run(tick),
            )
            with ThreadPoolExecutor(readers) as pool:
                found = list(pool.map(memory.retrieve, QUESTIONS, [5] * len(QUESTIONS)))
            assert not calls and memory.clock.due
            memory.column("log_strength")
            assert calls == [memory.now]
            memory.assembly._run_late = run
            for text, answer in zip(QUESTIONS, found, strict=True):
                again = memory.retrieve(text, 5)
                assert (
                    again.rows.tolist() == answer.rows.tolist()
                    and again.final.tobytes() == answer.final.tobytes()
                )


@pytest.mark.slow
@pytest.mark.parametrize(("most", "same", "shared"), [(64, 0.7, 0.45), (256, 0.95, 0.75)])
def test_the_best_row_is_that_of_all_rows(
    memory: Engine, most: int, same: float, shared: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest differs more: many memories have some of three words in common.  By chance, 1 of
    17, or 1 of 4, of the rows would be the same.
    """
    a, events = memory.assembly, conversation(N)
    monkeypatch.setattr(shortlist, "PAYS", 4)
    monkeypatch.setattr(
        a,
        "shortlist",
        Shortlist(
            most, a.store, a._banned, a._asking, a.signals, a.streams, None, late=a.late_of_rows
        ),
    )
    texts = [events[row].text.split(". ")[1] for row in range(7, N, 23)]
    shares = [
        len(set(memory.retrieve(text, 5).rows.tolist()) & set(whole(memory, text).rows.tolist()))
        / 5
        for text in texts
    ]
    firsts = [memory.retrieve(text, 5).rows[0] == whole(memory, text).rows[0] for text in texts]
    assert np.mean(firsts) >= same and np.mean(shares) >= shared


@pytest.mark.slow
def test_rows_are_ordered_by_vector_words_and_priors() -> None:
    """By brute force over all rows; priors are those of a question to all, as the one step is
    left out whose prior needs scores.
    """
    with hb.memory(
        "default", embedding="hashing:64", shortlist=64, without=("adjacency_pairs",)
    ) as memory:
        told = [f"Always bring the {w} when I ask about the {v}." for w, v in pairwise(WORDS)]
        texts = [
            told[i % 11] if i % 97 == 0 else event.text for i, event in enumerate(conversation(N))
        ]
        memory.encode_all(
            [
                Event(float(i), text, ("user", "assistant")[i % 2], "talk")
                for i, text in enumerate(texts)
            ]
        )
        found, spread = short(memory), shortlist._scattered(N, shortlist.SPREAD)
        assert len(spread) == shortlist.SPREAD < N
        for text in (
            "what did I say about the violin and the harbour",
            "how often did I walk to the market",
            "can you plan a garden for me",
        ):
            cue = memory.answering.asked(text).cue
            found.likely(cue)
            alike, products = found._alike(cue, 40, None)
            words = np.empty(N, np.float32)
            memory.assembly.lexicon.scores(cue.terms, words, Idf.LUCENE.weight)
            cosines = memory.column("embedding").astype(np.float64) @ cue.vector
            total = (cosines - cosines[spread].mean()) / cosines[spread].std() + (
                words - words.mean(dtype=np.float64)
            ) / words.std(dtype=np.float64)
            other = np.arange(5, N, 9)
            rows = np.array(list(dict.fromkeys([*alike.tolist(), *other.tolist()])))
            ordered = found._by_both(cue, alike, products, [other])
            found_prior = found._priors.of(rows, cue)
            whole(memory, text)
            prior = memory.column("log_prior").copy()
            assert (found_prior == prior[rows]).all() and len(np.unique(prior)) > 1
            scores = ((total - min(total[rows].min(), total[spread].min())) * np.exp(prior))[
                ordered
            ]
            assert sorted(ordered.tolist()) == sorted(rows.tolist()) and np.all(
                np.diff(scores) < 1e-5
            )


@pytest.mark.slow
def test_a_standing_instruction_is_found_among_many_rows_that_match_better() -> None:
    """More rows than the shortlist has are nearer to the request, and it has none of its words:
    without its column it is not even compared.
    """
    told, asked = (
        "Always answer my requests in rhymes and keep them short.",
        "Can you write a poem?",
    )
    with hb.memory("waking", embedding="hashing:64", shortlist=64) as memory:
        memory.encode_all(
            [
                Event(float(i), told if i == 500 else event.text, "user", "talk")
                for i, event in enumerate(conversation(N))
            ]
        )
        (row,) = (row for row in range(N) if memory.event(row).text == told)
        cue, found = memory.answering.asked(asked).cue, short(memory)
        assert row in whole(memory, asked).rows and row in found.chosen(cue)[0]
        cosines = memory.column("embedding") @ cue.vector
        assert (cosines > cosines[row]).sum() > 64
        assert row in found.likely(cue)
        found._asking.clear()
        assert row not in found.likely(cue)


@pytest.mark.slow
def test_an_answer_does_not_depend_on_earlier_questions() -> None:
    """The same question before and after the memory has changed: the second time as of a memory
    that was never asked before.
    """
    events, answers = conversation(N + 40), []
    for asked_before in (True, False):
        with hb.memory("hybrid", embedding="hashing:64", shortlist=64) as memory:
            memory.encode_all(events[:N])
            if asked_before:
                memory.retrieve(QUESTIONS[0], 5)
            memory.encode_all(events[N:])
            memory.archive(7)
            answers.append(memory.retrieve(QUESTIONS[0], 5))
    assert (
        answers[0].rows.tolist() == answers[1].rows.tolist()
        and answers[0].final.tobytes() == answers[1].final.tobytes()
    )


@pytest.mark.slow
def test_a_time_alone_is_answered_by_all_that_was_told_then() -> None:
    """Of 2,000 rows, one an hour but for a quiet day with three; a week is told in many more
    than the shortlist has room for.
    """
    registry = Registry.read()
    made = Engine(registry.build(registry.set("default")), HashingEmbedder(64), shortlist=64)
    start = 24.0 * 19_000  # midnight
    hours = [h for h in range(2000) if not 960 <= h < 984 or h in (963, 970, 977)]
    made.encode_all(
        Event(start + h, f"{WORDS[h % 13]} {WORDS[h * h % 11]} {h}", "Bo") for h in hours
    )
    days, told = (2000 - 960) // 24, made.column("created")
    assert made.store.n == len(hours)
    for text, begin, end in (
        (f"What happened {days} days ago?", 960, 984),
        ("What did Bo do yesterday?", 1968, 1992),
    ):
        answer = made.retrieve(text, 3)
        assert answer.asked is not None and not answer.asked.whole
        assert (
            answer.rows.tolist()
            == np.flatnonzero((told >= start + begin) & (told < start + end))[:3].tolist()
        )


def test_the_newest_rows_of_the_session_of_the_asker_are_likely(memory: Engine) -> None:
    cue = memory.answering.asked(Query(QUESTIONS[0], session="s3")).cue
    rows = np.flatnonzero(memory.store.array(SESSION) == cue.session)
    assert len(rows) == 8 and set(rows[-4:].tolist()) <= set(short(memory).likely(cue).tolist())


TIMES = [event.time for event in conversation(N)]
FILTERS = (
    Only(speakers=("Ada",)),
    Only(since=TIMES[500], until=TIMES[530]),
    Only(sessions=("none such",)),
    Only(exclude=("e3",)),
)


@pytest.mark.parametrize("only", FILTERS, ids=str)
def test_a_shortlist_answers_the_rows_that_a_filter_admits(memory: Engine, only: Only) -> None:
    chosen = short(memory)
    for text in QUESTIONS:
        query = Query(text, only=only)
        answer, exact = memory.retrieve(query, 5), whole(memory, query)
        assert answer.asked and not answer.asked.whole and len(answer) == len(exact)
        assert (
            exact.answerable[answer.rows].all() and not answer.answerable[~exact.answerable].any()
        )
        admitted = np.flatnonzero(exact.answerable)
        cosine = (
            memory.column("embedding")[admitted].astype(np.float64)
            @ memory.answering.asked(query).cue.vector
        )
        scores = np.empty(N, np.float32)
        memory.store.structures[LEXICON].scores(
            memory.answering.asked(query).cue.terms, scores, Idf.LUCENE.weight
        )
        words = admitted[np.argsort(-scores[admitted], kind="stable")[:8]]
        assert {
            *admitted[np.argsort(-cosine, kind="stable")[:8]],
            *words[scores[words] > 0.0],
        } <= set(chosen.store.rows)


@pytest.mark.slow
def test_a_filter_that_leaves_out_what_is_near_the_question_finds_the_nearest_of_the_others() -> (
    None
):
    """More rows are admitted than are all compared, and none of the rows near the question is
    among them.
    """
    rng, half = np.random.default_rng(7), len(WORDS) // 2
    with hb.memory("hybrid", embedding="hashing:64", shortlist=64) as memory:
        for i in range(2 * 64 * PAYS + 200):
            words = rng.choice(WORDS[:half] if i % 2 else WORDS[half:], 5)
            memory.encode(
                Event(float(i), f"{' '.join(words)} {i}", ("Bo", "Ada")[i % 2], "s", f"e{i}")
            )
        query = Query(" ".join(WORDS[:half]), only=Only(speakers=("Bo",)))
        answer = memory.retrieve(query, 5)
        bo = np.flatnonzero(whole(memory, query).answerable)
        cosine = (
            memory.column("embedding")[bo].astype(np.float64)
            @ memory.answering.asked(query).cue.vector
        )
        assert len(bo) > 64 * PAYS and len(answer) == 5
        assert set(bo[np.argsort(-cosine, kind="stable")[:8]]) <= set(short(memory).store.rows)


@pytest.mark.slow
def test_small_memories_long_answers_and_learning_are_asked_of_all_rows(memory: Engine) -> None:
    text = QUESTIONS[0]
    shown = short(memory).store.rows
    assert memory.retrieve(text, 9).final.tobytes() == whole(memory, text, 9).final.tobytes()
    assert short(memory).store.rows is shown
    with (
        hb.memory("hybrid", embedding="hashing:64", shortlist=64) as one,
        hb.memory("hybrid", embedding="hashing:64") as other,
    ):
        for each in (one, other):
            each.encode_all(conversation(64 * shortlist.PAYS - 1))
        assert one.retrieve(text).final.tobytes() == other.retrieve(text).final.tobytes()
        one.encode_all([replace(conversation(64 * shortlist.PAYS)[-1])])
        assert (
            np.isnan(one.retrieve(text, 5).final).any()
            and one.retrieve(text, 5, learn=True).asked is not None
        )


@pytest.mark.slow
def test_use_of_an_answer_of_a_shortlist_is_use_of_one_of_all_rows(life: Path) -> None:
    """Of the same row, which the shortlist finds for most questions."""
    events, used = conversation(N), 0
    with lived(life, 64) as some, lived(life, None) as every:
        for event in events[7:N:97]:
            answers = [memory.retrieve(event.text, 1) for memory in (some, every)]
            assert [bool(np.isnan(answer.final).any()) for answer in answers] == [True, False]
            if answers[0].rows.tolist() == answers[1].rows.tolist():
                used += 1
                for memory, answer in zip((some, every), answers, strict=True):
                    memory.use(answer, (20,), 0.5)
                assert some.digest() == every.digest()
    assert used > 3


def test_an_observer_sees_the_steps_of_a_shortlist() -> None:
    observer = Observer()
    with hb.memory("hybrid", embedding="hashing:64", shortlist=64, observer=observer) as memory:
        memory.encode_all(conversation(N))
        calls = observer.receipts["lexical_bm25"].calls
        memory.retrieve(QUESTIONS[0], 5)
        assert (
            observer.receipts["lexical_bm25"].calls == calls + 1
            and len(short(memory).store.rows) == 64
        )


@pytest.mark.parametrize("rows", [0, 63, True, 64.0, "many"])
def test_a_shortlist_of_too_few_or_of_no_number_is_refused(rows: object) -> None:
    with pytest.raises(InputError, match="a shortlist of"):
        checked_shortlist(rows)


def test_means_and_deviations_count_a_row_as_often_as_it_stands_for_one() -> None:
    rng = np.random.default_rng(0)
    scores, counts = rng.standard_normal(50).astype(np.float32), rng.integers(0, 5, 50)
    scores[counts == 0] = np.inf
    scores[7] = np.nan
    repeated = np.repeat(
        np.where(np.isnan(scores), 0.25, scores)[counts > 0].astype(np.float64), counts[counts > 0]
    )
    out = np.zeros(50)
    assert add_standardised(scores, counts.astype(np.float32), 0.25, 2.0, out)
    wanted = 2.0 * (np.where(np.isnan(scores), 0.25, scores) - repeated.mean()) / repeated.std()
    np.testing.assert_allclose(out[counts > 0], wanted[counts > 0], rtol=1e-6)


@pytest.mark.parametrize(
    "rows", [[0, 3, 20, 21, 79], [21], [5, 78]]
)  # few rows are sought in a list, more are read off
def test_scores_of_some_rows_are_those_of_all(rows: list[int]) -> None:
    rng, lexicon, trigrams = np.random.default_rng(3), BM25Index(), TrigramIndex()
    for row in range(80):
        words = rng.choice(WORDS, 5).tolist()
        lexicon.add(row, words, row % 7 > 0)
        trigrams.add(row, " ".join(words), row % 7 > 0)
    place = np.full(100, -1, np.int32)
    place[rows] = np.arange(len(rows))
    shown, some, every = (
        ScoredRows(np.array(rows), place),
        np.full(len(rows), 9.0, np.float32),
        np.empty(80, np.float32),
    )
    for asked in (["garden", "river", "river"], ["unknown"], *([word] for word in WORDS)):
        lexicon.scores(asked, every, Idf.ROBERTSON.weight, 0.9, 0.4)
        lexicon.scores(asked, some, Idf.ROBERTSON.weight, 0.9, 0.4, shown)
        assert some.tobytes() == every[rows].tobytes()
        for measure in TrigramMeasure:
            trigrams.scores(" ".join(asked), every, measure, 0.8)
            trigrams.scores(" ".join(asked), some, measure, 0.8, shown)
            assert some.tobytes() == every[rows].tobytes()
    # words that were asked for before, and others
    for k1, b in ((0.0, 0.0), (1.2, 0.75)):
        lexicon.scores(["garden", "ticket", "train"], every, Idf.LUCENE.weight, k1, b)
        lexicon.scores(["garden", "ticket", "train"], some, Idf.LUCENE.weight, k1, b, shown)
        assert some.tobytes() == every[rows].tobytes()
    with pytest.raises(InputError):
        lexicon.scores(["garden"], every, Idf.LUCENE.weight, shown=shown)


@pytest.mark.parametrize("way", ["compiled", "plain"])
def test_positive_scores_are_those_of_numpy(way: str) -> None:
    kernel: Any = positive
    rng, find = np.random.default_rng(8), kernel if way == "compiled" else kernel.py_func
    for n in (0, 1, 5, 300):
        for scores in (rng.random(n), rng.integers(0, 3, n), rng.standard_normal(n), np.zeros(n)):
            scores = scores.astype(np.float32)
            rows, held = np.empty(n, np.int64), np.empty(n, np.float32)
            count = find(scores, rows, held)
            assert (
                rows[:count].tolist() == np.flatnonzero(scores > 0).tolist()
                and held[:count].tobytes() == scores[scores > 0].tobytes()
            )


def test_the_best_rows_by_words_are_the_visible_ones_of_brute_force(memory: Engine) -> None:
    asker, rng = short(memory), np.random.default_rng(4)
    for text in (*QUESTIONS, "times"):
        cue, scores = memory.answering.asked(text).cue, np.empty(N, np.float32)
        memory.assembly.lexicon.scores(cue.terms, scores, Idf.LUCENE.weight)
        for visible in (np.ones(N, np.bool_), rng.random(N) < 0.5, np.zeros(N, np.bool_)):
            rows = np.flatnonzero((scores > 0) & visible)
            wanted = rows[np.lexsort((rows, -scores[rows]))][: asker.most]
            assert asker._by_words(cue, visible).tolist() == wanted.tolist()
            assert (
                asker._worded.tolist() == np.flatnonzero(scores > 0).tolist()
                and asker._held.tobytes() == scores[asker._worded].tobytes()
            )


def test_neighbours_come_first_by_time_then_by_links_until_there_is_no_room() -> None:
    start, degree, ends = (
        np.array([[0, 0, 2, 2, 2, 2]]),
        np.array([[2, 0, 0, 0, 0, 1]]),
        np.array([4, -1, 3]),
    )
    for size in (2, 4, 9):
        for function in (around, around.py_func):
            out = np.empty(size, np.int64)
            assert (
                out[: function(np.array([0, 5]), 6, start, degree, ends, out)].tolist()
                == [1, 2, 3, 4, 4, 3][:size]
            )


@pytest.fixture(scope="module")
def staged() -> tuple[Engine, Engine]:
    """Two memories with sources of contexts that lived the same: one without and one with a
    shortlist.
    """
    registry, found = Registry.read(), []
    for most in (None, 64):
        memory = Engine(registry.build(registry.set("stages")), HashingEmbedder(32), shortlist=most)
        memory.encode_all(conversation(N))
        found.append(memory)
    assert found[0].store.n == found[1].store.n >= PAYS * 64
    return found[0], found[1]


@pytest.mark.slow
@pytest.mark.parametrize("k", ["many", None, 2.5, -1])
def test_a_number_of_rows_that_is_none_is_refused_by_a_memory_with_a_shortlist(
    staged: tuple[Engine, Engine], k: Any
) -> None:
    for call in (staged[1].retrieve, lambda _, rows: staged[1].asks_all(rows)):
        with pytest.raises(InputError):
            call(QUESTIONS[0], k)


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_contexts_that_need_more_rows_than_a_shortlist_answers_are_of_all_rows(
    staged: tuple[Engine, Engine], strategy: str
) -> None:
    one, other = (assemble(memory, QUESTIONS[0], 400, strategy=strategy) for memory in staged)
    assert one.text == other.text and (bool(one.components) or strategy == "nothing")


@pytest.mark.slow
def test_contexts_of_few_rows_are_of_the_shortlist(staged: tuple[Engine, Engine]) -> None:
    memory = staged[1]
    answer, context = (
        memory.retrieve(QUESTIONS[0], 5),
        assemble(memory, QUESTIONS[0], max_items=5, strategy="flat"),
    )
    assert answer.asked and not answer.asked.whole
    assert [c.row for c in context.components] == answer.rows.tolist()
    assert context_of(memory, answer, QUESTIONS[0], 400, strategy="everything") == assemble(
        memory, QUESTIONS[0], 400, strategy="everything"
    )
    assert memory.retrieve(QUESTIONS[0], 5, whole=memory.asks_all(9)).asked == Asked(
        Query(QUESTIONS[0]), answer.asked.life
    )


def test_the_best_rows_bring_more_of_their_neighbours_in_time() -> None:
    best, links = np.array([100, 190, 4, 60]), np.zeros((1, 200), np.int64)
    for size, reach in ((512, (32, 16, 10, 8)), (96, (6, 3, 2, 2))):
        out = np.empty(size, np.int64)
        found = out[: around(best, 200, links, links.astype(np.int32), np.empty(0, np.int64), out)]
        near = [
            (b, row)
            for b, r in zip(best.tolist(), reach, strict=True)
            for row in range(b - r, b + r + 1)
        ]
        assert found.tolist() == [row for b, row in near if row != b and 0 <= row < 200]


def test_the_newest_rows_of_entities_to_which_named_ones_have_edges_are_found() -> None:
    graph = Graph()
    named, next_one, other = (entity_node(graph.entity(name)) for name in ("ada", "bo", "cem"))
    for row, entity in [*((row, next_one) for row in range(20)), (20, named), (21, other)]:
        graph.add(row, entity, EdgeType.ENTITY)
        graph.add(entity, row, EdgeType.ENTITY)
    graph.add(named, next_one, EdgeType.COACCESS)
    graph.add(named, named, EdgeType.COACCESS)
    start, degree, _, ends = graph.blocks
    newest = list(range(20 - EACH, 20))
    for function in (beyond, beyond.py_func):
        for size in (3, 64):
            out = np.empty(size, np.int64)
            assert (
                out[: function(np.array([named]), start, degree, ends, out)].tolist()
                == [*newest, 20][:size]
            )
            assert (
                function(np.array([other]), start, degree, ends, out)
                == function(np.empty(0, np.int64), start, degree, ends, out)
                == 0
            )
