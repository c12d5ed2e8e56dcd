"""All that a mechanism and its evidence import, in one place, for mechanisms in packages of their
own.

    from hebbarium.author import CREATED, LOG_STRENGTH, NOW, Mechanism, Params, Phase, Tick, hook,
    kernel

It hands on all of `engine.contract`, where hooks, columns, records and drafts are documented with
shapes, units and errors, and besides:

what it holds      where it is defined
state              `engine.state.ranking`, `engine.state.graph`, `engine.steps.uses`
language model     `engine.ports.language_model`
shared by several  `mechanisms.shared.codes`, `mechanisms.shared.coactivation`
evidence           `audit.checks`, `audit.specimen`, `audit.paper_numbers`, `audit.memory`,
                   `audit.figures`

Mechanisms inside this repository import these modules directly.
"""

from __future__ import annotations

from .audit.checks import (
    Check,
    Measured,
    adaptation,
    at_least,
    at_most,
    between,
    data,
    equation,
    limit,
    mutant,
    reference,
    rival,
    signature,
)
from .audit.figures import Curve, Figure, Marks, Picture, dots, figure
from .audit.memory import Scripted, encode, memory_of, neighbour, plug_in
from .audit.paper_numbers import paper_number
from .audit.specimen import NotTestable, Specimen
from .engine import contract
from .engine.contract import *
from .engine.ports.language_model import Reply, Request, Status
from .engine.state.graph import EdgeType, entity_node
from .engine.state.ranking import best
from .engine.steps.uses import step_of_use, used_last
from .mechanisms.shared.coactivation import COACTIVATION
from .mechanisms.shared.codes import codes

__all__ = [
    "COACTIVATION",
    "Check",
    "Curve",
    "EdgeType",
    "Figure",
    "Marks",
    "Measured",
    "NotTestable",
    "Picture",
    "Reply",
    "Request",
    "Scripted",
    "Specimen",
    "Status",
    "adaptation",
    "at_least",
    "at_most",
    "best",
    "between",
    "codes",
    "data",
    "dots",
    "encode",
    "entity_node",
    "equation",
    "figure",
    "limit",
    "memory_of",
    "mutant",
    "neighbour",
    "paper_number",
    "plug_in",
    "reference",
    "rival",
    "signature",
    "step_of_use",
    "used_last",
]
__all__ += contract.__all__
