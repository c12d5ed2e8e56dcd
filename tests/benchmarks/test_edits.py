"""Edits of known truth: what is planted, what counts as an error, the command; and runs with
edits do not depend on the number of jobs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hebbarium.benchmarks.datasets.base import Conversation
from hebbarium.benchmarks.datasets.demo import load_demo
from hebbarium.benchmarks.edits.__main__ import independent, main, talks
from hebbarium.benchmarks.edits.measure import Judge, Point, edits_of
from hebbarium.benchmarks.edits.planted import PlantedPiece, Truth, planted
from hebbarium.benchmarks.edits.sentences import GROUPS
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.drafts import Kind
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

FIELDS = ("id", "text", "time", "speaker", "session")
Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("half", [0, 1])
def test_what_is_planted_is_known_and_does_not_change_the_rest(half: int, group: str) -> None:
    sentences = GROUPS[group]
    for conversation in load_demo(None, 3).conversations:
        found, truth = planted(conversation, 7, half, sentences)
        assert [e for e in found.events if not e.id.startswith("plant")] == list(
            conversation.events
        )
        assert (
            all(a.time <= b.time for a, b in zip(found.events, found.events[1:], strict=False))
            and found.questions == ()
        )
        assert (
            len({e.session for e in found.events})
            == sum(
                a.session != b.session for a, b in zip(found.events, found.events[1:], strict=False)
            )
            + 1
        )
        for event in found.events:
            for piece in truth.pieces[event.id]:
                assert (
                    event.text[piece.start : piece.end].strip()
                    == event.text[piece.start : piece.end]
                    != ""
                )
        counts = truth.counts()
        assert (
            counts["update"] == sum(change[2] for change in sentences.changes[half::2])
            and counts["merge"] >= 7
            and counts["split"] >= 4
        )
        assert {e.text for e in found.events} & set(sentences.long) <= set(sentences.long[half::2])
        assert not any("{" in event.text for event in found.events)
        assert (
            planted(conversation, 7, half, sentences)
            == (found, truth)
            != planted(conversation, 8, half, sentences)
        )


def test_the_halves_share_no_conversation_and_no_sentence() -> None:
    one, other = ({conversation.id for conversation, _ in talks(half, 2)} for half in (0, 1))
    assert not one & other and len(one | other) == 10
    for group in GROUPS.values():
        assert 2 * sum(change[2] for change in group.changes) == len(group.changes) >= 24
        assert not set(group.changes[0::2]) & set(group.changes[1::2]) and not set(
            group.long[0::2]
        ) & set(group.long[1::2])


def test_groups_share_no_sentence_and_independent_ones_are_planted_in_every_conversation() -> None:
    groups = list(GROUPS.values())
    for place, one in enumerate(groups):
        for other in groups[:place]:
            assert not {text for change in one.changes for text in change[:2]} & {
                text for change in other.changes for text in change[:2]
            }
            assert not set(one.long) & set(other.long) and set(one.again) & set(other.again) == {
                "{text}"
            }
    # one half of the conversations, so that no group shares one
    for group, half in (("fourth", 0), ("fifth", 1)):
        found = independent(group, 2)
        assert {conversation.id for conversation, _ in found} == {
            conversation.id for conversation in load_demo().conversations[half::2]
        }
        texts = {e.text for conversation, _ in found for e in conversation.events}
        # both halves of the sentences
        assert {change[0] for change in GROUPS[group].changes if "{" not in change[0]} <= texts
    for group in ("second", "third"):
        found = independent(group, 2)
        assert len(found) == 20 and len({conversation.id for conversation, _ in found}) == 10
        assert found[0] == planted(
            load_demo().conversations[0], {"second": 100, "third": 200}[group], 0, GROUPS[group]
        )
        # the other half of the sentences in the second planting
        for first, second in zip(found[:10], found[10:], strict=True):
            assert (
                not {e.text for e in first[0].events}
                & {e.text for e in second[0].events}
                & set(GROUPS[group].long)
            )


def test_an_edit_is_right_if_its_statements_say_so() -> None:
    texts = [
        "The pump drips. My sister plays.",
        "The pump drips.",
        "I live in Rome.",
        "I moved to Oslo.",
    ]
    memory = Engine(Registry.read().build(Registry.read().set("all_mem")), HashingEmbedder(16))
    memory.encode_all([Event(float(i), text, "Ada", "s", f"e{i}") for i, text in enumerate(texts)])
    pieces = {
        "e0": (PlantedPiece(0, 15, "pump"), PlantedPiece(16, 32, "sister")),
        "e1": (PlantedPiece(0, 15, "pump"),),
        "e2": (PlantedPiece(0, 15, "Rome"),),
        "e3": (PlantedPiece(0, 16, "Oslo"),),
    }
    judge = Judge(
        memory, Truth(pieces, frozenset({("Oslo", "Rome")}), frozenset({("Rome", "pump")}))
    )
    assert judge.right("UPDATE", [2, 1], []) is None
    assert memory.unit(0).kind is Kind.EVENT and judge.statements(0) == {"pump", "sister"}
    assert (
        judge.right("UPDATE", [3, 2], [])
        and not judge.right("UPDATE", [2, 3], [])
        and not judge.right("UPDATE", [3, 0], [])
    )
    assert (
        not judge.right("MERGE", [0, 1], [])
        and judge.right("MERGE", [1, 1], [])
        and not judge.right("MERGE", [2, 3], [])
    )
    assert (
        not judge.right("SPLIT", [1], [1, 1])
        and judge.right("SPLIT", [0], [1, 2])
        and not judge.right("SPLIT", [0], [0, 1])
    )


def test_segments_and_bundles_state_what_their_texts_state() -> None:
    pump = "The old pump in our garden drips again. It needs a seal soon."
    violin = "Lisbon violins sound sweeter every Sunday. Orchestras love them so."
    events = [
        Event(24.0 * i, text, "Ada", f"s{i}", f"e{i}")
        for i, text in enumerate(
            (
                f"{pump} {violin}",
                "Our red kettle stands behind the green shelf.",
                "Our red kettle stands behind the green shelf.",
                "A letter came.",
            )
        )
    ]
    truth = Truth(
        {
            "e0": (
                PlantedPiece(0, len(pump), "pump"),
                PlantedPiece(len(pump) + 1, len(pump) + 1 + len(violin), "violin"),
            ),
            "e1": (PlantedPiece(0, 45, "kettle"),),
            "e2": (PlantedPiece(0, 45, "kettle"),),
            "e3": (PlantedPiece(0, 14, "letter"),),
        },
        frozenset(),
    )
    mechanisms = Registry.read().build(
        Registry.read()
        .set("all_mem")
        .overridden({"topology_consolidation": {"gate": 0.5, "interval": 1}})
    )
    memory = Engine(mechanisms, HashingEmbedder(64))
    found = edits_of(Conversation("c", tuple(events), ()), truth, memory)
    assert ("merge", True) in {
        (edit.operator, edit.right) for edit in found
    } and truth.counts() == {"split": 1, "merge": 1, "update": 0}
    judge = Judge(memory, truth)
    bundles = [row for row in range(memory.store.n) if memory.unit(row).kind is Kind.BUNDLE]
    assert bundles and all(judge.statements(row) == {"kettle"} for row in bundles)


def test_shares_and_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Point(0.9, "all", 10, 1, 20).named()["found"] == 0.45
    few = ["--embedder", "hashing:64", "--limit", "1", "--plantings", "1", "--gates", "0.6,0.9,1"]
    code = main([*few, "--out", str(tmp_path / "o"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (
        found == json.loads((tmp_path / "o" / "edits.json").read_text(encoding="utf-8"))
        and found["half"] == "report"
    )
    assert found["sentences"] == "first" and all(
        p["interval"][0] <= p["share"] <= p["interval"][1] for p in found["points"]
    )
    of = {(p["gate"], p["operator"]): p for p in found["points"]}
    assert (
        code == int(of[0.9, "all"]["share"] > 0.02)
        and of[0.6, "all"]["edits"] > 0 == of[1.0, "all"]["edits"]
    )
    assert all(
        sum(of[gate, operator]["edits"] for operator in ("split", "merge", "update"))
        == of[gate, "all"]["edits"]
        for gate in (0.6, 0.9)
    )
    assert len(found["erroneous"]["0.6"]) == of[0.6, "all"]["erroneous"]
    drawn = (tmp_path / "o" / "edits.svg").read_text(encoding="utf-8")
    assert drawn.startswith("<?xml") and drawn.count("<circle") == 6 and "var(" not in drawn
    assert (
        main([*few, "--out", str(tmp_path / "o" / "edits.json")]) == 2
        and "What to do" in capsys.readouterr().err
    )
    with pytest.raises(SystemExit) as end:
        main(["--out", "o", "--gates", "high"])
    assert end.value.code == 2 and "give some as 0.5,0.9" in capsys.readouterr().err
    main([*few[:-1], "0.9", "--out", str(tmp_path / "s"), "--sentences", "second", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["half"], found["sentences"]) == ("both", "second")
    with pytest.raises(SystemExit) as end:
        main(["--out", "o", "--calibration", "--sentences", "third"])
    assert end.value.code == 2 and "only the first group" in capsys.readouterr().err


@pytest.mark.slow
def test_runs_with_edits_are_equal_with_one_job_and_two(hebbarium: Command, tmp_path: Path) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    events, questions = [], []
    for conversation in load_demo(None, 2).conversations:
        own = planted(conversation, 0, 1)[0].events
        events += [
            {"conversation": conversation.id, **{name: getattr(e, name) for name in FIELDS}}
            for e in own
        ]
        questions += [
            {
                "conversation": conversation.id,
                "id": q.id,
                "text": q.text,
                "gold": list(q.gold),
                "time": q.time + 24.0,
            }
            for q in conversation.questions[:5]
        ]
    for name, lines in (("events", events), ("questions", questions)):
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
        )
    (folder / "dataset.yaml").write_text("name: talks\n", encoding="utf-8")
    (tmp_path / "made.yaml").write_text(
        "summary: makes memories\nmechanisms: [dense_similarity, surprise_index, speaker_engram, fact_timeline, topology_consolidation, "
        "typed_expansion]\n",
        encoding="utf-8",
    )
    for jobs in ("1", "2"):
        code, _, err = hebbarium(
            "run",
            "--set",
            tmp_path / "made.yaml",
            "--dataset",
            "conversations",
            "--data",
            folder,
            "--embedder",
            "hashing:64",
            "--jobs",
            jobs,
            "--out",
            tmp_path / jobs,
        )
        assert code == 0, err
    assert (tmp_path / "1" / "rows.jsonl").read_bytes() == (
        tmp_path / "2" / "rows.jsonl"
    ).read_bytes()
    code, out, _ = hebbarium("topology", tmp_path / "2", "--json")
    assert code == 0 and json.loads(out)["edits"]["archived"] > 0
