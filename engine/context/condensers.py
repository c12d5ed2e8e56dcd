"""Condensing a text to a number of tokens: code to its signatures, prose to its central sentences,
triples never altered.

Every form is extractive: it holds only words that the text has.  `condense` takes the first form
that fits:

    whole       the text
    signatures  code to its signatures, prose as it is
    excerpt     the sentences about the query, then the most central ones, as far as they fit; only
                if a sentence is about the query.  If the best sentence does not fit, the part of it
                around the words that match
    sentences   the outline, and the most central sentences that still fit
    outline     of each stretch of prose the first sentence and the questions
    summary     of the prose, as `engine.text.condensing.summary`
    sentences   those from the beginning that fit, if the first one does
    keywords    of the prose, as `engine.text.condensing.keywords`
    cut         the first part of the shortest form above

If a part of a text is about the query, every form shows that part: more tokens never lose the
sentence that is most about the query.  A sentence is cut only where the first one of a form does
not fit.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from math import log
from typing import Final

import numpy as np

from ..base.counts import plural
from ..text.condensing import by_centrality, keywords, sentences, summary
from ..text.features import terms_of
from ..text.memo import remembered
from ..text.words import terms_of_parts
from .quoting import blocks, closed, fence
from .tokens import LENGTH, TokenCounter

PYTHON: Final = frozenset({"py", "py3", "python", "python3", "pyi"})
PROSE: Final = frozenset({"text", "txt", "md", "markdown", "memories", "quote"})
# characters of Python that are parsed; longer code is read by line rules
PARSED: Final = 200_000
LONG: Final = 400  # characters of a line; a longer one is no signature
WIDEST: Final = 64  # characters of a token, at most, where a text is cut
# pieces of a text, at most, whose order and whose tokens are looked at
READ: Final = 256
NEAR: Final = 16  # words in which what matches is looked for together
WORD: Final = 24  # characters of a word; a longer run is read character by character
_RUN: Final = re.compile(r"\S+")
# Thai, Lao, Burmese, Khmer, kana, bopomofo and Han: scripts without spaces between words
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u312f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_MODIFIERS: Final = (
    r"(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|override|virtual|pub(?:\(\w+\))?|unsafe"
    r"|extern|inline|const|open|sealed|data)[ \t]+){0,6}"
)
_SIGNATURE: Final = re.compile(
    rf"[ \t]*{_MODIFIERS}(?:function\b\*?|func\b|fn\b|def\b|class\b|interface\b|trait\b|impl\b|struct\b|enum\b|module\b|namespace\b|protocol\b"
    r"|record\b|fun\b|sub\b|procedure\b|type[ \t]+\w+|create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|trigger|index)\b)",
    re.IGNORECASE,
)
_ARROW: Final = re.compile(
    r"[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+\w+[ \t]*(?::[^=\n]{0,80})?=[ \t]*(?:async[ \t]*)?"
    r"(?:function\b|\w+[ \t]*=>|\()"
)
_STATEMENTS: Final = frozenset({"if", "for", "while", "switch", "return", "else", "catch", "do",
                                "throw", "new", "await", "elif", "with", "print"})  # fmt: skip
_TRIPLE: Final = re.compile(
    r"\s*(?:\([^(),\n]{1,300}(?:,[^(),\n]{1,300}){2}\)|[^|\n]{1,300}\|[^|\n]{1,300}\|[^|\n]{1,300}"
    r"|\S[^\n]{0,300}? --\[[^\]\n]{1,200}\]--> ?\S[^\n]*)\s*"
)


class Form(StrEnum):
    """How much of a text is shown."""

    WHOLE = "whole"
    TEXT = "text"  # whole, but for the caption of its picture
    SIGNATURES = "signatures"
    EXCERPT = "excerpt"
    SENTENCES = "sentences"
    OUTLINE = "outline"
    SUMMARY = "summary"
    KEYWORDS = "keywords"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Condensed:
    """A text in the form that fits."""

    text: str
    form: Form


def condense(
    text: str, tokens: int, counter: TokenCounter = LENGTH, about: Collection[str] = ()
) -> str:
    """The text in its longest form that has at most so many tokens; "" for none.  See
    `condensed_to`.

    >>> condense("We met in Oslo. It rained all day. Did you keep the map? I lost mine.", 11)
    'We met in Oslo. Did you keep the map?'
    """
    return condensed_to(text, tokens, counter, about).text


def condensed_to(
    text: str, tokens: int, counter: TokenCounter = LENGTH, about: Collection[str] = ()
) -> Condensed:
    """The longest form that has at most so many tokens.

    about   stems, such as those of a query: sentences, lines of code or triples that hold the
            rarest of these stems are taken first, before any outline

    Cost: O(length), about 1 ms for 1,000 words; parsing Python about 1 ms for 100 lines.
    """
    return Condensing(text, counter, frozenset(about)).to(tokens)


class Condensing:
    """A text that is condensed, perhaps to several numbers of tokens: what depends on none of
    them is computed once, when it is first needed.
    """

    def __init__(self, text: str, counter: TokenCounter, stems: frozenset[str]) -> None:
        self.text, self._counter, self._stems = text, counter, stems

    def to(self, tokens: int) -> Condensed:
        """As `condensed_to`."""
        counter = self._counter
        if tokens <= 0:
            return Condensed("", Form.CUT)
        if self._tokens <= tokens:
            return Condensed(self.text, Form.WHOLE)
        if self._triples:
            return Condensed(_lines_that_fit(self.text, tokens, counter, self._stems), Form.CUT)
        if self._signatures and counter.tokens(self._signatures) <= tokens:
            return Condensed(self._signatures, Form.SIGNATURES)
        if self._pieces and (excerpt := self._pieces.about(tokens)):
            return Condensed(excerpt, Form.EXCERPT)
        if counter.tokens(self._outline) <= tokens:
            return _extended(self._parts, self._outline, tokens, counter)
        shortened = summary(self._plain)
        if counter.tokens(shortened) <= tokens:
            return Condensed(shortened, Form.SUMMARY)
        if beginning := self._beginning(tokens):
            return Condensed(beginning, Form.SENTENCES)
        words = keywords(self._plain)
        if counter.tokens(words) <= tokens:
            return Condensed(words, Form.KEYWORDS)
        return Condensed(
            cut(min(self._outline, shortened, words, key=len), tokens, counter), Form.CUT
        )

    @cached_property
    def _tokens(self) -> int:
        return self._counter.tokens(self.text)

    @cached_property
    def _triples(self) -> bool:
        return is_triples(self.text)

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        return _parts_of(self.text)

    @cached_property
    def _signatures(self) -> str:
        """The text with code as its signatures; "" if it has no code, or if that loses a stem."""
        short = (
            _written(self._parts, [part.content for part in self._parts])
            if any(part.code for part in self._parts)
            else ""
        )
        return short if self._stems & _stems(self.text) <= _stems(short) else ""

    @cached_property
    def _pieces(self) -> RankedPieces | None:
        """The pieces, with those about the stems first; None if no piece is about them."""
        pieces = Pieces.of_parts(self._parts, self._stems)
        held = pieces.held(self._stems) if self._stems else []
        return RankedPieces(pieces, held, self._counter, self._stems) if any(held) else None

    @cached_property
    def _outline(self) -> str:
        return _written(self._parts, [" ".join(part.outline) for part in self._parts])

    @property
    def _plain(self) -> str:
        return "\n".join(part.content for part in self._parts if not part.code) or self.text

    def _beginning(self, tokens: int) -> str:
        """The whole sentences from the beginning of the first prose that fit."""
        first = next((part for part in self._parts if part.places), None)
        if first is None:
            return ""
        taken, left = 0, self._counter.per_token * tokens
        while (
            taken < len(first.places)
            and (size := self._counter.units(first.places[taken]) + (taken > 0)) <= left
        ):
            taken, left = taken + 1, left - size
        while (
            taken
            and self._counter.tokens(
                beginning := _written([first], [" ".join(first.places[:taken])])
            )
            > tokens
        ):
            taken -= 1
        return beginning if taken else ""


def cut(text: str, tokens: int, counter: TokenCounter = LENGTH) -> str:
    """The first part of a text that has at most so many tokens, at the end of a word if there is
    one; an open fence is closed.  O(length log length).

    >>> cut("We met in Oslo, in the rain.", 3)
    'We met in'
    """
    if tokens <= 0:
        return ""
    low, high = 0, min(len(text), WIDEST * tokens)  # a prefix of `low` characters fits
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if counter.tokens(closed(text[:middle])) <= tokens else (low, middle - 1)
        )
    if low < len(text) and not text[low].isspace():
        end = max(text.rfind(space, low // 2, low) for space in " \n\t")
        low = end if end > 0 else low
    prefix = text[:low].rstrip()
    while prefix and counter.tokens(closed(prefix)) > tokens:
        prefix = prefix[:-1]
    return closed(prefix) if prefix else ""


def around(text: str, stems: Collection[str], tokens: int, counter: TokenCounter = LENGTH) -> str:
    """The part of a text around the words that hold some stems, at most so many tokens; "" if none
    holds any, or if not even one word fits.

    The part grows from the first of the words where most of the stems stand together: over these
    words, then to the right twice as fast as to the left, so that the part for more tokens contains
    the part for fewer.  In scripts without spaces a word is a character.  O(length).

    >>> around("It rained, and nobody came, and the password of the router is plum, and we left.", {"password"}, 8)
    'the password of the router is'
    """
    spans = _words(text)
    first, last = _densest(
        [
            frozenset(terms_of(text[start : end + shared], stem=True)).intersection(stems)
            for start, end, shared in spans
        ]
    )
    if first < 0 or tokens <= 0:
        return ""
    low, high, most = first, first, WIDEST * tokens
    grown = [(low, high)]
    while (low > 0 or high + 1 < len(spans)) and spans[high][1] - spans[low][0] <= most:
        outside = len(grown) - (last - first)  # steps beyond the words that hold the stems
        right = high < last or (high + 1 < len(spans) and (low == 0 or outside % 3 != 0))
        low, high = (low, high + 1) if right else (low - 1, high)
        grown.append((low, high))
    below, above = -1, len(grown) - 1  # the longest that fits, by halving
    while below < above:
        middle = (below + above + 1) // 2
        start, end = spans[grown[middle][0]][0], spans[grown[middle][1]][1]
        below, above = (
            (middle, above) if counter.tokens(text[start:end]) <= tokens else (below, middle - 1)
        )
    return text[spans[grown[below][0]][0] : spans[grown[below][1]][1]] if below >= 0 else ""


def breadcrumb(row: int, text: str) -> str:
    """What stands after a condensed memory: where all of it is.

    >>> breadcrumb(812, "a" + chr(10) + "b"), breadcrumb(3, "a")
    ('[memory 812: 2 lines]', '[memory 3: 1 line]')
    """
    lines = len(text.splitlines()) or 1
    return f"[memory {row}: {plural(lines, 'line')}]"


# --- content --------------------------------------------------------------------------------------
def signatures(code: str, language: str = "") -> str:
    """The signatures in code, as written: of functions, classes and other definitions; its first
    line if it has none.

    language   label of a fence; Python is parsed, other code and Python with errors is read by line
               rules

    >>> print(signatures("class A(B):\\n    x = 1\\n    def f(self, y: int) -> int:\\n        return y"))
    class A(B):
        def f(self, y: int) -> int:
    """
    lines = (
        _python(code)
        if language.lower() in PYTHON or (not language and _SIGNATURE.search(code))
        else None
    )
    if lines is None:
        lines = [line.rstrip() for line in code.split("\n") if _is_signature(line)]
    return "\n".join(lines) or next((line for line in code.split("\n") if line.strip()), "")


def outline(prose: str) -> list[str]:
    """The first sentence, and the questions, in order.  O(length).

    >>> outline("We met. It rained. Where is the map?")
    ['We met.', 'Where is the map?']
    """
    parts = sentences(prose)
    return [part for place, part in enumerate(parts) if place == 0 or _asks(part)]


def is_triples(text: str) -> bool:
    """Whether every line is a triple: `(a, b, c)`, `a | b | c` or `a --[b]--> c`.  O(length).

    >>> is_triples("(Ada, lives in, Oslo)\\nBo --[knows]--> Ada"), is_triples("Ada lives in Oslo")
    (True, False)
    """
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(_TRIPLE.fullmatch(line) for line in lines)


def is_code(text: str) -> bool:
    """Whether a text outside of fences reads like code: at least two lines, most of which end or
    begin as statements do.  O(length).
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    like = sum(
        line.endswith(("{", "}", ";", "(", "})"))
        or line.startswith(("import ", "from ", "#include", "return "))
        or _is_signature(line)
        for line in lines
    )
    return len(lines) > 1 and 2 * like > len(lines)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a text.

    code      whether it is code
    content   signatures of code, else the text
    label     of its fence
    fenced    whether it had a fence
    places    of prose, its sentences
    lines     of code, all of its lines
    """

    code: bool
    content: str
    label: str
    fenced: bool
    places: tuple[str, ...]
    lines: tuple[str, ...] = ()

    @classmethod
    def of(cls, marks: str, label: str, text: str) -> _Part:
        code = (
            label.lower() not in PROSE
            if marks and label
            else is_code(text) or (bool(marks) and bool(_SIGNATURE.match(text)))
        )
        if code:
            return cls(
                True,
                signatures(text, label.split(" ")[0]),
                label,
                bool(marks),
                (),
                tuple(text.split("\n")),
            )
        return cls(False, text, label, bool(marks), tuple(sentences(text)))

    def pieces(self, stems: frozenset[str]) -> list[_Piece]:
        """What can be left out: each sentence, or the signatures together and each other line of
        code that holds some of the stems.
        """
        if not self.code:
            return [_Piece(text, ((place, text),)) for place, text in enumerate(self.places)]
        wanted, signed, others = self.content.split("\n"), list[tuple[int, str]](), list[_Piece]()
        held = _held(self.lines, stems) if stems else [set[str]()] * len(self.lines)
        for place, (line, of_line) in enumerate(zip(self.lines, held, strict=True)):
            if len(signed) < len(wanted) and line.rstrip() == wanted[len(signed)].rstrip():
                signed.append((place, wanted[len(signed)]))
            elif of_line:
                others.append(_Piece(line.rstrip(), ((place, line.rstrip()),)))
        return [_Piece(self.content, tuple(signed)), *others]

    @property
    def outline(self) -> list[str]:
        return (
            [self.content]
            if self.code
            else [part for place, part in enumerate(self.places) if place == 0 or _asks(part)]
        )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A piece of a part: its text, and its sentences or lines with their places in the part."""

    text: str
    lines: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text in pieces that can be left out: sentences of prose, the signatures of a stretch of
    code together, and lines of it about the query.

    texts  of the pieces, in order
    """

    texts: tuple[str, ...]
    _parts: tuple[_Part, ...]
    # place of the part that each piece is from, and the piece
    _of: tuple[tuple[int, _Piece], ...]

    @classmethod
    def of(cls, text: str, about: Collection[str] = ()) -> Pieces:
        """O(length).

        about  stems; a line of code that holds some is a piece

        >>> Pieces.of("We met. It rained.").texts
        ('We met.', 'It rained.')
        """
        return cls.of_parts(_parts_of(text), frozenset(about))

    @classmethod
    def of_parts(cls, parts: Sequence[_Part], about: frozenset[str] = frozenset()) -> Pieces:
        """The pieces of parts that are known."""
        every = [(i, piece) for i, part in enumerate(parts) for piece in part.pieces(about)]
        return cls(tuple(piece.text for _, piece in every), tuple(parts), tuple(every))

    def written(self, places: Collection[int]) -> str:
        """The text of some pieces, code in its fence again.

        >>> Pieces.of("We met. It rained. We left.").written({0, 2})
        'We met. We left.'
        """
        shown = [
            sorted(
                line
                for k, (of, piece) in enumerate(self._of)
                if of == i and k in places
                for line in piece.lines
            )
            for i in range(len(self._parts))
        ]
        return _written(
            self._parts,
            [
                ("\n" if part.code else " ").join(text for _, text in lines)
                for part, lines in zip(self._parts, shown, strict=True)
            ],
        )

    def is_code(self, place: int) -> bool:
        """Whether a piece is code."""
        return self._parts[self._of[place][0]].code

    def held(self, stems: frozenset[str]) -> list[float]:
        """For each piece the sum of the idf of the stems that it holds; the idf are those over all
        pieces.
        """
        own = _held(self.texts, stems)
        often = Counter(stem for piece_stems in own for stem in piece_stems)
        return [
            sum(log((len(own) + 1) / often[stem]) for stem in sorted(piece_stems))
            for piece_stems in own
        ]


class RankedPieces:
    """The pieces of a text about some stems, in the order in which they are shown: those that hold
    most of the stems, then the most central ones.

    Of a long text only the pieces near those that hold most of the stems are ranked, and only their
    tokens are counted.

    held  of each piece, as `Pieces.held` gives it; above 0 for at least one piece
    best  the piece that is shown first
    """

    def __init__(
        self, pieces: Pieces, held: Sequence[float], counter: TokenCounter, stems: frozenset[str]
    ) -> None:
        self._pieces, self._counter, self._stems = pieces, counter, stems
        near = near_best(held)
        rank = {
            near[at]: n
            for n, at in enumerate(by_centrality([pieces.texts[place] for place in near]))
        }
        self._order = sorted(near, key=lambda place: (-held[place], rank[place]))
        self.best = pieces.texts[self._order[0]]

    @cached_property
    def _sizes(self) -> list[int]:
        """Units of the pieces in order, with what stands between two."""
        return [self._counter.units(self._pieces.texts[place]) + 1 for place in self._order]

    def about(self, tokens: int) -> str:
        """The pieces that fit.  If the best piece does not fit, the part of it around the words
        that match.
        """
        taken, left = list[int](), self._counter.per_token * tokens
        for place, size in zip(self._order, self._sizes, strict=True):
            if size <= left + (not taken):
                taken.append(place)
                left -= size
            elif not taken:
                break  # no piece takes the place of the best one
        while taken:
            if self._counter.tokens(excerpt := self._pieces.written(frozenset(taken))) <= tokens:
                return excerpt
            taken.pop()
        return around(self.best, self._stems, tokens, self._counter)


def near_best(held: Sequence[float]) -> list[int]:
    """Places, ascending, of all pieces if there are at most READ.  Else of READ pieces: those that
    hold most, of equal pieces the first ones, and those nearest to the best piece.

    >>> near_best([0.0] * 300 + [2.0] + [0.0] * 300 + [1.0])[::64]
    [173, 237, 301, 365]
    """
    n = len(held)
    if n <= READ:
        return list(range(n))
    most = sorted(
        (place for place in range(n) if held[place] > 0.0), key=lambda place: (-held[place], place)
    )[: READ // 2]
    best = most[0] if most else 0
    around_best = sorted(
        set(range(n)).difference(most), key=lambda place: (abs(place - best), place)
    )[: READ - len(most)]
    return sorted([*most, *around_best])


def _held(texts: tuple[str, ...], stems: frozenset[str]) -> list[set[str]]:
    """Which of some stems each text holds, read at once: a long text has thousands of pieces."""
    read = terms_of_parts(texts)
    known = {i: word for i, word in enumerate(read.words) if word in stems}
    places = np.flatnonzero(np.isin(read.numbers, list(known)))
    held = [set[str]() for _ in texts]
    for text, number in zip(
        np.searchsorted(read.ends, places, "right").tolist(),
        read.numbers[places].tolist(),
        strict=True,
    ):
        held[text].add(known[number])
    return held


@remembered
def _parts_of(text: str) -> tuple[_Part, ...]:
    return tuple(_Part.of(*block) for block in blocks(text))


def _stems(text: str) -> frozenset[str]:
    return frozenset(terms_of(text, stem=True, stop_words=True))


def _words(text: str) -> list[tuple[int, int, int]]:
    """(start, end, characters of what follows that are read with it) of each word; of scripts
    without spaces and in long runs each character.
    """
    words = list[tuple[int, int, int]]()
    for word in _RUN.finditer(text):
        if len(word[0]) <= WORD and not _UNSPACED.search(word[0]):
            words.append((*word.span(), 0))
        else:
            words += [(at, at + 1, int(at + 1 < word.end())) for at in range(*word.span())]
    return words


def _densest(held: Sequence[frozenset[str]]) -> tuple[int, int]:
    """The first and the last word of the stretch of at most NEAR words that holds most of the
    stems, the shortest of these, then the first; or -1.

    A word weighs more the fewer words hold its stems.
    """
    often = Counter(stem for word_stems in held for stem in word_stems)
    at = [n for n, word_stems in enumerate(held) if word_stems]
    best, stretch = (0.0, 0), (-1, -1)
    for i, start in enumerate(at):
        seen, weight = set[str](), 0.0
        for end in at[i : i + NEAR]:
            if end - start >= NEAR:
                break
            weight += sum(log((len(held) + 1) / often[stem]) for stem in sorted(held[end] - seen))
            seen |= held[end]
            if (weight, start - end) > best:
                best, stretch = (weight, start - end), (start, end)
    return stretch


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’)*_ ").endswith(("?", "？", "؟"))


def _written(parts: Sequence[_Part], contents: list[str]) -> str:
    """The parts with these contents, those that had a fence in one again; parts without content
    are left out.
    """
    shown = []
    for part, content in zip(parts, contents, strict=True):
        if content.strip():
            marks = fence([content])
            shown.append(f"{marks}{part.label}\n{content}\n{marks}" if part.fenced else content)
    return "\n".join(shown)


def _extended(parts: Sequence[_Part], base: str, tokens: int, counter: TokenCounter) -> Condensed:
    """The outline and the sentences that still fit, the most central ones first."""
    every = [
        (i, place, text) for i, part in enumerate(parts) for place, text in enumerate(part.places)
    ]
    taken = {(i, place) for i, place, text in every if place == 0 or _asks(text)}
    order = [every[at] for at in by_centrality([text for *_, text in every])]
    left = counter.per_token * (tokens - counter.tokens(base))
    added = []
    for i, place, text in order:
        size = counter.units(text) + 1
        if (i, place) not in taken and size <= left:
            taken.add((i, place))
            added.append((i, place))
            left -= size
    while added:
        extended = _written(
            parts,
            [
                part.content
                if part.code
                else " ".join(text for place, text in enumerate(part.places) if (i, place) in taken)
                for i, part in enumerate(parts)
            ],
        )
        if counter.tokens(extended) <= tokens:
            return Condensed(extended, Form.SENTENCES)
        taken.remove(added.pop())
    return Condensed(base, Form.OUTLINE)


def _lines_that_fit(text: str, tokens: int, counter: TokenCounter, stems: frozenset[str]) -> str:
    """The whole lines that fit, in the order of the text.  Lines that hold most of the stems are
    taken first, then the first lines, up to one that does not fit.
    """
    lines = text.split("\n")
    order = (
        sorted(range(len(lines)), key=lambda n: (-len(stems & _stems(lines[n])), n))
        if stems
        else range(len(lines))
    )
    kept, left = list[int](), tokens * counter.per_token
    for n in order:
        left -= counter.units(lines[n]) + 1
        if left < -1:
            break
        kept.append(n)
    while kept and counter.tokens("\n".join(lines[n] for n in sorted(kept))) > tokens:
        kept.pop()
    return "\n".join(lines[n] for n in sorted(kept))


def _python(code: str) -> list[str] | None:
    """Lines of the definitions in Python code; None if it cannot be parsed or defines nothing."""
    if len(code) > PARSED:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    lines = code.splitlines()
    kept: set[int] = set()
    for node in _definitions(tree):
        first, body = min([node.lineno, *(d.lineno for d in node.decorator_list)]), node.body[0]
        start = min([body.lineno, *(d.lineno for d in getattr(body, "decorator_list", ()))])
        kept.update(range(first, max(start, node.lineno + 1)))
    shown = [lines[n - 1].rstrip() for n in sorted(kept) if n <= len(lines)]
    return [line for line in shown if line.strip() and not line.lstrip().startswith("#")] or None


def _definitions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Definitions of the module and of its classes, at any depth of classes; those inside
    functions are left out.
    """
    definitions, todo = [], list[ast.stmt](tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            definitions.append(node)
        if isinstance(node, ast.ClassDef | ast.If | ast.Try):
            todo.extend(node.body)
    return definitions


def _is_signature(line: str) -> bool:
    if len(line) > LONG:
        return False
    if _SIGNATURE.match(line):
        return (
            "(" in line
            or "{" in line
            or line.rstrip().endswith((":", ";"))
            or len(line.split()) <= 4
        )
    if _ARROW.match(line):
        return "=>" in line or "function" in line
    head, bracket, rest = line.partition("(")
    words = head.split()
    return (
        bracket == "("
        and len(words) > 1
        and words[0] not in _STATEMENTS
        and words[-1] not in _STATEMENTS
        and "=" not in head
        and "." not in head
        and rest.rstrip().endswith("{")
    )
