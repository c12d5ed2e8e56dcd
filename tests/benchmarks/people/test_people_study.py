"""`hebbarium human`: rows of memories and baselines, cells from the ledger, refusals, and errors."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from scipy.optimize import minimize

from hebbarium.benchmarks.people import data
from hebbarium.benchmarks.people.data import (
    DELAYED,
    IMMEDIATE,
    by_person,
    half,
    shipped_trials,
    written,
)
from hebbarium.benchmarks.people.free_recall import added, curves, followed_by
from hebbarium.benchmarks.people.list_study import ListReport, counts_of, people_of
from hebbarium.benchmarks.people.printed_study import PrintedReport
from hebbarium.benchmarks.people.readout import Readout, log_likelihood
from hebbarium.benchmarks.people.reference import ReferenceCMR
from hebbarium.benchmarks.people.run import with_practice
from hebbarium.benchmarks.people.scores import distances, interval_of
from hebbarium.benchmarks.people.study import (
    PARADIGMS,
    RECENCY,
    REFERENCE,
    StudyReport,
    named,
    study,
)
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.engine.base.errors import DataError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.flow.observer import Stopwatch
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

REGISTRY = Registry.read()
MINE = MechanismSet(
    "mine", "", {"temporal_context": {}, "dense_similarity": {}, "convex_fusion": {}}
)
GATED = MechanismSet("gated", "", {"write_gate_true_memory": {}, "dense_similarity": {}})


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of two fitting and three reporting people, four lists of each."""
    file = tmp_path_factory.mktemp("people") / "few.tsv"
    people = by_person(shipped_trials())
    kept = {"fitting": 2, "reporting": 3}
    chosen = []
    for name, own in people.items():
        if kept[half(name)] > 0:
            kept[half(name)] -= 1
            chosen += [t for length in (12, 24) for t in own if t.length == length][:2]
            chosen += [t for t in own if t.length == 24][:2]
    file.write_text(written(chosen), encoding="utf-8")
    return file


def studied(out: Path, few: Path | None, *sets: MechanismSet, **more: Any) -> StudyReport:
    embedder = CachedEmbedder(HashingEmbedder(32), out.parent / "cache.sqlite")
    options: dict[str, Any] = {"data": few, "people": 3, "paradigms": ["free_recall"], **more}
    return study(options.pop("paradigms"), sets, REGISTRY, embedder, out, **options)


def of_lists(report: StudyReport) -> ListReport:
    part = report.paradigms["free_recall"]
    assert isinstance(part, ListReport)
    return part


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, few: Path) -> tuple[StudyReport, Path]:
    out = tmp_path_factory.mktemp("human") / "out"
    return studied(out, few, MINE, GATED, seeds=2), out


@pytest.mark.slow
def test_every_memory_has_a_row_with_its_readout_and_a_score(
    report: tuple[StudyReport, Path],
) -> None:
    rows = {row.name: row for row in of_lists(report[0]).rows}
    assert list(rows) == ["mine", "gated", "bm25", "naive_rag", RECENCY, REFERENCE]
    for name in ("mine", REFERENCE):
        row = rows[name]
        assert row.readout and row.score.mean > 0.0
        assert set(row.distances) == {"12", "24"} and row.likelihood["reporting"] < 0.0
    assert rows["mine"].likelihood["fitting"] > rows["bm25"].likelihood["fitting"]


@pytest.mark.slow
def test_a_set_whose_gates_refuse_words_is_said_and_not_scored(
    report: tuple[StudyReport, Path],
) -> None:
    gated = next(row for row in of_lists(report[0]).rows if row.name == "gated")
    assert "its gates refused" in gated.why and gated.readout is None
    assert not gated.distances and gated.score.n == 0
    text = (report[1] / "human.md").read_text(encoding="utf-8")
    assert "its gates refused" in text and "Pazdera" in text


@pytest.mark.slow
def test_files_hold_plain_data(report: tuple[StudyReport, Path]) -> None:
    written_report = json.loads((report[1] / "human.json").read_text(encoding="utf-8"))
    rows = written_report["paradigms"]["free_recall"]["rows"]
    assert [row["name"] for row in rows] == [row.name for row in of_lists(report[0]).rows]
    assert len(rows[0]["curves"]["24"]["position"]) == 24 and not written_report["evidence"]
    lines = (report[1] / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5 * 3 * 2  # the gated set recalled nothing


@pytest.mark.slow
def test_a_second_run_takes_all_cells_from_the_ledger_and_finds_the_same(
    report: tuple[StudyReport, Path], few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hebbarium.benchmarks.people import run

    def never(*_: Any) -> None:
        raise AssertionError("a finished cell is run again")

    before = (report[1] / "rows.jsonl").read_text(encoding="utf-8")
    monkeypatch.setattr(run, "run_cell", never)
    again = studied(report[1], few, MINE, GATED, seeds=2)
    assert (report[1] / "rows.jsonl").read_text(encoding="utf-8") == before
    assert of_lists(again).rows[0].score == of_lists(report[0]).rows[0].score


@pytest.mark.slow
def test_conditions_on_which_the_readout_is_fitted_do_not_judge(
    report: tuple[StudyReport, Path], tmp_path: Path, few: Path
) -> None:
    by_length = {
        length: of_lists(studied(tmp_path / length, few, MINE, seeds=2, fit_on=[length]))
        for length in ("12", "24")
    }
    whole = of_lists(report[0]).rows[0].readout
    for length, other in (("12", "24"), ("24", "12")):
        part = by_length[length]
        assert set(part.targets) == {other} and f"fitted on lists of {length}." in part.about
        for row in part.rows:
            assert row.why or (
                set(row.distances) == set(row.curves) == {other} and "length" not in row.effects
            )
        assert part.rows[0].readout != whole
    readouts = {length: part.rows[0].readout for length, part in by_length.items()}
    assert readouts["12"] != readouts["24"]
    # the choices of short lists are those of a table without the long ones, which a memory is led
    # through as well, so the fit is that of the lists of 12 words alone
    halves, _ = people_of(DELAYED, few, 3)
    embedder = CachedEmbedder(HashingEmbedder(32), tmp_path / "cache.sqlite")
    choices = [
        choice
        for own in with_practice(halves["fitting"]).values()
        for choice in followed_by(Hebbarium(REGISTRY.build(MINE), embedder, 0, Stopwatch()), own)[0]
        if len(own[[t.number for t in own].index(choice.trial)].words) == 12
    ]
    expected = minimize(
        lambda free: -log_likelihood(choices, Readout(math.exp(free[0]), free[1])),
        [0.0, 0.0],
        method="Nelder-Mead",
    )
    assert readouts["12"] is not None
    assert readouts["12"].temperature == pytest.approx(math.exp(expected.x[0]), rel=0.02)


@pytest.mark.parametrize(
    ("fit_on", "paradigm", "said"),
    [
        (["13"], "free_recall", "no lists of '13'"),
        (["12", "24"], "free_recall", "no condition is left"),
        (["12"], "fan", "one paradigm with lists"),
    ],
)
def test_conditions_to_fit_on_are_checked_before_anything_is_run(
    tmp_path: Path, fit_on: list[str], paradigm: str, said: str
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        studied(tmp_path / "out", None, MINE, paradigms=[paradigm], fit_on=fit_on)
    assert "--fit-on" in str(caught.value) and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_another_memory_stands_in_place_of_sets(tmp_path: Path, few: Path) -> None:
    name = f"{__name__}:Silent"
    rows = of_lists(studied(tmp_path / "out", few, system=name, people=2)).rows
    assert rows[0].name == name and "silent" in rows[0].why
    assert [row.name for row in rows[1:]] == ["bm25", "naive_rag", RECENCY, REFERENCE]


class Silent(ReferenceCMR):
    """A memory whose questions fail."""

    def retrieve(self, *_: Any, **__: Any) -> Any:
        raise ValueError("silent")


def test_bad_options_are_refused_before_anything_runs(tmp_path: Path, few: Path) -> None:
    for options, message in (
        ({"paradigms": ["fam"]}, "no paradigm 'fam'"),
        ({"paradigms": ["fan"]}, "is for one paradigm with lists"),
        ({"paradigms": ["all"]}, "is for one paradigm with lists"),
        ({"people": 4}, "4 people are asked for"),
        ({"system": REFERENCE}, "has no mechanisms"),
    ):
        with pytest.raises(InputError, match=message):
            studied(tmp_path / "out", few, MINE, **options)
    with pytest.raises(InputError, match="named twice"):
        studied(tmp_path / "out", few, MINE, MINE)
    assert not (tmp_path / "out" / "rows.jsonl").exists()


def test_a_table_that_lacks_a_length_or_a_half_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "t.tsv"
    file.write_text(written([t for t in shipped_trials() if t.length == 12]), encoding="utf-8")
    with pytest.raises(DataError, match="no list of 24 words"):
        people_of(DELAYED, file, 1)
    ours = [t for t in shipped_trials() if half(t.person) == "fitting"]
    file.write_text(written(ours), encoding="utf-8")
    with pytest.raises(DataError, match="reporting people have no list of 12 or 24"):
        people_of(DELAYED, file, 1)


def test_people_of_immediate_recall_are_near_themselves_and_have_no_curve_that_data_lack() -> None:
    """The reporting people who ship, by what they recalled: within a few ceilings of all."""
    halves, targets = people_of(IMMEDIATE, None, 64)
    assert list(targets) == ["10-2", "15-2", "20-1", "20-2", "30-1", "40-1"]
    everyone = [counts_of(IMMEDIATE, own) for own in halves["reporting"].values()]
    by_condition = {name: [person[name] for person in everyone] for name in targets}
    score, _ = interval_of(by_condition, targets)
    assert 0.1 < score.low < score.high < 3.0
    for name, people in by_condition.items():
        apart = distances(curves(added(people)), targets[name])
        assert apart["position"] > 0.0
        assert math.isnan(apart["intrusions"]) and math.isnan(apart["pauses"])


def test_all_paradigms_are_each_named_once_and_a_misspelt_one_has_a_cure() -> None:
    assert named(["fan", "all"]) == PARADIGMS and len(set(PARADIGMS)) == len(PARADIGMS) == 16
    assert named(["fan", "sleep", "fan"]) == ("fan", "sleep")
    with pytest.raises(InputError) as refused:
        named(["retentoin"])
    assert "retention" in refused.value.cure


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[StudyReport, Path]:
    out = tmp_path_factory.mktemp("printed") / "out"
    paradigms = ["fan", "part_list", "false_memory"]
    return studied(out, None, MINE, GATED, paradigms=paradigms, people=1, seeds=2), out


@pytest.mark.slow
def test_printed_paradigms_have_rows_effects_and_a_distance_where_numbers_suffice(
    printed: tuple[StudyReport, Path],
) -> None:
    scored = {"fan": True, "part_list": False, "false_memory": False}
    for name, part in printed[0].paradigms.items():
        assert isinstance(part, PrintedReport) and part.people == 2
        rows = {row.name: row for row in part.rows}
        assert list(rows) == ["mine", "gated", "bm25", "naive_rag", RECENCY]
        assert math.isfinite(rows["mine"].score.mean) == scored[name]
        assert set(rows["mine"].effects) == {effect.name for effect in part.paradigm.effects}
        if name != "false_memory":  # a gate may take twelve associates
            assert "its gates refused" in rows["gated"].why
    written_report = json.loads((printed[1] / "human.json").read_text(encoding="utf-8"))
    assert list(written_report["paradigms"]) == list(scored)
    assert written_report["paradigms"]["fan"]["people"]["fact 1-1"]["value"] == 1.11
    text = (printed[1] / "human.md").read_text(encoding="utf-8")
    assert "| paradigm | mine |" in text and "second-hand" in text and "not scored" in text


@pytest.mark.slow
def test_printed_paradigms_are_resumed_and_do_not_depend_on_jobs(
    printed: tuple[StudyReport, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hebbarium.benchmarks.people import printed_study

    options: dict[str, Any] = {"paradigms": ["fan", "part_list"], "people": 2}
    studied(tmp_path / "out", None, MINE, jobs=2, **options)
    lines = (tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    of_one = (printed[1] / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert set(lines) <= set(of_one) and len(lines) == 2 * 4 * 2

    def never(*_: Any) -> None:
        raise AssertionError("a finished cell is run again")

    monkeypatch.setattr(printed_study, "run_cell", never)
    studied(tmp_path / "out", None, MINE, **options)
    assert (tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8").splitlines() == lines


def test_cells_of_printed_paradigms_depend_on_the_words_of_probes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from hebbarium.benchmarks.people import printed_study

    files = list[Path]()
    monkeypatch.setattr(
        printed_study, "code_version", lambda folders, more: files.extend(more) or "code"
    )
    assert printed_study.code() == "code" and all(file.is_file() for file in files)
    assert {file.name for file in files} == {"stimuli.py", "life.py"}
    assert set(files) >= probes_read_by("paradigms/*.py")


def test_cells_of_lists_depend_on_the_standard_scores_of_probes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from hebbarium.benchmarks.people import run

    files = list[Path]()
    monkeypatch.setattr(run, "code_version", lambda folders, more: files.extend(more) or "code")
    assert run.code() == "code" and set(files) == probes_read_by("free_recall.py")


def probes_read_by(pattern: str) -> set[Path]:
    """The files of probes that files of `benchmarks.people` import from."""
    people = Path(data.__file__).parent
    texts = [file.read_text(encoding="utf-8") for file in people.glob(pattern)]
    modules = {name for text in texts for name in re.findall(r"from \.+(probes\.\S+) import", text)}
    return {people.parent / f"{name.replace('.', '/')}.py" for name in modules}
