"""What a rating stands on: the statements that spare a mechanism, and who lacks a reading alone."""

from __future__ import annotations

from dataclasses import replace

from hebbarium.audit.behaviour import Phenomenon
from hebbarium.audit.facts import FactKind, RatingFact
from hebbarium.audit.rating import Rating, RatingVerdict
from hebbarium.audit.run import AuditResult, MechanismResult
from hebbarium.audit.standing import lacks_only_a_reading, page, statements
from hebbarium.engine.catalogue.registry import Registry

REGISTRY = Registry.read()
UNREAD = RatingFact(FactKind.SECOND_HAND, "x", "the number x is at second hand", "read it")
FORM = RatingFact(FactKind.FORM, "y", "in place of a line: a hyperbola", "compute the line")


def judged(id: str, rating: Rating, *facts: RatingFact) -> MechanismResult:
    verdict = RatingVerdict(rating, ("why",), stands_on=("C-1", "ST-1"))
    return MechanismResult(id, rating, verdict, None, (), (), (), facts=facts)


def test_every_statement_that_spares_is_listed_and_no_other() -> None:
    entry = REGISTRY.entry("consolidation_cascade")
    said = list(statements(entry.model_copy(update={"read": {"fusi2005cascade": "paper"}})))
    assert said[0].startswith("fusi2005cascade was read")
    assert sum("makes no difference" in s for s in said) == len(entry.departures) == 4
    assert any(s.startswith("replays is no other quantity") for s in said)
    assert any("levels" in s and "leaves the values of" in s for s in said)
    # a reading below the paper spares nothing
    assert not any("was read" in s for s in statements(entry))
    # neither does a form of ours
    assert not any("bind" in s or "loses" in s for s in statements(REGISTRY.entry("recency")))


def test_equations_that_no_hook_uses_and_what_a_probe_showed_are_listed() -> None:
    entry = REGISTRY.entry("hopfield_completion")
    (said,) = [s for s in statements(entry) if "no hook uses" in s]
    assert all(e.id in said for e in entry.equations if e.library)
    shown, missed = (
        Phenomenon(id, {"waking": verdict})
        for id, verdict in (("a/b", "shown"), ("c/d", "outside"))
    )
    result = replace(judged("hopfield_completion", Rating.FAITHFUL), behaviour=(shown, missed))
    text = page(AuditResult((result,)), REGISTRY)
    assert "shows its behaviour: a/b: shown in waking" in text and "c/d" not in text


def test_who_lacks_a_reading_alone() -> None:
    assert lacks_only_a_reading([UNREAD]) and not lacks_only_a_reading([UNREAD, FORM])
    assert not lacks_only_a_reading([])


def test_the_page_has_a_part_for_each() -> None:
    faithful = judged("hopfield_completion", Rating.FAITHFUL)
    unread = judged("consolidation_cascade", Rating.DOCUMENTED, UNREAD)
    other = judged("weighted_rrf", Rating.DOCUMENTED, UNREAD, FORM, FORM)
    variety = replace(judged("recency", Rating.FAITHFUL), variety_of="recency")
    text = page(AuditResult((faithful, unread, other, variety)), REGISTRY)
    assert (
        "**`hopfield_completion`** is FAITHFUL. The rating is wrong if one of these is false:"
        in text
    )
    assert "**`consolidation_cascade`** lacks a reading alone" in text and UNREAD.what in text
    assert "- `weighted_rrf`: second hand (1), form of ours (2)" in text
    assert "recency" not in text and "No mechanism" not in text
    assert "No mechanism is rated `FAITHFUL` now." in page(AuditResult((other,)), REGISTRY)
