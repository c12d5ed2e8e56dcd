"""Facts: what the clauses of a text say of a subject, by rules in one table, and how a later fact
relates to an earlier one.

A fact is (subject, predicate, value) with its standing: it holds, it held in the past, it has
ended, or it is denied.  The subject of "I", "we" and "my" is the speaker; a pronoun of the third
person takes the name last mentioned in the same text.  Questions, conditions, wishes and plans
state no fact.  The rules are for English, and ours.  A clause is cut at a fixed length, so the
search is linear in the length of a text.

A predicate is single-valued if its subject has one value at a time, and a state if the value may
change.  A life event (job, move, marriage, birth, death) is a group of predicates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ...engine.contract.drafts import Kind
from ...engine.text.features import fold, terms_of
from ...engine.text.memo import remembered
from ...engine.text.words import ASKS, NO_SPACE, STOPS


class FactStanding(IntEnum):
    """Whether a fact holds when it is told."""

    HOLDS = 0
    PAST = 1  # it held at an earlier time; nothing is said of the present
    ENDED = 2  # it held, and no longer does
    DENIED = 3  # it does not hold


class FactRelation(IntEnum):
    """What a later fact does to an earlier one."""

    NONE = 0
    SUPERSEDES = 1
    CONFLICT = 2


@dataclass(frozen=True, slots=True)
class Fact:
    """What one clause says.

    subject    folded name; the speaker's for the first person, "" if the speaker has none; "the"
               for a thing without an owner
    predicate  name in the table
    value      folded words; "" if the clause gives none
    standing   whether it holds
    change     whether the clause says that something changed, or corrects something
    """

    subject: str
    predicate: str
    value: str
    standing: FactStanding = FactStanding.HOLDS
    change: bool = False


@dataclass(frozen=True, slots=True)
class Predicate:
    """One line of the table.

    name    of the predicate; `{n}` stands for the noun of the clause
    group   "state", or the life event: "job", "move", "marriage", "birth", "death"
    single  one value at a time
    state   the value may change
    says    (pattern of what follows the subject, standing, change); groups v: value, o: value that
            ends, n: noun
    many    a list in the value is several values
    timed   a time at the end belongs to the value
    """

    name: str
    group: str
    single: bool
    state: bool
    says: tuple[tuple[str, FactStanding, bool], ...]
    many: bool = False
    timed: bool = False


# --- the table ------------------------------------------------------------------------------------
HOLDS, PAST, ENDED, DENIED = FactStanding
_V: Final = r"(?P<v>[^ ]+(?: [^ ]+){0,11})"
_O: Final = r"(?P<o>[^ ]+(?: [^ ]+){0,3}?)"
_BE: Final = r"(?:am|is|are|be|have been|has been)"
_WAS: Final = r"(?:was|were)"
_HAVE: Final = r"(?:have |has |)"
_COUNT: Final = r"(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_OWNED: Final = (
    rf"(?!(?:[^ ]+ ){{1,2}}(?:time|look|chat|talk|question|idea|feeling|chance|problem|lot|bit|few)\b)"
    rf"(?P<v>(?:an?|{_COUNT}|some|several|many|no) [^ ]+(?: [^ ]+){{0,5}})"
)
_END: Final = r"(?: |$)"
_THING: Final = (
    r"(?:the|my|our|his|her|their) (?!(?:trust|faith|hopes?|mind|eyes?|effort|energy|time|money|name|life|work|heart|soul|finger|"
    r"foot|thoughts|focus) )(?P<n>[^ ]+(?: [^ ]+){0,2}?)"
)
# Where a thing is; "in mind" is no place.
_PLACE: Final = (
    r"(?!(?:mind|touch|shape|hand|check|order|line|contact|bay|place|charge|control|loop|hold|ice|track|time|top|view|sight|motion)\b)"
    r"(?!(?:the|a) (?:loop|dark|back burner)\b)" + _V
)
# a floor and a town are both where one lives
_NO_FLOOR: Final = r"(?!(?:the |an? )?(?:[^ ]+ )?(?:floor|storey)\b)"
_ONE_KIN: Final = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fiancee?|mother|mom|mum|father|dad|boss|manager|landlord|landlady|roommate|"
    r"flatmate|doctor|dentist"
    r"|therapist|coach|mentor|supervisor)"
)
_KIN: Final = (
    r"(?:sister|brother|son|daughter|cousin|aunt|uncle|niece|nephew|grandmother|grandfather|grandma|grandpa|friend|best friend|"
    r"colleague|neighbou?r"
    r"|teacher|child|baby|dog|cat|puppy|kitten|horse)"
)
_CONSTANT: Final = (
    r"(?:birthday|date of birth|birthplace|place of birth|native language|mother tongue|blood type|maiden name|middle name|"
    r"first name|last name|full name"
    r"|name|anniversary|nationality|hometown|home town)"
)
_OF: Final = r"(?:(?:monthly|weekly|annual|total|final|next|main|mobile|phone|home|work|wedding|project|daily|target|launch|email|street) ){0,2}"
# Nouns whose value is a number, a time or a name, and nouns whose value may be any word.
_MEASURED: Final = (
    rf"{_OF}(?:rent|budget|deadline|price|cost|salary|income|number|phone|pin|height|weight|score|record|goal|limit|target|version"
    r"|date|time|schedule|car|bike|rank|rate|fee|quota|meeting|appointment|interview|wedding|party|flight|trip|exam|launch|release|review|dose|bedtime"
    r"|count|total|balance|loan|mortgage|subscription|average|temperature|speed|distance|length|grade|class|office|company|school|team)"
)
_QUALITY: Final = (
    rf"{_OF}(?:address|email|password|code|colou?r|size|location|venue|capital|job title|position|role|diet|major|hobby|medication"
    r"|status|title|topic|theme|language|database|framework|provider|supplier|contractor|agent)"
)
_ATTRIBUTE: Final = rf"(?:{_MEASURED}|{_QUALITY})"
_EXACT: Final = r"(?=.*(?:\d|(?-i:\b[A-Z])|\b(?:noon|midnight|tomorrow|today|tonight)\b))"
_MARITAL: Final = r"(?P<v>single|divorced|widowed|a widow|a widower)"
_PARTICIPLE: Final = (
    r"(?P<v>(?:tried|read|seen|met|used|played|eaten|watched|flown|driven|written|worked with|ridden|climbed|cooked|ordered|"
    r"heard of|heard|studied|"
    r"implemented|deployed|built|attended|completed|finished|owned)(?: [^ ]+){1,8})"
)

TABLE: Final[tuple[Predicate, ...]] = (
    Predicate("lives_in", "move", True, True, (
        (rf"{_HAVE}(?:moved|relocated)(?: back| away)? from {_O} to {_V}", HOLDS, True),
        (rf"{_HAVE}(?:moved|relocated|settled)(?: back| down| out)?(?: to| into| in) (?!with\b){_V}", HOLDS, True),
        (rf"{_HAVE}(?:moved (?:out of|away from)|left) (?=(?-i:[A-Z])){_V}", ENDED, True),
        (rf"(?:live|lives|reside|resides|{_BE} living|{_BE} residing|{_BE} based|(?:have|has) lived|{_BE} settled) (?:in|at|on|"
         rf"near) {_NO_FLOOR}{_V}", HOLDS, False),
        (rf"(?:lived|resided|{_WAS} living|{_WAS} based) (?:in|at|on|near) {_V}", PAST, False))),
    Predicate("works_at", "job", True, True, (
        (rf"{_HAVE}transferred from {_O} to {_V}", HOLDS, True),
        (rf"{_HAVE}(?:joined|been hired (?:by|at)|(?:started|begun|began|start)(?: working| a (?:new )?job)? (?:at|for|with)) {_V}", HOLDS, True),
        (rf"{_HAVE}(?:got|gotten|landed|found|took|taken|accepted|started)(?: an?| the| my)?(?: new| dream){{0,2}} (?:job|position|offer|role|post) "
         rf"(?:at|with|for|from) {_V}", HOLDS, True),
        (rf"(?:{_WAS}|got) hired (?:by|at) {_V}", HOLDS, True),
        (rf"(?:work|works|{_BE} working|{_BE} employed|(?:have|has) worked) (?:at|for|by) {_V}",
         HOLDS, False),
        (rf"(?:worked|{_WAS} working|{_WAS} employed) (?:at|for|by) {_V}", PAST, False),
        (rf"{_HAVE}(?:quit|left|lost|resigned from)(?: my| his| her| the| their)? (?:job|position|post)(?: (?:at|with) {_V})?$", ENDED, True),
        (rf"(?:{_WAS}|got|{_HAVE}been) (?:fired|laid off|sacked|dismissed)(?: (?:by|from|at) {_V})?$", ENDED, True),
        (rf"{_HAVE}(?:quit|resigned from|stopped working (?:at|for)) {_V}", ENDED, True),
        (rf"{_HAVE}(?:retired|resigned)(?: from {_V})?$", ENDED, True))),
    Predicate("works_as", "job", True, True, (
        (rf"{_HAVE}(?:became|become|been promoted to|been made|started as|begun as|began as) {_V}",
         HOLDS, True),
        (rf"(?:got|{_WAS}) (?:promoted to|made|appointed(?: as)?) {_V}", HOLDS, True),
        (rf"(?:work|works|{_BE} working|serve|serves|{_BE} employed|(?:have|has) worked) as {_V}",
         HOLDS, False),
        (rf"(?:worked|served|{_WAS} working) as {_V}", PAST, False),
        (rf"{_HAVE}(?:stepped down as|resigned as|stopped working as|stopped being) {_V}", ENDED,
         True))),
    Predicate("studies", "state", True, True, (
        (rf"{_HAVE}(?:switched|changed)(?: my| his| her| their)? (?:major|degree|course)(?: from {_O})? to {_V}", HOLDS, True),
        (rf"{_HAVE}(?:started|begun|began) (?:studying|a degree in|a course in) {_V}", HOLDS, True),
        (rf"(?:study|studies|{_BE} studying|major in|majors in|{_BE} majoring in) {_V}", HOLDS,
         False),
        (rf"(?:studied|majored in|{_WAS} studying) {_V}", PAST, False),
        (rf"{_HAVE}(?:dropped out of|stopped studying|gave up studying|graduated (?:from|in)) {_V}",
         ENDED, True))),
    Predicate("spouse", "marriage", True, True, (
        (rf"{_HAVE}(?:got married to|married|wed|tied the knot with) {_V}", HOLDS, True),
        (rf"{_HAVE}(?:got married|tied the knot)$", HOLDS, True),
        (rf"{_BE} married to {_V}", HOLDS, False), (rf"{_BE} (?:happily )?married$", HOLDS, False),
        (rf"{_WAS} married to {_V}", PAST, False),
        (rf"{_HAVE}(?:got divorced|got a divorce|separated)(?: from {_V})?$", ENDED, True),
        (rf"{_HAVE}divorced {_V}", ENDED, True),
        (rf"{_BE} divorced(?: from {_V})?$", ENDED, True))),
    Predicate("partner", "marriage", True, True, (
        (rf"{_HAVE}(?:got engaged to|started dating|started seeing) {_V}", HOLDS, True),
        (rf"{_BE} (?:engaged to|dating|seeing|in a relationship with|together with) {_V}", HOLDS,
         False),
        (rf"{_WAS} (?:engaged to|dating|seeing|in a relationship with|together with) {_V}", PAST,
         False),
        (rf"dated {_V}", PAST, False),
        (rf"{_HAVE}(?:broke|broken|split) up(?: with {_V})?$", ENDED, True))),
    Predicate("marital_status", "marriage", True, True, ((rf"{_BE} {_MARITAL}$", HOLDS, False),
    (rf"{_WAS} {_MARITAL}$", PAST, False))),
    Predicate("child", "birth", False, False,
              ((rf"{_HAVE}(?:gave birth to|given birth to|welcomed) {_V}", HOLDS, True),)),
    Predicate("born", "birth", True, False, ((rf"{_WAS} born(?: on| in| at)? {_V}", HOLDS, False),),
              timed=True),
    Predicate("died", "death", True, False,
              ((rf"{_HAVE}(?:died|passed away)(?: (?:on|in) {_V}| (?:of|at|from|after|last|this|yesterday|"
                                              rf"peacefully)\b.*)?$", HOLDS, True),
                                             (rf"{_BE} (?:dead|alive)$", HOLDS, False)),
                                             timed=True),
    Predicate("age", "state", True, True, ((rf"{_BE} (?P<v>{_COUNT})(?: years old| years of age)?$",
                                            HOLDS, False),
                                           (rf"{_HAVE}turned (?P<v>{_COUNT})$", HOLDS, True))),
    Predicate("name", "state", True, False, ((rf"{_BE} (?:called|named) {_V}", HOLDS, False),
                                             (rf"{_HAVE}changed (?:my|his|"
        rf"her) name to {_V}", HOLDS, True))),
    Predicate("from", "state", True, False, ((rf"(?:{_BE}|come|comes)(?: originally)? from {_V}",
                                              HOLDS, False),)),
    Predicate("likes", "state", False, True, (
        (rf"(?:like|likes|love|loves|enjoy|enjoys|adore|adores|prefer|prefers|{_BE} fond of|{_BE} into|{_BE} keen on|{_BE} an? (?:big |"
         rf"huge )?fan of) {_V}",
         HOLDS, False),
        (rf"(?:dislike|dislikes|hate|hates|detest|detests|loathe|loathes|can not stand|{_BE} (?:sick|tired) of) {_V}", DENIED, False),
        (rf"(?:liked|loved|enjoyed|adored|preferred|{_WAS} fond of|{_WAS} into) {_V}", PAST, False),
        (rf"{_HAVE}(?:fell in love with|started liking|come to like|come to love|grown to like|grew to like|started to like|"
         rf"started to love) {_V}", HOLDS, True),
        (rf"{_HAVE}(?:stopped liking|gone off|went off|stopped enjoying|given up|gave up) {_V}",
         ENDED, True)), many=True),
    Predicate("fears", "state", False, True, (
        (rf"(?:fear|fears|{_BE} (?:very |so )?(?:afraid|scared|terrified|frightened) of|{_BE} (?:worried|anxious|nervous) about|dread|"
         rf"dreads) {_V}", HOLDS, False),
        (rf"{_WAS} (?:afraid|scared|terrified|frightened) of {_V}", PAST, False),
        (rf"{_HAVE}(?:got over|gotten over|overcame|overcome)(?: my| his| her)? fear of {_V}",
         ENDED, True)), many=True),
    Predicate("allergic_to", "state", False, True, ((rf"{_BE} allergic to {_V}", HOLDS, False),),
              many=True),
    Predicate("is", "state", False, True, (
        (rf"{_BE} (?P<v>(?:an?|the) [^ ]+(?: [^ ]+){{0,4}}|vegan|vegetarian|pregnant|retired|unemployed|diabetic|left-handed|right-handed|"
         rf"colou?r-?blind)$", HOLDS, False),
        (rf"{_WAS} (?P<v>an? [^ ]+(?: [^ ]+){{0,4}}|vegan|vegetarian|unemployed)$", PAST, False),
        (rf"{_HAVE}(?:turned|gone|went) (?P<v>vegan|vegetarian)$", HOLDS, True))),
    Predicate("has", "state", False, True, (
        (rf"(?:have|has|own|owns|have got|has got) {_OWNED}", HOLDS, False),
        (rf"(?:had|owned) {_OWNED}", PAST, False),
        (rf"{_HAVE}(?:got|bought|adopted|acquired) {_OWNED}", HOLDS, True),
        (rf"{_HAVE}(?:sold|gave away|given away|got rid of)(?: my| his| her| our| their| the) {_V}",
         ENDED, True))),
    Predicate("drives", "state", True, True, (("(?:drive|drives) (?P<v>an? [^ ]+(?: [^ ]+){0,3})",
                                               HOLDS, False),
                                             ("drove (?P<v>an? [^ ]+(?: [^ ]+){0,3})", PAST,
                                              False))),
    Predicate("place of {n}", "state", True, True, (
        (rf"{_HAVE}moved {_THING} from {_O} (?:to|into|onto) {_V}", HOLDS, True),
        (rf"{_HAVE}(?:moved|put) {_THING} (?:to|into|onto|in|on|under|behind|inside|above|below|beside) {_PLACE}", HOLDS, True),
        (rf"(?:keep|keeps|store|stores|{_BE} keeping|{_BE} storing) {_THING} (?:in|on|under|behind|at|inside|above|below|beside|near) {_PLACE}",
         HOLDS, False),
        (rf"(?:kept|stored) {_THING} (?:in|on|under|behind|at|inside|above|below|beside|near) {_PLACE}", PAST, False))),
    Predicate("uses", "state", False, True, (
        (rf"{_HAVE}(?:switched|migrated|changed) from {_O} to {_V}", HOLDS, True),
        (rf"{_HAVE}(?:switched|migrated) to {_V}", HOLDS, True),
        (rf"(?:use|uses|{_BE} using) (?P<v>[^ ]+(?: [^ ]+){{0,5}}?) (?:instead of|rather than|"
         rf"in place of) (?P<o>[^ ]+(?: [^ ]+){{0,3}})$", HOLDS, True),
        (rf"(?:use|uses|{_BE} using) {_V}", HOLDS, False), (rf"(?:used|{_WAS} using) {_V}", PAST,
        False),
        (rf"{_HAVE}(?:stopped using|uninstalled|cancelled|canceled) {_V}", ENDED, True))),
    Predicate("eats", "state", False, True, ((rf"(?:eat|eats|drink|drinks) {_V}", HOLDS, False),
                                             (rf"(?:ate|drank) {_V}", PAST, False),
                                            (rf"{_HAVE}(?:stopped|quit|given up|gave up) (?:eating|drinking) {_V}", ENDED, True)), many=True),
    Predicate("speaks", "state", False, True, ((rf"(?:speak|speaks|{_BE} fluent in) {_V}", HOLDS,
                                                False),), many=True),
    Predicate("plays", "state", False, True, ((rf"(?:play|plays) {_V}", HOLDS, False),
                                              (rf"played (?=the |in the ){_V}", PAST, False),
                                             (rf"{_HAVE}(?:started|taken up|took up) playing {_V}",
                                              HOLDS, True),
                                             (rf"{_HAVE}(?:quit|stopped|gave up|given up) playing {_V}", ENDED, True)), many=True),
    Predicate("been_to", "state", False, False,
              ((rf"(?:have|has) (?:been to|visited|travell?ed to|gone to) {_V}", HOLDS, False),
                                                (rf"(?:visited|travell?ed to|flew to|went to) (?=(?-i:[A-Z])){_V}", HOLDS, False))),
    Predicate("done", "state", False, False, ((rf"(?:have|has) {_PARTICIPLE}", HOLDS, False),
                                             (r"(?P<v>(?:tried|met|watched|wrote|climbed|cooked|attended|completed|implemented|deployed|built|"
                                              r"rode)(?: [^ ]+){1,8})",
                                              HOLDS, False))),
)  # fmt: skip
# Clauses whose subject is a noun with or without an owner: "my rent is", "the deadline was moved
# to", "Ada's sister is called".
OWNED: Final[tuple[Predicate, ...]] = (
    Predicate(
        "favourite {n}",
        "state",
        True,
        True,
        (
            (rf"favou?rite (?P<n>[^ ]+(?: [^ ]+){{0,2}}?) (?:is|are) {_V}", HOLDS, False),
            (rf"favou?rite (?P<n>[^ ]+(?: [^ ]+){{0,2}}?) (?:was|were) {_V}", PAST, False),
        ),
    ),
    Predicate(
        "{n}",
        "state",
        True,
        False,
        (
            (rf"(?P<n>{_CONSTANT}) is(?: on| in)? (?!not\b){_V}", HOLDS, False),
            (rf"(?P<n>{_CONSTANT}) (?:was|has been|got) changed to {_V}", HOLDS, True),
        ),
        timed=True,
    ),
    Predicate(
        "{n}",
        "state",
        True,
        True,
        (
            (
                rf"(?:new |current )?(?P<n>{_ONE_KIN})(?:(?: is|'s name is| is called| is named|"
                rf",)) (?P<v>(?-i:[A-Z])[^ ]*(?: (?-i:[A-Z])[^ ]*){{0,2}})$",
                HOLDS,
                False,
            ),
        ),
    ),
    Predicate(
        "{n}",
        "state",
        False,
        True,
        (
            (
                rf"(?:new |older |younger |little |big |twin )?(?P<n>{_KIN})(?:(?: is|'s name is| is called|"
                rf" is named|,)) (?P<v>(?-i:[A-Z])[^ ]*(?: (?-i:[A-Z])[^ ]*){{0,2}})$",
                HOLDS,
                False,
            ),
        ),
    ),
    Predicate(
        "{n}",
        "state",
        True,
        True,
        (
            (
                rf"(?:new |current )?(?P<n>{_ATTRIBUTE}) (?:(?:has |have |)(?:changed|risen|rose|dropped|fell|fallen|increased|decreased|grown|grew|moved"
                r"|gone up|went up|gone down|went down)|(?:was|were|has been|have been|got) (?:changed|moved|pushed(?: back)?|postponed|raised"
                r"|lowered|reduced"
                rf"|increased|extended|shifted|updated|set|brought forward|rescheduled))(?: from {_O})? to {_V}",
                HOLDS,
                True,
            ),
            (
                rf"(?:new |current )?(?P<n>{_MEASURED}) (?:is|are|will be)(?: set (?:to|for)| at| on| in| scheduled for)? "
                rf"(?!not\b){_EXACT}{_V}",
                HOLDS,
                False,
            ),
            (
                rf"(?:new |current )?(?P<n>{_QUALITY}) (?:is|are|will be)(?: set to| at| in)? (?!not\b){_V}",
                HOLDS,
                False,
            ),
            (rf"(?P<n>{_MEASURED}) (?:was|were)(?: at| on| in)? {_EXACT}{_V}", PAST, False),
            (rf"(?P<n>{_QUALITY}) (?:was|were)(?: at| in)? {_V}", PAST, False),
        ),
        timed=True,
    ),
)
ROUTINE: Final = Predicate("routine", "state", False, True, ())
PREDICATES: Final = {p.name: p for p in (*TABLE, ROUTINE)}

# --- clauses --------------------------------------------------------------------------------------
_CONTRACTED: Final = tuple((re.compile(rf"\b{short}\b", re.IGNORECASE), long) for short, long in (
    ("I'm", "I am"), ("can't", "can not"), ("cannot", "can not"), ("won't", "will not"),
    (r"(\w{2,8})n't", r"\1 not"), ("let's", "let us"),
    (r"(I|you|we|they)'ve", r"\1 have"), (r"(we|you|they)'re", r"\1 are"),
    (r"(I|you|he|she|it|we|they)'d", r"\1 would"),
    (r"(I|you|he|she|it|we|they)'ll", r"\1 will"),
    (r"(he|she|it|that|there|who)'s (been|got|lived|moved|worked|married|joined|changed|"
                                                    r"had)", r"\1 has \2"),
    (r"(he|she|it|that|there|who)'s", r"\1 is")))  # fmt: skip
_SENTENCE: Final = re.compile(
    rf"(?<=[.!?…{STOPS}])(?<!\bMr\.)(?<!\bDr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMrs\.)[\"')\]]*\s+|{NO_SPACE}|\n+"
)
_CLAUSE: Final = re.compile(
    r"\s*[;:—]\s+|\s+-\s+|,?\s+(?:and|but|so|yet|because|although|though|while|whereas|then)\s+(?=(?:now |then |currently |also )?"
    r"(?:I|we|he|she|they|it|my|our|his|her|the|there|nobody|no one|nothing|everybody|everyone|somebody|someone|[A-Z][a-z]{1,20})(?:'s)?\s)"
    r"|,\s+(?=(?:I|we|he|she|they|my|our|now|but|and)\s)"
)
_OPENING: Final = re.compile(
    r"^(?:[\"'(*-]|(?:well|so|sorry|wait|oops|oh|ok|okay|yes|yeah|no|hey|hi|and|but|also|plus|then|by the way|btw|you know|honestly|to be honest|"
    r"in fact|fun fact|update|"
    r"I think(?: that)?|I guess|I believe(?: that)?|I must say|guess what|as you know|as I said|for the record|it turns out(?: that)?|turns out|"
    r"last (?:week|month|year|night|summer|winter|spring|fall)|yesterday|today|this (?:week|month|year|morning)|in (?:19|20)\d\d|"
    r"in [A-Z][a-z]{2,8}(?: (?:19|20)\d\d)?|"
    r"since (?-i:[A-Z0-9])\w+|(?:\w+ ){1,3}(?:days?|weeks?|months?|years?) ago|"
    r"after (?:\w+ ){1,5}?(?:years|months|weeks|days))\b)[,!:]* *",
    re.IGNORECASE,
)
_UNREAL: Final = re.compile(
    r"\b(?:if|would|could|should|might|(?-i:may) (?!\d)|maybe|perhaps|wish|hope|hopes|hoping|want|wants|wanted|plan|plans|planning|going to|gonna|"
    r"will (?!be\b)|shall|suppose|imagine|"
    r"what|who|whom|where|when did|how|why|whether|unless|please|let us|thinking (?:of|about)|considering|dream|pretend|as if|like to|love to|"
    r"used to be said)\b",
    re.IGNORECASE,
)
# Words that say how a fact stands; they are taken out of the clause.
_ENDED: Final = re.compile(
    r"\b(?:no longer|used to|not ((?:\w+ ){1,12}?)any ?more|formerly)\b", re.IGNORECASE
)
_ANYMORE: Final = re.compile(r"\bany ?more\b", re.IGNORECASE)
_CHANGE: Final = re.compile(
    r"\b(?:now|currently|nowadays|these days|at the moment|at present|lately|recently|finally|just|actually|instead(?! of)|as of (?:now|today|"
    r"[A-Z]\w+)|from now on|"
    r"correction|I meant|scratch that|since then)\b,? ?",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(?:(do|does|did) not|(have|has) (?:never|not(?: yet| ever)?)|(am|is|are|was|were) (?:not|never)|never|"
    r"(can) not(?! stand\b))\b ?",
    re.IGNORECASE,
)
# Phrases that introduce a correction.  Those of the first line may be followed by what is corrected
# at once, the others by a comma, a stop or "that".
CORRECTIONS: Final = (
    r"actually|or rather|I meant(?: to say)?|what I meant(?: to say)? (?:is|was)|scratch that|strike that|no,? wait|wait,? no",
    r"(?:(?:an?|one|another) )?(?:(?:small|quick|slight|little|minor) )?correction|come to think of it|now that I think (?:about|of) it"
    r"|on second thoughts?|contrary to what I (?:said|told you|wrote)|(?:forget|ignore|never mind) what I (?:said|told you|wrote)",
    r"my (?:mistake|bad|error)|I (?:was|am) (?:wrong|mistaken)|I misspoke|I stand corrected|I (?:got|had) (?:it|that|this) wrong|I made a mistake"
    r"|(?:that|this|it|what I (?:said|told you|wrote)) (?:is|was) (?:not (?:right|true|correct|quite right)|wrong|incorrect|a mistake|my mistake)",
    r"(?:(?:I|we) (?:have|need|want|would like) to|let me|allow me to|to) (?:correct|fix) "
    r"(?:myself|that|this|it|something|what I (?:said|told you|wrote))"
    r"|to set the record straight",
)
_FILLER: Final = (
    r"(?:well|so|sorry|wait|oops|oh|ah|hm+|u[hm]+|er|ok|okay|yes|yeah|no|nope|hey|look|listen|you know what|you know|I mean|and|but"
    r"|hang on|hold on)"
)
_CORRECTED: Final = re.compile(
    rf"^[\"'(*-]*(?:{_FILLER}\b[ ,.!:;…—-]+){{0,4}}(?:(?:{CORRECTIONS[0]})\b(?:[,.!:;…—-]+| that\b)*|(?:{'|'.join(CORRECTIONS[1:])})"
    r"(?: (?:earlier|before|there|last time|about that|yesterday))?(?:[,.!:;…—-]+| -| that\b|$)) *",
    re.IGNORECASE,
)
_CONTRAST: Final = re.compile(
    r", (?:and )?not (?:(?:on|in|at|from|for|to|by|with) )?(?:the |an? )?(?:\d|(?-i:[A-Z]))[^,;:]{0,60}$",
    re.IGNORECASE,
)
_OPENED: Final = re.compile(
    r"(?:actually|correction|scratch that|sorry|update|wait|well|no|oh|oops|so|yes|now|currently|finally)",
    re.IGNORECASE,
)
_ADVERB: Final = re.compile(
    r"\b(?:really|also|still|absolutely|certainly|definitely|truly|personally|already|simply|quite|officially|even|ever|both|mostly|mainly|"
    r"originally|"
    r"basically|probably|obviously|clearly|yet|sadly|happily|luckily|eventually|only|too|as well|very much|so much|a lot|the most|anyway|again|"
    r"right)\b,? ?",
    re.IGNORECASE,
)
_HABIT: Final = re.compile(
    r"\b(?:usually|always|normally|typically|regularly|every (?:other )?(?:day|morning|evening|afternoon|night|week|weekend|month|year|(?:mon|"
    r"tues|wednes|thurs|fri|satur|sun)day)"
    r"|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|each (?:day|morning|evening|night|week))\b,? ?",
    re.IGNORECASE,
)
_NAME: Final = r"(?:(?:Dr|Mr|Mrs|Ms)\.? )?(?-i:[A-Z])[\w'-]{0,30}(?: (?-i:[A-Z])[\w-]{1,30}){0,2}"
_SUBJECT: Final = re.compile(
    rf"^(?:(?P<first>I|we)|(?P<he>he|she|they)|(?P<kin>my|our) (?P<noun>(?:older |younger |little |big |best |"
    rf"twin ){{0,2}}(?:{_ONE_KIN}|{_KIN})s?)"
    rf"(?:,? (?P<called>{_NAME}),?)?|(?P<name>{_NAME})) ",
    re.IGNORECASE,
)
_AND_VERB: Final = re.compile(
    r",? (?:and|but) (?=(?:(?:now|also|really|still|do not|does not|can not|no longer|used to) ){0,2}(?:(?:love|like|hate|enjoy|prefer|dislike|live"
    r"|work|own|speak|play|drive|use|eat|drink)s?|have|has|study|studies|am|is|are|was|moved|joined|quit|bought|sold|married|started|left|got|became)"
    r" [^ ])",
    re.IGNORECASE,
)
_OWNER: Final = re.compile(
    rf"^(?:(?:my|our) (?P<noun>{_ONE_KIN}|{_KIN})'s|"
    rf"(?P<my>my|our)|(?P<his>his|her|their)|(?P<the>the|this)|(?P<name>{_NAME})'s?) ",
    re.IGNORECASE,
)
_KIN_OF: Final = re.compile(
    rf"^(?P<v>{_NAME}) (?:is|was) (?P<my>my|our|his|her|their|(?P<of>{_NAME})'s) (?P<n>{_ONE_KIN}|{_KIN})$",
    re.IGNORECASE,
)
_NAMED: Final = re.compile(rf"(?:(?:my|our) (?:{_ONE_KIN}|{_KIN})|{_NAME})(?: |$)", re.IGNORECASE)
_NO_NAME: Final = frozenset(
    re.findall(
        "[a-z]+",
        (
            "the a an i we he she they it you this that these those there here my our his her their your what when where who how "
            "why and but or so if not no yes then now also just because actually maybe everyone everything someone nobody nothing "
            "something one both some all most many "
        ),
    )
)
_TIME_AT_END: Final = re.compile(
    rf"(?:,? (?:(?:for|over|in|within) (?:the (?:last|past) )?(?:about |almost |over |nearly )?(?:(?:a few|a couple of|several|many|some|an?|"
    rf"{_COUNT}) )?"
    r"(?:days?|weeks?|months?|years?|decades?)|since (?:\w+ ?){1,4}"
    r"|in (?:19|20)\d\d|in (?:January|February|March|April|May|June|July|August|September|October|November|December)(?: (?:19|20)\d\d)?"
    r"|(?:last|this|next|every|each) \w+|(?:early|late) (?:last|this) \w+|yesterday|today|tonight|tomorrow|(?:\w+ ){1,2}(?:days?|weeks?|months?|"
    r"years?) ago"
    r"|on (?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|in the (?:spring|summer|autumn|fall|winter|morning|evening|end)|for ages"
    r"|until (?:\w+ ?){1,3}|now|instead|again|right now|at all|either|though|together|so far|"
    r"back then|at the time|full[- ]time"
    r"|part[- ]time|before))+$",
    re.IGNORECASE,
)
_CUT: Final = re.compile(
    r",? (?:since|because|but|when|while|which|who|where|although|though|so that|after|before|with (?:my|his|her|our|"
    r"their|(?-i:[A-Z][a-z]))|"
    r"and (?:I|he|she|we|they|it|my|the|am|is"
    r"|are|was|have|has))\b.*$|, .*$",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(
    r"^(?:(?:an?|the|my|our|his|her|their|some|any|this|that|to|be) )+", re.IGNORECASE
)
_PRONOUNS: Final = frozenset(("it", "you", "him", "her", "them", "me", "us", "this", "that",
                              "these", "those", "one", "here", "there", "so", "how",
                              "all"))  # fmt: skip
_LIST: Final = re.compile(r",? (?:and|or|nor) |, ")
_CLOCK_VALUE: Final = re.compile(
    r"\b(?:\d{1,2}(?::\d\d)? ?[ap]m|\d{1,2}:\d\d|noon|midnight|o'clock)\b"
)
_DAY_VALUE: Final = re.compile(
    r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|tonight|january|february|march|april|may|june|july|august|september|october|november"
    r"|december|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.? \d|\d{4}-\d\d?-\d\d?|(?:19|20)\d\d|next (?:day|week|month|year))\b"
)
_NUMBER_VALUE: Final = re.compile(rf"\d|^{_COUNT}\b")
_MOST: Final = 300  # characters of a clause
_MOST_CLAUSES: Final = 200  # of a text


def facts_of(text: str, speaker: str = "") -> list[Fact]:
    """Facts of a text in order, each once.  O(length).

    >>> [(f.subject, f.predicate, f.value, f.standing.name) for f in facts_of("I no longer live in Rome. I moved to Oslo last May.", "Mia")]
    [('mia', 'lives_in', 'rome', 'ENDED'), ('mia', 'lives_in', 'oslo', 'HOLDS')]
    """
    return list(_facts_of(text, speaker))


@remembered
def _facts_of(text: str, speaker: str) -> tuple[Fact, ...]:
    teller, known, facts = fold(speaker), "", list[Fact]()
    for clause in clauses(text):
        subject, told = _facts(clause, teller, known)
        known = subject or known
        facts += told
    return tuple(dict.fromkeys(facts))


def corrects(text: str) -> bool:
    """Whether a sentence of a text, no question, is introduced as a correction, or says that one
    thing holds and not another.  O(length).

    >>> [corrects(t) for t in ("Well, actually, I live in Oslo.", "The rent is 950, not 900.", "That's wrong. It rains.", "I live in Oslo.")]
    [True, True, True, False]
    """
    return any(
        _CORRECTED.match(sentence) or _CONTRAST.search(sentence.rstrip("\"')]* .!…"))
        for sentence in sentences_told(text)
    )


def teller(number: int, text: str, rendered: str) -> str:
    """Name of a speaker from the text that is indexed, `[date] speaker: text`; "speaker n" for the
    number of one whose name is not shown there.

    >>> teller(2, "We moved.", "[6:00 am on 2 January, 1970] Ada: We moved."), teller(2, "We moved.", "We moved.")
    ('Ada', 'speaker 2')
    """
    head = rendered[rendered.find("] ") + 2 :] if rendered.startswith("[") else rendered
    name, colon, _ = head.partition(f": {text}")
    return name if colon and name else f"speaker {number}"


def messages(texts: Any, speaker: Any, kind: Any, first: int = 0) -> Iterator[tuple[int, str, str]]:
    """Row, name of the speaker and text of each event from a row on, but for erased ones.

    texts          TEXTS
    speaker, kind  (n,)  numbers and kinds of the rows
    """
    for row in (first + np.flatnonzero(kind[first:] == Kind.EVENT)).tolist():
        if text := texts[row]:
            yield row, teller(int(speaker[row]), text, texts.rendered(row)), text


def clauses(text: str) -> Iterator[str]:
    """Clauses that state something, contractions written out; questions are left out, long ones are
    cut.  O(length).

    The phrases that introduce a correction are left out, too; the clause after them starts with
    "correction, ".
    """
    number, corrected = 0, ""
    for sentence in sentences_told(text):
        # "No, that is wrong. Actually, my ..."
        for _ in range(3):
            if correction := _CORRECTED.match(sentence):
                sentence, corrected = sentence[correction.end() :], "correction, "
        # "Tom" of "Tom and Ada live here"; "Actually" of "Actually, my ..."
        alone = before = ""
        for clause in _CLAUSE.split(sentence):
            clause = " ".join(clause[:_MOST].split()).rstrip(".!…,;: ")
            if _OPENED.fullmatch(clause):
                before = f"{before}{clause}, "
                continue
            clause, before = before + clause if clause else clause, ""
            named = _NAMED.match(clause)
            if alone and named:
                yield f"{corrected}{alone} {clause[named.end() :]}"
            alone = clause if named and named.end() == len(clause) else ""
            if clause and not alone:
                first, *others = _shared_subject(clause)
                yield corrected + first
                yield from others
                corrected = ""
                number += 1
                if number == _MOST_CLAUSES:
                    return


def sentences_told(text: str) -> Iterator[str]:
    """Sentences of a text that are no questions, contractions written out.  O(length)."""
    # one space at a time, or the patterns are slow
    lines = "\n".join(" ".join(line.split()) for line in text.replace("’", "'").splitlines())
    for sentence in _SENTENCE.split(lines):
        if sentence.rstrip("\"')]* ").endswith(ASKS):
            continue
        if "'" in sentence or "annot" in sentence:
            for pattern, long in _CONTRACTED:
                sentence = pattern.sub(long, sentence)
        yield sentence


def _shared_subject(clause: str) -> Iterator[str]:
    """The parts of "I love tea and hate coffee", each with its subject."""
    first, *others = _AND_VERB.split(clause)
    yield first
    subject = _SUBJECT.match(first)
    for other in others if subject else ():
        yield f"{subject.group()}{other}"  # type: ignore[union-attr]


def _facts(clause: str, speaker: str, known: str) -> tuple[str, list[Fact]]:
    """The name that the clause is about ("" if none) and its facts."""
    change = False
    for _ in range(4):
        if opening := _OPENING.match(clause):
            clause = clause[opening.end() :]
        if marked := _CHANGE.match(clause):
            clause, change = clause[marked.end() :].lstrip(",: "), True
    if contrast := _CONTRAST.search(clause):
        clause, change = clause[: contrast.start()], True
    if not clause or _UNREAL.search(clause):
        return "", []
    if kin := _KIN_OF.match(clause):
        name = fold(kin["v"])
        owner = speaker if fold(kin["my"]) in ("my", "our") else fold(kin["of"] or "") or known
        return name, [Fact(owner, fold(kin["n"]), name, HOLDS, change)] if name.split()[
            0
        ] not in _NO_NAME else []
    rest, standing, changed = _stripped(clause)
    change |= changed
    if owned := _OWNER.match(rest):
        name = fold(owned["name"] or "")
        if owned["his"] and not known:
            return "", []
        if name not in _NO_NAME:
            subject = (
                speaker
                if owned["my"]
                else known
                if owned["his"]
                else "the"
                if owned["the"]
                else name
            )
            if owned["noun"]:
                subject = f"{speaker} {fold(owned['noun'])}".strip()
            if told := _matched(OWNED, rest[owned.end() :], subject, standing, change):
                return name, told
    if habit := _HABIT.match(rest):
        rest = rest[habit.end() :]
    subject_found = _SUBJECT.match(rest)
    if subject_found is None:
        return "", []
    name = fold(subject_found["name"] or subject_found["called"] or "")
    if name and name.split()[0] in _NO_NAME:
        return "", []
    told = []
    if subject_found["kin"]:
        noun = fold(subject_found["noun"])
        if name:
            told = [Fact(speaker, noun.split()[-1], name, HOLDS, False)]
        subject = name or f"{speaker} {noun}".strip()
    else:
        subject = speaker if subject_found["first"] else known if subject_found["he"] else name
        if subject_found["he"] and not known:
            return "", []
    habit = habit or _HABIT.search(clause)
    body = rest[subject_found.end() :]
    if habit and standing is not PAST:
        value = fold(" ".join(_HABIT.sub("", body).split()).strip(" ,"))
        return name, [
            *told,
            Fact(
                subject,
                "routine",
                f"{value} {fold(habit.group().strip(' ,'))}".strip(),
                standing,
                change,
            ),
        ] if value else told
    return name or (subject if subject_found["kin"] else ""), [
        *told,
        *_matched(TABLE, body, subject, standing, change),
    ]


def _stripped(clause: str) -> tuple[str, FactStanding, bool]:
    """The clause without the words that say how its facts stand; that standing; whether
    something changed.
    """
    standing, change = HOLDS, False
    if ending := _ENDED.search(clause):
        standing, change = ENDED, True
        clause = (
            _ANYMORE.sub("", clause)
            if ending.group(1)
            else clause[: ending.start()] + clause[ending.end() :]
        )
    without = _CHANGE.sub("", clause)
    change |= without != clause
    clause = " ".join(_ADVERB.sub("", without).split())
    if denial := _DENIED.search(clause):
        kept = next((word for word in denial.groups()[1:] if word), "")
        clause = " ".join(f"{clause[: denial.start()]}{kept} {clause[denial.end() :]}".split())
        standing = ENDED if standing is ENDED else DENIED
    return " ".join(clause.split()), standing, change


def _matched(
    table: tuple[Predicate, ...], rest: str, subject: str, standing: FactStanding, change: bool
) -> list[Fact]:
    """Facts of the first line of the table that matches what follows the subject."""
    bare = _TIME_AT_END.sub("", rest)
    for number, predicate in enumerate(table):
        for pattern, stands, changes in _compiled(table is TABLE, number):
            match = pattern.match(rest if predicate.timed else bare)
            if match is None:
                continue
            groups = match.groupdict()
            name = predicate.name.replace("{n}", fold(groups.get("n") or ""))
            raw = groups.get("v") or ""
            values = [
                _value(part, predicate.timed)
                for part in (_LIST.split(_CUT.sub("", raw)) if predicate.many else (raw,))
            ]
            if raw and not any(values):
                continue
            held = stands if standing is HOLDS else _turned(stands, standing)
            told = [
                Fact(subject, name, value, held, change or changes)
                for value in values
                if value or not raw
            ]
            if old := _value(groups.get("o") or "", predicate.timed):
                told.insert(0, Fact(subject, name, old, ENDED, True))
            return told
    return []


def _turned(stands: FactStanding, said: FactStanding) -> FactStanding:
    """Standing of a fact whose clause is denied or ended: "don't hate" holds, "never liked" is
    denied; of others, such as "no longer hate" or "have not sold", nothing is said of the present.
    """
    if stands is HOLDS:
        return said
    return (
        HOLDS
        if (stands, said) == (DENIED, DENIED)
        else DENIED
        if (stands, said) == (PAST, DENIED)
        else PAST
    )


@lru_cache(maxsize=256)
def _compiled(main: bool, number: int) -> tuple[tuple[re.Pattern[str], FactStanding, bool], ...]:
    """The patterns of one line of TABLE (`main`) or of OWNED."""
    return tuple(
        (re.compile(pattern, re.IGNORECASE), stands, changes)
        for pattern, stands, changes in (TABLE if main else OWNED)[number].says
    )


def _value(raw: str, timed: bool) -> str:
    """The value in normal form: without what follows it, times at its end unless it is `timed`,
    and articles.
    """
    value = _CUT.sub("", " ".join(raw.split()))
    if not timed:
        value = _TIME_AT_END.sub("", f" {value}").strip()
    value = fold(_ARTICLE.sub("", value.strip(" .,;:!'\"()*"))).strip(" .,;:!'\"()*")
    return "" if value in _PRONOUNS else value


# --- relations ------------------------------------------------------------------------------------
def agree(one: str, other: str) -> bool:
    """Whether two values say the same: one has all terms of the other, or one is empty.  O(length).

    >>> agree("oslo", "oslo, norway"), agree("oslo", "rome"), agree("", "rome")
    (True, False, True)
    """
    a, b = set(terms_of(one)), set(terms_of(other))
    return a <= b or b <= a


class ValueKind(IntEnum):
    """What kind of value; values of two kinds, such as a day and a room, do not contradict each
    other.
    """

    WORDS = 0
    NUMBER = 1
    DAY = 2
    CLOCK = 3


def kind_of(value: str) -> ValueKind:
    """The kind of a value in normal form.  O(length).

    >>> [kind_of(v).name for v in ("9 am", "friday", "3 may 1990", "900 euros", "room at the top")]
    ['CLOCK', 'DAY', 'DAY', 'NUMBER', 'WORDS']
    """
    if _CLOCK_VALUE.search(value):
        return ValueKind.CLOCK
    if _DAY_VALUE.search(value):
        return ValueKind.DAY
    return ValueKind.NUMBER if _NUMBER_VALUE.search(value) else ValueKind.WORDS


def predicate_of(fact: Fact) -> tuple[bool, bool]:
    """Whether the predicate of a fact is single-valued, and whether it is a state.  O(1)."""
    known = PREDICATES.get(fact.predicate)
    if known is not None:
        return known.single, known.state
    if re.fullmatch(_CONSTANT, fact.predicate):
        return True, False
    return not re.fullmatch(_KIN, fact.predicate), True


def relation(earlier: Fact, later: Fact) -> FactRelation:
    """What a later fact does to an earlier one of the same subject and predicate: nothing, it
    supersedes it, or both are in conflict.  O(length).

    A fact of the past says nothing of the present.  A fact that contradicts an earlier one
    supersedes it if the predicate is a state, or if the later clause says that something changed;
    else they are in conflict.
    """
    if (earlier.subject, earlier.predicate) != (later.subject, later.predicate) or PAST in (
        earlier.standing,
        later.standing,
    ):
        return FactRelation.NONE
    single, state = predicate_of(later)
    holding = (earlier.standing is HOLDS) + (later.standing is HOLDS)
    if holding == 0 or (
        holding == 2 and not (single and kind_of(earlier.value) is kind_of(later.value))
    ):
        return FactRelation.NONE
    if agree(earlier.value, later.value) == (holding == 2):
        return FactRelation.NONE
    return FactRelation.SUPERSEDES if state or later.change else FactRelation.CONFLICT
