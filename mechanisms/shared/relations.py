"""Typed relations between entities: what a text tells of two named things, by rules in one table,
and which of all that was told holds.

A relation is (source, kind, target) with its standing: it holds, or it has ended.  The names of a
sentence are replaced by marks, and a rule is a pattern between two marks, such as `lives in`; so
nothing but the words of the rule, a few adverbs and an article may stand between two names.  "I"
and "we" are the speaker; "he" and "she" at the start of a sentence are the name with which the last
sentence began that began with one.  Questions, wishes, conditions and denials tell nothing.  The rules are for
English, and ours; their precision on 200 sentences is in the evidence of `typed_relations`.

A kind is single-valued if its source has one target at a time: a later telling then ends the
earlier one.  Every pattern is bounded and starts at a mark, so the search is linear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...engine.base.forks import ForkLock
from ...engine.contract.columns import Phase, Structure
from ...engine.text.english import word_set
from ...engine.text.features import features, fold
from ...engine.text.memo import remembered
from .facts import messages, sentences_told


@dataclass(frozen=True, slots=True)
class EntityRelation:
    """What a sentence tells of two entities, by their normal forms.

    holds  False: it held, and has ended
    """

    source: str
    kind: str
    target: str
    holds: bool = True


@dataclass(frozen=True, slots=True)
class RelationKind:
    """A kind of relation.

    of, to  types of source and target, "" where any will do
    single  whether a source has one target at a time
    both    whether it holds in both directions
    """

    of: str = ""
    to: str = ""
    single: bool = False
    both: bool = False


KINSHIP: Final = word_set(
    "wife husband partner girlfriend boyfriend mother mom mum father dad parent son daughter child brother sister twin "
    "cousin aunt uncle niece nephew grandmother grandfather friend colleague neighbour neighbor roommate flatmate boss "
    "manager mentor coach teacher doctor dentist therapist landlord landlady"
)
KINDS: Final[Mapping[str, RelationKind]] = MappingProxyType({
    "lives in": RelationKind("person", "place", single=True),
    "works at": RelationKind("person", "organisation", single=True),
    "works on": RelationKind("person", "project"),
    "married to": RelationKind("person", "person", single=True, both=True),
    "partner of": RelationKind("person", "person", single=True, both=True),
    "owns": RelationKind("", ""),
    "founded": RelationKind("person", "organisation"),
    "leads": RelationKind("person", ""),
    "maintains": RelationKind("person", "project"),
    "wrote": RelationKind("person", ""),
    "fixed": RelationKind("person", ""),
    "broke": RelationKind("", ""),
    "depends on": RelationKind("project", "project"),
    "runs on": RelationKind("project", "thing"),
    "written in": RelationKind("project", "thing", single=True),
    "uses": RelationKind("", "thing"),
    "replaces": RelationKind("thing", "thing"),
    "part of": RelationKind("", ""),
    "located in": RelationKind("", "place", single=True),
    "knows": RelationKind("person", "person", both=True),
    "teaches": RelationKind("person", "person"),
    "prefers": RelationKind("person", ""),
    "speaks": RelationKind("person", "thing"),
    "from": RelationKind("person", "place", single=True),
    "studies at": RelationKind("person", "organisation", single=True),
    "been to": RelationKind("person", "place"),
    "leads to": RelationKind("", ""),
    **{
        noun: RelationKind("person", "person", both=noun in ("friend", "colleague", "twin", "cousin"))
        for noun in sorted(KINSHIP)
    },
})  # fmt: skip

ANY_KIND: Final = RelationKind()


def kind_named(name: str) -> RelationKind:
    """The kind of a name; one of which nothing is known, as a language model may name it, has any
    number of targets and one direction.  O(1).

    >>> kind_named("lives in").single, kind_named("is fond of").single
    (True, False)
    """
    return KINDS.get(name, ANY_KIND)


# --- rules ----------------------------------------------------------------------------------------
_MARK: Final = r"@\d+"
_S: Final = rf"(?<!\bof )(?<!\bwith )(?<!\bthan )(?<!\bto )(?<!\bfrom )(?<!\bnear )(?P<s>{_MARK}(?:(?:, | and |, and ){_MARK}){{0,4}})"
_THE: Final = (
    r"(?:(?:the|an?|our|my|his|her|their) )?(?:(?:new|company|project|service|module|library|database|firm|city|town|file|"
    r"function|team|band|composer)(?: of)? )?"
)
# a further name belongs to a list if no verb follows it
_NO_VERB: Final = r"(?=$|,| (?:and|in|at|on|for|with|to|since|because|after|before|from)\b)"
_O: Final = rf"{_THE}(?P<o>{_MARK}(?:(?:, | and |, and ){_MARK}{_NO_VERB}){{0,4}})(?!'s|\w|-)"
_ADV: Final = (
    r"(?:(?:now|currently|still|also|really|just|recently|finally|actually|always|already|happily|has|have|had|once|both|"
    r"later|then|even) ){0,3}"
)
_WHO: Final = r"(?:,? (?:who|which|that))?"
_BE: Final = r"(?:am|is|are|(?:has|have) been)"
_WAS: Final = r"(?:was|were|got|is|are|has been|have been|been)"
_KIN: Final = rf"(?:(?:older|younger|little|big|best|twin|good|old|new|close) ){{0,2}}(?P<kin>{'|'.join(sorted(KINSHIP))})"
_LEADER: Final = (
    r"(?:head|director|ceo|cto|leader|captain|chair|chairman|chairwoman|president|owner|boss)"
)


def _verb(stem: str) -> str:
    """The present forms of a verb: "work", "works", "is working"."""
    return f"(?:{stem}|{stem}s|{_BE} {stem.removesuffix('e')}ing)"


# kind, whether the later name is the source, whether it holds, words between the two names
_RULES: Final[tuple[tuple[str, bool, bool, str], ...]] = (
    ("lives in", False, True, rf"(?:{_verb('live')}|{_verb('reside')}|{_BE} based|{_BE} settled|settled(?: down)?|has lived|have lived) (?:in|near)"),
    ("lives in", False, True, r"(?:moved|relocated|emigrated)(?: back| away| over)? to"),
    ("lives in", False, False, r"(?:used to live|no longer lives?|lived|was living|stopped living) in"),
    ("lives in", False, False, r"(?:moved (?:away from|out of|from)|left)(?= @\d+(?:\.|,|$| to| for| because| in| last| and))"),
    ("works on", False, True, rf"{_verb('work')} on"),
    ("works at", False, True, rf"(?:{_verb('work')}|{_BE} employed) (?:at|for|by)"),
    ("works at", False, True, r"(?:joined|was hired by|got hired by|was employed by|started (?:working )?(?:at|for)|started a job at)"),
    ("works at", False, True, r"(?:got|landed|found|took|accepted|has|have)(?: an?| the)?(?: new)? (?:job|position|post|role|offer) (?:at|with|from)"),
    ("works at", True, True, r"(?:hired|employs|recruited)"),
    ("works at", True, False, r"(?:fired|dismissed|laid off|sacked)"),
    ("works at", False, False, r"(?:used to work|no longer works?|worked|was working|stopped working) (?:at|for)"),
    ("works at", False, False, r"(?:quit|resigned from|was fired (?:by|from)|retired from|was laid off by)"),
    ("married to", False, True, rf"(?:{_BE} (?:happily )?married to|married|got married to|wed|tied the knot with)"),
    ("married to", False, False, r"(?:divorced|was married to|got divorced from|separated from|used to be married to|is divorced from)"),
    ("partner of", False, True, rf"(?:got engaged to|{_BE} (?:engaged to|dating|seeing|together with|in a relationship with)|started dating)"),
    ("partner of", False, False, r"(?:broke up with|split up with|used to date|was dating|dated|was engaged to)"),
    ("owns", False, True, rf"(?:{_verb('own')}|bought|acquired|purchased|took over|inherited)"),
    ("owns", False, False, r"(?:sold|used to own|no longer owns?|owned)"),
    ("owns", True, True, rf"(?:{_WAS} (?:owned|bought|acquired|inherited) by)"),
    ("founded", False, True, r"(?:founded|cofounded|co-founded|established|started)(?= (?:the )?@\d+(?:\.|,|$| in| with))"),
    ("founded", True, True, rf"{_WAS} (?:founded|co-founded|established|started) by"),
    ("leads", False, True, rf"(?:{_verb('lead')}|{_verb('manage')}|{_verb('head')}|{_verb('supervise')}|runs|{_BE} running|{_BE} in charge of|"
                           rf"{_BE} (?:the |an? )?{_LEADER} of|became (?:the )?{_LEADER} of)"),
    ("leads", False, False, r"(?:used to (?:lead|manage|run|head)|no longer (?:leads?|manages?|runs?)|managed|stepped down as head of)"),
    ("leads", True, True, rf"(?:{_verb('report')} to|{_WAS} (?:led|managed|headed|run|supervised) by)"),
    ("maintains", False, True, rf"(?:{_verb('maintain')}|looks after|{_BE} (?:the |an? )?maintainer of)"),
    ("maintains", False, False, r"(?:used to maintain|no longer maintains?|maintained)"),
    ("maintains", True, True, rf"{_WAS} maintained by"),
    ("wrote", False, True, rf"(?:wrote|created|built|developed|designed|implemented|invented|composed|authored|{_BE} the (?:author|creator|inventor|"
                           r"designer|composer) of|programmed)"),
    ("wrote", True, True, rf"{_WAS} (?:written|created|built|developed|designed|implemented|invented|composed|authored) by"),
    ("fixed", False, True, r"(?:fixed|repaired|patched|debugged)(?: (?:the|an?) (?:bug|crash|error|leak|problem|issue) in)?"),
    ("fixed", True, True, rf"{_WAS} (?:fixed|repaired|patched|solved|resolved|debugged) by"),
    ("broke", False, True, r"broke"),
    ("broke", True, True, rf"{_WAS} broken by"),
    ("depends on", False, True, rf"(?:{_verb('depend')} on|{_verb('rely')} on|relies on|{_verb('require')}|{_verb('import')}|{_verb('need')}|"
                                rf"{_BE} (?:built|based) on(?: top of)?|{_verb('call')}|{_verb('extend')})"),
    ("depends on", False, False, r"(?:no longer (?:depends? on|relies on|requires?|imports?|needs?|calls?)|used to (?:depend on|rely on|require|import))"),
    ("runs on", False, True, rf"(?:{_verb('run')}|runs|{_WAS} (?:deployed|hosted|running)) (?:on|in)"),
    ("uses", False, True, rf"(?:{_verb('use')}|started using|(?:switched|migrated) to)"),
    ("uses", False, False, r"(?:stopped using|no longer uses?|used to use|uninstalled|(?:switched|migrated) (?:away )?from)"),
    ("written in", False, True, rf"{_BE} (?:written|implemented|coded|programmed) in"),
    ("replaces", False, True, r"(?:replaced|replaces|has replaced|supersedes|superseded)"),
    ("replaces", True, True, rf"{_WAS} (?:replaced|superseded) by"),
    ("part of", False, True, rf"{_BE} (?:a |an |the )?(?:part|component|member|subsidiary|division|branch|module|section|district) of"),
    ("located in", False, True, rf"{_BE} (?:located|situated|headquartered) (?:in|at|near)"),
    ("located in", False, True, r"is in(?= @\d+(?:\.|$))"),
    ("knows", False, True, rf"(?:{_verb('know')}|met|{_BE} friends with|befriended)"),
    ("teaches", False, True, rf"(?:{_verb('teach')}|teaches|taught|{_verb('mentor')}|{_verb('coach')}|mentored|coached|coaches)"),
    ("teaches", True, True, rf"{_WAS} (?:taught|mentored|coached) by"),
    ("prefers", False, True, rf"(?:{_verb('like')}|{_verb('love')}|{_verb('enjoy')}|{_verb('adore')}|{_verb('prefer')}|{_BE} (?:fond of|into|keen on|"
                             r"(?:a |an )?(?:big |huge )?fan of))"),
    ("prefers", False, False, rf"(?:{_verb('hate')}|{_verb('dislike')}|{_verb('detest')}|no longer likes?|used to (?:like|love)|cannot stand|can not stand)"),
    ("speaks", False, True, rf"(?:{_verb('speak')}|{_BE} fluent in|learned|learnt|{_BE} learning)"),
    ("from", False, True, rf"(?:(?:{_BE} (?:originally )?|comes? (?:originally )?)from|was born in|grew up in|were born in)"),
    ("studies at", False, True, rf"(?:{_verb('study')}|studies|{_BE} a student|enrolled|{_BE} enrolled) at"),
    ("studies at", False, False, r"(?:studied at|graduated from|used to study at|dropped out of)"),
    ("been to", False, True, r"(?:been to|visited|flew to|went to|travelled to|traveled to|drove to)"),
    ("friend", False, True, rf"{_BE} (?:an? )?(?:good |best |old |close )?friend of"),
)  # fmt: skip
_COMPILED: Final = tuple(
    (kind, turned, holds, re.compile(rf"{_S}{_WHO} {_ADV}{words} {_O}"))
    for kind, turned, holds, words in _RULES
)
# "belongs to" is a part or an owner, by what the target is
_BELONGS: Final = re.compile(rf"{_S}{_WHO} {_ADV}belongs? to {_O}")
_FROM_TO: Final = re.compile(
    rf"{_S} {_ADV}(?P<verb>moved|relocated|switched|migrated|changed) from {_THE}(?P<old>{_MARK}) to {_O}"
)
_KIN_RULES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # whose, and who: "Bo's sister is Greta", "my cousin Marek"
        rf"(?P<of>{_MARK})'s {_KIN}(?:,| is| is called| is named|'s name is|) (?P<who>{_MARK})(?!'s|\w)",
        rf"(?P<who>{_MARK})(?:,| is| was) (?P<of>{_MARK})'s {_KIN}\b",
        rf"(?P<who>{_MARK})(?:,| is| was) (?:the|an?) {_KIN} of (?P<of>{_MARK})(?!'s|\w)",
    )
)
_TOGETHER: Final = re.compile(
    rf"(?P<a>{_MARK}) and (?P<b>{_MARK}) (?:are|got|became) {_ADV}(?:good |best |old |close )?(?P<how>friends|married|engaged|colleagues|cousins|"
    r"twins|neighbours|neighbors|roommates|flatmates|dating)\b"
)
_HOW: Final = MappingProxyType(
    {"married": "married to", "engaged": "partner of", "dating": "partner of"}
)
# Sentences that state nothing.
_UNREAL: Final = re.compile(
    r"\b(?:if|would|could|should|might|"
    # the month after a preposition is no modal verb
    r"(?<!\bin )(?<!\bsince )(?<!\blast )(?<!\bof )(?<!\bby )(?<!\bearly )(?<!\blate )(?<!\buntil )(?<!\bduring )may(?! \d)|"
    r"maybe|perhaps|probably|wish(?:es)?|hopes?|hoping|wants?|wanted|plans?|planning|going to|gonna|will|shall"
    r"|suppose|imagine|please|let us|whether|unless|considering|dreams?|pretends?|denied|denies|doubts?|asked|asks|wonders?|not sure|rumou?rs?|joke|"
    r"almost|nearly|refused|failed to|tried to|instead of)\b"
)
_ASIDE: Final = re.compile(rf"({_MARK}), (?:who|which) ([^,]{{1,80}}), ")
_CAUSE: Final = (
    # effect, cause
    (re.compile(r"^(?P<effect>.+?),? (?:because(?: of)?|since|due to|as a result of|thanks to) (?P<cause>.+)$")),
    (re.compile(r"^(?P<cause>.+?),? (?:so|therefore|hence|as a result|which is why)(?! that\b),? (?P<effect>@\d+ .+)$")),
    (re.compile(r"^(?P<effect>@\d+ .+?),? after (?P<cause>@\d+ [a-z]+.*)$")),
    (re.compile(r"^(?:after|because|since) (?P<cause>@\d+ [^,]+), (?P<effect>@\d+ .+)$")),
)  # fmt: skip
_FIRST_MARK: Final = re.compile(rf"^(?:the |an? )?({_MARK})(?!'s)")
_LEAST_MARKS: Final = 2
_MOST_SENTENCES: Final = 200  # of a text
_MOST: Final = 400  # characters of a sentence
_MOST_NAMES: Final = 60  # of a text
_EXTENSION: Final = re.compile(r"(?:^|[\w)])\.(?!com$|org$|net$)[a-z]\w{0,7}$|[/\\]")
_CODE: Final = re.compile(r"\(\)$|_|::")
_COMPANY: Final = re.compile(
    r"\b(?:ltd|inc|gmbh|llc|corp|ag|labs?|university|college|school|institute|museum|bank|hospital|company|group|studio|studios|foundation|council|"
    r"ministry|optics|systems|club|library|church|restaurant|agency)$"
)
_PROJECT: Final = re.compile(r"^(?:project|operation) |\bproject$")
_PLACE: Final = re.compile(
    r"\b(?:street|road|square|park|city|island|islands|lake|river|mountains?|county|valley|bay|beach|airport|station|bridge)$"
)
_DATE: Final = re.compile(r"^\d{4}(?:-\d\d?){0,2}$")


@remembered
def relations_of(text: str, speaker: str = "") -> tuple[EntityRelation, ...]:
    """Relations that a text tells, in order, each once.  O(length).

    >>> for r in relations_of("Bo moved from Rome to Oslo. He is married to Cleo.", "Ada"):
    ...     print(r.source, r.kind, r.target, r.holds)
    bo lives in rome False
    bo lives in oslo True
    bo married to cleo True
    """
    told, known = list[EntityRelation](), ""
    names = features(text).entities[:_MOST_NAMES]
    for _, sentence in zip(range(_MOST_SENTENCES), sentences_told(text), strict=False):
        marked, marks = _marked(sentence[:_MOST], names, fold(speaker), known)
        first = _FIRST_MARK.match(marked)
        known = marks[first.group(1)] if first else known
        if len(set(marks.values())) >= _LEAST_MARKS and not _UNREAL.search(marked):
            told += _in_sentence(marked, marks)
    return tuple(dict.fromkeys(r for r in told if r.source and r.target and r.source != r.target))


def _marked(
    sentence: str, names: Sequence[str], speaker: str, known: str
) -> tuple[str, dict[str, str]]:
    """The sentence in normal form with a mark in place of each name, and the name of each mark."""
    plain = " ".join(fold(sentence).replace("`", "").replace('"', "").split()).rstrip(".!…,;: ")
    marks: dict[str, str] = {}

    def mark(name: str) -> str:
        written = f"@{len(marks)}"
        marks[written] = name
        return written

    if names:
        pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
        plain = re.sub(rf"(?<![\w@])(?:{pattern})(?!\w)", lambda m: mark(m.group()), plain)
    if speaker:
        plain = re.sub(r"(?<!\w)(?:i|we)(?!\w)", lambda _: mark(speaker), plain)
        plain = re.sub(r"(?<!\w)(?:my|our)(?!\w)", lambda _: f"{mark(speaker)}'s", plain)
    if known:
        plain = re.sub(r"^(?:he|she)(?!\w)", lambda _: mark(known), plain)
        plain = re.sub(r"^(?:his|her)(?!\w)", lambda _: f"{mark(known)}'s", plain)
    return plain, marks


def _in_sentence(marked: str, marks: Mapping[str, str]) -> Iterator[EntityRelation]:
    """Relations of one sentence with marks."""
    for part in _parts(marked):
        yield from _kin(part, marks)
        for moved in _FROM_TO.finditer(part):
            kind = "lives in" if moved["verb"] in ("moved", "relocated") else "uses"
            for source in _each(moved["s"], marks):
                yield EntityRelation(source, kind, marks[moved["old"]], False)
                yield from (EntityRelation(source, kind, o) for o in _each(moved["o"], marks))
        for owned in _BELONGS.finditer(part):
            for part_name in _each(owned["s"], marks):
                for whole in _each(owned["o"], marks):
                    if type_by_name(part_name) in ("file", "code"):
                        yield EntityRelation(part_name, "part of", whole)
                    else:
                        yield EntityRelation(whole, "owns", part_name)
        for kind, turned, holds, pattern in _COMPILED:
            for match in pattern.finditer(part):
                for source in _each(match["s"], marks):
                    for target in _each(match["o"], marks):
                        yield _typed(
                            EntityRelation(target, kind, source, holds)
                            if turned
                            else EntityRelation(source, kind, target, holds)
                        )
    yield from _causes(marked, marks)


def _typed(relation: EntityRelation) -> EntityRelation:
    """One joins a project to work on it."""
    if relation.kind == "works at" and type_by_name(relation.target) == "project":
        return EntityRelation(relation.source, "works on", relation.target, relation.holds)
    return relation


def _parts(marked: str) -> Iterator[str]:
    """The sentence without asides, each aside with its name, and what is told after "and" of the
    same subject.
    """
    for aside in _ASIDE.finditer(marked):
        yield f"{aside[1]} {aside[2]}"
    rest = _ASIDE.sub(r"\1 ", marked)
    yield rest
    subject = re.match(rf"(?:@\d+'s (?:\w+ ){{1,2}})?({_MARK}) ", rest)
    for further in re.finditer(rf",? (?:and|but) (?={_ADV}[a-z]+ )(?!@)", rest):
        if subject:
            yield f"{subject[1]} {rest[further.end() :]}"


def _kin(part: str, marks: Mapping[str, str]) -> Iterator[EntityRelation]:
    for pattern in _KIN_RULES:
        for match in pattern.finditer(part):
            yield EntityRelation(marks[match["of"]], match["kin"], marks[match["who"]])
    for match in _TOGETHER.finditer(part):
        kind = _HOW.get(match["how"], match["how"].rstrip("s"))
        yield EntityRelation(marks[match["a"]], kind, marks[match["b"]])


def _causes(marked: str, marks: Mapping[str, str]) -> Iterator[EntityRelation]:
    """The first name of the cause leads to the first name of the effect."""
    for pattern in _CAUSE:
        if match := pattern.match(marked):
            ends = [_FIRST_MARK.match(match[side]) for side in ("cause", "effect")]
            if ends[0] and ends[1]:
                yield EntityRelation(marks[ends[0][1]], "leads to", marks[ends[1][1]])
            return


def _each(written: str, marks: Mapping[str, str]) -> list[str]:
    return [marks[mark] for mark in re.findall(_MARK, written)]


Telling = tuple[float, int, EntityRelation]  # when its memory happened, row, what it tells


# --- types of entities ----------------------------------------------------------------------------
def type_by_name(name: str) -> str:
    """The type that a name alone tells: file, code, date, project, organisation or place; "" if
    none.

    >>> [type_by_name(n) for n in ("src/auth.py", "load_config()", "project heron", "kestrel labs", "ada")]
    ['file', 'code', 'project', 'organisation', '']
    """
    if _CODE.search(name):
        return "code"
    if _EXTENSION.search(name):
        return "file"
    for type, pattern in (
        ("date", _DATE),
        ("project", _PROJECT),
        ("organisation", _COMPANY),
        ("place", _PLACE),
    ):
        if pattern.search(name):
            return type
    return ""


def types_asked(tellings: Iterable[Telling]) -> dict[str, list[tuple[int, str]]]:
    """The types that relations ask of each entity, each with the row of the memory that tells the
    relation, in the order of the tellings; entities of which nothing is asked are left out.
    O(tellings).

    >>> types_asked([(5.0, 7, EntityRelation("bo", "lives in", "oslo"))])
    {'bo': [(7, 'person')], 'oslo': [(7, 'place')]}
    """
    asked: dict[str, list[tuple[int, str]]] = {}
    for _, row, relation in tellings:
        kind = kind_named(relation.kind)
        for name, type in ((relation.source, kind.of), (relation.target, kind.to)):
            if type:
                asked.setdefault(name, []).append((row, type))
    return asked


# --- what holds -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class HeldRelation:
    """A relation that nothing told later has ended.

    told    (time, row) of each memory that tells it, since it began, in order of time; h
    weight  number of these memories
    since   h, when the first of them happened
    """

    source: str
    kind: str
    target: str
    told: tuple[tuple[float, int], ...]

    @property
    def rows(self) -> tuple[int, ...]:
        return tuple(row for _, row in self.told)

    @property
    def weight(self) -> int:
        return len(self.told)

    @property
    def since(self) -> float:
        return self.told[0][0]


def held(tellings: Iterable[Telling]) -> list[HeldRelation]:
    """What holds after all tellings, which are taken in order of time, of rows at one time.  A new
    target of a single-valued kind ends the one before; "no longer" ends the relation that it names.
    O(n log n).

    >>> told = [(5.0, 1, EntityRelation("bo", "lives in", "oslo")), (2.0, 0, EntityRelation("bo", "lives in", "rome"))]
    >>> [(h.target, h.since, h.weight) for h in held(told)]
    [('oslo', 5.0, 1)]
    """
    holding: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    targets: dict[tuple[str, str], dict[str, None]] = {}

    def end(source: str, kind: str, target: str) -> None:
        holding.pop((source, kind, target), None)
        targets.get((source, kind), {}).pop(target, None)

    for time, row, relation in sorted(tellings, key=lambda telling: telling[:2]):
        source, kind, target = relation.source, relation.kind, relation.target
        both = kind_named(kind).both
        ends = [(source, target), (target, source)] if both else [(source, target)]
        for first, second in ends:
            known = targets.setdefault((first, kind), {})
            if not relation.holds:
                end(first, kind, second)
            elif kind_named(kind).single:
                for before in [name for name in known if name != second]:
                    end(first, kind, before)
                    if both:
                        end(before, kind, first)
        for first, second in ends if relation.holds else ():
            targets[first, kind][second] = None
            holding.setdefault((first, kind, second), []).append((time, row))
    return [HeldRelation(*key, tuple(told)) for key, told in holding.items()]


def told_by(shown: Any, relations: Iterable[HeldRelation]) -> list[HeldRelation]:
    """The relations that a shown memory tells, each as the shown memories alone tell it.

    shown  (n,) bool
    """
    among = (
        replace(r, told=tuple(telling for telling in r.told if shown[telling[1]]))
        for r in relations
    )
    return [r for r in among if r.told]


class RelationTable:
    """The relations that the texts of a memory tell, and those that hold; derived from the texts
    alone, so nothing of it is saved.  Threads may share it.
    """

    def __init__(self) -> None:
        self._lock = ForkLock("the relations of this memory", self.forget)
        self.forget()

    def forget(self) -> None:
        """Drop all that was read.  The engine calls it when memories are erased."""
        self._read, self._read_writings, self._told = 0, 0, list[Telling]()
        self._of: dict[str, list[HeldRelation]] = {}
        self._asked: dict[str, list[tuple[int, str]]] = {}
        self._held: list[HeldRelation] = []

    def read(
        self,
        texts: Any,
        speaker: Any,
        created: Any,
        kind: Any,
        writings: Any = (),
        telling: Callable[[Any], Telling | None] = lambda writing: None,
        *,
        rules: bool = True,
    ) -> None:
        """Read the texts and writings that it has not read yet.  O(their length), and O(r log r)
        for r tellings in all if one of them tells a relation.

        texts                   TEXTS
        speaker, created, kind  (n,)  numbers, h, kinds of the rows
        writings                those of the memory
        telling                 what a writing tells, None if it tells no relation
        rules                   whether texts are read by rules
        """
        with self._lock.lock:
            unread = range(self._read_writings, len(writings))
            new = [told for n in unread if (told := telling(writings[n])) is not None]
            self._read_writings = len(writings)
            for row, name, text in messages(texts, speaker, kind, self._read) if rules else ():
                read = relations_of(text, "" if name.startswith("speaker ") else name)
                new += [(float(created[row]), row, relation) for relation in read]
            if new:
                self._told = [*self._told, *new]
                self._held = held(self._told)
                self._asked = types_asked(self._told)
                of: dict[str, list[HeldRelation]] = {}
                for relation in self._held:
                    for name in (relation.source, relation.target):
                        of.setdefault(name, []).append(relation)
                self._of = of
            self._read = len(kind)

    def shown(self, shown: Any) -> list[HeldRelation]:
        """The relations that a shown memory tells, in order of their first telling, as `told_by`.

        shown  (n,) bool
        """
        return told_by(shown, self._held)

    def of(self, name: str, shown: Any) -> list[HeldRelation]:
        """The relations of an entity in both directions, as `shown`."""
        return told_by(shown, self._of.get(name, ()))

    def pairs(self, entity_id: Callable[[str], int | None], shown: Any) -> NDArray[np.int64]:
        """(k, 2) pairs of entities that a relation joins, the earlier entity first, each once.

        entity_id  number of an entity by its name
        shown      (n,) bool  memories whose relations count
        """
        pairs = dict[tuple[int, int], None]()
        for relation in self.shown(shown):
            first, second = entity_id(relation.source), entity_id(relation.target)
            if first is not None and second is not None:
                pairs[min(first, second), max(first, second)] = None
        return np.array([*pairs], np.int64).reshape(-1, 2)

    def type_of(self, name: str, shown: Any) -> str:
        """The type of an entity: that of its name, else the one that most relations in shown
        memories ask of it, the first of equal ones; person, place, organisation, project, file,
        code, date or thing; "" if nothing tells it.

        shown  (n,) bool
        """
        asked = Counter(type for row, type in self._asked.get(name, ()) if shown[row])
        return type_by_name(name) or max(asked, key=asked.__getitem__, default="")


RELATIONS: Final = Structure(
    "relations",
    "typed relations that texts tell, and the types of entities",
    ("of", "pairs", "type_of", "shown"),
    persists=False,
    phases=(Phase.CONSOLIDATE, Phase.RETRIEVE),
    create=RelationTable,
    partial=lambda _, __: RelationTable(),
)
