"""Experiments with printed results: a file each, and `contract`, which says what one is."""

from __future__ import annotations

from typing import Final

from . import (
    behavioural_tagging,
    context,
    directed_forgetting,
    fact_retention,
    false_memory,
    fan,
    induced_forgetting,
    part_list,
    reconsolidation_window,
    release,
    retention,
    sleep,
    spacing,
    testing,
)
from .contract import Paradigm

__all__ = ["PRINTED", "contract"]

PRINTED: Final[dict[str, Paradigm]] = {
    module.PARADIGM.id: module.PARADIGM
    for module in (
        retention,
        fact_retention,
        spacing,
        testing,
        induced_forgetting,
        fan,
        context,
        sleep,
        false_memory,
        release,
        part_list,
        directed_forgetting,
        behavioural_tagging,
        reconsolidation_window,
    )
}
