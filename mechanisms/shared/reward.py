"""Reward of a text, counted from word lists, and a hash table of cues of fixed size; engineering
shared by the reward mechanisms.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...engine.base.numerics import exact_kernel

# Porter stems.
GOOD_WORDS: Final = """
    amaz awesom beauti best bless celebr congratul delight enjoi excit fantast fun glad good grate great happi incred joi joy love nice perfect
    proud reliev success thank thrill win won wonder"""
BAD_WORDS: Final = """
    afraid alon angri annoi anxiou bad broke broken cri die disappoint fail failur frustrat hate horribl hurt lone lose lost miser pain sad scare
    sick sorri stress terribl unfortun unhappi upset worri worst"""
REWARDING: Final = frozenset(GOOD_WORDS.split())
PUNISHING: Final = frozenset(BAD_WORDS.split())


def cells(names: Iterable[str], size: int, most: int) -> NDArray[np.int64]:
    """Hash cells (most,) of the first `most` distinct cues, in a table of `size` cells; padded with
    -1.  Cost: O(names).

    Two names may share a cell, and then also their prediction; of m names a share of about m / size
    does.

    >>> cells(["ada", "bo", "ada"], 4096, 4).tolist() == [crc32(b"ada") % 4096, crc32(b"bo") % 4096, -1, -1]
    True
    """
    out = np.full(most, -1, dtype=np.int64)
    numbers = list(dict.fromkeys(crc32(name.encode("utf-8", "replace")) % size for name in names))[
        :most
    ]
    out[: len(numbers)] = numbers
    return out


def reward_in(terms: Iterable[str]) -> float:
    """r in (-1, 1): p / (1 + p) - n / (1 + n) for p rewarding and n punishing words; negation is
    ignored.  Engineering.

    >>> reward_in(["wonder"]), reward_in(["lost", "tree"]), reward_in([])
    (0.5, -0.5, 0.0)
    """
    p = n = 0
    for term in terms:
        p += term in REWARDING
        n += term in PUNISHING
    return p / (1 + p) - n / (1 + n)


@exact_kernel
def prediction(value: Any, cues: Any) -> float:
    """V(s) = sum_j V_j over the cues present.  Rescorla & Wagner (1972), summed prediction; in Daw,
    Kakade & Dayan (2002) relative to the average reward.  Cost: O(q).

    value  (c,)  reward  V of every cue
    cues   (q,)          cells of the cues present, each once; negative: none

    >>> prediction(np.array([0.3, 0.4, 9.0]), np.array([0, 1, -1]))
    0.7
    """
    total = 0.0
    for j in cues:
        if j >= 0:
            total += value[j]
    return total
