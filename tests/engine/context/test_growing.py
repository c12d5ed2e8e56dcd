"""Contexts of growing budgets: a row that is shown stays shown, the best one always is, and a
condensed one shows what matched.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from examples import fewer_examples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tiers import later, slow_unless

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import STRATEGIES, assemble
from hebbarium.engine.context.components import ComponentKind
from hebbarium.engine.context.condensers import Form, Pieces, around, condensed_to
from hebbarium.engine.context.formats import FORMATS, PACKED, Candidate
from hebbarium.engine.context.packing import Entering, clocked, entering
from hebbarium.engine.context.selection import LARGEST, Rules, Selection, fill, lay_out, select
from hebbarium.engine.context.tokens import LENGTH, TokenCounter, counter
from hebbarium.engine.contract.records import Event
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.by_name import embedder
from hebbarium.engine.ports.embedder import HashingEmbedder
from hebbarium.engine.text.features import terms_of

PIECES = counter(embedder("minilm"))
# of whole memories, pieces are counted by `make test-all`
COUNTERS = (LENGTH, later(PIECES))
KEY = "The harbour key hangs behind the blue door."
ABOUT = tuple(terms_of("harbour key", stem=True))
FILLERS = ("It rained all day. ", "We had soup, and more soup, and nobody was seasick! ",
           "Who mends the mast?\n", "昨日は雨が降りました。", "ok ",
           "x" * 90 + " ", "[3] Bo: I owe you nothing. ",
           "```py\ndef sail(n):\n    return n * 7\n```\n")  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "flat": {},
    "condensed": {"largest": LARGEST, "least": 0.0},
    "latest": {"least": 0.0, "in_time": True},
    "packed": {"packed": True, "in_time": True},
    "covering": {"least": 0.0},
    "sources": {"largest": LARGEST},
}
SHARES = {"one": 50.0, "two": 30.0, "three": 10.0}


def texts() -> st.SearchStrategy[str]:
    """Of 1 to 3,000 words, some with the sentence about the key in the middle."""
    filler = st.lists(st.sampled_from(FILLERS), min_size=1, max_size=6).map("".join)
    return st.tuples(filler, st.sampled_from([1, 1, 1, 4, 30, 400]), st.booleans(),
                     st.booleans()).map(
        lambda made: f"{made[0] * made[1]}\n{KEY}\n{made[0]}"[: 18_000] if made[2] else KEY if made[3] else made[0] * made[1])  # fmt: skip


CANDIDATES = st.lists(
    st.tuples(
        texts(),
        st.sampled_from(sorted(SHARES)),
        st.sampled_from([None, 5.0, 9.0, 30.0]),
        st.booleans(),
        st.sampled_from(["", "", "a photo of a red boat in front of a harbour at night"]),
    ),
    min_size=1,
    max_size=14,
)


def shown(
    way: str, candidates: list[Candidate], budget: int, form: str, by: TokenCounter, also: str
) -> Selection:
    how = PACKED if way == "packed" and form == "sections" else FORMATS[form]
    rules = Rules(by, how, about=ABOUT, also=also, **WAYS[way])
    if way == "sources":
        rules = Rules(by, how, about=ABOUT, also=also, shares=SHARES, **WAYS[way])
        found = fill(candidates, budget, rules, "Relevant Content")
    elif way == "covering":
        found = select(
            candidates,
            budget,
            Rules(
                by,
                how,
                about=ABOUT,
                also=also,
                relevance={c.row: c.score for c in candidates},
                **WAYS[way],
            ),
        )
    else:
        found = select(candidates, budget, rules)
    assert by.tokens(lay_out(found.components, found.cut if found.said else (), how)) <= budget
    return found


def rows(found: Selection) -> set[int]:
    return {c.row for c in found.components if c.row >= 0}


@pytest.mark.parametrize("way", slow_unless(("condensed", "sources"), WAYS))
@given(
    given_=CANDIDATES,
    budgets=st.lists(st.integers(0, 700), min_size=2, max_size=6),
    form=st.sampled_from(sorted(FORMATS)),
    data=st.data(),
)
@fewer_examples
def test_a_larger_budget_shows_the_same_rows_and_others(
    way: str, given_: list[Any], budgets: list[int], form: str, data: st.DataObject
) -> None:
    by = data.draw(st.sampled_from([LENGTH, PIECES]))
    also = data.draw(st.sampled_from(["", "", "Be brief. It rains."]))
    candidates = [
        Candidate(
            ComponentKind.SEMANTIC,
            n,
            text,
            1.0 - n / 20,
            source.upper() if way == "sources" else "All",
            time,
            "Ada",
            dated=dated,
            caption=caption,
            source=source if way == "sources" else "",
        )
        for n, (text, source, time, dated, caption) in enumerate(given_)
    ]
    before: set[int] = set()
    for budget in sorted({*budgets, *(b + 1 for b in budgets), 10_000}):
        found = shown(way, candidates, budget, form, by, also)
        assert before <= rows(found), f"lost from {budget} tokens on"
        before = rows(found)
        if before and way != "sources":
            assert 0 in before, "the best one is shown whenever any is"
        if budget > 150 and form != "evidence_list":
            assert before, "there is room for the best one"
        # what the best one's source may spend, if sources have shares
        share = SHARES[candidates[0].source] / 100.0 if way == "sources" else 1.0
        for c in found.components if budget * share > 150 else ():
            if c.row == 0 and KEY in candidates[0].text:
                assert KEY in c.text, "the best one is condensed around what matched"


@pytest.mark.parametrize("by", [LENGTH, PIECES], ids=lambda by: by.name)
@given(
    parts=st.lists(st.sampled_from([*FILLERS, KEY + " ", KEY + "\n"]), min_size=1, max_size=60),
    tokens=st.integers(1, 200),
)
def test_a_longer_form_never_loses_the_sentence_that_is_about_the_query(
    by: TokenCounter, parts: list[str], tokens: int
) -> None:
    text = "".join(parts)
    found, more = (condensed_to(text, n, by, ABOUT) for n in (tokens, tokens + 7))
    assert by.tokens(found.text) <= tokens
    if KEY in found.text:
        assert KEY in more.text
    if KEY in text and tokens >= by.tokens(KEY) + 1 and KEY in Pieces.of(text).texts:
        assert KEY in found.text


@example(words=["rain", "key,", "昨日は雨が降り", "harbour"], tokens=3)
@given(
    words=st.lists(
        st.sampled_from(["rain", "soup", "harbour", "key,", "港の鍵", "昨日は雨が降り", "x" * 40]),
        min_size=1,
        max_size=60,
    ),
    tokens=st.integers(1, 60),
)
def test_a_longer_part_around_what_matched_holds_the_shorter_one(
    words: list[str], tokens: int
) -> None:
    text = " ".join(words)
    small, large = (around(text, ABOUT, n) for n in (tokens, tokens + 3))
    assert small in large in text and LENGTH.tokens(small) <= tokens
    assert bool(around(text, ABOUT, 100_000)) == any(word in text for word in ("harbour", "key"))
    if tokens >= 2 and "key" in text and "harbour" not in text:
        assert "key" in small


def test_a_word_is_found_in_a_sentence_without_an_end_and_in_code() -> None:
    long = "and then there was soup " * 200 + "the password is plum " + "and then we left " * 200
    for tokens in (5, 20, 90):
        found = condensed_to(long, tokens, about=("password",))
        assert "the password is plum" in found.text or (tokens < 6 and "password" in found.text)
        assert found.form is Form.EXCERPT and LENGTH.tokens(found.text) <= tokens
    code = "import os\n\n" + "\n".join(f"def step{n}(a):\n    return a * {n}" for n in range(30))
    code += "\n\ndef serve():\n    port = 8091\n    run(port)\n"
    found = condensed_to(code, 30, about=("port",))
    assert "    port = 8091" in found.text and LENGTH.tokens(found.text) <= 30
    triples = "\n".join([*(f"(Ada{n}, lives in, Oslo)" for n in range(40)), "(Cleo, mends, boats)"])
    assert condensed_to(triples, 12, about=("cleo",)).text.endswith("(Cleo, mends, boats)")


@given(
    sizes=st.lists(st.floats(1.0, 3000.0), max_size=40),
    extra=st.lists(st.floats(1.0, 3000.0), max_size=40),
    least=st.sampled_from([0.0, 16.0, 32.0]),
)
def test_what_enters_for_certain_enters_so_whatever_is_read_next(
    sizes: list[float], extra: list[float], least: float
) -> None:
    reading = Entering(least)
    for size in sizes:
        reading.read(size)
    certain = list(reading.places)
    assert entering([*sizes, *extra], least)[: len(certain)] == certain
    turns = [
        (n + 1)
        * (
            max(size, least) ** 0.5 * max(1.0, size / 64) ** 0.75 / max(1.0, size / 64) ** 0.5
            if least
            else 1.0
        )
        for n, size in enumerate(sizes)
    ]
    assert entering(sizes, least) == sorted(range(len(sizes)), key=turns.__getitem__)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c"]),
            st.integers(-1, 12),
            st.floats(0.0, 1.0),
            st.floats(1.0, 60.0),
        ),
        max_size=40,
    )
)
def test_by_the_clock_every_source_has_its_share_of_every_budget(offers: list[Any]) -> None:
    shares = {"a": 60.0, "b": 30.0}
    order = clocked(offers, shares)
    kept = [offers[n][1] for n in order if offers[n][1] >= 0]
    assert (
        len(order) == len(set(order))
        and len(kept) == len(set(kept))
        and set(kept) == {row for _, row, *_ in offers if row >= 0}
    )
    once = [(source, -1, score, tokens) for source, _, score, tokens in offers]
    order, spent = clocked(once, shares), dict.fromkeys("abc", 0.0)
    left = {source: [n for n, offer in enumerate(once) if offer[0] == source] for source in "abc"}
    for n in order:
        spent[once[n][0]] += once[n][3]
        left[once[n][0]].remove(n)
        for source, share in shares.items():
            # while it offers more, it lags behind its share by one item of each purse at most
            if left[source]:
                assert spent[source] >= share / 100.0 * sum(spent.values()) - 4 * 60.0


REAL = (
    "The minutes. First, the bins: the blue one is collected on Mondays, the brown one stays on Thursdays. Second, the cellar: eleven bicycles "
    "belong to nobody, and what has a label in June goes to the workshop. Third, the drums on the third floor stop at eight. Fourth, the lift: "
    "the company wants 4,300 euros for the door. Fifth, the caretaker leaves in August. Sixth, the code of the bicycle gate is quince27, and "
    "the lamp above it is broken. Seventh, next meeting on the last Tuesday in May, bring chairs. Nothing else was decided, and we ended at ten."
)


@pytest.fixture(scope="module", params=["bm25", later("stages"), "context_spec"])
def memory(request: pytest.FixtureRequest) -> Engine:
    registry = Registry.read()
    made = Engine(registry.build(registry.set(request.param)), HashingEmbedder(64))
    start = datetime(2025, 3, 3, 9)
    things = ("bread", "the gate", "a letter", "two kilos of plums", "the bus", "my umbrella",
              "the drops for the dog")  # fmt: skip
    for n in range(36):
        when = start + timedelta(hours=7 * n)
        made.encode(
            Event.at(
                when,
                f"We talked about {things[n % 7]} and {things[n % 5]} at number {n}.",
                ("Bo", "Ada")[n % 2],
                f"talk {n // 6}",
            )
        )
    made.encode(Event.at(start + timedelta(hours=300), REAL, "Cleo", "minutes"))
    for n in range(3):
        made.encode(
            Event.at(
                start + timedelta(hours=310 + n),
                f"The lamp of gate {n} was mended. {'It took long. ' * 30}",
                "Bo",
                "lamps",
            )
        )
    made.advance(made.now + 24.0)
    return made


@pytest.mark.slow
@pytest.mark.parametrize("by", COUNTERS, ids=lambda by: by.name)
@given(
    query=st.sampled_from(
        [
            "What is the code of the bicycle gate?",
            "Did Ada talk about bread?",
            "Who fixed the lamp?",
            "And Bo?",
        ]
    ),
    session=st.sampled_from([None, "lamps", "talk 2", "talk 5", "nowhere"]),
    form=st.sampled_from(sorted(FORMATS)),
    budgets=st.lists(st.integers(0, 2_500), min_size=2, max_size=8),
)
@settings(fewer_examples, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sources_offer_in_an_order_that_no_budget_changes(
    memory: Engine, by: TokenCounter, query: str, session: str | None, form: str, budgets: list[int]
) -> None:
    if memory.sources:
        before, offered = (
            set[tuple[int, str]](),
            {source: list[tuple[int, str]]() for source in memory.sources},
        )
        for budget in sorted({*budgets, *(b + 1 for b in budgets), 5_000}):
            found = assemble(memory, query, budget, counter=by, session=session, form=form)
            shown = {(c.row, c.source) if c.row < 0 else (c.row, "") for c in found.components}
            assert (
                {row for row, _ in before} <= {row for row, _ in shown}
                and found.tokens <= budget
                and found.strategy == "sources"
            ), budget
            before = shown
            for source, less in offered.items():
                more = [
                    (o.row, o.text)
                    for o in memory.offers(query, budget, session=session)[1]
                    if o.source == source
                ]
                assert more[: len(less)] == less or not budget, (
                    "a larger budget offers the same, and more"
                )
                offered[source] = more


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"nothing", "sources"}))
@pytest.mark.parametrize("by", COUNTERS, ids=lambda by: by.name)
def test_an_answer_in_a_long_message_is_shown_at_every_budget(
    memory: Engine, strategy: str, by: TokenCounter
) -> None:
    before, query = set[int](), "What is the code of the bicycle gate?"
    best = int(memory.retrieve(query, 1).rows[0])
    for budget in range(60, 620, 20):
        found = assemble(memory, query, budget, counter=by, strategy=strategy)
        shown = {c.row for c in found.components}
        assert before <= shown and found.tokens <= budget, budget
        before = shown
        if strategy != "everything":
            assert best in shown and (best != 36 or budget < 80 or "quince27" in found.text), budget


def test_equal_texts_are_shown_each_with_its_own_time() -> None:
    registry = Registry.read()
    made = Engine(registry.build(registry.set("bm25")), HashingEmbedder(16))
    for day, town in ((2, "Lisbon"), (40, "Porto"), (80, "Lisbon")):
        made.encode(
            Event.at(datetime(2025, 1, 1) + timedelta(days=day), f"I moved to {town}.", "Bo")
        )
    for strategy in sorted(set(STRATEGIES) - {"nothing", "sources"}):
        text = assemble(made, "Where did Bo move to?", 200, strategy=strategy).text
        assert (
            all(day in text for day in ("3 January 2025", "10 February 2025", "22 March 2025"))
            and text.count("Lisbon") == 2
        )
