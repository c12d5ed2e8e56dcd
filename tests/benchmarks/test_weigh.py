"""Weights: shares against the trusts of explanations, changed answers against memories made by
hand, the run and its file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from tiers import slow_unless

from hebbarium.audit import weights as reader
from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.influence import weights
from hebbarium.benchmarks.influence.routes import Route, RouteEnd, shortest
from hebbarium.benchmarks.influence.weights import (
    changed,
    share_of,
    to_json,
    trust_shares,
    weigh,
    widened,
)
from hebbarium.cli import main
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Facet
from hebbarium.engine.contract.records import Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

IDS = ("dense_similarity", "lexical_bm25", "recency", "heat", "query_intent", "convex_fusion",
       "base_level_activation")  # fmt: skip
SMALL = MechanismSet(
    "small", "for the test", {id: {} for id in IDS}, {"convex_fusion": ("weighted_rrf",)}
)
REHEARSE = 0.5


def model() -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(64), None)


@pytest.fixture(scope="module")
def data() -> Dataset:
    return load("demo", limit=1)


@pytest.fixture(scope="module")
def found(
    registry: Registry, data: Dataset, tmp_path_factory: pytest.TempPathFactory
) -> weights.Weighed:
    return weigh(
        SMALL,
        registry,
        data,
        model(),
        tmp_path_factory.mktemp("weights"),
        varieties=True,
        rehearse=REHEARSE,
    )


def answers(
    registry: Registry, data: Dataset, ids: tuple[str, ...], rehearsed: bool
) -> list[list[str]]:
    """Ids of the first ten events of each question, from a memory that is driven by hand."""
    (talk,) = data.conversations
    memory = Engine(
        registry.build(MechanismSet("", "", {id: {} for id in ids})), HashingEmbedder(64), seed=0
    )
    memory.encode_all(talk.events)
    now = talk.events[-1].time
    given: dict[str, list[str]] = {}
    for learn in (True, False) if rehearsed else (False,):
        for question in sorted(talk.questions, key=lambda q: q.time):
            now = max(now, question.time)
            memory.advance(now)
            given[question.id] = [
                e.id
                for e in memory.retrieve(
                    Query(question.text, now, question.id), 10, learn=learn
                ).events
            ]
        if learn:
            now += REHEARSE
            memory.advance(now)
    return [given[q.id] for q in talk.questions]


@pytest.mark.slow
@pytest.mark.parametrize(
    "id",
    slow_unless(
        ("base_level_activation",), ("lexical_bm25", "base_level_activation", "query_intent")
    ),
)
def test_changed_answers_are_those_of_memories_made_by_hand(
    id: str, found: weights.Weighed, registry: Registry, data: Dataset
) -> None:
    counts = []
    for rehearsed in (False, True):
        full, without = (
            answers(registry, data, ids, rehearsed)
            for ids in (IDS, tuple(i for i in IDS if i != id))
        )
        counts.append(sum(a != b for a, b in zip(full, without, strict=True)))
    assert [found.mechanisms[id].cold, found.mechanisms[id].rehearsed] == counts


@pytest.mark.slow
def test_an_alternate_is_compared_with_the_set_without_its_original(
    found: weights.Weighed, registry: Registry, data: Dataset
) -> None:
    rest = tuple(i for i in IDS if i != "convex_fusion")
    full, without = (answers(registry, data, ids, False) for ids in ((*rest, "weighted_rrf"), rest))
    assert (
        found.mechanisms["weighted_rrf"].cold
        == sum(a != b for a, b in zip(full, without, strict=True))
        > 0
    )
    assert (
        found.mechanisms["weighted_rrf"].without
        == found.mechanisms["convex_fusion"].without
        == "without convex_fusion"
    )


def test_shares_are_the_mean_trusts_of_explanations(
    found: weights.Weighed, registry: Registry, data: Dataset
) -> None:
    (talk,) = data.conversations
    memory = Engine(registry.build(SMALL), HashingEmbedder(64), seed=0)
    memory.encode_all(talk.events)
    shares = []
    for question in sorted(talk.questions, key=lambda q: q.time):
        memory.advance(max(memory.now, question.time))
        trust = {
            p.signal: p.trust for p in memory.explain(Query(question.text, memory.now), 0).signals
        }
        shares.append({name: one / sum(trust.values()) for name, one in trust.items()})
    means = {name: np.mean([s[name] for s in shares]) for name in shares[0]}
    # query_intent changes the trusts from question to question
    assert len({round(s["recency"], 6) for s in shares}) > 1
    assert {name: share for name, (_, share) in found.signals.items()} == pytest.approx(
        means, rel=1e-9
    )
    assert {name: id for name, (id, _) in found.signals.items()} == {
        "dense": "dense_similarity",
        "lexical": "lexical_bm25",
        "recency": "recency",
        "heat": "heat",
    }
    assert found.mechanisms["base_level_activation"].share == pytest.approx(means["heat"])
    assert (found.mechanisms["query_intent"].share, found.mechanisms["convex_fusion"].share) == (
        1.0,
        1.0,
    )


def test_trust_of_signals_by_facet(registry: Registry) -> None:
    """Weights w, factor 3 on WORDS in one of two questions: mean of w and 3 w over the sums."""
    mechanisms = registry.build(
        MechanismSet("", "", {"dense_similarity": {"weight": 1.0}, "lexical_bm25": {"weight": 2.0}})
    )
    facets = np.ones((2, len(Facet)))
    facets[1, Facet.WORDS.value] = 3.0
    assert trust_shares(mechanisms, facets) == pytest.approx(
        {"dense": (1 / 3 + 1 / 7) / 2, "lexical": (2 / 3 + 6 / 7) / 2}
    )
    assert trust_shares(mechanisms, np.empty((0, len(Facet)))) == {}


def test_share_of_routes() -> None:
    trust = {"a": 0.2, "b": 0.3}
    a, b = (Route(name, RouteEnd.SIGNAL, (name, "fused"), False) for name in trust)
    veto, facets = (
        Route("veto", RouteEnd.ADMISSION, ("veto",), False),
        Route("facet_weights", RouteEnd.FACETS, ("log_facets",), False),
    )
    assert [
        share_of(each, trust) for each in ([a], [a, b, veto], [veto], [a, facets], [])
    ] == pytest.approx([0.2, 0.5, None, 1.0, None])


def test_changed_counts_order_and_length() -> None:
    assert changed([["a", "b"], ["a"], []], [["b", "a"], ["a"], ["c"]]) == 2


def test_varieties_join_the_alternates_of_their_originals(registry: Registry) -> None:
    everything = registry.set("everything")
    wide = widened(everything, registry)
    joined = {*wide.mechanisms, *(other for others in wide.alternates.values() for other in others)}
    assert (
        {e.id for e in registry.entries.values() if e.variety_of in everything.mechanisms}
        <= joined
        <= set(registry.entries)
    )
    new = [
        (id, other)
        for id, others in wide.alternates.items()
        for other in others
        if other not in everything.alternates.get(id, ())
    ]
    assert all(registry.entry(other).variety_of == id for id, other in new)


@pytest.mark.slow
def test_a_second_run_takes_every_cell_from_the_ledger(
    registry: Registry, data: Dataset, tmp_path: Path
) -> None:
    few = MechanismSet(
        "few", "", {"dense_similarity": {}, "lexical_bm25": {}, "base_level_activation": {}}
    )
    calls: list[tuple[int, int]] = []
    once = weigh(few, registry, data, model(), tmp_path, varieties=True)
    again = weigh(
        few,
        registry,
        data,
        model(),
        tmp_path,
        varieties=True,
        progress=lambda done, total, _: calls.append((done, total)),
    )
    # 4 arms and the variety of base_level_activation, asked in two ways
    assert calls == [(10, 10)]
    assert again.mechanisms == once.mechanisms
    # heat is not in the set
    assert (
        once.mechanisms["base_level_activation"].inert
        and once.mechanisms["base_level_activation"].share is None
    )


@pytest.mark.slow
def test_by_default_only_the_mechanisms_of_the_set_are_weighed(
    registry: Registry, data: Dataset, tmp_path: Path
) -> None:
    few = MechanismSet(
        "few",
        "",
        {
            id: {}
            for id in ("dense_similarity", "lexical_bm25", "base_level_activation", "convex_fusion")
        },
        {"convex_fusion": ("weighted_rrf",)},
    )
    calls: list[tuple[int, int]] = []
    found = weigh(
        few,
        registry,
        data,
        model(),
        tmp_path,
        progress=lambda done, total, _: calls.append((done, total)),
    )
    # (1 + 4) arms, asked in two ways
    assert set(found.mechanisms) == set(few.mechanisms) and calls[-1] == (10, 10)
    assert found.rehearse == REHEARSE


def test_a_set_that_does_not_learn_is_asked_once(
    registry: Registry, data: Dataset, tmp_path: Path
) -> None:
    calls: list[tuple[int, int]] = []
    found = weigh(
        registry.set("bm25"),
        registry,
        data,
        model(),
        tmp_path,
        progress=lambda done, total, _: calls.append((done, total)),
    )
    written = to_json(found)
    assert (
        calls[-1] == (2, 2)
        and found.rehearse is None
        and found.mechanisms["lexical_bm25"].rehearsed is None
    )
    assert (
        written["provenance"]["rehearse"] is None
        and weights.ONCE in written["notes"]
        and weights.INTERVAL not in written["notes"]
    )
    with pytest.raises(InputError, match="does not learn from recall"):
        weigh(registry.set("bm25"), registry, data, model(), tmp_path, rehearse=1.0)


def test_the_audit_reads_what_is_written(
    found: weights.Weighed, data: Dataset, tmp_path: Path
) -> None:
    file = tmp_path / "weights.json"
    file.write_text(json.dumps(to_json(found)), encoding="utf-8")
    read = reader.read(file)
    (talk,) = data.conversations
    assert (read.questions, read.gold, read.rehearse) == (
        len(talk.questions),
        sum(bool(q.gold) for q in talk.questions),
        REHEARSE,
    )
    assert list(read.mechanisms) == list(found.mechanisms)
    for id, weight in read.mechanisms.items():
        mine = found.mechanisms[id]
        assert (weight.cold, weight.rehearsed, weight.inert) == (
            mine.cold,
            mine.rehearsed,
            mine.inert,
        )
        assert [(r.to, r.kind, r.chain) for r in weight.routes if r.nearest] == [
            (r.to, r.kind.value, r.chain) for r in shortest(mine.routes)
        ]
        assert {r.to for r in weight.routes} | {*weight.further} == {r.to for r in mine.routes}
    assert read.of("base_level_activation").path == "activation -> heat -> fused"  # type: ignore[union-attr]


@pytest.mark.slow
def test_the_command_writes_the_file_and_names_what_is_inert(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    out, chosen = tmp_path / "weights.json", tmp_path / "mine.yaml"
    chosen.write_text("mechanisms: [dense_similarity, recency, base_level_activation]")
    words = ("--out", out, "--work", tmp_path / "work", "--set", chosen, "--limit", "1",
             "--embedder", "hashing:64", "--varieties")  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["hebbarium", "weights", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    said = capsys.readouterr().out
    assert (
        "inert: recency, base_level_activation, base_level_activation_printed\n" in said
        and f"written to {out}" in said
    )
    read = reader.read(out)
    assert set(read.mechanisms) == {
        "dense_similarity",
        "recency",
        "base_level_activation",
        "base_level_activation_printed",
    }
    assert (
        read.mechanisms["dense_similarity"].cold
        == read.questions
        == len(load("demo", limit=1).conversations[0].questions)
    )


def test_the_command_says_that_a_set_was_asked_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    out = tmp_path / "weights.json"
    words = ("--out", out, "--work", tmp_path / "work", "--set", "bm25", "--limit", "1",
             "--embedder", "hashing:64")  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["hebbarium", "weights", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert (
        not end.value.code
        and "bm25 does not learn from recall: every question was asked once\n"
        in capsys.readouterr().out
    )
    read = reader.read(out)
    assert read.rehearse is None and read.mechanisms["lexical_bm25"].rehearsed is None
    assert "asked once (bm25 does not learn from recall)" in read.line("lexical_bm25")
