"""`python -m hebbarium.benchmarks.edits.arms`: the eight arms of All-Mem's ablation (table 10) in a
world of planted duplicates, conflations and versions, with a scripted model.

The model reads the prompts that a language model would get, and answers by what was planted.  Its
replies are in `arms.transcript`, which ships; `--record` makes it anew after prompts have changed.
Each kind of question needs one part of the topology, so that an arm without this part loses these
questions and no others (`LOST`).
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from ...engine.catalogue.registry import Registry
from ...engine.contract.records import Event, Query
from ...engine.memory.engine import Engine
from ...engine.ports.by_name import embedder
from ...engine.ports.embedder import Embedder
from ...engine.ports.language_model import LanguageModel, Reply, Request
from ...engine.ports.transcript import Transcript, replayed
from ...reporting.output import put

TRANSCRIPT: Final = Path(__file__).parent / "arms.transcript"
EMBEDDER: Final = "hashing:1024"
SURE: Final = 0.95
K: Final = 5  # of recall@K, as in table 10
ARMS: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = MappingProxyType(
    {
        "full": {},
        "no visibility": {"topology_consolidation": {"archive": False}},
        "without split": {"topology_consolidation": {"split": False}},
        "without merge": {"topology_consolidation": {"merge": False}},
        "without update": {"topology_consolidation": {"update": False}},
        "anchors only": {"typed_expansion": {"hops": 0}},
        "no recovery links": {"typed_expansion": {"recovery": False}},
        "no type priority": {"typed_expansion": {"priority": False}},
    }
)
# arm -> the kinds of questions whose gold it does not find among the first five
LOST: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "full": frozenset(),
        "no visibility": frozenset({"stale"}),
        "without split": frozenset({"conflation"}),
        "without merge": frozenset({"duplicate"}),
        "without update": frozenset({"version", "stale"}),
        "anchors only": frozenset({"former", "before", "order"}),
        "no recovery links": frozenset({"former", "order"}),
        "no type priority": frozenset({"order"}),
    }
)
# two memories beside the ten anchors, so that the order in which links are followed matters
BUDGET: Final[Mapping[str, Mapping[str, Any]]] = {"typed_expansion": {"candidates": 12}}


@dataclass(frozen=True, slots=True)
class ArmQuestion:
    """A question of a kind; gold are ids of events."""

    kind: str
    text: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlantedWorld:
    """Events, questions, and what the scripted model knows of texts.

    copies   text -> the statement that it makes, where several texts make it
    parts    text of two matters -> the two
    updates  later text -> (earlier text that it outdates, summary of what holds now)
    """

    events: tuple[Event, ...]
    questions: tuple[ArmQuestion, ...]
    copies: Mapping[str, str]
    parts: Mapping[str, tuple[str, str]]
    updates: Mapping[str, tuple[str, str]]


class _TurnWriter:
    """Collects the events of a world, a second apart, sessions an hour apart."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.session = 0

    def begin(self) -> None:
        self.session += 1

    def say(self, text: str) -> str:
        """Add a turn; its id."""
        id = f"turn{len(self.events)}"
        time = 10.0 + self.session + len(self.events) / 60.0 / 60.0
        self.events.append(Event(time, text, "Ada", f"s{self.session}", id))
        return id


def planted_world() -> PlantedWorld:
    """The world.  Its words are chosen so that cosines of bags of words decide as planted:

    duplicate   five turns say the same, behind four that nearly do; one bundle shows all of them
    conflation  a turn of two matters is behind six turns that are nearly about the second one; its
                segment is before them
    version     a change told in other words; its new descriptor has the words of the question
    stale       six outdated turns are before the gold unless they are archived
    former      what held before is archived, one version link from what holds now
    before      what is archived stands, in its session, before the turn that is found
    order       what is archived is later than eight memories that its successor is linked to
    """
    w = _TurnWriter()
    questions: list[ArmQuestion] = []
    copies: dict[str, str] = {}
    parts: dict[str, tuple[str, str]] = {}
    updates: dict[str, tuple[str, str]] = {}

    w.begin()
    said, statement = [], "harbour lamp glows green nightly"
    for phrase in ("as everybody knows", "listen up folks", "my dear friend", "once more today",
                   "so they say"):  # fmt: skip
        text = f"{statement} {phrase}"
        said.append(w.say(text))
        copies[text] = statement
    for other in ("brightly", "faintly", "slowly", "warmly"):
        w.say(f"harbour lamp glows green {other}")
    questions.append(ArmQuestion("duplicate", statement, tuple(said)))

    w.begin()
    both = (
        "bakery opens early sunday selling rye buns cheaply",
        "violin lesson costs forty crowns every second tuesday",
    )
    whole = w.say(". ".join(both))
    parts[". ".join(both)] = both
    for other in ("cello", "flute", "organ", "viola", "drum", "piano"):
        w.say(f"lesson costs forty crowns {other} monthly")
    questions.append(ArmQuestion("conflation", "violin lesson costs forty crowns", (whole,)))

    w.begin()
    for other in ("book", "label", "stamp", "card", "list", "form"):
        w.say(f"quentin home address {other}")
    # nothing follows it in its session, so that no temporal link leads to it
    old_home = w.say("quentin lives near oslo castle street")
    w.begin()
    moved = "boxes carried weekend bergen castle street quentin"
    new_home = w.say(moved)
    updates[moved] = (
        "quentin lives near oslo castle street",
        "quentin present home address bergen formerly oslo",
    )
    questions.append(ArmQuestion("version", "quentin present home address", (new_home,)))
    questions.append(
        ArmQuestion("former", "quentin lives oslo castle street formerly", (old_home,))
    )

    w.begin()
    stale = [f"kettle price {words}" for words in (
        "nine crowns friday", "ten guilders monday", "six francs autumn", "two marks winter",
        "four pounds spring", "five pesos summer")]  # fmt: skip
    for text in stale:
        w.say(text)
    w.begin()
    for number, text in enumerate(stale):
        later = f"{' '.join(text.split()[2:])} withdrawn depot{number} relocated"
        w.say(later)
        updates[later] = (text, f"depot{number} relocated catalogue{number}")
    w.begin()
    kept = w.say("kettle price complaint was finally settled by bruno yesterday evening")
    for name in ("rice", "soap", "wool", "salt", "milk", "corn", "hops", "lard", "beef", "kale"):
        w.say(f"price list {name} from{name} market{name} stall{name}")
    questions.append(ArmQuestion("stale", "kettle price", (kept,)))

    w.begin()
    w.say("orchard ladder stands outside shed")
    leak = "greenhouse pump leaks oil daily"
    leaked = w.say(leak)
    w.say("greenhouse pump inspected oil wednesday by otto")
    w.begin()
    mended = "plumber finished pump valve replaced invoice leaks"
    w.say(mended)
    updates[mended] = (leak, "plumber invoice valve replaced")
    questions.append(ArmQuestion("before", "greenhouse pump oil inspected daily", (leaked,)))

    w.begin()
    for number in range(8):
        w.say(f"report draft section table figure page{number}")
    for number in range(9):
        w.say(f"window{number} replaced north{number}")
    w.begin()
    gate = "gate passphrase lantern orchid"
    opened = w.say(gate)
    w.begin()
    changed = "report draft section table figure orchid lantern"
    w.say(changed)
    updates[changed] = (gate, "gate passphrase lantern replaced")
    questions.append(ArmQuestion("order", "gate passphrase lantern orchid replaced", (opened,)))
    return PlantedWorld(tuple(w.events), tuple(questions), copies, parts, updates)


class ScriptedModel:
    """A model that answers every prompt of the topology by what was planted."""

    name, revision = "scripted", "1"

    def __init__(self, world: PlantedWorld) -> None:
        self.world = world

    def ask(self, requests: Sequence[Request]) -> list[Reply]:
        return [
            Reply.read(request, json.dumps(self._reply(request), sort_keys=True))
            for request in requests
        ]

    def _reply(self, request: Request) -> dict[str, Any]:
        texts = _memories(request.prompt)
        first = texts[0][1]
        if request.purpose == "topology_descriptor":
            return {"summary": first, "keywords": first.split()[:1]}
        if request.purpose == "topology_diagnosis":
            return self._diagnosis(texts[0][0], first, _similar(request.prompt))
        if request.purpose == "topology_split":
            return {
                "do_split": True,
                "segments": [
                    {
                        "segment_text": part,
                        "segment_summary": part,
                        "segment_keywords": part.split()[:1],
                        "topic_label": part.split()[0],
                    }
                    for part in self.world.parts[first]
                ],
                "split_rationale": "two matters",
            }
        if request.purpose == "topology_merge":
            summary = self.world.copies[first]
            return {"summary": summary, "keywords": summary.split()[:1], "salient_points": []}
        summary = self.world.updates[first][1]
        return {
            "updated_summary": summary,
            "updated_keywords": summary.split()[:1],
            "deprecations": [],
            "alignment_note": "",
        }

    def _diagnosis(self, target: int, text: str, near: Mapping[int, str]) -> dict[str, Any]:
        tasks: dict[str, Any] = {"split_tasks": [], "merge_tasks": [], "update_tasks": []}
        if text in self.world.parts:
            tasks["split_tasks"] = [
                {"node_id": target, "confidence": SURE, "reason": "two matters"}
            ]
        if statement := self.world.copies.get(text):
            same = sorted(
                {
                    target,
                    *(v for v, said in near.items() if self.world.copies.get(said) == statement),
                }
            )
            # groups of five: the most that a merge may have
            groups = [same[at : at + 5] for at in range(0, len(same), 5)]
            tasks["merge_tasks"] = [
                {"node_ids": group, "confidence": SURE, "reason": "the same"}
                for group in groups
                if target in group and len(group) > 1
            ]
        if text in self.world.updates:
            old, _ = self.world.updates[text]
            tasks["update_tasks"] = [
                {"current_id": target, "superseded_id": v, "confidence": SURE, "reason": "a change"}
                for v, said in near.items()
                if said == old
            ]
        return tasks


def _memories(prompt: str) -> list[tuple[int, str]]:
    """(id, text) of the memories that a prompt quotes whole."""
    return [
        (int(id), text)
        for id, text in re.findall(r"^[A-Z]+ id (-?\d+).*?:\n(.*?)$", prompt, re.MULTILINE)
    ]


def _similar(prompt: str) -> dict[int, str]:
    """id -> summary of the similar memories of a diagnosis."""
    return {
        int(id): summary
        for id, summary in re.findall(r"^id (\d+): (.*) \([^()]*\), hour", prompt, re.MULTILINE)
    }


def asked(
    model: LanguageModel, arm: str, world: PlantedWorld, texts: Embedder, registry: Registry
) -> tuple[dict[str, float], Engine]:
    """recall@5 of each kind of question in one arm, and the memory.  One life of the world."""
    overrides: dict[str, dict[str, Any]] = {
        "topology_consolidation": {"model": True},
        "typed_expansion": dict(BUDGET["typed_expansion"]),
    }
    for id, changed in ARMS[arm].items():
        overrides[id].update(changed)
    mechanisms = registry.build(registry.set("all_mem").overridden(overrides))
    memory = Engine(mechanisms, texts, language_model=model)
    memory.encode_all(world.events)
    memory.advance(72.0)
    scores: dict[str, list[float]] = {}
    for question in world.questions:
        answer = memory.retrieve(Query(question.text, memory.now), len(world.events))
        ranks = [
            min(filter(None, map(answer.rank, memory.event_log.showing(id))), default=0)
            for id in question.gold
        ]
        # a bundle shows several gold events at one rank
        scores.setdefault(question.kind, []).append(
            fsum(0 < rank <= K for rank in ranks) / len(ranks)
        )
    return {kind: fsum(values) / len(values) for kind, values in scores.items()}, memory


def measured(model: LanguageModel) -> Iterator[tuple[str, dict[str, float]]]:
    """(arm, recall@5 of each kind) for the eight arms."""
    world, texts, registry = planted_world(), embedder(EMBEDDER, None), Registry.read()
    for arm in ARMS:
        scores, memory = asked(model, arm, world, texts, registry)
        memory.close()
        yield arm, scores


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="make the transcript anew")
    model: LanguageModel
    if parser.parse_args(arguments).record:
        TRANSCRIPT.unlink(missing_ok=True)
        model = Transcript(ScriptedModel(planted_world()), TRANSCRIPT, "record")
    else:
        model = replayed(TRANSCRIPT)
    for arm, scores in measured(model):
        put(f"{arm:18}" + "  ".join(f"{kind} {value:.3f}" for kind, value in scores.items()))


if __name__ == "__main__":
    main()
