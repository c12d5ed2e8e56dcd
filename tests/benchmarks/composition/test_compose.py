"""`hebbarium compose` on small data: what it writes, what it refuses, and that it continues."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts import script
from typer.testing import CliRunner

from hebbarium.benchmarks.composition import compose as module
from hebbarium.benchmarks.composition.compose import compose, laid_out, problem_of
from hebbarium.benchmarks.composition.lives import Lives
from hebbarium.benchmarks.composition.request import (
    CompositionRequest,
    DataNeed,
    WorldNeed,
    plain,
    read,
)
from hebbarium.benchmarks.composition.result import COSTS, Composed, mechanism_rows, to_json
from hebbarium.benchmarks.composition.scores import METRICS, Constraint, MeasuredData, Scores, _loss
from hebbarium.benchmarks.datasets import LOADERS, load
from hebbarium.benchmarks.designs.file import DataRef
from hebbarium.benchmarks.execution.ledger import Ledger
from hebbarium.benchmarks.execution.spec import DEFAULTS
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.scores.metrics import at_depths
from hebbarium.benchmarks.worlds.collection import WORLDS, named
from hebbarium.benchmarks.worlds.study import study
from hebbarium.cli.app import app
from hebbarium.engine.base.errors import HebbariumError, InputError, RegistryError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.reporting.text import in_cell

REGISTRY = Registry.read()
CHOSEN = MechanismSet(
    "some",
    "words, meaning and a mechanism that changes little",
    {"dense_similarity": {}, "lexical_bm25": {"weight": 0.9}, "recency": {}, "convex_fusion": {}},
)


@pytest.fixture
def embedder(tmp_path: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(32), tmp_path / "cache")


def asked(folds: int = 2, cost: str = "mechanisms", margin: float = 0.02) -> CompositionRequest:
    need = DataNeed(DataRef("demo", limit=2), ("recall@10", "mrr@10"), margin)
    return CompositionRequest("some", (need,), cost, folds, ())


def composed(
    out: Path, embedder: CachedEmbedder, request: CompositionRequest | None = None, **more: Any
) -> Composed:
    return compose(
        request or asked(), CHOSEN, [load("demo", limit=2)], REGISTRY, embedder, out, **more
    )


# --- scores ---------------------------------------------------------------------------------------
def test_the_values_of_a_part_are_those_of_a_run_of_it(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    data = load("demo", limit=2)
    constraints = (Constraint(0, "recall@5", 0.01), Constraint(0, "all@10", 0.01))
    scores = Scores(
        CHOSEN,
        REGISTRY,
        [MeasuredData(data)],
        constraints,
        embedder,
        Ledger(tmp_path / "l.db"),
        DEFAULTS,
    )
    part = frozenset({"lexical_bm25", "convex_fusion"})
    (mine,) = scores.values([part])
    alone = CHOSEN.without([id for id in CHOSEN.mechanisms if id not in part])
    run(alone, REGISTRY, data, embedder, tmp_path / "run")
    rows = [json.loads(line) for line in (tmp_path / "run" / "rows.jsonl").open()]
    for place, metric in enumerate(("recall@5", "all@10")):
        theirs = [at_depths(row["ranks"])[metric] for row in rows if row["gold"]]
        assert mine[place].tolist() == theirs
    keys = [("same", row["conversation"]) for row in rows if row["gold"]]
    assert [id for _, id in scores.asked()[0].conversations] == [id for _, id in keys]
    # some conversations alone, and no difference of the whole set from itself
    first = frozenset([(data.sha256, data.conversations[0].id)])
    (some,) = scores.values([part], first)
    assert some[0].tolist() == mine[0].tolist()[: len(some[0])]
    assert not any(each.any() for each in scores.of([scores.whole])[0])


def test_a_part_is_measured_no_further_once_it_has_lost(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    data = [load("demo", limit=3), load("demo", limit=1)]
    sources = [MeasuredData(data[0]), MeasuredData(data[1], "session")]
    constraints = (
        Constraint(0, "recall@10", 0.05), Constraint(0, "mrr@10", 0.9), Constraint(1, "hit@10", 0.05)
    )  # fmt: skip
    scores = Scores(
        CHOSEN, REGISTRY, sources, constraints, embedder, Ledger(tmp_path / "l.db"), DEFAULTS
    )
    margins = [constraint.margin for constraint in constraints]
    parts = [
        frozenset({"convex_fusion"}),
        frozenset({"dense_similarity", "lexical_bm25", "convex_fusion"}),
        frozenset({"recency", "convex_fusion"}),
    ]
    briefly = scores.briefly(parts, margins)
    lost = np.array([[float(of.mean()) for of in mine] for mine in scores.of(parts)])
    assert not (lost[0] <= margins).all()
    assert (lost[1] <= margins).all()
    for mine, all_of_it in zip(briefly, lost, strict=True):
        known = np.isfinite(mine)
        assert mine[known].tolist() == all_of_it[known].tolist()
        assert (mine <= margins).all() == (all_of_it <= margins).all()
        assert (all_of_it > margins)[np.isposinf(mine)].all()
    assert np.isfinite(briefly[1]).all()
    assert np.isnan(briefly[0]).any()  # the sessions were least work, and showed enough
    none = scores.briefly(parts[:1], margins, frozenset([(data[1].sha256, "nothing")]))
    assert np.isnan(none).all() or not none.any()


def test_a_world_is_lived_only_for_parts_that_have_lost_too_much_nowhere(
    tmp_path: Path, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, lost, unlucky = (
        frozenset({"dense_similarity", "lexical_bm25", "convex_fusion"}),
        frozenset({"recency", "convex_fusion"}),
        frozenset({"dense_similarity", "recency", "convex_fusion"}),
    )
    whole = frozenset(CHOSEN.mechanisms)
    value = {whole: 0.9, kept: 0.85, unlucky: 0.1}
    lived: dict[str, list[frozenset[str]]] = {}

    def live(self: Scores, place: int, parts: Any, source: Lives, keys: Any) -> None:
        lived.setdefault(source.name, []).extend(parts)
        for part in parts:
            for key in keys:
                hit = {f"hit@{source.world.k} ": np.array([value[part]])}
                self._values[part, place, key] = hit

    monkeypatch.setattr(Scores, "_live", live)
    data = load("demo", limit=1)
    worlds = [Lives(WORLDS[name], (1.0,), 2) for name in ("needs", "flood/repeats")]
    constraints = (
        Constraint(0, "recall@10", 0.3), Constraint(1, "hit@1", 0.1), Constraint(2, "hit@3", 0.1)
    )  # fmt: skip
    scores = Scores(
        CHOSEN, REGISTRY, [MeasuredData(data), *worlds], constraints, embedder,
        Ledger(tmp_path / "l.db"), DEFAULTS,
    )  # fmt: skip
    margins = [constraint.margin for constraint in constraints]
    measured = scores.lost([kept, lost, unlucky], margins)
    means = [
        of[0].mean() for of in scores.of([kept, lost, unlucky], frozenset(scores.sources[0].keys))
    ]
    assert measured[:, 0].tolist() == means
    assert measured[0, 1:] == pytest.approx([0.05, 0.05])
    assert measured[1, 0] > 0.3
    assert np.isnan(measured[1, 1:]).all()
    assert measured[2, 0] <= 0.3
    assert measured[2, 1] == pytest.approx(0.8)
    assert np.isnan(measured[2, 2])
    assert lived == {"world needs": [whole, kept, unlucky], "world flood/repeats": [whole, kept]}


def test_what_surely_loses_is_seen_on_a_third_of_the_conversations() -> None:
    rng = np.random.default_rng(0)
    null = [
        _loss(rng.choice([-1.0, 0.0, 1.0], 100) + 0.01, 0.01, some=True) == np.inf
        for _ in range(4_000)
    ]
    assert np.mean(null) < 0.004  # one in a thousand by the normal distribution
    assert _loss(np.full(40, 0.02) + rng.normal(0.0, 0.01, 40), 0.01, some=True) == np.inf


def test_a_part_that_the_engine_refuses_loses_everything(
    tmp_path: Path, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load("demo", limit=1)
    scores = Scores(
        CHOSEN, REGISTRY, [MeasuredData(data)], (Constraint(0, "mrr@10", 0.01),), embedder,
        Ledger(tmp_path / "l.db"), DEFAULTS,
    )  # fmt: skip
    built = module.planned

    def refusing(arms: Any, *more: Any) -> Any:
        if "lexical_bm25" not in arms[0].chosen.mechanisms:
            raise RegistryError("it needs words", where="set some", cure="add them")
        return built(arms, *more)

    monkeypatch.setattr("hebbarium.benchmarks.composition.scores.planned", refusing)
    part = frozenset({"dense_similarity", "convex_fusion"})
    (differences,) = scores.of([part])
    assert np.isposinf(differences[0]).all()
    assert np.isposinf(scores.briefly([part], [0.01])).all()
    assert scores.unbuildable == {part: "it needs words"}


@pytest.mark.slow
def test_the_value_of_a_life_is_the_hit_of_the_world(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    world = WORLDS["needs"]
    request = CompositionRequest(
        "some", asked().needs, "mechanisms", 0, (), "", (WorldNeed("needs", (1.0,), 2),)
    )
    sources, constraints = laid_out(request, [load("demo", limit=2)])
    assert constraints[-1] == Constraint(1, f"hit@{world.k}", world.margin, "", "world needs")
    lived = sources[1]
    assert isinstance(lived, Lives)
    assert lived.keys == (("world needs", "s = 1, seed 0"), ("world needs", "s = 1, seed 1"))
    scores = Scores(
        CHOSEN, REGISTRY, sources[1:], (replace(constraints[-1], source=0),), embedder,
        Ledger(tmp_path / "l.db"), DEFAULTS,
    )  # fmt: skip
    ((mine,),) = scores.values([scores.whole])
    report = study([world], [CHOSEN], REGISTRY, embedder, tmp_path / "w", seeds=2, strengths=[1.0])
    curve = report.results[0].curve("some")
    assert curve is not None
    assert mine.mean() == pytest.approx(curve.points[0].hit.mean)
    ((first,),) = scores.values([scores.whole], frozenset(lived.keys[:1]))
    assert first.tolist() == mine[:1].tolist()
    with pytest.raises(InputError, match="asked for twice"):
        laid_out(
            replace(request, worlds=(*request.worlds, *request.worlds)), [load("demo", limit=2)]
        )


# --- the problem ----------------------------------------------------------------------------------
def test_the_fusion_is_fixed_and_families_are_those_declared() -> None:
    problem = problem_of(REGISTRY.set("waking"), REGISTRY, [Constraint(0, "mrr@10", 0.01)])
    assert problem.fixed == {"convex_fusion"}
    assert problem.families["recency"] == "time"
    assert problem.mechanisms == tuple(REGISTRY.set("waking").mechanisms)
    with pytest.raises(InputError, match="not in the set"):
        problem_of(CHOSEN, REGISTRY, [], ["heat"])


def test_two_needs_of_the_same_data_are_measured_once() -> None:
    data, other = load("demo", limit=1), load("demo", limit=1, unit="session")
    needs = (
        DataNeed(DataRef("demo"), ("mrr@10",), 0.01),
        DataNeed(DataRef("demo", unit="session"), ("hit@10",), 0.02),
        DataNeed(
            DataRef("demo"), ("recall@10",), 0.03, data.conversations[0].questions[0].category
        ),
    )
    sources, constraints = laid_out(
        CompositionRequest("some", needs, "event", 0, ()), [data, other, data]
    )
    assert [source.name for source in sources] == ["demo", "demo sessions"]
    assert [(one.source, one.metric, one.margin) for one in constraints] == [
        (0, "mrr@10", 0.01),
        (1, "hit@10", 0.02),
        (0, "recall@10", 0.03),
    ]
    assert sources[0].keys == sources[1].keys  # a conversation is held out in both units
    with pytest.raises(InputError, match="asked for twice"):
        laid_out(CompositionRequest("some", (needs[0], needs[0]), "event", 0, ()), [data, data])


# --- the whole command's work ---------------------------------------------------------------------
@pytest.mark.slow
def test_what_is_found_is_allowed_and_written_as_a_set(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    out, target = tmp_path / "out", tmp_path / "lean.yaml"
    result = composed(out, embedder, write=target)
    assert "convex_fusion" in result.part.mechanisms
    assert len(result.part.mechanisms) < len(CHOSEN.mechanisms)
    assert all(one.loss <= one.margin + 1e-12 for one in result.constraints)
    for file in (target, out / "found.yaml"):
        written = REGISTRY.set(str(file))
        assert dict(written.mechanisms) == dict(result.part.mechanisms)
    plain_data = json.loads((out / "composition.json").read_text())
    assert plain_data == json.loads(json.dumps(to_json(result)))
    assert [one["mechanism"] for one in plain_data["mechanisms"]] == list(CHOSEN.mechanisms)
    assert len(plain_data["folds"]) == 2
    sizes = [len(point["part"]) for point in plain_data["path"]]
    assert sizes == sorted(set(sizes))
    page = (out / "composition.html").read_text()
    assert "The smallest part of some" in page
    assert "<svg" in page
    assert "loss held out" in (out / "composition.md").read_text()
    section = script("composition_page").section((out / "composition.md").read_text())
    assert section.startswith("## demo\n")
    assert result.headline in section
    sizes = [len(point.part) for point in result.path()]
    rows = section.partition("The path")[2].partition("How often")[0].splitlines()
    assert [int(row.split("|")[1]) for row in rows if row[:3].strip("| ").isdigit()] == sizes
    kept = {row.split(" | ")[0] for row in section.splitlines() if " | yes | " in row}
    assert {f"| {in_cell(id)}" for id in result.part.mechanisms} <= kept


def test_what_a_part_loses_in_a_world_that_it_did_not_live_is_left_open(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    result = composed(tmp_path / "out", embedder, asked(folds=0))
    assert set(result.singles) == set(CHOSEN.mechanisms) - {"convex_fusion"}
    open_ = replace(result, singles={**result.singles, "recency": (0.03, np.nan)})
    rows = {row["mechanism"]: row["alone"] for row in to_json(open_)["mechanisms"]}
    assert rows["recency"] == [0.03, None]
    assert rows["lexical_bm25"] == list(result.singles["lexical_bm25"])
    largest = {row[0]: row[3] for row in mechanism_rows(open_)}
    assert largest["recency"] == "1.50"  # of a margin of .02


@pytest.mark.slow
def test_a_composition_that_was_stopped_continues_and_finds_the_same(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    def stop(what: str) -> None:
        if what.startswith("elimination"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        composed(tmp_path / "out", embedder, say=stop)
    kept = Ledger(tmp_path / "out" / "ledger.sqlite")
    before = len(kept)
    result = composed(tmp_path / "out", embedder)
    assert 0 < before < len(kept)
    after = len(kept)
    again = composed(tmp_path / "out", embedder)
    assert len(kept) == after
    elsewhere = composed(tmp_path / "other", embedder, jobs=2)
    for other in (again, elsewhere):
        assert other.part == result.part
        assert [point.scores for point in other.points] == [p.scores for p in result.points]
        assert other.stability == result.stability
        assert other.validated == result.validated


@pytest.mark.slow
def test_the_folder_of_another_composition_is_refused(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    composed(tmp_path / "out", embedder, asked(folds=0))
    with pytest.raises(InputError, match="other compositions"):
        composed(tmp_path / "out", embedder, asked(folds=0, margin=0.5))
    lenient = composed(tmp_path / "out", embedder, asked(folds=0, margin=1.0), replace_result=True)
    assert list(lenient.part.mechanisms) == ["convex_fusion"]


@pytest.mark.slow
def test_a_cost_in_milliseconds_is_measured_once(
    tmp_path: Path, embedder: CachedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = composed(tmp_path / "out", embedder, asked(folds=0, cost="question"))
    assert first.costs["question"]["dense_similarity"] > 0.0
    monkeypatch.setattr(module, "costs_of", lambda *_, **__: pytest.fail("measured again"))
    again = composed(tmp_path / "out", embedder, asked(folds=0, cost="question"))
    assert again.costs == first.costs
    assert again.part == first.part


def test_one_conversation_gives_a_part_and_no_honest_estimate(
    tmp_path: Path, embedder: CachedEmbedder
) -> None:
    request = plain("some", [DataRef("demo", limit=1)], ["recall@10"], 0.02, "mechanisms", 5, [])
    result = compose(request, CHOSEN, [load("demo", limit=1)], REGISTRY, embedder, tmp_path / "out")
    assert result.validated is None
    assert result.stability.conversations == {}
    assert "no data set has two conversations" in (tmp_path / "out/composition.html").read_text()


@pytest.mark.slow
def test_a_composition_may_begin_with_a_part(tmp_path: Path, embedder: CachedEmbedder) -> None:
    file = tmp_path / "part.yaml"
    file.write_text("mechanisms: [lexical_bm25, convex_fusion]\n")
    result = composed(tmp_path / "out", embedder, replace(asked(), start=str(file)))
    assert all(one.loss <= one.margin + 1e-12 for one in result.constraints)
    assert result.singles == {}
    assert "Every search began with a part of 2 mechanisms" in (
        tmp_path / "out" / "composition.html"
    ).read_text(encoding="utf-8")
    with pytest.raises(InputError, match="is not in the set"):
        composed(tmp_path / "no", embedder, replace(asked(), start="minimal"))


# --- requests -------------------------------------------------------------------------------------
def test_a_request_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "request.yaml"
    file.write_text(
        "set: default\nmetrics: [recall@10]\nmargin: 0.006\ncost: event\nfolds: 3\nkeep: [recency]\n"
        "data:\n  - {dataset: demo}\n"
        "  - {dataset: demo, unit: session, limit: 2, metrics: hit@10, margin: 0.01, category: who}\n"
    )
    assert read(file, LOADERS, tuple(COSTS)) == CompositionRequest(
        "default",
        (
            DataNeed(DataRef("demo"), ("recall@10",), 0.006),
            DataNeed(DataRef("demo", "", "session", 2), ("hit@10",), 0.01, "who"),
        ),
        "event",
        3,
        ("recency",),
    )


def test_the_request_that_ships_is_of_default_and_can_be_laid_out() -> None:
    file = Path(module.__file__).parent / "default.yaml"
    request = read(file, LOADERS, tuple(COSTS))
    assert request.set == "default"
    assert [need.world for need in request.worlds] == ["needs", "flood"]
    tiny = [load("demo", limit=place) for place in range(1, len(request.needs) + 1)]
    _, constraints = laid_out(request, tiny)
    assert len(constraints) == 2 * len(request.needs) + sum(
        len(named(need.world)) for need in request.worlds
    )


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("set: default\n", "names no data", 1),
        ("data: [{dataset: demo}]\nmarginal: 1\n", "unknown key 'marginal'", 2),
        ("data: [{dataset: demo}]\nmetrics: [recall]\n", "no metric 'recall'", 2),
        ("data: [{dataset: demo}]\nmargin: 2\n", "margin: 2 is no share", 2),
        ("data: [{dataset: demo}]\nmargin: .nan\n", "margin: nan is no share", 2),
        ("data: [{dataset: demo}]\nfolds: many\n", "'many' folds", 2),
        ("data: [{dataset: demo}]\ncost: gold\n", "no cost 'gold'", 2),
        ("data:\n  - {dataset: dem}\n", "no data set 'dem'", 2),
        ("data:\n  - {dataset: demo, unit: page}\n", "unit 'page'", 2),
        ("data:\n  - {dataset: demo, limit: 0}\n", "limit 0", 2),
        ("data:\n  - {dataset: demo, metrics: []}\n", "names no metric", 2),
        ("data:\n  - {world: needs}\n", "worlds alone", 1),
        ("data:\n  - {dataset: demo}\n  - {world: needs, seeds: 0}\n", "0 seeds", 3),
        (
            "data:\n  - {dataset: demo}\n  - {world: needs, strengths: []}\n",
            "no list of strengths",
            3,
        ),
        ("data:\n  - {dataset: demo}\n  - {world: needs, strengths: [2]}\n", "2 is no share", 3),
        ("data:\n  - {dataset: demo}\n  - {world: needs, unit: turn}\n", "unknown key 'unit'", 3),
    ],
)
def test_an_odd_request_is_refused_with_its_line(
    text: str, what: str, line: int, tmp_path: Path
) -> None:
    file = tmp_path / "request.yaml"
    file.write_text(text)
    with pytest.raises(HebbariumError) as caught:
        read(file, LOADERS, tuple(COSTS))
    assert what in caught.value.what
    assert f"request.yaml:{line}" in caught.value.where
    assert caught.value.cure


# --- the command line -----------------------------------------------------------------------------
def call(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["compose", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_prints_a_table_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    common = ("--set", "hybrid", "--dataset", "demo", "--limit", "2", "--embedder", "hashing:32",
              "--margin", "0.05", "--out", str(tmp_path / "out"))  # fmt: skip
    said = call(*common, "--write", str(tmp_path / "mine.yaml"))
    assert "The smallest part of hybrid" in said
    assert "composition.html" in said
    printed = json.loads(call(*common, "--json"))
    assert printed["part"] == list(REGISTRY.set(str(tmp_path / "mine.yaml")).mechanisms)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "no data set is given"),
        (("--dataset", "dem"), "no data set 'dem'"),
        (("--dataset", "demo", "--metric", "recall"), "no metric 'recall'"),
        (("--dataset", "demo", "--margin", "1.5"), "the margin is 1.5"),
        (("--dataset", "demo", "--margin", "nan"), "the margin is nan"),
        (("--dataset", "demo", "--cost", "gold"), "no cost 'gold'"),
        (("--dataset", "demo", "--unit", "page"), "no unit 'page'"),
        (("--dataset", "demo", "--keep", "heat", "--set", "hybrid"), "'heat' is not in the set"),
        (("--dataset", "demo", "--write", "mine"), "no name of a mechanism set's file"),
    ],
)
def test_the_command_refuses_before_anything_runs(
    arguments: tuple[str, ...], what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    with pytest.raises(HebbariumError) as caught:
        CliRunner().invoke(
            app,
            ["compose", "--embedder", "hashing:32", "--out", str(tmp_path / "out"), *arguments],
            catch_exceptions=False,
        )
    assert what in caught.value.what
    assert caught.value.cure
    assert not (tmp_path / "out" / "ledger.sqlite").exists()


def test_every_metric_of_ranks_can_be_a_constraint() -> None:
    assert {"recall@1", "all@10", "hit@50", "mrr@10", "ndcg@5"} <= set(METRICS)
