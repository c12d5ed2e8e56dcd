"""`hebbarium world`: scores and verdicts from findings written by hand, cells through the
ledger, other systems, errors, and the pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.probes.harness.bands import estimate
from hebbarium.benchmarks.systems.bm25_dense import BM25Dense
from hebbarium.benchmarks.worlds import run as running
from hebbarium.benchmarks.worlds.base import Stream, World, WorldQuestion, expected, places
from hebbarium.benchmarks.worlds.collection import WORLDS, named
from hebbarium.benchmarks.worlds.figure import WIDE, figure
from hebbarium.benchmarks.worlds.report import WorldReport, to_html, to_json, to_markdown
from hebbarium.benchmarks.worlds.result import WorldVerdict, result_of, rows_of, verdict
from hebbarium.benchmarks.worlds.study import study
from hebbarium.engine.base.errors import InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.ports.embedder import Embedder, HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

FILES = ("world.json", "world.md", "world.html", "rows.jsonl")
BASELINE = "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"


def small(strength: float, seed: int) -> Stream:
    """Three facts of one cue; the first is needed with the probability 1/3 + 2 s / 3."""
    rng = np.random.default_rng(seed)
    need = np.array([1 + 2 * strength, 1 - strength, 1 - strength]) / 3
    ids = tuple((f"e{i}",) for i in range(3))
    events = [
        Event(float(i), f"Ada painted the {thing}.", "", "", f"e{i}", dated=False)
        for i, thing in enumerate(("fence", "door", "boat"))
    ]
    asks = [
        WorldQuestion(f"q{i}", 4.0 + i, "What did Ada paint?", ids, int(rng.choice(3, p=need)))
        for i in range(12)
    ]
    return Stream((*events, *asks), lambda: [need] * 12)


SMALL = World("small", "one thing is needed more", "how much more", "", 1, small)


@pytest.fixture
def tiny_worlds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "WORLDS", {"small": SMALL})


def embedder(folder: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(32), folder / "cache.sqlite")


def studied(registry: Registry, out: Path, *sets: str, **more: Any) -> WorldReport:
    return study(
        [SMALL],
        [registry.set(name) for name in sets],
        registry,
        embedder(out.parent),
        out,
        **{"seeds": 3, "strengths": (0.0, 1.0), **more},
    )


def test_the_expected_score_is_the_mean_of_the_realised_ones() -> None:
    rng, need = np.random.default_rng(0), np.array([0.5, 0.3, 0.2])
    ranks = places([1.0, 3.0, 1.0])
    drawn = [expected(ranks, np.eye(3)[i], 2) for i in rng.choice(3, 40_000, p=need)]
    assert np.mean(drawn, axis=0).tolist() == pytest.approx(
        list(expected(ranks, need, 2)), abs=0.01
    )


def test_the_ideal_order_has_efficiency_1_and_the_floor_0() -> None:
    def cells(seed: int) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        need = [[0.7, 0.2, 0.1], [0.1, 0.6, 0.3]]
        shared = {"world": "small", "strength": 1.0, "seed": seed, "set_digest": "x"}
        observers = {"ideal": [places(p) for p in need], "chance": [places([0.0] * 3)] * 2}
        return [
            (
                {**shared, "arm": "observers"},
                {"need": need, "needed": [0, 2], "observers": observers},
            ),
            (
                {**shared, "arm": "floor"},
                {"ranks": [[3, 2, 1], [3, 2, 1]], "stored": 1.0, "visible": 1.0},
            ),
            (
                {**shared, "arm": "best"},
                {"ranks": [[1, 2, 3], [3, 1, 2]], "stored": 1.0, "visible": 1.0},
            ),
            (
                {**shared, "arm": "half"},
                {"ranks": [[1, 2, 3], [3, 2, 1]], "stored": 0.5, "visible": 0.5},
            ),
            ({**shared, "arm": "none"}, {"missing": "feedback"}),
        ]

    rows = rows_of(SMALL, [cell for seed in range(3) for cell in cells(seed)])
    found = result_of(SMALL, rows, [(arm, arm, "") for arm in ("best", "half", "none")], [1.0], 3)
    effect = {curve.arm: curve.points[0].efficiency.mean for curve in found.curves if curve.points}
    # floor: .1 and .3; ideal: .7 and .6; half: .7 and .3
    assert (
        effect["ideal"] == effect["best"] == 1.0
        and effect["floor"] == 0.0
        and effect["half"] == pytest.approx(0.3 / 0.45)
    )
    none = found.curve("none")
    assert none and none.why == "not applicable: the system lacks feedback"
    best = next(row for row in rows if row["arm"] == "best")
    assert (
        best["hit"] == pytest.approx(0.65)
        and best["realised_hit"] == 0.5
        and best["questions"] == 2
    )


@pytest.mark.parametrize(("differences", "expected_verdict"), [
    ({0.0: [0.0] * 3, 1.0: [0.2, 0.3, 0.25]}, WorldVerdict.EARNS), ({0.0: [-0.1, -0.11, -0.1], 1.0: [0.2,
    0.3, 0.25]}, WorldVerdict.COSTS),
    ({0.0: [0.0] * 3, 1.0: [-0.2, -0.3, -0.25]}, WorldVerdict.HARMFUL), ({0.0: [0.0] * 3, 1.0: [0.001,
    -0.001, 0.0]}, WorldVerdict.NO_EFFECT),
    ({0.0: [0.0] * 3, 1.0: [0.2, -0.3, 0.1]}, WorldVerdict.UNDECIDED), ({0.0: [0.0], 1.0: [0.2]},
    WorldVerdict.NO_VERDICT),
    ({1.0: [0.2, 0.3, 0.25]}, WorldVerdict.NO_VERDICT)], ids=lambda x: getattr(x, "value", ""))  # fmt: skip
def test_each_verdict(
    differences: dict[float, list[float]], expected_verdict: WorldVerdict
) -> None:
    assert (
        verdict({s: estimate(values) for s, values in differences.items()}, 0.01)
        is expected_verdict
    )


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_worlds")
def test_files_hold_every_arm_and_every_trial(tmp_path: Path, registry: Registry) -> None:
    chosen = registry.set("waking")
    report = study(
        [SMALL],
        [chosen],
        registry,
        embedder(tmp_path),
        tmp_path / "out",
        on_trial=["recency"],
        seeds=3,
        strengths=(0.0, 1.0),
    )
    data = json.loads((tmp_path / "out" / "world.json").read_text())
    assert data == json.loads(json.dumps(to_json(report))) and all(
        (tmp_path / "out" / name).is_file() for name in FILES
    )
    assert [t["mechanism"] for t in data["worlds"][0]["trials"]] == ["recency"]
    rows = [json.loads(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    assert {row["arm"] for row in rows} == {"ideal", "counting", "last use", "chance", "floor",
                                            chosen.name, f"{chosen.name} without recency"}  # fmt: skip
    assert all(row["stored"] == 1.0 for row in rows if row["arm"] == "floor")


@pytest.mark.slow
def test_rows_are_equal_for_any_number_of_jobs_and_a_second_run_runs_nothing(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = [WORLDS["flood/repeats"]]
    for jobs in (1, 2):
        study(
            worlds,
            [],
            registry,
            embedder(tmp_path),
            tmp_path / str(jobs),
            system=BASELINE,
            seeds=1,
            strengths=(1.0,),
            jobs=jobs,
        )
    assert (tmp_path / "1" / "rows.jsonl").read_bytes() == (
        tmp_path / "2" / "rows.jsonl"
    ).read_bytes()
    monkeypatch.setattr(
        running, "run_cell", lambda *_: pytest.fail("a finished cell was run again")
    )
    before = (tmp_path / "1" / "rows.jsonl").read_bytes()
    study(
        worlds,
        [],
        registry,
        embedder(tmp_path),
        tmp_path / "1",
        system=BASELINE,
        seeds=1,
        strengths=(1.0,),
    )
    assert (tmp_path / "1" / "rows.jsonl").read_bytes() == before


class Fed(BM25Dense):
    """Answers what was used most, else by words."""

    def __init__(self, embedder: Embedder, seed: int) -> None:
        super().__init__(embedder, seed)
        self.uses = dict[str, int]()

    def retrieve(self, query: Any, k: int, learn: bool = False) -> Any:
        found = super().retrieve(query, len(self._events), learn)
        return type(found)(tuple(sorted(found.events, key=lambda e: -self.uses.get(e.id, 0)))[:k])

    def use(self, found: Any, ids: Sequence[str]) -> None:
        for id in ids:
            self.uses[id] = self.uses.get(id, 0) + 1


@pytest.mark.usefixtures("tiny_worlds")
def test_another_system_is_measured_if_it_takes_feedback(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = studied(registry, tmp_path / "a", system=BASELINE).results[0].curve(BASELINE)
    assert without and "lacks feedback" in without.why
    monkeypatch.setattr(running, "make", lambda name, embedder, seed: Fed(embedder, seed))
    fed = studied(registry, tmp_path / "b", system=BASELINE).results[0].curve(BASELINE)
    assert fed and fed.points[1].efficiency.mean > 0.8


@pytest.mark.usefixtures("tiny_worlds")
def test_what_fails_is_said(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A memory that fails, and a floor that does not."""

    class Failing(Fed):
        def use(self, found: Any, ids: Sequence[str]) -> None:
            raise ValueError("<b>no</b> | room")

    monkeypatch.setattr(running, "make", lambda name, embedder, seed: Failing(embedder, seed))
    report = studied(registry, tmp_path / "out", system=BASELINE)
    curve = report.results[0].curve(BASELINE)
    assert curve and curve.why == "seed 0: ValueError: <b>no</b> | room" and not curve.points
    assert (
        "<b>no" not in (tmp_path / "out" / "world.html").read_text()
        and "&lt;b&gt;no" in (tmp_path / "out" / "world.md").read_text()
    )


@pytest.mark.parametrize(("arguments", "words"), [
    (["nedes"], "there is no world 'nedes'"), (["needs", "--set", "hybird"], "hybird"), (["needs",
    "--strengths", "2"], "names no strengths"),
    (["needs", "--strengths", "x"], "names no strengths"), (["needs", "--on-trial", "heat", "--set",
    "hybrid"], "no set of these has 'heat'"),
    (["needs", "--set", "hybrid", "--set", "hybrid"], "named twice"), (["needs", "--system",
    "no:where"], "no:where"),
    (["needs", "--system", BASELINE, "--set", "hybrid"], "has no mechanisms")], ids=" ".join)  # fmt: skip
def test_bad_input_is_an_error_with_a_cure(
    hebbarium: Callable[..., tuple[int, str, str]], tmp_path: Path, arguments: list[str], words: str
) -> None:
    code, _, err = hebbarium(
        "world", *arguments, "--embedder", "hashing:32", "--out", tmp_path / "out"
    )
    assert (
        code == 2
        and words in err
        and "What to do" in err
        and not (tmp_path / "out" / "world.json").exists()
    )


def test_the_command_writes_prints_and_refuses_a_folder_of_other_worlds(
    hebbarium: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    shared = ("world", "flood/repeats", "--seeds", "1", "--strengths", "1", "--embedder",
              "hashing:32", "--out", tmp_path / "out")  # fmt: skip
    common = (*shared, "--system", BASELINE)
    code, out, _ = hebbarium(*common)
    assert code == 0 and "lacks feedback" in out and "tests: no evidence" in out
    code, out, _ = hebbarium(*common, "--json")
    assert code == 0 and json.loads(out)["worlds"][0]["name"] == "flood/repeats"
    code, _, err = hebbarium(*shared, "--set", "bm25")
    assert code == 2 and "holds other worlds" in err and "--replace" in err


def test_names_of_worlds() -> None:
    assert [world.name for world in named("flood")] == [
        "flood/repeats",
        "flood/paraphrases",
        "flood/capacity",
    ] and named("needs")[0].capacity is None
    with pytest.raises(InputError, match="there is no world"):
        named("need")


@pytest.mark.usefixtures("tiny_worlds")
def test_the_points_of_a_single_strength_stand_beside_the_names(
    tmp_path: Path, registry: Registry
) -> None:
    """A line leads from the last point of each curve to its name; without a curve it must not
    cross the plot.
    """
    report = studied(registry, tmp_path / "out", "bm25", seeds=1, strengths=(0.5,))
    drawn = figure(report.results[0], WIDE)
    assert drawn["curves"] and all(c["name"][0] - c["points"][-1][0] < 40 for c in drawn["curves"])
    assert {x for x, _ in drawn["strengths"]} == {c["points"][0][0] for c in drawn["curves"]}


@pytest.mark.usefixtures("tiny_worlds")
def test_data_is_shown_as_text_on_the_page(tmp_path: Path, registry: Registry) -> None:
    report = studied(registry, tmp_path / "out", system=BASELINE)
    report = WorldReport(("<script>alert(1)</script>",), report.results, True, report.provenance)
    page = to_html(report, tmp_path / "page.html").read_text()
    assert (
        "<script>alert" not in page
        and "&lt;script&gt;" in page
        and "http" not in page.split("<body>")[1].replace("https://doi", "")
    )
    assert "&lt;script&gt;" in to_markdown(report)


def test_without_room_there_is_no_efficiency_but_a_difference_from_the_floor() -> None:
    """The ideal observer is .05 above the floor in one life and .04 in the other: the first
    alone has an efficiency.
    """

    def cells(room: float) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        need, shared = (
            [[0.5 + room, 0.5 - room]],
            {"world": "small", "strength": 1.0, "seed": 0, "set_digest": "x"},
        )
        best, middle = [[[1], [2]]], [[[1, 2], [1, 2]]]
        return [
            (
                {**shared, "arm": "observers"},
                {"need": need, "needed": [0], "observers": {"ideal": best, "chance": middle}},
            ),
            ({**shared, "arm": "floor"}, {"ranks": [[2, 1]], "stored": 1.0, "visible": 1.0}),
            ({**shared, "arm": "best"}, {"ranks": [[1, 2]], "stored": 1.0, "visible": 1.0}),
        ]

    points = {}
    for room in (0.025, 0.02):
        found = result_of(SMALL, rows_of(SMALL, cells(room)), [("best", "best", "")], [1.0], 1)
        curve = found.curve("best")
        assert (
            curve
            and curve.points[0].above.mean == pytest.approx(2 * room)
            and found.room[1.0].mean == pytest.approx(2 * room)
        )
        points[room] = curve.points[0].efficiency.mean
    assert points[0.025] == pytest.approx(1.0) and np.isnan(points[0.02])


@pytest.mark.parametrize("name", WORLDS)
def test_a_seed_permutes_which_text_has_which_part(name: str) -> None:
    """No part keeps its text over six seeds, so a text that an embedder prefers is needed no
    more than another; and questions vary in wording.
    """
    lives = [WORLDS[name].make(1.0, seed) for seed in range(6)]
    texts: dict[str, set[str]] = {}
    for life in lives:
        for event in life.events:
            texts.setdefault(event.id, set()).add(event.text)
    in_every = [
        id for id in texts if all(any(event.id == id for event in life.events) for life in lives)
    ]
    assert len(in_every) > 80 and all(len(texts[id]) > 1 for id in in_every)
    assert all(len({ask.text.split(maxsplit=1)[0] for ask in life.asks}) == 3 for life in lives)
