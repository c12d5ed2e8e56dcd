"""Evidence for rule_filter: rules of files applied to a small memory, against tables by hand and
a reading of the same rules as plain data.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.base.errors import RegistryError
from ...engine.contract.records import Event
from ...engine.contract.vocabulary import BAN, LOG_PRIOR
from ..checks import adaptation, equation, limit, mutant
from ..figures import Curve, Picture, dots, figure
from ..memory import encode, memory_of

DAY0 = 473352.0  # h, 2024-01-01 00:00
LOG = (
    Event(
        DAY0,
        "The draft budget of the trip is 900",
        "Ada",
        "s1",
        attributes=(("kind", "draft"), ("tags", "money"), ("tags", "trip")),
    ),
    Event(
        DAY0 + 23.9,
        "The final budget of the trip is 700",
        "Bo",
        "s1",
        attributes=(("kind", "note"), ("tags", "trip")),
    ),
    Event(
        DAY0 + 24.0,
        "We met Cleo in Lisbon about the trip",
        "Zoë",
        "s2",
        attributes=(("kind", "note"),),
    ),
    Event(DAY0 + 50.0, "Then Ada painted the fence in Oslo", "bo", "S3"),
    Event(DAY0 + 50.0, "The trip was moved to June", "", "S3", attributes=(("kind", "draft"),)),
)
# one part each, and the rows that it selects, by hand
WHERE: tuple[tuple[Mapping[str, Any], tuple[int, ...]], ...] = (
    ({"speaker": "Ada"}, (0,)),
    ({"speaker": ["BO", "zoe"]}, (1, 2, 3)),
    ({"session": "s1"}, (0, 1)),
    ({"session": ["s2", "S3"]}, (2, 3, 4)),
    ({"entity": "lisbon"}, (2,)),
    ({"entity": ["Oslo", "Cleo"]}, (2, 3)),
    ({"attribute": {"kind": "draft"}}, (0, 4)),
    ({"attribute": {"tags": ["money", "other"]}}, (0,)),
    ({"attribute": {"kind": "note", "tags": "trip"}}, (1,)),
    ({"attribute": {"kind": "trip"}}, ()),
    ({"since": "2024-01-02"}, (2, 3, 4)),
    ({"until": "2024-01-01"}, (0, 1)),
    ({"since": "2024-01-02T00:00:00", "until": "2024-01-02"}, (2,)),
    ({"until": "2024-01-02 00:00:00"}, (0, 1, 2)),
    ({"since": "2024-01-01 23:00:00", "session": "s1"}, (1,)),
    ({"speaker": "Ada", "session": "s2"}, ()),
    ({"since": "2024-01-03 02:00:00", "until": "2024-01-03T02:00:00+00:00"}, (3, 4)),
)
QUERIES = (
    "When was the trip moved?",
    "What did Cleo say about painting fences?",
    "Is the budget final?",
    "Who painted Oslo?",
    "",
)
# and the queries that each holds for, by hand
WHEN: tuple[tuple[Mapping[str, Any] | None, tuple[bool, ...]], ...] = (
    (None, (True, True, True, True, True)),
    ({"intent": "temporal"}, (True, False, False, False, False)),
    ({"intent": ["semantic", "entity"]}, (False, True, True, True, False)),
    ({"entity": "CLEO"}, (False, True, False, False, False)),
    ({"entity": ["Oslo", "Cleo"]}, (False, True, False, True, False)),
    ({"words": "paint"}, (False, True, False, True, False)),
    ({"words": "the fence painted"}, (False, True, False, False, False)),
    ({"words": ["final budget", "trips"]}, (True, False, True, False, False)),
    ({"intent": "entity", "words": "paint"}, (False, False, False, True, False)),
    ({"words": "paint.*|budget"}, (False, False, False, False, False)),
)
THEN = ("exclude", "only", {"factor": 0.5}, {"factor": 3.0}, {"factor": 1.25})


def ruled(
    specimen: Any, rules: Sequence[Mapping[str, Any]] | str, *, log: Sequence[Event] = LOG
) -> Any:
    """A memory of the events under rules, as data or as text of the file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rules.yaml"
        file.write_text(
            rules if isinstance(rules, str) else json.dumps({"rules": [*map(dict, rules)]}),
            encoding="utf-8",
        )
        memory = memory_of(specimen, "lexical_bm25", rules=str(file))
    encode(memory, *log)
    return memory


@adaptation(
    "RF-1", source="ours: rows by hand for each part of `where`; bits of the columns, in numpy"
)
def each_part_of_where_selects_its_memories(specimen: Any) -> Any:
    memory = ruled(
        specimen,
        [
            {"name": f"rule {r}", "then": "exclude", "where": where}
            for r, (where, _) in enumerate(WHERE)
        ],
    )
    bits = memory.column(specimen.RULES_MATCHED)
    return [[int(row) for row in np.flatnonzero(bits // 2**r % 2)] for r in range(len(WHERE))] == [
        list(rows) for _, rows in WHERE
    ]


@adaptation("RF-2", source="ours: queries by hand for each part of `when`")
def each_part_of_when_holds_for_its_queries(specimen: Any) -> Any:
    measured = []
    for when, _ in WHEN:
        rule = {"name": "all", "then": "exclude", "where": {"since": "2000-01-01"}}
        memory = ruled(specimen, [rule if when is None else {**rule, "when": when}])
        held = []
        for text in QUERIES:
            memory.retrieve(text)
            held.append(bool(memory.column(BAN).all()))
        measured.append(tuple(held))
    return measured, [held for _, held in WHEN]


@equation(
    "RF-3",
    source="ours: votes and products of factors, rule by rule over the tables by hand",
    figure="factors",
)
def a_memory_votes_and_weights_by_all_rules_that_hold(specimen: Any) -> Any:
    rng = np.random.default_rng(5)
    measured, expected = [], []
    for _ in range(4):
        picked = [
            (
                int(rng.integers(len(WHEN) - 1)),
                int(rng.integers(len(WHERE))),
                THEN[int(rng.integers(len(THEN)))],
            )
            for _ in range(12)
        ]
        memory = ruled(
            specimen,
            [
                {
                    "name": f"rule {r}",
                    "then": then,
                    "where": WHERE[where][0],
                    **({"when": WHEN[when][0]} if WHEN[when][0] else {}),
                }
                for r, (when, where, then) in enumerate(picked)
            ],
        )
        memory.assembly.show(1, False)
        for q, text in enumerate(QUERIES):
            memory.retrieve(text)
            votes, factors = [0] * len(LOG), [1.0] * len(LOG)
            for when, where, then in picked:
                for row in range(len(LOG)):
                    inside = row in WHERE[where][1]
                    if WHEN[when][1][q] and isinstance(then, dict):
                        factors[row] *= then["factor"] if inside else 1.0
                    elif WHEN[when][1][q]:
                        votes[row] += inside if then == "exclude" else not inside
            measured.append([*memory.column(BAN), *np.exp(memory.column(LOG_PRIOR))])
            expected.append([*votes, *factors])
    return measured, expected


@adaptation(
    "RF-4",
    source="by hand: rows of the answer under an excluding, a restricting and a weighting rule",
)
def hard_rules_decide_who_is_answered_and_soft_rules_the_order(specimen: Any) -> Any:
    twins = (
        Event(DAY0, "a long walk", "Ada"),
        Event(DAY0, "we planted a tree", "Ada"),
        Event(DAY0, "we planted a tree", "Bo"),
    )

    def rows(then: Any, speaker: str) -> list[int]:
        rule = {
            "name": "one",
            "then": then,
            "where": {"speaker": speaker},
            "when": {"words": "trees"},
        }
        answered: list[int] = (
            ruled(specimen, [rule], log=twins)
            .retrieve("the tree that was planted", k=2)
            .rows.tolist()
        )
        return answered

    return [rows("exclude", "Ada")] == [[2]] and [
        rows("only", "Ada"),
        rows({"factor": 0.9}, "Ada"),
        rows({"factor": 1.1}, "Ada"),
    ] == [[1, 0], [2, 1], [1, 2]]


@limit(
    "RF-5",
    source="definition: rules that exclude everything leave an empty answer; no rules, or rules that do not hold, change nothing",
)
def rules_may_exclude_everything_or_nothing(specimen: Any) -> Any:
    everything = {"name": "all", "then": "exclude", "where": {"since": "2000-01-01"}}
    nothing = {"name": "none", "then": "only", "where": {"since": "2100-01-01"}}
    whole = memory_of(specimen, "lexical_bm25")
    encode(whole, *LOG)
    others: tuple[list[Mapping[str, Any]], ...] = (
        [],
        [everything],
        [nothing],
        [{**everything, "when": {"words": "Paris"}}],
    )
    sizes = [
        len(memory.retrieve("trip", k=9).rows)
        for memory in (whole, *(ruled(specimen, rules) for rules in others))
    ]
    return [
        *sizes,
        *whole.column(BAN),
        *whole.column(LOG_PRIOR),
        *whole.column(specimen.RULES_MATCHED),
    ], [5, 5, 0, 0, 5] + [0] * 15


@limit("RF-6", source="closed form: bits 0 and 61 of 62 rules")
def the_last_of_the_most_rules_holds_as_the_first(specimen: Any) -> Any:
    many = [
        {
            "name": f"rule {r}",
            "then": "exclude" if r < 61 else {"factor": 7.0},
            "where": {"speaker": "Ada" if r in (0, 61) else "Dan"},
        }
        for r in range(62)
    ]
    memory = ruled(specimen, many)
    memory.retrieve("trip")
    return [
        *memory.column(specimen.RULES_MATCHED),
        *memory.column(BAN),
        *np.exp(memory.column(LOG_PRIOR)),
    ], [2**61 + 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 7, 1, 1, 1, 1]


HEAD = "rules:\n  - name: one\n    then: exclude\n    where: {speaker: Ada}\n"
# file, line of the error, a word of it
WRONG: tuple[tuple[str, int, str], ...] = (
    ("rules:\n  - name: one\n    then: exclude\n", 2, "empty"), (HEAD.replace("{speaker: Ada}",
    "{}"), 4, "empty"),
    (HEAD.replace("{speaker: Ada}", "Ada"), 4, "mapping"), (HEAD + "    wen: {intent: temporal}\n",
    5, "wen"), ("ruls: []\n", 1, "ruls"),
    ("rules: {}\n", 1, "list"), ("rules: [1]\n", 1, "mapping"), ("{}\n", 1, "list"),
    (HEAD.replace("speaker", "speakers"), 4, "speakers"),
    (HEAD.replace("exclude", "drop"), 3, "drop"), (HEAD.replace("exclude", "{factor: 0}"), 3,
    "factor"),
    (HEAD.replace("exclude", "{factor: -2.0}"), 3, "factor"), (HEAD.replace("exclude",
    "{factor: .nan}"), 3, "factor"),
    (HEAD.replace("exclude", "{factor: true}"), 3, "factor"), (HEAD.replace("exclude",
    "{factor: 1001}"), 3, "factor"),
    (HEAD.replace("exclude", "{factor: 0.0009}"), 3, "factor"), (HEAD.replace("exclude",
    "{factor: half}"), 3, "factor"),
    (HEAD.replace("exclude", "{factor: 2, faktor: 2}"), 3, "faktor"), (HEAD.replace("exclude",
    "{}"), 3, "then"),
    (HEAD.replace("name: one", "name: ''"), 2, "name"), (HEAD.replace("name: one", "name: 3"), 2,
    "name"),
    (HEAD + HEAD.removeprefix("rules:\n"), 5, "two rules"), (HEAD + "    when: {}\n", 5, "empty"),
    (HEAD + "    when: {intent: temporl}\n", 5, "temporl"),
    (HEAD + "    when: {words: the of}\n", 5, "term"), (HEAD + "    when: {words: '.*'}\n", 5,
    "term"), (HEAD + "    when: {words: []}\n", 5, "text"),
    (HEAD + "    when: {words: [tree, 3]}\n", 5, "text"), (HEAD + "    when: {entity: ' '}\n", 5,
    "text"),
    (HEAD + "    when: {speaker: Ada}\n", 5, "speaker"),
    (HEAD.replace("speaker: Ada", "session: 3"), 4, "text"), (HEAD.replace("speaker: Ada",
    "attribute: {}"), 4, "empty"),
    (HEAD.replace("speaker: Ada", "attribute: kind"), 4, "mapping"), (HEAD.replace("speaker: Ada",
    "attribute: {3: a}"), 4, "3"),
    (HEAD.replace("speaker: Ada", "attribute: {kind: 3}"), 4, "text"), (HEAD.replace("speaker: Ada",
    "since: May"), 4, "date"),
    (HEAD.replace("speaker: Ada", "since: 3"), 4, "date"), (HEAD.replace("speaker: Ada",
    "since: 2024-13-01"), 4, "month"),
    (HEAD.replace("speaker: Ada", "until: .inf"), 4, "date"), (HEAD.replace("speaker: Ada",
    "until: 9999-12-31"), 4, "date"),
    (HEAD.replace("speaker: Ada", "since: null"), 4, "date"),
    (HEAD.replace("{speaker: Ada}", "\n      since: 2024-02-01\n      until: 2024-01-01"), 6,
     "before"),
    ("rules:\n" + "".join(f"  - {{name: r{r}, then: only, where: {{session: a}}}}\n" for r in range(63)), 64, "63 rules"),
    (HEAD.replace("name: one", "name: [one"), 3, "YAML"), (HEAD + "    then: only\n", 5, "twice"),
)  # fmt: skip


@adaptation(
    "RF-7",
    source="ours: line and word of the error, by hand, for each file that states no rule; a cure in each",
)
def a_file_that_states_no_rule_is_refused_with_its_line(specimen: Any) -> Any:
    measured = []
    for text, line, word in WRONG:
        try:
            ruled(specimen, text, log=())
        except RegistryError as error:
            measured.append(
                (error.where.endswith(f"rules.yaml:{line}"), word in error.what, bool(error.cure))
            )
        else:
            measured.append((False, False, False))
    return measured, [(True, True, True)] * len(WRONG)


@limit("RF-8", source="closed form: votes and logs add to what is there; bounds of the factor")
def votes_and_factors_add(specimen: Any) -> Any:
    votes, logs = np.array([2, 1, 4], np.int16), np.array([0.5, 0.0, -1.0])
    specimen.add_votes(np.array([0b110, 0b001, 0b111]), 0b011, 0b100, votes)
    specimen.add_log_factors(
        np.array([0b110, 0b001, 0b111]), np.array([1, 0]), np.array([0.25, 3.0]), logs
    )
    rules = [
        {"name": name, "then": {"factor": factor}, "where": {"session": name}}
        for name, factor in (("s1", 1000), ("s2", 0.001))
    ]
    memory = ruled(specimen, rules)
    memory.retrieve("trip")
    return [*votes, *logs, *np.exp(memory.column(LOG_PRIOR))], [3, 3, 6, 0.75, 3.0, 2.25, 1000.0,
        1000.0, 0.001, 1.0, 1.0]  # fmt: skip


@figure(
    "factors",
    caption="Factor on the score of a memory that matches several soft rules: the factors of the rules multiply",
    source="ours: products by hand",
)
def factor_over_rules(specimen: Any) -> Picture:
    counts = np.arange(7)

    def factor(value: float) -> Any:
        factors = []
        for count in counts:
            out = np.zeros(1)
            specimen.add_log_factors(
                np.array([2**7 - 1]), np.arange(count), np.full(count, np.log(value)), out
            )
            factors.append(float(np.exp(out[0])))
        return factors

    return Picture(
        "soft rules that the memory matches",
        "factor",
        (
            Curve("factor 1.25 each", counts, factor(1.25)),
            Curve("factor 0.5 each", counts, factor(0.5)),
            dots("products", np.tile(counts, 2), np.concatenate([1.25**counts, 0.5**counts])),
        ),
        log="y",
    )


@mutant("names match with case and diacritics", rejected_by="RF-1")
def exact_names(specimen: Any) -> Any:
    return specimen.replacing("fold", lambda text: text)


@mutant("one word of several is enough", rejected_by="RF-2")
def any_word(specimen: Any) -> Any:
    def holds(self: Any, cue: Any, intent: Any) -> bool:
        if self.words:
            return any(not words.isdisjoint(cue.terms) for words in self.words)
        return bool(specimen.When.holds(self, cue, intent))

    return specimen.overriding("When", holds=holds)


@mutant("the first of two rules decides", rejected_by="RF-3")
def first_alone(specimen: Any) -> Any:
    original = specimen.add_log_factors
    return specimen.replacing(
        "add_log_factors",
        lambda matched, bits, logs, out: original(matched, bits[:1], logs[:1], out),
    )


@mutant("`only` bans what matches", rejected_by="RF-4")
def reversed_only(specimen: Any) -> Any:
    original = specimen.add_votes
    return specimen.replacing(
        "add_votes", lambda matched, exclude, only, out: original(matched, exclude | only, 0, out)
    )


@mutant("rules that hold for no query hold for all", rejected_by="RF-5")
def unconditional(specimen: Any) -> Any:
    def holds(self: Any, cue: Any, intent: Any) -> bool:
        return True

    return specimen.overriding("When", holds=holds)


@mutant("bits beyond 32 are lost", rejected_by="RF-6")
def narrow(specimen: Any) -> Any:
    original = specimen.add_log_factors
    return specimen.replacing(
        "add_log_factors",
        lambda matched, *rest: original(matched.astype(np.int32).astype(np.int64), *rest),
    )


@mutant("any factor goes", rejected_by="RF-7")
def unbounded(specimen: Any) -> Any:
    return specimen.replacing("LEAST_FACTOR", -1e9)


@mutant("votes replace those of others", rejected_by="RF-8")
def replaced(specimen: Any) -> Any:
    original = specimen.add_votes

    def add_votes(matched: Any, exclude: int, only: int, out: Any) -> None:
        out[:] = 0
        original(matched, exclude, only, out)

    return specimen.replacing("add_votes", add_votes)
