"""HippoRAG and A-MEM with a language model: a transcript repeats a life, and without a model they
are what they are without the mechanisms that ask one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hebbarium.benchmarks.datasets import load
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.ports.language_model import LanguageModel, Reply, Request
from hebbarium.engine.ports.transcript import Transcript, replayed

REGISTRY = Registry.read()
TOLD = (
    ("Ada", "She keeps bees."),
    ("Bo", "The old mill grinds barley."),
    ("Cleo", "I bought the bees last week."),
    ("Ada", "It rained."),
)
TRIPLES = {
    "keeps bees": ("ada", "keeps", "bees"),
    "grinds barley": ("the old mill", "grinds", "barley"),
    "bought the bees": ("cleo", "bought", "bees"),
}
QUESTIONS = ("Who bought what Ada keeps?", "What grinds?", "Did it rain?")


class Reader:
    """A model that reads the triples above, keeps those about bees, and notes every message."""

    name, revision = "reader", "1"

    def __init__(self) -> None:
        self.asked = Counter[str]()

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        self.asked.update(request.purpose for request in requests)
        return [Reply.read(request, json.dumps(self.reply(request))) for request in requests]

    def reply(self, request: Request) -> Any:
        lines = request.prompt.splitlines()
        if request.purpose == "triples":
            told = [t for mark, t in TRIPLES.items() if mark in request.prompt]
            keys = ("subject", "relation", "object")
            return {"triples": [dict(zip(keys, t, strict=True)) for t in told]}
        if request.purpose == "triple_filter":
            return {"numbers": [n for n, line in enumerate(lines[1:], 1) if "bees" in line]}
        if request.purpose == "note":
            about = "bees" if "bees" in request.prompt else "weather and work"
            return {"keywords": [about], "tags": ["farm"], "context": f"About {about}."}
        bees, near = (
            "bees" in lines[0],
            [n for n, line in enumerate(lines[1:], 1) if "bees" in line],
        )
        changed = [{"number": n, "context": "Bees were sold.", "tags": ["past"]} for n in near]
        return {"links": near if bees else [], "updates": changed if bees else []}


def lived(name: str, model: LanguageModel | None, without: Sequence[str] = ()) -> Engine:
    chosen = REGISTRY.set(name)
    mechanisms = [m for m in REGISTRY.build(chosen) if m.id not in without]
    memory = Engine(mechanisms, HashingEmbedder(64), language_model=model)
    memory.encode_all(
        Event(float(n), text, speaker, "S1", f"e{n}", dated=False)
        for n, (speaker, text) in enumerate(TOLD)
    )
    memory.advance(48.0)
    return memory


def answers(memory: Engine) -> list[tuple[list[int], bytes]]:
    given = [memory.retrieve(question, 4) for question in QUESTIONS]
    return [(answer.rows.tolist(), answer.final.tobytes()) for answer in given]


@pytest.mark.parametrize(
    ("name", "purposes"),
    [("hipporag", {"triples": 4, "triple_filter": 3}), ("a_mem", {"note": 4, "note_evolution": 3})],
)
def test_a_transcript_repeats_a_life_and_its_answers(
    name: str, purposes: dict[str, int], tmp_path: Path
) -> None:
    model, file = Reader(), tmp_path / "reader.transcript"
    recorded = lived(name, Transcript(model, file, "record"))
    given = answers(recorded)
    assert model.asked == purposes
    again = lived(name, replayed(file))
    assert answers(again) == given and again.digest() == recorded.digest()
    assert answers(lived(name, None)) != given


def test_the_triples_of_hipporag_lead_from_one_telling_to_the_other() -> None:
    """Bees are no capitalised name: only the triples join both messages."""
    memory = lived("hipporag", Reader())
    answer = memory.retrieve(QUESTIONS[0], 2)
    assert sorted(answer.rows.tolist()) == [0, 2]
    assert memory.graph.entity_id("bees") is not None
    assert lived("hipporag", None).graph.entity_id("bees") is None


def test_linked_notes_of_a_mem_are_found_together() -> None:
    memory = lived("a_mem", Reader())
    memory.retrieve(TOLD[0][1], 4)
    noted, graph = memory.column("noted"), memory.graph
    held = memory.column("note_link")
    links = {(int(graph.source[e]), int(graph.target[e])) for e in np.flatnonzero(held)}
    assert links == {(0, 2), (2, 0)}
    own = memory.column("note_embedding")[2] @ HashingEmbedder(64).embed([TOLD[0][1]])[0]
    assert noted[2] == pytest.approx(0.8 * noted[0]) and noted[2] > own + 0.01
    texts = [w.text for w in memory.event_log.writings if w.sources == (0, 2)]
    assert len(texts) == 1 and "Bees were sold." in texts[0]


@pytest.mark.parametrize(
    ("name", "asking"), [("hipporag", ("typed_relations",)), ("a_mem", ("evolving_notes",))]
)
def test_without_a_model_a_set_answers_as_without_what_asks_one(
    name: str, asking: tuple[str, ...]
) -> None:
    conversation = load("demo", limit=1).conversations[0]
    given = []
    for without in ((), asking):
        chosen = [m for m in REGISTRY.build(REGISTRY.set(name)) if m.id not in without]
        memory = Engine(chosen, HashingEmbedder(64))
        memory.encode_all(conversation.events)
        memory.advance(memory.now + 48.0)
        given.append(
            [
                memory.retrieve(Query(question.text, memory.now), 20).rows.tolist()
                for question in conversation.questions
            ]
        )
    assert given[0] == given[1]
