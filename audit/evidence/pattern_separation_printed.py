"""Evidence for pattern_separation_printed: the equation of Cortex 4.4.2, and the checks of the
papers' form applied to it.
"""

from __future__ import annotations

import functools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...engine.contract.columns import Phase
from ...engine.contract.vocabulary import DUPLICATE, VETO
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import Scripted, encode, memory_of, neighbour
from . import pattern_separation as papers

S, LOW, HIGH, SHARE = 0.5, 0.75, 0.95, 0.04


def separated(specimen: Any, x: papers.Vector) -> papers.Vector:
    """Vectors stored for memories encoded in order, each orthogonalised against the embeddings
    of the earlier ones.
    """
    left, kept = np.empty(x.shape[1]), np.empty_like(x)
    for row, embedding in enumerate(x):
        specimen.orthogonalised(
            embedding, x[:row], np.ones(row, dtype=np.bool_), S, LOW, HIGH, left
        )
        specimen.sparsified(left, SHARE, kept[row])
    return kept


def as_separator(specimen: Any) -> SimpleNamespace:
    """The printed form under the names of the papers' form: without a projection each input
    drives one unit, and other units are silent.
    """

    def drive(x: Any, *rest: Any) -> None:
        out = rest[-1]
        out[:] = 0.0
        out[: x.size] = x[: out.size]

    def likeness(stored: papers.Vector, cues: papers.Vector) -> papers.Vector:
        kept, scores = separated(specimen, stored), np.empty((len(cues), len(stored)))
        for cue, out in zip(cues, scores, strict=True):
            specimen.cosines(kept, np.ones(len(kept), dtype=np.bool_), cue, out)
        return scores

    return SimpleNamespace(
        generations=lambda turnover, units: range(1),
        readers=lambda *_: (),
        drive=drive,
        winners=specimen.winners,
        weight_quantiles=lambda spread: np.ones(256),
        gap_quantiles=lambda connectivity: np.ones(4096, dtype=np.int64),
        keys_of=functools.partial(separated, specimen),
        likeness=likeness,
    )


# --- as printed -----------------------------------------------------------------------------------
@equation(
    "CM-7.7",
    source="Cortex 4.4.2; closed form s c / sqrt(1 - (2 s - s^2) c^2) for one interferer",
    atol=5e-5,
    rtol=0.0,
    figure="orthogonalised",
    papers=("cortex2026",),
)
def half_of_the_projection_on_one_interferer_is_subtracted(specimen: Any) -> Any:
    measured = []
    for c in (0.9, 0.8):
        e, stored, left = (
            np.array([c, math.sqrt(1.0 - c * c), 0.0]),
            np.array([[1.0, 0.0, 0.0]]),
            np.empty(3),
        )
        specimen.orthogonalised(e, stored, np.array([True]), S, LOW, HIGH, left)
        measured.append(left[0] / np.linalg.norm(left))
    return measured, [0.7183, 0.5547]


@equation(
    "CM-7.7b", source="Cortex 4.4.2, sums of projections, numpy", atol=1e-12, papers=("cortex2026",)
)
def projections_on_all_interferers_are_summed(specimen: Any) -> Any:
    x, left = papers.crowded()[:20].copy(), np.empty(384)
    e = x[3] + 0.1 * x[4]
    e /= np.linalg.norm(e)
    specimen.orthogonalised(e, x, np.ones(20, dtype=np.bool_), S, LOW, HIGH, left)
    cosine = x @ e
    inside = (cosine > LOW) & (cosine < HIGH)
    return left, e - S * (cosine[inside, None] * x[inside]).sum(axis=0)


@adaptation(
    "CM-7.7c",
    source="keep-top-4% of 384 Gaussian dimensions leaves a cosine of 0.48 with the original",
    atol=0.02,
    rtol=0.0,
)
def the_stored_vector_differs_from_its_original(specimen: Any) -> Any:
    rng, out, measured = np.random.default_rng(0), np.empty(384), []
    for _ in range(200):
        e = rng.standard_normal(384)
        specimen.sparsified(e, SHARE, out)
        measured.append(out @ e / np.linalg.norm(out) / np.linalg.norm(e))
    return float(np.mean(measured)), 0.48


@limit(
    "CM-7.7f",
    source="by hand: a cosine exactly at the identity threshold is the same memory and one exactly at the other interferes with nothing",
    atol=0.0,
)
def the_thresholds_themselves_are_decided(specimen: Any) -> Any:
    measured, e = list[float](), np.array([1.0, 0.0])
    for cosine in (0.5, 0.75, 0.625):
        left, stored = np.empty(2), np.array([[cosine, 0.25]])
        same = specimen.orthogonalised(e, stored, np.array([True]), 0.5, 0.5, 0.75, left)
        measured += [float(same), *left]
    return measured, [-1.0, 1.0, 0.0, 0.0, 1.0, 0.0, -1.0, 1.0 - 0.5 * 0.625**2, -0.078125]


@limit(
    "CM-7.7g",
    source="by hand: the number kept is the nearest to the share of the dimensions, and at least 1",
    atol=0.0,
)
def the_number_kept_is_the_nearest(specimen: Any) -> Any:
    measured = list[int]()
    for size, share in ((10, 0.28), (10, 0.32), (9, 0.2), (7, 0.01), (5, 1.0)):
        out = np.empty(size)
        specimen.sparsified(np.arange(1.0, size + 1.0), share, out)
        measured.append(int(np.count_nonzero(out)))
    return measured, [3, 3, 2, 1, 5]


@limit("CM-7.7d", source="orthogonalisation stops at cosine 0, for any number of interferers")
def many_interferers_do_not_reverse_a_memory(specimen: Any) -> Any:
    e, left = np.array([0.9, math.sqrt(1.0 - 0.81)]), np.empty(2)
    specimen.orthogonalised(
        e, np.tile([1.0, 0.0], (6, 1)), np.ones(6, dtype=np.bool_), S, LOW, HIGH, left
    )
    return bool(left[0] >= 0.0)


# cosines of each event with the first axis, in a plane of its own, and what happens to it
STORY = (
    (1.0, "told"), (0.9, "told"), (0.85, "refused"), (0.98, "told"), (0.8, "archived"),
    (-0.9, "told"), (0.999, "told"), (0.7, "told"), (1.0, "told"), (0.97, "told"),
)  # fmt: skip


@equation(
    "CM-7.7e",
    source="Cortex 4.4.2 in numpy: a memory with a refused event and an archived row, which neither interferes nor is the same",
    atol=1e-6,
    rtol=0.0,
    papers=("cortex2026",),
)
def a_memory_keeps_what_is_left_of_each_event(specimen: Any) -> Any:
    tuned: dict[str, Any] = {"strength": 0.4, "interference": 0.72, "identity": 0.96}
    vectors, cue = dict[str, papers.Vector](), np.array([0.6, 0.5, 0.4, 0.3, 0.2, 0.1])
    for i, (cosine, _) in enumerate(STORY):
        vectors[f"event {i}"] = np.zeros(6)
        vectors[f"event {i}"][[0, 1 + i % 3]] = cosine, math.sqrt(1.0 - cosine * cosine)
    same = list[int]()

    def reject(view: Any, incoming: Any) -> None:
        view.veto = int(STORY[int(incoming.event.text.split()[-1])][1] == "refused")

    def look(view: Any, incoming: Any) -> None:
        same.append(int(view.duplicate))

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, reject, adds=(VETO,), id="gate"),
        neighbour(Phase.ENCODE, look, reads=(DUPLICATE,), id="look", order=10_000),
        embedder=Scripted({**vectors, "cue": cue}),
        kept_share=0.5,
        **tuned,
    )
    rows, kept, expected = list[papers.Vector](), list[papers.Vector](), list[int]()
    shown = list[bool]()
    for i, (_, fate) in enumerate(STORY):
        x = vectors[f"event {i}"]
        encode(memory, (float(i), f"event {i}"))
        cosines = [float(x @ row) if seen else 0.0 for row, seen in zip(rows, shown, strict=True)]
        most = max([c for c in cosines if c >= 0.96], default=2.0)
        expected.append(next((r for r in reversed(range(len(rows))) if cosines[r] == most), -1))
        left = x - 0.4 * sum(
            c * row for c, row in zip(cosines, rows, strict=True) if 0.72 < c < 0.96
        )
        if fate != "refused":
            rows.append(x)
            shown.append(True)
            kept.append(np.where(np.isin(np.arange(6), np.argsort(-abs(left))[:3]), left, 0.0))
        if fate == "archived":
            memory.archive(len(rows) - 1)
            shown[-1] = False
    memory.retrieve("cue")
    of_cue = [v @ cue / np.linalg.norm(v) / np.linalg.norm(cue) for v in kept]
    return (
        [
            *same,
            *memory.column(specimen.SEPARATED_KEPT).ravel(),
            *np.nan_to_num(memory.column(specimen.SEPARATED), nan=-9.0),
        ],
        [
            *expected,
            *np.ravel(kept),
            *(c if seen else -9.0 for c, seen in zip(of_cue, shown, strict=True)),
        ],
    )


# --- the papers' checks ---------------------------------------------------------------------------
idempotent = papers.competition_is_idempotent.of_variety(as_separator)
overlap_table = papers.outputs_overlap_less_than_inputs.of_variety(as_separator)
sparser = papers.sparser_codes_separate_more.of_variety(as_separator)
embeddings = papers.embeddings_overlap_more_than_their_codes.of_variety(as_separator)
equal_inputs = papers.equal_inputs_have_equal_codes.of_variety(as_separator)
unrelated = papers.unrelated_inputs_overlap_little_more_than_by_chance.of_variety(as_separator)
transfer_function = papers.the_transfer_function_is_monotone_and_steep_at_the_end.of_variety(
    as_separator
)
found_again = papers.stored_memories_are_found_by_their_originals.of_variety(as_separator)
order = papers.order_does_not_matter.of_variety(as_separator)


# --- figures --------------------------------------------------------------------------------------
transfer_picture = papers.output_over_input_overlap.of_variety(
    "Overlap of codes over overlap of inputs in the printed form, without a projection: on the diagonal, and above it if codes have more active "
    "units than inputs",
    as_separator,
)


@figure(
    "orthogonalised",
    caption="Cosine with one interferer before and after: within the printed window it falls by a fifth to a third, outside "
    "it does not change",
    source="Cortex 4.4.2; closed form s c / sqrt(1 - (2 s - s^2) c^2)",
)
def likeness_after_orthogonalisation(specimen: Any) -> Picture:
    before, after = np.linspace(0.5, 0.99, 99), []
    for c in before:
        left = np.empty(2)
        specimen.orthogonalised(
            np.array([c, math.sqrt(1.0 - c * c)]),
            np.array([[1.0, 0.0]]),
            np.array([True]),
            S,
            LOW,
            HIGH,
            left,
        )
        after.append(left[0] / np.linalg.norm(left))
    return Picture(
        "cosine with the interferer, before",
        "cosine afterwards",
        (
            Curve("mechanism", before, after),
            Curve("unchanged", before[[0, -1]], before[[0, -1]]),
            dots("closed form", [0.8, 0.9], [0.5547, 0.7183]),
        ),
    )


@mutant("the whole projection is subtracted", rejected_by="CM-7.7")
def whole(specimen: Any) -> Any:
    def orthogonalised(
        e: Any, stored: Any, visible: Any, s: float, low: float, high: float, out: Any
    ) -> int:
        cosine = stored @ e
        inside = (cosine > low) & (cosine < high)
        out[:] = e - (cosine[inside, None] * stored[inside]).sum(axis=0)
        return -1

    return specimen.replacing("orthogonalised", orthogonalised)


@mutant("a memory at the identity threshold is another", rejected_by="CM-7.7f")
def beyond_alone(specimen: Any) -> Any:
    original = specimen.orthogonalised
    return specimen.replacing(
        "orthogonalised",
        lambda e, stored, visible, s, low, high, out: original(
            e, stored, visible, s, low, np.nextafter(high, 2.0), out
        ),
    )


@mutant("the number kept is rounded down", rejected_by="CM-7.7g")
def rounded_down(specimen: Any) -> Any:
    original = specimen.sparsified
    return specimen.replacing(
        "sparsified", lambda e, share, out: original(e, math.floor(share * e.size) / e.size, out)
    )


@mutant("archived memories interfere, too", rejected_by="CM-7.7e")
def archived_interfere(specimen: Any) -> Any:
    original = specimen.orthogonalised
    return specimen.replacing(
        "orthogonalised",
        lambda e, stored, visible, *rest: original(e, stored, np.ones_like(visible), *rest),
    )


@mutant("the first memory at or above the identity threshold", rejected_by="CM-7.7e")
def first_same(specimen: Any) -> Any:
    original = specimen.orthogonalised

    def orthogonalised(
        e: Any, stored: Any, visible: Any, s: float, low: float, high: float, out: Any
    ) -> int:
        original(e, stored, visible, s, low, high, out)
        return next((r for r in range(len(stored)) if visible[r] and stored[r] @ e >= high), -1)

    return specimen.replacing("orthogonalised", orthogonalised)


@mutant("the embedding is kept, without a separation", rejected_by="CM-7.7e")
def unseparated(specimen: Any) -> Any:
    def store(self: Any, view: Any, incoming: Any) -> None:
        specimen.sparsified(incoming.vector, self.params.kept_share, view.separated_kept[view.row])

    return specimen.overriding("PatternSeparationPrinted", store=store)


@mutant("archived memories are compared with the cue", rejected_by="CM-7.7e")
def archived_compared(specimen: Any) -> Any:
    original = specimen.cosines
    return specimen.replacing(
        "cosines", lambda kept, visible, cue, out: original(kept, np.ones_like(visible), cue, out)
    )
