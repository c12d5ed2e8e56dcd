"""Engram allocation as Cortex 4.4.9 prints it: decays the excitability of slots, E(t) = E0 2^(-t /
6 h), and stores a memory in the highest slot.

With one half-life for all slots decay never changes their order, there is no noise, and a used slot
always exceeds an unused one.  The first memory goes to slot 0, and so does every later one, after
five hours or after a week.  Inhibition lowers the two neighbours by index, which are lower anyway.
Memories of one slot count as linked; here this holds for all memories.

Cost: O(slots) per event, O(n) per query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...engine.base.numerics import kernel
from ...engine.contract.columns import Column, Facet, Phase, Scope, Upkeep, signal
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import MATCH, NOW, ROW, VISIBLE
from ...engine.state.ranking import best

# --- columns --------------------------------------------------------------------------------------
SLOT_EXCITABILITY = Column(
    "slot_excitability",
    np.float64,
    Scope.GLOBAL,
    "1",
    0.0,
    "excitability of a slot at its last change; 0: never used",
    ("slots",),
    low=0,
)
SLOT_CHANGED = Column(
    "slot_changed",
    np.float64,
    Scope.GLOBAL,
    "h",
    0.0,
    "when the excitability of a slot last changed",
    ("slots",),
    upkeep=Upkeep(clock=True),
)
SLOT = Column("slot", np.int32, Scope.MEMORY, "1", -1, "slot of the memory")
SLOTMATES = signal(
    "slotmates",
    Facet.CONTEXT,
    "match of the best memories in the same slot",
    unit="sd",
    direct=False,
)


# --- equations ------------------------------------------------------------------------------------
@kernel
def excitability(held: Any, gap: Any, half_life: float, out: Any) -> None:
    """E(t) = E0 2^(-t / half_life).  Cortex 4.4.9.  Cost: O(slots).

    held       (slots,)  1  E0
    gap        (slots,)  h  t
    half_life  ()        h
    out        (slots,)  1  written

    >>> out = np.empty(1)
    >>> excitability(np.ones(1), np.full(1, 12.0), 6.0, out), float(out[0])
    (None, 0.25)
    """
    for i in range(out.shape[0]):
        out[i] = held[i] * 2.0 ** (-gap[i] / half_life)


@kernel
def allocate(excitable: Any) -> int:
    """The most excitable slot, the lowest index among equals.  Cortex 4.4.9, "high-excitability
    slots win".  Cost: O(slots).

    >>> allocate(np.array([0.0, 0.5, 0.5]))
    1
    """
    return int(np.argmax(excitable))


@kernel
def activate(
    slot: int,
    now: float,
    peak: float,
    suppression: float,
    half_life: float,
    held: Any,
    changed: Any,
) -> None:
    """Set E of the slot to `peak`; lower E of its neighbours by index by `suppression`, at least to
    0.  Cost: O(1).

    peak, suppression  ()        1
    held, changed      (slots,)  1, h  changed in place

    >>> held, changed = np.array([0.5, 0.5, 0.1]), np.zeros(3)
    >>> activate(1, 0.0, 1.0, 0.25, 6.0, held, changed), held.tolist()
    (None, [0.25, 1.0, 0.0])
    """
    for i in (slot - 1, slot + 1):
        if 0 <= i < held.shape[0]:
            held[i] = max(
                held[i] * 2.0 ** (-max(now - changed[i], 0.0) / half_life) - suppression, 0.0
            )
            changed[i] = now
    held[slot], changed[slot] = peak, now


@kernel
def together(slot: Any, rows: Any, match: Any, slots: int, out: Any) -> None:
    """out_j = sum of match_i over the best memories i of j's slot.  Ours: the source does not say
    what links are used for.  Cost: O(n).

    slot   (n,)      slot of each memory, -1 for none
    rows   (s,)      the best matches
    match  (n,)  sd  values <= 0 contribute nothing
    out    (n,)  sd  written; NaN on entry, and stays NaN where nothing arrives
    """
    total = np.zeros(slots)
    for i in rows:
        if slot[i] >= 0:
            total[slot[i]] += max(float(match[i]), 0.0)
    for j in range(out.shape[0]):
        if slot[j] >= 0 and total[slot[j]] > 0.0:
            out[j] = total[slot[j]]


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EngramAllocationPrintedParams(Params):
    slots: int
    peak: float  # E0
    half_life: float
    suppression: float
    lenders: int
    weight: float


class EngramAllocationPrinted(Mechanism[EngramAllocationPrintedParams]):
    owns = (SLOT_EXCITABILITY, SLOT_CHANGED, SLOT, SLOTMATES)

    @hook(Phase.ENCODE, reads=(ROW, NOW), adds=(), sets=(SLOT_EXCITABILITY, SLOT_CHANGED, SLOT))
    def allocate_slot(self, view: Any, incoming: Incoming) -> None:
        p, now, excitable = self.params, view.now, np.empty(self.params.slots)
        excitability(
            view.slot_excitability,
            np.maximum(now - view.slot_changed, 0.0),
            self.hours("half_life"),
            excitable,
        )
        view.slot[view.row] = slot = allocate(excitable)
        activate(
            slot,
            now,
            p.peak,
            p.suppression,
            self.hours("half_life"),
            view.slot_excitability,
            view.slot_changed,
        )

    @hook(Phase.RETRIEVE, reads=(MATCH, VISIBLE, SLOT), adds=(), sets=(SLOTMATES,))
    def reactivate(self, view: Any, cue: Cue) -> None:
        together(
            view.slot,
            best(view.match, view.visible, self.params.lenders),
            view.match,
            self.params.slots,
            view.slotmates,
        )
