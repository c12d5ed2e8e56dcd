"""One short life, by which numbers and declarations are judged: forty-odd events of three months, with
corrections, repetitions, requests, exchanges, several sessions and speakers, questions whose answers
are used, nights, and an archived memory.

    memory = lived(registry, "recency", Circumstances())
    observed(memory)["recency sum, question 1"]

A life costs a few hundredths of a second, so a mechanism can be judged by several: alone, in the
company of a set that ships, and with other choices of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ..engine.catalogue.registry import Registry, Value
from ..engine.catalogue.stand_ins import checked_instance
from ..engine.contract.columns import Scope
from ..engine.contract.hooks import Mechanism
from ..engine.contract.records import Event, Query
from ..engine.memory.arrivals import ClockWarning
from ..engine.memory.encoded import VetoWarning
from ..engine.memory.engine import Engine
from ..engine.ports.embedder import Embedder
from ..engine.ports.language_model import LanguageModel
from .memory import FunctionModel, KeptHashing

# beside the mechanism: match by meaning and by words, and a fusion
COMPANY: Final = ("dense_similarity", "lexical_bm25", "weighted_rrf")
START: Final = 19_800 * 24.0 + 9.0  # h
REST: Final = 30 * 24.0  # h, after the last event

# hours after the event before, session, speaker, text
TOLD: Final = (
    (0.0, "a", "Ada", "Bo, do you remember the blue boat that we saw in Lisbon?"),
    (0.02, "a", "Bo", "Yes! It belonged to Cleo, who lives in Lisbon."),
    (0.02, "a", "Ada", "From now on, always call me Captain Ada."),
    (0.02, "a", "Bo", "Great."),
    (0.05, "a", "Ada", "I work at the old mill on Mondays, and my sister Dora works at Acme in Oslo."),
    (0.02, "a", "Bo", "I am so sorry that I lost your keys, I was terrified and I cried all night!"),
    (26.0, "b", "Ada", "I moved to Oslo on 3 March 2024."),
    (0.02, "b", "Bo", "Cleo bought the red car for 300 dollars."),
    (0.02, "b", "Ada", "What did Cleo do with the blue boat?"),
    (0.02, "b", "Bo", "She sold the blue boat to Dora last week, and Dora painted it green."),
    (0.3, "b", "Ada", "I prefer window seats and I never eat meat."),
    (0.02, "b", "Bo", "I prefer aisle seats."),
    (5.0, "b", "Bo", "Ada painted the old mill."),
    (0.02, "b", "Ada", "Ada saw a blue boat in Lisbon."),
    (30.0, "c", "Ada", "Actually, I moved to Bergen, not to Oslo."),
    (0.02, "c", "Bo", "Congratulations, that is wonderful news!"),
    (0.02, "c", "Ada", "We meet Cleo at the station on Friday at 5."),
    (0.02, "c", "Bo", "No, we meet Cleo at the station on Saturday at 6."),
    (0.1, "c", "Ada", "The meeting with Cleo was moved to Sunday."),
    (24.0, "d", "user", "Please remind me to water the plants tomorrow."),
    (0.02, "d", "assistant", "I will remind you to water the plants. Plants in Bergen need little water because "
     "it rains on most days of the year, and the clay soil of the garden behind the old mill holds water for a "
     "week. Roses want more than ferns, and ferns want more than moss. If leaves turn yellow, give half as much."),
    (0.02, "d", "user", "Summarize in three bullet points, and keep answers short."),
    (0.02, "d", "assistant", "Roses, ferns, moss."),
    (0.02, "d", "user", "My budget for the garden is 400 dollars."),
    (700.0, "e", "Ada", "My budget for the garden is now 550 dollars."),
    (0.02, "e", "Bo", "Ada saw a blue boat in Lisbon."),
    (0.02, "e", "Ada", "Cleo sings in Oslo now."),
    (0.02, "e", "Bo", "Cleo sings in Oslo now."),
    (3.0, "e", "Ada", "Dora was promoted at Acme and was very happy."),
    (0.02, "e", "Bo", "The red car of Cleo broke down near the old mill."),
    (50.0, "f", "Ada", "First we sanded the boat."),
    (0.02, "f", "Ada", "Then we painted the boat."),
    (0.02, "f", "Ada", "Finally we sailed the boat to Porto."),
    (0.02, "f", "Bo", "Porto was sunny and the boat was fast."),
    (0.02, "f", "Ada", "Thanks."),
    (26.0, "g", "Bo", "Dora repaired the red car of Cleo."),
    (0.02, "g", "Ada", "Did Dora get paid for the red car?"),
    (0.02, "g", "Bo", "Yes, Cleo paid her 90 dollars."),
    (0.02, "g", "Ada", "Ada saw a blue boat in Lisbon."),
    (0.02, "g", "Ada", "Dora from Oslo repaired the red car of Cleo."),
    (0.02, "g", "Ada", "The mill works again, the old mill in Bergen."),
    (0.02, "g", "Bo", "I no longer work at the station, I work at the harbour."),
    (120.0, "h", "Ada", "The blue boat, the green boat and the red car are all at the old mill."),
    (0.02, "h", "Bo", "Ada loves the blue boat."),
    (0.02, "h", "Ada", "Cleo is a friend of Dora, and Dora is the sister of Ada."),
)  # fmt: skip
SAID_TWICE: Final = frozenset(
    text for _, _, _, text in TOLD if sum(text == other for _, _, _, other in TOLD) > 1
)
ROLES: Final = ("user", "assistant")
# number of the event after which a question is asked -> the question; its two best memories are used
USED: Final = {
    5: "Where did Ada see the blue boat?",
    11: "Who lives in Lisbon?",
    18: "When do we meet Cleo?",
    23: "What is my budget for the garden?",
    29: "Where does Cleo sing?",
    31: "Where did Ada see the blue boat?",
    34: "Who painted the boat?",
    39: "What happened to the red car of Cleo?",
}
ARCHIVED: Final = 12  # number of the event that is archived at the end
QUESTIONS: Final = (
    "Where did Ada see the blue boat?",
    "What did Bo say about the red car in March 2024?",
    "Where do I live now?",
    "In which order did we work on the boat?",
    "What did Bo say after we met Cleo last month?",
    "Suggest a seat for my flight.",
    "the old mll and the stashun",
    "What did you tell me about my plants?",
)
TOKENS: Final = 120  # of the contexts


class ShortWindow(KeptHashing):
    """Hashing that reads so few word pieces of a text that long texts have passages."""

    window = 24


def replying() -> FunctionModel:
    """A language model that replies to a request with what its schema allows: the first choice, true,
    1, and words of the prompt.
    """
    return FunctionModel(lambda request: _allowed(request.schema, _last_words(request.prompt)))


def _last_words(prompt: str) -> list[str]:
    """Without numbers, which may be those of rows."""
    return [word for word in prompt.split() if not any(map(str.isdigit, word))][-8:]


def _allowed(schema: Mapping[str, Any], words: list[str]) -> Any:
    """A value that a schema allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if schema["type"] == "object":
        return {name: _allowed(part, words) for name, part in schema["properties"].items()}
    if schema["type"] == "array":
        return [_allowed(schema["items"], words)] * max(1, schema.get("minItems", 1))
    return {"boolean": True, "integer": 1, "number": 1.0}.get(schema["type"], " ".join(words))


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What stands around the numbers of a mechanism in a life.

    of       name of a set that ships, whose mechanisms and numbers are the company; "": COMPANY
    choices  words and truth values of the mechanism, and numbers where they differ from the registry
    """

    of: str = ""
    choices: Mapping[str, Value] = field(default_factory=dict)


def company(registry: Registry, id: str, of: str = "") -> list[Mechanism[Any]]:
    """The mechanisms beside one, without those that set a column that it sets."""
    mine = _sets(registry.entry(id).load())
    given = registry.set(of).mechanisms if of else {other: {} for other in COMPANY}
    return [
        checked_instance(registry, other, values)
        for other, values in given.items()
        if other != id
        and other in registry.entries
        and mine.isdisjoint(_sets(registry.entry(other).load()))
    ]


def everyone(registry: Registry, id: str, around: Circumstances) -> list[Mechanism[Any]]:
    """A mechanism and its company, by id."""
    own = {**registry.set(around.of).mechanisms.get(id, {})} if around.of else {}
    chosen = checked_instance(registry, id, {**own, **around.choices})
    return sorted([chosen, *company(registry, id, around.of)], key=lambda m: m.id)


def _sets(mechanism: type[Mechanism[Any]]) -> frozenset[int]:
    """The columns and structures that a mechanism sets, each with the phase, by identity."""
    return frozenset(hash((hook.phase, item)) for hook in mechanism.hooks() for item in hook.sets)


def lived(
    registry: Registry,
    id: str,
    around: Circumstances = Circumstances(),
    *,
    told: Sequence[tuple[float, str, str, str]] = TOLD,
    used: Mapping[int, str] = USED,
    beside: Iterable[Mechanism[Any]] = (),
    embedder: Embedder | None = None,
    language_model: LanguageModel | None = None,
    first: tuple[str, ...] = (),
    undated: bool = False,
    start: float = START,
    consolidate_every: float = 24.0,
    shortlist: int | None = None,
    rest: float = REST,
    after: Callable[[Engine, int], None] | None = None,
    as_told: Callable[[Event], Event] = lambda event: event,
    **ways: Any,
) -> Engine:
    """Live the life with a mechanism, up to `rest` hours after the last event.

    told    hours after the event before, session, speaker and text of each event
    used    number of the event after which a question is asked -> the question
    beside  mechanisms of a check, besides the company
    first   texts that are told an hour before the others
    after   called with the memory and the number of each event, once it and its question are over
    as_told makes the event that is told of each event
    ways    further arguments of `Engine`

    Raises what the mechanism raises.
    """
    memory = Engine(
        [*everyone(registry, id, around), *beside],
        embedder or ShortWindow(32),
        tick_hours=1.0,
        consolidate_every=consolidate_every,
        shortlist=shortlist,
        language_model=language_model,
        **ways,
    )
    time, archived = start, -1
    with warnings.catch_warnings():
        # what a gate refuses, and what is dated far ahead, is part of the life
        warnings.simplefilter("ignore", VetoWarning)
        warnings.simplefilter("ignore", ClockWarning)
        for text in first:
            memory.encode(Event(start - 1.0, text, "Eve", "z", dated=False))
        for number, (later, session, speaker, text) in enumerate(told):
            time = max(time, memory.now if memory.store.n else time) + later
            attributes = (("role", speaker),) if speaker in ROLES else ()
            event = Event(
                time,
                text,
                speaker,
                session,
                f"e{number}",
                # so that what is said again has the vector of the first time
                dated=not undated and text not in SAID_TWICE,
                attributes=attributes,
            )
            row = memory.encode(as_told(event)).row
            if number == ARCHIVED and row is not None and row >= 0:
                archived = row
            if number in used:
                answer = memory.retrieve(used[number])
                if len(answer):
                    memory.use(answer, answer.rows[:2].tolist(), 0.8)
            if after:
                after(memory, number)
    memory.advance(time + rest)
    if archived >= 0:
        memory.archive(archived)
    return memory


def used_in_session(memory: Engine, number: int) -> None:
    """After some events asks in their session, and uses the answer."""
    if number % 8 in (3, 4):
        _, session, _, text = TOLD[number]
        answer = memory.retrieve(Query(text, session=session))
        memory.use(answer, answer.rows[:2].tolist(), 0.8)


def observed(memory: Engine, names: Collection[str] | None = None) -> dict[str, float]:
    """What can be seen of a life at its end: sums, lengths and counts of all columns, for each
    question the ranking and its columns, and contexts.

    names  of what is needed; others may be seen beside them.  None: all
    """
    seen: dict[str, float] = {"rows": float(memory.store.n)}

    def needed(part: str) -> bool:
        return names is None or any(part in name for name in names)

    for column in memory.store.columns:
        if column.scope.persists and needed(column.name):
            _note(seen, column.name, memory.column(column))
    asked = [c for c in memory.store.columns if c.scope in (Scope.CANDIDATE, Scope.EVENT)]
    for number, question in enumerate(QUESTIONS):
        place = f", question {number}"
        if not needed(place):
            continue
        answer = memory.retrieve(question, 20)
        rank = np.full(memory.store.n, 25.0)
        rank[answer.rows] = np.arange(len(answer.rows))
        _note(seen, f"ranks{place}", rank)
        _note(seen, f"final{place}", answer.final)
        for column in asked:
            if needed(column.name + place):
                _note(seen, column.name + place, memory.column(column))
    if memory.sources:
        for number, question in enumerate(QUESTIONS[:4]):
            if needed(f"context {number}"):
                text = memory.context(question, TOKENS, session="h").text
                seen[f"context {number}"] = float(sum(map(ord, text)))
    return seen


def _note(seen: dict[str, float], name: str, values: Any) -> None:
    """Sum, length and number of the finite values, and a sum in which the places count."""
    flat = np.asarray(values, np.float64).ravel()
    given = np.isfinite(flat)
    x = np.where(given, flat, 0.0)
    seen[f"{name}: sum"] = float(x.sum())
    seen[f"{name}: length"] = float(np.sqrt(x @ x))
    seen[f"{name}: given"] = float(np.count_nonzero(given & (flat != 0.0)))
    seen[f"{name}: places"] = float(x @ np.sqrt(np.arange(1.0, len(x) + 1.0)))
