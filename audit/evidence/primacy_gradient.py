"""Evidence for primacy_gradient: closed forms of the gradient, and places in sessions, in a memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...engine.contract.records import Event, Query
from ...engine.contract.vocabulary import FUSED, LOG_PRIOR, PRIMED
from ..checks import equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import memory_of
from ..paper_numbers import paper_number

POLYN = "Polyn, Norman & Kahana 2009"
NUMBERS = tuple(
    paper_number(name, value, "1", paper="polyn2009context", where="table of fitted values")
    for name, value in (("scale", 1.07), ("decay", 0.98))
)
# session of each event in turn, and its place there; 0: in no list
TOLD = (("a", 1), ("a", 2), ("b", 1), ("", 0), ("a", 3), ("b", 2), ("", 0), ("c", 1), ("a", 4))


def told(specimen: Any, **values: Any) -> Any:
    """A memory with the events of TOLD, an hour apart, which match a question in different degrees."""
    memory = memory_of(specimen, "dense_similarity", "convex_fusion", **values)
    for hour, (session, place) in enumerate(TOLD):
        text = f"boat {place} harbour" if hour % 2 else "boat " * (hour + 1)
        memory.encode(Event(float(hour), text, session=session, dated=False))
    return memory


@equation(
    "PG-1",
    source=f"{POLYN}: the gradient at its ends, and its half-way place",
    rtol=1e-12,
    papers=("polyn2009context",),
)
def the_gradient_falls_from_its_scale_to_one(specimen: Any) -> Any:
    half = math.log(2.0) / 0.25
    measured = [
        specimen.attention(1, 1.07, 0.98),
        specimen.attention(2, 1.07, 0.98),
        specimen.attention(9, 3.0, half / 8.0),
        specimen.attention(10_000, 5.0, 0.5),
    ]
    # phi_d = ln 2 / 0.25 / 8, so that eight steps are four halvings
    return measured, [2.07, 1.0 + 1.07 / math.exp(0.98), 1.0 + 3.0 / 16.0, 1.0]


@equation("PG-2", source="memorylessness: successive excesses over 1 have one ratio", rtol=1e-12)
def each_item_has_the_same_share_of_the_one_before(specimen: Any) -> Any:
    excess = np.array([specimen.attention(i, 2.5, 0.4) - 1.0 for i in range(1, 9)])
    return excess[1:] / excess[:-1], np.full(7, math.exp(-0.4))


@limit("PG-3", source="closed form: without a scale all places are alike", rtol=1e-12)
def no_scale_is_no_primacy(specimen: Any) -> Any:
    memory = told(specimen, scale=0.0)
    memory.retrieve(Query("boat"))
    return [*memory.column(specimen.PRIMACY), *memory.column(LOG_PRIOR)], [1.0] * 9 + [0.0] * 9


@equation(
    "PG-4",
    source=f"{POLYN}: places counted by hand, interleaved sessions",
    rtol=1e-12,
    papers=("polyn2009context",),
)
def the_place_is_that_in_the_session(specimen: Any) -> Any:
    memory = told(specimen, scale=2.0, decay=0.3)
    expected = [2.0 * math.exp(-0.3 * (place - 1)) + 1.0 if place else 1.0 for _, place in TOLD]
    return memory.column(specimen.PRIMACY), expected


@equation(
    "PG-5",
    source="definition: the fused support, rescaled to [0, 1] by hand, is multiplied by phi",
    rtol=1e-5,
    atol=1e-7,
)
def support_is_multiplied_by_attention(specimen: Any) -> Any:
    memory = told(specimen, scale=2.0, decay=0.3)
    memory.retrieve(Query("boat harbour"))
    fused = memory.column(FUSED).astype(np.float64)
    phi = np.array([2.0 * math.exp(-0.3 * (p - 1)) + 1.0 if p else 1.0 for _, p in TOLD])
    return memory.column(PRIMED), (fused - fused.min()) / np.ptp(fused) * phi


@figure(
    "gradient",
    caption="The first item of a session gets the most attention, and from about the fifth on all get the same",
    source=f"closed form phi_s e^(-phi_d (i - 1)) + 1, with the numbers of {POLYN}",
)
def attention_by_place(specimen: Any) -> Picture:
    places = np.arange(1, 13)
    return Picture(
        "place in the session",
        "attention",
        (
            Curve("mechanism", places, [specimen.attention(int(i), 1.07, 0.98) for i in places]),
            dots("closed form", places, 1.07 * np.exp(-0.98 * (places - 1.0)) + 1.0),
        ),
    )


@mutant("an exponential gradient without the floor of 1", rejected_by="PG-1")
def to_zero(specimen: Any) -> Any:
    return specimen.replacing(
        "attention", lambda place, phi_s, phi_d: phi_s * math.exp(-phi_d * (place - 1)) + 1e-3
    )


@mutant("a hyperbolic gradient", rejected_by="PG-2")
def hyperbolic(specimen: Any) -> Any:
    return specimen.replacing(
        "attention", lambda place, phi_s, phi_d: phi_s / (1.0 + phi_d * (place - 1)) + 1.0
    )


@mutant("places are counted from zero", rejected_by="PG-1")
def from_zero(specimen: Any) -> Any:
    return specimen.replacing(
        "attention", lambda place, phi_s, phi_d: specimen.attention(place + 1, phi_s, phi_d)
    )


@mutant("the last items get the attention", rejected_by="PG-2")
def rising(specimen: Any) -> Any:
    return specimen.replacing(
        "attention", lambda place, phi_s, phi_d: specimen.attention(place, phi_s, -phi_d)
    )


@mutant("places in the memory in place of the session", rejected_by="PG-4")
def of_the_memory(specimen: Any) -> Any:
    def attend(self: Any, view: Any, incoming: Any) -> None:
        p = self.params
        view.primacy[view.row] = specimen.attention(view.row + 1, p.scale, p.decay)

    return specimen.overriding("PrimacyGradient", attend=attend)


@mutant("attention is added to the logarithm without taking it", rejected_by="PG-5")
def no_logarithm(specimen: Any) -> Any:
    def prefer(self: Any, view: Any, cue: Any) -> None:
        view.log_prior[...] = view.primacy

    return specimen.overriding("PrimacyGradient", prefer=prefer)
