"""Run folders: read back whole or refused with the cure, and kept from other runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from by_hand import seal

from hebbarium.benchmarks.datasets import Dataset, load
from hebbarium.benchmarks.designs.leave_one_out import leave_one_out
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.folder import RunFolder, claim, differences
from hebbarium.benchmarks.execution.plan import planned, specs_of
from hebbarium.benchmarks.execution.spec import Settings, manifest
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import run
from hebbarium.engine.base.errors import DataError, HebbariumError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder

CHOSEN = MechanismSet(
    "small",
    "for the test",
    {"recency": {}, "dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}},
    {"convex_fusion": ("weighted_rrf",)},
)
SINGLE = MechanismSet("single", "for the test", {"lexical_bm25": {}})
EMBEDDER = CachedEmbedder(HashingEmbedder(32), None)
ROOT = Path(__file__).parent.parent.parent.parent


def copied(folder: Path, to: Path) -> Path:
    """The files of a run, apart from its ledger."""
    to.mkdir(exist_ok=True)
    for file in folder.glob("*.json*"):
        (to / file.name).write_bytes(file.read_bytes())
    return to


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, registry: Registry, tiny: Dataset) -> Path:
    """A finished run."""
    folder = tmp_path_factory.mktemp("done")
    run(SINGLE, registry, tiny, EMBEDDER, folder)
    return folder


# --- what is written ------------------------------------------------------------------------------
def test_rows_hold_the_question_its_answer_and_the_first_ten(done: Path, tiny: Dataset) -> None:
    rows = {row["question"]: row for row in RunFolder.read(done).rows()}
    for c in tiny.conversations:
        for q in c.questions:
            row = rows[q.id]
            assert (row["question_text"], row["answer"], row["gold"]) == (
                q.text,
                q.answer,
                list(q.gold),
            )
            assert len(row["scores"]) == len(row["retrieved"]) == min(10, len(c.events)) and row[
                "scores"
            ] == sorted(row["scores"], reverse=True)


def test_times_stand_in_a_file_of_their_own(done: Path, tiny: Dataset) -> None:
    times = RunFolder.read(done).times()
    expected = [
        (c.id, question)
        for c in tiny.conversations
        for question in (None, *(q.id for q in c.questions))
    ]
    assert [(t["conversation"], t["question"]) for t in times] == expected
    phases = {"encode_ms", "consolidate_ms", "retrieve_ms", "maintain_ms"}
    assert all(set(t) == {"arm", "conversation", "question", "seed", *phases} for t in times)
    assert all(
        (t["encode_ms"] > 0) == (t["question"] is None) == (t["retrieve_ms"] == 0) for t in times
    )
    assert not any("ms" in name for row in RunFolder.read(done).rows() for name in row)


def test_rows_do_not_change_with_the_clock(
    done: Path, tmp_path: Path, registry: Registry, tiny: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run again without a ledger, with a clock that runs backwards: other times, the same rows."""
    ticks = iter(range(10**6, 0, -1))
    monkeypatch.setattr(
        "hebbarium.benchmarks.execution.cells.time.perf_counter", lambda: float(next(ticks))
    )
    monkeypatch.setattr("hebbarium.engine.flow.observer.perf_counter", lambda: float(next(ticks)))
    run(SINGLE, registry, tiny, EMBEDDER, tmp_path)
    assert (tmp_path / "rows.jsonl").read_bytes() == (done / "rows.jsonl").read_bytes()
    assert (tmp_path / "times.jsonl").read_bytes() != (done / "times.jsonl").read_bytes()


def test_the_record_of_every_cell_is_read_back_from_the_manifest(
    registry: Registry, tiny: Dataset
) -> None:
    """Its key is the same, so nothing that decides the cell is lost, for the arms that lack a
    mechanism or swap one as well.
    """
    settings = Settings(seed=2, rehearse=12.0, param={"lexical_bm25": {"b": 0.3}})
    specs = specs_of(
        planned(leave_one_out(settings.applied(CHOSEN)), registry, settings), tiny, EMBEDDER
    )
    written = json.loads(json.dumps(manifest(specs, tiny, {"command": "ablate"}), default=str))
    folder = RunFolder(Path(), written)
    assert folder.arms == list(dict.fromkeys(s.arm for s in specs)) and len(folder.arms) == 6
    for spec in specs:
        assert folder.cell(spec.arm, spec.conversation, tiny).spec.key() == spec.key()
    assert folder.arm() == "full" and set(folder.deciding("without recency")["mechanisms"]) == set(
        CHOSEN.mechanisms
    ) - {"recency"}


def test_the_data_of_a_run_are_found_again(tmp_path: Path, registry: Registry) -> None:
    sample = {
        "sample_id": "c1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 January, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "We moved to Oslo."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "How lovely."},
            ],
        },
        "qa": [
            {
                "question": "Where does Ann live?",
                "evidence": ["D1:1"],
                "category": 4,
                "answer": "Oslo",
            }
        ],
    }
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "locomo.json"
    file.write_text(json.dumps([sample]), encoding="utf-8")
    run(SINGLE, registry, load("locomo", tmp_path / "data", limit=1), EMBEDDER, tmp_path / "o")
    folder = RunFolder.read(tmp_path / "o")
    assert (
        folder.manifest["data"]["path"] == str(tmp_path / "data")
        and folder.manifest["data"]["limit"] == 1
    )
    assert (
        folder.data().conversations[0].events[0].text == "We moved to Oslo."
        and folder.rows()[0]["answer"] == "Oslo"
    )
    (tmp_path / "data").rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="no longer at") as caught:
        folder.data()
    assert "--data" in caught.value.cure
    moved = tmp_path / "elsewhere" / "locomo.json"
    assert folder.data(moved).sha256 == folder.manifest["sha256"]
    moved.write_text(json.dumps([sample]) + " ", encoding="utf-8")
    with pytest.raises(DataError, match="not the data of the run"):
        folder.data(moved)


def test_the_embedder_of_a_run_is_found_again(done: Path) -> None:
    folder = RunFolder.read(done)
    found = folder.embedder()
    assert (found.name, found.dimensions) == ("hashing", 32)
    with pytest.raises(DataError, match="is not that of the run") as caught:
        folder.embedder("hashing:64")
    assert "--embedder" in caught.value.cure
    other = RunFolder(done, {**folder.manifest, "embedder": "a model of nowhere"})
    with pytest.raises(DataError, match="a model of nowhere, is not found"):
        other.embedder()


# --- what is read ---------------------------------------------------------------------------------
def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    for path, words in ((tmp_path / "absent", "no such folder"), (tmp_path, "holds no run")):
        with pytest.raises(DataError, match=words) as caught:
            RunFolder.read(path)
        assert "--out folder" in caught.value.cure
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataError, match="it is a file, not the folder of a run"):
        RunFolder.read(tmp_path / "file")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "7", "null", '{"dataset": "demo"}',
                                  "[" * 100_000, "\x00",
                                  '{"dataset": "d", "sha256": "", "arms": [], "conversations": []}'])  # fmt: skip
def test_a_damaged_manifest_is_refused(done: Path, tmp_path: Path, text: str) -> None:
    (copied(done, tmp_path) / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"manifest\.json: it is damaged") as caught:
        RunFolder.read(tmp_path)
    assert "--replace" in caught.value.cure


def cut(text: str) -> str:
    return text[: len(text) // 2]


def lost(text: str) -> str:
    return "".join(text.splitlines(True)[:-1])


def doubled(text: str) -> str:
    lines = text.splitlines(True)
    return "".join([*lines[:-1], lines[0]])


def lacking(text: str) -> str:
    return text.replace('"ranks"', '"rank"', 1)


@pytest.mark.parametrize("damage", [cut, lost, doubled, lacking, lambda text: text + text,
                                    lambda text: text.replace("{", "[", 1),
                                    lambda text: "\ufeff" + text, lambda text: ""])  # fmt: skip
def test_damaged_rows_are_refused_whole(
    done: Path, tmp_path: Path, damage: Callable[[str], str]
) -> None:
    file = copied(done, tmp_path) / "rows.jsonl"
    file.write_text(damage(file.read_text(encoding="utf-8")), encoding="utf-8")
    changed = pytest.raises(DataError, match=r"rows\.jsonl.*changed after the run")
    with changed as caught:
        RunFolder.read(tmp_path).rows()
    assert "--force" in caught.value.cure
    for folder in (RunFolder.read(tmp_path, force=True), RunFolder.read(seal(tmp_path))):
        with pytest.raises(DataError, match=r"rows\.jsonl") as caught:
            folder.rows()
        assert caught.value.cure


def test_one_rank_that_was_edited_is_noticed(done: Path, tmp_path: Path) -> None:
    """Also one of which JSON, the count of the rows and their fields are right; with force it is
    read, and the name of what was measured says so.
    """
    file = copied(done, tmp_path) / "rows.jsonl"
    first, rest = file.read_text(encoding="utf-8").split("\n", 1)
    row = json.loads(first)
    row["ranks"] = [row["ranks"][0] + 1]
    file.write_text(f"{json.dumps(row, sort_keys=True)}\n{rest}", encoding="utf-8")
    with pytest.raises(DataError, match="changed after the run"):
        RunFolder.read(tmp_path).rows()
    forced = RunFolder.read(tmp_path, force=True)
    assert forced.rows()[0]["ranks"] == row["ranks"] and forced.changed == ["rows.jsonl"]
    assert forced.measured == "single (rows.jsonl changed after the run)"
    whole = RunFolder.read(done, force=True)
    assert whole.measured == "single" and whole.changed == []


@pytest.mark.parametrize("name", ["rows.jsonl", "times.jsonl"])
@pytest.mark.parametrize("seals", [None, {}, [], {"rows.jsonl": 3, "times.jsonl": None}])
def test_results_without_a_digest_are_not_those_of_a_finished_run(
    done: Path, tmp_path: Path, name: str, seals: Any
) -> None:
    file = copied(done, tmp_path) / "manifest.json"
    shutil.copy(done / "times.jsonl", tmp_path)
    manifest = json.loads(file.read_text(encoding="utf-8")) | {"results": seals}
    file.write_text(json.dumps(manifest), encoding="utf-8")
    run = RunFolder.read(tmp_path)
    with pytest.raises(DataError, match=r"not finished|changed") as caught:
        run.rows() if name == "rows.jsonl" else run.times()
    assert name in caught.value.where


def test_bytes_that_are_not_text_are_refused(done: Path, tmp_path: Path) -> None:
    (copied(done, tmp_path) / "rows.jsonl").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="damaged"):
        RunFolder.read(tmp_path).rows()


def test_an_unfinished_run_says_how_to_continue_it(done: Path, tmp_path: Path) -> None:
    (copied(done, tmp_path) / "rows.jsonl").unlink()
    with pytest.raises(DataError, match="not finished") as caught:
        RunFolder.read(tmp_path).rows()
    assert "start it again" in caught.value.cure


@pytest.mark.parametrize("name", ["manifest.json", "rows.jsonl"])
def test_a_file_that_cannot_be_read_is_named(
    done: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As another user's file; the tests may run as root, who can read everything."""
    real = Path.read_text

    def refused(self: Path, **more: Any) -> str:
        if self.name == name:
            raise PermissionError(13, "Permission denied", str(self))
        return real(self, **more)

    copied(done, tmp_path)
    monkeypatch.setattr(Path, "read_text", refused)
    with pytest.raises(DataError, match=rf"{name}: it cannot be read \(Permission denied\)"):
        RunFolder.read(tmp_path).rows()


def test_a_run_of_an_earlier_release_can_be_read(done: Path, tmp_path: Path) -> None:
    """Its manifest has no list of changes, and its rows have no texts."""
    copied(done, tmp_path)
    old = {
        name: value
        for name, value in json.loads((done / "manifest.json").read_text()).items()
        if name not in ("changes", "system", "probed")
    }
    (tmp_path / "manifest.json").write_text(json.dumps({**old, "data": {"notes": {}}}))
    lines = [json.loads(line) for line in (done / "rows.jsonl").read_text().splitlines()]
    new = ("question_text", "answer", "scores")
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({k: v for k, v in row.items() if k not in new}) + "\n" for row in lines)
    )
    folder = RunFolder.read(seal(tmp_path))
    assert len(folder.rows("full")) == 6 and folder.deciding("full")["set"] == "single"
    with pytest.raises(DataError, match="another release"):
        folder.cell(
            "full",
            "one",
            load("demo", limit=1).__class__(
                "tiny", "", (replace(load("demo").conversations[0], id="one"),), {}
            ),
        )


# --- who may write --------------------------------------------------------------------------------
def test_the_same_run_and_a_longer_one_may_write(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    one = replace(tiny, conversations=tiny.conversations[:1])
    run(SINGLE, registry, one, EMBEDDER, tmp_path)
    run(SINGLE, registry, one, EMBEDDER, tmp_path)
    run(SINGLE, registry, tiny, EMBEDDER, tmp_path)
    assert len(RunFolder.read(tmp_path).rows()) == 6
    with pytest.raises(InputError, match="it has conversations that this run lacks: two"):
        run(SINGLE, registry, one, EMBEDDER, tmp_path)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(seed=1), "seed is 0 there and 1 here"),
        (Settings(unit="session"), "unit is turn there and session here"),
        (Settings(allow_missing_gold=True), "allow_missing_gold is false there and true here"),
        (
            Settings(param={"lexical_bm25": {"b": 0.5}}),
            r"mechanisms\.lexical_bm25\.b is 0\.75 there and 0\.5 here",
        ),
        (
            Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense"),
            "system is hebbarium there",
        ),
    ],
    ids=str,
)
def test_another_run_is_refused_by_what_differs(
    done: Path, registry: Registry, tiny: Dataset, settings: Settings, words: str
) -> None:
    before = {p.name: p.read_bytes() for p in done.glob("*.json*")}
    with pytest.raises(InputError, match=words) as caught:
        run(SINGLE if settings.ours else None, registry, tiny, EMBEDDER, done, settings=settings)
    assert "single on tiny" in caught.value.what and "--replace" in caught.value.cure
    assert {p.name: p.read_bytes() for p in done.glob("*.json*")} == before


def test_other_data_another_command_and_other_code_are_another_run(
    done: Path, registry: Registry, tiny: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="sha256 is 000"):
        run(SINGLE, registry, replace(tiny, sha256="1" * 64), EMBEDDER, done)
    with pytest.raises(InputError, match="command is run there and ablate here"):
        ablate(SINGLE, registry, tiny, EMBEDDER, done)
    monkeypatch.setattr("hebbarium.benchmarks.execution.plan.code_version", lambda: "9.9+other")
    with pytest.raises(
        InputError,
        match="the code of the package changed since, as after an update; rows of both do not mix",
    ):
        run(SINGLE, registry, tiny, EMBEDDER, done)


def test_replacing_removes_the_results_of_the_other_run(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    ablate(CHOSEN, registry, tiny, EMBEDDER, tmp_path)
    (tmp_path / "mine.txt").write_text("keep")
    assert (tmp_path / "design.html").exists()
    run(CHOSEN, registry, tiny, EMBEDDER, tmp_path, replace=True)
    left = {p.name for p in tmp_path.iterdir() if not p.name.startswith("ledger")}
    wanted = {"manifest.json", "rows.jsonl", "times.jsonl", "metrics.json", "card.json", "mine.txt"}
    assert left == wanted and len(RunFolder.read(tmp_path).rows()) == 6


def test_a_manifest_of_something_else_is_not_written_over(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "a web page"}')
    with pytest.raises(InputError, match="cannot be read") as caught:
        run(SINGLE, registry, tiny, EMBEDDER, tmp_path)
    assert (
        "--replace" in caught.value.cure
        and (tmp_path / "manifest.json").read_text() == '{"name": "a web page"}'
    )
    run(SINGLE, registry, tiny, EMBEDDER, tmp_path, replace=True)


def test_a_run_that_was_stopped_is_known_by_its_manifest(
    tmp_path: Path, registry: Registry, tiny: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> Any:
        raise KeyboardInterrupt

    real = local.run_cell
    monkeypatch.setattr(local, "run_cell", stop)
    with pytest.raises(KeyboardInterrupt):
        run(SINGLE, registry, tiny, EMBEDDER, tmp_path)
    monkeypatch.setattr(local, "run_cell", real)
    with pytest.raises(InputError, match="seed is 0 there"):
        run(SINGLE, registry, tiny, EMBEDDER, tmp_path, settings=Settings(seed=1))
    run(SINGLE, registry, tiny, EMBEDDER, tmp_path)


def test_two_runs_never_write_into_one_folder_at_once(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    """The second is refused before it removes or writes anything, even with `replace`."""
    run(SINGLE, registry, tiny, EMBEDDER, tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.glob("*.json*")}
    with (
        local.Ledger(tmp_path / "ledger.sqlite").locked(),
        pytest.raises(HebbariumError, match="another run is using"),
    ):
        run(SINGLE, registry, tiny, EMBEDDER, tmp_path, settings=Settings(seed=1), replace=True)
    assert {p.name: p.read_bytes() for p in tmp_path.glob("*.json*")} == before


def test_results_that_cannot_be_removed_are_named(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    copied(done, tmp_path)
    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(
        HebbariumError, match=r"rows\.jsonl: it cannot be removed \(Permission denied\)"
    ):
        claim(tmp_path, {}, replace=True)


def test_differences_are_symmetric_and_empty_for_equals() -> None:
    a, b = {"x": {"y": [1, 2], "z": None}, "w": 0}, {"x": {"y": [1, 3], "z": 1}, "v": "new"}
    assert differences(a, a) == [] and sorted((n, q, p) for n, p, q in differences(a, b)) == sorted(
        differences(b, a)
    )
    assert differences(a, b) == [
        ("x.y", [1, 2], [1, 3]),
        ("x.z", None, 1),
        ("w", 0, None),
        ("v", None, "new"),
    ]
