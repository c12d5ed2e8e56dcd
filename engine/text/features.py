"""Text features: words, terms, names, numbers, dates, code identifiers, speech act, emotion.

Pure functions.  Every pattern is linear in the length of the text: it starts only at the beginning
of a word or a path, and can match in one way from there, so that hostile input costs little more
than ordinary text.  Words are those of all scripts (`words.py`); all other rules are for English,
and names need capitals (docs/guides/texts.md).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final

from . import english as lists
from .memo import remembered
from .words import ASKS, NO_SPACE, PORTER, STOPS, composed, stems, words_of
from .words import fold as fold
from .words import sanitise as sanitise
from .words import terms_of as terms_of


class SpeechAct(Enum):
    """What an utterance does (after Searle 1976, https://doi.org/10.1017/S0047404500006837,
    reduced to the acts that memory gates distinguish).
    """

    COMMITMENT = "commitment"
    CORRECTION = "correction"
    DECISION = "decision"
    QUESTION = "question"
    INSTRUCTION = "instruction"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    NOISE = "noise"
    STATEMENT = "statement"


@dataclass(frozen=True)
class Features:
    """The features of one text; the last five are computed when they are first read.

    text         sanitised and composed, with straight apostrophes
    words        lower-cased words without diacritics, in order, contractions whole ("don't")
    entities     names in normal form (lower case, no diacritics, no possessive, no "@"), each once,
                 in order of first mention: runs of capitalised words, quoted names, handles, code
                 identifiers
    identifiers  of code and files, as written, each once
    dates        explicit dates and relative expressions, as written
    numbers      as written in digits outside dates, with currency sign and per cent
    terms        stemmed words (Porter) without stop words, in order: `terms_of(text, stem=True,
                 stop_words=True)`
    act          the speech act, of several sentences that of highest precedence
    emotion      share in [0, 1]: emotional words, exclamations, emoji and emoticons per word
    """

    text: str
    words: tuple[str, ...]
    entities: tuple[str, ...]
    identifiers: tuple[str, ...]

    @cached_property
    def dates(self) -> tuple[str, ...]:
        return tuple(self._parted[1])

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        return tuple(_NUMBER.findall(self._parted[0]))

    @cached_property
    def _parted(self) -> tuple[str, list[str]]:
        """The text without its dates, and the dates.  Matched in lower case, which is twice as fast
        as ignoring case.
        """
        text = self.text
        lower = text.lower()
        if len(lower) != len(text):
            lower = "".join([c.lower() if len(c.lower()) == 1 else c for c in text])
        if not _IN_DATES.search(lower):  # a long text in another script
            return text, []
        dates: list[str] = []
        rest: list[str] = []
        end = 0
        for match in _DATE.finditer(lower):
            if match["month"] is None or text[match.start()].isupper():
                dates.append(text[match.start() : match.end()])
                rest.append(text[end : match.start()])
                end = match.end()
        return "".join([*rest, text[end:]]), dates

    @cached_property
    def terms(self) -> tuple[str, ...]:
        return tuple(terms_of(self.text, stem=True, stop_words=True))

    @cached_property
    def act(self) -> SpeechAct:
        return _speech_act(self.text)

    @cached_property
    def emotion(self) -> float:
        return _emotion(self.text, self.words)


@remembered
def features(text: str) -> Features:
    """All features of any string.  O(length): about 0.15 ms for an utterance, under 1 s for 1 MB;
    texts that were just read are remembered.

    >>> read = features("No, I promised Caroline's brother to fix load_config() by 7 May 2023!")
    >>> read.entities, read.identifiers, read.dates
    (('caroline', 'load_config()'), ('load_config()',), ('7 May 2023',))
    """
    text = composed(sanitise(text)).replace("’", "'")
    words = tuple(map(sys.intern, words_of(fold(text), contracted=True)))
    prose, identifiers = _identifiers(text)
    return Features(
        text=text,
        words=words,
        entities=tuple(_entities(prose, identifiers)),
        identifiers=tuple(dict.fromkeys(written for _, written in identifiers)),
    )


def normal_name(written: str) -> str:
    """The name of an entity as somebody writes it, in the normal form of `Features.entities`.
    O(length).

    >>> normal_name(" @São  PAULO"), normal_name("O’Neil")
    ('sao paulo', "o'neil")
    """
    return " ".join(fold(sanitise(written)).replace("’", "'").split()).removeprefix("@")


# --------------------------------------------------------------------------------------------------

_NUMBER: Final = re.compile(r"(?<![\w.,])[$€£¥]?\d+(?:[.,]\d+)*%?")

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COUNT = r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|a few|a couple(?: of)?|several|some|many)"
_UNIT = r"(?:minute|hour|day|night|week|weekend|fortnight|month|year|decade)"
_SEASON = r"(?:spring|summer|autumn|fall|winter|christmas|easter|halloween|thanksgiving)"
_DATE: Final = re.compile(
    r"\b(?:"
    r"\d{4}-\d{1,2}-\d{1,2}(?:[t ]\d{2}:\d{2}(?::\d{2})?z?)?"
    r"|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? \d{{4}})?"
    rf"|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?(?!\d)"
    rf"|{_MONTH},? \d{{4}}"
    r"|the day (?:before yesterday|after tomorrow)|yesterday|today|tonight|tomorrow|last night"
    rf"|(?:last|next|this|past|coming|previous|following|every) (?:{_DAY}|{_UNIT}s?|{_SEASON}|{_MONTH}|morning|afternoon|evening)"
    rf"|{_COUNT} (?:more )?{_UNIT}s? (?:ago|earlier|later|from now|before|after)"
    rf"|in {_COUNT} {_UNIT}s?(?: time)?"
    rf"|{_DAY}s?"
    rf"|(?:in|since|until|till|by|of|early|late|mid|during) {_MONTH}"
    r"|(?P<month>january|february|april|june|july|august|september|october|november|december)"
    r"|(?:in|since|until|by|around|before|after|of|year) (?:19|20)\d{2}|(?:19|20)\d{2}"
    r")\b(?!-)"
)


_IN_DATES: Final = re.compile(r"[a-z\d]")


# --------------------------------------------------------------------------------------------------

_IDENTIFIER: Final = re.compile(
    r"(?P<url>\bhttps?://[^\s<>\"')\]`]+)"
    r"|(?P<path>(?<![\w/.~\\<])(?:~|\.{1,2})?/[\w.-]*[\w-](?:/[\w.-]*[\w-])*|(?<![\w/\\])[A-Za-z]:\\[\w.\\-]+)"
    r"|(?<![\w/.-])(?P<file>[\w-]+(?:/[\w.-]+)*/[\w-][\w.-]*\.[A-Za-z]\w{0,7}\b|[\w-]+(?:\.[\w-]+)*\.(?:py|pyi|js|jsx|ts|tsx|rs|go|java|c|h|cc|cpp|hpp"
    r"|cs|rb|php|sh|sql|md|txt|rst|json|jsonl|yaml|yml|toml|ini|cfg|csv|tsv|html|css|xml|log|lock|ipynb|pdf|docx|xlsx|png|jpe?g|gif|svg|zip|tar|gz|env)\b)"
    r"|(?P<dotted>(?<![\w.@])[A-Za-z_]\w+(?:\.[A-Za-z_]\w+)+(?:\(\))?)"
    r"|(?P<word>(?<!\w)(?:__\w+__|[A-Za-z_]\w*(?=\(\))|_{0,2}[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+_*"
    r"|(?!Mc[A-Z]|Mac[A-Z]|PhD)[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|[A-Z]{2,}[a-z]{3,}\w*|[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+)(?!\w)(?:\(\))?)"
)


# A text without any of these skips the long pattern.
_CODE_HINT: Final = re.compile(r"[_/\\]|\(\)|\w\.\w|[a-z][A-Z]|[A-Z]{2}[a-z]")


def _identifiers(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with its identifiers replaced by `x` (same length), and the identifiers with
    their places.
    """
    named: list[tuple[int, str]] = []

    def take(match: re.Match[str]) -> str:
        written = match.group()
        if match.lastgroup == "dotted" and not _is_dotted_name(written):
            return written
        named.append(
            (match.start(), written.rstrip(".,;:!?") if match.lastgroup == "url" else written)
        )
        return "x" * len(written)

    return (_IDENTIFIER.sub(take, text) if _CODE_HINT.search(text) else text), named


def _is_dotted_name(written: str) -> bool:
    """False for prose that lacks a space after the full stop ("so cool.What now")."""
    if written.endswith("()") or "_" in written:
        return True
    parts = written.split(".")
    return not _is_common(parts[-1].lower()) and not all(_is_common(part.lower()) for part in parts)


# --------------------------------------------------------------------------------------------------

# `re` knows no \p{Lu}: the capitals of the Latin, Greek, Cyrillic and Armenian blocks.
_UPPER: Final = "A-Z" + "".join(c for c in map(chr, range(0x80, 0x590)) if c.isupper())
_NAME: Final = re.compile(
    rf"(?<!\w)(?<!\w')(?:(?:[A-Z]\.){{2,}}|[{_UPPER}](?:[^\W_]|['&](?=[^\W_])|-(?=[{_UPPER}0-9]))*)"
)
_GAP: Final = re.compile(rf" (?:(?:{'|'.join(lists.CONNECTORS)}) )?")
_QUOTED: Final = re.compile(r'["“]([^"“”\n]{2,80})["”]')
_ARTICLE: Final = re.compile(r"^(?:the|an?) (?=\w)", re.IGNORECASE)
_HANDLE: Final = re.compile(r"(?<![\w.@])@(\w[\w.-]{0,63})")
_SUFFIX: Final = re.compile(r"'(?:s|ll|ve|d|re|m|t)?$")
_WORD_ENDINGS: Final = (
    "ly", "ing", "ed", "tion", "tions", "sion", "sions", "ness", "ment", "ments", "able", "ible",
    "ful", "less", "ous", "ive", "ity", "ism", "ish",
    "est", "ance", "ence",
)  # fmt: skip


def _entities(prose: str, identifiers: list[tuple[int, str]]) -> list[str]:
    """Names in order of first mention.  Quoted names and handles are replaced by `x`, so that
    capitals inside them are not found again.
    """
    mentions = [(place, fold(written)) for place, written in identifiers]

    def take(match: re.Match[str], name: str) -> str:
        mentions.append((match.start(), name))
        return "x" * len(match.group())

    def quoted(match: re.Match[str]) -> str:
        name = match.group(1).strip(" .,;:'")
        if not _is_title(name):
            return match.group()
        return take(match, fold(_ARTICLE.sub("", " ".join(name.split()))))

    if '"' in prose or "“" in prose:
        prose = _QUOTED.sub(quoted, prose)
    if "@" in prose:
        prose = _HANDLE.sub(lambda match: take(match, fold(match.group(1).rstrip(".-"))), prose)
    mentions.extend(_proper_nouns(prose))
    return list(dict.fromkeys(name for _, name in sorted(mentions, key=lambda pair: pair[0])))


def _is_title(quoted: str) -> bool:
    """Whether a quotation is a name rather than speech: every word but the stop words is
    capitalised, and it is no common word alone.
    """
    words = quoted.split()
    return (
        0 < len(words) <= 8
        and words[0][0].isupper()
        and quoted[-1] not in "!?"
        and all(
            word[0].isupper() or word[0].isdigit() or fold(word) in lists.STOP_WORDS
            for word in words
        )
        and (len(words) > 1 or not _is_common(fold(words[0])))
    )


def _proper_nouns(text: str) -> Iterator[tuple[int, str]]:
    lower: frozenset[str] | None = None
    for start, run, opens_sentence in _runs(text):
        while run and (
            run[0] in lists.STOP_WORDS
            or (
                opens_sentence
                and _is_common(run[0])
                and not (len(run) > 1 and run[0] in lists.NAME_OPENERS)
            )
        ):
            run = run[1:]
        while run and run[-1] in lists.STOP_WORDS:
            run = run[:-1]
        if not run or (len(run) == 1 and (len(run[0]) < 2 or run[0] in lists.TITLES)):
            continue
        if opens_sentence and len(run) == 1:
            if lower is None:
                lower = frozenset(
                    word for word in words_of(text, contracted=True) if word[0].islower()
                )
            if _looks_like_a_word(run[0]) or run[0] in lower:
                continue
        yield start, " ".join(run)


def _runs(text: str) -> Iterator[tuple[int, list[str], bool]]:
    """Runs of capitalised words: (place, folded words, whether it opens a sentence).  Months,
    weekdays and emphasised words break a run.
    """
    run: list[str] = []
    place, opens, end, joins = 0, False, 0, False
    all_capitals = text.isupper()
    for match in _NAME.finditer(text):
        raw = match.group()
        gap = text[end : match.start()] if match.start() - end <= 8 else "\n"
        title = bool(run) and gap == ". " and (run[-1] in lists.TITLES or len(run[-1]) == 1)
        if run and not (joins and (title or _GAP.fullmatch(gap))):
            yield place, run, opens
            run = []
        word = fold(raw.replace(".", ""))
        base = _SUFFIX.sub("", word) if "'" in word else word
        acronym = "." in raw or (raw in lists.ACRONYMS and not all_capitals)
        shouted = (
            not acronym
            and len(base) > 1
            and raw.isupper()
            and (_is_common(base) or _looks_like_a_word(base))
        )
        if acronym and base == "us":
            base = word = "usa"
        if base in lists.NEVER_NAMES or shouted or (word != base and word in lists.STOP_WORDS):
            if run:
                yield place, run, opens
            run, joins = [], False
        else:
            if not run:
                place, opens = match.start(), _opens_sentence(text, match.start())
            elif not title and len(gap) > 1:
                run.extend(gap.split())
            run.append(base)
            joins = word == base and len(run) < 12
        end = match.end()
    if run:
        yield place, run, opens


def _opens_sentence(text: str, start: int) -> bool:
    before = start - 1
    while before >= 0 and text[before] in " \t":
        before -= 1
    return before < 0 or not (text[before].isalnum() or text[before] in ",&")


def _is_common(word: str) -> bool:
    """Whether a folded word, its stem or its part before the apostrophe is a common English
    word.
    """
    if word in lists.COMMON_WORDS:
        return True
    base = _SUFFIX.sub("", word) if "'" in word else word
    return base in lists.COMMON_WORDS or (
        3 < len(base) <= 64
        and PORTER.stemWord(base) in _COMMON_STEMS
        and base not in lists.NAMES_LIKE_WORDS
    )


def _looks_like_a_word(word: str) -> bool:
    """Whether an unknown word has the ending of an English adverb, participle, adjective or
    abstract noun.
    """
    return len(word) > 4 and word.endswith(_WORD_ENDINGS) and word not in lists.NAMES_LIKE_WORDS


# Words such as "in" have no inflected forms: `Ines`, whose stem is "in", is none of them.
_COMMON_STEMS: Final = frozenset(stems(sorted(lists.COMMON_WORDS - lists.STOP_WORDS)))

# --------------------------------------------------------------------------------------------------

_SENTENCE_END: Final = re.compile(
    rf"(?<=[.!?…{STOPS}])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\b[A-Z]\.)\s+|{NO_SPACE}|\n+"
)
_KIN: Final = (
    r"(?:wife|husband|spouse|partner|girlfriend|boyfriend|fianc[ée]e?|mother|mom|mum|father|dad|parents?|son|daughter|child|brother|sister|sibling|twin"
    r"|cousin|aunt|uncle|niece|nephew|grand(?:mother|father|ma|pa|son|daughter)|(?:step|half-)?(?:brother|sister)|(?:mother|father|sister|brother)-in-law"
    r"|boss|manager|colleague|co-?worker|(?:best )?friend|roommate|flatmate|neighbou?r|teacher|mentor|coach|therapist|doctor|ex)"
)
_WHOSE = r"(?:my|his|her|our|their|your|[a-z]+'s)"
_QUESTION: Final = re.compile(
    r"^\W*(?:(?:who|what|when|where|why|how|which|whose)\b|(?:do|does|did|is|are|was|were|can|could|would|will|should|have|has|had) "
    r"(?:(?:you|he|she|it|they|we|i|the|this|that|there)\b|(?-i:[A-Z])))[^.!]*$",
    re.IGNORECASE,
)
# In order of precedence: the first that matches any sentence but a question is the act of the text.
_ACTS: Final = tuple(
    (act, re.compile(pattern, re.IGNORECASE))
    for act, pattern in (
        (
            SpeechAct.CORRECTION,
            r"^\W*(?:correction\b|scratch that|wait, (?:no|it|that|i)\b|oops, (?:i|it|that|not)\b|sorry, (?:i meant|it's|it was|not)\b"
            r"|actually,? (?:it|that|no|not|he|she|they|the|my|i (?:am|was|meant|live|work|don't|didn't))\b|"
            r"(?:no|nope|nah)[,;:—-]+ ?(?:it(?:'s| is| was)|that(?:'s| is| was)|not|i (?:meant|said)|the )\b)"
            r"|\bi (?:meant|misspoke|was wrong|was mistaken|stand corrected|got (?:it|that) wrong|made a mistake)\b"
            r"|\bthat(?:'s| is| was) (?:not (?:right|true|correct)|wrong|incorrect|a mistake)\b"
            r"|\b(?:let me|to) correct (?:that|this|myself|you)\b|\bno longer\b|\bnot (?!just|only|really|much)[\w ]{1,30}, but (?:rather )?\w",
        ),
        (
            SpeechAct.COMMITMENT,
            r"\b(?:i|we)(?:'ll| will| shall)\b(?! (?:be able|probably not|never know))|\b(?:i|we) (?:promise|swear|vow|pledge|guarantee|commit|intend|plan) "
            r"|\b(?:i'm|i am|we're|we are) (?:gonna|(?:going|planning|committed) to (?!the\b|an?\b|my\b|our\b|this\b|that\b))|^\W*gonna \w"
            r"|\b(?:count on (?:me|us)|you have my word|consider it done|i'm on it)\b",
        ),
        (
            SpeechAct.DECISION,
            r"\b(?:i|we)(?:'ve| have)?(?: finally| just| all)* (?:decided|chose|chosen|picked|settled on|agreed (?:on|to)|opted|went with|concluded)\b"
            r"|\bmade up (?:my|our) minds?\b|\blet's go with\b|\b(?:i'm|we're|i am|we are) going with\b|\b(?:the|our|my|final) decision\b"
            r"|\bit(?:'s| is) (?:decided|settled)\b|\bit was (?:decided|agreed)\b",
        ),
        (
            SpeechAct.INSTRUCTION,
            r"^\W*(?:please\b|always\b|never (?!\w+(?:ed|en)\b|been|had|mind)|don't (?!know|think|have|worry|give up)|do not\b|make sure|be sure to"
            r"|remember (?:to|that)|remind me"
            r"|note that|keep in mind|from now on|ensure|(?:tell|show|give|send|call|email) (?:me|him|her|them|us|it)\b"
            r"|(?:check|send|write|use|add|remove|delete|update|create|fix|run|install|open|set|put|buy|list|explain|describe|summari[sz]e|translate|generate"
            r"|include|avoid|follow|format|schedule|book|implement|rename|move|return) (?!out\b|to\b|in\b|of\b|is\b|was\b))"
            r"|\bcan you please\b|\bplease (?!d)\w+|\byou (?:must|have to|need to|should (?:always|never))\b",
        ),
        (
            SpeechAct.RELATIONSHIP,
            rf"(?:\b(?:is|was|are|am|were)|'s|'m|'re) {_WHOSE} (?:\w+ )?{_KIN}s?\b"
            rf"|\b{_WHOSE} (?:\w+ )?{_KIN},? (?:(?:is|was|works|lives|named|called)\b|(?-i:[A-Z]))"
            r"|\b(?:got|get|getting|am|is|are|i'm|we're|been) (?:married|engaged|divorced|separated)\b"
            r"|\b(?:are|is|am|i'm|we're|started|been) dating\b|\bbroke up\b|\bin a relationship\b",
        ),
        (
            SpeechAct.PREFERENCE,
            r"\bi(?:'d| would)?(?: really| also| just| absolutely| still| always| personally)* "
            r"(?:prefer|rather|like|love|hate|dislike|enjoy|adore|can't stand|don't (?:like|enjoy|care for))\b"
            r"|\b(?:my|our) (?:\w+ )?favou?rites?\b"
            r"|\b(?:i'm|i am)(?: really| very| so)* (?:into|fond of|keen on|a (?:big |huge )?fan of|not a fan)\b|\bi can't stand\b",
        ),
    )
)
_ACT_SCOPE: Final = 4096


def _speech_act(text: str) -> SpeechAct:
    """The first act that a sentence of the text has, in this order: CORRECTION, COMMITMENT,
    DECISION, INSTRUCTION, RELATIONSHIP, PREFERENCE, STATEMENT, QUESTION, NOISE.  Only the first
    4,096 characters are read, because a speech act belongs to an utterance."""
    sentences = [
        sentence for part in _SENTENCE_END.split(text[:_ACT_SCOPE]) if (sentence := part.strip())
    ]
    telling = [sentence for sentence in sentences if not _is_noise(sentence)]
    if not telling:
        return SpeechAct.NOISE
    said = [
        sentence
        for sentence in telling
        if not (sentence.rstrip("\"')]*! ").endswith(ASKS) or _QUESTION.search(sentence))
    ]
    if not said:
        return (
            SpeechAct.INSTRUCTION
            if any(" you please " in sentence.lower() for sentence in telling)
            else SpeechAct.QUESTION
        )
    for act, pattern in _ACTS:
        if any(pattern.search(sentence) for sentence in said):
            return act
    return SpeechAct.STATEMENT


_PLEASANTRY: Final = re.compile(
    r"^\W*(?:(?:so |really )?(?:good|nice|great|lovely) (?:to (?:see|hear from|meet|chat with|talk to)|seeing|chatting with|talking to) you"
    r"|take care|talk (?:to you )?(?:soon|later)"
    r"|see (?:you|ya)|catch you later|have a (?:good|great|nice|lovely) \w+|no worries|you're welcome|thank you|thanks)\b[^.?]{0,30}$",
    re.IGNORECASE,
)


def _is_noise(sentence: str) -> bool:
    if len(sentence) > 80:
        return not any(c.isalnum() for c in sentence)
    words = words_of(fold(sentence), contracted=True)
    if all(word in lists.NOISE_WORDS or _LAUGH.fullmatch(word) for word in words):
        return True
    return (
        len(words) <= 3 and words[0] in lists.GREETINGS and not sentence.endswith(ASKS)
    ) or bool(_PLEASANTRY.match(sentence))


_LAUGH: Final = re.compile(r"(?:(?:ha|he|hi){2,}h?|lo+l|h?m+|a+w+|y+a+y+|o+h+|wo+w+|u+gh+)")

# --------------------------------------------------------------------------------------------------

_EXPRESSION: Final = re.compile(r"!+|[\U0001F300-\U0001FAFF\u2600-\u27BF]|<3|[:;]-?[()DP](?!\w)")


def _emotion(text: str, words: tuple[str, ...]) -> float:
    # no other word is emotional, or has another stem
    known = stems([word for word in words if len(word) <= 64 and word[-1] < "\x80"])
    marks = sum(stem in lists.EMOTION_STEMS for stem in known) + sum(
        1 for _ in _EXPRESSION.finditer(text)
    )
    return min(1.0, marks / max(len(words), 1))
