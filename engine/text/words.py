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
from collections.abc import Callable
from operator import add
from typing import Final

import Stemmer

from .english import STOP_WORDS
from .memo import remembered

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
KEPT: Final = 0x20000  # characters below have their forms remembered

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
    return composed(_FOREIGN.sub(_without_distinctions, composed(composed(text).casefold())))


def _first_marks(match: re.Match[str]) -> str:
    if _MARKS not in match.group().translate(_COMBINING):  # a run of emoji, as a rule
        return match.group()
    kept, marks = list[str](), 0
    for char in match.group():
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= PILED:
            kept.append(char)
    return "".join(kept)


def _without_distinctions(match: re.Match[str]) -> str:
    return match.group().translate(_PLAIN)


class _ByCode(dict[int, str]):
    """What `str.translate` puts in place of each character; `of` is asked when the character is
    first met.
    """

    def __init__(self, of: Callable[[str], str]) -> None:
        super().__init__()
        self._of = of

    def __missing__(self, code: int) -> str:
        put = self._of(chr(code))
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
_COMBINING: Final = _ByCode(lambda char: "m" if unicodedata.combining(char) else " ")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PILE: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{PILED + 1},}}")
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")
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
_PLAIN: Final = _ByCode(_plain)

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
    pattern = _SHAPED_CONTRACTED if contracted else _SHAPED_WORD
    return [folded[slice(*match.span())] for match in pattern.finditer(folded.translate(_SHAPE))]


def written(text: str) -> list[str]:
    """Words of a text in order, folded, and beside them the names that symbols make.  Emoji are
    words.  O(length).

    c++ c# lgbtq+   a word and what is attached to it
    #42 @ada .net   a word and what it is attached to
    at&t            words that are joined
    c=              a letter that stands alone, so that C is preferred to C++ where C is asked for;
                    of c, f, g, j, q and r alone

    >>> written("Ada writes C++ at AT&T 🎉")
    ['ada', 'writes', 'c', 'c++', 'at', 'at', 't', 'at&t', '🎉']
    >>> written("Bo writes C.")
    ['bo', 'writes', 'c', 'c=']
    """
    folded = fold(text)
    if not _is_plain(folded):
        shape = folded.translate(_SHAPE)
        return _with_names(
            folded, shape, _SHAPED_UNIT, _names_in(folded, shape, _SHAPED_NAMES, _SHAPED_LONE)
        )
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
    return _with_names(folded, folded, _WORD, names) if names else words


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


def _with_names(folded: str, read: str, words: re.Pattern[str], names: list[Span]) -> list[str]:
    """Words of a folded text, each name after the word with which it ends."""
    listed, start = list[str](), 0
    for first, end, kind in names:
        listed += _words_between(folded, read, words, start, first)
        before = listed[-1] if kind == "attached" and listed else ""
        listed += _words_between(folded, read, words, first, end)
        listed.append(f"{before}{folded[first:end]}" + "=" * (kind == "lone"))
        start = end
    return listed + _words_between(folded, read, words, start, len(read))


def _words_between(
    folded: str, read: str, words: re.Pattern[str], start: int, end: int
) -> list[str]:
    if read is folded:
        listed: list[str] = words.findall(read, start, end)
        return listed
    return [folded[slice(*match.span())] for match in words.finditer(read, start, end)]


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


@remembered
def _terms(text: str, stem: bool, stop_words: bool) -> tuple[str, ...]:
    terms = written(text)
    if stop_words:
        terms = [term for term in terms if term not in STOP_WORDS]
    if stem:
        terms = [
            stemmed if 2 < len(term) <= 64 else term
            for term, stemmed in zip(terms, stems(terms), strict=True)
        ]
    if not text.isascii():  # after stemming, which changes no word of these scripts
        terms = [
            term
            for word in terms
            for term in (_pieces(word) if len(word) > 1 and word[0] >= FIRST_SPACELESS else (word,))
        ]
    # one string a term, however many texts are remembered
    return tuple(map(sys.intern, terms))


def stems(words: list[str]) -> list[str]:
    """Porter stems of words in lower case."""
    stemmed: list[str] = PORTER.stemWords(words)
    return stemmed


_HAN: Final = re.compile("[\u4e00-\u9fff]{2,}")  # each a letter of its own


def _pieces(word: str) -> list[str]:
    """The terms of a word that may be a run of a script without spaces."""
    if _HAN.fullmatch(word):  # the most frequent run, spared its shape
        return list(map(add, word, word[1:]))
    shape = word.translate(_SHAPE)
    if shape.strip("d") == "" and len(word) > 1:  # every character is a letter
        return list(map(add, word, word[1:]))
    letters = [word[slice(*match.span())] for match in _SHAPED_LETTER.finditer(shape)]
    if len(letters) < 2 or shape == "hh":
        return [word]
    return [word] * (shape[0] == "h") + list(map(add, letters, letters[1:]))


def _is_plain(folded: str) -> bool:
    """Whether the words of a folded text are its runs of letters and digits."""
    return folded.isascii() or not _SPECIAL.search(folded)


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
_SHAPE: Final = _ByCode(_kind)
# Marks, scripts without spaces, Korean and emoji are outside these blocks, but for marks that
# folding leaves out.
_SPECIAL: Final = re.compile("[^\x00-\u06ff\u1e00-\u25ff]")
_WORD: Final = re.compile(r"[^\W_]+")
_CONTRACTED: Final = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_WHOLE: Final = r"[w0]++(?:m++[w0]*+)*+"
_ANY: Final = rf"{_WHOLE}|[dn]++|h++"
_SHAPED_WORD: Final = re.compile(_ANY)
_SHAPED_UNIT: Final = re.compile(rf"{_ANY}|e|ff")
_SHAPED_CONTRACTED: Final = re.compile(rf"(?:{_ANY})(?:'(?:{_ANY}))*")
_SHAPED_LETTER: Final = re.compile("[dh]n*|n+")

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
