"""Excerpts: what is shown of many memories is within the room, holds only words of theirs, and
together covers more about the query.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import assemble
from hebbarium.engine.context.components import ComponentKind
from hebbarium.engine.context.condensers import Form, condensed_to
from hebbarium.engine.context.excerpts import excerpts
from hebbarium.engine.context.formats import FORMATS, Candidate
from hebbarium.engine.context.selection import LONG, Rules, cap_of, lay_out, select
from hebbarium.engine.context.tokens import LENGTH
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

SECTIONS = FORMATS["sections"]
FILLER = "It was a long and quiet day by the river, and nothing else was said of it. "


def candidate(row: int, text: str, score: float = 1.0, **values: Any) -> Candidate:
    return Candidate(ComponentKind.SEMANTIC, row, text, score, "All", float(row), "Ada", **values)


def test_sentences_about_the_query_are_shown_of_long_memories_and_short_ones_whole() -> None:
    long = FILLER * 9 + "The harbour costs 900 crowns. " + FILLER * 9
    candidates = [candidate(0, long), candidate(1, "We had soup. Then we slept.")]
    shown = excerpts(candidates, [1.0, 0.5], 240, LENGTH, SECTIONS, frozenset({"harbour"}), LONG)
    assert (
        shown[0].form is Form.EXCERPT
        and "900 crowns" in shown[0].text
        and len(shown[0].text) < 0.3 * len(long)
    )
    assert shown[1].form is Form.WHOLE and shown[1].text == "We had soup. Then we slept."


def test_what_is_said_already_is_not_shown_again() -> None:
    same = [candidate(n, f"The harbour costs 900 crowns. {FILLER * 8}") for n in range(6)]
    other = candidate(6, f"{FILLER * 8} The mast was sold to Cleo in Bergen. {FILLER}")
    shown = excerpts(
        [*same, other],
        [1.0] * 6 + [0.6],
        500,
        LENGTH,
        SECTIONS,
        frozenset({"harbour", "cost"}),
        LONG,
    )
    assert (
        sum("900 crowns" in each.text for each in shown.values()) == 1 and "Cleo" in shown[6].text
    )


def test_code_and_condensed_memories_and_triples_are_not_torn_apart() -> None:
    code = FILLER * 8 + "\n```python\ndef area(r):\n    return 3 * r * r\n```\n" + FILLER * 8
    shown = excerpts([candidate(0, code)], [1.0], 400, LENGTH, SECTIONS, frozenset({"area"}), LONG)
    assert "```python\ndef area(r):\n```" in shown[0].text and "return" not in shown[0].text
    triples = "\n".join(f"(Ada{n}, lives in, Oslo)" for n in range(60))
    kept = candidate(1, FILLER * 20, form=Form.SUMMARY)
    found = excerpts(
        [candidate(0, triples), kept], [1.0, 1.0], 10_000, LENGTH, SECTIONS, frozenset(), LONG
    )
    assert found[0].text == triples and found[1].form is Form.SUMMARY


def test_nothing_fits_and_nothing_is_given() -> None:
    assert excerpts([], [], 100, LENGTH, SECTIONS, frozenset(), LONG) == {}
    assert excerpts([candidate(0, FILLER)], [1.0], 10, LENGTH, SECTIONS, frozenset(), LONG) == {}
    assert (
        excerpts([candidate(0, FILLER)], [0.0], 1000, LENGTH, SECTIONS, frozenset(), LONG) == {}
    ), "a memory without relevance covers nothing"


texts = st.lists(st.text(st.sampled_from("ab. \n?`#[("), max_size=900), max_size=9)


@given(texts, st.integers(0, 500), st.sampled_from(sorted(FORMATS)))
def test_a_covering_selection_never_exceeds_the_budget(
    given_: list[str], budget: int, form: str
) -> None:
    candidates = [candidate(n, f"{n} {text}", 1.0 - n / 10) for n, text in enumerate(given_)]
    found = select(
        candidates,
        budget,
        Rules(
            LENGTH, FORMATS[form], about=("a", "b"), relevance={c.row: c.score for c in candidates}
        ),
    )
    assert (
        LENGTH.tokens(lay_out(found.components, found.cut if found.said else (), FORMATS[form]))
        <= budget
    )
    rows = [c.row for c in found.components]
    assert len(rows) == len(set(rows))


@pytest.fixture(scope="module")
def memory() -> Engine:
    registry = Registry.read()
    made = Engine(
        [registry.instance("lexical_bm25"), registry.instance("convex_fusion")], HashingEmbedder(32)
    )
    for n in range(40):
        made.encode(
            Event(
                float(n),
                FILLER * (n % 7)
                + f"The harbour of place {n} has {n * 7} boats. "
                + FILLER * (n % 5),
                "Ada",
                f"S{n // 8}",
            )
        )
    return made


def test_the_strategy_covers_as_much_as_flat_within_the_budget_and_leaves_the_state(
    memory: Engine,
) -> None:
    before = memory.digest()
    for budget in (0, 1, 40, 300, 900, 10**6):
        flat, covering = (
            assemble(memory, "How many boats has the harbour?", budget, strategy=name)
            for name in ("flat", "covering")
        )
        assert (
            covering.tokens == LENGTH.tokens(covering.text) <= budget
            and covering.strategy == "covering"
        )
        if budget in (300, 900):
            assert (
                covering.text.count("boats.") >= flat.text.count("boats.")
                and covering.tokens >= 0.9 * budget
            )
            assert all(
                c.text.endswith("line]") for c in covering.components if c.form is Form.EXCERPT
            )
    assert memory.digest() == before
    ten = assemble(memory, "How many boats has the harbour?", strategy="covering")
    assert len(ten.components) == 10 and {c.form for c in ten.components} == {Form.WHOLE}


def test_an_excerpt_holds_the_sentences_about_the_query_where_no_outline_fits() -> None:
    text = (
        "\n".join(f"Where is number {n}? It is by the river. " for n in range(30))
        + "\nThe password is plum."
    )
    found = condensed_to(text, 30, about=("password",))
    assert found.form is Form.EXCERPT and "plum" in found.text and LENGTH.tokens(found.text) <= 30
    assert condensed_to(text, 30, about=("absent",)).form is not Form.EXCERPT
    assert (
        condensed_to(text, 2, about=("password",)).text == "password"
        and condensed_to(text, 1, about=("password",)).form is not Form.EXCERPT
    )


def test_no_cap_is_below_128_tokens() -> None:
    assert [cap_of(budget) for budget in (0, 512, 2048, 8192)] == [128, 128, 128, 512] and cap_of(
        512, 1.0
    ) == 512
