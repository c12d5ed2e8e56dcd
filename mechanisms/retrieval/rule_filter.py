"""Rule filter: excludes memories by hard rules and weights them by soft rules, which a file of the
user states.

Cortex (section 3.3, stage 5) filters its results by hard and soft rules about scope, entity or tag;
it prints no form of a rule.  Here a rule holds for queries of an intent, with a name or with words
(`when`) and is about memories of a speaker, session, entity, attribute or time (`where`):

    rules:
      - name: drafts are no facts
        when: {intent: [semantic, entity], words: final budget}
        then: exclude                       # or only, or {factor: 0.5}
        where: {attribute: {kind: draft}, until: 2024-05-31}

All parts of `when` must hold for the query, and all parts of `where` for the memory; of a list, one
item is enough.  Without `when` a rule holds for every query.  Words match as index terms, all of
one item in any order; names match without regard to case and diacritics; sessions and attributes
match exactly.  A day in `until` ends with that day.  `exclude` votes to BAN the memories that match
`where`, `only` those that do not; `factor` adds its logarithm to LOG_PRIOR of those that match.

A memory keeps one bit for each rule whose `where` it matches, set when it is stored.  A snapshot
can be continued with the same rules only.

Cost: per event O(rules); per query O(n rules).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from ...engine.base.errors import RegistryError, nearest
from ...engine.base.numerics import kernel
from ...engine.base.times import hours
from ...engine.base.yaml_file import YamlFile
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Cue, Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import BAN, LOG_PRIOR, ROW
from ...engine.text.features import fold, terms_of
from ..shared.questions import Intent, intent_of

# --- columns --------------------------------------------------------------------------------------
RULES_MATCHED = Column(
    "rules_matched",
    np.int64,
    Scope.MEMORY,
    "1",
    0,
    "bit r is 1 if the memory matches `where` of rule r",
    low=0,
)

MOST_RULES: Final = 62  # bits of RULES_MATCHED
LEAST_FACTOR, MOST_FACTOR = 1e-3, 1e3  # the product of 62 factors stays finite


# --- equations ------------------------------------------------------------------------------------
@kernel
def add_votes(matched: Any, exclude: int, only: int, out: Any) -> None:
    """out += number of rules against each memory: those of `exclude` that it matches and those of
    `only` that it does not.  Cost: O(n + votes).

    matched        (n,)  bits of the rules that each memory matches
    exclude, only  ()    bits of the hard rules that hold for the query
    out            (n,)  votes; added to

    >>> out = np.zeros(3, dtype=np.int16)
    >>> add_votes(np.array([0b00, 0b01, 0b11]), 0b01, 0b10, out)
    >>> out.tolist()
    [1, 2, 1]
    """
    for i in range(out.shape[0]):
        against = (matched[i] & exclude) | (~matched[i] & only)
        while against:
            against &= against - 1
            out[i] += 1


@kernel
def add_log_factors(matched: Any, bits: Any, logs: Any, out: Any) -> None:
    """out += sum of ln f over the rules that each memory matches, f = 1 for hard rules.  Cost: O(n
    r).

    matched  (n,)      bits of the rules that each memory matches
    bits     (r,)      number of the bit of each rule that holds for the query
    logs     (r,)  ln  ln f of each
    out      (n,)  ln  added to

    >>> out = np.zeros(3)
    >>> add_log_factors(np.array([0, 1, 5]), np.array([0, 2]), np.log(np.array([0.5, 4.0])), out)
    >>> np.exp(out).round(6).tolist()
    [1.0, 0.5, 2.0]
    """
    for r in range(bits.shape[0]):
        for i in range(out.shape[0]):
            if (matched[i] >> bits[r]) & 1:
                out[i] += logs[r]


# --- rules ----------------------------------------------------------------------------------------
Effect = Literal["exclude", "only", "factor"]


@dataclass(frozen=True, slots=True)
class When:
    """The queries that a rule holds for; an empty part holds for all.

    intents   one of them is the query's
    entities  folded names, one of which the query holds
    words     sets of terms, one of which the query holds whole
    """

    intents: frozenset[Intent] = frozenset()
    entities: frozenset[str] = frozenset()
    words: tuple[frozenset[str], ...] = ()

    def holds(self, cue: Cue, intent: Intent | None) -> bool:
        """Whether the rule holds for a query.  Cost: O(terms)."""
        if self.intents and intent not in self.intents:
            return False
        if self.entities and self.entities.isdisjoint(cue.features.entities):
            return False
        return not self.words or any(words <= set(cue.terms) for words in self.words)


@dataclass(frozen=True, slots=True)
class Where:
    """The memories that a rule is about; an empty part matches all.

    speakers, entities  folded names
    sessions            as written
    attributes          (key, values): one of the values
    since, until        h, both included
    """

    speakers: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, frozenset[str]], ...] = ()
    since: float = -math.inf
    until: float = math.inf

    def matches(self, incoming: Incoming) -> bool:
        """Whether an event is one of these memories.  Cost: O(entities + attributes)."""
        event = incoming.event
        if self.speakers and fold(event.speaker) not in self.speakers:
            return False
        if self.sessions and event.session not in self.sessions:
            return False
        if self.entities and self.entities.isdisjoint(incoming.features.entities):
            return False
        if any(
            not any(k == key and value in values for k, value in event.attributes)
            for key, values in self.attributes
        ):
            return False
        return self.since <= event.time <= self.until


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `factor` is 1 for hard rules."""

    name: str
    effect: Effect
    factor: float
    when: When
    where: Where


def read_rules(path: Path) -> tuple[Rule, ...]:
    """The rules of a file.  Raises RegistryError with file, line and cure for a file, a key or a
    value that means no rule.
    """
    return _RuleReader(YamlFile(path)).rules()


class _RuleReader:
    """Reads rules from a YAML file; every error names the line of the part it is about."""

    def __init__(self, file: YamlFile) -> None:
        self.file = file

    def rules(self) -> tuple[Rule, ...]:
        self._keys(self.file.data, (), ("rules",))
        given = self.file.data.get("rules")
        if not isinstance(given, list):
            raise self._error(
                "rules are no list",
                ("rules",),
                "write `rules:` with one `- name: ...` for each rule",
            )
        if len(given) > MOST_RULES:
            raise self._error(
                f"holds {len(given)} rules", ("rules", MOST_RULES), f"give at most {MOST_RULES}"
            )
        rules: list[Rule] = []
        for number, entry in enumerate(given):
            rule = self._rule(entry, ("rules", number))
            if any(rule.name == other.name for other in rules):
                raise self._error(
                    f"two rules are named {rule.name!r}",
                    ("rules", number, "name"),
                    "name each rule once",
                )
            rules.append(rule)
        return tuple(rules)

    def _rule(self, given: Any, at: tuple[object, ...]) -> Rule:
        if not isinstance(given, dict):
            raise self._error(
                "a rule is no mapping",
                at,
                "write name, then and where, and when if it holds for some queries only",
            )
        self._keys(given, at, ("name", "when", "then", "where"))
        name = given.get("name")
        if not isinstance(name, str) or not name.strip():
            raise self._error(
                "a rule has no name", (*at, "name"), "write `name: what the rule is for`"
            )
        effect, factor = self._effect(given.get("then"), (*at, "then"))
        when = self._when(given["when"], (*at, "when")) if "when" in given else When()
        return Rule(name, effect, factor, when, self._where(given.get("where"), (*at, "where")))

    def _effect(self, given: Any, at: tuple[object, ...]) -> tuple[Effect, float]:
        if given == "exclude":
            return "exclude", 1.0
        if given == "only":
            return "only", 1.0
        if not isinstance(given, dict) or "factor" not in given:
            raise self._error(
                f"then is {given!r}",
                at,
                "write `then: exclude`, `then: only` or `then: {factor: 0.5}`",
            )
        self._keys(given, at, ("factor",))
        factor = given["factor"]
        if (
            isinstance(factor, bool)
            or not isinstance(factor, int | float)
            or not LEAST_FACTOR <= factor <= MOST_FACTOR
        ):
            raise self._error(
                f"the factor is {factor!r}",
                (*at, "factor"),
                f"give a number from {LEAST_FACTOR:g} to {MOST_FACTOR:g}; to leave memories out, write `then: exclude`",
            )
        return "factor", float(factor)

    def _when(self, given: Any, at: tuple[object, ...]) -> When:
        self._parts(
            given,
            at,
            ("intent", "entity", "words"),
            "leave `when` out if the rule holds for every query",
        )
        names = {intent.name.lower(): intent for intent in Intent}
        if unknown := [name for name in self._texts(given, at, "intent") if name not in names]:
            raise self._error(
                f"no intent {unknown[0]!r}", (*at, "intent"), nearest(unknown[0], names)
            )
        words = tuple(
            frozenset(terms_of(text, stop_words=True)) for text in self._texts(given, at, "words")
        )
        if not all(words):
            raise self._error(
                "words hold no term",
                (*at, "words"),
                "give words that are not stop words such as `the`",
            )
        return When(
            frozenset(names[name] for name in self._texts(given, at, "intent")),
            self._names(given, at, "entity"),
            words,
        )

    def _where(self, given: Any, at: tuple[object, ...]) -> Where:
        self._parts(
            given,
            at,
            ("speaker", "session", "entity", "attribute", "since", "until"),
            "name the memories that the rule is about",
        )
        since, until = (
            self._time(given, at, "since", -math.inf),
            self._time(given, at, "until", math.inf),
        )
        if since > until:
            raise self._error("until is before since", (*at, "until"), "exchange them")
        attributes = given.get("attribute", {})
        if "attribute" in given:
            self._parts(attributes, (*at, "attribute"), None, "write `attribute: {key: value}`")
        return Where(
            self._names(given, at, "speaker"),
            frozenset(self._texts(given, at, "session")),
            self._names(given, at, "entity"),
            tuple(
                (key, frozenset(self._texts(attributes, (*at, "attribute"), key)))
                for key in attributes
            ),
            since,
            until,
        )

    def _parts(
        self, given: Any, at: tuple[object, ...], known: tuple[str, ...] | None, cure: str
    ) -> None:
        if not isinstance(given, dict) or not given:
            raise self._error(f"{at[-1]} is {'empty' if not given else 'no mapping'}", at, cure)
        self._keys(given, at, known)

    def _keys(
        self, given: Mapping[Any, Any], at: tuple[object, ...], known: tuple[str, ...] | None
    ) -> None:
        for key in given:
            if not isinstance(key, str) or (known is not None and key not in known):
                raise self._error(
                    f"unknown key {key!r}",
                    (*at, key),
                    nearest(key, known) if known else "put it in quotes",
                )

    def _texts(self, given: Mapping[str, Any], at: tuple[object, ...], key: str) -> tuple[str, ...]:
        """The texts under a key, one or a list; none if the key is missing."""
        if key not in given:
            return ()
        several = given[key] if isinstance(given[key], list) else [given[key]]
        if not several or not all(isinstance(text, str) and text.strip() for text in several):
            raise self._error(
                f"{key} is no text and no list of texts",
                (*at, key),
                f"write `{key}: text` or `{key}: [text, text]`; put numbers in quotes",
            )
        return tuple(several)

    def _names(self, given: Mapping[str, Any], at: tuple[object, ...], key: str) -> frozenset[str]:
        return frozenset(map(fold, self._texts(given, at, key)))

    def _time(
        self, given: Mapping[str, Any], at: tuple[object, ...], key: str, without: float
    ) -> float:
        """A time in hours; a day starts at midnight for `since`, and ends before the next
        midnight for `until`.
        """
        if key not in given:
            return without
        value = given[key]
        if isinstance(value, str):
            try:
                value = (
                    datetime.fromisoformat(value) if len(value) > 10 else date.fromisoformat(value)
                )
            except ValueError:
                value = None
        try:
            if isinstance(value, datetime):
                return hours(value)
            if isinstance(value, date):
                start = datetime(value.year, value.month, value.day)
                return (
                    hours(start)
                    if key == "since"
                    else math.nextafter(hours(start + timedelta(days=1)), -math.inf)
                )
        except OverflowError:
            pass
        raise self._error(
            f"{key} is no date",
            (*at, key),
            f"write `{key}: 2024-05-31` or `{key}: 2024-05-31 18:00:00`",
        )

    def _error(self, what: str, at: Iterable[object], cure: str) -> RegistryError:
        return RegistryError(what, where=self.file.place(*at), cure=cure)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class RuleFilterParams(Params):
    rules: str  # path of the file; "": no rules


class RuleFilter(Mechanism[RuleFilterParams]):
    """Applies the rules of a file.

    rules  in the order of the file; the number of a rule is that of its bit

    Raises RegistryError for a file that is not valid.
    """

    owns = (RULES_MATCHED,)

    def __init__(
        self, id: str, params: RuleFilterParams, units: dict[str, str] | None = None, order: int = 0
    ) -> None:
        super().__init__(id, params, units, order)
        self.rules = read_rules(Path(params.rules)) if params.rules else ()

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(RULES_MATCHED,))
    def match(self, view: Any, incoming: Incoming) -> None:
        view.rules_matched[view.row] = sum(
            1 << r for r, rule in enumerate(self.rules) if rule.where.matches(incoming)
        )

    @hook(Phase.RETRIEVE, reads=(RULES_MATCHED,), adds=(BAN, LOG_PRIOR), sets=())
    def apply(self, view: Any, cue: Cue) -> None:
        intent = intent_of(" ".join(cue.features.words))
        held = [(r, rule) for r, rule in enumerate(self.rules) if rule.when.holds(cue, intent)]
        if not held:
            return
        exclude, only = (
            sum(1 << r for r, rule in held if rule.effect == effect)
            for effect in ("exclude", "only")
        )
        add_votes(view.rules_matched, exclude, only, view.ban)
        bits = np.array([r for r, _ in held], dtype=np.int64)
        add_log_factors(
            view.rules_matched,
            bits,
            np.log(np.array([rule.factor for _, rule in held])),
            view.log_prior,
        )
