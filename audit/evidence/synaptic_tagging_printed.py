"""Evidence for synaptic_tagging_printed: the rule of Cortex 4.2.4, and the checks of Luboeinski
& Tetzlaff's model run on it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import LOG_STRENGTH, SALIENCE, VETO
from ..checks import adaptation, mutant
from ..memory import memory_of, neighbour
from ..specimen import NotTestable
from . import synaptic_tagging as paper
from .shared.durations import unscaled as without_scale
from .shared.tellings import as_happened, tell

KAPPA = 48.0 / 3.078  # scales the life of a strong tag to the window of 48 h
STRONG, WEAK, WINDOW, GAIN, FACTOR = 0.7, 0.5, 48.0, 0.25, 1.5


def lifted(specimen: Any, events: paper.Events) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Importance and heat after events (h, importance, entities)."""
    created, importance = np.array([t for t, _, _ in events]), np.full(len(events), 0.5)
    heat, links = np.ones(len(events)), paper.network(events)
    for row, (_, salience, _) in enumerate(events):
        importance[row] = salience
        specimen.lift(row, STRONG, WEAK, WINDOW, GAIN, FACTOR, *links, created, importance, heat)
    return importance, heat


def as_synapses(specimen: Any) -> SimpleNamespace:
    """The printed rule as capture: amplitude is importance, hours are multiplied by kappa, the
    gain of heat is the late phase.
    """

    def capture(now: float, since: float, longest: float, *rest: Any) -> None:
        alpha, links, created, induced = rest[2], rest[6:10], rest[10], rest[11]
        if alpha == 0.0:
            raise NotTestable("has no proteins to block", where=specimen.id)
        neurons = [
            tuple(-1 - int(links[3][k]) for k in links[2][links[0][r] : links[0][r] + links[1][r]])
            for r in range(len(created))
        ]
        rest[-1][:] = (
            lifted(
                specimen,
                [
                    (KAPPA * t, 0.98 * c / paper.FULL, on)
                    for t, c, on in zip(created, induced, neurons, strict=True)
                ],
            )[1]
            - 1.0
        )

    return SimpleNamespace(NO_SYNAPSE=-1.0, induce=lambda *_: None, capture=capture)


# --- as printed -----------------------------------------------------------------------------------
@adaptation(
    "STP-1",
    source="Cortex 4.2.4: +0.25 times |A n B| / min(|A|, |B|), heat times 1.5",
    atol=1e-12,
    papers=("cortex2026",),
)
def an_important_memory_lifts_weak_ones_by_the_overlap_of_their_entities(specimen: Any) -> Any:
    importance, heat = lifted(
        specimen,
        [
            (0.0, 0.4, (0, 3)),
            (1.0, 0.3, (1,)),
            (2.0, 0.4, (4,)),
            (3.0, 0.6, (0,)),
            (40.0, 0.9, (0, 1, 2)),
        ],
    )
    return [*importance[:4], *heat[:4]], [0.4 + 0.25 / 2, 0.3 + 0.25, 0.4, 0.6, 1.5, 1.5, 1.0, 1.0]


@adaptation("STP-2", source="Cortex 4.2.4: 48 h", figure="capture_window", papers=("cortex2026",))
def the_window_is_forty_eight_hours(specimen: Any) -> Any:
    ends = (47.9, 48.0, 48.1)  # the longest time is in the window
    heat = [lifted(specimen, [(0.0, 0.4, (0,)), (at, 0.9, (0,))])[1][0] for at in ends]
    return heat, [1.5, 1.5, 1.0]


@adaptation("STP-3", source="Cortex 4.2.4: entities are compared as sets", papers=("cortex2026",))
def sharing_two_entities_lifts_once(specimen: Any) -> Any:
    importance, heat = lifted(specimen, [(0.0, 0.2, (0, 1)), (1.0, 0.9, (0, 1, 2))])
    return [importance[0], heat[0]], [0.45, 1.5]


# when each event is told and when it happened, h; its salience, and whom it names; a gate refuses
# one of them
STORY = (
    (0.0, 0.0, 0.3, ("Ada", "Bo")),
    (1.0, 1.0, 0.6, ("Ada",)),
    (3.0, 3.0, 0.9, ("Dora",)),
    (4.0, 4.0, 0.95, ("Ada", "Bo", "Cleo")),  # refused
    (10.0, 10.0, 0.2, ("Cleo",)),
    (40.0, 2.0, 0.4, ("Dora", "Eve")),
    (45.0, 45.0, 0.45, ("Ada",)),  # at the bound of the weak ones
    (46.0, 46.0, 0.8, ("Ada", "Dora", "Bo", "Cleo")),
    (58.0, 58.0, 0.3, ("Fay",)),
    (60.0, 60.0, 0.75, ("Dora", "Fay")),  # at the bound of the important ones
    (86.0, 86.0, 0.9, ("Cleo", "Dora")),
)


def tagged_in_memory(specimen: Any, scale: float) -> tuple[Any, Any]:
    """Importance and strength of a story in a memory, and the same by plain lists over sets."""
    story = iter(STORY)

    def judge(view: Any, incoming: Any) -> None:
        view.salience = next(story)[2]
        view.veto = int(view.salience == 0.95)

    memory = memory_of(
        specimen,
        neighbour(Phase.ENCODE, judge, adds=(VETO,), sets=(SALIENCE,)),
        time_scale=scale,
        strong=0.75,
        weak=0.45,
        window=40.0,
        gain=0.3,
        heat_factor=1.4,
    )
    stored: list[tuple[float, set[str]]] = []
    importance: list[float] = []
    heat: list[float] = []
    for told, happened, salience, names in STORY:
        text = " and ".join(names) + " met."
        if tell(memory, told * scale, Event(happened * scale, text, dated=False)) is None:
            continue
        for i, (time, others) in enumerate(stored):
            shared = others & set(names)
            if salience > 0.75 and importance[i] < 0.45 and shared and told - time <= 40.0:
                share = len(shared) / min(len(others), len(names))
                importance[i] = min(1.0, importance[i] + 0.3 * share)
                heat[i] *= 1.4
        stored.append((told, set(names)))
        importance.append(salience)
        heat.append(1.0)
    memory.advance(90.0 * scale)
    return (
        [*memory.column(specimen.PRINTED_IMPORTANCE), *memory.column(LOG_STRENGTH)],
        [*importance, *np.log(heat)],
    )


@adaptation(
    "STP-4",
    source="Cortex 4.2.4, by plain lists over sets: a memory with a refused event, and one that happened before it was told",
    atol=1e-9,
    papers=("cortex2026",),
)
def in_a_memory_the_window_counts_from_the_telling(specimen: Any) -> Any:
    return tagged_in_memory(specimen, 1.0)


@adaptation("STP-4b", source="as STP-4 with hours that last two", atol=1e-9)
def at_another_time_scale_the_window_lasts_longer(specimen: Any) -> Any:
    return tagged_in_memory(specimen, 2.0)


# --- the paper's checks ---------------------------------------------------------------------------
early_phase = paper.calcium_drives_the_early_phase_to_its_fixed_points
tag_life = paper.a_strong_tag_lasts_three_hours_and_its_synthesis_one_and_a_third
late_phase = paper.with_proteins_a_tagged_synapse_saturates_exponentially
competition = paper.one_strong_synapse_captures_less_than_ten.of_variety(as_synapses)
weak_alone = paper.a_weak_memory_alone_captures_nothing.of_variety(as_synapses)
window = paper.strong_memories_preserve_a_weak_one_longer_if_they_come_before_it.of_variety(
    as_synapses
)
end_of_window = paper.capture_ends_with_the_tag.of_variety(as_synapses)
protein_block = paper.without_protein_synthesis_nothing_is_captured.of_variety(as_synapses)
pathways = paper.pathways_of_one_neuron_share_proteins_and_others_do_not.of_variety(as_synapses)


# --- figures --------------------------------------------------------------------------------------
window_picture = paper.capture_by_the_lag_of_the_strong.of_variety(
    "Gain of a weak memory by the lag of strong ones, in the paper's hours: one fixed amount for any lag in the window after it",
    as_synapses,
)


@mutant("overlap as a share of the union", rejected_by="STP-1")
def jaccard(specimen: Any) -> Any:
    return specimen.replacing("overlap", lambda shared, a, b: shared / (a + b - shared))


@mutant("the longest time is outside the window", rejected_by="STP-2")
def open_window(specimen: Any) -> Any:
    original = specimen.lift
    return specimen.replacing(
        "lift",
        lambda row, strong, weak, window, *rest: original(row, strong, weak, window - 1e-9, *rest),
    )


@mutant("the window counts from when an event happened", rejected_by="STP-4")
def from_the_event(specimen: Any) -> Any:
    return as_happened(specimen, "SynapticTaggingPrinted", "encode")


@mutant("the window does not follow the time scale", rejected_by="STP-4b")
def unscaled(specimen: Any) -> Any:
    return without_scale(specimen, "SynapticTaggingPrinted")


@mutant("a lifted memory gets the whole gain", rejected_by="STP-4")
def whole_gain(specimen: Any) -> Any:
    return specimen.replacing("overlap", lambda shared, a, b: 1.0)


@mutant("strength is the heat", rejected_by="STP-4")
def without_logarithm(specimen: Any) -> Any:
    def strengthen(self: Any, view: Any, tick: Any) -> None:
        view.log_strength[...] = view.printed_tagging_heat

    return specimen.overriding("SynapticTaggingPrinted", strengthen=strengthen)


@mutant("memories at the bounds are weak, and important", rejected_by="STP-4")
def at_the_bounds(specimen: Any) -> Any:
    original = specimen.lift
    return specimen.replacing(
        "lift", lambda row, strong, weak, *rest: original(row, strong - 1e-9, weak + 1e-9, *rest)
    )
