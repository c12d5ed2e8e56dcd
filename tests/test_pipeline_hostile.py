"""The whole pipeline from cue to answer under bad input: a defined answer or an error with its
cure, and a memory that stays bit-identical.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import slow_unless

from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism, Params, hook
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import ANSWERABLE, RERANKED, REWEIGHTED
from hebbarium.engine.memory.engine import Answer, Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.testing.conformance import START
from hebbarium.testing.cross_encoder import save_tiny_cross_encoder

BEFORE_THE_RERANKER = ("dense_similarity", "lexical_bm25", "query_intent", "query_expansion",
                       "temporal_index", "instruction_detection",
                       "asker_prior", "surprise_index", "salience_reweighting", "rule_filter",
                       "convex_fusion")  # fmt: skip
AFTER_IT = ("event_ordering", "sufficiency_gate")
RERANKERS = ("late_interaction_rerank", "cross_encoder_rerank")
SAID = (
    "We moved to Oslo on May 7, 2023",
    "Always answer in metric units",
    "Congratulations on the move, the flat looks bright",
    "When I ask about food, leave out the meat",
    "Last February 30 I met Bo in the year 0",
    "The boat was sold in 99999, before the move",
    "I painted the boat two weeks ago",
    "You could varnish the boat, too",
    "Summarize what we did before the trip",
    "",
)
MEGABYTE = 1_000_000
QUERIES: dict[str, Any] = {
    "empty": "",
    "blank": " \n",
    "marks": "?!",
    "half surrogate": "\ud800",
    "cues that repeat": "boat and boat, boat or boat, the boat and the boat",
    "the year 0": "What happened in the year 0?",
    "the year 99999": "What happened in 99999, on 99999-12-31?",
    "no such day": "What did we do last February 30?",
    "ends before it begins": "What happened between 2023 and 2019, from June 2022 to May 2022?",
    "in order": "In what order did we move, paint and sell?",
    "a summary": "Summarize everything about the boat",
    "no items": "List 0 events in order",
    "all items": "List 999 events in order",
    "an order over nothing": Query("In what order did it happen?", only=Only(speakers=("nobody",))),
    "nothing meets it": Query("boat", only=Only(sessions=("none",))),
    "until before since": Query("boat", only=Only(since=START + 9.0, until=START + 1.0)),
    "everything left out": Query(
        "boat", only=Only(exclude=tuple(f"e{i}" for i in range(len(SAID))))
    ),
}

LONG = {
    "words": "boat " * (MEGABYTE // 5),
    "dates": "last February 30, before the move " * (MEGABYTE // 34),
    "one word": "a" * MEGABYTE,
}


def pipeline(
    registry: Registry,
    reranker: str = "late_interaction_rerank",
    values: dict[str, dict[str, Any]] | None = None,
    extra: tuple[Mechanism[Any], ...] = (),
) -> Engine:
    values = values or {}
    ids = (*BEFORE_THE_RERANKER, *((reranker,) if reranker else ()), *AFTER_IT)
    return Engine(
        [*(registry.instance(id, values.get(id, {})) for id in ids), *extra], HashingEmbedder(32)
    )


def told(memory: Engine) -> Engine:
    for i, text in enumerate(SAID):
        memory.encode(
            Event(
                START + i,
                text,
                "Ada" if i % 2 else "Bo",
                f"s{i // 4}",
                f"e{i}",
                attributes={"role": "assistant" if i % 2 else "user"},
            )
        )
    return memory


# torch, which writes the model of the other, takes four seconds to import
@pytest.fixture(scope="module", params=slow_unless(("late_interaction_rerank",), RERANKERS))
def reranking(
    request: pytest.FixtureRequest, registry: Registry, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Engine]:
    """Builds the pipeline with one of the two rerankers, and with the parameters given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEBBARIUM_CACHE", str(tmp_path_factory.mktemp("cache")))
        own = {}
        if request.param == "cross_encoder_rerank":
            own = {
                request.param: {
                    "model": str(save_tiny_cross_encoder(tmp_path_factory.mktemp("model")))
                }
            }
        yield lambda values=None: pipeline(registry, request.param, {**own, **(values or {})})


@pytest.fixture(scope="module")
def filled(reranking: Callable[..., Engine]) -> Engine:
    return told(reranking())


def require_defined(memory: Engine, answer: Answer, k: int) -> None:
    rows = answer.rows.tolist()
    assert (
        len(set(rows)) == len(rows) <= k
        and answer.answerable[rows].all()
        and np.isfinite(answer.final[rows]).all()
    )
    assert (
        0.0 <= answer.sufficiency <= 1.0
        and isinstance(answer.chronological, bool)
        and sorted(answer.in_time().rows.tolist()) == sorted(rows)
    )
    assert memory.column(ANSWERABLE).tolist() == answer.answerable.tolist()


@pytest.mark.parametrize("kind", QUERIES)
def test_any_query_has_a_defined_answer_and_leaves_every_bit(filled: Engine, kind: str) -> None:
    query, before = QUERIES[kind], filled.digest()
    whole = filled.retrieve(query, k=1000)
    require_defined(filled, whole, 1000)
    for k in (0, 3):
        answer = filled.retrieve(query, k=k)
        require_defined(filled, answer, k)
        assert answer.rows.tolist() == whole.rows.tolist()[:k], (
            "a shorter answer is the start of a longer one"
        )
    assert filled.digest() == before
    assert len(whole) == (0 if isinstance(query, Query) else len(SAID))


@pytest.mark.slow
@pytest.mark.parametrize("kind", LONG)
def test_a_query_of_a_megabyte_has_a_defined_answer_and_leaves_every_bit(
    filled: Engine, kind: str
) -> None:
    before = filled.digest()
    require_defined(filled, filled.retrieve(LONG[kind]), 10)
    assert filled.digest() == before


@pytest.mark.parametrize("kind", QUERIES)
def test_no_memory_is_an_empty_answer(reranking: Callable[..., Engine], kind: str) -> None:
    memory = reranking()
    before = memory.digest()
    assert (
        len(memory.retrieve(QUERIES[kind])) == 0
        and math.isnan(memory.now)
        and memory.digest() == before
    )


def test_rules_that_exclude_everything_leave_an_empty_answer(
    reranking: Callable[..., Engine], tmp_path: Path
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "rules:\n  - name: nobody\n    then: exclude\n    where: {speaker: [Ada, Bo]}\n",
        encoding="utf-8",
    )
    memory = told(reranking({"rule_filter": {"rules": str(file)}}))
    before = memory.digest()
    for query in (
        "Which boat?",
        "In what order did we move?",
        "Summarize everything about the boat",
    ):
        answer = memory.retrieve(query)
        require_defined(memory, answer, 10)
        assert len(answer) == 0
    assert memory.digest() == before


class Judge(Mechanism[Params]):
    """A reranker that is not a number for some memories, or for all."""

    bad: tuple[int, ...] | slice = slice(None)

    @hook(Phase.RETRIEVE, reads=(REWEIGHTED,), adds=(), sets=(RERANKED,))
    def judge(self, view: Any, cue: Any) -> None:
        view.reranked[...] = view.reweighted
        view.reranked[[*self.bad] if isinstance(self.bad, tuple) else self.bad] = np.nan


class Partly(Judge):
    bad = (1, 2, 6)


@pytest.mark.parametrize(
    "query", ["Which boat?", "In what order did we move?", "Summarize everything about the boat"]
)
def test_a_memory_that_a_reranker_has_no_score_for_is_left_out_and_no_other(
    registry: Registry, query: str
) -> None:
    """Also where a request and its reply share their scores, or where an answer is arranged."""
    for judge, left in ((Partly, set(range(len(SAID))) - {1, 2, 6}), (Judge, set())):
        memory = told(pipeline(registry, "", extra=(judge("judge", Params(1.0)),)))
        before = memory.digest()
        answer = memory.retrieve(query, k=100)
        require_defined(memory, answer, 100)
        assert set(answer.rows.tolist()) == left and memory.digest() == before


@pytest.mark.slow
def test_a_set_has_one_reranker(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    model = {"model": str(save_tiny_cross_encoder(tmp_path / "model"))}
    both = [
        registry.instance("dense_similarity"),
        registry.instance("late_interaction_rerank"),
        registry.instance("cross_encoder_rerank", model),
    ]
    with pytest.raises(
        ContractError,
        match=r"late_interaction_rerank\.rerank and cross_encoder_rerank\.rerank both set relevance",
    ) as caught:
        Engine(both, HashingEmbedder(32))
    assert "switch one of them off" in caught.value.cure


@pytest.mark.parametrize("chosen", ["cortex", "cortex_as_printed"])
def test_the_schedule_of_cortex_has_the_acts_of_the_pipeline_in_their_order(
    registry: Registry, chosen: str
) -> None:
    memory = Engine(registry.build(registry.set(chosen)), HashingEmbedder(32))
    steps = [each.step for each in memory.schedule[Phase.RETRIEVE]]
    gate = "sufficiency_gate" if chosen == "cortex" else "sufficiency_gate_printed"
    acts = ["engine.ask", "query_expansion.expand", "lexical_bm25.score", "engine.gather",
            "weighted_rrf.fuse", "engine.prime",
            "late_interaction_rerank.rerank", f"{gate}.judge", "engine.answer"]  # fmt: skip
    assert [step for step in steps if step in acts] == acts
    assert (
        steps.index("engine.restrict")
        < steps.index("engine.admit")
        < steps.index("late_interaction_rerank.rerank")
    )
    assert "missing" in registry.set(chosen).summary


def test_the_time_of_a_question_is_that_of_the_memory(
    reranking: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two memories of equal times give equal answers, whatever the clock on the wall says."""
    import time

    answers = []
    for moment in (0.0, 2e9):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        memory = told(reranking())
        assert memory.now == START + len(SAID) - 1
        answers.append(
            [
                memory.retrieve(query).final.tolist()
                for query in ("What did I paint two weeks ago?", "Who came yesterday?")
            ]
        )
    assert answers[0] == answers[1]
