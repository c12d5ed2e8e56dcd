"""Lives that arms share: rows and receipts equal those of separate lives, and kept lives are
asked again or refused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from tiers import slow_unless

from hebbarium.benchmarks.datasets import Conversation, Dataset, Question
from hebbarium.benchmarks.designs import FULL, Arm
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.cells import Cell, Outcome, run_cell, run_life, run_parts
from hebbarium.benchmarks.execution.failures import Options
from hebbarium.benchmarks.execution.lives import grouped
from hebbarium.benchmarks.execution.plan import planned, specs_of
from hebbarium.benchmarks.execution.spec import DEFAULTS, Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.benchmarks.systems.by_name import OURS, maker
from hebbarium.benchmarks.systems.hebbarium import SharedLife
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.flow.lives import decides
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.testing.conformance import Bench, talk

REGISTRY = Registry.read()
EMBEDDER = CachedEmbedder(HashingEmbedder(32), None)
EVENTS = talk(24)
TALK = Conversation(
    "talk",
    tuple(EVENTS),
    tuple(
        Question(f"q{i}", text, EVENTS[-1].time + 30.0 * i, "kind", (f"e{3 * i}",))
        for i, text in enumerate(
            (
                "Who painted Oslo with Bo?",
                "What did Ada do in Lisbon on day 12?",
                "",
                "When did Cleo forget the old mill?",
            )
        )
    ),
)
DATA = Dataset("small", "0", (TALK,), {})


def company(id: str) -> MechanismSet:
    """The mechanism with the set `minimal`."""
    stand_ins = getattr(REGISTRY.entry(id).load(), "stand_ins", {})
    return MechanismSet(
        "company",
        "",
        {i: dict(stand_ins) if i == id else {} for i in Bench(REGISTRY, id, Path()).company},
    )


def cells_of(arms: list[Arm], settings: Settings = DEFAULTS) -> list[Cell]:
    plan = planned(arms, REGISTRY, settings)
    lives = {one.arm: one.life for one in plan.arms}
    return [Cell(spec, TALK, life=lives[spec.arm]) for spec in specs_of(plan, DATA, EMBEDDER)]


def alone(cell: Cell) -> Outcome:
    return run_cell(cell, maker(OURS, cell.spec.mechanisms, REGISTRY), EMBEDDER)


def together(cells: list[Cell]) -> list[Outcome]:
    first = cells[0].spec
    return run_life(
        cells,
        lambda embedder: closing(SharedLife(REGISTRY, first.mechanisms, embedder, first.seed)),
        EMBEDDER,
    )


@pytest.mark.parametrize("id", slow_unless(REGISTRY.set("minimal").mechanisms, REGISTRY.entries))
def test_arms_of_one_life_get_the_rows_and_receipts_of_separate_lives(id: str) -> None:
    chosen, entry = company(id), REGISTRY.entry(id)
    arms = [Arm(FULL, chosen), Arm("without", chosen.without([id]), id)]
    if "weight" in entry.params:
        arms.append(Arm("lighter", chosen.overridden({id: {"weight": 0.37}})))
    cells = cells_of(arms)
    groups = grouped(cells)
    together_with_full = {cells[place].spec.arm for place in groups[0]}
    assert together_with_full == {arm.id for arm in arms} - (
        {"without"} if decides(REGISTRY.instance(id, chosen.mechanisms[id])) else set()
    )
    for places in groups:
        mine = [cells[place] for place in places]
        for cell, shared in zip(mine, together(mine), strict=True):
            separate = alone(cell)
            assert shared.rows == separate.rows
            assert shared.receipts == separate.receipts
            assert shared.capabilities == separate.capabilities
            assert {phase: len(ms) for phase, ms in shared.timing.items()} == {
                phase: len(ms) for phase, ms in separate.timing.items()
            }


@pytest.mark.slow
def test_any_set_of_retrieval_mechanisms_asks_the_same_memory() -> None:
    """Arms that add mechanisms which the life's own arm lacks: their columns are held at
    neutral.
    """
    full = REGISTRY.set("minimal")
    chosen = replace(
        full,
        mechanisms={
            **full.mechanisms,
            "query_expansion": {},
            "hopfield_completion": {},
            "personalized_pagerank": {},
        },
    )
    arms = [
        Arm("bare", full.without(["trigram_match", "query_intent"])),
        Arm(FULL, chosen),
        Arm("swapped", chosen.swapped("convex_fusion", "weighted_rrf")),
        Arm("one", chosen.without(["trigram_match", "hopfield_completion"])),
    ]
    cells = cells_of(arms)
    assert grouped(cells) == [[0, 1, 2, 3]]
    assert [found.rows for found in together(cells)] == [alone(cell).rows for cell in cells]


@pytest.mark.slow
def test_parts_of_a_set_get_the_rows_of_separate_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again of the life of the whole; where what is missing left a trace (the separated
    codes, a rejected repeat), of a life without it.
    """
    chosen = REGISTRY.set("default")
    repeated = tuple(
        replace(event, text=EVENTS[0].text) if place in (5, 9) else event
        for place, event in enumerate(EVENTS)
    )
    data = Dataset("small", "0", (replace(TALK, events=repeated),), {})
    off = ((), ("lexical_bm25",), ("curation",), ("curation", "adjacency_pairs"), ("temporal_context",),
           ("pattern_separation", "curation"), ("hopfield_completion", "dense_similarity"),
           ("curation", "trigram_match"))  # fmt: skip
    arms = [Arm(FULL if not ids else f"without {ids}", chosen.without(list(ids))) for ids in off]
    plan = planned(arms, REGISTRY, DEFAULTS)
    specs = specs_of(plan, data, EMBEDDER)
    cells = [
        Cell(spec, data.conversations[0], False, arm.life, plan.arms[0].mechanisms)
        for spec, arm in zip(specs, plan.arms, strict=True)
    ]
    assert grouped(cells) == [list(range(len(cells)))]
    lives = list[int]()

    def counted(some: Sequence[Cell], *more: Any) -> Any:
        made, others = run_parts(some, *more)
        lives.append(len(made))
        return made, others

    monkeypatch.setattr(local, "run_parts", counted)
    work = local.CellWork(REGISTRY, EMBEDDER, None, Options(), raising=True)
    outcomes = local._outcomes(cells, work)
    for cell, outcome in zip(cells, outcomes, strict=True):
        alone = run_cell(cell, maker(OURS, cell.spec.mechanisms, REGISTRY), EMBEDDER)
        assert json.dumps(outcome.rows) == json.dumps(alone.rows), cell.spec.arm
        assert [line["question"] for line in outcome.times] == [
            line["question"] for line in alone.times
        ]
    assert len(lives) > 1
    assert lives[0] >= 4
    assert sum(lives) >= len(cells) - 1


def test_equal_arms_are_asked_once_and_get_equal_rows() -> None:
    full = REGISTRY.set("hybrid")
    arms = [
        Arm(FULL, full),
        *(
            Arm(name, full.overridden({"lexical_bm25": {"weight": w}}))
            for name, w in (("again", 1.0), ("half", 0.5))
        ),
    ]
    cells = cells_of(arms)
    assert cells[0].spec.mechanisms == cells[1].spec.mechanisms
    first, again, half = together([cells[0], replace(cells[1], probed=False), cells[2]])
    assert again.rows == alone(cells[1]).rows and {row["arm"] for row in again.rows} == {
        "again"
    } == {line["arm"] for line in again.times}
    assert first.rows == alone(cells[0]).rows and half.rows == alone(cells[2]).rows


def test_what_a_query_may_change_is_shared_by_none_that_learns() -> None:
    full = REGISTRY.set("minimal")
    learning = cells_of(
        [Arm(FULL, full), Arm("without", full.without(["trigram_match"]))], Settings(rehearse=24.0)
    )
    assert [cell.life for cell in learning] == [None, None] and grouped(learning) == [[0], [1]]


def test_declarations_decide() -> None:
    for id in REGISTRY.entries:
        m = REGISTRY.instance(id, getattr(REGISTRY.entry(id).load(), "stand_ins", {}))
        if any(hook.phase is not Phase.RETRIEVE for hook in type(m).hooks()):
            assert decides(m, limited=True), id
    assert not decides(REGISTRY.instance("heat")), (
        "its one hook outside retrieval only votes on WORTH"
    )
    assert not decides(REGISTRY.instance("lexical_bm25")) and decides(
        REGISTRY.instance("hebbian_association")
    )


def test_fewer_lives_than_workers_are_lived_more_than_once() -> None:
    cells = cells_of(
        [
            Arm(FULL, REGISTRY.set("hybrid")),
            *(
                Arm(f"w{w}", REGISTRY.set("hybrid").overridden({"lexical_bm25": {"weight": w}}))
                for w in (0.2, 0.4, 0.6)
            ),
        ]
    )
    assert grouped(cells) == [[0, 1, 2, 3]] and grouped(cells, 2) == [[0, 1], [2, 3]]
    assert sorted(chain.from_iterable(grouped(cells, 4))) == [0, 1, 2, 3]


def test_many_cells_of_one_life_are_cut() -> None:
    """So that a design of 1,024 coalitions shows and keeps what is done."""
    (cell,) = cells_of([Arm(FULL, REGISTRY.set("hybrid"))])
    for count, sizes in ((64, [64]), (65, [33, 32]), (130, [44, 44, 42]), (1024, [64] * 16)):
        groups = grouped([cell] * count)
        assert [len(group) for group in groups] == sizes and list(
            chain.from_iterable(groups)
        ) == list(range(count))


def test_lives_of_one_conversation_follow_each_other() -> None:
    """A process remembers what it has read in the latest texts, so arms are not run one after
    another over all conversations.
    """
    full = REGISTRY.set("minimal")
    cells = [
        replace(cell, spec=replace(cell.spec, conversation=name))
        for cell, name in zip(
            cells_of(
                [
                    Arm(f"k{i}", full.overridden({"temporal_context": {"time_scale": 1.0 + i}}))
                    for i in range(6)
                ]
            ),
            "abacbc",
            strict=True,
        )
    ]
    groups = grouped(cells)
    assert [cells[places[0]].spec.conversation for places in groups] == sorted(
        cells[places[0]].spec.conversation for places in groups
    )
    assert sorted(chain.from_iterable(groups)) == list(range(6)) and len(groups) == 6


def test_an_ablation_lives_once_for_arms_of_one_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived, real = [], local.run_life
    monkeypatch.setattr(
        local,
        "run_life",
        lambda cells, *rest, **more: (lived.append(len(cells)), real(cells, *rest, **more))[1],
    )
    ablate(REGISTRY.set("hybrid"), REGISTRY, DATA, EMBEDDER, tmp_path / "shared")
    assert lived == [1 + 3]
    monkeypatch.setattr(
        local, "grouped", lambda cells, jobs=1: [[place] for place in range(len(cells))]
    )
    ablate(REGISTRY.set("hybrid"), REGISTRY, DATA, EMBEDDER, tmp_path / "alone")
    assert (tmp_path / "shared" / "rows.jsonl").read_text() == (
        tmp_path / "alone" / "rows.jsonl"
    ).read_text()


# --- kept lives -----------------------------------------------------------------------------------
def kept(folder: Path, chosen: MechanismSet, out: Path) -> Any:
    return run(chosen, REGISTRY, DATA, EMBEDDER, out, options=Options(keep_lives=folder))


def test_a_kept_life_is_asked_by_other_retrieval_mechanisms(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minimal = REGISTRY.set("minimal")
    other = replace(
        minimal.without(["trigram_match"]),
        mechanisms={**minimal.without(["trigram_match"]).mechanisms, "query_expansion": {}},
    )
    kept(tmp_path / "lives", minimal, tmp_path / "first")
    run(other, REGISTRY, DATA, EMBEDDER, tmp_path / "lived")
    monkeypatch.setattr(SharedLife, "encode", None)  # encoding would fail now
    for chosen, out, before in ((other, "asked", "lived"), (minimal, "again", "first")):
        run(
            chosen,
            REGISTRY,
            DATA,
            EMBEDDER,
            tmp_path / out,
            options=Options(lives_from=tmp_path / "lives"),
        )
        assert (tmp_path / out / "rows.jsonl").read_text() == (
            tmp_path / before / "rows.jsonl"
        ).read_text()


@pytest.mark.parametrize(
    ("chosen", "settings", "words"),
    [
        (REGISTRY.set("minimal").without(["recency"]), Settings(), "mechanisms.recency"),
        (
            REGISTRY.set("minimal").overridden({"recency": {"half_life": 3.0}}),
            Settings(),
            "mechanisms.recency.half_life is .* there and 3.0 here",
        ),
        (REGISTRY.set("minimal"), Settings(seed=4), "seed is 0 there and 4 here"),
    ],
)
def test_another_life_is_refused_by_its_difference(
    tmp_path: Path, chosen: MechanismSet, settings: Settings, words: str
) -> None:
    kept(tmp_path / "lives", REGISTRY.set("minimal"), tmp_path / "first")
    with pytest.raises(InputError, match=words):
        run(
            chosen,
            REGISTRY,
            DATA,
            EMBEDDER,
            tmp_path / "asked",
            settings=settings,
            options=Options(lives_from=tmp_path / "lives"),
        )
    assert not (tmp_path / "asked" / "ledger.sqlite").exists()


def test_a_folder_without_lives_and_a_damaged_life_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no lives"):
        run(
            REGISTRY.set("minimal"),
            REGISTRY,
            DATA,
            EMBEDDER,
            tmp_path / "a",
            options=Options(lives_from=tmp_path),
        )
    kept(tmp_path / "lives", REGISTRY.set("minimal"), tmp_path / "first")
    with pytest.raises(InputError, match="queries change this memory"):
        run(
            REGISTRY.set("minimal"),
            REGISTRY,
            DATA,
            EMBEDDER,
            tmp_path / "b",
            settings=Settings(rehearse=2.0),
            options=Options(lives_from=tmp_path / "lives"),
        )
    file = next((tmp_path / "lives").glob("*.json"))
    assert json.loads(file.read_text())["conversation"] == "talk"


# --- cells that fail ------------------------------------------------------------------------------
def test_a_cell_that_fails_fails_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, tried = local.run_cell, []

    def broken(cell: Cell, *rest: Any) -> Outcome:
        tried.append(cell.spec.arm)
        if cell.spec.arm == "without lexical_bm25":
            raise ZeroDivisionError("on purpose")
        return real(cell, *rest)

    monkeypatch.setattr(local, "run_cell", broken)
    monkeypatch.setattr(
        local, "grouped", lambda cells, jobs=1: [[place] for place in range(len(cells))]
    )
    with pytest.raises(
        local.CellsFailed,
        match=r"1 of 4 cells failed, the first of arm 'without lexical_bm25'.*on purpose",
    ) as caught:
        ablate(
            REGISTRY.set("hybrid"),
            REGISTRY,
            DATA,
            EMBEDDER,
            tmp_path,
            options=Options(retries=2, fail_fast=False),
        )
    assert tried.count("without lexical_bm25") == 3 and len(set(tried)) == 4
    (line,) = (tmp_path / "failed.jsonl").read_text().splitlines()
    failed = json.loads(line)
    assert failed | {"log": ""} == {
        "arm": "without lexical_bm25",
        "conversation": "talk",
        "error": "ZeroDivisionError: on purpose",
        "attempts": 3,
        "log": "",
    }
    assert (
        "ZeroDivisionError" in (tmp_path / failed["log"]).read_text()
        and failed["log"] in caught.value.where
    )
    assert not (tmp_path / "rows.jsonl").exists() and not (tmp_path / "design.html").exists()
    monkeypatch.setattr(local, "run_cell", real)
    ablate(
        REGISTRY.set("hybrid"), REGISTRY, DATA, EMBEDDER, tmp_path, options=Options(fail_fast=False)
    )
    assert (
        len(tried) == 6
        and not (tmp_path / "failed.jsonl").exists()
        and (tmp_path / "rows.jsonl").exists()
    )


@pytest.mark.slow
def test_an_arm_that_fails_in_a_shared_life_is_run_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = SharedLife.asking

    def broken(self: SharedLife, mechanisms: Any, receipts: bool = True) -> Any:
        if "dense_similarity" not in mechanisms:
            raise ZeroDivisionError("on purpose")
        return real(self, mechanisms, receipts)

    monkeypatch.setattr(SharedLife, "asking", broken)
    ablate(
        REGISTRY.set("hybrid"),
        REGISTRY,
        DATA,
        EMBEDDER,
        tmp_path / "apart",
        options=Options(retries=0, fail_fast=False),
    )
    monkeypatch.setattr(SharedLife, "asking", real)
    ablate(REGISTRY.set("hybrid"), REGISTRY, DATA, EMBEDDER, tmp_path / "shared")
    assert (tmp_path / "apart" / "rows.jsonl").read_text() == (
        tmp_path / "shared" / "rows.jsonl"
    ).read_text()
    with pytest.raises(ZeroDivisionError):
        monkeypatch.setattr(SharedLife, "asking", broken)
        ablate(
            REGISTRY.set("hybrid"),
            REGISTRY,
            DATA,
            EMBEDDER,
            tmp_path / "first",
            options=Options(fail_fast=True, retries=0),
        )
