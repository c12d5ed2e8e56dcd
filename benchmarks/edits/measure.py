"""The share of erroneous edits at each gate, over conversations of known truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...engine.catalogue.registry import Registry
from ...engine.contract.drafts import Kind
from ...engine.contract.vocabulary import WRITING
from ...engine.memory.engine import Engine
from ...engine.ports.embedder import Embedder
from ...mechanisms.shared.topology_edits import RECORD, Operator, Reason
from ..datasets.base import Conversation
from ..scores.agreement import wilson
from .planted import Truth

NIGHTS = 24.0 * 30  # h after the last event, so that nothing is left in the buffer
TOPOLOGY = "topology_consolidation"
GATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit that was carried out.

    right   None: nobody can tell
    texts   of its targets
    """

    conversation: str
    operator: str
    confidence: float
    right: bool | None
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Point:
    """The edits of one operator at one gate.

    edits      those of which it is known whether they are right
    possible   edits that would have been right, as planted
    undecided  others: updates by a statement that contradicts the former one without a word about
               it
    """

    gate: float
    operator: str
    edits: int
    erroneous: int
    possible: int
    undecided: int = 0

    @property
    def share(self) -> float:
        """Erroneous edits of all, 0 without any.

        >>> Point(0.9, "merge", 50, 1, 60).share, Point(0.9, "merge", 0, 0, 60).share
        (0.02, 0.0)
        """
        return self.erroneous / self.edits if self.edits else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share, as if edits were independent; all of [0, 1] without
        any.

        >>> [round(end, 4) for end in Point(0.9, "merge", 50, 1, 60).interval], Point(0.9, "merge", 0, 0, 60).interval
        ([0.0035, 0.105], (0.0, 1.0))
        """
        if not self.edits:
            return 0.0, 1.0
        bounds = wilson(self.erroneous, self.edits)
        return bounds.low, bounds.high

    @property
    def found(self) -> float:
        """Right edits of those that would have been right."""
        return (self.edits - self.erroneous) / self.possible if self.possible else 0.0

    def named(self) -> dict[str, Any]:
        """For JSON."""
        return {"gate": self.gate, "operator": self.operator, "edits": self.edits,
                "erroneous": self.erroneous, "share": self.share,
                "interval": list(self.interval), "possible": self.possible, "found": self.found,
                "undecided": self.undecided}  # fmt: skip

    @classmethod
    def of(cls, gate: float, operator: str, edits: Sequence[Edit], possible: int) -> Point:
        """The point of some edits."""
        known = [edit for edit in edits if edit.right is not None]
        return cls(
            gate,
            operator,
            len(known),
            sum(not edit.right for edit in known),
            possible,
            len(edits) - len(known),
        )


class Judge:
    """Says of an edit of one memory whether it is right."""

    def __init__(self, memory: Engine, truth: Truth) -> None:
        self.memory, self.truth = memory, truth

    def statements(self, row: int) -> frozenset[str]:
        """What a unit states: the pieces of its events, of a segment those in its span."""
        unit = self.memory.unit(row)
        span = (
            self.memory.event_log.writings[int(self.memory.column(WRITING)[row])].span
            if unit.kind is Kind.SEGMENT
            else None
        )
        return frozenset(
            statement for id in unit.events for statement in self.truth.statements(str(id), span)
        )

    def right(self, operator: str, targets: Sequence[int], created: Sequence[int]) -> bool | None:
        """Split: no segment holds two statements, and not all the same.  Merge: all targets state
        the same.  Update: all that the second states is outdated by what the first states; None if
        nobody can tell, since the first contradicts it without a word about it."""
        if operator == Operator.SPLIT.name:
            parts = [self.statements(row) for row in created]
            return all(len(part) == 1 for part in parts) and len(frozenset().union(*parts)) > 1
        stated = [self.statements(row) for row in targets]
        if operator == Operator.MERGE.name:
            return len(set(stated)) == 1
        new, old = stated
        if all(any((n, o) in self.truth.outdated for n in new) for o in old):
            return True
        return None if all(any((n, o) in self.truth.against for n in new) for o in old) else False


def edits_of(conversation: Conversation, truth: Truth, memory: Engine) -> list[Edit]:
    """The edits of a memory that lives through a conversation."""
    memory.encode_all(conversation.events)
    memory.advance(conversation.events[-1].time + NIGHTS)
    judge, edits = Judge(memory, truth), []
    for writing in memory.event_log.writings:
        if writing.kind != RECORD or not writing.text.startswith("{"):
            continue
        record = json.loads(writing.text)
        if record["reason"] == Reason.APPLIED:
            right = judge.right(record["operator"], record["targets"], record["edits"]["created"])
            texts = tuple(memory.unit(row).text for row in record["targets"])
            edits.append(
                Edit(
                    conversation.id, record["operator"].lower(), record["confidence"], right, texts
                )
            )
    return edits


def measured(
    talks: Sequence[tuple[Conversation, Truth]],
    embedder: Embedder,
    gates: Sequence[float] = GATES,
    progress: Callable[[float], None] | None = None,
) -> tuple[list[Point], dict[float, list[Edit]]]:
    """The points of all gates and operators, and the edits of each gate; a life for each
    conversation and gate.
    """
    registry, points, edits = Registry.read(), [], {}
    possible: dict[str, int] = {}
    for _, truth in talks:
        for operator, count in truth.counts().items():
            possible[operator] = possible.get(operator, 0) + count
    for gate in gates:
        judged: list[Edit] = []
        for conversation, truth in talks:
            mechanisms = registry.build(
                registry.set("all_mem").overridden({TOPOLOGY: {"gate": gate}})
            )
            with Engine(mechanisms, embedder) as memory:
                judged += edits_of(conversation, truth, memory)
        edits[gate] = judged
        for operator, count in possible.items():
            points.append(
                Point.of(
                    gate, operator, [edit for edit in judged if edit.operator == operator], count
                )
            )
        points.append(Point.of(gate, "all", judged, sum(possible.values())))
        if progress:
            progress(gate)
    return points, edits
