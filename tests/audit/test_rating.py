"""The rule table: every rating can be had, and every rating can be lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.audit.behaviour import Phenomenon
from hebbarium.audit.checks import Check, CheckKind, CheckResult, Score
from hebbarium.audit.facts import FactKind, RatingFact, claimed, facts
from hebbarium.audit.rating import Rating, derive, divided, earned
from hebbarium.audit.reached import EquationReach, HookReach, MechanismReach
from hebbarium.engine.catalogue.registry import (
    Departure,
    Equation,
    Parameter,
    Proxy,
    Registry,
    SubstituteForm,
)

F, D, H, A = Rating.FAITHFUL, Rating.DOCUMENTED, Rating.HONEST, Rating.APPROXIMATION
LETTERS = {
    "e": CheckKind.EQUATION,
    "l": CheckKind.LIMIT,
    "d": CheckKind.DATA,
    "s": CheckKind.SIGNATURE,
    "a": CheckKind.ADAPTATION,
}
SCORES = {
    "+": Score.PASS,
    "-": Score.FAIL,
    "!": Score.ERROR,
    "?": Score.NOT_TESTABLE,
    "0": Score.NOT_RUN,
    "o": Score.NOT_APPLICABLE,
}


def results(words: str) -> list[CheckResult]:
    """'e+ s- dw+' is a passing equation, a failing signature, a passing data check that only
    warns; 'so' is out of scope.
    """
    out = []
    for n, word in enumerate(words.split()):
        score = SCORES[word[-1]]
        scope = "out: why" if score is Score.NOT_APPLICABLE else ""
        kind = LETTERS[word[0]]
        measured = {"papers": ("a2000x",), "subjects": "one"} if kind is CheckKind.DATA else {}
        check = Check(
            f"X-{n}", kind, "paper", lambda s: True, warn="w" in word, scope=scope, **measured
        )
        out.append(CheckResult(check, score, note="out of scope: why" if check.scope else ""))
    return out


@pytest.mark.parametrize(("words", "rating"), [
    ("e+ l+ s+", F), ("e+ e+ e+ d+ a+", F),
    ("e+ l+ s+ so", D), ("e+ l+ s+ do", D), ("e+ l+", D), ("e+", D), ("e+ a+ a+ a+", D),
    ("e+ l+ l+ s0", D), ("e+ l+ l+ a0", D),
    ("e- l+ s+ d+", A), ("e! l+ s+ d+", A), ("e? l+ s+ d+", A), ("e0 l+ s+ d+", A), ("e+ l- s+ d+",
    A), ("e+ l0 s+ d+", A), ("e+ e+ l! s+", A),
    ("e+ l+ s-", A), ("e+ l+ d! s+", A), ("e+ l+ d? s+", A), ("e+ l+ s+ a-", A),
    ("l+ l+ s+ d+", A), ("", A), ("so", A),
    ("e+ l+ s+ dw-", F), ("e+ l+ s+ ew!", F), ("e+ lw+ sw+", D), ("ew+ l+ s+ d+", A),
])  # fmt: skip
def test_with_a_claimed_equation(words: str, rating: Rating) -> None:
    assert derive(results(words), claims_equation=True).rating is rating


@pytest.mark.parametrize(
    ("words", "rating"),
    [("a+", H), ("e+ l+ s+", H), ("s+ so", H), ("a-", A), ("e+ a!", A), ("", A), ("sw+", A)],
)
def test_without_a_claimed_equation(words: str, rating: Rating) -> None:
    assert derive(results(words), claims_equation=False).rating is rating


@pytest.mark.parametrize("kind", FactKind)
def test_every_fact_lowers_faithful_to_documented_and_no_further(kind: FactKind) -> None:
    fact = RatingFact(
        kind, "reward", "reward is estimated from words", "measure it", "rescorla1972theory"
    )
    verdict = derive(results("e+ l+ s+"), claims_equation=True, facts=[fact])
    assert (
        verdict.rating is D
        and verdict.lowered_by == ("reward",)
        and verdict.reasons == (fact.what,)
        and verdict.raise_by == (fact.cure,)
    )
    assert derive(results("e+ l+ s+"), claims_equation=False, facts=[fact]).rating is H
    assert derive(results("e- l+ s+"), claims_equation=True, facts=[fact]).rating is A


ENTRY = Registry.read().entry("homeostatic_scaling").model_copy(update={
    "proxies": (), "forms": (), "time_scale": 800.0,
    "departures": (Departure(what="rows", why="they are not read", kind="none"),),
    "read": {"vanrossum2000stable": "paper"}, "inputs": {"log_strength": "the weight of a synapse"},
    "equations": (Equation(id="slopes", paper="vanrossum2000stable", where="3", tex="x"),),
    "params": {"tau": Parameter(value=1.0, unit="s", kind="paper", source="vanrossum2000stable")}})  # fmt: skip
SHOWN = (Phenomenon("runaway_control", {"night": "shown"}),)
REACHED = MechanismReach(
    (HookReach("regulate", "consolidate", ("C-1", "C-2"), (1.0, 800.0)),),
    (EquationReach("slopes", ("regulate", "slopes")),),
)


def changed_equation(**changes: Any) -> dict[str, Any]:
    return {"equations": (ENTRY.equations[0].model_copy(update=changes),)}


@pytest.mark.parametrize(("changes", "reach", "kinds", "claims"), [
    ({}, REACHED, [], True),
    ({}, None, [], True),
    ({"departures": ()}, REACHED, [FactKind.UNSTATED], True),
    ({"proxies": (Proxy(state="rate", proxy="strength", source="vanrossum2000stable"),)}, REACHED,
     [FactKind.PROXY], True),
    ({"forms": (SubstituteForm(paper="a line", ours="a hyperbola", source="vanrossum2000stable"),)}, REACHED,
     [FactKind.FORM], True),
    (changed_equation(printed=False), REACHED, [FactKind.NOT_PRINTED], False),
    (changed_equation(paper=""), replace(REACHED, equations=()), [], False),
    (changed_equation(paper="", printed=False), replace(REACHED, equations=()), [], False),
    (changed_equation(library=True), REACHED, [], False),
    (changed_equation(library=True), replace(REACHED, equations=(EquationReach("slopes", (),
    library=True),)), [], False),
    ({}, replace(REACHED, equations=(EquationReach("slopes", ()),)), [FactKind.LIBRARY], False),
    ({}, replace(REACHED, hooks=(*REACHED.hooks, HookReach("strengthen", "maintain", (), ()))),
     [FactKind.NO_ENGINE_CHECK], True),
    ({}, replace(REACHED, hooks=(replace(REACHED.hooks[0], scales=(1.0,)),)), [FactKind.TIME_SCALE],
     True),
    ({"params": {}}, replace(REACHED, hooks=(replace(REACHED.hooks[0], scales=(1.0,)),)), [], True),
    ({"params": {"tau": ENTRY.params["tau"].model_copy(update={"second_hand": True})}}, REACHED,
     [FactKind.SECOND_HAND], True),
    ({"departures": (Departure(what="two", why=" ", kind="none"), Departure(what="one",
     why="it is faster", kind="none"))}, REACHED, [FactKind.NO_REASON], True),
])  # fmt: skip
def test_facts_of_an_entry(
    changes: dict[str, Any], reach: MechanismReach | None, kinds: list[FactKind], claims: bool
) -> None:
    entry = ENTRY.model_copy(update=changes)
    assert [fact.kind for fact in facts(entry, reach, SHOWN)] == kinds and claimed(
        entry.equations, reach
    ) is claims


def test_checks_of_papers_that_a_source_does_not_cite_are_set_apart() -> None:
    papers = {
        "X-0": (),
        "X-1": ("a1998x",),
        "X-2": ("b1999y",),
        "X-3": ("b1999y", "a1998x"),
        "X-4": ("c2000z",),
    }
    found = [
        replace(r, check=replace(r.check, papers=papers[r.check.id]))
        for r in results("e+ l+ s- d+ e-")
    ]
    counting, others = divided(found, ["a1998x", "d2001w"])
    assert [r.check.id for r in counting] == ["X-0", "X-1", "X-3"] and [
        r.check.id for r in others
    ] == ["X-2", "X-4"]
    assert (
        derive(found, claims_equation=True).rating is A
        and derive(counting, claims_equation=True).rating is F
    )
    assert divided(found, []) == ((found[0],), tuple(found[1:]))


def test_a_verdict_names_its_grounds() -> None:
    verdict = derive(results("e+ l- s+ d!"), claims_equation=True)
    assert verdict.lowered_by == ("X-1", "X-3")
    assert (
        "X-1" in verdict.reasons[0] and "X-1" in verdict.raise_by[0] and len(verdict.reasons) == 2
    )
    assert derive(results("e? e! l- s-"), claims_equation=True).lowered_by == (
        "X-2",
        "X-3",
        "X-0",
        "X-1",
    ), "what was measured comes first"
    faithful = derive(results("e+ l+ s+"), claims_equation=True)
    assert (
        faithful.raise_by == faithful.lowered_by == () and "3 gating checks" in faithful.reasons[0]
    )


words = st.lists(
    st.tuples(st.sampled_from("elds"), st.sampled_from("+-!?0")).map("".join), max_size=6
)


@given(words, st.booleans(), st.integers(0, 5), st.sampled_from("-!?"))
def test_breaking_a_check_never_raises_a_rating(
    given_words: list[str], claims: bool, place: int, bad: str
) -> None:
    before = derive(results(" ".join(given_words)), claims_equation=claims).rating
    broken = [w[0] + bad if n == place else w for n, w in enumerate(given_words)]
    after = derive(results(" ".join(broken)), claims_equation=claims).rating
    assert after <= before
    if broken != given_words:
        assert after is A


@given(words, st.booleans(), st.sampled_from(["ew-", "dw!", "sw?", "lw0", "ew+", "sw+"]))
def test_a_warning_never_decides(given_words: list[str], claims: bool, warning: str) -> None:
    plain, warned = " ".join(given_words), " ".join([*given_words, warning])
    assert derive(results(plain), claims_equation=claims) == derive(
        results(warned), claims_equation=claims
    )


def test_order() -> None:
    assert F > D > H > A and A < H <= H and F >= D and not H > D
    assert sorted([H, F, A, D]) == [A, H, D, F]


@pytest.mark.parametrize(("claimed", "by"), [(F, {F}), (D, {F, D}), (H, {F, D, H}), (A, {F, D, A})])
def test_earning(claimed: Rating, by: set[Rating]) -> None:
    assert {r for r in Rating if earned(claimed, r)} == by
