"""Runs with a language model: what is recorded, replayed and counted.  The memory is a stand-in
that asks the model; the model is a script.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hebbarium.benchmarks.datasets import Dataset
from hebbarium.benchmarks.execution import local
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.execution.spec import Settings
from hebbarium.benchmarks.experiments.design import ablate
from hebbarium.benchmarks.experiments.run import measure as measure_run
from hebbarium.benchmarks.experiments.run import plan
from hebbarium.benchmarks.systems.base import Capability, ReportsUsage, Retrieved, RetrievedEvent
from hebbarium.benchmarks.systems.hebbarium import Hebbarium
from hebbarium.cli.shared import named_language_model
from hebbarium.engine.base.errors import DataError, HebbariumError, InputError
from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Mechanism
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.contract.vocabulary import LANGUAGE_MODEL
from hebbarium.engine.ports.by_name import language_model
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.embedding_cache import CachedEmbedder
from hebbarium.engine.ports.language_model import (
    LanguageModel,
    Reply,
    Request,
    Status,
    described,
    metered,
)
from hebbarium.engine.ports.language_model_openai import OpenAICompatibleModel
from hebbarium.engine.ports.transcript import Transcript, replayed
from hebbarium.testing.small import by_number, does, mechanism, numbered, score

CHOSEN = MechanismSet(
    "small", "for the test", {"dense_similarity": {}, "lexical_bm25": {}, "convex_fusion": {}}
)
SCHEMA = {
    "type": "object",
    "properties": {"length": {"type": "integer"}},
    "required": ["length"],
    "additionalProperties": False,
}


class Script:
    """A model whose replies differ from call to call, as those of a server may.  asked: the
    number of requests.
    """

    name, revision = "script", "1"

    def __init__(self) -> None:
        self.asked = 0

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        replies = []
        for one in requests:
            self.asked += 1
            replies.append(
                Reply.read(one, json.dumps({"length": 1000 * len(one.prompt) + self.asked}), 10, 2)
            )
        return replies


class Asking:
    """A memory that asks the model about every event, and ranks events by the replies."""

    capabilities: frozenset[Capability] = frozenset()

    def __init__(self, model: LanguageModel | None) -> None:
        self.model, self.scores = metered(model), dict[str, float]()

    def encode(self, events: Sequence[Event]) -> None:
        replies = self.model.ask(
            [Request("length", "How long is it?", event.text, SCHEMA, 10) for event in events]
        )
        self.scores |= {
            event.id: float(reply.data["length"] if reply.status is Status.OK else -i)
            for i, (event, reply) in enumerate(zip(events, replies, strict=True))
        }

    def advance(self, time: float) -> None: ...

    def retrieve(self, query: Query, k: int, learn: bool = False) -> Retrieved:
        return Retrieved(
            tuple(
                RetrievedEvent(id, score, "")
                for id, score in sorted(self.scores.items(), key=lambda item: -item[1])[:k]
            )
        )

    def close(self) -> None: ...

    def language_model_usage(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        return {"encode": {"asking": self.model.usage.named()}}


@pytest.fixture(autouse=True)
def asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        local,
        "maker",
        lambda name, mechanisms, registry, model, **_: lambda embedder, seed: Asking(model),
    )


@pytest.fixture
def run(registry: Registry, tiny: Dataset) -> Callable[..., dict[str, Any]]:
    def call(out: Path, model: LanguageModel | None = None, **more: Any) -> dict[str, Any]:
        return measure_run(
            plan(CHOSEN, registry),
            tiny,
            CachedEmbedder(HashingEmbedder(8), None),
            out,
            language_model=model,
            **more,
        )

    return call


def rows(folder: Path) -> str:
    return (folder / "rows.jsonl").read_text(encoding="utf-8")


def manifest(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "manifest.json").read_text(encoding="utf-8")))


def test_a_replay_gives_the_same_rows_and_metrics_and_asks_nothing(
    tmp_path: Path, run: Any, tiny: Dataset
) -> None:
    script, file = Script(), tmp_path / "t.sqlite"
    recorded = run(tmp_path / "a", Transcript(script, file, "record"))
    asked = len({event.text for c in tiny.conversations for event in c.events})
    again = run(tmp_path / "b", replayed(file))
    assert (
        rows(tmp_path / "a")
        == rows(tmp_path / "b")
        != (run(tmp_path / "c"), rows(tmp_path / "c"))[1]
        and script.asked == asked
    )
    events = sum(len(c.events) for c in tiny.conversations)
    expected = {
        "requests": events,
        "failed": 0,
        "prompt_tokens": 10 * events,
        "completion_tokens": 2 * events,
    }
    for result, cached in ((recorded, events - asked), (again, events)):
        assert result["language_model"]["encode"]["asking"] == {**expected, "cached": cached}
    assert run(tmp_path / "c")["language_model"]["encode"]["asking"]["prompt_tokens"] == 0


def test_the_manifest_names_model_and_transcript(tmp_path: Path, run: Any) -> None:
    transcript = Transcript(Script(), tmp_path / "t.sqlite", "record")
    run(tmp_path / "a", transcript)
    found = manifest(tmp_path / "a")
    assert {name: found[name] for name in described(transcript)} == {
        "language_model": "script",
        "language_model_revision": "1",
        "transcript": f"recording:{transcript.id}",
    }
    assert found["transcript_digest"] == transcript.digest() and found["transcript_file"] == str(
        transcript.path
    )
    run(tmp_path / "b", replayed(transcript.path))
    assert manifest(tmp_path / "b")["transcript"] == transcript.digest()
    run(tmp_path / "c")
    assert manifest(tmp_path / "c")["language_model"] == "" and "transcript_file" not in manifest(
        tmp_path / "c"
    )


def test_a_run_that_was_stopped_while_it_recorded_continues(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, file = Transcript(Script(), tmp_path / "whole.sqlite", "record"), tmp_path / "t.sqlite"
    run(tmp_path / "whole", whole)
    ran, real = [], local.run_cell

    def counted(cell: Any, *rest: Any) -> Any:
        if len(ran) == 1:
            raise KeyboardInterrupt
        ran.append(cell.spec.conversation)
        return real(cell, *rest)

    script = Script()
    monkeypatch.setattr(local, "run_cell", counted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "o", Transcript(script, file, "record"))
    monkeypatch.setattr(
        local,
        "run_cell",
        lambda cell, *rest: (ran.append(cell.spec.conversation), real(cell, *rest))[1],
    )
    run(tmp_path / "o", Transcript(script, file, "record"))
    assert ran == ["one", "two"] and rows(tmp_path / "o") == rows(tmp_path / "whole")
    run(tmp_path / "o", Transcript(script, file, "record"))
    assert len(ran) == 2, "a finished run is not run again"
    assert manifest(tmp_path / "o")["transcript_digest"] == whole.digest()


def test_another_transcript_is_another_run(tmp_path: Path, run: Any) -> None:
    run(tmp_path / "o", Transcript(Script(), tmp_path / "t.sqlite", "record"))
    for model in (
        None,
        Transcript(Script(), tmp_path / "other.sqlite", "record"),
        replayed(tmp_path / "t.sqlite"),
    ):
        with pytest.raises(InputError, match="another run"):
            run(tmp_path / "o", model)


@pytest.mark.slow
def test_an_ablation_records_too_and_another_system_beside_it_has_no_model(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    other = "hebbarium.benchmarks.systems.bm25_dense:BM25Dense"
    transcript = Transcript(Script(), tmp_path / "t.sqlite", "record")
    ablate(
        CHOSEN,
        registry,
        tiny,
        CachedEmbedder(HashingEmbedder(8), None),
        tmp_path / "o",
        only=["lexical_bm25"],
        beside=[other],
        language_model=transcript,
    )
    found = RunFolder.read(tmp_path / "o")
    full, beside = found.deciding("full"), found.deciding(other)
    assert (
        full["language_model"] == "script"
        and beside["language_model"] == beside["transcript"] == ""
    )
    assert found.manifest["transcript_digest"] == transcript.digest()
    ablate(
        CHOSEN,
        registry,
        tiny,
        CachedEmbedder(HashingEmbedder(8), None),
        tmp_path / "none",
        only=["lexical_bm25"],
    )


def test_a_model_for_another_system_alone_is_refused(
    tmp_path: Path, registry: Registry, tiny: Dataset
) -> None:
    other = Settings(system="hebbarium.benchmarks.systems.bm25_dense:BM25Dense")
    with pytest.raises(InputError, match="is not given a language model") as caught:
        measure_run(
            plan(None, registry, other),
            tiny,
            CachedEmbedder(HashingEmbedder(8), None),
            tmp_path / "o",
            language_model=Transcript(Script(), tmp_path / "t.sqlite", "record"),
        )
    assert caught.value.where == "--llm" and not (tmp_path / "o").exists()


def test_a_run_folder_gives_its_transcript_for_replay(tmp_path: Path, run: Any) -> None:
    file = tmp_path / "t.sqlite"
    run(tmp_path / "a", Transcript(Script(), file, "record"))
    run(tmp_path / "b", replayed(file))
    for folder in ("a", "b"):
        found = RunFolder.read(tmp_path / folder).language_model()
        assert found is not None and (found.name, found.mode) == ("script", "replay")
        assert found.digest() == manifest(tmp_path / folder)["transcript_digest"]
    run(tmp_path / "c")
    assert RunFolder.read(tmp_path / "c").language_model() is None
    Transcript(Script(), file, "record").ask([Request("length", "", "one more", SCHEMA, 10)])
    assert RunFolder.read(tmp_path / "a").language_model() is not None, "the same file, grown"
    with pytest.raises(DataError, match="not that of the run"):
        RunFolder.read(tmp_path / "b").language_model()
    file.unlink()
    with pytest.raises(DataError, match="no such transcript"):
        RunFolder.read(tmp_path / "a").language_model()


# --- our system -----------------------------------------------------------------------------------
def curious(asked: list[Reply]) -> Mechanism[Any]:
    """A mechanism that asks about the query, twice in each sleep, and scores every memory by the
    reply's length.
    """
    mine = score("curious")

    def about(view: Any, prompt: str, times: int = 1) -> list[Reply]:
        found = list(view.language_model.ask([Request("length", "", prompt, SCHEMA, 10)] * times))
        asked.extend(found)
        return found

    def ask(view: Any, cue: Any) -> None:
        (reply,) = about(view, cue.query.text)
        view.curious[...] = reply.data["length"] if reply.status is Status.OK else 0.0

    return mechanism(
        "curious",
        does(Phase.RETRIEVE, ask, reads=[LANGUAGE_MODEL], sets=[mine]),
        does(
            Phase.CONSOLIDATE,
            lambda view, tick: about(view, "asleep", 2) and None,
            reads=[LANGUAGE_MODEL],
        ),
        owns=[mine],
    )


def test_our_system_reports_what_each_mechanism_asked_in_each_phase(tmp_path: Path) -> None:
    asked: list[Reply] = []
    with closing(
        Hebbarium(
            [curious(asked), by_number(order=1)],
            HashingEmbedder(8),
            0,
            language_model=Transcript(Script(), tmp_path / "t.sqlite", "record"),
        )
    ) as system:
        assert isinstance(system, ReportsUsage) and system.language_model_usage() == {}
        system.encode(numbered(1, 2, 3))
        system.retrieve(Query("which"), 3)
        system.retrieve(Query("which"), 3)
        system.advance(50.0)
        one = {"requests": 2, "cached": 1, "failed": 0, "prompt_tokens": 20, "completion_tokens": 4}
        sleeps = sum(reply.data is not None for reply in asked[2:]) // 2
        assert sleeps >= 1 and system.language_model_usage() == {
            "retrieve": {"curious": one},
            "consolidate": {
                "curious": {name: sleeps * count for name, count in one.items()}
                | {"cached": 2 * sleeps - 2}
            },
        }


class Refuses:
    """A model that fails in another way at each call."""

    name, revision = "refuses", "1"

    def __init__(self) -> None:
        self.calls = 0

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.calls += 1
        bad = [
            Reply(Status.TIMEOUT),
            Reply(Status.OK, {"length": "12"}),
            Reply(Status.NOT_JSON, text="{"),
            Reply(Status.REFUSED),
        ][self.calls % 4]
        if self.calls % 5 == 0:
            raise OSError("no network")
        return [bad] * (len(requests) + (self.calls % 7 == 0))


def test_with_a_bad_model_a_memory_does_as_without_one() -> None:
    found = []
    for model in (None, Refuses()):
        asked: list[Reply] = []
        with closing(
            Hebbarium(
                [curious(asked), by_number(order=1)], HashingEmbedder(8), 0, language_model=model
            )
        ) as system:
            system.encode(numbered(*range(20)))
            answers = [
                [hit.id for hit in system.retrieve(Query(f"number {i}"), 20).events]
                for i in range(12)
            ]
            system.advance(100.0)
            found.append((answers, system.engine.digest()))
            assert len(asked) > 12 and not any(reply.data for reply in asked)
    assert found[0] == found[1]


# --- names and options ----------------------------------------------------------------------------
def test_models_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    assert language_model(None) is None and isinstance(
        language_model("openai:small"), OpenAICompatibleModel
    )
    found = language_model("openai:small", tmp_path / "t.sqlite")
    assert isinstance(found, Transcript) and (found.name, found.mode) == ("openai:small", "record")
    script = Script()
    assert language_model(script) is script
    for odd in ("small", "openai:", "", HashingEmbedder(8)):
        with pytest.raises(InputError) as caught:
            language_model(odd)  # type: ignore[arg-type]
        assert "openai:<model>" in caught.value.cure
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(HebbariumError, match="no key"):
        language_model("openai:small", tmp_path / "other.sqlite")
    assert not (tmp_path / "other.sqlite").exists()


def test_the_options_record_with_a_model_and_replay_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    assert named_language_model(None, None) is None
    with pytest.raises(InputError, match="needs a transcript") as caught:
        named_language_model("openai:small", None)
    assert caught.value.where == "--llm" and "--transcript" in caught.value.cure
    with pytest.raises(DataError, match="no such transcript"):
        named_language_model(None, str(tmp_path / "t.sqlite"))
    recording = named_language_model("openai:small", str(tmp_path / "t.sqlite"))
    assert isinstance(recording, Transcript) and recording.mode == "record"
    with pytest.raises(InputError, match="no model"):
        named_language_model(None, str(tmp_path / "t.sqlite"))
    Transcript(Script(), tmp_path / "t.sqlite", "record").ask(
        [Request("length", "", "a", SCHEMA, 10)]
    )
    monkeypatch.delenv("OPENAI_API_KEY")
    replay = named_language_model(None, str(tmp_path / "t.sqlite"))
    assert isinstance(replay, Transcript) and (replay.name, replay.mode) == ("script", "replay")
