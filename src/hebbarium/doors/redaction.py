"""Redaction before storing: what is never to be in a memory is replaced in a text before it is told.

Rules find what has a form: addresses of mail, numbers of telephones, payment cards, bank accounts
and machines.  They know no names; a name or another word is given as a rule of its own.  What a rule
does not find is stored, so that redaction lowers a risk and rules nothing out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final

from ..engine.base.errors import InputError, nearest

# Every repeat is bounded, so that a search is linear.
RULES: Final[Mapping[str, re.Pattern[str]]] = {
    "email": re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    "card": re.compile(r"(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])"),
    "iban": re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b"),
    "ip": re.compile(
        r"(?<![\d.])(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\d.])"
    ),
    "phone": re.compile(r"(?<![\w+])\+?\(?\d{1,4}\)?(?:[ ./-]?\(?\d{1,4}\)?){2,6}(?!\w)"),
}
DIGITS: Final = (7, 15)  # of a telephone number
WORD: Final = "word:"


def redacted(text: str, rules: Iterable[str]) -> tuple[str, dict[str, int]]:
    """The text with `[NAME]` in the place of what each rule finds, and how many by rule.

    rules  names of `RULES`, or `word:TEXT` for a word or name, whatever its case, which becomes
           `[redacted]`; applied in the order of `RULES`, then words

    O(rules x length).  Raises InputError for an unknown rule.

    >>> redacted("Mail ada@example.org or call +44 20 7946 0018.", ["phone", "email"])
    ('Mail [email] or call [phone].', {'email': 1, 'phone': 1})
    >>> redacted("Ada met adamant Bo", ["word:ada"])
    ('[redacted] met adamant Bo', {'word': 1})
    """
    named = list(dict.fromkeys(rule.strip() for rule in rules if rule.strip()))
    words = [rule.removeprefix(WORD).strip() for rule in named if rule.startswith(WORD)]
    forms = [rule for rule in named if not rule.startswith(WORD)]
    if unknown := [rule for rule in forms if rule not in RULES]:
        raise InputError(
            f"there is no rule {unknown[0]!r}",
            where="redaction",
            cure=f"{nearest(unknown[0], RULES)}; or give {WORD}TEXT",
        )
    if not all(words):
        raise InputError("a word is empty", where="redaction", cure=f"give {WORD}TEXT")
    counts: Counter[str] = Counter()

    def replace(name: str, put: str, match: re.Match[str]) -> str:
        if not _fits(name, match.group()):
            return match.group()
        counts[name] += 1
        return put

    for name, pattern in RULES.items():
        if name in forms:
            text = pattern.sub(partial(replace, name, f"[{name}]"), text)
    for word in words:
        alone = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        text = alone.sub(partial(replace, "word", "[redacted]"), text)
    return text, dict(sorted(counts.items()))


def _fits(name: str, matched: str) -> bool:
    """Whether digits are those of a card (Luhn's sum) or of a telephone (their number)."""
    digits = [int(c) for c in matched if c.isdecimal()]
    if name == "card":
        doubled = [
            sum(divmod(2 * d, 10)) if place % 2 else d for place, d in enumerate(digits[::-1])
        ]
        return sum(doubled) % 10 == 0
    return name != "phone" or DIGITS[0] <= len(digits) <= DIGITS[1]
