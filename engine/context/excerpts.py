"""Excerpts: of many memories the sentences that together cover the most about a query, short
memories whole.

A memory of more than 128 tokens is divided into sentences, code into its signatures and the lines
about the query; a shorter one, and one that the memory itself condensed, is one piece.  A piece j
of memory i is worth

    r_j = s_i^4 (1 + 8 o_j),    o_j = idf of the query's stems that j holds / idf of all stems of
                                the query

with the relevance s_i of the memory on [0, 1].  Those pieces are chosen whose stems weigh most
together, each by its idf over the pieces and by the best piece that holds it (`coverage`), under
the cost of their tokens and of a head for each memory that is shown.  The two constants were tried
on four chats of BEAM 100K, where exponents from 2 and factors from 4 change the share of the answer
by 0.02 at most.

Which memories are shown is decided before (`selection`), so that a larger context shows those of a
smaller one.  Each shows at least the piece that is most about the query.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..text.features import terms_of
from .condensers import Condensed, Form, Pieces, is_triples, near_best
from .coverage import Concepts, cover_within
from .formats import Candidate, Format
from .quoting import escaped
from .tokens import TokenCounter

STEEP: Final = 4.0  # exponent of a memory's relevance
# worth of a piece with all stems of the query, above that of one with none
BEARING: Final = 8.0
FENCE: Final = 16  # units of the fence of a piece of code


def excerpts(
    candidates: Sequence[Candidate],
    relevance: Sequence[float],
    room: int,
    counter: TokenCounter,
    form: Format,
    about: frozenset[str],
    long: int,
    allowed: Sequence[float] = (),
) -> dict[int, Condensed]:
    """By number of candidate, what is shown of it.

    relevance  of each candidate, on [0, 1]
    room       units of all items, heads included
    about      stems of the query
    long       tokens above which a memory is divided
    allowed    units that are set aside for each candidate, so that the piece of it that is most
               about the query is shown; one in which this does not fit is left out, and what is set
               aside for it is not used.  (): none, so some candidates are left out

    Cost: O(length), about 1 ms for 1,000 words.
    """
    pieces = [Pieces.of(c.text, about) if _divides(c, counter, long) else None for c in candidates]
    heads = [
        counter.units(form.item(c, "", Form.EXCERPT if of else c.form))
        + counter.units(form.between)
        for c, of in zip(candidates, pieces, strict=True)
    ]
    texts, costs, group, places, leads = (
        list[str](),
        list[int](),
        list[int](),
        list[int](),
        list[int](),
    )
    for n, (c, of) in enumerate(zip(candidates, pieces, strict=True)):
        held = of.held(about) if of else [0.0]
        own = near_best(held)
        parts = [of.texts[place] for place in own] if of else [c.text]
        sizes = [
            counter.units(escaped(text)) + (FENCE if of and of.is_code(place) else 1)
            for place, text in zip(own, parts, strict=True)
        ]
        lead = max(range(len(own)), key=lambda at: held[own[at]], default=0)
        if not own or (allowed and heads[n] + sizes[lead] > allowed[n]):
            room -= int(allowed[n]) if allowed else 0
            continue
        leads += [len(texts) + lead] if allowed else []
        texts += parts
        places += own
        costs += sizes
        group += [n] * len(own)
    if not texts:
        return {}
    terms = [frozenset(terms_of(text, stem=True, stop_words=True)) for text in texts]
    chosen = cover_within(
        _concepts(terms, group, relevance, about), costs, room, group, heads, leads
    ).tolist()
    places_of: dict[int, set[int]] = {}
    for at in chosen:
        places_of.setdefault(group[at], set()).add(places[at])
    by_candidate = {}
    for n, shown in sorted(places_of.items()):
        of, c = pieces[n], candidates[n]
        whole = of is None or len(shown) == len(of.texts)
        by_candidate[n] = (
            Condensed(c.text, c.form)
            if of is None or whole
            else Condensed(of.written(shown), Form.EXCERPT)
        )
    return by_candidate


def _concepts(
    terms: Sequence[frozenset[str]],
    group: Sequence[int],
    relevance: Sequence[float],
    about: frozenset[str],
) -> Concepts:
    """The stems of pieces, weighed by their idf over these pieces, with the worth of each piece."""
    held = Counter(term for piece_terms in terms for term in piece_terms)
    idf = {term: math.log((len(terms) + 1) / h) for term, h in held.items()}
    # fsum: the same in any order of a set
    asked = math.fsum(idf.get(term, math.log(len(terms) + 1)) for term in about) or 1.0
    worth = [
        relevance[n] ** STEEP
        * (1.0 + BEARING * math.fsum(idf[term] for term in piece_terms & about) / asked)
        for n, piece_terms in zip(group, terms, strict=True)
    ]
    plain = Concepts.of([sorted(piece_terms) for piece_terms in terms], idf)
    return Concepts(plain.start, plain.concept, plain.weight, np.array(worth))


def _divides(c: Candidate, counter: TokenCounter, long: int) -> bool:
    return (
        c.form is Form.WHOLE
        and c.forms is None
        and counter.tokens(c.text) > long
        and not is_triples(c.text)
    )
