"""What each mechanism weighs in the answers of a data set, as it was measured and ships with the
package.

`weights.json` is written by `hebbarium weights`, which runs for half an hour or so; the audit reads
it and says of which commit it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..engine.base.errors import DataError

FILE = Path(__file__).parent / "weights.json"
FORMAT = 1
GATES = {
    "admission": "admission of events",
    "archive": "what can be answered",
    "condensed": "condensed text",
}
CURE = "run `hebbarium weights` again"


@dataclass(frozen=True, slots=True)
class MeasuredRoute:
    """A chain of columns from what the mechanism writes to one end.

    kind          signal, facets (the weights of all signals), stage; admission, archive or
                  condensed for the gates
    after_recall  whether a step of it runs only after an answer that may change memory
    nearest       whether no chain into the ranking is shorter; always true but for some gates
    """

    to: str
    kind: str
    chain: tuple[str, ...]
    after_recall: bool
    nearest: bool


@dataclass(frozen=True, slots=True)
class MeasuredWeight:
    """What a mechanism weighs, as measured.

    arm, without  the set that holds it and the set that lacks it
    further       signals and stages that longer routes reach
    share         of fused trust, of the signals at the end of the nearest routes; 1 for all
                  signals; None if no route leads to the ranking
    reached       the same of all routes
    cold          questions whose first ten events differ without it, asked once
    rehearsed     the same, asked after every question was asked once and changed memory; None for a
                  set that does not learn from recall
    """

    arm: str
    without: str
    routes: tuple[MeasuredRoute, ...]
    further: tuple[str, ...]
    share: float | None
    reached: float | None
    cold: int
    rehearsed: int | None

    @property
    def inert(self) -> bool:
        """Whether no answer changes without it."""
        return not (self.cold or self.rehearsed)

    @property
    def path(self) -> str:
        """The nearest routes, those that differ in the signal alone as one; "none" if nothing that
        it writes reaches an answer.

        >>> route = lambda *chain: MeasuredRoute(chain[-2], "signal", chain, False, True)
        >>> routes = route("graph", "spread", "fused"), route("graph", "linked", "fused")
        >>> MeasuredWeight("full", "without x", routes, (), 0.1, 0.1, 0, 0).path
        'graph -> spread, linked -> fused'
        """
        grouped: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
        for r in self.routes:
            if r.nearest:
                ends = r.kind == "signal"
                head, end = (r.chain[:-2], r.chain[-1]) if ends else (r.chain, "")
                grouped.setdefault((r.kind, head, end), []).extend([r.to] if ends else [])
        parts = []
        for (kind, head, end), signals in grouped.items():
            chain = " -> ".join(filter(None, (*head, ", ".join(signals), end)))
            parts.append(f"{GATES[kind]}: {chain}" if kind in GATES else chain)
        return "; ".join(parts) or "none"

    @property
    def share_text(self) -> str:
        """Such as `1.4%`, `all`, or `-` if no route leads to the ranking.

        >>> [MeasuredWeight("", "", (), (), share, share, 0, 0).share_text for share in (0.0141, 1.0, None)]
        ['1.4%', 'all', '-']
        """
        return (
            "-" if self.share is None else "all" if self.share >= 1 else f"{100 * self.share:.1f}%"
        )


@dataclass(frozen=True, slots=True)
class Weights:
    """The file.

    commit        that was measured; "" if it had no history
    code          version of the package
    set_name             set whose mechanisms were left off in turn; a variety was swapped in for
                         its original
    best                 events of an answer that were compared
    rehearse             h between use and the question that counts; None for a set that does not
                         learn from recall
    gold                 questions that name their evidence, of all `questions`
    signals              signal -> (mechanism, mean share of fused trust)
    """

    date: str
    commit: str
    code: str
    command: str
    dataset: str
    embedder: str
    set_name: str
    best: int
    rehearse: float | None
    conversations: int
    questions: int
    gold: int
    notes: tuple[str, ...]
    signals: Mapping[str, tuple[str, float]]
    mechanisms: Mapping[str, MeasuredWeight]

    def of(self, id: str) -> MeasuredWeight | None:
        """None for a mechanism that was not measured."""
        return self.mechanisms.get(id)

    def line(self, id: str) -> str:
        """What a card says of a mechanism."""
        weight = self.of(id)
        if weight is None:
            return f"not measured; {CURE}"
        trust = (
            f" Share of the fused trust: {weight.share_text}." if weight.share is not None else ""
        )
        later = "" if self.rehearse is None else f"asked again {self.rehearse:g} h after use"
        if weight.inert:
            asked = (
                f"asked once and {later}"
                if later
                else f"asked once: {self.set_name} does not learn from recall"
            )
            what = f"Inert: no answer of {self.dataset} changes without it ({self.questions} questions, {asked})."
        else:
            asked = (
                f", {weight.rehearsed} of {self.questions} {later}"
                if later
                else f" ({self.set_name} does not learn from recall)"
            )
            what = f"Answers of {self.dataset} that change without it: {weight.cold} of {self.questions} asked once{asked}."
        return f"Path: {weight.path}.{trust} {what}"


@cache
def shipped() -> Weights | None:
    """The weights that come with the package; None without the file.  Raises DataError for a
    file that cannot be read.
    """
    return read(FILE) if FILE.is_file() else None


def read(path: Path) -> Weights:
    """Raises DataError for a file of another form."""
    try:
        return _read(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"it does not hold weights of mechanisms ({type(error).__name__}: {error})",
            where=str(path),
            cure=CURE,
        ) from error


def _read(data: Mapping[str, Any]) -> Weights:
    if data["format"] != FORMAT:
        raise ValueError(f"format {data['format']}, not {FORMAT}")
    how = data["provenance"]
    return Weights(
        **{name: how[name] for name in ("date", "commit", "code", "command", "dataset", "embedder",
                                        "best", "rehearse",
                                        "conversations", "questions", "gold")},
        set_name=how["set"], notes=tuple(data["notes"]), signals={name: (s["mechanism"],
        s["share"]) for name, s in data["signals"].items()},
        mechanisms={id: _weight(w) for id, w in data["mechanisms"].items()})  # fmt: skip


def _weight(w: Mapping[str, Any]) -> MeasuredWeight:
    routes = tuple(
        MeasuredRoute(r["to"], r["kind"], tuple(r["chain"]), r["after_recall"], r["nearest"])
        for r in w["routes"]
    )
    return MeasuredWeight(
        w["with"],
        w["without"],
        routes,
        tuple(w["further"]),
        w["share"],
        w["reached"],
        w["cold"],
        w["rehearsed"],
    )
