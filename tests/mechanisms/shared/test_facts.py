"""Facts: any text is read in bounded time and the same way, and relations between facts are
consistent.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.text.features import fold
from hebbarium.mechanisms.shared.facts import (
    OWNED,
    PREDICATES,
    ROUTINE,
    TABLE,
    Fact,
    FactRelation,
    FactStanding,
    agree,
    clauses,
    facts_of,
    relation,
    teller,
)

WORDS = st.lists(st.sampled_from(("I", "my", "Ada", "sister", "Ada's", "live", "lives", "lived",
                                  "in", "Rome", "not", "no longer", "used to", "love",
                                  "hate", "tea", "and", ",", ".", "?", "rent", "is", "was", "900",
                                  "moved", "from", "to", "every day", "now", "don't",
                                  "he", "the", "birthday", "never", "been", "married", "if", "\n",
                                  "actually")), max_size=30).map(" ".join)  # fmt: skip


@given(st.one_of(st.text(max_size=200), WORDS), st.sampled_from(("", "Mia", "speaker 3")))
def test_any_text_has_facts_in_normal_form(text: str, speaker: str) -> None:
    found = facts_of(text, speaker)
    assert found == facts_of(text, speaker) and len(found) == len(set(found))
    for fact in found:
        assert (
            fact.value == fold(fact.value) == fact.value.strip()
            and fact.predicate
            and "{" not in fact.predicate
        )
        assert relation(fact, fact) is FactRelation.NONE
    assert all(len(clause) <= 400 for clause in clauses(text))


@given(
    st.sampled_from(sorted(PREDICATES)),
    st.tuples(
        st.sampled_from(("", "red", "blue", "dark red")),
        st.sampled_from(FactStanding),
        st.booleans(),
    ),
    st.tuples(
        st.sampled_from(("", "red", "blue", "dark red")),
        st.sampled_from(FactStanding),
        st.booleans(),
    ),
)
def test_a_contradiction_does_not_depend_on_the_order(
    predicate: str, one: tuple[str, FactStanding, bool], other: tuple[str, FactStanding, bool]
) -> None:
    a, b = Fact("mia", predicate, *one), Fact("mia", predicate, *other)
    assert (relation(a, b) is FactRelation.NONE) == (relation(b, a) is FactRelation.NONE)
    assert agree(a.value, b.value) == agree(b.value, a.value)
    assert relation(a, Fact("bo", predicate, *other)) is FactRelation.NONE


@pytest.mark.parametrize(
    "rest", ["nobody minded", "everyone was glad", "nothing came of it", "there was cake"]
)
def test_a_clause_about_nobody_or_everybody_is_no_part_of_a_value(rest: str) -> None:
    assert [fact.value for fact in facts_of(f"The meeting was moved to Friday and {rest}.")] == [
        "friday"
    ]


def test_life_events_are_a_group_of_predicates() -> None:
    assert {p.group for p in (*TABLE, *OWNED, ROUTINE)} == {
        "state",
        "job",
        "move",
        "marriage",
        "birth",
        "death",
    }


@pytest.mark.parametrize(
    ("rendered", "name"),
    [
        ("[6:00 am on 2 January, 1970] Ada: We moved. [a red house]", "Ada"),
        ("Ada Lee: We moved.", "Ada Lee"),
        ("We moved.", "speaker 4"),
        ("", "speaker 4"),
    ],
)
def test_the_teller_is_named_as_in_the_indexed_text(rendered: str, name: str) -> None:
    assert teller(4, "We moved.", rendered) == name
