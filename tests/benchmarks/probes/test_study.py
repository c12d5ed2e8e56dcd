"""`hebbarium probe`: rows through the ledger, equal for any number of jobs; errors, other
systems, and what the command says.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.probes import abstention
from hebbarium.benchmarks.probes.harness import run as running
from hebbarium.benchmarks.probes.harness.bands import ProbeVerdict
from hebbarium.benchmarks.probes.harness.base import Numbers, Probe, Within
from hebbarium.benchmarks.probes.harness.collection import chosen, own
from hebbarium.benchmarks.probes.harness.life import Life, Need
from hebbarium.benchmarks.probes.harness.report import Report, record, to_html, to_markdown
from hebbarium.benchmarks.probes.harness.study import study
from hebbarium.benchmarks.systems.bm25_dense import BM25Dense
from hebbarium.cli import main
from hebbarium.engine.base.errors import InputError, RegistryError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.records import Event
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

BASELINE = "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"
QUICK = ("sequence_prediction", "paired_associates/words")
FILES = ("probes.json", "probes.md", "probes.html", "rows.jsonl")


class Failing(BM25Dense):
    """A memory that fails when it has taken in some events."""

    def encode(self, events: Sequence[Event]) -> None:
        super().encode(events)
        raise RuntimeError("<b>no room</b> | left")


def embedder(folder: Path) -> CachedEmbedder:
    return CachedEmbedder(HashingEmbedder(32), folder / "cache.sqlite")


def studied(
    registry: Registry, out: Path, *ids: str, jobs: int = 1, seeds: int = 2, **more: Any
) -> Report:
    mine = {"chosen": None} if "system" in more else {"chosen": registry.set("hybrid")}
    return study(
        chosen(ids or QUICK, own()),
        registry=registry,
        embedder=embedder(out.parent),
        out=out,
        jobs=jobs,
        seeds=seeds,
        **mine,
        **more,
    )


def test_rows_are_equal_for_any_number_of_jobs(tmp_path: Path, registry: Registry) -> None:
    one, two = studied(registry, tmp_path / "1"), studied(registry, tmp_path / "2", jobs=2)
    assert (tmp_path / "1" / "rows.jsonl").read_bytes() == (
        tmp_path / "2" / "rows.jsonl"
    ).read_bytes()
    assert all((tmp_path / "1" / name).is_file() for name in FILES)
    # two seeds
    assert (
        [o.verdict for o in one.outcomes]
        == [o.verdict for o in two.outcomes]
        == [ProbeVerdict.NO_VERDICT] * 2
    )


def test_a_stopped_run_continues_and_runs_no_cell_twice(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, int]] = []
    limit, real, reported = [3], running.run_cell, list[int]()

    def counted(spec: running.ProbeSpec, *rest: Any) -> dict[str, Any]:
        if len(ran) == limit[0]:
            raise KeyboardInterrupt
        ran.append((spec.probe, spec.seed))
        return real(spec, *rest)

    monkeypatch.setattr(running, "run_cell", counted)
    with pytest.raises(KeyboardInterrupt):
        studied(registry, tmp_path / "o")
    limit[0] = 1000
    studied(registry, tmp_path / "o", progress=lambda done, total, last: reported.append(done))
    assert reported[0] == 3 and len(ran) == len(set(ran)) == 4
    # seeds may be added
    assert (
        studied(registry, tmp_path / "o", seeds=3).outcomes[0].seeds == (0, 1, 2) and len(ran) == 6
    )


def test_a_probe_gives_a_mechanism_what_its_user_would(tmp_path: Path, registry: Registry) -> None:
    """Rules and a fitted probability reach the mechanisms that a memory has, and change nothing
    in one without them.
    """
    ids, plain = ("scope_rules/speaker", "abstention/curve"), registry.set("hybrid")
    given = replace(
        plain,
        mechanisms={
            **plain.mechanisms,
            "rule_filter": {},
            "sufficiency_gate": {"evidence": "coverage"},
        },
    )

    def numbers(name: str, measured: MechanismSet) -> list[dict[str, Any]]:
        study(chosen(ids, own()), measured, registry, embedder(tmp_path), tmp_path / name, seeds=1)
        return [
            json.loads(line)["numbers"]
            for line in (tmp_path / name / "rows.jsonl").read_text(encoding="utf-8").splitlines()
        ]

    (ruled, gated), (open_, unjudged) = numbers("given", given), numbers("plain", plain)
    assert ruled == {"kept back, answered": 0.0, "open, answered": 1.0} and open_ == {
        "kept back, answered": 1.0,
        "open, answered": 1.0,
    }
    assert gated["ECE"] < 0.05 and gated["area under risk-coverage"] < gated["risk"]
    assert (
        unjudged["ECE"] is None
        and unjudged["area under risk-coverage"] == unjudged["risk"] == gated["risk"]
    )


def test_the_probability_is_fitted_to_lives_that_are_not_measured() -> None:
    texts = [set(running.recorded(own()["abstention/curve"], seed)[0]) for seed in range(3)]
    # four lives of 40 facts
    assert own()["abstention/curve"].seeds < abstention.OTHER_SEEDS and all(
        len(each) > 200 for each in texts
    )


def test_another_memory_in_the_same_folder_is_refused(tmp_path: Path, registry: Registry) -> None:
    studied(registry, tmp_path / "o", "paired_associates", seeds=1)
    with pytest.raises(InputError, match="other probe results, which differ in system"):
        studied(registry, tmp_path / "o", "paired_associates", seeds=1, system=BASELINE)
    assert (
        studied(
            registry, tmp_path / "o", "paired_associates", seeds=1, system=BASELINE, replace=True
        ).measured
        == BASELINE
    )


def test_another_system_is_not_applicable_where_it_lacks_something_and_measured_elsewhere(
    tmp_path: Path, registry: Registry
) -> None:
    found = studied(
        registry,
        tmp_path / "o",
        "paired_associates",
        "predictive_recall",
        "surprise_recall",
        seeds=3,
        system=BASELINE,
    )
    fan, predictive, surprise = found.outcomes
    assert fan.verdict in (ProbeVerdict.SHOWN, ProbeVerdict.OUTSIDE)
    assert (predictive.verdict, predictive.why) == (
        ProbeVerdict.NOT_APPLICABLE,
        "the system lacks: learning from recall",
    )
    assert (surprise.verdict, surprise.why) == (
        ProbeVerdict.NOT_APPLICABLE,
        "the system lacks: engine columns",
    )


def test_a_failing_memory_makes_an_error_with_its_message_and_no_missing_row(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = type(sys)("failing_memory")
    module.Failing = Failing  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "failing_memory", module)
    monkeypatch.setattr("hebbarium.benchmarks.execution.plan.revision", lambda name: "")
    found = studied(
        registry, tmp_path / "o", "paired_associates", seeds=3, system="failing_memory:Failing"
    )
    assert (
        found.outcomes[0].verdict is ProbeVerdict.ERROR
        and found.outcomes[0].why == "seed 0: RuntimeError: <b>no room</b> | left"
    )
    rows = [
        json.loads(line)
        for line in (tmp_path / "o" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    assert [row["seed"] for row in rows] == [0, 1, 2] and all(
        row["numbers"] is None for row in rows
    )
    page = (tmp_path / "o" / "probes.html").read_text(encoding="utf-8")
    assert "<b>no room" not in page and "&lt;b&gt;no room" in page
    assert "&lt;b&gt;no room&lt;/b&gt; \\| left" in (tmp_path / "o" / "probes.md").read_text(
        encoding="utf-8"
    )


def test_hostile_names_are_text_in_every_report(tmp_path: Path) -> None:
    from hebbarium.benchmarks.probes.harness.bands import judge

    def nothing(life: Life, seed: int) -> Numbers:
        return {}

    odd = Probe(
        "<script>/|x",
        "<img src=x> *bold*.",
        "",
        "`code`",
        "a\x1b[31mb",
        "1",
        (Within("<i>", low=0.0),),
        (),
        nothing,
    )
    row = {"seed": 0, "numbers": {"<i>": 1.0}, "error": "", "missing": "", "stimuli": ""}
    report = Report(
        "<set>",
        [judge(odd, [row])],
        frozenset(),
        False,
        {"embedder": "hashing", "set_digest": "", "code": "", "made": {"date": ""}},
    )
    page, text = (
        to_html(report, tmp_path / "p.html").read_text(encoding="utf-8"),
        to_markdown(report),
    )
    assert (
        not any(tag in page for tag in ("<img", "<i>", "<set>", "\x1b"))
        and page.count("<script>") == 1
    )
    assert "\x1b" not in text and not any(
        f"\n{tag}" in text or f" {tag}" in text for tag in ("<img", "<i>", "<script>")
    )


def test_the_page_draws_the_curve_of_a_gate(tmp_path: Path) -> None:
    from hebbarium.benchmarks.probes.harness.bands import judge
    from hebbarium.benchmarks.probes.harness.report import curve

    gate = own()["gate_auc/stream"]
    rows = [
        {
            "seed": seed,
            "numbers": {
                "AUC": 0.8,
                "AUC, dense inverted": 0.5,
                "hits at 0.5": 0.75 + seed / 100,
                "hits at 0.1": 0.25,
            },
            "error": "",
            "missing": "",
            "stimuli": "",
        }
        for seed in range(3)
    ]
    report = Report(
        "a",
        [judge(gate, rows)],
        frozenset(),
        True,
        {"embedder": "", "set_digest": "", "code": "", "made": {"date": ""}},
    )
    assert [(x, round(hits.mean, 2)) for x, hits in curve(report.outcomes[0])] == [
        (0.1, 0.25),
        (0.5, 0.76),
    ]
    page = to_html(report, tmp_path / "p.html").read_text(encoding="utf-8")
    assert (
        'd="M40 210L60.0 160.0L140.0 58.0L240 10"' in page
        and 'AUC &gt; 0.5: <span class="whole">0.800' in page
    )


def test_missing_capabilities_are_those_that_a_probe_needs(tmp_path: Path) -> None:
    life = Life(lambda *_: BM25Dense(HashingEmbedder(8), 0), HashingEmbedder(8))
    assert life.lacks([]) == [] and life.lacks([Need.SLEEP]) == [Need.SLEEP]


def test_a_package_brings_probes_beside_its_evidence(
    tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hebbarium.benchmarks.probes.harness import collection
    from hebbarium.engine.catalogue.packages import Package

    (tmp_path / "probes").mkdir()
    module = tmp_path / "probes" / "theirs.py"
    module.write_text(
        """
from hebbarium.benchmarks.probes.harness.base import Probe
def run(life, seed):
    life.tell("one")
    return {"events": 1.0}
PROBES = (Probe("theirs/one", "Tells one thing.", "", "here", "One event.", "events", (), (), run),)
""",
        encoding="utf-8",
    )
    monkeypatch.setattr(
        collection, "installed", lambda: (Package("their_package", "theirs 1.0", tmp_path),)
    )
    collection.collected.cache_clear()
    try:
        found = collection.collected()
        assert [id for id in found if id not in own()] == ["theirs/one"] and collection.source_of(
            found["theirs/one"]
        ) == module
        report = study(
            chosen(["theirs"], found),
            registry.set("hybrid"),
            registry,
            embedder(tmp_path),
            tmp_path / "o",
        )
        assert (
            report.outcomes[0].verdict is ProbeVerdict.MEASURED
            and report.outcomes[0].numbers["events"].mean == 1.0
        )
        module.write_text(
            module.read_text(encoding="utf-8").replace("theirs/one", "needle/depths"),
            encoding="utf-8",
        )
        collection.collected.cache_clear()
        with pytest.raises(RegistryError, match="'needle/depths' exists already"):
            collection.collected()
        for odd in (
            "raise RuntimeError('no licence')",
            "import sys; sys.exit(3)",
            "def broken(:",
            "PROBE = 1",
        ):
            module.write_text(odd, encoding="utf-8")
            collection.collected.cache_clear()
            with pytest.warns(collection.ProbesLeftOutWarning, match="theirs 1.0"):
                assert collection.collected() == own(), "ours are there"
    finally:
        monkeypatch.undo()
        collection.collected.cache_clear()


# --- the command ----------------------------------------------------------------------------------
def probe(folder: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(folder / "cache"))
    monkeypatch.setattr(
        sys,
        "argv",
        ["hebbarium", "probe", *words, "--embedder", "hashing:64", "--out", str(folder / "o")],
    )
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def test_the_command_prints_verdicts_and_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert probe(tmp_path, monkeypatch, "paired_associates", "--set", "hybrid", "--seeds", "1") == 0
    said = capsys.readouterr().out
    assert "paired_associates/words  no verdict" in said and "no evidence about a memory" in said
    assert (
        probe(
            tmp_path, monkeypatch, "paired_associates", "--set", "hybrid", "--seeds", "1", "--json"
        )
        == 0
    )
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found == json.loads((tmp_path / "o" / "probes.json").read_text(encoding="utf-8")) | {
        "provenance": found["provenance"]
    }
    assert (
        found["evidence"] is False
        and found["probes"][0]["verdict"] == "no verdict"
        and "1 of 1 cells were finished before" in printed.err
    )


def test_strict_fails_if_a_named_probe_is_not_in_its_band(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # nothing names it
    assert (
        probe(
            tmp_path,
            monkeypatch,
            "duplicate_gating",
            "--set",
            "naive_rag",
            "--seeds",
            "3",
            "--strict",
        )
        == 0
    )
    assert (
        probe(tmp_path, monkeypatch, "needle", "--set", "naive_rag", "--seeds", "3", "--replace")
        == 0
    )
    # it cannot be better than itself
    assert (
        probe(tmp_path, monkeypatch, "needle", "--set", "naive_rag", "--seeds", "3", "--strict")
        == 1
    )
    assert "not in their band: needle/depths" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("paired_asociates",), ("no probe 'paired_asociates'", "paired_associates")),
        (("paired_associates/word",), ("paired_associates/words",)),
        (("paired_associates", "--set", "hybird"), ("hybrid",)),
        (("paired_associates", "--set", "hybrid", "--system", BASELINE), ("has no mechanisms",)),
        (("paired_associates", "--system", "nowhere:Nothing"), ("cannot be loaded",)),
    ],
    ids=lambda x: " ".join(x),
)
def test_unknown_names_end_with_2_and_the_nearest(
    words: tuple[str, ...],
    parts: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert probe(tmp_path, monkeypatch, *words, "--seeds", "1") == 2
    said = capsys.readouterr().err
    assert all(part in said for part in parts) and not (tmp_path / "o").exists()


def test_list_and_show_know_probes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["hebbarium", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert not end.value.code
        return capsys.readouterr().out

    assert [line.split()[0] for line in said("list", "--probes").splitlines()[1:]] == list(own())
    shown = said("show", "lag_crp")
    assert shown.startswith("lag_crp/distractor: ") and "P(+1) / P(-1) in [1.3, 3]" in shown
    (found,) = json.loads(said("show", "needle/depths", "--json"))
    assert found["id"] == "needle/depths" and found["default_seeds"] == 10


def test_a_band_says_where_it_comes_from() -> None:
    known = own()
    assert known["spacing_effect/crossover"].basis == "directions: the source"
    assert "bounds: the undisturbed rhythm" in known["sleep_schedule/two_process"].basis
    assert known["salience/news"].basis == "values to be exceeded: chance"
    assert {bool(probe.basis) for probe in known.values() if probe.band} == {True}
    assert record(known["needle/depths"])["basis"] == "directions: ours; bounds: ours"
