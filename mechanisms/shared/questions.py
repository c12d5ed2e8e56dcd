"""Questions: the intent of a question, whether it asks for a detail or for a synthesis, what it asks
beside a time, by rules over its words, and which sentences of a text ask.

Shared by the mechanisms that act on what is asked.  The rules are for English; they are matched
against the words of the query in lower case with single spaces.  Every repeat in a pattern is
bounded and starts at a space, so the search is linear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Final

from ...engine.text.english import STOP_WORDS, word_set
from ...engine.text.memo import remembered
from ...engine.text.words import ASKS, NO_SPACE, STOPS

# --- sentences ------------------------------------------------------------------------------------
SENTENCE_END: Final = re.compile(rf"(?<=[.!?…{STOPS}])\s+|{NO_SPACE}|\n+")
CLOSING: Final = "\"'”’)]*! "
# The simple past locates what it asks at a time; the present and the perfect do not.
_ASKS_PAST: Final = re.compile(
    r"\b(?:(?:did|was|were|had)(?:n['’]t)?|(?:who|what|which [^ ]+) [a-z]+(?<!e)ed)\b",
    re.IGNORECASE,
)


def asks(sentence: str) -> bool:
    """Whether a sentence ends with a question mark.  O(length).

    >>> asks("Where to?"), asks('"Who knows?")'), asks("See a?b for that.")
    (True, True, False)
    """
    return sentence.rstrip().rstrip(CLOSING).endswith(ASKS)


@remembered
def asking_part(text: str) -> str:
    """The text with spaces in place of the sentences that tell, if others ask of no past.  O(length).

    What the asker tells beside a question is news: its times say when that happened, not when what
    is asked for was.  Only a question in the past tense is about the time that was just told.  A
    text without a question mark is a request as a whole.

    >>> asking_part("It broke last night. What helps?").strip()
    'What helps?'
    >>> asking_part("I was in Oslo in May. What did I eat?"), asking_part("dinner in May")
    ('I was in Oslo in May. What did I eat?', 'dinner in May')
    """
    pieces, start = list[tuple[int, int]](), 0
    for gap in SENTENCE_END.finditer(text):
        pieces.append((start, gap.end()))
        start = gap.end()
    pieces.append((start, len(text)))
    asking = [(first, end) for first, end in pieces if asks(text[first:end])]
    if not asking or any(_ASKS_PAST.search(text[first:end]) for first, end in asking):
        return text
    kept = list(" " * len(text))
    for first, end in asking:
        kept[first:end] = text[first:end]
    return "".join(kept)


class Intent(IntEnum):
    """The kind of question."""

    TEMPORAL = 0  # when, how long, in which order
    CAUSAL = 1  # why
    SEMANTIC = 2  # what, how; any other question
    ENTITY = 3  # who, whose, where, what is it called
    KNOWLEDGE_UPDATE = 4  # the current state
    MULTI_HOP = 5  # the answer combines several memories


class QuestionKind(IntEnum):
    """How much of memory the answer needs."""

    GENERAL = 0  # neither of the others
    DETAIL = 1  # one fact: an exact figure, a time, a name, a number
    SYNTHESIS = 2  # many memories together: a summary, an overview, a course of events


# The first intent with a matching phrase is chosen.
PHRASES: Final[dict[Intent, tuple[str, ...]]] = {
    Intent.CAUSAL: (
        r"why|how come|for what reason|because of what|as a (?:result|consequence) of",
        r"what(?:'s| is| was| were| are)? the (?:reasons?|causes?)",
        r"what (?:caused|led|made|makes|prompted|motivated|motivates|inspired|inspires|triggered)",
    ),
    Intent.MULTI_HOP: (
        r"in common|both|all together|altogether|in total|how many (?:different|times)",
        r"(?:do|have)(?: [^ ]+){1,5} share|the same(?: [^ ]+){0,3} as|compared? (?:to|with)",
        r"(?:related|relationship|relates?|connected|connections?) (?:to|between|with)|(?:differences?|similarity|similarities) between",
        r"(?:person|people|friend|one|someone|place|city|book|company) (?:who|whom|whose|that|where)",
    ),
    Intent.TEMPORAL: (
        r"^when|(?:and|since|until|but|or) when|when (?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should)",
        r"(?:what|which) (?:date|day|month|year|time|week|season)|how (?:long|often|recently|soon|old)",
        r"how many (?:minutes|hours|days|nights|weeks|months|years)|(?:what|which)(?: [^ ]+){0,2} order",
        r"(?:came|come|happened|did|was|were)(?: [^ ]+){0,4} (?:first|before|after|earlier|later)|(?:right|just|shortly|soon) (?:before|after)",
    ),
    Intent.KNOWLEDGE_UPDATE: (
        r"current|currently|now|nowadays|at (?:present|the moment)|these days|as of (?:today|now)",
        r"most recent|latest|newest|up to date|still|anymore|any more|no longer|instead",
        r"(?:changed?|switched|updated?|moved|replaced) (?:to|from|since|by|with)",
    ),
    Intent.ENTITY: (
        r"who|whom|whose|who's|where|called|named|tell me about",
        r"(?:what|which) (?:person|people|friend|place|city|country|company|book|movie|film|song|restaurant|school|team)",
        r"what(?:'s| is| was| are| were)? (?:(?:the|his|her|their|my|your) )?(?:(?:full|first|last) )?(?:names?|titles?)",
    ),
}
RULES: Final = tuple(
    (intent, re.compile(rf"\b(?:{'|'.join(phrases)})\b")) for intent, phrases in PHRASES.items()
)

_LEADING_DETAIL: Final = re.compile(
    r"^(?:(?:and|so|but|also|please) )?(?:when|who|whom|whose|where|how (?:many|much|long|old|far|tall|big|often|late|early|fast|high)"
    r"|(?:what|which)(?:'s| is| was| are| were)? (?:the )?(?:exact|precise|specific)"
    r"|(?:what|which) (?:date|day|month|year|time|number|figure|amount|price|version|percentage|score|address))\b"
)
_SYNTHESIS: Final = re.compile(
    r"\b(?:summar(?:y|ies|i[sz]e[sd]?|i[sz]ing)|overview|recap|sum up|the gist|big picture|(?:walk|take|talk) (?:me|us) through|timeline|chronology"
    r"|(?:main|key|overall|recurring|common) (?:points?|themes?|topics?|ideas?|takeaways?|lessons?|patterns?)|everything (?:about|you know|that|i|we)"
    r"|what do you know about|(?:tell me (?:all|everything)|bring me up to date) (?:about|on)|the (?:whole|full|entire) (?:story|picture|history)"
    r"|how (?:did|do|does|has|have|had|was|were)(?: [^ ]+){1,8} (?:develop|evolve|change|progress|unfold|grow)(?:d|ed|n)?"
    r"|over (?:time|the (?:weeks|months|years)))\b"
)
_DETAIL: Final = re.compile(
    r"\b(?:exact|exactly|precise|precisely|when (?:is|are|was|were|do|does|did|has|have|had|will)|how (?:many|much|long|old|far)"
    r"|(?:the|his|her|their|my|your|its) (?:[^ ]+ )?(?:names?|numbers?|dates?|price|address|figure|amount|version|title)"
    r"|called|named)\b"
)

SUMMARY: Final = (
    r"summar(?:y|ies|i[sz]e|i[sz]ing|i[sz]ation)|overview|recap|sum up|summing up|wrap up|big picture"
    r"|main (?:points|themes|topics|ideas)|key (?:points|takeaways|themes)|takeaways|highlights|gist|synopsis|digest"
)
_ASKS_SUMMARY: Final = re.compile(rf"\b(?:{SUMMARY})\b")
IN_ORDER: Final = re.compile(
    r"\b(?:order|sequence|chronolog\w+|first to last|one after (?:another|the other))\b"
)


# Words for the first state, for another former one, and for more tellings than the newest one.
_FIRST: Final = re.compile(
    r"\b(?:originally|original|initially|initial|in the beginning|at first|at the start|to begin with|first|firstly|earliest|oldest)\b"
)
_FORMER: Final = re.compile(
    r"\b(?:before$|before (?:that|then|this|now)\b|formerly|former|previous|previously|earlier|prior|used to)\b"
)
# "What did we drive before the Renault?" asks for the state before the one with a Renault, "what was
# my old number?" for one that is no more.
_PRECEDING: Final = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hey|hi|please|well|also|do you (?:know|remember)|can you (?:tell|remind) me|tell me|remind me) )*"
    r"(?P<asked>(?:what|which|who|whom|whose|where|when|how)(?:(?: [^ ]+){0,6}? (?:was|were|did|had|used|[a-z]+ed)\b"
    r"|(?<=who) (?!(?:is|are|do|does|has|have|can|will|would|may|must|should)\b)[a-z]+\b).*?) before (?P<state>[^ ].*)$"
)
_OLD: Final = re.compile(
    r"^(?:.* )?(?:was|were) (?:my|our|your|his|her|their|its|the|[^ ]+'s) (?:old|ex) [^ ]"
)
# "Have I been there before?" asks whether it ever happened, not for what was so before the newest
# state.
_EXPERIENCE: Final = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hey|hi|please|well|also) )*(?:have|has|had|haven't|hasn't|hadn't) .*\bbefore(?: now)?$"
)
_TELLINGS: Final = re.compile(
    r"\b(?:before|past|once|ever|never|so far|how often|how long (?:has|have|had|did|was|were)|for how long|times|each|every|all|both|always|since"
    r"|until|till|ago|yesterday|history|over time|over the (?:weeks|months|years)|changed?|developed|evolved|when (?:did|was|were|had)"
    r"|(?:what|which) (?:dates?|days?|times?|months?|years?) (?:did|was|were|had)|last (?:week|month|year|spring|summer|autumn|fall|winter|night))\b"
)
_SAYS_NEWEST: Final = re.compile(
    r"\b(?:now|nowadays|current|currently|presently|at (?:present|the moment)|these days|as of (?:today|now)|today|meanwhile|up to date"
    r"|most recent|most recently|latest|newest|lately|recently|still|any ?more|any longer|yet|in the end|after all|finally"
    r"|last(?! (?:week|weekend|month|year|spring|summer|autumn|fall|winter|night|names?|[a-z]+day)\b))\b"
)
# "Was I still a vegetarian then?" asks for a former time.
_STILL_THEN: Final = re.compile(
    r"\b(?:was|were|did|had|wasn't|weren't|didn't|hadn't)(?: [^ ]+){1,2} still\b"
)
_PRESENT_TENSE: Final = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hey|hi|please|well|also|do you (?:know|remember)|can you (?:tell|remind) me|tell me|remind me) )*"
    r"(?:(?:(?:in|at|on|by|until|till|for|from|with|to|of|since) )?(?:what|which|who|whom|whose|where|when|how)"
    r"(?:'s|(?: (?!(?:did|was|were|had|would)\b)[^ ]+){0,6}? (?:is|are|am|do|does|has|have|can|will|may|must|should|isn't|aren't|don't|doesn't"
    r"|can't|won't)\b)|who [^ ]+s\b"
    r"|(?:is|are|am|do|does|has|have|can|will|may|must|should|isn't|aren't|don't|doesn't|hasn't|haven't|can't|won't)\b)"
)


class AskedState(IntEnum):
    """Which of several states of a thing a question asks for."""

    ANY = 0  # none of those below
    PRESENT = 1  # by its tense, the newest: "where does Bo live"
    NEWEST = 2  # in words: "now", "latest", "the last time"
    FORMER = 3  # in words, one that the newest has replaced: "before", "previous"
    FIRST = 4  # in words, the oldest: "originally", "at first"
    PRECEDING = 5  # in words, the one before a state that the question names: "before the Renault"


def state_asked(words: str) -> AskedState:
    """Which of several states a query, given as its words in lower case with single spaces, asks
    for.  O(length).

    >>> [state_asked(q).name for q in ("where does bo live", "when did we last meet", "where did bo live before", "where did bo live")]
    ['PRESENT', 'NEWEST', 'FORMER', 'ANY']
    >>> state_asked("have we met before").name, state_asked("where did bo live before oslo").name
    ('ANY', 'PRECEDING')
    """
    if _EXPERIENCE.search(words):
        return AskedState.ANY
    if _FIRST.search(words):
        return AskedState.FIRST
    if _FORMER.search(words) or _OLD.search(words):
        return AskedState.FORMER
    if _PRECEDING.search(words):
        return AskedState.PRECEDING
    if _SAYS_NEWEST.search(_STILL_THEN.sub(" ", words)):
        return AskedState.NEWEST
    return (
        AskedState.PRESENT
        if _PRESENT_TENSE.search(words) and not _TELLINGS.search(words)
        else AskedState.ANY
    )


def state_before(words: str) -> tuple[str, str]:
    """What a question for a preceding state asks, and the words that name the state after it, both
    as words in lower case with single spaces; ("", "") for another question.  O(length).

    >>> state_before("where did bo live before he moved to oslo")
    ('where did bo live', 'he moved to oslo')
    """
    read = _PRECEDING.search(words)
    return (read["asked"], read["state"]) if read else ("", "")


def asks_earlier(words: str) -> bool:
    """Whether a query, given as its words in lower case with single spaces, asks for a former
    state, or for more than one telling.  O(length).

    >>> [asks_earlier(q) for q in ("where did bo live before", "when did we first meet", "where does bo live", "how often did it rain")]
    [True, True, False, True]
    """
    return any(rule.search(words) for rule in (_FIRST, _FORMER, _TELLINGS))


# Words without content: a question of these words alone asks for everything.
_ASKED_OF_ANY: Final = STOP_WORDS | word_set("""
    anybody anyone anything everybody everyone everything nothing somebody someone something thing things stuff people else happen happens
    happened happening occur occurs occurred go goes going gone went come comes came take takes took taken place get gets getting got gotten be done
    become say says said saying tell tells told telling talk talks talked talking speak speaks spoke spoken speaking mention mentions mentioned
    mentioning discuss discusses discussed discussing discussion discussions chat chats chatted chatting conversation conversations conversed
    write writes wrote written writing note notes noted log logs logged record records recorded report reported message messages messaged entry
    entries memory memories remember remembered recall recalled remind know known event events activity activities topic topics subject subjects
    theme themes day date time like life please okay ok hi hello hey thank thanks give show list let see look back find name describe summary
    summaries summarise summarize summarised summarized recap overview review highlights main key last latest first new news newest recent
    earlier later next before after planned scheduled coming exactly around about roughly approximately interesting important special notable
    relevant specific specifically particular particularly generally overall much many lot often kind sort type well yes also still ever together
""")


def asked_beside(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a question that name something, each once: without question words, pronouns and
    verbs such as "do", "happen" and "talk about".

    words  in lower case, contractions whole, as `Features.words`.  O(words)

    >>> asked_beside(("what", "did", "ada's", "brother", "say", "then")), asked_beside(("what's", "been", "going", "on"))
    (('ada', 'brother'), ())
    """
    bare = (word.removesuffix("'s") for word in words if word not in _ASKED_OF_ANY)
    return tuple(dict.fromkeys(word for word in bare if word not in _ASKED_OF_ANY))


def asks_kind(words: Sequence[str]) -> bool:
    """Whether a question asks for one kind of thing: a person, a place, a reason, a time or a
    number.

    words  in lower case, contractions whole, as `Features.words`.  O(words)

    >>> asks_kind(("where", "was", "i")), asks_kind(("how", "many", "were", "there")), asks_kind(("how", "was", "it"))
    (True, True, False)
    """
    bare = [word.split("'")[0] for word in words]
    return not _KINDS.isdisjoint(bare) or any(pair in _COUNTED for pair in pairwise(bare))


_KINDS: Final = frozenset(("who", "whom", "whose", "where", "why", "when"))
_COUNTED: Final = frozenset(("how", word) for word in ("many", "much", "long", "often"))


def asks_summary(words: str) -> bool:
    """Whether a query, given as its words in lower case with single spaces, asks for a summary, and
    not for an order.  O(length).

    >>> [asks_summary(q) for q in ("summarize how the plan developed", "how did the plan develop", "summarize my visits in order")]
    [True, False, False]
    """
    return _ASKS_SUMMARY.search(words) is not None and IN_ORDER.search(words) is None


def intent_of(words: str) -> Intent | None:
    """Intent of a query, given as its words in lower case with single spaces: the first matching
    rule; SEMANTIC if none matches; None for a query without words.  O(length).

    >>> [intent_of(q).name for q in ("why did she leave", "when did she leave", "what does she like", "where does she live now")]
    ['CAUSAL', 'TEMPORAL', 'SEMANTIC', 'KNOWLEDGE_UPDATE']
    """
    if not words:
        return None
    return next((intent for intent, pattern in RULES if pattern.search(words)), Intent.SEMANTIC)


def question_kind_of(words: str) -> QuestionKind:
    """Whether a query, given as its words in lower case with single spaces, asks for a detail, for
    a synthesis or for neither.  O(length).

    A question that starts as one for a detail is one; else a phrase of synthesis counts before a
    phrase of detail.

    >>> [question_kind_of(q).name for q in ("what is the exact figure", "summarise how the plan changed", "is the plan good")]
    ['DETAIL', 'SYNTHESIS', 'GENERAL']
    """
    if _LEADING_DETAIL.search(words):
        return QuestionKind.DETAIL
    if _SYNTHESIS.search(words):
        return QuestionKind.SYNTHESIS
    return QuestionKind.DETAIL if _DETAIL.search(words) else QuestionKind.GENERAL
