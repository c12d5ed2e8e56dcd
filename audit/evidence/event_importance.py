"""Evidence for event_importance: a hundred messages graded by hand, sums and products by hand, and what
each reader of SALIENCE and IMPORTANCE does with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import kendalltau

from ...engine.contract.columns import Phase
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import RELEASED
from ...engine.memory.engine import Engine
from ...engine.text.features import SpeechAct, features
from ...mechanisms.shared.facts import FactStanding
from ..checks import adaptation, at_least, limit, mutant, reference
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of, neighbour, registry
from .shared.messages import GRADED
from .shared.scripts import refusing

PAPER = "truememory2026"
# odd values, none a default
ODD = {"trouble": 0.6, "life": 0.5, "number": 0.4, "date": 0.2, "code": 0.3, "affect": 0.7,
       "length": 0.9, "hedge": 0.25}  # fmt: skip


def worths(specimen: Any, texts: Sequence[str], **values: Any) -> list[float]:
    """SALIENCE of each text, as the first event of a memory of its own."""
    memory = memory_of(specimen, **values)
    return [float(memory.column("importance")[row]) for row in encode(
        memory, *((float(i), text, "Ada") for i, text in enumerate(texts))
    )]  # fmt: skip


@reference(
    "IM-1",
    source="100 messages written for it and graded 1 to 5 by hand before the rules were written; Kendall's tau-b by scipy",
)
def messages_are_ranked_as_by_hand(specimen: Any) -> Any:
    grades = [grade for grade, _ in GRADED]
    scores = worths(specimen, [text for _, text in GRADED])
    return at_least(
        [kendalltau(scores[half], grades[half])[0] for half in (
            slice(None), slice(0, None, 2), slice(1, None, 2))], 0.85
    )  # fmt: skip


@reference(
    "IM-2",
    source="the same messages: Cortex calls a memory strong above 0.7 and weak below 0.5 (4.2.4)",
    papers=("cortex2026",),
)
def what_must_be_kept_is_strong_and_what_passes_is_weak(specimen: Any) -> Any:
    scores = dict(zip(GRADED, worths(specimen, [text for _, text in GRADED]), strict=True))
    strong = [float(score > 0.7) for (grade, _), score in scores.items() if grade == 5]
    weak = [float(score < 0.5) for (grade, _), score in scores.items() if grade <= 3]
    return at_least([np.mean(strong), np.mean(weak)], 0.9)


@figure(
    "by_grade",
    caption="Importance rises with the grade that a hand gave a message, and overlaps between neighbouring grades",
    source="ours: 100 messages graded by hand",
)
def importance_by_grade(specimen: Any) -> Picture:
    grades = np.array([grade for grade, _ in GRADED], np.float64)
    scores = np.array(worths(specimen, [text for _, text in GRADED]))
    places = np.unique(grades)
    return Picture(
        "grade by hand",
        "importance",
        (
            Curve("mean of a grade", places, [scores[grades == g].mean() for g in places]),
            dots("a message", grades, scores),
        ),
    )


@adaptation("IM-3", source="the definition, term by term by hand", rtol=1e-9)
def each_thing_closes_its_share_of_what_is_left(specimen: Any) -> Any:
    cases = (
        ("The shop is open.", 1.0 - 0.65),
        ("The shop has 3 rooms.", 1.0 - 0.65 * (1.0 - 0.4 * 0.5)),
        ("The shop has 3 rooms and 12 chairs.", 1.0 - 0.65 * (1.0 - 0.4 * 0.75)),
        ("The shop opens on 3 May.", 1.0 - 0.65 * (1.0 - 0.2 * 0.5)),
        ("The shop is in shop.py.", 1.0 - 0.65 * (1.0 - 0.3)),
        ("The shop burns, a fire.", 1.0 - 0.65 * (1.0 - 0.6) * (1.0 - 0.7)),
        ("There is no fire in the shop.", 1.0 - 0.65 * (1.0 - 0.7)),
        ("I moved to Oslo.", 1.0 - 0.65 * (1.0 - 0.5)),
        ("She is pregnant.", 1.0 - 0.65 * (1.0 - 0.5)),
        # recently, and over: no event of a life is told
        ("I recently worked at Acme.", 1.0 - 0.65),
        ("The shop may be open, perhaps.", 0.35 * (1.0 - 0.25)),
        ("We decided to open the shop, perhaps.", 0.75),
        ("Perhaps the shop burns, a fire.", 1.0 - 0.65 * (1.0 - 0.6) * (1.0 - 0.7)),
        ("Actually, the board decided on oak.", 0.62),
        ("I prefer what the board decided.", 0.6),
        ("The board has decided.", 0.75),
        ("The board has decided, perhaps.", 0.75),
        ("The old shop at the end of the long street is open on most of the days of the week.",
         1.0 - 0.65 * (1.0 - 0.9 * (1.0 - 50.0 / 83.0))),
        ("Is the shop open?", 0.2),
        ("Is shop.py open?", 1.0 - 0.8 * (1.0 - 0.3)),
        ("Did 3 shops burn down on 7 May?", 0.2),
        ("It fails with a KeyError.", 1.0 - 0.65 * (1.0 - 0.6) * (1.0 - 0.3) * (1.0 - 0.7)),
        ("It says KeyError.", 1.0 - 0.65 * (1.0 - 0.6) * (1.0 - 0.3)),
        ("Great, thanks!", 0.02),
        ("Thanks for the 5!", 0.02),
    )  # fmt: skip
    return worths(specimen, [text for text, _ in cases], **ODD), [due for _, due in cases]


@limit("IM-4", source="closed form: no share leaves the base, a full share gives 1, any order")
def shares_raise_and_never_exceed_one(specimen: Any) -> Any:
    shares = (0.1, 0.35, 0.6)
    return [
        specimen.raised(0.3, ()),
        specimen.raised(0.3, (0.0, 0.0)),
        specimen.raised(0.3, (0.2, 1.0)),
        specimen.raised(0.3, shares) - specimen.raised(0.3, shares[::-1]),
        specimen.many(0),
        specimen.many(3),
        specimen.polarity(0, 0),
        specimen.polarity(1, 3),
    ], [0.3, 0.3, 1.0, 0.0, 0.0, 0.875, 0.0, -0.5]


@adaptation(
    "IM-5",
    source="the steps of Cortex' public code, added by hand: .3 decision, .2 trouble, .2 design, .1 tags, length, code",
    atol=1e-12,
    papers=("cortex2026",),
)
def the_form_cortex_adds_its_steps(specimen: Any) -> Any:
    plain = "The meeting is over."
    told = (
        (plain, (), 0.0),
        ("We decided it.", (), 0.3),
        ("It failed.", (), 0.2),
        ("A new design.", (), 0.2),
        ("We decided on the new design after the crash.", (), 0.7),
        ("Read it in app.py.", (), 0.1),
        (plain + " " * 481, (), 0.1),
        (plain + " " * 480, (), 0.0),
        (plain, ("a", "b", "c"), 0.1),
        (plain, ("a", "b"), 0.0),
        ("We decided on the new design of app.py after the crash." + " " * 500, ("a", "b", "c"), 1.0),
    )  # fmt: skip
    memory = memory_of(specimen, form="cortex")
    others = (("mood", "calm"), ("place", "port"), ("weather", "fog"))  # are no tags
    for hour, (text, tags, _) in enumerate(told):
        attributes = (*others, *(("tags", tag) for tag in tags))
        memory.encode(Event(float(hour), text, dated=False, attributes=attributes))
    return memory.column("importance"), [due for *_, due in told]


@reference(
    "IM-6",
    source="True Memory 4.1 stage 1: commitments 0.8, corrections 0.6, questions 0.2, noise 0.02; longer ones by hand",
    rtol=1e-9,
    papers=(PAPER,),
)
def the_form_true_memory_is_its_scorer(specimen: Any) -> Any:
    long = "The boats lay in the old harbour until 7 in the evening there."
    shown = memory_of(specimen, form="true_memory")
    # a caption belongs to no length
    shown.encode(Event(0.0, "I promise to call.", caption="a door of the long street", dated=False))
    shown.encode(Event(1.0, "I promise to call.", caption="a door of a shop" * 9, dated=False))
    yield shown.column("importance"), [0.8, 0.8]
    yield (
        worths(
            specimen,
            [
                "I promise to call.",
                "Actually, it is on Monday.",
                "Is it open?",
                "ok",
                f"Is it?{' ' * 45}",
                long,
            ],
            form="true_memory",
        ),
        [
            0.8,
            0.6,
            0.2,
            0.02,
            1.0 - 0.5 * (1.0 - 0.3 * (1.0 - 50.0 / 51.0)),
            1.0 - 0.5 * (1.0 - 0.3 * (1.0 - 50.0 / len(long))) * (1.0 - 0.15),
        ],
    )


FELT = (
    ("The tests passed and the release was a success.", 1.0),
    ("The tests failed.", -1.0),
    ("The tests did not fail.", 1.0),
    ("It is not good.", -1.0),
    ("It was a good film, but the end was sad and terrible.", -1.0 / 3.0),
    ("The boats lie in the harbour.", 0.0),
    ("He passed away.", -1.0),
    ("He passed the exam and put the book away.", 1.0),
    ("It is not so very good.", 1.0),
    ("Not as good.", -1.0),
    ("", 0.0),
)


@adaptation(
    "IM-7", source="good words less bad ones among both, counted by hand; denied words", rtol=1e-9
)
def valence_is_the_balance_of_good_and_bad_words(specimen: Any) -> Any:
    told = [text for text, _ in FELT]
    memory = memory_of(specimen)
    encode(memory, *((float(i), text) for i, text in enumerate(told)))
    return [*memory.column("valence"), *(specimen.valence(features(t).words) for t in told)], [
        due for _, due in FELT
    ] * 2


@limit("IM-8", source="definition: an event that a gate refuses leaves no memory, and nothing else")
def a_refused_event_leaves_nothing(specimen: Any) -> Any:
    memory = memory_of(specimen, refusing("refuse"), form="cortex")
    encode(memory, (0.0, "We decided it."), (1.0, "refuse: it failed."), (2.0, "A design."))
    return [*memory.column("importance"), *memory.column("valence")], [0.3, 0.2, 0.0, 0.0]


# --- readers --------------------------------------------------------------------------------------
SIX = (
    (0.0, "Ada read about Redis."),
    (1.0, "Redis keeps the sessions."),
    (2.0, "What is Redis?"),
    (3.0, "ok"),
    (4.0, "We decided to drop Redis and use Postgres for sessions."),
    (5.0, "Production is down: Redis crashed with a timeout."),
)


def six(specimen: Any, *others: str, **values: Any) -> Engine:
    memory = memory_of(specimen, *others, **values)
    encode(memory, *SIX)
    return memory


@adaptation(
    "IM-R1",
    source="Cortex 4.2.1: importance above 0.6 leaves LABILE after 1 h, above 0.7 leaves EARLY_LTP after 6 h",
    papers=("cortex2026",),
)
def the_printed_cascade_advances_what_is_important(specimen: Any) -> Any:
    memory = six(specimen, "consolidation_cascade_printed")
    memory.advance(205.0)
    entered = memory.column("stage_entered")
    return np.where(np.isnan(entered), -1.0, entered), [
        *([t, -1.0, -1.0, -1.0] for t, _ in SIX[:4]),
        *([t, t + 1.0, t + 6.0, -1.0] for t, _ in SIX[4:]),
    ]


@adaptation(
    "IM-R2",
    source="Cortex 4.2.4, by hand: each event above 0.7 raises those below 0.5 that share an entity; the second is raised once, since that makes it strong",
    papers=("cortex2026",),
)
def printed_tagging_fires(specimen: Any) -> Any:
    memory = six(specimen, "synaptic_tagging_printed")
    heat, worth = memory.column("printed_tagging_heat"), memory.column("printed_importance")
    return [*heat, float(worth[1] > memory.column("importance")[1])], [
        2.25, 1.5, 2.25, 1.0, 1.0, 1.0, 1.0,
    ]  # fmt: skip


@adaptation(
    "IM-R3",
    source="the early phase that an event induces grows with its salience: that of a decision is above that of a remark",
)
def tagging_is_induced_by_importance(specimen: Any) -> Any:
    induced = six(specimen, "synaptic_tagging").column("early_phase_induced")
    return [float(induced[4] > induced[1] > induced[2] > induced[3])], [1.0]


@adaptation(
    "IM-R4", source="the sum of the salience of the events, since no ripple came", rtol=1e-9
)
def ripples_count_importance(specimen: Any) -> Any:
    memory = six(specimen, "oscillatory_clock_printed")
    return memory.column("importance_since_ripples"), np.sum(memory.column("importance"))


@adaptation(
    "IM-R5",
    source="of another session the event of the highest importance is shown, which is not its latest",
)
def the_highlight_of_a_session_is_its_most_important_event(specimen: Any) -> Any:
    memory = memory_of(specimen, "recent_context")
    said = ("We decided to move to Oslo.", "The tea is hot.", "ok", "Here again.")
    for hour, text in enumerate(said):
        memory.encode(Event(float(hour), text, "", "S2" if hour == 3 else "S1", dated=False))
    offered = [offer.row for offer in memory.offers("?", 400, session="S2")[1]]
    return [float(offered[0]), float(0 in offered)], [3.0, 1.0]


@adaptation(
    "IM-R6",
    source="of two matches of one age and one relevance the more important one scores higher, unless salience has no weight",
)
def a_ranked_context_weighs_importance(specimen: Any) -> Any:
    def alike(view: Any, cue: Any) -> None:
        view.released[...] = 1.0

    apart = []
    for weight in (0.5, 0.0):
        memory = memory_of(
            specimen,
            registry().instance("ranked_context", {"salience": weight}),
            neighbour(Phase.RETRIEVE, alike, sets=(RELEASED,), id="alike"),
        )
        encode(memory, (0.0, "The tea is hot."), (0.0, "We decided on tea."))
        scores = {offer.row: offer.score for offer in memory.offers("tea", 400)[1]}
        apart.append(float(np.sign(scores[1] - scores[0])))
    return apart, [1.0, 0.0]


@adaptation(
    "IM-R7",
    source="the salience of an entity is the importance of its memories: one decision outweighs one remark",
)
def the_salient_entity_is_that_of_the_important_memory(specimen: Any) -> Any:
    memory = memory_of(specimen, "entity_context")
    encode(memory, (0.0, "They say Cleo sings."), (1.0, "They decided that Bo leaves."))
    lines = [str(offer.text) for offer in memory.offers("?", 400)[1]]
    return [float("bo" in lines[0]), float("cleo" in lines[1])], [1.0, 1.0]


@adaptation("IM-R8", source="True Memory 4.1 stage 9: what is below the floor of 0.1 is dropped")
def noise_is_dropped_from_the_answer(specimen: Any) -> Any:
    memory = six(specimen, "salience_reweighting", "lexical_bm25", form="true_memory")
    answer = memory.retrieve("Redis ok", 6)
    return sorted(answer.rows.tolist()), [0, 1, 2, 4, 5]


# --- mutants --------------------------------------------------------------------------------------
@mutant("every message has the neutral importance", rejected_by="IM-1")
def neutral(specimen: Any) -> Any:
    return specimen.overriding("EventImportance", worth=lambda self, text, speaker, read: 0.5)


@mutant("importance is length alone", rejected_by="IM-1")
def by_length(specimen: Any) -> Any:
    return specimen.overriding(
        "EventImportance", worth=lambda self, text, speaker, read: len(text) / (len(text) + 50.0)
    )


@mutant("a decision counts as any statement", rejected_by="IM-2")
def bare_decisions(specimen: Any) -> Any:
    act = specimen.SpeechAct
    return specimen.replacing("BY_ACT", {**specimen.BY_ACT, act.DECISION: 0.35})


@mutant("shares are added", rejected_by="IM-3")
def added(specimen: Any) -> Any:
    return specimen.replacing("raised", lambda base, shares: min(base + sum(shares), 1.0))


@mutant("denied trouble is trouble", rejected_by="IM-3")
def denied(specimen: Any) -> Any:
    return specimen.replacing("DENIES", frozenset())


@mutant("what is over counts as an event of a life", rejected_by="IM-3")
def over(specimen: Any) -> Any:
    def facts_of(text: str, speaker: str) -> Any:
        return [replace(f, standing=FactStanding.HOLDS) for f in specimen.facts_of(text, speaker)]

    return specimen.replacing("facts_of", facts_of)


@mutant("a hedged decision of somebody else loses a share", rejected_by="IM-3")
def hedged_decisions(specimen: Any) -> Any:
    def worth(self: Any, text: str, speaker: str, features: Any) -> float:
        value: float = specimen.EventImportance.worth(self, text, speaker, features)
        hedged = features.act is SpeechAct.STATEMENT and "perhaps" in features.words
        return float(value * (1.0 - self.params.hedge * (hedged and "decided" in features.words)))

    return specimen.overriding("EventImportance", worth=worth)


@mutant("each number counts half, without an end", rejected_by="IM-4")
def endless(specimen: Any) -> Any:
    return specimen.replacing("many", lambda number: 0.5 * number)


@mutant("500 characters count as more than 500", rejected_by="IM-5")
def from_five_hundred(specimen: Any) -> Any:
    return specimen.replacing("LONG", 499)


@mutant("two tags are enough", rejected_by="IM-5")
def two_tags(specimen: Any) -> Any:
    return specimen.replacing("TAGS", 2)


@mutant("every attribute is a tag", rejected_by="IM-5")
def all_attributes(specimen: Any) -> Any:
    original = specimen.EventImportance.judge

    def judge(self: Any, view: Any, incoming: Any) -> None:
        tags = tuple(("tags", value) for _, value in incoming.event.attributes)
        event = replace(incoming.event, attributes=tags)
        original(self, view, SimpleNamespace(event=event, features=incoming.features))

    return specimen.overriding("EventImportance", judge=judge)


@mutant("the form true_memory is ours", rejected_by="IM-6")
def ours_for_theirs(specimen: Any) -> Any:
    return specimen.replacing("salience", lambda length, read: specimen.BY_ACT[read.act])


@mutant("valence is the number of good words less that of bad ones", rejected_by="IM-7")
def counted(specimen: Any) -> Any:
    return specimen.replacing("polarity", lambda good, bad: float(good - bad))


@mutant("nothing is judged important", rejected_by="IM-R1")
def halved(specimen: Any) -> Any:
    return specimen.replacing("raised", lambda base, shares: 0.5 * base)
