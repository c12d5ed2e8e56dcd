"""Columns: the typed arrays that hold all state, and the words in which mechanisms speak to each other.

A column is declared once and owned by exactly one mechanism, or by the engine for those declared at the end of this file.  An
absent mechanism leaves its columns at their neutral value, which is chosen so that readers need not ask who is on.
"""
from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike

from .errors import ContractError

BUFFER_SLOTS: Final = 9       # most items that a cycle of theta can hold
REPLAY_STEPS: Final = 1024    # most steps replayed in one sleep


class Phase(Enum):
    """The four phases of a tick."""

    MAINTAIN = "maintain"
    ENCODE = "encode"
    CONSOLIDATE = "consolidate"
    RETRIEVE = "retrieve"


class Scope(Enum):
    """What one cell of a column belongs to."""

    MEMORY = "memory"        # one stored memory; the column persists
    EDGE = "edge"            # one edge of the graph; the column persists
    GLOBAL = "global"        # the whole memory; the column persists
    EVENT = "event"          # the event or query in hand; neutral again at the next
    CANDIDATE = "candidate"  # one memory in the light of the query in hand; neutral again at the next

    @property
    def persists(self) -> bool:
        return self in (Scope.MEMORY, Scope.EDGE, Scope.GLOBAL)


class Facet(Enum):
    """What a signal goes by; a query weighs facets, never mechanisms."""

    MEANING = 0
    WORDS = 1
    FORM = 2
    USE = 3
    TIME = 4
    CONTEXT = 5
    ASSOCIATION = 6
    COMPLETION = 7


@dataclass(frozen=True, eq=False)
class Column:
    """One typed array.

    name     attribute under which a view shows it
    dtype    numpy type of a cell
    scope    what a cell belongs to
    shape    of one cell; a name stands for the owner's parameter of that name, or for `dimensions` of the embedding
    unit     of a cell, "1" if none
    neutral  value while nobody sets it; another column for a stage that passes its input on
    meaning  one sentence
    low, high  bounds of a sound cell, for the conformance suite
    fresh    the phase in which contributions are gathered anew: the column is neutral before the first of them

    Raises ContractError for a name that no view could show.
    """

    name: str
    dtype: DTypeLike
    scope: Scope
    unit: str
    neutral: Any
    meaning: str
    shape: tuple[int | str, ...] = ()
    low: float | None = None
    high: float | None = None
    fresh: Phase | None = None

    def __post_init__(self) -> None:
        _require_name(self.name)

    @property
    def persists(self) -> bool:
        return self.scope.persists

    @property
    def before(self) -> Before:
        """For `reads`: the value this column had before anybody changed it in this phase."""
        return Before(self)

    def cell_shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(size if isinstance(size, int) else sizes[size] for size in self.shape)

    def __repr__(self) -> str:
        return f"<{self.scope.value} column {self.name}>"


@dataclass(frozen=True)
class Before:
    """A read of what a column or structure was before this phase changed it: the reader runs before the writers."""

    of: Column | Structure


@dataclass(frozen=True, eq=False)
class Signal(Column):
    """A ranked answer to the query: a score for each memory, NaN where the signal has nothing to say.

    facet   what the signal goes by
    direct  whether it needs the query only; others start from MATCH, which the direct ones give
    floor   the score that silence (NaN) stands for where scores are compared
    The owner's parameter `weight` says how much the fused ranking trusts it.
    """

    facet: Facet = Facet.MEANING
    direct: bool = True
    floor: float = 0.0


def signal(name: str, facet: Facet, meaning: str, *, unit: str = "1", direct: bool = True, floor: float = 0.0) -> Signal:
    """Declare a signal: a float32 candidate column with NaN as neutral value."""
    return Signal(name, np.float32, Scope.CANDIDATE, unit, np.nan, meaning, facet=facet, direct=direct, floor=floor)


@dataclass(frozen=True, eq=False)
class Structure:
    """Something the engine keeps that is not an array: an index, the graph, the texts.

    reading  names that a hook may use which declared the structure in `reads`; all are open to a hook that adds to or sets it
    private  one object per mechanism instead of one per engine
    """

    name: str
    meaning: str
    reading: tuple[str, ...] = field(default=())
    private: bool = False
    persists: bool = True

    def __post_init__(self) -> None:
        _require_name(self.name)

    @property
    def before(self) -> Before:
        return Before(self)

    def __repr__(self) -> str:
        return f"<structure {self.name}>"


def _require_name(name: str) -> None:
    if not name.isidentifier() or name.startswith("_") or keyword.iskeyword(name):
        raise ContractError(f"{name!r} is no attribute name", where="columns", cure="use lower case letters, digits and underscores")


# --- owned by the engine: time and identity ----------------------------------------------------------------------------------
NOW = Column("now", np.float64, Scope.GLOBAL, "h", 0.0, "simulated time, hours since 1970-01-01")
ROW = Column("row", np.int64, Scope.EVENT, "1", -1, "row of the event just stored; hooks that read it run only if it was stored")
CREATED = Column("created", np.float64, Scope.MEMORY, "h", 0.0, "when the memory was encoded")
SESSION = Column("session", np.int32, Scope.MEMORY, "1", -1, "conversation session, numbered as met")
SPEAKER = Column("speaker", np.int32, Scope.MEMORY, "1", -1, "who said it, numbered as met")
VISIBLE = Column("visible", np.bool_, Scope.MEMORY, "1", True, "on the surface; False once archived, for the index, too")
EMBEDDING = Column("embedding", np.float32, Scope.MEMORY, "1", 0.0, "unit vector of the text, in the index's own memory", ("dimensions",))

# --- owned by the engine: the admission vote -----------------------------------------------------------------------------------
VETO = Column("veto", np.int64, Scope.EVENT, "votes", 0, "gates against storing the event; stored if none", low=0)
THRESHOLD_SHIFT = Column("threshold_shift", np.float64, Scope.EVENT, "score", 0.0, "added to every gate's threshold; 0: no modulation")
SALIENCE = Column("salience", np.float64, Scope.EVENT, "1", 0.5, "importance of the event in itself; 0.5: nobody judged it", low=0, high=1)

SURPRISE = Column("surprise", np.float64, Scope.EVENT, "nats", 0.0, "how badly the event was predicted; 0: nobody predicted it", low=0)
DUPLICATE = Column("duplicate", np.int64, Scope.EVENT, "1", -1, "row of the memory that the event repeats; -1: none found")
ENCODING = Column("encoding", np.float64, Scope.EVENT, "ln", 0.0, "log of the factor on how strongly the event is laid down; 0: as usual")
CONTEXT_KEPT = Column("context_kept", np.float64, Scope.EVENT, "1", 1.0, "share of the running context that the event leaves; 1: all", low=0, high=1)

# --- owned by the engine: what modulates the others, factors that are 1 without modulation ------------------------------------------
LEARNING_RATE = Column("learning_rate", np.float64, Scope.GLOBAL, "1", 1.0, "factor on learning rates, from how uncertain predictions are", low=0)
PLASTICITY = Column("plasticity", np.float64, Scope.GLOBAL, "1", 1.0, "factor on plasticity, from how rewards differ from predictions", low=0)
CHOICE_GAIN = Column("choice_gain", np.float64, Scope.GLOBAL, "1", 1.0, "factor on the gain with which memories are chosen", low=0)
HORIZON = Column("horizon", np.float64, Scope.GLOBAL, "1", 1.0, "factor on how far ahead is predicted, 1 / (1 - discount)", low=0)
TURNOVER = Column("turnover", np.float64, Scope.GLOBAL, "populations", 0.0, "units of a sparse code replaced so far, in whole populations", low=0)

# --- owned by the engine: sleep ------------------------------------------------------------------------------------------------
SLEEP_ONSET = Column("sleep_onset", np.float64, Scope.GLOBAL, "h", np.nan, "when sleep begins next, or began; NaN: nobody says")
SLEEP_END = Column("sleep_end", np.float64, Scope.GLOBAL, "h", np.nan, "when that sleep ends, unless an event ends it; NaN: after a fixed interval")
SLEEP_SHARE = Column("sleep_share", np.float64, Scope.GLOBAL, "1", 1.0, "share of a full night that the sleep now consolidated makes up", low=0)
RIPPLES = Column("ripples", np.float64, Scope.GLOBAL, "1", 1.0, "factor, beside SLEEP_SHARE, on how much is replayed; 1: as usual", low=0)
NEED = Column("need", np.float64, Scope.MEMORY, "visits", 0.0, "expected discounted visits from where memory is now; 0: nobody predicts", low=0)
REPLAYED = Column("replayed", np.int32, Scope.GLOBAL, "1", -1, "rows activated one after the other in each replayed step of this sleep; -1: no more",
                  (REPLAY_STEPS, 2), low=-1, fresh=Phase.CONSOLIDATE)
REPLAY_LAG = Column("replay_lag", np.float64, Scope.GLOBAL, "h", 0.0, "time from first to second of each replayed step, as replayed",
                    (REPLAY_STEPS,), low=0, fresh=Phase.CONSOLIDATE)
REPLAYS = Column("replays", np.int32, Scope.MEMORY, "1", 0, "replayed steps of this sleep that the memory is part of", low=0, fresh=Phase.CONSOLIDATE)

# --- owned by the engine: plasticity between memories --------------------------------------------------------------------------
BUFFER = Column("buffer", np.int32, Scope.GLOBAL, "1", -1, "rows held active in order, oldest first, the new memory last; -1: no more",
                (BUFFER_SLOTS,), low=-1)
BUFFER_STEP = Column("buffer_step", np.float64, Scope.GLOBAL, "h", np.nan, "time between neighbours in the buffer; NaN: as they came")
LTP = Column("ltp", np.float64, Scope.GLOBAL, "1", 1.0, "factor on potentiation of associations from the phase of theta; below 0: depression")
MODIFIABILITY = Column("modifiability", np.float64, Scope.MEMORY, "1", 1.0,
                       "factor on potentiation of associations onto the memory; negative: depression instead")
RELEASE_PROBABILITY = Column("release_probability", np.float64, Scope.MEMORY, "1", 1.0,
                             "factor on the probability that an active memory passes activation on", low=0)
RESOURCES = Column("resources", np.float32, Scope.CANDIDATE, "1", 1.0, "factor on what a memory passes on, from its use just now", low=0)
CONGRUENCY = Column("congruency", np.float64, Scope.MEMORY, "1", 0.0, "how well the memory fits what was known; 0: nobody judged it", low=0, high=1)
DEPENDENCE = Column("dependence", np.float64, Scope.MEMORY, "1", 1.0, "share of a memory that hangs on the hippocampus; 1: nothing was transferred",
                    low=0, high=1)
DETAIL = Column("detail", np.int8, Scope.MEMORY, "1", 0, "how much of the text a context shows: 0 all of it, 1 a summary, 2 keywords", low=0, high=2)

# --- owned by the engine: how available a memory is -------------------------------------------------------------------------------
ENCODED = Column("encoded", np.float64, Scope.MEMORY, "ln", 0.0, "log strength with which the memory was laid down; 0: as usual")
ACTIVATION = Column("activation", np.float64, Scope.MEMORY, "ln odds", 0.0, "availability from the history of use; 0: even odds of being needed")
LOG_STRENGTH = Column(
    "log_strength", np.float64, Scope.MEMORY, "ln", 0.0, "log of the factor on a memory's strength; 0: as encoded", fresh=Phase.MAINTAIN)

# --- owned by the engine: from cue to ranking ----------------------------------------------------------------------------------
LOG_FACETS = Column("log_facets", np.float64, Scope.EVENT, "ln", 0.0, "log of the factor on each facet's weight; contributions add", (len(Facet),))
FACET_WEIGHTS = Column(
    "facet_weights", np.float64, Scope.EVENT, "1", 1.0, "factor on each facet's signals; 1: as trusted by default", (len(Facet),), low=0)
MATCH = Column("match", np.float32, Scope.CANDIDATE, "sd", 0.0, "weighted mean of the standardised direct signals")
FUSED = Column("fused", np.float32, Scope.CANDIDATE, "1", MATCH, "score after fusion of all signals; without fusion, the match")
REWEIGHTED = Column("reweighted", np.float32, Scope.CANDIDATE, "1", FUSED, "score after priors and competition")
RERANKED = Column("reranked", np.float32, Scope.CANDIDATE, "1", REWEIGHTED, "score after a closer look at the best")

# --- owned by the engine: structures ---------------------------------------------------------------------------------------------
SIGNALS = Structure("signals", "every signal of the set with its array and its weight", persists=False)
INDEX = Structure("index", "exact vector index over EMBEDDING", ("search", "scores", "vectors", "dimensions"))
LEXICON = Structure("lexicon", "word postings", ("scores", "n_rows"))
TRIGRAMS = Structure("trigrams", "postings of letter trigrams", ("scores", "n_rows"))
GRAPH = Structure(
    "graph", "typed directed edges between memories and entities",
    ("source", "target", "type", "alive", "created", "csr", "buffer", "column", "neighbours", "find", "entity_id", "entity_name", "n_entities",
     "n_edges", "n_rows", "epoch"),
)
TEXTS = Structure("texts", "verbatim text of every row", ("__getitem__", "__len__"))
RECALLED = Structure(
    "recalled", "rows of the answer (k,) int64, best first; hooks that read it run only where recall may change memory", persists=False)
EMBEDDER = Structure("embedder", "the embedding model, for texts that are not stored", ("embed", "dimensions"))
PAIRS = Structure(
    "pairs", "pairs of memories active together, in both directions: rows, COACCESS edge, and time between them", ("source", "target", "edge", "lag"),
    persists=False)
RANDOM = Structure("random", "this mechanism's own random stream", private=True)

ENGINE_COLUMNS: tuple[Column, ...] = (
    NOW, ROW, CREATED, SESSION, SPEAKER, VISIBLE, EMBEDDING, VETO, THRESHOLD_SHIFT, SALIENCE, SURPRISE, DUPLICATE, ENCODING, CONTEXT_KEPT,
    LEARNING_RATE, PLASTICITY, CHOICE_GAIN, HORIZON, TURNOVER, SLEEP_ONSET, SLEEP_END, SLEEP_SHARE, RIPPLES, NEED, REPLAYED, REPLAY_LAG, REPLAYS,
    BUFFER, BUFFER_STEP, LTP, MODIFIABILITY, RELEASE_PROBABILITY, RESOURCES, CONGRUENCY, DEPENDENCE, DETAIL, ENCODED, ACTIVATION, LOG_STRENGTH,
    LOG_FACETS, FACET_WEIGHTS, MATCH, FUSED, REWEIGHTED, RERANKED,
)
ENGINE_ALONE: frozenset[Column | Structure] = frozenset((  # what no hook may add to or set
    NOW, ROW, CREATED, SESSION, SPEAKER, EMBEDDING, ENCODED, FACET_WEIGHTS, MATCH, SIGNALS, INDEX, LEXICON, TRIGRAMS, TEXTS, EMBEDDER, RECALLED,
    PAIRS,
))
ENGINE_STRUCTURES: tuple[Structure, ...] = (SIGNALS, INDEX, LEXICON, TRIGRAMS, GRAPH, TEXTS, EMBEDDER, RECALLED, PAIRS, RANDOM)
