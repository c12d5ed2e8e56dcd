"""All that a mechanism and its evidence import, in one place, for mechanisms in packages of their own.

    from hebbarium.author import CREATED, LOG_STRENGTH, NOW, Mechanism, Params, Phase, Tick, hook, kernel

what it holds      where it is defined, with shapes, units and errors
columns            `engine.columns`: Column, Structure, Signal, signal; Scope, Facet, Phase
contract           `engine.contract`: Mechanism, Params, hook, forecast, HOURS_PER; Incoming, Cue, Tick, the third argument of a hook
equations          `engine.numerics`: kernel; `engine.ranking`: best; `mechanisms.shared`: codes
shared columns     `engine.vocabulary`: NOW, ROW, LOG_STRENGTH and the others; `mechanisms.shared`: COACTIVATION
records, text      `engine.records`: Event, Query; `engine.text.features`: Features, SpeechAct
graph              `engine.storage.graph`: EdgeType, entity_node
evidence           `audit.checks`: the decorators equation, limit, data, signature, adaptation and mutant; at_least, at_most, between, Measured;
                   `audit.specimen`: Specimen, NotTestable; `audit.paper_numbers`: paper_number
engine checks      `audit.memory`: memory_of, plug_in, encode, neighbour, Scripted
figures            `audit.figures`: figure, Picture, Curve, Marks, dots

Mechanisms inside this repository import these modules directly.
"""
from __future__ import annotations

from .audit.checks import Check, Measured, adaptation, at_least, at_most, between, data, equation, limit, mutant, signature
from .audit.figures import Curve, Figure, Marks, Picture, dots, figure
from .audit.memory import Scripted, encode, memory_of, neighbour, plug_in
from .audit.paper_numbers import paper_number
from .audit.specimen import NotTestable, Specimen
from .engine.columns import Column, Facet, Phase, Scope, Signal, Structure, signal
from .engine.contract import HOURS_PER, Cue, Incoming, Mechanism, Params, Tick, forecast, hook
from .engine.numerics import kernel
from .engine.ranking import best
from .engine.records import Event, Query
from .engine.storage.graph import EdgeType, entity_node
from .engine.text.features import Features, SpeechAct
from .engine.vocabulary import (
    ACTIVATION,
    CHOICE_GAIN,
    CONGRUENCY,
    CONTEXT_KEPT,
    CREATED,
    DETAIL,
    DUPLICATE,
    EMBEDDER,
    EMBEDDING,
    ENCODING_STRENGTH,
    FACET_WEIGHTS,
    FUSED,
    GRAPH,
    HIPPOCAMPAL_DEPENDENCE,
    HORIZON,
    INDEX,
    INITIAL_STRENGTH,
    LEARNING_RATE,
    LEXICON,
    LOG_FACETS,
    LOG_STRENGTH,
    LTP,
    MATCH,
    MODIFIABILITY,
    NEED,
    NOW,
    PLASTICITY,
    RANDOM,
    RECALLED,
    RELEASE_PROBABILITY,
    REPLAY_LAG,
    REPLAY_STEPS,
    REPLAYED,
    REPLAYS,
    RERANKED,
    RESOURCES,
    REWEIGHTED,
    RIPPLES,
    ROW,
    SALIENCE,
    SESSION,
    SIGNALS,
    SLEEP_END,
    SLEEP_ONSET,
    SLEEP_SHARE,
    SPEAKER,
    SURPRISE,
    TEXTS,
    THRESHOLD_SHIFT,
    TRIGRAMS,
    TURNOVER,
    VETO,
    VISIBLE,
    WORKING_MEMORY,
    WORKING_MEMORY_SLOTS,
    WORKING_MEMORY_STEP,
)
from .mechanisms.shared.coactivation import COACTIVATION
from .mechanisms.shared.codes import codes

__all__ = [
    "ACTIVATION", "CHOICE_GAIN", "COACTIVATION", "CONGRUENCY", "CONTEXT_KEPT", "CREATED", "DETAIL", "DUPLICATE", "EMBEDDER", "EMBEDDING",
    "ENCODING_STRENGTH", "FACET_WEIGHTS", "FUSED", "GRAPH", "HIPPOCAMPAL_DEPENDENCE", "HORIZON", "HOURS_PER", "INDEX", "INITIAL_STRENGTH",
    "LEARNING_RATE", "LEXICON", "LOG_FACETS", "LOG_STRENGTH", "LTP", "MATCH", "MODIFIABILITY", "NEED", "NOW", "PLASTICITY", "RANDOM", "RECALLED",
    "RELEASE_PROBABILITY", "REPLAYED", "REPLAYS", "REPLAY_LAG", "REPLAY_STEPS", "RERANKED", "RESOURCES", "REWEIGHTED", "RIPPLES", "ROW", "SALIENCE",
    "SESSION", "SIGNALS", "SLEEP_END", "SLEEP_ONSET", "SLEEP_SHARE", "SPEAKER", "SURPRISE", "TEXTS", "THRESHOLD_SHIFT", "TRIGRAMS", "TURNOVER",
    "VETO", "VISIBLE", "WORKING_MEMORY", "WORKING_MEMORY_SLOTS", "WORKING_MEMORY_STEP", "Check", "Column", "Cue", "Curve", "EdgeType", "Event",
    "Facet", "Features", "Figure", "Incoming", "Marks", "Measured", "Mechanism", "NotTestable", "Params", "Phase", "Picture", "Query", "Scope",
    "Scripted", "Signal", "Specimen", "SpeechAct", "Structure", "Tick", "adaptation", "at_least", "at_most", "best", "between", "codes", "data",
    "dots", "encode", "entity_node", "equation", "figure", "forecast", "hook", "kernel", "limit", "memory_of", "mutant", "neighbour",
    "paper_number", "plug_in", "signal", "signature",
]
