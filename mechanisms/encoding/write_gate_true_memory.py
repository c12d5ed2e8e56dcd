"""True Memory's encoding gate: computes novelty, salience and prediction error of an event and
stores it if their weighted mean is high enough.

Novelty n is the relative increase of compressed size when the event is appended to its nearest
memories.  Salience s is computed from the event alone.  Prediction error pi compares the embedding
of the pair (event, nearest memory) with that of the pair (memory, memory).  An event is stored if
its salience reaches a floor and the weighted mean of the three reaches a threshold, which is lower
for corrections, decisions and relationships (Adler & Zehavi 2026, section 4.1, stage 1).  Texts are
compared verbatim; a rejected event stays in the event log.

`prediction_error: needed` computes pi only if the decision depends on it, because its two
embeddings cost more than all the rest; else pi is NaN. The decisions are those of `always`.

`variant: code` adds what the public code does beyond the paper
(`truememory/ingest/encoding_gate.py` at commit 000af45): (i) offsets of two more categories, (ii) a
least threshold, (iii) corrections always pass, (iv) every event passes if the embedding model
fails, (v) a clamped score, and (form) a different formula for n.

The default container is gzip, as in the paper's |gz(.)|; the paper's weights and threshold were
fitted with it.  gzip adds a frame of 18 bytes to every text, so no text compresses to fewer than 20
bytes and the paper's rule for "below 10 bytes" would never apply.  The rule is meant for trivially
short messages, so here it counts the compressed data without the frame, the same number for every
container.

Cost: one exact search, O(n d); compression of the event and of at most 32 KiB of neighbours; for
about a third of the events one call of the embedder.  `forecast` names its texts ahead, which
doubles the search and the compression and saves single calls.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from ...engine.base.errors import HebbariumError
from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, forecast, hook
from ...engine.contract.vocabulary import (
    EMBEDDER,
    INDEX,
    ROW,
    SALIENCE,
    TEXTS,
    THRESHOLD_SHIFT,
    VETO,
)
from ...engine.text.compression import compressed_length
from ...engine.text.features import Features, SpeechAct
from ...engine.text.utf8 import encoded
from ..shared.salience import density as density
from ..shared.salience import salience

Container = Literal["raw", "zlib", "gzip"]

# --- columns --------------------------------------------------------------------------------------
GATE_NOVELTY = Column(
    "gate_novelty",
    np.float64,
    Scope.EVENT,
    "1",
    np.nan,
    "n, novelty against the nearest memories; NaN: not computed",
    low=0,
    high=1,
)
GATE_PREDICTION_ERROR = Column(
    "gate_prediction_error",
    np.float64,
    Scope.EVENT,
    "1",
    np.nan,
    "pi, prediction error; NaN: not computed, because the decision does not depend on it",
    low=0,
    high=1,
)
GATE_TAGS = Column(
    "gate_tags",
    np.float32,
    Scope.MEMORY,
    "1",
    np.nan,
    "(n, s, pi) of the event at admission; NaN: not computed",
    (3,),
    low=0,
    high=1,
)

# --- novelty --------------------------------------------------------------------------------------
WBITS: Final[Mapping[str, int]] = MappingProxyType({"raw": -15, "zlib": 15, "gzip": 31})
# header and checksum, bytes
OVERHEAD: Final[Mapping[str, int]] = MappingProxyType({"raw": 0, "zlib": 6, "gzip": 18})
SHORT_SIZE: Final = 10  # bytes; the paper's "compressed size below 10 bytes"
SHORT_NOVELTY: Final = 0.05  # novelty of such a message
WINDOW: Final = 32_768  # bytes, window of DEFLATE


def compressed_size(data: bytes, level: int, container: str) -> int:
    """|gz(.)|, compressed size in bytes including the frame; O(length).

    >>> [compressed_size(b"", 6, c) for c in ("raw", "zlib", "gzip")]
    [2, 8, 20]
    """
    return compressed_length(data, level, WBITS[container])


def trivially_short(size: int, container: str) -> bool:
    """Whether a message of this compressed size has fewer than 10 bytes of compressed data, without
    the container's frame.

    >>> [trivially_short(compressed_size(b"ok", 6, c), c) for c in ("raw", "zlib", "gzip")]
    [True, True, True]
    """
    return size - OVERHEAD[container] < SHORT_SIZE


def novelty(memory: bytes, event: bytes, level: int, container: str) -> float:
    """n = (|gz(M || e)| - |gz(M)|) / |gz(e)|.  True Memory, 4.1 stage 1.  Cost: O(|M| + |e|).

    memory   M, nearest messages joined; empty: n = 1
    event    e; trivially short: n = 0.05
    level    of compression, 1..9
    returns  1, 0..1; 1: entirely new

    >>> told = b"Alice prefers oat milk in her coffee. Bob's birthday is on March 14."
    >>> bool(novelty(told, told[:37], 6, "gzip") < 0.2 < 0.4 < novelty(told, b"The backup job moved to Frankfurt at 02:30.", 6, "gzip"))
    True
    """
    if not memory:
        return 1.0
    own = compressed_size(event, level, container)
    if trivially_short(own, container):
        return SHORT_NOVELTY
    added = compressed_size(memory + event, level, container) - compressed_size(
        memory, level, container
    )
    return clamped(added / own)


def code_novelty(memory: bytes, event: bytes, level: int, container: str) -> float:
    """n of the public code (form): a space between M and e, short messages tested with the frame, n
    at least 0.05.

    M starts with the nearest message; arguments and cost as for `novelty`.
    """
    if not memory:
        return 1.0
    own = compressed_size(event, level, container)
    if own < SHORT_SIZE:
        return SHORT_NOVELTY
    added = compressed_size(memory + b" " + event, level, container) - compressed_size(
        memory, level, container
    )
    return max(SHORT_NOVELTY, clamped(added / own))


def memory_text(texts: Iterable[str], joiner: bytes = b"") -> bytes:
    """M: texts joined in reverse order, so that the first is next to the event; at most the last 32
    KiB.

    DEFLATE cannot refer to anything earlier, so a longer M costs time and changes only the few bits
    by which code tables differ. Cost: O(32 KiB) for any length of texts.

    >>> memory_text(["nearest", "next"], b" ")
    b'next nearest'
    """
    parts: list[bytes] = []
    room = WINDOW
    for text in texts:
        if room <= 0:
            break
        parts.append(utf8(text[-WINDOW:]))
        room -= len(parts[-1]) + len(joiner)
    return joiner.join(reversed(parts))[-WINDOW:]


def utf8(text: str) -> bytes:
    """UTF-8 bytes of any string, lone surrogates included."""
    return encoded(text)


@kernel
def clamped(x: float) -> float:
    """x clipped to [0, 1]; the paper's score is in [0, 1] only if its three terms are.

    >>> float(clamped(1.6)), float(clamped(-0.1))
    (1.0, 0.0)
    """
    return min(max(x, 0.0), 1.0)


# --- prediction error -----------------------------------------------------------------------------
# most characters of each text of a pair; a sentence model reads some thousand characters
PAIR_CHARACTERS: Final = 8_192


def pairs(event: str, nearest: str) -> list[str]:
    """The cross pair (e [SEP] m1) and the self pair (m1 [SEP] m1).

    >>> pairs("tea", "coffee")
    ['tea [SEP] coffee', 'coffee [SEP] coffee']
    """
    e, m = event[:PAIR_CHARACTERS], nearest[:PAIR_CHARACTERS]
    return [f"{e} [SEP] {m}", f"{m} [SEP] {m}"]


@kernel
def prediction_error(cross: Any, own: Any) -> float:
    """pi = 1 - cos(v_cross, v_self), in [0, 1].  True Memory, 4.1 stage 1.  Cost: O(d).

    cross  (d,)  1  embedding of the cross pair
    own    (d,)  1  embedding of the self pair

    >>> float(prediction_error(np.array([1.0, 0.0]), np.array([0.0, 2.0]))), float(prediction_error(np.array([1.0, 0.0]), np.array([-1.0, 0.0])))
    (1.0, 1.0)
    """
    dot, a, b = 0.0, 0.0, 0.0
    for i in range(cross.shape[0]):
        # float() would keep single precision here
        x, y = np.float64(cross[i]), np.float64(own[i])
        dot += x * y
        a += x * x
        b += y * y
    return float(clamped(1.0 - dot / np.sqrt(a * b)))


# --- the decision ---------------------------------------------------------------------------------
@kernel
def gate_score(
    n: float, s: float, pi: float, lambda_n: float, lambda_s: float, lambda_pi: float
) -> float:
    """(lambda_n n + lambda_s s + lambda_pi pi) / (lambda_n + lambda_s + lambda_pi).  True Memory,
    eq. (1), left side.  Cost: O(1).

    n, s, pi                       1  novelty, salience, prediction error, 0..1
    lambda_n, lambda_s, lambda_pi  1  weights, not all 0

    >>> round(float(gate_score(1.0, 0.2, 0.0, 0.25, 0.20, 0.30)), 6)
    0.386667
    """
    return (lambda_n * n + lambda_s * s + lambda_pi * pi) / (lambda_n + lambda_s + lambda_pi)


@kernel
def admits(score: float, s: float, bar: float, floor: float) -> bool:
    """score >= tau + Delta_c and s >= s_min.  True Memory, eq. (1) and the salience floor.  Cost:
    O(1).

    score  1  left side of eq. (1)
    bar    1  tau + Delta_c
    floor  1  s_min: an event of lower salience is rejected at any score

    >>> bool(admits(0.3, 0.1, 0.3, 0.1)), bool(admits(0.757, 0.09, 0.3, 0.1))
    (True, False)
    """
    return s >= floor and score >= bar


LEAST_BAR: Final = 0.10  # (ii)
EVENT_OFFSET, ACTIVITY_OFFSET = -0.04, -0.02  # (i)


def code_admits(
    score: float, s: float, bar: float, floor: float, *, correction: bool, unjudged: bool
) -> bool:
    """The decision with the additions of the public code.

    correction  whether the event corrects or contradicts an earlier statement
    unjudged    whether the embedding model failed, so that no prediction error exists
    """
    if unjudged:  # (iv) without a model every event passes
        return True
    # (iii) corrections pass, even below the salience floor
    if correction:
        return True
    bar = max(LEAST_BAR, bar)  # (ii) the threshold is at least 0.10
    return bool(admits(clamped(score), s, bar, floor))  # (v) the score is clamped


def code_offset(features: Features) -> float:
    """(i) Offsets of two more categories, which the code takes from a language model: a
    statement with a date (event) or an entity (activity).
    """
    if features.act is not SpeechAct.STATEMENT:
        return 0.0
    return EVENT_OFFSET if features.dates else ACTIVITY_OFFSET if features.entities else 0.0


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class WriteGateTrueMemoryParams(Params):
    variant: Literal["paper", "code"]
    lambda_novelty: float
    lambda_salience: float
    lambda_prediction: float
    threshold: float  # tau
    salience_floor: float  # s_min
    correction_offset: float  # Delta_c
    decision_offset: float
    relationship_offset: float
    neighbours: int  # messages in M
    topical_threshold: float  # cosine to the nearest memory below which pi = 0
    gzip_level: int
    container: Container
    prediction_error: Literal["needed", "always"]


class WriteGateTrueMemory(Mechanism[WriteGateTrueMemoryParams]):
    """Vetoes events by novelty, salience and prediction error, and stores the three values with
    each admitted memory.
    """

    owns = (GATE_NOVELTY, GATE_PREDICTION_ERROR, GATE_TAGS)

    @hook(
        Phase.ENCODE,
        reads=(INDEX.before, TEXTS.before, EMBEDDER, THRESHOLD_SHIFT),
        adds=(VETO,),
        sets=(GATE_NOVELTY, SALIENCE, GATE_PREDICTION_ERROR),
    )
    def judge(self, view: Any, incoming: Incoming) -> None:
        p, text, features = self.params, incoming.event.text, incoming.features
        rows, cosines = view.index.search(incoming.vector, p.neighbours)
        near = [view.texts[row] for row in rows.tolist()]
        n, s, bar = (
            self._novelty(near, text),
            salience(len(text), features),
            p.threshold + self._offset(features) + view.threshold_shift,
        )
        pi: float | None = 0.0
        if self._relevant(near, cosines, features):
            pi = (
                math.nan
                if self._decided(n, s, bar, features)
                else self._prediction_error(view, text, near[0])
            )
        view.gate_novelty, view.salience, view.gate_prediction_error = n, s, pi or 0.0
        view.veto = (
            0
            if self._admits(
                n,
                s,
                0.0 if pi is None or math.isnan(pi) else pi,
                bar,
                features,
                unjudged=pi is None,
            )
            else 1
        )

    @hook(
        Phase.ENCODE,
        reads=(ROW, GATE_NOVELTY, SALIENCE, GATE_PREDICTION_ERROR),
        adds=(),
        sets=(GATE_TAGS,),
    )
    def store_values(self, view: Any, incoming: Incoming) -> None:
        view.gate_tags[view.row] = view.gate_novelty, view.salience, view.gate_prediction_error

    @forecast(reads=(INDEX, TEXTS))
    def pairs_of_the_undecided(self, view: Any, coming: Sequence[Incoming]) -> list[str]:
        """Pairs of events whose decision needs pi, as far as can be told: without shifts of the
        threshold, and with undecided events stored.
        """
        p, cosine = self.params, np.stack([event.vector for event in coming])
        cosine, stored, undecided = cosine @ cosine.T, list[int](), list[str]()
        for i, incoming in enumerate(coming):
            rows, cosines = view.index.search(incoming.vector, p.neighbours)
            near = [
                (float(c), view.texts[row]) for row, c in zip(rows.tolist(), cosines, strict=True)
            ]
            near = sorted(
                [*near, *((float(cosine[i, j]), coming[j].event.text) for j in stored)],
                key=lambda pair: -pair[0],
            )[: p.neighbours]
            text, features, texts = (
                incoming.event.text,
                incoming.features,
                [near_text for _, near_text in near],
            )
            n, s, bar = (
                self._novelty(texts, text),
                salience(len(text), features),
                p.threshold + self._offset(features),
            )
            decided = not self._relevant(texts, [c for c, _ in near], features) or self._decided(
                n, s, bar, features
            )
            if not decided:
                undecided += pairs(text, texts[0])
            if not decided or self._admits(n, s, 0.0, bar, features):
                stored.append(i)
        return undecided

    def _relevant(self, near: list[str], cosines: Any, features: Features) -> bool:
        """Whether pi is defined; it is 0 for noise and for an event without a topical neighbour."""
        return (
            bool(near)
            and features.act is not SpeechAct.NOISE
            and bool(cosines[0] >= self.params.topical_threshold)
        )

    def _decided(self, n: float, s: float, bar: float, features: Features) -> bool:
        """Whether pi can be left out: the decision is the same for every pi in [0, 1], since the
        score grows with pi, also in floating point.

        With `variant: code` only an admission can be decided before pi, because a model that fails
        admits the event.
        """
        p = self.params
        if p.prediction_error == "always":
            return False
        return self._admits(n, s, 0.0, bar, features) or (
            p.variant == "paper" and not self._admits(n, s, 1.0, bar, features)
        )

    def _admits(
        self, n: float, s: float, pi: float, bar: float, features: Features, unjudged: bool = False
    ) -> bool:
        p = self.params
        score = gate_score(n, s, pi, p.lambda_novelty, p.lambda_salience, p.lambda_prediction)
        if p.variant == "paper":
            return bool(admits(score, s, bar, p.salience_floor))
        return code_admits(
            score,
            s,
            bar,
            p.salience_floor,
            correction=features.act is SpeechAct.CORRECTION,
            unjudged=unjudged,
        )

    def _novelty(self, near: list[str], text: str) -> float:
        p = self.params
        if p.variant == "paper":
            return novelty(memory_text(near), utf8(text), p.gzip_level, p.container)
        return code_novelty(
            memory_text(reversed(near), b" "), utf8(text), p.gzip_level, p.container
        )

    def _prediction_error(self, view: Any, text: str, nearest: str) -> float | None:
        """pi; None if the model failed and `variant` is code."""
        try:
            cross, own = view.embedder.embed(pairs(text, nearest))
        except HebbariumError:
            if self.params.variant == "paper":
                raise
            return None
        return float(prediction_error(cross, own))

    def _offset(self, features: Features) -> float:
        """Delta_c of the category of the event."""
        p, act = self.params, features.act
        if act is SpeechAct.CORRECTION:
            return p.correction_offset
        if act is SpeechAct.DECISION:
            return p.decision_offset
        if act is SpeechAct.RELATIONSHIP:
            return p.relationship_offset
        return code_offset(features) if p.variant == "code" else 0.0
