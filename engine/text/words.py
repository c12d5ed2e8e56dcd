"""Words of all scripts: folding, segmentation, and the terms that are indexed.

Folding is that of SQLite FTS5's `unicode61` with `remove_diacritics 2` for Latin, Greek and
Cyrillic: Latin letters lose their diacritics; `й`, `ё` and `ά` are letters of their own, as are
kana with voicing marks.  Beyond it: canonically equal texts are equal; `ß` is `ss`; letters of
compatibility blocks (full width, half width, ligatures, mathematical) are their plain letters;
digits of all scripts are ASCII digits; Hebrew points, Arabic vowel signs, tatweel and the hamza of
alef are left out, and the Persian yeh and keheh are the Arabic ones; invisible characters are left
out.

Segmentation follows UAX #29 (https://unicode.org/reports/tr29/) where scripts put spaces between
words: letters, digits and the marks on them make a word.  `_`, `.` and apostrophes part words, as
in FTS5.  Where scripts put no space (Chinese, Japanese, Thai, Lao, Khmer, Burmese, ...),
overlapping pairs of characters stand for words, as in Lucene's CJKBigramFilter; a Korean word is
indexed whole and by its pairs, because particles hang on nouns.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain
from typing import Final

import numpy as np
import Stemmer
from numpy.typing import NDArray

from .english import STOP_WORDS
from .memo import remembered
from .numbering import Stretches, numbered, strings

RULE: Final = "2"  # for terms; part of the format of a file, which is refused with another rule
# what ends a sentence before a space, beside `.`, `!` and `?`
STOPS: Final = "؟۔।॥።။。！？｡"
# Pattern of a place where a sentence ends without a space.
NO_SPACE: Final = r"(?:(?<=[。！？｡])|(?<=[。！？｡][」』”’）]))(?=[^。！？｡」』”’）\s])"
ASKS: Final = ("?", "？", "؟")  # what ends a question
# Inside a class: letters and marks of Indian, Thai, Lao, Tibetan, Burmese and Khmer words, and
# diacritics, of which `re` takes marks for no letters.
MARKED: Final = "\u0300-\u036f\u0900-\u0963\u0970-\u0e3a\u0e40-\u0e4e\u0eb1-\u0ece\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
# marks on one letter that are read, as in Unicode's stream-safe format (UAX #15)
PILED: Final = 30
# blocks of Han and Korean whose characters are of one kind, whatever is asked of them
ALIKE: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))
SENTENCE: Final = 512  # characters of a text whose words are found by a pattern
# a name here begins with the word before it, however far away that stands
REACHES_BACK: Final = "_&"
KEPT: Final = 0x20000  # characters below have their forms remembered
LONG: Final = 4_096  # characters of a text whose terms are told apart as numbers

# --------------------------------------------------------------------------------------------------


def sanitise(text: str) -> str:
    """The text in a form that can be indexed: surrogate pairs joined, lone surrogates replaced by
    U+FFFD, NUL removed.  O(length).

    >>> sanitise("a\\x00b \\ud800 \\ud83d\\ude00") == "ab \\ufffd 😀"
    True
    """
    if not text.isascii() and _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\x00", "")


def composed(text: str) -> str:
    """The text in Unicode's form NFC, of more than 30 marks on one letter the first 30: to order n
    marks takes time n^2.  O(length).

    >>> composed("e\\u0301") == "é"
    True
    """
    if text.isascii() or unicodedata.is_normalized("NFC", text := _PILE.sub(_first_marks, text)):
        return text
    return unicodedata.normalize("NFC", text)


def fold(text: str) -> str:
    """The text without distinctions of case, Latin diacritics, width and invisible characters: see
    the head of the module.  O(length).

    >>> fold("Ærø CAFÉ Zoë Ёж パパ ｶﾞ ٤٢")
    'ærø cafe zoe ёж パパ ガ 42'
    """
    if text.isascii():
        return text.lower()
    return (_fold_of_long if len(text) > LONG else _folded)(text)


def _folded(text: str) -> str:
    text = composed(composed(text).casefold())
    return composed(text.translate(_PLAIN)) if _CHANGED in _DISTINCT(text) else text


@remembered
def _fold_of_long(text: str) -> str:
    return _folded(text)


def _first_marks(match: re.Match[str]) -> str:
    if _MARKS not in _COMBINING(match.group()):  # a run of emoji, as a rule
        return match.group()
    kept, marks = list[str](), 0
    for char in match.group():
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= PILED:
            kept.append(char)
    return "".join(kept)


class _Shape:
    """Of each character of a text one ASCII character that says its kind; `of` is asked when the
    character, or one of a block of ALIKE, is first met.  O(length), a few ns a character.
    """

    def __init__(self, of: Callable[[str], str]) -> None:
        self._of, self._kinds = of, np.zeros(sys.maxunicode + 1, np.uint8)

    def __call__(self, text: str) -> str:
        return self.kinds(text).tobytes().decode("ascii")

    def kinds(self, text: str) -> NDArray[np.uint8]:
        """(length,) the ASCII code of the kind of each character."""
        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        kinds: NDArray[np.uint8] = self._kinds[codes]
        if kinds.all():
            return kinds
        new = np.unique(codes[kinds == 0])
        for first, last in ALIKE:
            if ((new >= first) & (new <= last)).any():
                self._kinds[first : last + 1] = ord(self._of(chr(first)))
        for code in new[self._kinds[new] == 0].tolist():
            self._kinds[code] = ord(self._of(chr(code)))
        kinds = self._kinds[codes]
        return kinds


class _Plain(dict[int, str]):
    """What `str.translate` puts in place of each character."""

    def __missing__(self, code: int) -> str:
        put = _plain(chr(code))
        if code < KEPT:
            self[code] = put
        return put


def _plain(char: str) -> str:
    """The plain form of a character in lower case and in NFC; "" for one that is left out."""
    code, category = ord(char), unicodedata.category(char)
    if char in _SAME:
        return _SAME[char]
    # ASCII in full width; these two end sentences without a space
    if 0xFF01 <= code <= 0xFF5E and char not in ASKS and char != "！":
        return chr(code - 0xFEE0).lower()
    # that is a space of no width
    if (category[0] == "M" and _LEFT_OUT.match(char)) or (category == "Cf" and char != "\u200b"):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    # a Thai or Lao vowel is one letter, though it was encoded as two before
    if category[0] != "L" or code < 0x80 or 0xE00 <= code < 0xF00:
        return char
    parted = unicodedata.normalize("NFD", char)
    if len(parted) > 1 and "LATIN" in unicodedata.name(parted[0], ""):
        return "".join(map(_plain, parted))
    plain = unicodedata.normalize("NFKC", char)
    return plain if plain == char else "".join(map(_plain, plain.casefold()))


_MARKS: Final = "m" * (PILED + 1)
_COMBINING: Final = _Shape(lambda char: "m" if unicodedata.combining(char) else " ")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PILE: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{PILED + 1},}}")
# Diacritics; Hebrew, Arabic and Syriac points; variation selectors.
_LEFT_OUT: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u06ed\u0711\u0730-\u074a\u0898-\u08ff\u1ab0-\u1aff\u1dc0-\u1dff"
    "\u20d0-\u20ff\ufb1e\ufe00-\ufe2f\U000e0100-\U000e01ef]"
)
_SAME: Final = {
    **dict.fromkeys("آأإٱ", "ا"),
    **dict.fromkeys("ىی", "ي"),
    "ک": "ك",
    "\u0640": "",  # spellings of one Arabic letter; tatweel
    "\u05f3": "",
    "\u05f4": "",  # geresh and gershayim, inside Hebrew abbreviations
}
_PLAIN: Final = _Plain()
_CHANGED: Final = "c"
_DISTINCT: Final = _Shape(lambda char: " " if char.isascii() or _plain(char) == char else _CHANGED)

# --------------------------------------------------------------------------------------------------


def words_of(folded: str, contracted: bool = False) -> list[str]:
    """Words of a folded text in order, a run of a script without spaces as one.  O(length).

    contracted  whether "don't" is one word

    >>> words_of(fold("The cats aren't in हिन्दी,护照C盘"))
    ['the', 'cats', 'aren', 't', 'in', 'हिन्दी', '护照', 'c', '盘']
    """
    if _is_plain(folded):
        words: list[str] = (_CONTRACTED if contracted else _WORD).findall(folded)
        return words
    kinds = _SHAPE.kinds(folded)
    joined = (kinds == ord("'")).any()
    # a pattern reads a sentence seven times as fast as arrays do, and a long text more slowly
    if (contracted and joined) or (len(folded) <= SENTENCE and not joined):
        shape = kinds.tobytes().decode("ascii")
        return [folded[slice(*match.span())] for match in _SHAPED_CONTRACTED.finditer(shape)]
    starts, ends = _units(np.where((kinds == ord("e")) | (kinds == ord("f")), ord(" "), kinds))
    return [folded[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def written(folded: str) -> list[str]:
    """Words of a folded text in order, and beside them the names that symbols make.  Emoji are
    words.  O(length).

    c++ c# lgbtq+   a word and what is attached to it
    #42 @ada .net   a word and what it is attached to
    at&t            words that are joined
    c=              a letter that stands alone, so that C is preferred to C++ where C is asked for;
                    of c, f, g, j, q and r alone

    >>> written(fold("Ada writes C++ at AT&T 🎉"))
    ['ada', 'writes', 'c', 'c++', 'at', 'at', 't', 'at&t', '🎉']
    >>> written(fold("Bo writes C."))
    ['bo', 'writes', 'c', 'c=']
    """
    if not _is_plain(folded):
        return _written_in_any_script(folded)
    words: list[str] = _WORD.findall(folded)
    lone = not _LONE.isdisjoint(words)
    if (
        not lone
        and "#" not in folded
        and "@" not in folded
        and "&" not in folded
        and "+" not in folded
        and not _NAMES["."].search(folded)
    ):
        return words
    names = _names_in(folded, folded, _NAMES, _LONE_LETTER if lone else None)
    return _with_names(folded, names) if names else words


def _written_in_any_script(folded: str) -> list[str]:
    kinds = _SHAPE.kinds(folded)
    starts, ends = _units(kinds)
    words = [folded[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    listed, taken = list[str](), 0
    for before, name in _behind_words(folded, kinds, starts, ends):
        listed += [*words[taken:before], name]
        taken = before
    return listed + words[taken:]


def _units(kinds: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each word, emoji and flag begins, and the place behind it.

    kinds  (length,) of the characters, by `_kind`

    A word is a run of letters and marks of scripts with spaces that does not begin with a mark
    (w, 0, m), of scripts without spaces (d, n), or of Korean (h); a flag is two halves (f).
    """
    group = _GROUPS[kinds]
    edges = np.flatnonzero(np.diff(group, prepend=0, append=0))
    starts, ends = edges[:-1], edges[1:]
    inside = group[starts] > 0
    starts, ends = starts[inside], ends[inside]
    marked = kinds[starts] == ord("m")
    if marked.any():
        letters = np.append(np.flatnonzero(kinds != ord("m")), len(kinds))
        starts[marked] = letters[np.searchsorted(letters, starts[marked])]
        starts, ends = starts[starts < ends], ends[starts < ends]
    length = _UNIT_LENGTHS[group[starts]]  # 0: the whole run
    if not length.any():
        return starts, ends
    count = np.where(length > 0, (ends - starts) // np.maximum(length, 1), 1)
    nth = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    starts, length, ends = (np.repeat(array, count) for array in (starts, length, ends))
    starts = starts + nth * length
    return starts, np.where(length > 0, starts + length, ends)


Span = tuple[int, int, str]  # first place of a name, the place behind it, its kind


def _names_in(
    folded: str, read: str, names: dict[str, re.Pattern[str]], lone: re.Pattern[str] | None
) -> list[Span]:
    """Names of a folded text in order.  read: the text, or its shape, in which the patterns are
    sought.
    """
    spans = [
        (*match.span(), match.lastgroup or "")
        for symbol, pattern in names.items()
        if symbol in read
        for match in pattern.finditer(read)
        if symbol != "&" or read[match.end() : match.end() + 1] not in _OF_ADDRESS
    ]
    if lone:  # its pattern begins with what stands before
        spans += [
            (at, at + 1, "lone")
            for match in lone.finditer(f" {read}")
            if folded[at := match.start()] in _LONE
        ]
    return sorted(spans)


def _with_names(folded: str, names: list[Span]) -> list[str]:
    """Words of a plain text, each name after the word with which it ends."""
    listed, start = list[str](), 0
    for first, end, kind in names:
        listed += _WORD.findall(folded, start, first)
        before = listed[-1] if kind == "attached" and listed else ""
        listed += _WORD.findall(folded, first, end)
        listed.append(f"{before}{folded[first:end]}" + "=" * (kind == "lone"))
        start = end
    return [*listed, *_WORD.findall(folded, start)]


def _names(word: str, any: str, inner: str, letter: str) -> dict[str, re.Pattern[str]]:
    r"""For each symbol the pattern of the names that it makes, in a folded text or in its shape.
     It starts at the symbol, which is found fast.

    word   a word of a script with spaces    inner   what words are made of, inside a class
    any    a word of any script              letter  a letter
    """
    return {
        symbol: re.compile(pattern)
        for symbol, pattern in {
            "+": rf"(?P<attached>\+(?<={letter}\+)\+?(?![{inner}+#]))",
            "#": rf"(?P<attached>#(?<={letter}#)(?![{inner}+#]))|#(?<![{inner}#@&]#)(?:{any})",
            "&": rf"(?P<attached>&(?<=[{inner}]&)(?:{word})(?:&(?:{word}))*+)",
            "@": rf"@(?<![{inner}#@&]@)(?:{any})",
            ".": rf"\.(?<![^{_OPENER}]\.)(?={letter})(?:{any})",
        }.items()
    }


def _alone(letter: str, inner: str) -> re.Pattern[str]:
    """The pattern of a letter that stands alone, with the character before it."""
    return re.compile(rf"[^-{inner}'’.&@#:;=+/]{letter}(?![-{inner}'’&@#=+/]|[.:][{inner}])")


def terms_of(text: str, stem: bool = True, stop_words: bool = False) -> list[str]:
    """Index terms in order: what is `written`, runs of scripts without spaces as overlapping pairs
    of characters, a single one as it is.

    stem        Porter stems of terms of 3 to 64 characters; only words in the Latin alphabet change
    stop_words  English stop words are left out

    Of English text without symbols and lone letters, the form without stop words is that of SQLite
    FTS5's `porter unicode61` up to the two later rules of FTS5's stemmer (-bli, -logi).  FTS5 parts
    words at the marks of Hebrew, Arabic and Indian scripts, drops symbols, and takes a run of
    Chinese for one word.  O(length).

    >>> terms_of("The cats aren't running")
    ['the', 'cat', 'aren', 't', 'run']
    >>> terms_of("The cats aren't running C#", stop_words=True)
    ['cat', 'run', 'c', 'c#']
    >>> terms_of("她的护照 茶 여권을")
    ['她的', '的护', '护照', '茶', '여권을', '여권', '권을']
    """
    return list(_terms(text, stem, stop_words))


@dataclass(frozen=True, slots=True)
class NumberedTerms:
    """The terms of several texts, each distinct term once.

    words    the distinct terms in order of first appearance
    numbers  (n,) of all terms in order: places in `words`
    ends     (texts,) where the terms of each text end
    """

    words: tuple[str, ...]
    numbers: NDArray[np.int64]
    ends: NDArray[np.int64]


@remembered
def terms_of_parts(texts: tuple[str, ...]) -> NumberedTerms:
    """The terms of many texts, stemmed and without stop words, as `terms_of` gives them.

    Texts that are not all ASCII are read as one, with an emoji between them that none of them has,
    because reading one text has a cost beside that of its length.  Of texts that are, each distinct
    word is stemmed once.

    >>> terms_of_parts(("her cats", "cats and tea"))
    NumberedTerms(words=('cat', 'tea'), numbers=array([0, 0, 1]), ends=array([1, 3]))
    """
    whole = "\n".join(texts)
    if whole.isascii():
        return _terms_of_ascii(texts)
    mark = next((mark for mark in _UNASSIGNED if mark not in whole), "")
    if mark and len(texts) > 1:
        folded = fold(f"\n{mark}\n".join(texts))
        if not (REACHES_BACK in folded or _read_apart().search(folded)):
            return _parted(*_numbered_terms(folded, True, True), mark)
    listed = [_indexed(fold(text), True, True) for text in texts]
    places: dict[str, int] = {}
    numbers = [places.setdefault(term, len(places)) for term in chain.from_iterable(listed)]
    ends = list(accumulate(map(len, listed)))
    return NumberedTerms(tuple(places), np.array(numbers, np.int64), np.array(ends, np.int64))


def _terms_of_ascii(texts: tuple[str, ...]) -> NumberedTerms:
    """As `terms_of_parts`, of texts that are all ASCII."""
    spelt: dict[str, int] = {}
    listed = [
        [spelt.setdefault(word, len(spelt)) for word in written(text.lower())] for text in texts
    ]
    places: dict[str, int] = {}
    number_of = np.array(
        [
            -1 if word in STOP_WORDS else places.setdefault(sys.intern(stem), len(places))
            for word, stem in zip(spelt, _stemmed(list(spelt)), strict=True)
        ],
        np.int64,
    )
    numbers = number_of[np.fromiter(chain.from_iterable(listed), np.int64)]
    ends = np.cumsum(np.fromiter(map(len, listed), np.int64, len(listed)))
    kept = numbers >= 0
    return NumberedTerms(
        tuple(places), numbers[kept], np.append(0, np.cumsum(kept))[ends].astype(np.int64)
    )


def _parted(words: list[str], numbers: NDArray[np.int64], mark: str) -> NumberedTerms:
    """The terms of the texts between the marks, of which there is one at least."""
    number = words.index(mark)
    marks = np.flatnonzero(numbers == number)
    ends = np.append(marks, len(numbers)) - np.arange(len(marks) + 1)
    numbers = np.delete(numbers, marks)
    return NumberedTerms(
        (*words[:number], *words[number + 1 :]), numbers - (numbers > number), ends
    )


def terms_within(before: str, text: str, after: str) -> list[str]:
    """The terms of `before + text + after`, stemmed and without stop words; those of the text are
    read once, by `terms_of(text, True, True)` too, and so are those of a speaker.

    before, after  empty, or with a space next to the text

    >>> terms_within("Ada: ", "We moved.", " [a red house]")
    ['ada', 'move', 'red', 'hous']
    """
    folded = [fold(part) for part in (before, text, after)]
    plain = [_is_plain(part) for part in folded]
    # the words of the text may be other ones beside these
    if (plain[1] and not all(plain)) or any(REACHES_BACK in part for part in folded):
        return terms_of(f"{before}{text}{after}", True, True)
    if plain[1]:
        first, last = _terms(before, True, True), _terms(after, True, True)
    else:
        first, last = (
            _indexed(end, True, True, _written_in_any_script) for end in (folded[0], folded[2])
        )
    return [*first, *_terms(text, True, True), *last]


@remembered
def _terms(text: str, stem: bool, stop_words: bool) -> tuple[str, ...]:
    folded = fold(text)
    return (_long_terms if len(folded) > LONG else _indexed)(folded, stem, stop_words)


@remembered
def _long_terms(folded: str, stem: bool, stop_words: bool) -> tuple[str, ...]:
    """Of forms of a text that differ before folding, as those before and after composing."""
    return _indexed(folded, stem, stop_words)


def _indexed(
    folded: str, stem: bool, stop_words: bool, read: Callable[[str], list[str]] = written
) -> tuple[str, ...]:
    """The terms of a folded text; one string a term, however many texts are remembered."""
    if len(folded) > LONG and not _is_plain(folded):
        words, numbers = _numbered_terms(folded, stem, stop_words)
        return tuple(np.array([sys.intern(word) for word in words], object)[numbers].tolist())
    words, latin = read(folded), _LATIN.search(folded)
    if stop_words and latin:
        words = [word for word in words if word not in STOP_WORDS]
    if stem and latin:
        words = _stemmed(words)
    # after stemming, which changes no word of these scripts
    if any(word[0] >= FIRST_SPACELESS and len(word) > 1 for word in words):
        words = _pieces(words)
    return tuple(map(sys.intern, words))


def _numbered_terms(
    folded: str, stem: bool, stop_words: bool
) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct terms of a text that is not plain, in order of first appearance, and (n,) the
    place among them of each term of the text: those of `_indexed`.

    A stretch of the text in a script without spaces, in Korean or of emoji is told apart by the
    number of its characters, so that only distinct ones become strings.  All other words, long
    stretches and names are strings at once.  O(length).
    """
    kinds, stretches = _SHAPE.kinds(folded), Stretches.of(folded)
    starts, ends = _units(kinds)
    begin, end = _pieces_of(kinds, starts, ends, np.isin(_GROUPS[kinds[starts]], (2, 3)))
    spelt = (_GROUPS[kinds[begin]] == 1) | (end - begin > stretches.longest)
    known = dict[str, int]()
    keys = np.zeros(len(begin), np.int64)
    keys[~spelt] = stretches.keys(begin[~spelt], end[~spelt])
    keys[spelt] = [
        ~known.setdefault(folded[a:b], len(known))
        for a, b in zip(begin[spelt].tolist(), end[spelt].tolist(), strict=True)
    ]
    latin = _LATIN.search(folded)
    names = [
        (unit, term)
        for unit, name in _behind_words(folded, kinds, starts, ends)
        for term in (
            _pieces(_stemmed([name]) if stem and latin else [name])
            if name[0] >= FIRST_SPACELESS
            else [name]
        )
    ]
    if names:
        at = np.searchsorted(begin, np.append(starts, len(folded))[[unit for unit, _ in names]])
        keys = np.insert(keys, at, [~known.setdefault(term, len(known)) for _, term in names])
        begin, end = np.insert(begin, at, 0), np.insert(end, at, 0)
    terms = dict[str, int]()
    if known:  # without stop words, and words that have one stem as one
        stemmed = _stemmed(list(known)) if stem and latin else known
        number = [
            -1 if stop_words and word in STOP_WORDS else terms.setdefault(term, len(terms))
            for word, term in zip(known, stemmed, strict=True)
        ]
        spelt = keys < 0
        of_string = np.array(number, np.int64)[~keys[spelt]]
        keys[spelt] = ~of_string
        kept = np.ones(len(keys), np.bool_)
        kept[spelt] = of_string >= 0
        keys, begin, end = keys[kept], begin[kept], end[kept]
    numbers, first = numbered(keys)
    begin, end, spelt = begin[first], end[first], keys[first] < 0
    words = strings(stretches.codes, begin[~spelt], end[~spelt])
    if spelt.any():
        both = np.empty(len(first), object)
        both[~spelt] = words
        both[spelt] = np.array([*terms], object)[~keys[first][spelt]]
        words = both.tolist()
    if any(term[0] >= FIRST_SPACELESS for _, term in names):  # a stretch may be such a term
        places: dict[str, int] = {}
        numbers = np.array([places.setdefault(word, len(places)) for word in words])[numbers]
        words = list(places)
    return words, numbers


def _behind_words(
    folded: str, kinds: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> list[tuple[int, str]]:
    """Names of a text in any script, in order, each with the number of words before it.

    starts, ends  (words,) of its words, see `_units`
    """
    behind, before, begins = list[tuple[int, str]](), 0, starts.tolist()
    for first, last, kind in _names_in(
        folded, kinds.tobytes().decode("ascii"), _SHAPED_NAMES, _SHAPED_LONE
    ):
        name, at = folded[first:last] + "=" * (kind == "lone"), bisect_left(begins, first)
        if kind == "attached" and at > before:
            name = folded[starts[at - 1] : ends[at - 1]] + name
        elif kind == "attached" and behind:
            name = behind[-1][1] + name
        before = bisect_left(begins, last)
        behind.append((before, name))
    return behind


def stems(words: list[str]) -> list[str]:
    """Porter stems of words in lower case."""
    stemmed: list[str] = PORTER.stemWords(words)
    return stemmed


def _stemmed(words: list[str]) -> list[str]:
    """Stems of terms: the stemmer changes the ends of words in Latin letters alone."""
    places = [i for i, word in enumerate(words) if word[-1] < "\x80" and 2 < len(word) <= 64]
    words = words.copy()
    for i, stemmed in zip(places, PORTER.stemWords([words[i] for i in places]), strict=True):
        words[i] = stemmed
    return words


def _pieces(words: Sequence[str]) -> list[str]:
    """The terms of some words in order, of runs of a script without spaces their pairs of
    letters.
    """
    joined, sizes = "".join(words), np.fromiter(map(len, words), np.int64, len(words))
    ends = np.cumsum(sizes)
    run = (sizes > 1) & np.array([word[0] >= FIRST_SPACELESS for word in words])
    begin, end = _pieces_of(_SHAPE.kinds(joined), ends - sizes, ends, run)
    return [joined[a:b] for a, b in zip(begin.tolist(), end.tolist(), strict=True)]


def _pieces_of(
    kinds: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    run: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each term of some words begins and ends, in order.

    kinds         (length,) of the characters of a text
    starts, ends  (words,) of the words in it
    run           (words,) which of them may be parted into pairs of letters

    A letter is a character of these scripts with the marks on it (d n), or a Korean one (h);
    letters of a word stand side by side.
    """
    sizes, edges = ends - starts, np.zeros(len(kinds) + 1, np.int8)
    run = run & (sizes > 1)
    edges[starts[run]] = 1
    edges[ends[run]] -= 1
    letter = (kinds == ord("d")) | (kinds == ord("h"))
    mark = kinds == ord("n")
    held = (letter | mark) & np.cumsum(edges[:-1], dtype=np.int8).view(np.bool_)
    opens = np.ones(len(kinds), np.bool_)  # whether a mark here is on no letter
    opens[1:] = ~held[:-1]
    opens[starts] = True
    first = np.flatnonzero(held & (letter | opens))
    word = np.repeat(np.arange(len(ends)), np.diff(np.searchsorted(first, ends), prepend=0))
    count = np.bincount(word, minlength=len(ends))
    # a letter ends where the next of its word begins, or at the first character that is not held
    closed = np.append(np.flatnonzero(~held), len(kinds))
    last = np.minimum(closed[np.searchsorted(closed, first)], ends[word])
    paired = word[1:] == word[:-1]
    last[:-1][paired] = first[1:][paired]
    korean = kinds[starts] == ord("h")
    whole = korean | (count < 2)
    paired &= ~(korean & (sizes == 2))[word[1:]]  # its pair is the word
    begin = np.concatenate([starts[whole], first[:-1][paired]])
    end = np.concatenate([ends[whole], last[1:][paired]])
    order = np.argsort(begin, kind="stable")  # a word before the pair with which it begins
    return begin[order], end[order]


def _is_plain(folded: str) -> bool:
    """Whether the words of a folded text are its runs of letters and digits."""
    return folded.isascii() or not _SPECIAL.search(folded)


@cache
def _read_apart() -> re.Pattern[str]:
    """Where a plain text has a name that it has not in a text of any script, or the other way
    round: opening quotation marks and `’` before a dot, and numbers that are no digits beside a
    symbol of a name, of the blocks of plain texts.  15 ms, once, where many texts are first read.
    """
    chars = [*map(chr, chain(range(0x80, 0x700), range(0x1E00, 0x2600)))]
    opener = "".join([c for c in chars if _kind(c) in "('"])
    number = "".join([c for c in chars if c.isalnum() and not c.isalpha()])
    return re.compile(rf"[{opener}]\.|[{number}][+#]|\.[{number}]")


def _kind(char: str) -> str:
    """The kind of a character; the symbols that make names, space and quotation marks stand for
    themselves.

    w 0   letter and number of a script with spaces    d n   letter of a script without spaces, mark
                                                             on one    h   Korean
    m     mark on a letter                             e f   emoji, half of a flag
                                                             |   anything else
    """
    code, category = ord(char), unicodedata.category(char)
    if char.isspace() or char == "’":
        return "'" if char == "’" else " "
    if category in ("Ps", "Pi"):
        return "("
    if 0x1F1E6 <= code <= 0x1F1FF:
        return "f"
    if any(first <= code <= last for first, last in PICTURES):
        return "e"
    if any(first <= code <= last for first, last in SPACELESS):
        return "n" if category[0] == "M" else "d" if char.isalnum() else "|"
    if any(first <= code <= last for first, last in HANGUL):
        return "h"
    if category[0] == "M":
        return "m"
    return "w" if char.isalpha() else "0" if char.isalnum() else char if code < 0x80 else "|"


PICTURES: Final = (
    (0x2600, 0x26FF),
    (0x2702, 0x27B0),
    (0x2B50, 0x2B50),
    (0x2B55, 0x2B55),
    (0x1F300, 0x1F3FA),
    (0x1F400, 0x1FAFF),
)
SPACELESS: Final = (
    (0xE01, 0xE4E), (0xE81, 0xEDF),
    # Thai, Lao
    (0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0x1780, 0x17DD),
    # Burmese, Khmer
    (0x1950, 0x19DF), (0x1A20, 0x1AAF), (0xAA80, 0xAADF),
    # scripts of the Tai
    (0x3005, 0x3007), (0x3021, 0x302F), (0x3031, 0x309F), (0x30A1, 0x30FA), (0x30FC, 0x312F),
    # kana, bopomofo
    (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x1AFF0, 0x1B2FF),
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF),
    # Han
)  # fmt: skip
HANGUL: Final = ((0x1100, 0x11FF), (0xA960, 0xA97F), (0xAC00, 0xD7FF))
FIRST_SPACELESS: Final = "\u0e00"
_SHAPE: Final = _Shape(_kind)
_GROUPS: Final = np.zeros(0x80, np.int8)  # of a kind: what belongs to one word
_GROUPS[list(b"w0m")], _GROUPS[list(b"dn")], _GROUPS[list(b"h")] = 1, 2, 3
_GROUPS[list(b"e")], _GROUPS[list(b"f")] = 4, 5
_UNIT_LENGTHS: Final = np.array([0, 0, 0, 0, 1, 2])  # by group
# Codes of pictures that Unicode has not given out.
_UNASSIGNED: Final = tuple(
    char for char in map(chr, range(0x1F8C0, 0x1F900)) if unicodedata.category(char) == "Cn"
)
# Marks, scripts without spaces, Korean and emoji are outside these blocks, but for marks that
# folding leaves out.
_SPECIAL: Final = re.compile("[^\x00-\u06ff\u1e00-\u25ff]")
_LATIN: Final = re.compile("[a-z]")
_WORD: Final = re.compile(r"[^\W_]+")
_CONTRACTED: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_WHOLE: Final = r"[w0]++(?:m++[w0]*+)*+"
_ANY: Final = rf"{_WHOLE}|[dn]++|h++"
_SHAPED_CONTRACTED: Final = re.compile(rf"(?:{_ANY})(?:'(?:{_ANY}))*")

# Letters that are names, of programming languages above all, and with a symbol other names; no
# words, and no usual variables of mathematics.
_LONE: Final = frozenset("cfgjqr")
# after "a&b" of an address or of HTML; not in the pattern, which would read a long chain n times
_OF_ADDRESS: Final = frozenset("=;&_")
_OPENER: Final = r"\s\"'`(\[{"  # what stands before ".net"
_NAMES: Final = _names(r"[^\W_]++", r"[^\W_]++", r"\w", r"[^\W\d_]")
_SHAPED_NAMES: Final = _names(_WHOLE, _ANY, "w0m_", "[wdh]")
_LONE_LETTER: Final = _alone(f"[{''.join(sorted(_LONE))}]", r"\w")
_SHAPED_LONE: Final = _alone("w", "w0m_")
# Without its word cache the stemmer keeps no state from call to call.
PORTER: Final = Stemmer.Stemmer("porter", 0)
