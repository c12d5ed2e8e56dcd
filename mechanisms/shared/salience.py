"""Salience of a message, from the message alone: the hybrid scorer of True Memory, 4.1 stage 1.

A message of at most 50 characters gets the value of its speech act, a longer one a value from its
length, numbers, dates and emotional marks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ...engine.base.numerics import kernel
from ...engine.text.features import Features, SpeechAct

SHORT_MESSAGE: Final = 50  # characters; the paper's bound for the speech act rule
# The paper gives the values of commitment, correction, question and noise; the others are ours.  A
# statement gets 0.5, the neutral value of SALIENCE. Relationships and preferences get the value of
# a correction; decisions and instructions get a value between a correction and a commitment.
SPEECH_ACT_SALIENCE: Final[Mapping[SpeechAct, float]] = MappingProxyType({
    SpeechAct.COMMITMENT: 0.8, SpeechAct.CORRECTION: 0.6, SpeechAct.QUESTION: 0.2,
    SpeechAct.NOISE: 0.02,
    SpeechAct.DECISION: 0.7, SpeechAct.INSTRUCTION: 0.7, SpeechAct.RELATIONSHIP: 0.6,
    SpeechAct.PREFERENCE: 0.6, SpeechAct.STATEMENT: 0.5,
})  # fmt: skip


def salience(length: int, features: Features) -> float:
    """s: for a short message from its speech act, for a longer one from its contents.  True Memory,
    4.1 stage 1.  Cost: O(1).

    length  characters, length of the verbatim text

    >>> from ...engine.text.features import features
    >>> [salience(len(text), features(text)) for text in ("ok", "I promise to call.")]
    [0.02, 0.8]
    """
    if length <= SHORT_MESSAGE:
        return SPEECH_ACT_SALIENCE[features.act]
    return float(
        density(float(length), len(features.numbers), len(features.dates), features.emotion)
    )


@kernel
def density(length: float, numbers: float, dates: float, emotion: float) -> float:
    """s = 1 - 1/2 (1 - 0.3 l)(1 - 0.3 v)(1 - 0.3 d)(1 - 0.3 a), for more than 50 characters.
    Engineering: the paper names the four properties only.

    Each property alone can raise the salience, so their complements multiply.  A message with none
    of them has s = 0.5, as a short statement, so s is continuous at 50 characters.  Cost: O(1).

    length   characters  l = 1 - 50 / length
    numbers  1           v = 1 - 2^-numbers
    dates    1           d = 1 - 2^-dates
    emotion  1           emotional marks per word; a = emotion / (emotion + 0.1), 1/2 at one mark in
                         ten words
    returns  1           0.5..0.88

    >>> round(float(density(50.0, 0, 0, 0.0)), 6), round(float(density(100.0, 1, 0, 0.0)), 6)
    (0.5, 0.63875)
    """
    kept = (
        0.5
        * (1.0 - 0.3 * (1.0 - 50.0 / length))
        * (1.0 - 0.3 * (1.0 - 0.5**numbers))
        * (1.0 - 0.3 * (1.0 - 0.5**dates))
    )
    return float(1.0 - kept * (1.0 - 0.3 * emotion / (emotion + 0.1)))
