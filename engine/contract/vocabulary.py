"""The shared vocabulary: the columns and structures that the engine owns and through which
mechanisms interact.

Types of columns are in `columns`.  A column that only one mechanism uses is declared in the file of
that mechanism.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from .columns import Column, Facet, Phase, Scope, Structure, Upkeep

WORKING_MEMORY_SLOTS: Final = 9  # most items that a cycle of theta can hold
REPLAY_STEPS: Final = 1024  # most steps replayed in one sleep
USES_KEPT: Final = 9  # rows of the latest uses that are remembered in order

# --- owned by the engine: time and identity -------------------------------------------------------
NOW = Column("now", np.float64, Scope.GLOBAL, "h", 0.0, "simulated time, hours since 1970-01-01")
ROW = Column(
    "row",
    np.int64,
    Scope.EVENT,
    "1",
    -1,
    "row of the event just stored; hooks that read it run only if it was stored",
)
CREATED = Column(
    "created",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "when the event happened, by its own time: it may lie before that of earlier rows, or ahead of the present",
)
ARRIVED = Column(
    "arrived",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "the present when the memory encoded the event: it ascends with the rows of events and is never ahead; of one in time it is CREATED",
    upkeep=Upkeep(clock=True),
)
UTC_OFFSET = Column(
    "utc_offset",
    np.float64,
    Scope.MEMORY,
    "h",
    0.0,
    "offset of the speaker's clock from UTC: local time is CREATED + UTC_OFFSET; 0 if it is not known",
    low=-24,
    high=24,
)
SESSION = Column(
    "session",
    np.int32,
    Scope.MEMORY,
    "1",
    -1,
    "conversation session, numbered in order of first appearance",
)
SPEAKER = Column(
    "speaker", np.int32, Scope.MEMORY, "1", -1, "speaker, numbered in order of first appearance"
)
VISIBLE = Column(
    "visible",
    np.bool_,
    Scope.MEMORY,
    "1",
    True,
    "False once archived; archived rows are hidden from the index",
)
WITHHELD = Column(
    "withheld",
    np.int8,
    Scope.MEMORY,
    "1",
    0,
    "0 free; never answered: 1 archived by its owner, 2 and 3 made from such a row",
    low=0,
    high=3,
)
KIND = Column(
    "kind",
    np.int8,
    Scope.MEMORY,
    "1",
    0,
    "0 event, 1 segment of an event, 2 bundle that stands for its sources, 3 summary",
    low=0,
    high=3,
)
WRITING = Column(
    "writing",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "number of the writing that is the row's text; -1: the row is an event",
    low=-1,
)
EMBEDDING = Column(
    "embedding",
    np.float32,
    Scope.MEMORY,
    "1",
    0.0,
    "unit vector of the text, stored in the index",
    ("dimensions",),
)

# --- owned by the engine: the admission vote ------------------------------------------------------
VETO = Column(
    "veto",
    np.int64,
    Scope.EVENT,
    "votes",
    0,
    "number of gates that reject the event; stored if 0",
    low=0,
)
THRESHOLD_SHIFT = Column(
    "threshold_shift",
    np.float64,
    Scope.EVENT,
    "score",
    0.0,
    "added to every gate's threshold; 0: no modulation",
)
SALIENCE = Column(
    "salience",
    np.float64,
    Scope.EVENT,
    "1",
    0.5,
    "importance of the event; 0.5: not judged",
    low=0,
    high=1,
)

SURPRISE = Column(
    "surprise",
    np.float64,
    Scope.EVENT,
    "nats",
    0.0,
    "prediction error of the event; 0: not predicted",
    low=0,
)
DUPLICATE = Column(
    "duplicate",
    np.int64,
    Scope.EVENT,
    "1",
    -1,
    "row of the memory that the event repeats; -1: none found",
)
ENCODING_STRENGTH = Column(
    "encoding_strength",
    np.float64,
    Scope.EVENT,
    "ln",
    0.0,
    "log of the factor on the initial strength of the memory; 0: no modulation",
)
CONTEXT_KEPT = Column(
    "context_kept",
    np.float64,
    Scope.EVENT,
    "1",
    1.0,
    "share of the running context kept at the event; 1: all",
    low=0,
    high=1,
)

# --- owned by the engine: modulation of other mechanisms, factors that are 1 without modulation ---
LEARNING_RATE = Column(
    "learning_rate",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "factor on learning rates, from the uncertainty of predictions",
    low=0,
)
PLASTICITY = Column(
    "plasticity",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "factor on plasticity, from reward prediction errors",
    low=0,
)
CHOICE_GAIN = Column(
    "choice_gain",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "factor on the gain of the choice among memories",
    low=0,
)
HORIZON = Column(
    "horizon",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "factor on the prediction horizon 1 / (1 - discount)",
    low=0,
)
TURNOVER = Column(
    "turnover",
    np.float64,
    Scope.GLOBAL,
    "populations",
    0.0,
    "units of a sparse code replaced so far, in whole populations",
    low=0,
)

# --- owned by the engine: sleep -------------------------------------------------------------------
SLEEP_ONSET = Column(
    "sleep_onset",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "start of the next sleep, or of the current one; NaN: not scheduled",
    upkeep=Upkeep(clock=True),
)
SLEEP_END = Column(
    "sleep_end",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "end of that sleep, unless an event ends it; NaN: sleep at fixed intervals",
    upkeep=Upkeep(clock=True),
)
SLEEP_SHARE = Column(
    "sleep_share",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "length of the consolidated sleep as a share of a full night",
    low=0,
)
RIPPLES = Column(
    "ripples",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "factor on the amount of replay, in addition to SLEEP_SHARE; 1: no modulation",
    low=0,
)
NEED = Column(
    "need",
    np.float64,
    Scope.MEMORY,
    "visits",
    0.0,
    "expected discounted visits from the current state; 0: not predicted",
    low=0,
)
REPLAYED = Column(
    "replayed",
    np.int32,
    Scope.GLOBAL,
    "1",
    -1,
    "the two rows activated in sequence by each replayed step of this sleep; -1: unused",
    (REPLAY_STEPS, 2),
    low=-1,
    upkeep=Upkeep(fresh=Phase.CONSOLIDATE, rows=...),
)
REPLAY_LAG = Column(
    "replay_lag",
    np.float64,
    Scope.GLOBAL,
    "h",
    0.0,
    "time between the two rows of each replayed step, on the time scale of replay",
    (REPLAY_STEPS,),
    low=0,
    upkeep=Upkeep(fresh=Phase.CONSOLIDATE),
)
REPLAYS = Column(
    "replays",
    np.int32,
    Scope.MEMORY,
    "1",
    0,
    "replayed steps of this sleep that contain the memory",
    low=0,
    upkeep=Upkeep(fresh=Phase.CONSOLIDATE),
)

# --- owned by the engine: the vote on archiving ---------------------------------------------------
HIDE = Column(
    "hide",
    np.int16,
    Scope.MEMORY,
    "votes",
    0,
    "votes of this sleep to archive the memory; hidden if more than SHOW",
    low=0,
    upkeep=Upkeep(fresh=Phase.CONSOLIDATE),
)
SHOW = Column(
    "show",
    np.int16,
    Scope.MEMORY,
    "votes",
    0,
    "votes of this sleep to show the memory; shown if more than HIDE",
    low=0,
    upkeep=Upkeep(fresh=Phase.CONSOLIDATE),
)

WORTH = Column(
    "worth",
    np.float64,
    Scope.MEMORY,
    "ln odds",
    0.0,
    "log odds of another need, as this sleep judges them; when the memory is full, the least go first",
    upkeep=Upkeep(fresh=Phase.CONSOLIDATE),
)

# --- owned by the engine: plasticity between memories ---------------------------------------------
WORKING_MEMORY = Column(
    "working_memory",
    np.int32,
    Scope.GLOBAL,
    "1",
    -1,
    "active rows in order, oldest first, the new memory last; -1: unused",
    (WORKING_MEMORY_SLOTS,),
    low=-1,
    upkeep=Upkeep(rows=...),
)
WORKING_MEMORY_STEP = Column(
    "working_memory_step",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "time between neighbours in working memory; NaN: as encoded",
)
LTP = Column(
    "ltp",
    np.float64,
    Scope.GLOBAL,
    "1",
    1.0,
    "factor on potentiation of associations, from the phase of theta; below 0: depression",
)
MODIFIABILITY = Column(
    "modifiability",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "factor on potentiation of associations onto the memory; below 0: depression",
    upkeep=Upkeep(anywhere=True),
)
RELEASE_PROBABILITY = Column(
    "release_probability",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "factor on the probability that an active memory passes activation on",
    low=0,
    upkeep=Upkeep(fresh=Phase.MAINTAIN, first=True, anywhere=True),
)
RESOURCES = Column(
    "resources",
    np.float32,
    Scope.CANDIDATE,
    "1",
    1.0,
    "factor on the activation that a memory passes on, from its recent use",
    low=0,
)
CONGRUENCY = Column(
    "congruency",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "fit of the memory with earlier knowledge; 0: not judged",
    low=0,
    high=1,
)
HIPPOCAMPAL_DEPENDENCE = Column(
    "hippocampal_dependence",
    np.float64,
    Scope.MEMORY,
    "1",
    1.0,
    "share of a memory that depends on the hippocampus; 1: nothing was transferred",
    low=0,
    high=1,
)
DETAIL = Column(
    "detail",
    np.int8,
    Scope.MEMORY,
    "1",
    0,
    "form of the text in a context: 0 whole, 1 summary, 2 keywords",
    low=0,
    high=2,
)

# --- owned by the engine: availability of a memory ------------------------------------------------
INITIAL_STRENGTH = Column(
    "initial_strength",
    np.float64,
    Scope.MEMORY,
    "ln",
    0.0,
    "log of the strength at encoding; 0: no modulation",
)
IMPORTANCE = Column(
    "importance",
    np.float64,
    Scope.MEMORY,
    "1",
    0.5,
    "salience of the event when it was stored; 0.5: not judged",
    low=0,
    high=1,
)
NEWS = Column(
    "news",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "how much the memory said that was new; 0: not judged",
    low=0,
    high=1,
)
STAGE = Column(
    "stage",
    np.int64,
    Scope.MEMORY,
    "1",
    -1,
    "stage of the talk: row of its first event; -1: the session stands for it",
    low=-1,
    upkeep=Upkeep(anywhere=True),
)
ACTIVATION = Column(
    "activation",
    np.float64,
    Scope.MEMORY,
    "ln odds",
    0.0,
    "availability from the history of use; 0: even odds of being needed",
    upkeep=Upkeep(fresh=Phase.MAINTAIN, first=True),
)
LOG_STRENGTH = Column(
    "log_strength",
    np.float64,
    Scope.MEMORY,
    "ln",
    0.0,
    "log of the factor on a memory's strength; 0: as encoded",
    upkeep=Upkeep(fresh=Phase.MAINTAIN),
)

USED = Column(
    "used",
    np.int32,
    Scope.GLOBAL,
    "1",
    -1,
    "rows that answers needed, newest use first: row, session of the query, number of the use",
    (USES_KEPT, 3),
    low=-1,
    upkeep=Upkeep(rows=(..., 0)),
)
USED_TIME = Column(
    "used_time",
    np.float64,
    Scope.GLOBAL,
    "h",
    np.nan,
    "when each of them was needed; NaN: unused",
    (USES_KEPT,),
    upkeep=Upkeep(clock=True),
)

# --- owned by the engine: from cue to ranking -----------------------------------------------------
LOG_FACETS = Column(
    "log_facets",
    np.float64,
    Scope.EVENT,
    "ln",
    0.0,
    "log of the factor on each facet's weight; contributions add",
    (len(Facet),),
)
FACET_WEIGHTS = Column(
    "facet_weights",
    np.float64,
    Scope.EVENT,
    "1",
    1.0,
    "factor on the weights of each facet's signals; 1: no modulation",
    (len(Facet),),
    low=0,
)
MATCH = Column(
    "match",
    np.float32,
    Scope.CANDIDATE,
    "sd",
    0.0,
    "weighted mean of the standardised direct signals",
)
FUSED = Column(
    "fused",
    np.float32,
    Scope.CANDIDATE,
    "1",
    MATCH,
    "score after fusion of all signals; without fusion, the match",
)
LOG_PRIOR = Column(
    "log_prior",
    np.float64,
    Scope.CANDIDATE,
    "ln",
    0.0,
    "log of the factor on the fused score; contributions add; 0: no prior",
)
PRIMED = Column(
    "primed",
    np.float32,
    Scope.CANDIDATE,
    "1",
    FUSED,
    "score after priors: FUSED on [0, 1] times exp(LOG_PRIOR), if a hook adds to it",
)
REWEIGHTED = Column(
    "reweighted", np.float32, Scope.CANDIDATE, "1", PRIMED, "score after competition"
)
RERANKED = Column(
    "reranked", np.float32, Scope.CANDIDATE, "1", REWEIGHTED, "score after reranking the best"
)
ARRANGED = Column(
    "arranged",
    np.float32,
    Scope.CANDIDATE,
    "1",
    RERANKED,
    "score after what the answer needs as a whole",
)
DATED = Column(
    "dated",
    np.float32,
    Scope.CANDIDATE,
    "1",
    ARRANGED,
    "score after the time that a question asks for, if it asks for nothing else",
)
RELEASED = Column(
    "released", np.float32, Scope.CANDIDATE, "1", DATED, "score in the answer; NaN: held back"
)
RELEVANCE = Column(
    "relevance",
    np.float32,
    Scope.CANDIDATE,
    "1",
    np.nan,
    "relevance that a reranker found; NaN: not looked at",
    low=0,
    high=1,
)
WITHIN = Column(
    "within",
    np.float32,
    Scope.CANDIDATE,
    "1",
    np.nan,
    "share of the memory inside the time asked for; NaN: none asked",
    low=0,
    high=1,
)
SUFFICIENCY = Column(
    "sufficiency",
    np.float64,
    Scope.EVENT,
    "1",
    1.0,
    "probability that the answer suffices; 1: not judged",
    low=0,
    high=1,
)
CHRONOLOGICAL = Column(
    "chronological",
    np.bool_,
    Scope.EVENT,
    "1",
    False,
    "whether the answer is wanted in order of time",
)
OUTCOME = Column(
    "outcome",
    np.float64,
    Scope.EVENT,
    "1",
    np.nan,
    "how well the answer served, in feedback on it; NaN: not told",
    low=-1,
    high=1,
)

# --- owned by the engine: the context that is asked for -------------------------------------------
BUDGET = Column(
    "budget",
    np.int64,
    Scope.EVENT,
    "tokens",
    -1,
    "most tokens of the context asked for; -1: none is; hooks that read it run only if one is",
    low=-1,
)
ASKER_SESSION = Column(
    "asker_session",
    np.int64,
    Scope.EVENT,
    "1",
    -1,
    "session of the asker of a context; -1: not given",
    low=-1,
)
FOCUS = Column(
    "focus",
    np.float32,
    Scope.CANDIDATE,
    "1",
    0.0,
    "1 for memories of the current stage that a context offers; 0: none",
    low=0,
    high=1,
)
OFFERED = Column(
    "offered",
    np.int16,
    Scope.CANDIDATE,
    "sources",
    0,
    "sources of a context that offer the memory within their share",
    low=0,
)

# --- owned by the engine: what may be answered ----------------------------------------------------
REACH = Column(
    "reach", np.int16, Scope.CANDIDATE, "votes", 0, "votes to answer an archived memory", low=0
)
BAN = Column(
    "ban", np.int16, Scope.CANDIDATE, "votes", 0, "votes against answering a memory", low=0
)
APART = Column(
    "apart",
    np.int16,
    Scope.CANDIDATE,
    "votes",
    0,
    "votes of BAN that keep the memory for contexts, where a source may offer it all the same",
    low=0,
)
ANSWERABLE = Column(
    "answerable",
    np.bool_,
    Scope.CANDIDATE,
    "1",
    VISIBLE,
    "whether the memory may be answered: visible or reached, and not banned",
)
STANDS_FOR = Column(
    "stands_for",
    np.float32,
    Scope.CANDIDATE,
    "memories",
    VISIBLE,
    "visible memories that it counts for in means and deviations: itself; in a shortlist, one of a sample counts for those left out",
)

# --- owned by the engine: structures --------------------------------------------------------------
SIGNALS = Structure(
    "signals",
    "every signal of the set with its array and its weight",
    persists=False,
    phases=(Phase.RETRIEVE,),
)
CUES = Structure(
    "cues",
    "the wordings of the query with their weights, the query itself first",
    ("__iter__", "__len__", "added"),
    persists=False,
    phases=(Phase.RETRIEVE,),
)
INDEX = Structure(
    "index",
    "vector index over EMBEDDING",
    ("search", "scores", "vectors", "vectors_of", "dimensions"),
)
PASSAGES = Structure(
    "passages",
    "vectors of the passages of texts that are longer than what the embedder reads",
    ("scores", "counts"),
)
SPANS = Structure(
    "spans", "word postings of the spans of these texts; all other texts are one span", ("words",)
)
LEXICON = Structure(
    "lexicon",
    "word postings; their statistics count events only",
    ("scores", "document_frequency", "n_rows", "n_counted"),
)
TRIGRAMS = Structure(
    "trigrams",
    "postings of letter trigrams; their statistics count events only",
    ("scores", "n_rows", "n_counted"),
)
GRAPH = Structure(
    "graph", "typed directed edges between memories and entities",
    ("source", "target", "type", "alive", "created", "csr", "links", "fan", "column",
     "neighbours", "find", "entity_id", "entity_name", "entity_names",
     "n_entities", "n_edges", "n_rows", "epoch", "relation_name", "whole_rows"),
)  # fmt: skip
TEXTS = Structure(
    "texts", "verbatim text of every row", ("__getitem__", "__len__", "rendered", "event")
)
WRITINGS = Structure(
    "writings",
    "texts that the memory made, by number; hooks that declare it in adds append to them",
    ("__getitem__", "__len__", "__iter__"),
    phases=(Phase.ENCODE, Phase.CONSOLIDATE, Phase.RETRIEVE),
)
DRAFTS = Structure(
    "drafts",
    "units to be made into rows in this sleep; hooks only add",
    persists=False,
    phases=(Phase.CONSOLIDATE,),
    signed=True,
)
MADE = Structure(
    "made",
    "rows made in this sleep with their drafts; hooks that read it run only if something was made",
    ("__iter__", "__len__", "__getitem__"),
    persists=False,
    phases=(Phase.CONSOLIDATE,),
)
EMBEDDER = Structure(
    "embedder", "the embedding model, for texts that are not stored", ("embed", "dimensions")
)
TOKEN_EMBEDDER = Structure(
    "token_embedder", "the embedding model, for vectors of word pieces", ("embed_tokens",)
)
LANGUAGE_MODEL = Structure(
    "language_model",
    "a language model that answers requests in a batch; without one every reply has the status `none`",
    ("ask", "name", "revision"),
    persists=False,
    phases=(Phase.CONSOLIDATE, Phase.RETRIEVE),
)
RECALLED = Structure(
    "recalled",
    "rows of the answer, or those needed, (k,) int64, best first; hooks that read it run only if recall may change memory",
    persists=False,
    phases=(Phase.RETRIEVE,),
)
OFFERS = Structure(
    "offers",
    "what sources propose for a context; hooks only add",
    persists=False,
    phases=(Phase.RETRIEVE,),
    signed=True,
)
RANDOM = Structure("random", "this mechanism's own random stream", private=True)

# all columns and structures of the engine, in the order above
ENGINE_COLUMNS: tuple[Column, ...] = tuple(c for c in vars().values() if isinstance(c, Column))
ENGINE_STRUCTURES: tuple[Structure, ...] = tuple(
    s for s in vars().values() if isinstance(s, Structure)
)
ENGINE_ALONE: frozenset[Column | Structure] = frozenset((  # what no hook may add to or set
    NOW, ROW, CREATED, ARRIVED, UTC_OFFSET, SESSION, SPEAKER, WITHHELD, KIND, WRITING, EMBEDDING,
    INITIAL_STRENGTH, IMPORTANCE, FACET_WEIGHTS, MATCH, ANSWERABLE,
    STANDS_FOR, SIGNALS, INDEX,
    LEXICON, TRIGRAMS, TEXTS, EMBEDDER, TOKEN_EMBEDDER, LANGUAGE_MODEL, PASSAGES, SPANS, RECALLED,
    MADE, OUTCOME, BUDGET, ASKER_SESSION, USED,
    USED_TIME,
))  # fmt: skip
