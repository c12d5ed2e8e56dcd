"""Importance: judges each event from its text alone, and keeps its valence.

Cortex reads an importance in the cascade (4.2.1) and in tagging (4.2.4), and prints no rule for it;
7.2 rates the module that computes it HONEST.  True Memory scores the salience of every stored
message (4.1, stages 1 and 9), with its gate on or off.  Any reader of SALIENCE or IMPORTANCE finds
the neutral 0.5 for every memory unless a mechanism of the set judges.

`form` chooses the rule.  `ours` starts from the value of the speech act and raises it by each thing
that the message holds: words of trouble, an event of a life, numbers, dates, identifiers, valence
and length.  Each closes a share of what is left to 1, so several add up and none is needed; hedged
statements lose a share.  `cortex` adds the steps of Cortex' public code from 0, over the words of
`ours`.  `true_memory` is the hybrid scorer of True Memory's gate.

Valence is the share of good words less the share of bad ones among both, as in Cortex' public code;
a word is of the other kind if one of the two words before it denies it.

The rules are for English.  Their agreement with grades given by hand to 100 messages is in the
evidence.  Cost: O(length) per event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from ...engine.base.numerics import formula
from ...engine.contract.columns import Column, Phase, Scope
from ...engine.contract.hooks import Incoming, Mechanism, Params, hook
from ...engine.contract.vocabulary import ROW, SALIENCE
from ...engine.text.english import word_set
from ...engine.text.features import Features, SpeechAct
from ...engine.text.words import stems
from ..shared.facts import TABLE, FactStanding, facts_of
from ..shared.salience import salience

# --- columns --------------------------------------------------------------------------------------
VALENCE = Column(
    "valence",
    np.float64,
    Scope.MEMORY,
    "1",
    0.0,
    "valence of the event: 1 all good, -1 all bad; 0: neither, or both alike",
    low=-1,
    high=1,
)

# --- words ----------------------------------------------------------------------------------------
# Porter stems.  What went wrong, in code and in life:
TROUBLE: Final = word_set("""
    error except traceback fail failur failed bug crash broken broke break timeout deni reject deprec corrupt outag incid leak vulner insecur
    regress lost lose loss steal stole stolen theft accid emerg injur wound hospit surgeri diagnos cancer diseas ill arrest evict bankrupt fire flood
    attack funer scam fraud hole danger unsaf
""")
# what came out well
GOOD: Final = word_set("""
    fix resolv solv success succeed pass complet ship deploi merg approv win won recov heal happi glad love great good wonder excel delight
    proud enjoi excit fantast amaz beauti perfect relief reliev celebr congratul thank better best nice fun
""")
# feelings that are bad, beside TROUBLE
SORROW: Final = word_set("""
    sad unhappi hate angri furiou afraid scare anxiou worri upset frustrat disappoint terribl horribl aw bad worst wors hurt pain cry cri tear
    griev grief lone depress stress regret miser annoi disgust
""")
CHOICE: Final = word_set("decid decis chose chosen choos switch migrat select pick opt settl adopt")
DECIDED: Final = word_set("decid decis")  # also of somebody else than the speaker
DESIGN: Final = word_set(
    "design architectur refactor pattern restructur modular decoupl abstract interfac schema"
)
DENIES: Final = word_set(
    "not no never without isn't wasn't don't doesn't didn't won't can't cannot aren't weren't hardly"
)
HEDGES: Final = word_set(
    "maybe perhaps probably possibly might just somehow guess fyi btw anyway sort kind bit"
)
# Nouns and verbs of a life that the table of facts does not hold.
LIFE: Final = word_set(
    "pregnant engag marri divorc widow adopt graduat retir inherit birth funer die dead promot hire diagnos"
)
LIFE_GROUPS: Final = frozenset({"job", "move", "marriage", "birth", "death"})
GROUPS: Final = MappingProxyType({predicate.name: predicate.group for predicate in TABLE})

# --- values ---------------------------------------------------------------------------------------
# What a message is worth by its speech act alone.  A bare statement is below the neutral 0.5, since
# most of what is said is one; a decision is above the 0.7 from which Cortex calls a memory strong.
BY_ACT: Final[Mapping[SpeechAct, float]] = MappingProxyType({
    SpeechAct.COMMITMENT: 0.75, SpeechAct.DECISION: 0.75, SpeechAct.CORRECTION: 0.62,
    SpeechAct.INSTRUCTION: 0.62, SpeechAct.RELATIONSHIP: 0.6, SpeechAct.PREFERENCE: 0.6,
    SpeechAct.STATEMENT: 0.35, SpeechAct.QUESTION: 0.2, SpeechAct.NOISE: 0.02,
})  # fmt: skip
SHORT: Final = 50  # characters up to which length adds nothing
LONG: Final = 500  # characters above which Cortex' public code adds a step
TAGS: Final = 3  # tags from which it adds one
# the steps of Cortex' public code
CORTEX_STEPS: Final[Mapping[str, float]] = MappingProxyType({
    "decision": 0.3, "trouble": 0.2, "design": 0.2, "tags": 0.1, "long": 0.1, "code": 0.1,
})  # fmt: skip


# --- equations ------------------------------------------------------------------------------------
@formula
def raised(base: float, shares: Sequence[float]) -> float:
    """s = 1 - (1 - b) prod (1 - x_k): each share closes its part of what is left to 1.  Ours.
    Cost: O(shares).

    base    1  b, value of the speech act, 0..1
    shares  1  x_k, each 0..1

    >>> raised(0.5, ()), round(raised(0.5, (0.4, 0.5)), 12)
    (0.5, 0.85)
    """
    left = 1.0 - base
    for share in shares:
        left *= 1.0 - share
    return 1.0 - left


@formula
def many(number: float) -> float:
    """1 - 2^-n: the first counts half, each further one half as much as the one before.  Ours.

    >>> many(0), many(1), many(2)
    (0.0, 0.5, 0.75)
    """
    return float(1.0 - 0.5**number)


@formula
def polarity(good: float, bad: float) -> float:
    """v = (g - b) / (g + b), 0 without either.  Cortex' public code.

    >>> polarity(0, 0), polarity(3, 1), polarity(0, 2)
    (0.0, 0.5, -1.0)
    """
    return (good - bad) / (good + bad) if good + bad else 0.0


def denied(words: Sequence[str], place: int) -> bool:
    """Whether one of the two words before a place denies the word that stands there.

    >>> denied(["it", "is", "not", "broken"], 3), denied(["not", "that", "it", "broke"], 3)
    (True, False)
    """
    return not DENIES.isdisjoint(words[max(place - 2, 0) : place])


def valence(words: Sequence[str]) -> float:
    """Valence of a text from its words in lower case, -1..1.  O(words).

    >>> valence("the tests failed".split()), valence("it is not broken and works great".split())
    (-1.0, 1.0)
    """
    good, bad = 0, 0
    for place, stem in enumerate(stems(list(words))):
        died = stem == "pass" and "away" in words[place + 1 : place + 2]
        pleasant = stem in GOOD and not died
        unpleasant = died or stem in TROUBLE or stem in SORROW
        if pleasant or unpleasant:
            turned = denied(words, place)
            good, bad = good + (pleasant is not turned), bad + (pleasant is turned)
    return polarity(good, bad)


def troubled(words: Sequence[str], identifiers: Sequence[str]) -> bool:
    """Whether a text tells that something went wrong: a word of trouble that is not denied, or the
    name of an exception.  O(words).

    >>> troubled("no error".split(), ()), troubled("it crashed".split(), ()), troubled((), ("TypeError",))
    (False, True, True)
    """
    return any(name.rstrip("()").endswith(("Error", "Exception")) for name in identifiers) or any(
        stem in TROUBLE and not denied(words, place)
        for place, stem in enumerate(stems(list(words)))
    )


def of_a_life(text: str, speaker: str, words: Sequence[str]) -> bool:
    """Whether a text tells an event of a life: a job, a move, a marriage, a birth, a death.
    O(length).

    >>> of_a_life("I moved to Oslo.", "Ada", ()), of_a_life("I live in Oslo.", "Ada", ())
    (True, False)
    """
    return not LIFE.isdisjoint(stems(list(words))) or any(
        fact.change
        and fact.standing is not FactStanding.PAST
        and GROUPS[fact.predicate] in LIFE_GROUPS
        for fact in facts_of(text, speaker)
        if fact.predicate in GROUPS
    )


def cortex_importance(features: Features, length: int, tags: int) -> float:
    """The sum of the steps of Cortex' public code, over our words.  O(words).

    length  characters
    tags    of the event
    """
    said = frozenset(stems(list(features.words)))
    holds = {
        "decision": not said.isdisjoint(CHOICE),
        "trouble": not said.isdisjoint(TROUBLE),
        "design": not said.isdisjoint(DESIGN),
        "tags": tags >= TAGS,
        "long": length > LONG,
        "code": bool(features.identifiers),
    }
    return min(sum(step for name, step in CORTEX_STEPS.items() if holds[name]), 1.0)


# --- plug-in --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class EventImportanceParams(Params):
    form: Literal["ours", "cortex", "true_memory"]
    trouble: float  # share that words of trouble close; the others alike
    life: float
    number: float
    date: float
    code: float
    affect: float
    length: float
    hedge: float  # share that a hedged statement loses


class EventImportance(Mechanism[EventImportanceParams]):
    """Sets SALIENCE of each event, and VALENCE of each stored one."""

    owns = (VALENCE,)

    @hook(Phase.ENCODE, reads=(), adds=(), sets=(SALIENCE,))
    def judge(self, view: Any, incoming: Incoming) -> None:
        event, features = incoming.event, incoming.features
        if self.params.form == "true_memory":
            view.salience = salience(len(event.text), features)
        elif self.params.form == "cortex":
            tags = sum(name == "tags" for name, _ in event.attributes)
            view.salience = cortex_importance(features, len(event.text), tags)
        else:
            view.salience = self.worth(event.text, event.speaker, features)

    @hook(Phase.ENCODE, reads=(ROW,), adds=(), sets=(VALENCE,))
    def feel(self, view: Any, incoming: Incoming) -> None:
        view.valence[view.row] = valence(incoming.features.words)

    def worth(self, text: str, speaker: str, features: Features) -> float:
        """Importance of a message by the form `ours`, 0..1; a message that says nothing keeps the
        value of noise.
        """
        p, words, act = self.params, features.words, features.act
        if act is SpeechAct.NOISE:
            return BY_ACT[act]
        if act is SpeechAct.QUESTION:
            return raised(BY_ACT[act], (p.code * bool(features.identifiers),))
        if act is SpeechAct.STATEMENT and not DECIDED.isdisjoint(stems(list(words))):
            act = SpeechAct.DECISION
        trouble = troubled(words, features.identifiers)
        life = of_a_life(text, speaker, words)
        worth = raised(
            BY_ACT[act],
            (
                p.trouble * trouble,
                p.life * life,
                p.number * many(len(features.numbers)),
                p.date * many(len(features.dates)),
                p.code * bool(features.identifiers),
                p.affect * abs(valence(words)),
                p.length * (1.0 - SHORT / max(len(text), SHORT)),
            ),
        )
        hedged = act is SpeechAct.STATEMENT and not trouble and not HEDGES.isdisjoint(words)
        return worth * (1.0 - p.hedge * hedged)
