"""Evidence for sleep_orthogonalisation_printed: the rule of Cortex 4.4.10, and the checks of the
paper's form run on it.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import KIND, SLEEP_SHARE
from ..checks import adaptation, at_most, mutant
from ..memory import Scripted, encode, memory_of, neighbour
from . import sleep_orthogonalisation as papers
from .shared.dreams import dreaming


def as_sleep(specimen: Any) -> SimpleNamespace:
    """One printed step in place of ten of the paper's cycles; each interfering pair once per
    step.
    """

    def separate(own: Any, x: Any, rivals: Any, cycles: int, *rest: Any) -> int:
        interfering = (rivals < np.arange(len(rivals))[:, None]) & (
            np.einsum("ip,ikp->ik", x[own], x[rivals]) > 0.7
        )
        earlier = np.where(interfering, rivals, -1)
        for _ in range(max(1, cycles // 10)):
            specimen.push_all(earlier, 0.15, rest[-1])
        return len(own)

    return SimpleNamespace(separate=separate, codes=specimen.codes)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "SOP-1",
    source="Cortex 4.4.10: in the plane of the two, c -> (c (1 - 2 k + k^2 c^2)) / (1 - 2 k c^2 + k^2 c^2), k = 0.15",
    atol=1e-12,
    papers=("cortex2026",),
)
def a_step_lowers_the_cosine_by_the_closed_form(specimen: Any) -> Any:
    measured, expected, k = [], [], 0.15
    for c in (0.95, 0.7, 0.3, -0.4):
        a, b = np.array([1.0, 0.0]), np.array([c, np.sqrt(1.0 - c * c)])
        specimen.push(a, b, k)
        measured.append(float(a @ b))
        expected.append(
            c * (1.0 - 2.0 * k + k * k * c * c) / (1.0 - 2.0 * k * c * c + k * k * c * c)
        )
    return measured, expected


@adaptation("SOP-2", source="the rule converges to a cosine of 0: after 100 nights")
def the_cosine_converges_to_zero(specimen: Any) -> Any:
    w = np.array([[1.0, 0.0], [0.9, np.sqrt(0.19)]])
    for _ in range(100):
        specimen.push_all(np.array([[-1], [0]]), 0.15, w)
    return at_most(abs(float(w[0] @ w[1])), 1e-6)


# the number of each event of a story, by the night before which it is told
NIGHTS = ((0, 1, 2, 3), (4, 5), (), (6, 7, 8))
SHARES = (0.5, 1.0, 3.0, 0.25)  # share of a full night that each of them has
TUNED: dict[str, Any] = {"code": 6, "projection_seed": 4, "interferes": 0.5, "rivals": 2,
                         "newest": 3, "rate": 0.4}  # fmt: skip


@adaptation(
    "SOP-3",
    source="Cortex 4.4.10, by plain lists: rivals are the two most similar earlier visible events above the threshold, of "
    "three events a night, the oldest first; all pairs are pushed in each sleep, by its share and at most by 1",
    atol=2e-6,
    papers=("cortex2026",),
)
def nights_in_a_memory_push_each_interfering_pair(specimen: Any) -> Any:
    rng = np.random.default_rng(6)
    groups = papers.unit_rows(rng.standard_normal((2, 8)))
    texts = [f"message {i}" for i in range(9)]
    vectors = {text: groups[i % 2] + 0.3 * rng.standard_normal(8) for i, text in enumerate(texts)}
    vectors |= {"a dream": groups[0], "cue": groups.sum(axis=0)}
    vectors = {text: papers.unit_rows(v) for text, v in vectors.items()}
    gaussian = np.random.default_rng(4).standard_normal((8, 6), dtype=np.float32)
    small = {text: papers.unit_rows(v @ gaussian) for text, v in vectors.items()}

    def share(view: Any, tick: Any) -> None:
        view.sleep_share = SHARES[round(tick.end / 24.0) - 1]

    memory = memory_of(
        specimen,
        neighbour(Phase.CONSOLIDATE, share, sets=(SLEEP_SHARE,), id="sleep"),
        dreaming(),
        embedder=Scripted(vectors),
        **TUNED,
    )
    rows: list[str] = []  # text of each row; "a dream" is no event, and has no code
    w: list[Any] = []
    rivals: list[list[int]] = []
    searched = 0
    measured: list[float] = []
    expected: list[float] = []

    def come(text: str, code: Any) -> None:
        rows.append(text)
        w.append(code)
        rivals.append([])

    for night, told in enumerate(NIGHTS):
        for i in told:
            encode(memory, (24.0 * night + i, texts[i]))
            come(texts[i], small[texts[i]])
        if night == 1:
            memory.archive(1)
        memory.retrieve("cue")
        measured += np.nan_to_num(memory.column(specimen.PUSHED), nan=-9.0).tolist()
        expected += [float(v @ small["cue"]) if searched else -9.0 for v in w]
        memory.advance(24.0 * (night + 1))
        if night == 0:
            come("a dream", np.zeros(6))
        events = [row for row, text in enumerate(rows) if text != "a dream"]
        for row in [row for row in events if row >= searched][:3]:
            likeness = sorted(
                (-float(vectors[rows[row]] @ vectors[rows[other]]), other)
                for other in range(len(rows))
                if not (other == 1 and night >= 1)
            )[:5]
            rivals[row] = [
                other for c, other in likeness if -c > 0.5 and other < row and other in events
            ][:2]
            searched = row + 1
        k = min(1.0, 0.4 * SHARES[night])
        for row, others in enumerate(rivals):
            for other in others:
                a, b = w[row], w[other]
                w[row] = papers.unit_rows(a - k * (a @ b) * b)
                w[other] = papers.unit_rows(b - k * (a @ b) * a)
        measured += [
            *memory.column(KIND),
            *memory.column(specimen.PUSHED_RIVALS).ravel(),
            *memory.column(specimen.PUSHED_CODE).ravel(),
            int(memory.column(specimen.PUSHED_SEARCHED)),
        ]
        expected += [
            *(3 * (text == "a dream") for text in rows),
            *(x for near in rivals for x in (*near, *[-1] * (2 - len(near)))),
            *np.ravel(w),
            searched,
        ]
    return measured, expected


@adaptation(
    "SOP-4",
    source="definition, by hand: a cosine of 1/2 interferes above the threshold 0.49, and not above 1/2",
    atol=0.0,
)
def a_cosine_at_the_threshold_does_not_interfere(specimen: Any) -> Any:
    vectors = {"one": np.array([1.0, 0.0, 0.0, 0.0]), "other": np.full(4, 0.5)}
    measured = []
    for threshold in (0.49, 0.5):
        memory = memory_of(
            specimen, embedder=Scripted(vectors), **(TUNED | {"interferes": threshold})
        )
        encode(memory, (0.0, "one"), (1.0, "other"))
        memory.advance(48.0)
        measured.append(memory.column(specimen.PUSHED_RIVALS)[1, 0])
    return measured, [0, -1]


# --- the paper's checks ---------------------------------------------------------------------------
oscillation = papers.an_oscillation_learns_twice_the_contrast
least_interference = papers.sleep_converges_to_the_minimum_of_interference.of_variety(as_sleep)
no_interference = papers.without_interference_nothing_is_learnt.of_variety(as_sleep)
cycle = papers.the_competitor_falls_the_target_rises_and_others_do_not_change.of_variety(
    as_sleep, drawn=False
)
less_alike = papers.interfering_memories_become_less_similar.of_variety(as_sleep)
own_code = papers.every_unit_stays_within_the_bound_around_its_code.of_variety(as_sleep)
recall = papers.recall_does_not_fall.of_variety(as_sleep)
help_ = papers.sleep_helps_against_interference.of_variety(as_sleep)
converges = papers.repeated_sleep_converges.of_variety(as_sleep)


# --- figures --------------------------------------------------------------------------------------
cosines = papers.cosines_over_sleep.of_variety(
    "Printed steps push interfering memories apart and out of the cone around their own codes; the paper's form stays in it",
    as_sleep,
)


@mutant("only one of the two is pushed", rejected_by="SOP-1")
def one_sided(specimen: Any) -> Any:
    def push(first: Any, second: Any, rate: float) -> None:
        first -= rate * (first @ second) * second
        first /= np.linalg.norm(first)

    return specimen.replacing("push", push)


@mutant("a stop at a cosine of 0.2, as in Cortex' code", rejected_by="SOP-2")
def with_a_floor(specimen: Any) -> Any:
    def push(first: Any, second: Any, rate: float) -> None:
        if first @ second > 0.2:
            specimen.push(first, second, rate)

    return specimen.replacing("push", push)


@mutant("a cosine at the threshold interferes", rejected_by="SOP-4")
def at_the_threshold(specimen: Any) -> Any:
    original = specimen.SleepOrthogonalisationPrinted.dream

    def dream(self: Any, view: Any, tick: Any) -> None:
        self.params = replace(self.params, interferes=self.params.interferes - 1e-6)
        original(self, view, tick)

    return specimen.overriding("SleepOrthogonalisationPrinted", dream=dream)


@mutant("the newest events are searched for, and the older ones never", rejected_by="SOP-3")
def newest_alone(specimen: Any) -> Any:
    return specimen.replacing("events", lambda kind: np.flatnonzero(np.asarray(kind) == 0)[-3:])


@mutant("made rows are rivals, too", rejected_by="SOP-3")
def made_rivals(specimen: Any) -> Any:
    return papers.of_all_rows(specimen, "SleepOrthogonalisationPrinted", "dream")


@mutant("a sleep pushes by a whole night, whatever its share", rejected_by="SOP-3")
def whole_nights(specimen: Any) -> Any:
    original = specimen.push_all
    return specimen.replacing("push_all", lambda rivals, rate, w: original(rivals, 0.4, w))


@mutant("the cue is compared with codes before the first sleep", rejected_by="SOP-3")
def before_sleep(specimen: Any) -> Any:
    def compare(self: Any, view: Any, cue: Any) -> None:
        np.matmul(view.pushed_code, self._codes(cue.vector), out=view.pushed)

    return specimen.overriding("SleepOrthogonalisationPrinted", compare=compare)
