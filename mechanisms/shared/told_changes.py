"""Changes told in free words: whether a later sentence says that what an earlier one states is no
longer so, without a table of predicates.

`facts` reads clauses that its table knows.  Here a change is seen in words that announce one ("no
longer", "gave up", "again", "instead", "since"), or in the denial of what was "never" or not "yet"
so, and in the things and persons that both sentences name.  Nothing is known of the meaning of
other words: a change that only knowledge of the world shows is not found.

A name that the earlier sentence states is replaced if the later one says that it ended ("my
dentist is Dr Pell", "Dr Pell retired"), or says the same of another name beside it.

Otherwise two sentences are compared only if the earlier one states something of the present and both speak of
the same: the later one names the subject of the earlier one, with the same owner, of no other kind
and at no other place ("the tap in the cellar"), and what a person does or has is done to the same
object.  The later one neither supposes ("if", "might") nor adds ("too").  The rules are for
English, and ours.  A longer sentence than `MOST_WORDS` is not read, nor more than `MOST_SENTENCES`
of a text, so the search is linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Final, NamedTuple

from ...engine.text.english import MONTHS, WEEKDAYS, word_set
from ...engine.text.features import features, fold, terms_of
from ...engine.text.memo import remembered
from .facts import sentences_told
from .fields_of_life import fields_of

# of a sentence that is compared: a longer one says more than one thing
MOST_WORDS: Final = 40
MOST_CHARACTERS: Final = 400  # of it
MOST_SENTENCES: Final = 32  # of a later text
MOST_OBJECT: Final = 4  # words of the object of a verb


# --- words ----------------------------------------------------------------------------------------
_SELF: Final = word_set("i we me us myself ourselves")
_OBJECT_SELF: Final = word_set("me us")
_OWN: Final = word_set("my our")
_THIRD: Final = word_set("his her their its")
_IMPERSONAL: Final = word_set(
    "they somebody someone nobody everybody everyone people it that this these those which who mine yours hers theirs you there"
)
_BACK: Final = word_set("it they he she this that")
_DETERMINERS: Final = word_set(
    "the a an this that these those some any no another both all each every one two"
)
_PLACED: Final = word_set(
    "of in at on by for from near behind under over above below beside opposite outside inside next across with between"
)
_PREPOSITIONS: Final = _PLACED | word_set(
    "to into about off out up down through around until till since before after without against during as than"
)
_AUXILIARIES: Final = word_set(
    "am is are was were be been being has have had do does did will would can could shall should may might must wo ca"
)
_BEING: Final = word_set("am is are")
_PRESENT: Final = word_set("am is are has have do does can will need must")
_DENIALS: Final = word_set("no not never none nobody nothing neither nor cannot without")
_EITHER: Final = word_set("neither nor")  # two words of one denial
_LIKES: Final = word_set(
    "like likes love loves enjoy enjoys hate hates adore adores prefer prefers"
)
_HAVING: Final = word_set("has have had")
PERSONS: Final = word_set(
    "mother father mum mom dad mummy daddy parents parent wife husband partner girlfriend boyfriend fiance fiancee sister brother son daughter "
    "cousin aunt uncle niece nephew grandmother grandfather grandma grandpa granny grandson granddaughter twin twins sister-in-law brother-in-law "
    "mother-in-law father-in-law friend friends neighbour neighbours neighbor neighbors colleague colleagues flatmate roommate housemate boss "
    "landlord landlady child children kid kids boy girl baby cat dog family ex"
)
_PAST: Final = word_set(
    "was were had did went came got gave took made said told saw met found left felt knew thought bought brought sold kept lost won ran sat stood "
    "spoke wrote drove flew rode fell broke began drank ate slept woke wore threw grew drew sang swam taught caught fought built lent sent spent "
    "paid heard held led meant understood became chose forgot hid rang rose shook stole swore tore burnt learnt dreamt bit blew dug hung laid lay "
    "shot stuck struck swept"
)
_DAYS: Final = MONTHS | WEEKDAYS
_COUNTS: Final = word_set(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred noon midnight"
)
_OPENERS: Final = word_set("well so yes oh and but no actually now today still")
_ADVERBS: Final = word_set("also never still always only just really not")
# Words that make nothing the same: what one does with many things, times, amounts.
_LIGHT: Final = frozenset(
    terms_of(
        " ".join(
            (
                "get got take took make made have has go goes went come came put keep kept say said tell told know knew think want need like love do done see",
                "look find found give gave let use used call called try play work live run start stop stay move change back home please really just only",
                "always never ever sometimes often currently actually finally instead still yet already again late early now first last next new old good",
                "well great nice long short big small much many little lot bit people thing way place number half twice every each another second minute hour",
                "day week month year time morning evening night today yesterday tomorrow am pm o'clock kilo metre euro pound",
                *sorted(_DAYS | _COUNTS),
            )
        )
    )
)

_SUPPOSED: Final = re.compile(
    r"\b(?:if|unless|would|could|should|might|maybe|perhaps|wish(?:es)?|hopes?|hoping|imagine|supposed?|dream(?:s|ed)?|almost|nearly|one day|"
    r"some ?day|whether|will (?:not )?be|going to|gonna|used to)\b"
)
_ADDED: Final = re.compile(
    r"\b(?:too(?! \w)|also|as well|either|another|as much|likewise|besides|in addition)\b"
)
_WAITS: Final = re.compile(r"\b(?:yet|never)\b")
# What announces a change: an end, a turn to something else, a time from which on, what is restored
# or done.
_ENDS: Final = re.compile(
    r"\b(?:no longer|no more|not (?:\w+ ){0,6}?any ?(?:more|longer)|stop(?:s|ped)?(?! (?:at|by|in|for|near|on|off)\b)|"
    r"quit|g[ai]ve(?:n|s)? up|dropp?(?:ed)?|cancell?ed|ended|ends|end|"
    r"finished|lost|sold(?! out)|"
    r"hung up|c[ao]me off|\w+ (?:it|them) (?:off|away|down)|thr(?:ew|own)(?: \w+){0,3} (?:out|away)|"
    r"g[eo]t(?:ten)? rid of|(?:gone|went)(?: \w+)? off|(?:gone|went) bust|"
    r"handed (?:\w+ ){0,4}(?:over|in)|stepped (?:down|back)|resigned|retired|pulled out|dropped out|moved (?:out|away)|split up|br(?:oke|oken) up|"
    r"called (?:\w+ ){0,3}off|closed down|clos(?:ed|es) for good|cured|healed|gone|died|dead|passed away|felled|cut down|torn? down|tore down|"
    r"demolished|turned (?:\w+ ){0,3}down|cleared up|w[eo]r[en] off|expired|r[au]n out|withdr(?:ew|awn)|outgr(?:ew|own)|ditched|scrapped|abandoned|"
    r"abolished|dissolved|shut down|left|not (?:\w+ ){1,6}(?:for|in) (?:an?|the last|two|three|four|five|six|many|some) (?:weeks?|months?|"
    r"years?|ages)|"
    r"got over|got through|recovered|used up|wound up|fed up with|done with)\b"
)
# What is done no more, whatever it was done to: "quit smoking" ends ten cigarettes a day.
_GIVEN_UP: Final = re.compile(
    r"\b(?:quit|stop(?:s|ped)?|g[ai]ve(?:n|s)? up) (\w+ing)(?= (?:last|this|in|on|for good|altogether|completely|now|years?)\b|[,.;!]|$)"
)
# A time that something is put to; "pushed the pram to the park" puts nothing off.  Of 11:15 a
# clause has 11 alone.
_TIME: Final = (
    rf"(?:\d{{1,2}}(?:$|[:.]\d\d|(?: ?[ap]m| o'clock)\b|(?:st|nd|rd|th|\.)? (?:of )?(?:{'|'.join(sorted(MONTHS))})\b)|"
    rf"(?:the \w+ of )?(?:{'|'.join(sorted(_DAYS))})\b|noon\b|midnight\b|tomorrow\b|next (?:week|month|year)\b)"
)
_TURNS: Final = re.compile(
    rf"\b(?:(?:pushed|delayed)(?: \w+){{0,4}} (?:to|until|till) {_TIME}|"
    r"(?:switch(?:ed|es)?|chang(?:ed|es)|moved|migrated|replac(?:ed|es)|swapp?(?:ed)|renewed|postponed|put (?:\w+ ){0,4}(?:off|back|up to|down to)|"
    r"br(?:ing|ought) (?:\w+ ){0,3}forward|rais(?:ed|es)|lowered|increased|reduced|doubled|halved|(?:gone|went|go|goes|come|came) (?:up|down)|rose|"
    r"risen|climbed to|fallen|fell|bec(?:ome|omes|ame)|turned into|converted|start(?:ed|s)|beg[au]n|join(?:ed|s)|t(?:ook|aken|"
    r"akes) (?:\w+ ){0,3}over|"
    r"overtaken|overtook|promoted|transferred|shifted|relocated|rescheduled|rearranged|renamed|upgraded|extended|instead|rather than|in place of|"
    r"turned out|made up|mind|cut|grown into|traded|exchanged|settled|appointed|elected|bought|moves? in|now|nowadays|these days|from now on|"
    r"from (?:today|tomorrow) on|at last|at long last|finally|after all|since|so far|as of|today|for good|in the end|lately|for the first time|"
    r"already|first|this (?:morning|evening|week|month))\b)"
)
# A change to something, of which the result is what has been so since: "they moved the talk to
# Monday", "the rent was raised to 900".
_RESULT: Final = re.compile(
    r"^(?P<subject>(?:(?:the|my|our|his|her|their) )?(?:[\w'.-]+ ){1,4}?)(?:(?:was|were|has been|have been|is|are|has|have|got) )?"
    r"(?:changed|switched|moved|raised|lowered|increased|reduced|cut|extended|shifted|pushed|put|postponed|rescheduled|renamed|promoted|"
    r"converted|transferred|doubled|halved|upgraded|(?:went|came|gone) (?:up|down|back)|rose|risen|fell|fallen)(?: back| forward| up| down)? "
    r"(?P<object>(?:the|my|our|his|her|their) (?:[\w'.-]+ ){1,3}?)?(?:to|into|until) (?P<value>.+)$"
)
_RESTORED: Final = re.compile(
    r"\b(?:again|back|repaired|fixed|mended|patched|reopened|restored|returned|released|open|opened|runs|arrived|c[ao]me home|found|paid|"
    r"filled|fitted|(?:has|have) had|passed|solved|sorted|ready|done|delivered|fine|works|normal)\b"
)
# Of these, what is also said of things that change nothing: "bought a hat today".
_WEAK: Final = word_set(
    "today first already since lately open opened paid passed fine works ready done bought cut mind made normal found fell rose lost sold gone left "
    "finished now nowadays finally"
) | {"hung up", "came off", "come off"}
# Of these, what ends a state of a thing of which it is said without an object: "the oak fell".
_OF_THINGS: Final = word_set(
    "open opened fine works ready done cut normal found fell rose sold gone finished"
)
# What ends a state that is asked for, beside these: a stay, an illness, an absence.
_OVER: Final = re.compile(
    r"\b(?:discharged|picked (?:\w+ ){0,3}up|collected|turned (?:\w+ ){0,3}(?:on|off|back)|was born|gave birth|"
    r"had (?:her|his|the|their|a) (?:baby|child|twins)|got (?:married|divorced|engaged|well|better)|married|divorced|graduated|hired|"
    r"fired|sacked|signed (?:\w+ ){0,3}(?:lease|contract|deed)|"
    r"(?:got|found) (?:a|an|another|the) (?:job|flat|house|home|place|position|room)|(?:we|i|they|he|she) found)\b"
)
# What somebody does who has done with a name, which "§" stands for, or with what is at it.
_GIVEN_UP_NAME: Final = (
    r"(?:sold|swapp?ed|traded|exchanged|replaced|cancell?ed|dropp?ed|ditched|scrapped|quit|abandoned|returned|sacked|fired|dismissed|divorced|"
    r"lost|g[ai]ve(?:n)? up(?: on)?|(?:broke|broken|split) (?:up )?(?:with|from)|g[eo]t(?:ten)? rid of|(?:gone|went) off|done with|fed up with|"
    r"stopp?(?:ed)? \w+ing(?: with| to| at| for)?|outgr[eo]wn?|resigned from|moved out of|(?:took|taken|pulled) (?:\w+ ){1,2}out of|"
    r"(?:switched|changed|moved|migrated|transferred|turned) (?:\w+ ){0,3}from|instead of)"
)
_DONE_WITH: Final = re.compile(
    rf"\b{_GIVEN_UP_NAME} (?:(?:the|my|our|his|her|their|a|an|old) ){{0,2}}§(?!'s| (?:at|off|by|home|a|an|the|some|my|our)\b)|"
    r"\b(?:sold|left|closed|cancelled|quit|ended|gave up|called off) (?:(?:the|my|our|his|her|their) )?(?:house|flat|home|room|account|job|"
    r"membership|subscription|shares|lease|contract|engagement|course|class) (?:in|at|with|to|of|from|for) (?:the )?§|"
    r"\bleft (?:the )?§(?= (?:and|for)\b|[,.;]|$)|"
    r"§[^.;]{0,60}\b(?:sold|swapped|replaced|cancell?ed|dropped|ditched|scrapped|returned|got rid of|traded|exchanged|gave up on) (?:it|them)\b"
)
# What a name does, or what becomes of it, when it ends.
_ENDED: Final = re.compile(
    r"§(?:'s (?:practice|shop|office|school|company|firm|branch))? (?:"
    r"(?:(?:has|have|had|just|now|finally|then) ){0,2}(?:retired|resigned|died|passed away|stepped down|fell through|fallen through|"
    r"burn(?:t|ed) down|went bust|folded|expired|quit(?! \w+ing)|clos(?:ed|es) down|moved (?:away|out|to)|"
    r"(?:closed|shut|ended|broke|broken)(?: down| for good)?(?=[,.;]|$| and\b)|"
    r"left (?:us|for good|(?:the|our|his|her|my) (?:company|firm|team|club|band|group|choir|school|job|practice|party|board|project|town|country))|"
    r"(?:is |was |went )?on (?:\w+ )?leave|threw (?:me|us|him|her) out|let (?:me|us|him|her) go)|"
    r"(?:is|was|were|are|got|has been|have been|has just been) (?:stolen|sold|scrapped|cancell?ed|replaced|promoted|fired|sacked|dismissed|"
    r"laid off|voted out|closed|shut|demolished|discontinued|broken|dead|gone|transferred|retired))\b"
)
_JOINT: Final = re.compile(
    r"[,;:—]| - |\b(?:and|but|so|because|since|while|although|though|whereas|that)\b"
)
_CONTRACTED: Final = re.compile(
    r"(?<=\w)'s (?=(?:still|not|now|been|got|back|on|in|out|at|over|no|the|a|an|gone|always|never|only|just|\w+ing|\w+ed)\b)"
)
_WORD: Final = re.compile(r"[^\W_]+(?:[-'.][^\W_]+)*")


# --- a sentence -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a clause.

    stems  of a noun, without its article and without what stands behind a preposition; none of a
           pronoun
    who    "self" for I and we, "third" for he and she, "anyone" for other pronouns, "" for a noun
    verb   place of the first verb behind it; the number of words if none is seen
    """

    stems: tuple[str, ...]
    who: str
    verb: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is read of a sentence.

    text     folded, with single spaces
    words    of the text
    themes   stems of the words that may say what it is about
    named    names, as they are said
    names    stems of the parts of names
    verb     stem of the first verb that is no auxiliary, or of what is said with one
    past     whether the first verb is in the past tense
    """

    text: str
    words: tuple[str, ...]
    themes: frozenset[str]
    named: tuple[str, ...]
    names: frozenset[str]
    subject: Subject
    verb: str
    past: bool

    @property
    def stems(self) -> frozenset[str]:
        """Of all words."""
        return frozenset(map(_stem, self.words))

    @property
    def denied(self) -> bool:
        """Whether a clause denies something: two denials in one, as in "never says no to",
        cancel each other.
        """
        return any(_denials(clause) % 2 for clause in self.clauses)

    @property
    def clauses(self) -> Iterator[tuple[str, ...]]:
        """The words of each clause."""
        return (tuple(_WORD.findall(part)) for part in _JOINT.split(self.text))

    @property
    def values(self) -> tuple[set[str], set[str], set[str]]:
        """Days and months, numbers, and names."""
        return (
            {word for word in self.words if word in _DAYS},
            {word for word in self.words if word in _COUNTS or _numeric(word)},
            set(self.names),
        )


def _denials(words: Sequence[str]) -> int:
    """How many denials a clause has, without a "no" that opens it as an answer; "neither ... nor"
    is one.  O(words).

    >>> [_denials(text.split()) for text in ("she never says no to tea", "neither tea nor milk", "no i do not", "no bus comes")]
    [2, 1, 1, 1]
    """
    said = [
        word
        for place, word in enumerate(words)
        if word in _DENIALS - _EITHER
        and not (place == 0 and word == "no" and words[1:] and subject_of(words[1:]).who)
    ]
    return len(said) + (not _EITHER.isdisjoint(words))


def _stem(word: str) -> str:
    return "-".join(terms_of(word.removesuffix("'s")))


def _numeric(word: str) -> bool:
    return any(character.isdigit() for character in word)


def _themed(word: str, stem: str) -> bool:
    return (
        bool(stem)
        and not _numeric(word)
        and stem not in _LIGHT
        and word not in _AUXILIARIES
        and word not in _PREPOSITIONS
        and bool(terms_of(word.removesuffix("'s"), stop_words=True))
    )


def _verb_at(words: Sequence[str]) -> int:
    """The place of the first verb behind a noun, seen by its ending; the number of words if none
    is seen.
    """
    for place in range(1, len(words)):
        word, before = words[place], words[place - 1]
        if word in _AUXILIARIES or word in _PAST:
            return place
        led = (
            before in _DETERMINERS
            or before in _PREPOSITIONS
            or before in _OWN
            or before in _THIRD
            or before.endswith("'s")
        )
        noun = led or (place + 1 < len(words) and words[place + 1] in _AUXILIARIES)
        if (
            not noun
            and len(word) > 3
            and word.endswith(("ed", "s"))
            and not word.endswith(("ss", "us", "'s"))
        ):
            return place
    return len(words)


def subject_of(words: Sequence[str]) -> Subject:
    """The subject of a clause.  O(words).

    >>> subject_of("so the tap in our cellar drips".split()), subject_of(["i", "sing"]).who
    (Subject(stems=('tap',), who='', verb=6), 'self')
    """
    start = next((place for place, word in enumerate(words) if word not in _OPENERS), len(words))
    if start == len(words):
        return Subject((), "anyone", start)
    first = words[start]
    if first in _AUXILIARIES or first in _PAST:
        return Subject((), "anyone", start)
    who = (
        "self"
        if first in ("i", "we")
        else "third"
        if first in ("he", "she")
        else "anyone"
        if first in _IMPERSONAL
        else ""
    )
    if who:
        return Subject((), who, start + 1)
    verb, stems = start + _verb_at(words[start:]), list[str]()
    for word in words[start:verb]:
        if word in _PREPOSITIONS and stems:
            break
        if (
            word not in _DETERMINERS
            and word not in _OWN
            and word not in _THIRD
            and word not in _PREPOSITIONS
            and (stem := _stem(word))
        ):
            stems.append(stem)
    return Subject(tuple(stems), "", verb)


@remembered
def _read(told: str) -> Sentence | None:
    """What is read of a sentence, nothing of a long one."""
    if len(told) > MOST_CHARACTERS or len(told.split()) > MOST_WORDS:
        return None
    text = " ".join(fold(_CONTRACTED.sub(" is ", told)).split())
    words = tuple(_WORD.findall(text))
    subject = subject_of(words)
    named = features(told).entities
    names = frozenset(_stem(part) for name in named for part in name.split())
    themes = frozenset(stem for word in words if _themed(word, stem := _stem(word)))
    near = words[subject.verb : subject.verb + 3]
    verb = next(
        (_stem(word) for word in near if word not in _AUXILIARIES and word not in _DENIALS), ""
    )
    return Sentence(text, words, themes, named, names, subject, verb, _past(words, subject))


def _past(words: Sequence[str], subject: Subject) -> bool:
    """Whether the first verb of a clause is in the past tense."""
    near = words[subject.verb : subject.verb + 3]
    first = next((word for word in near if word not in _ADVERBS), "")
    return first in _PAST or (
        len(first) > 3 and first.endswith("ed") and _PRESENT.isdisjoint(words[: subject.verb + 1])
    )


class _Saying(NamedTuple):
    """With which verb a clause says something of the present: its stem, "be" for a form of it; and
    whether the speaker is the subject.
    """

    verb: str
    himself: bool


def _saying(words: Sequence[str]) -> _Saying | None:
    """What a clause says something with; None in the past tense, or where no verb is seen."""
    subject = subject_of(words)
    verb = next((word for word in words[subject.verb :] if word not in _ADVERBS), "")
    if not verb or _past(words, subject):
        return None
    return _Saying("be" if verb in _BEING else _stem(verb), subject.who == "self")


def _whole(name: str) -> re.Pattern[str]:
    return re.compile(rf"\b{re.escape(name)}\b")


def _ends(text: str, name: re.Pattern[str]) -> bool:
    """Whether a text says that a name ended, or that somebody has done with it."""
    marked = name.sub("§", text)
    return bool(_DONE_WITH.search(marked) or _ENDED.search(marked))


def _stating(sentence: Sentence, name: re.Pattern[str]) -> list[tuple[str, ...]]:
    """The words of the clauses that name a name, if the sentence says something of the present with
    it: not in the past tense, or as what it turns to or gives another name up for.  None if it
    supposes, or says that the name ended.
    """
    if _SUPPOSED.search(sentence.text) or _ends(sentence.text, name):
        return []
    told = [clause for clause in _JOINT.split(sentence.text) if name.search(clause)]
    clauses = [tuple(_WORD.findall(clause)) for clause in told]
    now = (
        any(not _past(words, subject_of(words)) for words in clauses)
        or any(_TURNS.search(clause) for clause in told)
        or any(_ends(sentence.text, _whole(other)) for other in sentence.named)
    )
    return clauses if now else []


@remembered
def _sentences(text: str) -> tuple[str, ...]:
    """The first sentences that are no questions, of two words or more."""
    return tuple(
        islice((told for told in sentences_told(text) if " " in told.strip()), MOST_SENTENCES)
    )


@remembered
def _announcing(text: str) -> bool:
    """Whether any word of a text may announce a change."""
    words = " ".join(fold(told) for told in _sentences(text))
    announced = any(rule.search(words) for rule in (_TURNS, _RESTORED, _ENDS))
    return announced or " new " in f" {words}"


# --- the noun in its phrase -----------------------------------------------------------------------
def _owners(words: Sequence[str], stem: str) -> set[str]:
    """Who owns what a stem names, at each of its places: "self", "third", the stem before 's, ""
    without an owner.
    """
    owners = set()
    for place, word in enumerate(words):
        if _stem(word) == stem:
            owner = ""
            for before in reversed(words[max(0, place - 3) : place]):
                if before in _OWN or before in _THIRD or before.endswith("'s"):
                    owner = (
                        "self" if before in _OWN else "third" if before in _THIRD else _stem(before)
                    )
                    break
                if (
                    before in _DETERMINERS
                    or before in _PREPOSITIONS
                    or before in _AUXILIARIES
                    or before in _PAST
                    or before.endswith("ed")
                ):
                    break
            owners.add(owner)
    return owners


def _kinds(words: Sequence[str], stem: str) -> tuple[set[str], set[str]]:
    """Stems that say which one is meant: those before the noun in its phrase, and the first one
    behind a preposition after it.
    """
    before, after = set[str](), set[str]()
    for place, word in enumerate(words):
        if _stem(word) != stem:
            continue
        for nearby in reversed(words[max(0, place - 2) : place]):
            if (
                nearby in _DETERMINERS
                or nearby in _PREPOSITIONS
                or nearby in _OWN
                or nearby in _THIRD
                or nearby in _AUXILIARIES
                or nearby.endswith("'s")
            ):
                break
            before.add(_stem(nearby))
        for nearby in (
            words[place + 2 : place + 5]
            if words[place + 1 :] and words[place + 1] in _PLACED
            else ()
        ):
            if nearby in _PREPOSITIONS or nearby in _AUXILIARIES:
                break
            if nearby not in _DETERMINERS and nearby not in _OWN:
                after.add("(self)" if nearby in _SELF else _stem(nearby))
                break
    return before - _LIGHT, {kind for kind in after - _LIGHT if not _numeric(kind)}


def _same_owner(later: Sentence, earlier: Sentence, stem: str) -> bool:
    """Whether the owner of what a stem names may be the same in both sentences."""
    mine, theirs = _owners(earlier.words, stem), _owners(later.words, stem)
    said = later.stems
    for owner in theirs - mine - {""}:
        third = owner == "third" and (
            later.subject.who == "third" or not mine - {""} or not said.isdisjoint(mine)
        )
        if not third and not (owner == "self" and mine == {""}) and owner not in earlier.themes:
            return False
    return True


def _same_thing(later: Sentence, earlier: Sentence, stem: str) -> bool:
    """Whether owner, kind and place of a noun that both sentences name may be the same."""
    if not _same_owner(later, earlier, stem):
        return False
    said, meant = later.stems, earlier.stems
    (meant_kinds, at), (said_kinds, there) = _kinds(earlier.words, stem), _kinds(later.words, stem)
    return not (said_kinds - meant and meant_kinds - said) and not (there - meant and at - said)


def _only_a_kind(words: Sequence[str], stem: str, own: frozenset[str]) -> bool:
    """Whether a stem behind the verb only says which kind of another thing is meant: "the darts
    league".
    """
    places = [
        place
        for place in range(max(1, subject_of(words).verb), len(words))
        if _stem(words[place]) == stem
    ]
    return bool(places) and all(
        place + 1 < len(words)
        and (words[place - 1] in _DETERMINERS or words[place - 1] in _OWN)
        and _may_be_noun(words[place + 1])
        and _stem(words[place + 1]) not in own
        for place in places
    )


def _may_be_noun(word: str) -> bool:
    return (
        _themed(word, _stem(word)) and word not in _PAST and not word.endswith(("ed", "ing", "ly"))
    )


def _new_object(
    words: Sequence[str], verb: int, fresh: frozenset[str], own: frozenset[str]
) -> bool:
    """Whether what the verb is about is a new thing, with an article: "turned down a plan"."""
    for place in range(verb + 1, len(words)):
        stem = _stem(words[place])
        led = not (_DETERMINERS | {"new"}).isdisjoint(words[max(verb + 1, place - 2) : place])
        if led and (stem in fresh or stem in own):
            return stem in fresh
    return False


# --- a pair ---------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Pair:
    """An earlier sentence and one or two later ones."""

    later: tuple[Sentence, ...]
    earlier: Sentence

    @property
    def text(self) -> str:
        """What the later sentences say."""
        return " ".join(sentence.text for sentence in self.later)

    def stems(self) -> frozenset[str]:
        return frozenset[str]().union(*(sentence.stems for sentence in self.later))

    def fresh(self) -> frozenset[str]:
        """Themes of the later sentences that are none of the earlier one."""
        return (
            frozenset[str]().union(*(sentence.themes for sentence in self.later))
            - self.earlier.themes
        )

    def shared(self) -> frozenset[str]:
        """Themes of both, if both speak of the same; none if not."""
        earlier, stems = self.earlier, self.stems()
        both = frozenset(
            stem
            for stem in earlier.themes
            if any(stem in sentence.themes for sentence in self.later)
        )
        subject = [stem for stem in earlier.subject.stems if stem not in _LIGHT]
        if not both or (
            subject and (subject[-1] not in stems or not set(subject) & earlier.names <= stems)
        ):
            return frozenset()
        if not all(
            _same_thing(sentence, earlier, stem)
            for sentence in self.later
            for stem in both & sentence.themes - {earlier.verb}
        ):
            return frozenset()
        both = frozenset(
            stem
            for stem in both
            if not all(
                _only_a_kind(sentence.words, stem, earlier.themes)
                for sentence in self.later
                if stem in sentence.themes
            )
        )
        return both if self.of_speaker(both, self.earlier.words) else frozenset()

    def of_speaker(self, shared: frozenset[str], words: Sequence[str]) -> bool:
        """Whether what the speaker says in these words of himself, or of what is his, is not said
        of another later.
        """
        if subject_of(words).who != "self" and words[0] not in _OWN:
            return True
        return any(
            sentence.subject.who in ("anyone", "third")
            or not _SELF.isdisjoint(sentence.words)
            or any("self" in _owners(sentence.words, stem) for stem in shared)
            or any(not shared.isdisjoint(subject_of(clause).stems) for clause in sentence.clauses)
            for sentence in self.later
        )

    def announced(self, pattern: re.Pattern[str], shared: frozenset[str]) -> bool:
        """Whether a clause about a shared theme, or about a pronoun, has words of the pattern
        that the earlier sentence has not.
        """
        known = {match.group() for match in pattern.finditer(self.earlier.text)}
        for clause in (clause for sentence in self.later for clause in _JOINT.split(sentence.text)):
            words = _WORD.findall(clause)
            about = not shared.isdisjoint(map(_stem, words)) or not _BACK.isdisjoint(words[:2])
            if about and any(match.group() not in known for match in pattern.finditer(clause)):
                return True
        return False

    def renewed(self, shared: frozenset[str]) -> bool:
        """Whether one of the shared themes is called new."""
        return any(
            word == "new"
            and before != "the"
            and not shared.isdisjoint(map(_stem, sentence.words[place : place + 2]))
            for sentence in self.later
            for place, (before, word) in enumerate(pairwise(("", *sentence.words)), 1)
        )

    def revalued(self) -> bool:
        """Whether a day, a number or a name is another one later."""
        new = [
            set[str]().union(*kind)
            for kind in zip(*(sentence.values for sentence in self.later), strict=True)
        ]
        return any(
            before - after and after - before
            for before, after in zip(self.earlier.values, new, strict=True)
        )

    def same_object(self, shared: frozenset[str]) -> bool:
        """Whether what a person does or has is done to the same thing, or to nothing any more, and
        names agree.
        """
        earlier = self.earlier
        subject, at = frozenset(earlier.subject.stems), earlier.subject.verb
        person = (
            earlier.subject.who == "self"
            or not PERSONS.isdisjoint(earlier.words[:at])
            or bool(subject & earlier.names)
        )
        if not person and _HAVING.isdisjoint(earlier.words[at : at + 1]):
            return True
        # the last theme of the first phrase behind the verb
        target = ""
        for word in earlier.words[at:]:
            if target and (word in _PREPOSITIONS or word in _DETERMINERS):
                break
            if (stem := _stem(word)) in earlier.themes - subject - {earlier.verb}:
                target = stem
        named = (
            person
            and bool((earlier.themes & earlier.names) - subject - shared)
            and any(sentence.names - earlier.names for sentence in self.later)
        )
        given_up = (
            _stem(match[1]) == earlier.verb
            for sentence in self.later
            if sentence.subject.who == earlier.subject.who
            for match in _GIVEN_UP.finditer(sentence.text)
        )
        return (not target or target in shared or any(given_up)) and not named

    def tells(self) -> bool:
        """Whether the later sentences are short enough, and neither suppose nor add."""
        text = self.text
        return not (len(text.split()) > MOST_WORDS or _SUPPOSED.search(text) or _ADDED.search(text))

    def same_doer(self, clause: Sequence[str], name: frozenset[str]) -> bool:
        """Whether who has done with a name may be the one of whom a clause of the earlier sentence
        says it: "my aunt gave up Welsh" ends nothing that another learns.

        name  its stems
        """
        subject = subject_of(clause)
        stems = [stem for stem in subject.stems if stem not in _LIGHT]
        verb, after = (*clause[subject.verb : subject.verb + 2], "", "")[:2]
        # the speaker has done with what is his: "my dentist is Dr Pell"
        his = clause[0] in _OWN and verb in _BEING and not after.endswith("ing")
        named = not stems or not verb or his or stems[-1] in self.stems()
        return named and self.of_speaker(name | self.earlier.themes & self.stems(), clause)

    def replaced(self) -> bool:
        """Whether the earlier sentence states something with a name, "my dentist is Dr Pell", of
        which the later ones say that it ended, or beside which they say the same of another name.
        """
        earlier, text = self.earlier, self.text
        subject = earlier.subject.stems if earlier.subject.verb < len(earlier.words) else ()
        fresh = frozenset[str]().union(*(sentence.names for sentence in self.later)) - earlier.names
        for name in earlier.named:
            parts = [_stem(part) for part in name.split()]
            whole, stems = _whole(name), frozenset(parts)
            clauses = _stating(earlier, whole) if whole.search(text) else []
            if not clauses or not all(
                _same_owner(sentence, earlier, stem) for sentence in self.later for stem in stems
            ):
                continue
            marked = whole.sub("§", text)
            if parts[-1] not in subject and (
                _ENDED.search(marked)
                or (
                    _DONE_WITH.search(marked)
                    and any(self.same_doer(clause, stems) for clause in clauses)
                )
            ):
                return True
            said = {_saying(clause) for clause in clauses} - {None}
            for clause in (clause for sentence in self.later for clause in sentence.clauses):
                spoken = frozenset(map(_stem, clause))
                if (
                    parts[-1] not in spoken
                    and not fresh.isdisjoint(spoken)
                    and not spoken.isdisjoint(earlier.themes - earlier.names)
                    and _saying(clause) in said
                ):
                    return True
        return False

    def covered(self) -> float:
        """Share of the themes of the earlier sentence that the later ones name, if they say that
        it is no longer so; else 0.
        """
        if not self.tells():
            return 0.0
        if self.replaced():
            return 1.0
        earlier = self.earlier
        who = earlier.subject.who
        if (
            earlier.past
            or earlier.subject.verb >= len(earlier.words)
            or earlier.words[0] in ("a", "an")
            or _SUPPOSED.search(earlier.text)
        ):
            return 0.0
        if who == "third" or (who == "anyone" and earlier.words[0] != "there"):
            return 0.0
        shared = self.shared()
        if not shared or not self.same_object(shared) or not self.changes(shared):
            return 0.0
        # neither of them alone says which subject
        for stem in shared & frozenset(earlier.subject.stems) - earlier.names:
            narrowed = (
                kind
                for sentence in self.later
                for kinds in _kinds(sentence.words, stem)
                for kind in kinds - earlier.stems
            )
            if _kinds(earlier.words, stem)[0] - self.stems() or any(narrowed):
                return 0.0
        return len(shared) / len(earlier.themes)

    def changes(self, shared: frozenset[str]) -> bool:
        """Whether a change of what the earlier sentence says is announced."""
        earlier, fresh = self.earlier, self.fresh()
        flip = any(sentence.denied for sentence in self.later) != earlier.denied
        end, restored = self.announced(_ENDS, shared), self.announced(_RESTORED, shared)
        plain = not (end or restored or self.announced(_TURNS, shared) or self.renewed(shared))
        if plain and not (flip and earlier.denied and _WAITS.search(earlier.text)):
            return False
        if not _LIKES.isdisjoint(earlier.words) and not flip and not end:
            return False
        subject = frozenset(earlier.subject.stems)
        predicate = earlier.themes - subject - earlier.names
        again = any(
            _stem(word) == earlier.verb for sentence in self.later for word in sentence.words
        )
        if (
            not predicate
            and frozenset().union(*earlier.values) - subject
            and not (self.revalued() or end or flip)
        ):
            # it says when, how many or who, and of that the later one says nothing
            return False
        if plain and predicate and predicate.isdisjoint(shared):
            return False
        if again and not (fresh or flip or end or restored or self.revalued()):
            return False  # the same again
        return (
            again
            or not predicate.isdisjoint(shared)
            or not any(
                not subject.isdisjoint(clause_subject.stems)
                and _new_object(clause, clause_subject.verb, fresh, earlier.themes)
                for sentence in self.later
                for clause in sentence.clauses
                for clause_subject in (subject_of(clause),)
            )
        )


def _result(told: str) -> str:
    """What has been so since a change to something; another sentence as it is.

    >>> _result("They moved our talk to Monday."), _result("The rent was raised to 900 euros."), _result("The talk is on Monday.")
    ('our talk is Monday.', 'The rent is 900 euros.', 'The talk is on Monday.')
    """
    change = _RESULT.match(told)
    if change is None:
        return told
    return f"{(change['object'] or change['subject']).strip()} is {change['value']}"


@remembered
def covered_by_change(later: str, earlier: str) -> float:
    """Share of the themes of an earlier text of one sentence that a later text names and says to be
    no longer so, 1 if it says so of a name that the earlier one states; 0 if it does not.
    O(length).

    >>> covered_by_change("I gave up Welsh, it is hard.", "I am learning Welsh."), covered_by_change("My aunt gave up Welsh.", "I am learning Welsh.")
    (1.0, 0.0)
    >>> covered_by_change("I gave up knitting.", "I am knitting socks.")
    0.5
    """
    told = _sentences(earlier)
    old = _read(_result(told[0])) if len(told) == 1 else None
    if old is None or len(old.words) < 2:
        return 0.0
    if not (_WAITS.search(told[0]) or _announcing(later)) and frozenset(old.named).isdisjoint(
        features(later).entities
    ):
        return 0.0
    new = [
        read
        for text in _sentences(later)
        if (read := _read(text)) is not None and len(read.words) > 1
    ]
    if any(f" {' '.join(old.words)} " in f" {' '.join(sentence.words)} " for sentence in new):
        return 0.0
    return max(
        (
            _Pair(span, old).covered()
            for span in (*((sentence,) for sentence in new), *pairwise(new))
        ),
        default=0.0,
    )


@remembered
def ends_state(
    later: str, earlier: str, asked: frozenset[str], own: frozenset[str] = frozenset()
) -> bool:
    """Whether a later text announces a change of the subject of an earlier text of one sentence,
    and a question names this subject and a word of what the earlier one says of it.  O(length).

    asked  stems of the question
    own    stems of the speaker of both texts, if the question names the speaker, or asks in the
           first person; then "I" and "we" are a subject that it names

    What the later one says is then most likely the answer to whether the state still holds, though
    it has no word of it.  If the two speak of different fields of life, such as smoking and work,
    it is no answer.

    >>> asked = frozenset(("ada", "smoke"))
    >>> [ends_state(later, "Ada smokes.", asked) for later in ("Ada gave up cigarettes.", "Ada bought a hat.", "Ada gave up her job.")]
    [True, False, False]
    >>> [ends_state(later, "I smoke.", asked, frozenset(("ada",))) for later in ("I gave up cigarettes.", "My aunt gave up cigarettes.")]
    [True, False]
    """
    told = _sentences(earlier)
    old = _read(told[0]) if len(told) == 1 else None
    if old is None or old.past:
        return False
    himself = bool(own) and old.subject.who == "self"
    subject = (
        own if himself else frozenset(stem for stem in old.subject.stems if stem not in _LIGHT)
    )
    if not subject or not (himself or subject <= asked) or (asked - subject).isdisjoint(old.stems):
        return False
    state = _State(
        (old.themes | asked if himself else asked) - subject - _LIGHT,
        fields_of(old.stems | asked),
        subject
        if not himself and subject.isdisjoint(old.names) and _of_thing(old)
        else frozenset(),
    )
    return any(
        (_of_speaker(new, old, state.fields) if himself else _of_subject(new, old, subject))
        and _answers(new, state)
        for sentence in _sentences(later)
        if (new := _read(sentence)) is not None
    )


class _State(NamedTuple):
    """What is asked of a state.

    stems   that speak of it
    fields  of life in which it is
    thing   stems of its subject, if that is no person
    """

    stems: frozenset[str]
    fields: frozenset[str]
    thing: frozenset[str]


def _of_thing(old: Sentence) -> bool:
    """Whether the subject of a sentence, which has no name, is no person."""
    return PERSONS.isdisjoint(old.words[: old.subject.verb])


def _of_subject(new: Sentence, old: Sentence, subject: frozenset[str]) -> bool:
    """Whether a sentence speaks of the subject of an earlier one."""
    return (
        subject <= _Pair((new,), old).shared()
        and all(_kinds(new.words, stem)[0] <= old.stems for stem in subject - old.names)
        and any(_stem(word) in subject and not word.endswith("'s") for word in new.words)
    )


def _of_speaker(new: Sentence, old: Sentence, fields: frozenset[str]) -> bool:
    """Whether a sentence speaks of its speaker, as an earlier one does, or of a thing or person of
    which the earlier one says something, or of its fields of life.
    """
    stems = new.subject.stems
    return (
        not old.themes.isdisjoint(stems)
        or not fields_of(stems).isdisjoint(fields)
        or not _OBJECT_SELF.isdisjoint(new.words)
        or any(subject_of(clause).who == "self" for clause in new.clauses)
    )


def _answers(new: Sentence, state: _State) -> bool:
    """Whether a sentence announces a change of a state, and supposes and adds nothing.

    A word that is also said of things that change nothing, such as "sold", and one that is said of
    a thing, as in "gave the drill back", counts only if the sentence names the state, or a word of
    its field, or if the subject is a thing, and the word says something of it alone.
    """
    if _SUPPOSED.search(new.text) or _ADDED.search(new.text):
        return False
    named = not new.stems.isdisjoint(state.stems) or not fields_of(new.stems).isdisjoint(
        state.fields
    )
    thing = not state.thing.isdisjoint(new.subject.stems)
    renewed = any(
        word == "new" and _stem(after) in state.stems for word, after in pairwise(new.words)
    )
    return (
        renewed
        or any(named or _of_fields(match, state.fields) for match in _OVER.finditer(new.text))
        or any(
            named
            or (thing and match.group() in _OF_THINGS and not _said_of_thing(match))
            or (
                _of_fields(match, state.fields)
                and not (_weak(match.group()) or _said_of_thing(match))
            )
            for rule in (_ENDS, _TURNS, _RESTORED)
            for match in rule.finditer(new.text)
        )
    )


def _weak(words: str) -> bool:
    """Whether words that announce a change are also said of things that change nothing."""
    return words in _WEAK or words.startswith("this ")


def _of_fields(match: re.Match[str], fields: frozenset[str]) -> bool:
    """Whether words that announce a change, with their object, may be of some fields of life."""
    said = fields_of(map(_stem, (*_WORD.findall(match.group()), *_object(match))))
    return not said or not fields or not said.isdisjoint(fields)


def _object(match: re.Match[str]) -> list[str]:
    """The words directly behind those that announce a change, up to the end of the clause or a
    preposition other than "to".
    """
    words = list[str]()
    for word in _WORD.findall(_JOINT.split(match.string[match.end() :], maxsplit=1)[0])[
        :MOST_OBJECT
    ]:
        if word in _PREPOSITIONS and word != "to":
            break
        words.append(word)
    return words


def _said_of_thing(match: re.Match[str]) -> bool:
    """Whether words that announce a change have an object with an article or an owner: within them,
    directly behind them, or before "back".
    """
    words = match.group().split() + _object(match)[:1]
    if match.group() == "back":
        words += _WORD.findall(match.string[: match.start()])[-MOST_OBJECT:]
    return not (_DETERMINERS | _OWN | _THIRD).isdisjoint(words)
