"""Ratings that an author tries to talk up: whatever is left out of an entry, or declared otherwise,
never raises a rating, and what is declared of a signal is checked against its scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from hebbarium.audit import static
from hebbarium.audit.behaviour import phenomena
from hebbarium.audit.checks import Score, judge
from hebbarium.audit.collect import audit_registry, exhibit_of
from hebbarium.audit.declarations import (
    SignalScores,
    contradictions,
    signal_scores,
    told_apart,
    unlike_the_varied,
    wrong_directness,
)
from hebbarium.audit.facts import FactKind, facts, quantities
from hebbarium.audit.ratings import shipped
from hebbarium.audit.references import of_registry
from hebbarium.audit.static import Exhibit
from hebbarium.engine.catalogue.registry import Departure, Entry, Parameter, Registry
from hebbarium.engine.contract.columns import Facet, Scale, Signal

REGISTRY = Registry.read()
DOCUMENTED = [
    id
    for id, entry in REGISTRY.entries.items()
    if shipped()[id] == "DOCUMENTED" and not entry.variety_of
]


def without(entry: Entry, *fields: str) -> Entry:
    """The entry with some fields as if their author had left them out."""
    bare: dict[str, Any] = {
        "proxies": (),
        "forms": (),
        "departures": (),
        "phenomena": (),
        "inputs": {},
        "read": {},
    }
    params = {
        name: p.model_copy(update={"role": "", "read": None, "second_hand": False})
        for name, p in entry.params.items()
    }
    return entry.model_copy(
        update={f: bare[f] for f in fields if f in bare}
        | ({"params": params} if "params" in fields else {})
    )


FIELDS = ("proxies", "forms", "departures", "phenomena", "inputs", "read", "params")


@pytest.mark.parametrize("id", DOCUMENTED)
def test_what_an_author_leaves_out_never_raises_a_rating(id: str) -> None:
    """Each of seven fields alone, those that lower together, and all of them."""
    entry = REGISTRY.entry(id)
    assert facts(entry, None, phenomena(entry, REGISTRY))
    for left_out in (
        *((field,) for field in FIELDS),
        ("proxies", "forms"),
        ("proxies", "forms", "departures", "phenomena"),
        FIELDS,
    ):
        talked_up = without(entry, *left_out)
        assert facts(talked_up, None, phenomena(talked_up, REGISTRY)), left_out


def test_the_two_that_could_be_talked_up_cannot() -> None:
    """Measured at 4014d80: without `proxies` both were FAITHFUL."""
    for id, quantity in (("synaptic_tagging", "salience"), ("temporal_context", "match")):
        entry = without(REGISTRY.entry(id), "proxies", "forms", "departures")
        assert quantity in quantities(entry)
        assert quantity in {f.about for f in facts(entry, None, ()) if f.kind is FactKind.INPUT}, id


# --- single statements ------------------------------------------------------------------------------
CASCADE = REGISTRY.entry("consolidation_cascade")
SOUND = CASCADE.model_copy(
    update={
        "read": dict.fromkeys(("fusi2005cascade", "benna2016computational"), "paper"),
        "equations": tuple(e.model_copy(update={"read": None}) for e in CASCADE.equations),
    }
)


def test_the_sound_entry_has_nothing_that_lowers() -> None:
    assert facts(SOUND, None, (), ()) == ()


def with_param(**update: Any) -> dict[str, Any]:
    params = dict(SOUND.params)
    params["levels"] = params["levels"].model_copy(update=update)
    return {"params": params}


def departing(**update: Any) -> dict[str, Any]:
    return {"departures": (Departure(what="w", why="y", **update),)}


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"read": {}}, FactKind.SECOND_HAND),
        ({"read": {"fusi2005cascade": "paper"}}, FactKind.SECOND_HAND),
        *(
            ({"read": {**SOUND.read, "fusi2005cascade": how}}, FactKind.SECOND_HAND)
            for how in ("authors' code", "reimplementation", "description", "memory")
        ),
        (
            {"equations": (SOUND.equations[0].model_copy(update={"read": "memory"}),)},
            FactKind.SECOND_HAND,
        ),
        ({"params": {"x": SOUND.params["x"].model_copy(update={"read": "memory"})}},
         FactKind.SECOND_HAND),
        ({"params": {"x": SOUND.params["x"].model_copy(update={"second_hand": True})}},
         FactKind.SECOND_HAND),
        (with_param(role=""), FactKind.OWN_NUMBER),
        ({"params": {**SOUND.params, "kappa": Parameter(value=3.0, unit="1", kind="engineering",
          source="ours")}}, FactKind.OWN_NUMBER),
        ({"params": {**SOUND.params, "kappa": Parameter(value=3.0, unit="1", kind="source",
          source="Cortex")}}, FactKind.OWN_NUMBER),
        ({"departures": (), "proxies": (), "forms": ()}, FactKind.UNSTATED),
        ({"inputs": {}}, FactKind.INPUT),
        ({"inputs": {"replays": " "}}, FactKind.INPUT),
        (departing(kind="form"), FactKind.FORM),
        (departing(kind="proxy"), FactKind.PROXY),
        (departing(kind="bound"), FactKind.UNSHOWN),
        (departing(kind="bound", shown=("CM-0",)), FactKind.UNSHOWN),
        (departing(kind="addition", neutral={"g1": 0.0}), FactKind.UNSHOWN),
        ({"departures": (Departure(what="w", why=" ", kind="none"),)}, FactKind.NO_REASON),
    ],
)  # fmt: skip
def test_one_statement_lowers(wrong: dict[str, Any], kind: FactKind) -> None:
    found = facts(SOUND.model_copy(update=wrong), None, (), ("CM-1.1",))
    assert {f.kind for f in found} == {kind}


@pytest.mark.parametrize("kind", ["bound", "addition"])
def test_a_bound_and_an_addition_are_believed_once_a_passing_check_shows_them(kind: str) -> None:
    entry = SOUND.model_copy(update=departing(kind=kind, shown=("CM-1.1", "CM-1.2")))
    assert [f.kind for f in facts(entry, None, (), ("CM-1.1",))] == [FactKind.UNSHOWN]
    assert facts(entry, None, (), ("CM-1.1", "CM-1.2")) == ()


def test_another_time_lowers_unless_the_behaviour_is_shown_there() -> None:
    entry = REGISTRY.entry("short_term_plasticity").model_copy(
        update={"read": dict.fromkeys(("tsodyks1998neural", "markram1998differential"), "paper")}
    )
    assert entry.time_scale == 2400.0
    assert facts(entry, None, phenomena(entry, REGISTRY)) == ()
    assert [f.kind for f in facts(entry, None, ())] == [FactKind.TIME_SCALE]


def test_a_behaviour_that_is_not_shown_lowers() -> None:
    entry = REGISTRY.entry("temporal_context")
    missed = {
        f.about
        for f in facts(entry, None, phenomena(entry, REGISTRY))
        if f.kind is FactKind.BEHAVIOUR
    }
    assert "lag_crp/distractor" in missed


# --- departures and their words ---------------------------------------------------------------------
def exhibit_with(**update: Any) -> Exhibit:
    exhibit = exhibit_of(REGISTRY.entry("recency"), REGISTRY, of_registry(REGISTRY))
    return Exhibit(
        exhibit.entry.model_copy(update=update),
        exhibit.module,
        exhibit.references,
        exhibit.registry,
        evidence=exhibit.evidence,
    )


def departure(**fields: Any) -> dict[str, Any]:
    return {"departures": (Departure(**{"what": "w", "why": "y", "kind": "none"} | fields),)}


@pytest.mark.parametrize(
    ("wrong", "output"),
    [
        (departure(what="a mean in place of the sum"), "is called none and says 'in place of'"),
        (departure(what="words instead of units"), "says 'instead of'"),
        (departure(what="a cosine replaces the rate"), "says 'replaces'"),
        (departure(what="an entity stands for a neuron"), "says 'stands for'"),
        (departure(what="the net is reduced to a unit", kind="bound"), "says 'is reduced to'"),
        (departure(why=" "), "gives no reason"),
        (departure(kind="addition"), "says neither where it is neutral nor why"),
        (departure(kind="bound", shown=("RC-99",)), "RC-99, which is no check"),
        ({"inputs": {"match": "why"}}, "match is declared an input, and no hook reads it"),
        ({"read": {"yerkes1908relation": "paper"}}, "is not among the papers"),
    ],
)
def test_departures_are_what_they_are_called(wrong: dict[str, Any], output: str) -> None:
    check = next(c for c in static.evidence() if c.id == "ST-8")
    assert judge(check, exhibit_with(**departure())).score is Score.PASS
    result = judge(check, exhibit_with(**wrong))
    assert result.score is Score.FAIL and output in result.measured


# --- signals ----------------------------------------------------------------------------------------
@cache
def exhibit(id: str) -> Exhibit:
    return exhibit_of(REGISTRY.entry(id), REGISTRY, of_registry(REGISTRY))


@contextmanager
def declared(signal: Signal, **fields: Any) -> Iterator[None]:
    """The signal as if it were declared otherwise."""
    before = {name: getattr(signal, name) for name in fields}
    for name, value in fields.items():
        object.__setattr__(signal, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            object.__setattr__(signal, name, value)


@cache
def scores_of(id: str) -> tuple[SignalScores, ...]:
    return tuple(signal_scores(REGISTRY.entry(id), REGISTRY))


SPEAKING = [
    id
    for id, entry in REGISTRY.entries.items()
    if not entry.variety_of and any(isinstance(c, Signal) for c in entry.load().owns)
]


# `make test-all` tries their signals, since their kernels take seconds to compile, and others are like
# them
DEAR = {
    "hebbian_association", "outcome_gated_association", "pattern_separation", "schema_formation",
    "sleep_orthogonalisation", "spike_timing_plasticity", "systems_transfer", "titans_memory",
}  # fmt: skip
WRONGLY_DECLARED: list[tuple[str, dict[str, Any], str]] = [
    ("engram_allocation", {"facet": Facet.ASSOCIATION}, "of two memories together changes"),
    ("personalized_pagerank", {"scale": Scale.SIMILARITY}, "same with words that nobody said"),
    ("trigram_match", {"scale": Scale.SUPPORT}, "changes with words that nobody said"),
    ("learned_sparse", {"facet": Facet.ASSOCIATION}, "only memories that share a word"),
    ("titans_memory", {"facet": Facet.CONTEXT}, "depends on what the question says"),
    ("hebbian_association", {"scale": Scale.SIMILARITY}, "and use raises it to"),
    ("curation", {"direct": True}, "is direct, and starts from memories that match"),
    ("temporal_index", {"floor": -5.0}, "the floor -5, and is never below"),
    ("speaker_engram", {"floor": -1.0}, "takes from memories of which it says nothing"),
    ("schema_formation", {"facet": Facet.CONTEXT}, "where memories have it alone in common"),
    ("recency", {"direct": True}, "is direct, and is the same for every question"),
    ("heat", {"direct": True}, "is direct, and is the same for every question"),
    ("lexical_bm25", {"facet": Facet.TIME}, "evidence of TIME, and depends on the question"),
    ("lexical_bm25", {"facet": Facet.USE}, "evidence of USE, and depends on the question"),
    ("dense_similarity", {"facet": Facet.TIME}, "evidence of TIME, and depends"),
    ("trigram_match", {"facet": Facet.USE}, "evidence of USE, and depends on the question"),
    ("pattern_separation", {"facet": Facet.TIME}, "evidence of TIME, and depends"),
    ("hopfield_completion", {"facet": Facet.USE}, "evidence of USE, and depends"),
    ("recency", {"facet": Facet.WORDS}, "evidence of WORDS, whatever the question"),
    ("recency", {"facet": Facet.MEANING}, "evidence of MEANING, whatever the question"),
    ("heat", {"facet": Facet.WORDS}, "evidence of WORDS, whatever the question"),
    ("heat", {"facet": Facet.COMPLETION}, "evidence of COMPLETION, whatever the question"),
    ("lexical_bm25", {"floor": -1.0}, "is an amount, and its floor is -1, not 0"),
    ("lexical_bm25", {"floor": 0.5}, "its floor is 0.5, not 0"),
    ("dense_similarity", {"scale": Scale.SUPPORT}, "is an amount, and its floor is -1"),
    ("systems_transfer", {"scale": Scale.SUPPORT}, "is an amount, and has the score -"),
    ("sampling_recovery", {"scale": Scale.SUPPORT}, "is an amount, and"),
    ("hopfield_completion", {"scale": Scale.SUPPORT}, "is an amount, and has the score -"),
    ("lexical_bm25", {"scale": Scale.SIMILARITY}, "is a similarity, and has scores from"),
    ("passage_words", {"scale": Scale.SIMILARITY}, "is a similarity, and has scores from"),
    ("dense_similarity", {"scale": Scale.LOG_ODDS}, "ln odds, and reads none"),
    ("trigram_match", {"scale": Scale.LOG_ODDS}, "ln odds, and reads none"),
    ("heat", {"scale": Scale.SIMILARITY}, "is an estimate of need, and its scale is similarity"),
    ("heat", {"scale": Scale.SUPPORT}, "is an estimate of need, and its scale is support"),
    ("trigram_match", {"floor": 0.5}, "has the floor 0.5 and the score"),
    ("lexical_bm25", {"direct": False}, "from nothing learnt, and is not called direct"),
    ("passage_words", {"direct": False}, "from nothing learnt, and is not called direct"),
    ("dense_similarity", {"direct": False}, "learnt, and is not called direct"),
    ("trigram_match", {"direct": False}, "learnt, and is not called direct"),
    ("hopfield_completion", {"direct": False}, "learnt, and is not called direct"),
    ("dense_similarity", {"facet": Facet.WORDS}, "depends on the vector besides the words"),
    ("dense_similarity", {"facet": Facet.FORM}, "depends on the vector besides the words"),
    ("dense_similarity", {"facet": Facet.ASSOCIATION}, "reads nothing but texts"),
    ("lexical_bm25", {"facet": Facet.MEANING}, "depends on words besides the vector"),
    ("lexical_bm25", {"facet": Facet.FORM}, "has no score for misspelt words"),
    ("lexical_bm25", {"facet": Facet.CONTEXT}, "reads nothing but texts"),
    ("trigram_match", {"facet": Facet.MEANING}, "depends on words besides the vector"),
    ("trigram_match", {"facet": Facet.WORDS}, "has scores for words that nobody said"),
    ("temporal_index", {"facet": Facet.CONTEXT}, "is silent without a time"),
    ("temporal_index", {"facet": Facet.WORDS}, "is silent without a time"),
    ("hyperdimensional_binding", {"facet": Facet.KIND}, "differs between questions of one kind"),
    ("hyperdimensional_binding", {"facet": Facet.WHEN}, "is silent without a time"),
    ("dense_similarity", {"facet": Facet.COMPLETION}, "for half a text"),
    ("systems_transfer", {"facet": Facet.COMPLETION}, "for half a text"),
    ("hopfield_completion", {"facet": Facet.MEANING}, "half a text as high as for all"),
    ("titans_memory", {"floor": 0.0}, "scores all memories, and has the floor 0 and the score"),
    ("dense_similarity", {"floor": 0.0}, "scores all memories, and has the floor 0"),
    ("recency", {"scale": Scale.SUPPORT}, "has the bound 1 of a similarity"),
    ("heat", {"facet": Facet.FORM}, "evidence of FORM, and reads the time or how often"),
    ("titans_memory", {"facet": Facet.MEANING}, "half a text as high as for all"),
    ("recency", {"facet": Facet.USE}, "is evidence of USE, and reads no use"),
    ("heat", {"facet": Facet.TIME}, "reads how often memories were used"),
    ("spreading_activation", {"facet": Facet.CONTEXT}, "neither when, where nor by whom"),
    ("titans_memory", {"facet": Facet.COMPLETION}, "a text seldom finds itself by it"),
    ("recency", {"floor": 0.6}, "the floor 0.6, above half of its scores"),
    ("hyperdimensional_binding", {"floor": -1.0}, "the floor -1, and is never below"),
    ("hopfield_completion", {"floor": -1.0}, "the floor -1, and is never below"),
    ("temporal_index", {"floor": 0.2}, "the floor 0.2, above what has nothing in common"),
    ("heat", {"floor": -1.0}, "is in ln odds, of which those of a typical memory are 0"),
    ("temporal_context", {"facet": Facet.ASSOCIATION}, "of all memories a text finds itself"),
    ("pattern_separation", {"facet": Facet.ASSOCIATION}, "of all memories a text finds itself"),
    ("topology_consolidation", {"facet": Facet.WORDS}, "depends on the vector"),
    ("topology_consolidation", {"facet": Facet.CONTEXT}, "of all memories a text finds itself"),
    ("adjacency_pairs", {"facet": Facet.CONTEXT}, "is silent where memories have it alone"),
    ("curation", {"facet": Facet.CONTEXT}, "is silent where memories have it alone"),
    ("pattern_separation", {"facet": Facet.CONTEXT}, "is evidence of CONTEXT"),
    ("titans_memory", {"facet": Facet.MEANING}, "more than half the score of the one asked for"),
    ("engram_allocation", {"facet": Facet.WORDS}, "starts from memories that match"),
    ("schema_formation", {"facet": Facet.FORM}, "a text seldom finds itself by it"),
    ("spreading_activation", {"facet": Facet.WORDS}, "for memories that share none"),
    ("hyperdimensional_binding", {"facet": Facet.WORDS}, "for memories that share none"),
    ("recency", {"facet": Facet.ASSOCIATION}, "evidence of ASSOCIATION, whatever the question"),
    ("recency", {"facet": Facet.CONTEXT}, "reads neither the session nor the speaker"),
    ("recency", {"facet": Facet.KIND}, "reads the time or how often memories were used"),
    ("recency", {"facet": Facet.FORM}, "reads the time or how often memories were used"),
    (
        "successor_representation",
        {"scale": Scale.SIMILARITY},
        "is a similarity, and is never above",
    ),
    ("temporal_index", {"scale": Scale.SUPPORT}, "has the bound 1 of a similarity"),
    ("speaker_engram", {"direct": True}, "of all memories a text finds itself by it"),
    ("speaker_engram", {"facet": Facet.TIME}, "evidence of TIME, and depends on the question"),
    ("speaker_engram", {"facet": Facet.MEANING}, "reads where or by whom it was said"),
    ("evolving_notes", {"facet": Facet.WORDS}, "depends on the vector besides the words"),
    ("trigram_match", {"floor": -1.0}, "the floor -1, and is never below"),
]


def dear_later(id: str, *more: Any) -> Any:
    """A case of a mechanism, which `make test` leaves to `make test-all` if it is dear."""
    return pytest.param(id, *more, marks=pytest.mark.slow if id in DEAR else ())


@pytest.mark.parametrize(
    ("id", "wrong", "output"), [dear_later(*case) for case in WRONGLY_DECLARED]
)
def test_a_signal_is_what_it_is_declared(id: str, wrong: dict[str, Any], output: str) -> None:
    scores = scores_of(id)[0]
    with declared(scores.signal, **wrong):
        said = list(contradictions(scores))
    assert any(output in sentence for sentence in said), said


# whether a signal is direct that sleep taught is told by `wrong_directness`; `distinct` is silent for
# all memories or for none, so that no floor counts; what is expected of half a text is in the lives of
# this check what is expected of the whole text, as if it were completed
OPEN = {
    ("schematic", "direct"),
    ("gist", "direct"),
    ("distinct", "direct"),
    ("distinct", "floor"),
    ("expected_next", "direct"),
    ("expected_next", Facet.COMPLETION),
}


# its kernels take longer to compile than this life in Python
IN_PYTHON = "dendritic_integration"


@pytest.mark.parametrize(
    "id",
    [
        pytest.param(id, marks=pytest.mark.kernels) if id == IN_PYTHON else dear_later(id)
        for id in SPEAKING
    ],
)
def test_a_signal_is_nothing_but_what_it_is_declared(id: str) -> None:
    """Every other facet, scale and directness, and floors above, below and at both ends of a cosine."""
    for scores in scores_of(id):
        signal = scores.signal
        assert list(contradictions(scores)) == []
        others = [
            *(("facet", facet) for facet in Facet),
            *(("scale", scale) for scale in Scale),
            ("direct", not signal.direct),
            *(("floor", floor) for floor in (-5.0, -1.0, 0.0, 0.3)),
        ]
        accepted = []
        for name, value in others:
            if value != getattr(signal, name) and OPEN.isdisjoint(
                ((signal.name, name), (signal.name, value))
            ):
                with declared(signal, **{name: value}):
                    accepted += [] if any(contradictions(scores)) else [(name, value)]
        assert accepted == [], signal.name


@pytest.mark.parametrize(
    "id",
    [
        dear_later(id)
        for id in (
            "evolving_notes",
            "schema_formation",
            "sleep_orthogonalisation",
            "systems_transfer",
        )
    ],
)
def test_a_signal_that_sleep_taught_is_direct_if_it_tells_nearly_equal_memories_apart(
    id: str,
) -> None:
    entry = REGISTRY.entry(id)
    (signal,) = (c for c in entry.load().owns if isinstance(c, Signal))
    assert list(wrong_directness(entry, REGISTRY)) == []
    with declared(signal, direct=not signal.direct):
        said = list(wrong_directness(entry, REGISTRY))
    assert len(said) == 1 and said[0].startswith(signal.name)


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id, e in REGISTRY.entries.items() if not e.variety_of])
def test_no_signal_that_sleep_taught_is_silent_where_its_directness_is_judged(id: str) -> None:
    for signal, preferred in told_apart(REGISTRY.entry(id), REGISTRY):
        assert preferred, f"{signal.name} gives no pair of memories scores"


PRINTED = [
    (entry, signal)
    for entry in REGISTRY.entries.values()
    for signal in entry.load().owns
    if entry.variety_of and isinstance(signal, Signal)
]


@pytest.mark.parametrize(("entry", "signal"), [pytest.param(*p, id=p[0].id) for p in PRINTED])
def test_a_signal_of_a_printed_form_is_declared_as_that_of_the_form_it_varies(
    entry: Entry, signal: Signal
) -> None:
    varied = REGISTRY.entry(entry.variety_of or "")
    assert list(unlike_the_varied(entry, varied)) == []
    others = [
        *(("facet", facet) for facet in Facet if facet is not signal.facet),
        *(("scale", scale) for scale in Scale if scale is not signal.scale),
        ("direct", not signal.direct),
        ("floor", -1.0),
    ]
    for name, value in others:
        with declared(signal, **{name: value}):
            (said,) = unlike_the_varied(entry, varied)
        assert said.startswith(signal.name), name


def test_printed_forms_have_signals_that_are_compared() -> None:
    check = next(c for c in static.evidence() if c.id == "ST-9")
    ((_, pushed),) = (p for p in PRINTED if p[0].id == "sleep_orthogonalisation_printed")
    judged = exhibit(PRINTED[0][0].id), exhibit("sleep_orthogonalisation_printed")
    assert [judge(check, e).score for e in judged] == [Score.PASS] * 2
    with declared(pushed, facet=Facet.ASSOCIATION):
        result = judge(check, judged[1])
    assert result.score is Score.FAIL and "is evidence of ASSOCIATION" in result.measured


def test_signals_are_judged_by_a_static_check() -> None:
    check = next(c for c in static.evidence() if c.id == "ST-9")
    (signal,) = (c for c in REGISTRY.entry("recency").load().owns if isinstance(c, Signal))
    assert judge(check, exhibit("recency")).score is Score.PASS
    with declared(signal, direct=True):
        result = judge(check, exhibit("recency"))
    assert result.score is Score.FAIL and "is direct, and is the same" in result.measured


# --- equations --------------------------------------------------------------------------------------
def with_equations(id: str, **update: Any) -> Entry:
    entry = REGISTRY.entry(id)
    return entry.model_copy(
        update={"equations": tuple(e.model_copy(update=update) for e in entry.equations)}
    )


@pytest.mark.parametrize(
    ("id", "printed", "output"),
    [
        ("acetylcholine", True, "recurrent_gain is called printed, and its place says 'in words'"),
        ("testing_effect", True, "is called printed, and its place says 'not printed'"),
        ("engram_allocation", True, "is called printed, and its place says 'in words'"),
        ("neurogenesis", True, "is called printed, and its place says 'form is ours'"),
        ("weighted_rrf", False, "is not printed, and its place does not say what is there"),
    ],
)
def test_the_place_of_an_equation_says_whether_it_is_printed(
    id: str, printed: bool, output: str
) -> None:
    check, sound = next(c for c in static.evidence() if c.id == "ST-1"), exhibit(id)
    assert judge(check, sound).score is Score.PASS
    wrong = replace(sound, entry=with_equations(id, printed=printed))
    result = judge(check, wrong)
    assert result.score is Score.FAIL and output in result.measured, result.measured


def test_an_equation_that_a_hook_reaches_cannot_be_called_library() -> None:
    """Else an author could take what a check may refute out of his claim."""
    entries = {**REGISTRY.entries, "weighted_rrf": with_equations("weighted_rrf", library=True)}
    registry = Registry(entries, REGISTRY.sets, REGISTRY.digest, REGISTRY.packages)
    (judged,) = audit_registry(registry, only=["weighted_rrf"], mutants=False).mechanisms
    assert any("library, no part of its claim, and a hook reaches" in f for f in judged.faults)


def test_a_paper_that_is_called_read_says_which_parts() -> None:
    """Else one word makes a mechanism FAITHFUL."""
    check, sound = next(c for c in static.evidence() if c.id == "ST-8"), exhibit("sleep_pressure")
    assert judge(check, sound).score is Score.PASS
    raised = sound.entry.model_copy(update={"read": dict.fromkeys(sound.entry.read, "paper")})
    result = judge(check, replace(sound, entry=raised))
    assert result.score is Score.FAIL and "daan1984timing is called read" in result.measured


def test_a_printed_form_claims_what_its_source_rates_it() -> None:
    """Else a source could be said to claim what it does not."""
    check = next(c for c in static.evidence() if c.id == "ST-8")
    sound = exhibit("sufficiency_gate_printed")
    assert judge(check, sound).score is Score.PASS
    raised = sound.entry.model_copy(update={"claims": "HONEST"})
    result = judge(check, replace(sound, entry=raised))
    assert result.score is Score.FAIL
    assert "claims HONEST, which cortex rates APPROXIMATION" in result.measured
