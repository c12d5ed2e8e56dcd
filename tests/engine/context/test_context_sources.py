"""Sources of contexts: hooks that run only for a context, shares, what is left over, the cache,
and contexts updated by a new event.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hebbarium.engine.arms.as_planned import AsPlanned
from hebbarium.engine.arms.variants import Variants
from hebbarium.engine.base.errors import ContractError, InputError
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.context.assembly import assemble, context_of
from hebbarium.engine.context.cache import KEPT, ContextCache
from hebbarium.engine.context.components import ComponentKind
from hebbarium.engine.context.condensers import Form
from hebbarium.engine.context.context import Context, ContextReader
from hebbarium.engine.context.formats import FORMATS, Candidate
from hebbarium.engine.context.selection import LARGEST, Rules, fill, lay_out, select
from hebbarium.engine.context.tokens import LENGTH, counter
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.hooks import Cue, Mechanism, Params, hook
from hebbarium.engine.contract.offers import NO_LIMIT
from hebbarium.engine.contract.records import Event, Only, Query
from hebbarium.engine.contract.vocabulary import ASKER_SESSION, BUDGET, OFFERS, RELEASED
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

REGISTRY = Registry.read()
WORDS = ("boat", "mast", "Oslo", "tulips", "Ada", "rain", "harbour", "Miso")


@dataclass(frozen=True, slots=True)
class SourceParams(Params):
    share: float


class Latest(Mechanism[SourceParams]):
    """Offers the last rows, and a text."""

    @hook(Phase.RETRIEVE, reads=(BUDGET, ASKER_SESSION, RELEASED), adds=(OFFERS,), sets=())
    def offer(self, view: Any, cue: Cue) -> None:
        n = len(view.released)
        for row in range(n - 1, max(n - 30, -1), -1):
            view.offers.add(row, "Latest", row / max(n, 1), kind="recent")
        said = f"budget {view.budget}, session {view.asker_session}, "
        view.offers.add(
            said + "long " * 40, "Notes", 2.0, (f"budget {view.budget}", "b"), kind="entity"
        )


def source(share: float = 50.0, id: str = "latest") -> Mechanism[Any]:
    return Latest(id, SourceParams(1.0, share))


def told(*mechanisms: Mechanism[Any], n: int = 60) -> Engine:
    memory = Engine(
        [*(REGISTRY.instance(id) for id in ("lexical_bm25", "convex_fusion")), *mechanisms],
        HashingEmbedder(16),
    )
    for i in range(n):
        text = f"{WORDS[i % 8]} {WORDS[i % 5]} number {i} {'again ' * (60 if i % 9 == 0 else 2)}"
        memory.encode(Event(float(i), text, "Ada", f"S{i // 10}", f"e{i}"))
    return memory


@pytest.fixture(scope="module")
def staged() -> Engine:
    """A memory of twelve stages with summaries."""
    ids = ("lexical_bm25", "dense_similarity", "convex_fusion", "stage_detection", "stage_summary",
           "own_stage", "adjacent_stages", "stage_summaries")  # fmt: skip
    memory = Engine([REGISTRY.instance(id) for id in ids], HashingEmbedder(32))
    for i in range(144):
        who = ("Ada", "Bo")[i % 2]
        text = f"They say {who} saw the {WORDS[i % 8]} in Oslo, and it was number {i}. {'We decided to wait. ' * (i % 4)}"
        memory.encode(Event(2.0 * i, text, who, f"S{i // 12}", f"e{i}"))
    memory.advance(memory.now + 30.0)
    return memory


def test_a_source_runs_only_if_a_context_is_asked_for() -> None:
    memory = told(source())
    assert [step.step for step in memory.schedule[Phase.RETRIEVE]][-1] == "latest.offer"
    memory.retrieve("boat")
    assert memory.column(BUDGET) == -1 and not len(memory.store.structures[OFFERS])
    answer, offers = memory.offers("boat", 77, session="S2")
    assert (
        len(offers) == 30
        and offers[-1].text.startswith("budget 77, session 2")
        and offers[0].source == "latest"
    )
    assert (
        answer.rows.tolist() == memory.retrieve("boat", 1).rows.tolist()
        and memory.column(BUDGET) == -1
    )
    assert (
        f"budget {NO_LIMIT}, session -1" in memory.offers("boat")[1][-1].text
        and "session -1" in memory.offers("boat", session="new")[1][-1].text
    )
    assert "engine.budget" not in {step.step for step in told().schedule[Phase.RETRIEVE]}


@pytest.mark.parametrize(
    ("given", "what"),
    [(-1, "row"), ("", "row"), (None, "row"), (True, "row"), (10_000, "a memory of 60")],
)
def test_odd_offers_are_refused(given: Any, what: str) -> None:
    class Odd(Mechanism[SourceParams]):
        @hook(Phase.RETRIEVE, reads=(BUDGET,), adds=(OFFERS,), sets=())
        def offer(self, view: Any, cue: Cue) -> None:
            if view.budget >= 0:
                view.offers.add(given, "Odd", 1.0)

    memory = told(Odd("odd", SourceParams(1.0, 10.0)))
    with pytest.raises(ContractError, match=what):
        memory.context("boat", 100)


@pytest.mark.parametrize(
    ("section", "score", "kind"),
    [
        ("", 1.0, "semantic"),
        ("A", float("nan"), "semantic"),
        ("A", 1.0, "custom"),
        ("A", 1.0, "odd"),
    ],
)
def test_odd_sections_scores_and_kinds_are_refused(section: str, score: float, kind: str) -> None:
    class Odd(Mechanism[SourceParams]):
        @hook(Phase.RETRIEVE, reads=(BUDGET,), adds=(OFFERS,), sets=())
        def offer(self, view: Any, cue: Cue) -> None:
            view.offers.add(int(view.budget > 0), section, score, kind=kind)

    with pytest.raises(ContractError, match="odd"):
        told(Odd("odd", SourceParams(1.0, 10.0))).context("boat", 100)


def test_declarations_of_sources_are_checked() -> None:
    with pytest.raises(ContractError, match="when no context is asked for"):

        class Blind(Mechanism[SourceParams]):
            @hook(Phase.RETRIEVE, reads=(), adds=(OFFERS,), sets=())
            def offer(self, view: Any, cue: Cue) -> None: ...

    with pytest.raises(ContractError, match="which the engine alone writes"):

        class Rich(Mechanism[SourceParams]):
            @hook(Phase.RETRIEVE, reads=(), adds=(), sets=(BUDGET,))
            def offer(self, view: Any, cue: Cue) -> None: ...

    with pytest.raises(ContractError, match="means nothing in encode"):

        class Early(Mechanism[SourceParams]):
            @hook(Phase.ENCODE, reads=(BUDGET,), adds=(), sets=())
            def offer(self, view: Any, cue: Cue) -> None: ...

    class Free(Mechanism[Params]):
        @hook(Phase.RETRIEVE, reads=(BUDGET,), adds=(OFFERS,), sets=())
        def offer(self, view: Any, cue: Cue) -> None: ...

    with pytest.raises(ContractError, match="no parameter `share`"):
        told(Free("free", Params(1.0)), n=0)
    with pytest.raises(ContractError, match="120 percent in all"):
        told(source(60.0), source(60.0, "other"), n=0)


def test_a_context_of_sources_is_pure_and_within_its_budget(staged: Engine) -> None:
    before = staged.digest()
    for by in (LENGTH, counter()):
        for form in FORMATS:
            for budget in (0, 1, 17, 60, 130, 400, 1500, 10**7):
                found = assemble(
                    staged,
                    "What did Ada see?",
                    budget,
                    form=form,
                    counter=by,
                    also="Be brief." if budget % 2 else "",
                )
                assert (
                    found.tokens == by.tokens(found.text) <= budget and found.strategy == "sources"
                )
                assert all(c.text in found.text for c in found.components)
                assert sum(found.metadata["sources"].values()) == sum(
                    c.tokens for c in found.components if c.kind is not ComponentKind.CUSTOM
                )
                rows = [c.row for c in found.components if c.row >= 0]
                assert len(rows) == len(set(rows)) and (
                    form == "dialogue"
                    or [c.section for c in found.components]
                    == sorted(
                        (c.section for c in found.components),
                        key=[c.section for c in found.components].index,
                    )
                )
                if 400 <= budget <= 1500 and form == "sections":
                    assert found.tokens >= 0.9 * budget
    assert staged.digest() == before


def test_sections_of_stages_are_those_of_the_seed(staged: Engine) -> None:
    found = staged.context("What did Ada see?", 800)
    assert [
        s
        for s in ("Current Stage Context", "Related Prior Context", "Stage Summaries")
        if f"\n## {s}\n" in f"\n{found.text}"
    ] == list(dict.fromkeys(c.section for c in found.components))
    assert (
        {c.source for c in found.components}
        == {"own_stage", "adjacent_stages", "stage_summaries"}
        == set(staged.sources)
    )
    assert all(found.metadata["sources"].values())
    own = staged.context("What did Ada see?", 800, session="S3")
    spent = own.metadata["sources"]
    assert spent["own_stage"] > spent["adjacent_stages"] > spent["stage_summaries"] > 0
    stages = {
        staged.unit(c.row).session for c in own.components if c.section == "Current Stage Context"
    }
    assert stages == {"S3"} and all(
        staged.unit(c.row).session != "S3"
        for c in own.components
        if c.section != "Current Stage Context"
    )


def test_without_a_budget_sources_have_shares_of_the_number(staged: Engine) -> None:
    found = staged.context("What did Ada see?", max_items=10)
    held = [
        sum(c.source == s for c in found.components)
        for s in ("own_stage", "adjacent_stages", "stage_summaries")
    ]
    assert sum(held) == 10 and held[0] >= 6 and held[1] >= 3
    assert not found.cut and len(staged.context("What did Ada see?").components) == 10
    assert staged.context("What did Ada see?", max_items=0).text == ""


def test_filters_reach_sources(staged: Engine) -> None:
    for found in (
        staged.context("What?", 2000, only=Only(sessions=("S1",))),
        assemble(staged, Query("What?", only=Only(sessions=("S1",))), 2000),
    ):
        assert found.components and {staged.unit(c.row).session for c in found.components} == {"S1"}
    memory = told(n=4)
    memory.encode(Event(9.0, "a boat of the task", attributes={"task": "t1"}))
    assert [c.row for c in memory.context("boat", 500, task="t1").components] == [4]
    assert [
        c.row
        for c in memory.context(Query("boat", only=Only(until=5.0)), 500, task="t1").components
    ] == []


def test_strategies_are_named_or_refused(staged: Engine) -> None:
    assert (
        assemble(staged, "Ada", 200, strategy="flat").strategy == "flat"
        and told(n=3).context("Ada", 200).strategy == "flat"
    )
    with pytest.raises(InputError, match="no sources of contexts"):
        assemble(told(n=3), "Ada", 200, strategy="sources")
    with pytest.raises(InputError, match="no strategy 'source'"):
        assemble(staged, "Ada", 200, strategy="source")
    answer = staged.retrieve("What did Ada see?", 3)
    assert context_of(staged, answer, "What did Ada see?", 300, strategy="sources") == assemble(
        staged, "What did Ada see?", 300
    )
    with pytest.raises(InputError, match="both give a budget"):
        staged.context("?", 10, reader=ContextReader(100))
    with pytest.raises(InputError, match="the reader is 5"):
        staged.context("?", reader=5)  # type: ignore[arg-type]
    for bad in (-1, True, 1.5):
        with pytest.raises(InputError):
            staged.context("?", bad)  # type: ignore[arg-type]


def test_a_plan_asks_the_sources_that_it_has(staged: Engine) -> None:
    ids = [m.id for m in staged.mechanisms if m.id != "adjacent_stages"]
    plan = Variants(staged).plan_for(
        [REGISTRY.instance(id, {"share": 50.0} if id == "own_stage" else {}) for id in ids]
    )
    memory = AsPlanned(Variants(staged), plan)
    alone = Engine(plan.mechanisms, HashingEmbedder(32))
    alone.encode_all(staged.events)
    alone.advance(staged.now)
    assert memory.sources == alone.sources == {"own_stage": 50.0, "stage_summaries": 10.0}
    assert assemble(memory, "What did Ada see?", 500) == alone.context("What did Ada see?", 500)
    answer = Variants(staged).retrieve("What did Ada see?", 10, plan)
    assert context_of(memory, answer, "What did Ada see?", 500, strategy="sources") == assemble(
        memory, "What did Ada see?", 500
    )
    assert staged.context("What did Ada see?", 500).metadata["sources"]["adjacent_stages"] > 0


def test_an_outcome_counts_for_a_pattern_and_sections_come_in_the_order_of_the_registry() -> None:
    ids = (
        "recent_context",
        "ranked_context",
        "entity_context",
        "relation_context",
        "pattern_context",
    )
    memory = told(*(REGISTRY.instance(id) for id in ids), n=0)
    texts = ("Always use metres.", "They say Ada met Bo.", "Never use feet.", "So Bo met Ada.")
    memory.encode_all(Event(float(i), text) for i, text in enumerate(texts))
    memory.outcome(0, False)
    memory.outcome(2, True)
    found = memory.context("What did Ada do?", 400)
    assert list(dict.fromkeys(c.section for c in found.components)) == [
        "Recent Activity",
        "Known Entities",
        "Relationships",
    ]
    assert list(dict.fromkeys(o.section for o in memory.offers("What did Ada do?", 400)[1])) == [
        "Recent Activity",
        "Relevant Content",
        "Known Entities",
        "Relationships",
        "Applicable Patterns",
    ]
    assert [
        o.row
        for o in memory.offers("metres or feet?", 400)[1]
        if o.section == "Applicable Patterns"
    ] == [2, 0]
    with pytest.raises(InputError, match="row"):
        memory.outcome(9, True)


def test_an_empty_memory_and_one_of_archived_rows_give_an_empty_context() -> None:
    empty = Engine(REGISTRY.build(REGISTRY.set("stages")), HashingEmbedder(16))
    assert empty.context("?", 100).text == "" and empty.context("?").components == ()
    memory = told(source(), n=2)
    for row in (0, 1):
        memory.archive(row)
    assert "Notes" in memory.context("boat", 100).text


def test_an_own_form_of_a_text_is_shown_where_the_text_does_not_fit() -> None:
    memory = told(source(10.0), n=3)
    found = memory.context("boat", 60)
    (note,) = [c for c in found.components if c.kind is ComponentKind.ENTITY]
    assert (
        note.text == "budget 60" and note.form is Form.SUMMARY and note.kind is ComponentKind.ENTITY
    )
    whole = memory.context("boat", 4000)
    assert [c.form for c in whole.components if c.section == "Notes"] == [Form.WHOLE]


def test_the_same_question_in_the_same_state_is_the_same_object_and_no_change_is_missed() -> None:
    memory = told(source(), n=12)
    first = memory.context("boat", 200)
    assert memory.context("boat", 200) is first and memory.context("boat", 201) is not first
    memory.retrieve("boat")
    assert memory.context("boat", 200) is first, "a query without learning changes nothing"
    changes: list[Callable[[], Any]] = [
        lambda: memory.encode(Event(50.0, "a new boat", "Bo", id="new")),
        lambda: memory.archive(0),
        lambda: memory.restore(0),
        lambda: memory.retrieve("boat", learn=True),
        lambda: memory.advance(memory.now + 1.0),
        lambda: memory.erase("new", confirm=True),
    ]
    for change in changes:
        before = memory.context("boat", 200)
        change()
        after = memory.context("boat", 200)
        assert after is not before and after == assemble(memory, "boat", 200)
    assert "a new boat" not in memory.context("boat", 4000).text
    odd = Only(attributes={"kind": "note"})  # type: ignore[arg-type]
    assert memory.context("boat", 200, only=odd) == memory.context("boat", 200, only=odd)


def test_the_cache_keeps_the_last_contexts_of_one_state() -> None:
    cache, empty = ContextCache(), Context("", (), 0, "length/4", False, (), "nothing", {})
    for number in range(KEPT + 1):
        assert cache.get(1, number) is None
        cache.put(number, empty)
    assert (
        cache.get(1, 0) is None
        and cache.get(1, KEPT) is empty
        and cache.get(2, KEPT) is None
        and cache.get(1, KEPT) is None
    )


def test_an_updated_context_has_the_new_event_first_and_stays_within_its_budget(
    staged: Engine,
) -> None:
    first = staged.context("What did Ada see?", 400)
    text = first.text
    new = Event(staged.now, "Bo sold the boat to Cleo.", "Bo")
    found = first.updated(new)
    assert found.tokens == LENGTH.tokens(found.text) <= 400 and first.text == text
    assert (
        found.components[0].text.endswith("Bo: Bo sold the boat to Cleo.")
        and found.components[0].section == "Recent Activity"
    )
    assert found.text.index("## Recent Activity") < found.text.index("## Relevant Content")
    found = first.updated(Event(staged.now, "Bo sold the boat to Cleo. " * 4, "Bo"))
    kept = [c for c in first.components if c in found.components]
    dropped = [c for c in first.components if c not in found.components]
    assert (
        dropped and max(c.score for c in dropped) <= min(c.score for c in kept) and found.truncated
    )
    assert [c for c in first.components if c in kept] == list(found.components[1:])
    assert [c.text for c in found.updated(new).components[:2]] == [
        first.updated(new).components[0].text,
        found.components[0].text,
    ]
    long = first.updated(Event(staged.now, "The mast broke. " * 400))
    assert long.tokens <= 400 and long.components[0].form is not Form.WHOLE
    free = staged.context("What did Ada see?", max_items=3).updated(new)
    assert len(free.components) == 3 and not free.components[0].score < free.components[1].score
    assert staged.context("?", 0).updated(new).text == ""
    with pytest.raises(InputError, match="counted as length/4"):
        first.updated(new, type("Other", (), {"name": "other", "per_token": 1})())


pieces = st.lists(
    st.tuples(
        st.text("ab. \n?", max_size=300),
        st.sampled_from(["x", "y", "z"]),
        st.floats(0.0, 1.0),
        st.integers(0, 12),
    ),
    max_size=14,
)


@given(
    pieces,
    st.integers(0, 400),
    st.sampled_from(sorted(FORMATS)),
    st.sampled_from([1.0, 0.125]),
    st.sampled_from([{"x": 60.0, "y": 30.0, "z": 10.0}, {"x": 100.0}, {"y": 5.0}]),
    st.booleans(),
)
def test_filling_never_exceeds_the_budget_and_shows_a_row_once(
    given_: list[Any],
    budget: int,
    form: str,
    largest: float,
    shares: dict[str, float],
    in_time: bool,
) -> None:
    candidates = [
        Candidate(
            ComponentKind.SEMANTIC,
            row,
            f"{row} {text}",
            score,
            source.upper(),
            float(row),
            "Ada",
            source=source,
        )
        for text, source, score, row in given_
    ]
    found = fill(
        candidates,
        budget,
        Rules(LENGTH, FORMATS[form], shares=shares, largest=largest, in_time=in_time),
    )
    text = lay_out(found.components, found.cut if found.said else (), FORMATS[form])
    rows = [c.row for c in found.components]
    assert (
        LENGTH.tokens(text) <= budget
        and len(rows) == len(set(rows))
        and set(rows) <= {c.row for c in candidates}
    )
    free = fill(
        candidates, None, Rules(LENGTH, FORMATS[form], shares=shares, largest=LARGEST, max_items=5)
    )
    assert len(free.components) == min(5, len({c.row for c in candidates})) and not free.cut


def test_sections_whose_headings_would_take_more_than_an_eighth_stand_under_one(
    staged: Engine,
) -> None:
    few, many = (staged.context("What did Ada see?", budget) for budget in (300, 900))
    assert {c.section for c in few.components} == {"Relevant Content"} and few.text.count(
        "\n## "
    ) == 1
    assert len({c.source for c in few.components}) > 1
    assert len({c.section for c in many.components}) == 3 == many.text.count("\n## ")
    whole = staged.context("What did Ada see?", 10**6)
    assert len({c.section for c in whole.components}) > 1


def test_no_item_takes_more_than_a_sixteenth_or_128_tokens_before_others_are_left_out() -> None:
    long = "The boat sailed to Oslo. It was cold. Who sailed it? Nobody knows. " * 12
    candidates = [
        Candidate(ComponentKind.SEMANTIC, n, f"{n}. {long}", 1.0 - n / 10, "All") for n in range(8)
    ]
    plain, capped = (
        select(candidates, 512, Rules(LENGTH, FORMATS["sections"], largest=largest))
        for largest in (1.0, 0.0625)
    )
    assert len(plain.components) <= 3 < 4 <= len(capped.components) and all(
        c.tokens <= 128 + 1 for c in capped.components[1:]
    )
    few = select(candidates[:2], 512, Rules(LENGTH, FORMATS["sections"], largest=0.0625))
    assert any(c.form is Form.WHOLE for c in few.components), (
        "what is left over shows the best whole again"
    )
