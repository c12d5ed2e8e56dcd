"""PrecisionMemBench: beliefs about a user, and questions that say what must come back and that
nothing else may.

Source: Flynt 2026, Structured Belief State and the First Precision-Aware Benchmark for LLM Memory
Retrieval (arXiv:2605.11325); files `beliefs.seed.json`, `retrieval.cases.json` and
`session-retrieval.cases.json`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from ...engine.base.times import hours
from ...engine.contract.records import Event
from .base import (
    MINUTE,
    Conversation,
    Dataset,
    JsonPlace,
    Question,
    assemble,
    folder_with,
    read_json,
    unique,
)
from .reading import digest_of

BELIEFS, CASES, SESSIONS = (
    "beliefs.seed.json",
    "retrieval.cases.json",
    "session-retrieval.cases.json",
)
USER = "test-user"  # whose memory is asked where a case names no user, as in the source
SESSION_CATEGORY = "Session-level noise isolation"


@dataclass(frozen=True, slots=True)
class _Belief:
    """A belief as it is told.

    event    what a memory is told
    scopes   such as `domain:code`; () if it has none
    pinned   whether the source always shows it within its scopes, without a search
    updated  the belief that this one takes the place of; "" for none
    """

    event: Event
    scopes: tuple[str, ...]
    pinned: bool
    updated: str = ""


def load_precisionmembench(path: Path | None, limit: int | None = None) -> Dataset:
    """One conversation for each user with cases, and one for each session.

    A belief is an event and a session of its own, told when it was made (`created_at`) as the text
    that the source gives to the systems that it compares: name, aliases, content and why it matters.
    A belief that a session changes is told anew, as `<id>~2`.  Each user has a memory of their own;
    beliefs of users without cases, and cases of users without beliefs, are counted.  As with those
    systems, a question does not say its scope.

    Gold: what should come back by a search (`shouldOnlyInclude`, and `mustInclude` of what is not
    pinned).  Forbidden: every other belief that the memory has when it is asked, except those that
    the source shows without a search (pinned ones of the question's scope), unless the case forbids
    them, and earlier versions of gold.  Cases without words and cases under a budget of their own
    are left out and counted, since they test what puts a context together.  Questions are asked an
    hour after the last belief, those of a session a minute apart.

    path  the folder with `beliefs.seed.json` and one or both files of cases, or one of them

    Cost: O(characters).  Errors: DataError.
    """
    folder = folder_with(path, "precisionmembench", (BELIEFS,))
    names = [name for name in (CASES, SESSIONS) if (folder / name).is_file()]
    if not names:
        folder_with(folder, "precisionmembench", (CASES,))  # raises
    counted: Counter[str] = Counter(
        gold_missing=0, beliefs_of_users_without_cases=0, cases_of_users_without_beliefs=0,
        cases_without_words=0, cases_under_a_budget=0,
    )  # fmt: skip
    beliefs: dict[str, list[_Belief]] = {}
    for place in read_json(folder / BELIEFS)[0].items("belief"):
        beliefs.setdefault(place.field("user_id").name(), []).append(_belief(place))
    for told in beliefs.values():
        told.sort(key=lambda belief: belief.event.time)
    conversations = list[Conversation]()
    if CASES in names:
        cases = list(read_json(folder / CASES)[0].items("case"))
        conversations += _by_user(cases, beliefs, counted)
        asked = {conversation.id for conversation in conversations} | {USER}
        counted["beliefs_of_users_without_cases"] = sum(
            len(told) for user, told in beliefs.items() if user not in asked
        )
    if SESSIONS in names:
        told = beliefs.get(USER, [])
        for place in read_json(folder / SESSIONS)[0].items("session"):
            name = place.field("caseId").name()
            conversations.append(_session(place.named(f"session {name}"), name, told, counted))
    return assemble(
        "precisionmembench",
        digest_of([(name, folder / name) for name in (BELIEFS, *names)]),
        conversations[:limit],
        counted,
        str(folder),
    )


def _by_user(
    cases: Iterable[JsonPlace], beliefs: Mapping[str, Sequence[_Belief]], counted: Counter[str]
) -> Iterator[Conversation]:
    asked: dict[str, list[Question]] = {}
    for place in cases:
        name = place.field("caseId").name()
        place = place.named(f"case {name}")
        named = place.maybe("userId")
        user = named.name() if named else USER
        words = place.field("query").text()
        budget = place.maybe("budget")
        if user not in beliefs:
            counted["cases_of_users_without_beliefs"] += 1
        elif not words.strip():
            counted["cases_without_words"] += 1
        elif budget is not None:
            counted["cases_under_a_budget"] += 1
        else:
            told = beliefs[user]
            gold, forbidden = _expected(place, told, counted)
            category = place.field("category").name()
            time = told[-1].event.time + 1.0
            asked.setdefault(user, []).append(
                Question(name, words, time, category, gold, forbidden=forbidden)
            )
    for user, questions in asked.items():
        yield Conversation(user, tuple(b.event for b in beliefs[user]), tuple(questions))


def _session(
    place: JsonPlace, name: str, seeded: Sequence[_Belief], counted: Counter[str]
) -> Conversation:
    """A session: its turns are questions, and what a turn makes or changes is told after it."""
    told, questions = list(seeded), list[Question]()
    if not told:
        place.wrong(f"{BELIEFS} has no beliefs of {USER}, who is asked")
    time = told[-1].event.time + 1.0
    for turn in place.field("turns").items("turn"):
        number = turn.field("turnIndex").whole_number()
        gold, forbidden = _expected(turn, told, counted)
        questions.append(
            Question(
                f"{name}/turn {number}", turn.field("userMessage").name(), time, SESSION_CATEGORY,
                gold, after=told[-1].event.id, forbidden=forbidden,
            )
        )  # fmt: skip
        time += MINUTE
        if made := turn.maybe("createBeliefAtTurn"):
            told.append(_belief(made, at=time))
        if change := turn.maybe("updateBeliefAtTurn"):
            told.append(_changed(change, told, time))
        time += MINUTE
    return Conversation(name, tuple(belief.event for belief in told), tuple(questions))


def _expected(
    place: JsonPlace, told: Sequence[_Belief], counted: Counter[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Gold and forbidden ids of a case or a turn."""
    expect, scopes = place.field("expect"), _names(place, "scope")
    relevant = expect.maybe("relevantBeliefs")
    latest = {belief.updated: belief.event.id for belief in told if belief.updated}
    known = {belief.event.id for belief in told}
    pinned = {belief.event.id for belief in told if belief.pinned}
    named = unique(
        [
            *(_names(relevant, "shouldOnlyInclude") if relevant else ()),
            *(
                id
                for id in (_names(relevant, "mustInclude") if relevant else ())
                if id not in pinned
            ),
        ]
    )
    gold = unique(latest.get(id, id) for id in named if id in known)
    counted["gold_missing"] += sum(id not in known for id in named)
    refused = {
        id
        for part, field in (
            ("relevantBeliefs", "mustExclude"),
            ("pinnedFacts", "mustExclude"),
            ("openQuestions", "mustExclude"),
            ("noiseCheck", "mustNotSurface"),
        )
        if (tier := expect.maybe(part))
        for id in _names(tier, field)
    }
    shown = {
        belief.event.id for belief in told if belief.pinned and set(belief.scopes) & set(scopes)
    }
    allowed = {*gold, *named, *(shown - refused)}
    return gold, tuple(belief.event.id for belief in told if belief.event.id not in allowed)


def _belief(place: JsonPlace, at: float | None = None) -> _Belief:
    """A belief of the file.  at: time at which a session tells it, h."""
    name = place.field("_id").name()
    place = place.named(f"belief {name}")
    why = place.maybe("why_it_matters")
    parts = [
        place.field("canonical_name").text(), *_names(place, "aliases"),
        place.field("content").text(), why.text() if why else "",
    ]  # fmt: skip
    kind, scopes = place.field("type").name(), _names(place, "scope")
    status = place.field("epistemic_status").name()
    # a pinned belief that was replaced, or a question that was answered, is not shown
    ended = any(place.maybe(field) for field in ("superseded_by", "resolved_at"))
    pinned = place.maybe("pinned")
    attributes = {("type", kind), ("status", status), *(("scope", scope) for scope in scopes)}
    time = _time(place.field("created_at")) if at is None else at
    event = Event(
        time, " ".join(filter(None, parts)), session=name, id=name,
        attributes=tuple(sorted(attributes)),
    )  # fmt: skip
    shown = pinned is not None and pinned.value is True and not ended
    return _Belief(event, scopes, shown)


def _changed(change: JsonPlace, told: Sequence[_Belief], time: float) -> _Belief:
    """A belief of the memory with more aliases, told anew."""
    name = change.field("beliefId").name()
    before = next((belief for belief in told if belief.event.id == name), None)
    if before is None:
        change.wrong(f"the belief {name!r} that changes was never told")
    event = Event(
        time, " ".join([before.event.text, *_names(change, "addAliases")]),
        session=f"{name}~2", id=f"{name}~2", attributes=before.event.attributes,
    )  # fmt: skip
    return _Belief(event, before.scopes, before.pinned, name)


def _names(place: JsonPlace, field: str) -> tuple[str, ...]:
    """The texts of a list that may be absent."""
    listed = place.maybe(field)
    return unique(item.name() for item in listed.items(field)) if listed else ()


def _time(place: JsonPlace) -> float:
    try:
        return hours(datetime.fromisoformat(place.text()))
    except ValueError:
        place.wrong(f"{place.value!r} is not a time", "write it like '2026-09-01T00:00:00Z'")
