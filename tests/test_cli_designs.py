"""`hebbarium ablate --design`, `--keep-lives`, `--from`, `--retries` and `--fail-fast` through
the command line.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hebbarium.benchmarks.execution import local
from hebbarium.cli.app import app, main
from hebbarium.engine.base.errors import HebbariumError
from hebbarium.engine.catalogue.registry import Registry

DEMO = ("--dataset", "demo", "--limit", "1", "--embedder", "hashing:32")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))


def called(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str) -> HebbariumError:
    with pytest.raises(HebbariumError) as caught:
        CliRunner().invoke(app, list(arguments), catch_exceptions=False)
    return caught.value


@pytest.mark.slow
def test_a_design_from_a_file_prints_its_estimates(tmp_path: Path) -> None:
    file = tmp_path / "weights.yaml"
    file.write_text(
        "set: hybrid\ndesign: sweep\ndata: [{dataset: demo, limit: 1}]\nsweep: {lexical_bm25.weight: [0, 1, 2]}\n"
    )
    out = str(tmp_path / "out")
    said = called(
        "ablate", "--design", str(file), "--embedder", "hashing:32", "--out", out, "--costs"
    )
    timed = json.loads((tmp_path / "out" / "design.json").read_text())["costs"]
    assert [one["mechanism"] for one in timed] == list(
        Registry.read().set("hybrid").mechanisms
    ) and all(one["query"] > 0 for one in timed)
    assert "Cost of each mechanism" in (tmp_path / "out" / "design.html").read_text()
    assert "sweep of hybrid" in said and "weight=2" in said and "design.html" in said
    printed = json.loads(
        called("ablate", "--design", str(file), "--embedder", "hashing:32", "--out", out, "--json")
    )
    assert printed == json.loads((tmp_path / "out" / "design.json").read_text()) | {
        "made": printed["made"],
        "blocks": printed["blocks"],
    }
    assert [e["name"] for e in printed["blocks"][0]["estimates"]] == [
        f"lexical_bm25.weight={w}" for w in (0, 1, 2)
    ]


def test_a_design_by_name_takes_set_and_data_from_the_command(tmp_path: Path) -> None:
    said = called(
        "ablate", "--design", "shapley", "--set", "hybrid", *DEMO, "--out", str(tmp_path / "out")
    )
    assert (
        "shapley of hybrid" in said
        and "exact, from 8 coalitions" in said
        and (tmp_path / "out" / "coalitions.jsonl").is_file()
    )


@pytest.mark.slow
@pytest.mark.parametrize("given", [0.005, 0.03])
def test_a_margin_given_by_hand_overrides_that_of_a_file(given: float, tmp_path: Path) -> None:
    """Also the margin that a design without one has; without the option the file's own counts."""
    file = tmp_path / "weights.yaml"
    file.write_text("set: hybrid\ndesign: sweep\nmargin: 0.02\nsweep: {lexical_bm25.weight: [0]}\n")
    shared = ("ablate", "--design", str(file), *DEMO, "--json", "--out", str(tmp_path / "out"))
    assert json.loads(called(*shared))["margin"] == 0.02
    assert json.loads(called(*shared, "--margin", str(given)))["margin"] == given


@pytest.mark.parametrize(
    ("arguments", "where", "cure"),
    [
        (("--design", "shapely", *DEMO), "--design", "shapley"),
        (("--design", "shapley", "--set", "hybrid"), "--dataset", "--dataset demo"),
        (("--design", "shapley", "--set", "hybrid", *DEMO, "--arms", "heat"), "--arms", "without"),
        (("--design", "sweep", *DEMO), "--design", "FILE.yaml"),
        (("--costs", "--transcript", "t", *DEMO), "--costs", "--transcript"),
        ((), "--dataset", "demo"),
    ],
)
def test_what_a_design_cannot_do_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], where: str, cure: str
) -> None:
    error = refused("ablate", *arguments, "--out", str(tmp_path / "out"))
    assert where in error.where and cure in error.cure and not (tmp_path / "out").exists()


@pytest.mark.slow
def test_kept_lives_are_asked_from_the_command_line(tmp_path: Path) -> None:
    lives, outs = (
        str(tmp_path / "lives"),
        [str(tmp_path / name) for name in ("first", "asked", "lived")],
    )
    called("run", "--set", "minimal", *DEMO, "--out", outs[0], "--keep-lives", lives)
    called(
        "run",
        "--set",
        "minimal",
        *DEMO,
        "--out",
        outs[1],
        "--from",
        lives,
        "--without",
        "trigram_match",
        "--param",
        "lexical_bm25.weight=0.7",
    )
    called(
        "run",
        "--set",
        "minimal",
        *DEMO,
        "--out",
        outs[2],
        "--without",
        "trigram_match",
        "--param",
        "lexical_bm25.weight=0.7",
    )
    asked, lived = ((Path(out) / "rows.jsonl").read_text() for out in outs[1:])
    assert asked == lived
    error = refused(
        "run",
        "--set",
        "minimal",
        *DEMO,
        "--out",
        str(tmp_path / "none"),
        "--from",
        lives,
        "--without",
        "recency",
    )
    assert "mechanisms.recency" in error.what and lives in error.where


def test_failed_cells_end_with_exit_code_three(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(local, "run_cell", broken)
    out = tmp_path / "out"
    arguments = ["hebbarium", "run", "--set", "bm25", "--dataset", "demo", "--limit", "2",
                 "--embedder", "hashing:32", "--retries", "0"]  # fmt: skip
    arguments += ["--out", str(out)]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 3 and "2 of 2 cells failed" in capsys.readouterr().err
    assert (
        len((out / "failed.jsonl").read_text().splitlines()) == 2
        and not (out / "rows.jsonl").exists()
    )
    monkeypatch.setattr("sys.argv", [*arguments, "--fail-fast"])
    with pytest.raises(ZeroDivisionError):
        main()
