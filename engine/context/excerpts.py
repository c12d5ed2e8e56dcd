"""Excerpts: of many memories the sentences that together cover the most about a query, short memories whole.

A memory of more than 128 tokens is divided into sentences, code into its signatures; a shorter one, and one that the memory itself condensed, is one
piece.  A piece j of memory i is worth

    r_j = s_i^4 (1 + 8 o_j),    o_j = idf of the query's stems that j holds / idf of all stems of the query

with the relevance s_i of the memory on [0, 1].  Those pieces are chosen whose stems weigh most together, each by its idf over the pieces and by
the best piece that holds it (`coverage`), under the cost of their tokens and of a head for each memory that is shown.  The two constants were tried
on four chats of BEAM 100K, where exponents from 2 and factors from 4 change the share of the answer by 0.02 at most.
"""
from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..text.features import terms_of
from .condensers import Condensed, Form, Pieces, is_triples
from .coverage import Concepts, cover_within
from .formats import Candidate, Format
from .tokens import TokenCounter

STEEP: Final = 4.0          # exponent of a memory's relevance
BEARING: Final = 8.0        # worth of a piece with all stems of the query, above that of one with none


def excerpts(candidates: Sequence[Candidate], relevance: Sequence[float], room: int, counter: TokenCounter, form: Format, about: frozenset[str],
             long: int) -> dict[int, Condensed]:
    """By number of candidate, what is shown of it.

    relevance  of each candidate, on [0, 1]
    room       units of all items, heads included
    about      stems of the query
    long       tokens above which a memory is divided

    Cost: O(length), about 1 ms for 1,000 words.
    """
    pieces = [Pieces.of(c.text) if _divides(c, counter, long) else None for c in candidates]
    texts, group, first = list[str](), list[int](), list[int]()
    for n, (c, of) in enumerate(zip(candidates, pieces, strict=True)):
        first.append(len(texts))
        texts += of.texts if of else (c.text,)
        group += [n] * (len(of.texts) if of else 1)
    if not texts:
        return {}
    terms = [frozenset(terms_of(text, stem=True, stop_words=True)) for text in texts]
    held = Counter(term for each in terms for term in each)
    idf = {term: math.log((len(texts) + 1) / h) for term, h in held.items()}
    asked = math.fsum(idf.get(term, math.log(len(texts) + 1)) for term in about) or 1.0      # fsum: the same in any order of a set
    worth = [relevance[n] ** STEEP * (1.0 + BEARING * math.fsum(idf[term] for term in each & about) / asked)
             for n, each in zip(group, terms, strict=True)]
    plain = Concepts.of([sorted(each) for each in terms], idf)
    costs = [counter.units(text) + 1 for text in texts]
    heads = [counter.units(form.item(c, "", Form.EXCERPT if of else c.form)) + counter.units(form.between)
             for c, of in zip(candidates, pieces, strict=True)]
    chosen = cover_within(Concepts(plain.start, plain.concept, plain.weight, np.array(worth)), costs, room, group, heads).tolist()
    places_of: dict[int, set[int]] = {}
    for place in chosen:
        places_of.setdefault(group[place], set()).add(place - first[group[place]])
    found = {}
    for n, places in sorted(places_of.items()):
        of, c = pieces[n], candidates[n]
        whole = of is None or len(places) == len(of.texts)
        found[n] = Condensed(c.text, c.form) if of is None or whole else Condensed(of.written(places), Form.EXCERPT)
    return found


def _divides(c: Candidate, counter: TokenCounter, long: int) -> bool:
    return c.form is Form.WHOLE and c.forms is None and counter.tokens(c.text) > long and not is_triples(c.text)
