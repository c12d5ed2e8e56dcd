"""Condensing a text to a number of tokens: code to its signatures, prose to its central sentences, triples never altered.

Every form is extractive: it holds only words that the text has.  `condense` takes the first form that fits:

    whole       the text
    signatures  code to its signatures, prose as it is
    excerpt     the sentences about the query, then the most central ones, as far as they fit; only if a sentence is about the query
    sentences   the outline, and the most central sentences that still fit
    outline     of each stretch of prose the first sentence and the questions
    summary     of the prose, as `engine.text.condensing.summary`
    keywords    of the prose, as `engine.text.condensing.keywords`
    cut         the first part of the shortest of these
"""
from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import log
from typing import Final

from ..text.condensing import by_centrality, keywords, sentences, summary
from ..text.features import terms_of
from .quoting import blocks, closed, fence
from .tokens import LENGTH, TokenCounter

PYTHON: Final = frozenset({"py", "py3", "python", "python3", "pyi"})
PROSE: Final = frozenset({"text", "txt", "md", "markdown", "memories", "quote"})
PARSED: Final = 200_000         # characters of Python that are parsed; longer code is read by line rules
LONG: Final = 400               # characters of a line; a longer one is no signature
WIDEST: Final = 64              # characters of a token, at most, where a text is cut
_MODIFIERS: Final = (r"(?:(?:export|default|public|private|protected|internal|static|async|abstract|final|override|virtual|pub(?:\(\w+\))?|unsafe"
                     r"|extern|inline|const|open|sealed|data)[ \t]+){0,6}")
_SIGNATURE: Final = re.compile(
    rf"[ \t]*{_MODIFIERS}(?:function\b\*?|func\b|fn\b|def\b|class\b|interface\b|trait\b|impl\b|struct\b|enum\b|module\b|namespace\b|protocol\b"
    r"|record\b|fun\b|sub\b|procedure\b|type[ \t]+\w+|create[ \t]+(?:or[ \t]+replace[ \t]+)?(?:table|view|function|procedure|trigger|index)\b)",
    re.IGNORECASE)
_ARROW: Final = re.compile(r"[ \t]*(?:export[ \t]+)?(?:const|let|var)[ \t]+\w+[ \t]*(?::[^=\n]{0,80})?=[ \t]*(?:async[ \t]*)?"
                           r"(?:function\b|\w+[ \t]*=>|\()")
_STATEMENTS: Final = frozenset({"if", "for", "while", "switch", "return", "else", "catch", "do", "throw", "new", "await", "elif", "with", "print"})
_TRIPLE: Final = re.compile(
    r"\s*(?:\([^(),\n]{1,300}(?:,[^(),\n]{1,300}){2}\)|[^|\n]{1,300}\|[^|\n]{1,300}\|[^|\n]{1,300}"
    r"|\S[^\n]{0,300}? --\[[^\]\n]{1,200}\]--> ?\S[^\n]*)\s*")


class Form(StrEnum):
    """How much of a text is shown."""

    WHOLE = "whole"
    TEXT = "text"               # whole, but for the caption of its picture
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


def condense(text: str, tokens: int, counter: TokenCounter = LENGTH, about: Collection[str] = ()) -> str:
    """The text in its longest form that has at most so many tokens; "" for none.  See `condensed_to`.

    >>> condense("We met in Oslo. It rained all day. Did you keep the map? I lost mine.", 11)
    'We met in Oslo. Did you keep the map?'
    """
    return condensed_to(text, tokens, counter, about).text


def condensed_to(text: str, tokens: int, counter: TokenCounter = LENGTH, about: Collection[str] = ()) -> Condensed:
    """The longest form that has at most so many tokens.

    about   stems, such as those of a query: if sentences hold some, those with the rarest of them are taken first, before any outline

    Cost: O(length), about 1 ms for 1,000 words; parsing Python about 1 ms for 100 lines.
    """
    if tokens <= 0:
        return Condensed("", Form.CUT)
    if counter.tokens(text) <= tokens:
        return Condensed(text, Form.WHOLE)
    if is_triples(text):
        return Condensed(_lines_that_fit(text, tokens, counter), Form.CUT)
    parts = [_Part.of(*block) for block in blocks(text)]
    if any(part.code for part in parts):
        found = _written(parts, [part.content for part in parts])
        if counter.tokens(found) <= tokens:
            return Condensed(found, Form.SIGNATURES)
    if about and (found := Pieces.of_parts(parts).about(frozenset(about), tokens, counter)):
        return Condensed(found, Form.EXCERPT)
    outline = _written(parts, [" ".join(part.outline) for part in parts])
    if counter.tokens(outline) <= tokens:
        return _extended(parts, outline, tokens, counter)
    shortest, plain = outline, "\n".join(part.content for part in parts if not part.code) or text
    for form, make in ((Form.SUMMARY, summary), (Form.KEYWORDS, keywords)):
        found = make(plain)
        if counter.tokens(found) <= tokens:
            return Condensed(found, form)
        shortest = min(shortest, found, key=len)
    return Condensed(cut(shortest, tokens, counter), Form.CUT)


def cut(text: str, tokens: int, counter: TokenCounter = LENGTH) -> str:
    """The first part of a text that has at most so many tokens, at the end of a word if there is one; an open fence is closed.  O(length log length).

    >>> cut("We met in Oslo, in the rain.", 3)
    'We met in'
    """
    if tokens <= 0:
        return ""
    low, high = 0, min(len(text), WIDEST * tokens)      # a prefix of `low` characters fits
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if counter.tokens(closed(text[:middle])) <= tokens else (low, middle - 1)
    if low < len(text) and not text[low].isspace():
        end = max(text.rfind(space, low // 2, low) for space in " \n\t")
        low = end if end > 0 else low
    found = text[:low].rstrip()
    while found and counter.tokens(closed(found)) > tokens:
        found = found[:-1]
    return closed(found) if found else ""


def breadcrumb(row: int, text: str) -> str:
    """What stands after a condensed memory: where all of it is.

    >>> breadcrumb(812, "a" + chr(10) + "b"), breadcrumb(3, "a")
    ('[memory 812: 2 lines]', '[memory 3: 1 line]')
    """
    lines = len(text.splitlines()) or 1
    return f"[memory {row}: {lines} line{'s' if lines > 1 else ''}]"


# --- content -----------------------------------------------------------------------------------------------------------------------
def signatures(code: str, language: str = "") -> str:
    """The signatures in code, as written: of functions, classes and other definitions; its first line if it has none.

    language   label of a fence; Python is parsed, other code and Python with errors is read by line rules

    >>> print(signatures("class A(B):\\n    x = 1\\n    def f(self, y: int) -> int:\\n        return y"))
    class A(B):
        def f(self, y: int) -> int:
    """
    found = _python(code) if language.lower() in PYTHON or (not language and _SIGNATURE.search(code)) else None
    if found is None:
        found = [line.rstrip() for line in code.split("\n") if _is_signature(line)]
    return "\n".join(found) or next((line for line in code.split("\n") if line.strip()), "")


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
    """Whether a text outside of fences reads like code: at least two lines, most of which end or begin as statements do.  O(length)."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    like = sum(line.endswith(("{", "}", ";", "(", "})")) or line.startswith(("import ", "from ", "#include", "return ")) or _is_signature(line)
               for line in lines)
    return len(lines) > 1 and 2 * like > len(lines)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a text.

    code      whether it is code
    content   signatures of code, else the text
    label     of its fence
    fenced    whether it had a fence
    places    of prose, its sentences
    """

    code: bool
    content: str
    label: str
    fenced: bool
    places: tuple[str, ...]

    @classmethod
    def of(cls, marks: str, label: str, text: str) -> _Part:
        code = label.lower() not in PROSE if marks and label else is_code(text) or (bool(marks) and bool(_SIGNATURE.match(text)))
        return cls(code, signatures(text, label.split(" ")[0]) if code else text, label, bool(marks), () if code else tuple(sentences(text)))

    @property
    def outline(self) -> list[str]:
        return [self.content] if self.code else [part for place, part in enumerate(self.places) if place == 0 or _asks(part)]


@dataclass(frozen=True, slots=True)
class Pieces:
    """A text in pieces that can be left out: sentences of prose, and the signatures of a stretch of code together.

    texts  of the pieces, in order
    """

    texts: tuple[str, ...]
    _parts: tuple[_Part, ...]
    _of: tuple[int, ...]        # place of the part that each piece is from

    @classmethod
    def of(cls, text: str) -> Pieces:
        """O(length).

        >>> Pieces.of("We met. It rained.").texts
        ('We met.', 'It rained.')
        """
        return cls.of_parts([_Part.of(*block) for block in blocks(text)])

    @classmethod
    def of_parts(cls, parts: Sequence[_Part]) -> Pieces:
        """The pieces of parts that are known."""
        every = [(i, text) for i, part in enumerate(parts) for text in ((part.content,) if part.code else part.places)]
        return cls(tuple(text for _, text in every), tuple(parts), tuple(i for i, _ in every))

    def written(self, places: Collection[int]) -> str:
        """The text of some pieces, code in its fence again.

        >>> Pieces.of("We met. It rained. We left.").written({0, 2})
        'We met. We left.'
        """
        return _written(list(self._parts), [" ".join(self.texts[k] for k, of in enumerate(self._of) if of == i and k in places)
                                            for i in range(len(self._parts))])

    def about(self, stems: frozenset[str], tokens: int, counter: TokenCounter) -> str:
        """The pieces that fit, those first whose stems weigh most by their idf over the pieces, then the most central ones; "" if none holds any."""
        own = [stems.intersection(terms_of(text, stem=True, stop_words=True)) for text in self.texts]
        often = Counter(stem for each in own for stem in each)
        held = [sum(log((len(own) + 1) / often[stem]) for stem in sorted(each)) for each in own]
        rank = {place: n for n, place in enumerate(by_centrality(list(self.texts)))}
        taken, left = list[int](), counter.per_token * tokens
        for place in sorted(rank, key=lambda place: (-held[place], rank[place])) if any(held) else ():
            if (size := counter.units(self.texts[place]) + 1) <= left:
                taken.append(place)
                left -= size
        while taken and held[taken[0]]:
            if counter.tokens(found := self.written(frozenset(taken))) <= tokens:
                return found
            taken.pop()
        return ""


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’)*_ ").endswith(("?", "？", "؟"))


def _written(parts: list[_Part], contents: list[str]) -> str:
    """The parts with these contents, those that had a fence in one again; parts without content are left out."""
    shown = []
    for part, content in zip(parts, contents, strict=True):
        if content.strip():
            marks = fence([content])
            shown.append(f"{marks}{part.label}\n{content}\n{marks}" if part.fenced else content)
    return "\n".join(shown)


def _extended(parts: list[_Part], base: str, tokens: int, counter: TokenCounter) -> Condensed:
    """The outline and the sentences that still fit, the most central ones first."""
    every = [(i, place, text) for i, part in enumerate(parts) for place, text in enumerate(part.places)]
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
        found = _written(parts, [part.content if part.code else " ".join(text for place, text in enumerate(part.places) if (i, place) in taken)
                                 for i, part in enumerate(parts)])
        if counter.tokens(found) <= tokens:
            return Condensed(found, Form.SENTENCES)
        taken.remove(added.pop())
    return Condensed(base, Form.OUTLINE)


def _lines_that_fit(text: str, tokens: int, counter: TokenCounter) -> str:
    """The first whole lines that fit."""
    kept: list[str] = []
    left = tokens * counter.per_token
    for line in text.split("\n"):
        left -= counter.units(line) + 1
        if left < -1:
            break
        kept.append(line)
    while kept and counter.tokens("\n".join(kept)) > tokens:
        kept.pop()
    return "\n".join(kept)


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
    """Definitions of the module and of its classes, at any depth of classes; those inside functions are left out."""
    found, todo = [], list[ast.stmt](tree.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.append(node)
        if isinstance(node, ast.ClassDef | ast.If | ast.Try):
            todo.extend(node.body)
    return found


def _is_signature(line: str) -> bool:
    if len(line) > LONG:
        return False
    if _SIGNATURE.match(line):
        return "(" in line or "{" in line or line.rstrip().endswith((":", ";")) or len(line.split()) <= 4
    if _ARROW.match(line):
        return "=>" in line or "function" in line
    head, bracket, rest = line.partition("(")
    words = head.split()
    return (bracket == "(" and len(words) > 1 and words[0] not in _STATEMENTS and words[-1] not in _STATEMENTS and "=" not in head and "." not in head
            and rest.rstrip().endswith("{"))
