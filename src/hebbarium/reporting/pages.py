"""HTML pages: one Jinja environment, base template, style sheet and script for every report.

A page extends `base.html.j2`.  It loads nothing: style and script are inside it, and its content
security policy forbids everything else.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from .text import visible

SHARED = Path(__file__).parent / "templates"
ROOT_RULES = re.compile(r":root \{(.*?)\n\s*\}", re.DOTALL)  # of page.css: light, then dark
BACKTICKS = re.compile(r"`([^`]+)`")
BREAKS = re.compile(r"(?<=_)(?=[^_])|(?<=\.)(?=\w)|(?<=->)")


def environment(templates: Path) -> Environment:
    """An environment for a report's own templates above the shared ones.  Values are escaped;
    undefined names raise UndefinedError.

    Filters: `visible`, `breakable`, `coded` and `csp_hash`, besides Jinja's own.
    """
    made = Environment(
        loader=FileSystemLoader([templates, SHARED]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update(visible=visible, breakable=breakable, coded=coded, csp_hash=csp_hash)
    return made


def breakable(name: str) -> Markup:
    """An id as HTML: visible, escaped, with places where a line may break after an underscore, a
    point or an arrow.

    >>> str(breakable("a_b.py")), str(breakable("a->b"))
    ('a_<wbr>b.<wbr>py', 'a<span class="nowrap">-&gt;</span><wbr>b')
    """
    broken = Markup("<wbr>").join(escape(part) for part in BREAKS.split(visible(name)))
    return broken.replace(escape("->"), Markup('<span class="nowrap">-&gt;</span>'))


def coded(text: str) -> Markup:
    """A message of ours as HTML: visible, escaped, and what stands between backticks as code.

    >>> str(coded("run `a <b>` again"))
    'run <code>a &lt;b&gt;</code> again'
    """
    return Markup(
        "".join(
            escape(part) if i % 2 == 0 else Markup("<code>{}</code>").format(part)
            for i, part in enumerate(BACKTICKS.split(visible(text)))
        )
    )


def csp_hash(script: str) -> str:
    """SHA-256 of a script, in Base64, as a content security policy names it."""
    return b64encode(sha256(str(script).encode()).digest()).decode()


def palette(selector: str) -> str:
    """The colours and fonts of the shared style sheet for a drawing of its own: CSS rules that give
    `selector` every variable, light and dark.

    >>> palette("svg").count("--ink:"), palette("svg").startswith("svg {")
    (2, True)
    """
    light, dark = ROOT_RULES.findall((SHARED / "page.css").read_text(encoding="utf-8"))[:2]
    return (
        f"{selector} {{{light}}}\n@media (prefers-color-scheme: dark) {{ {selector} {{{dark}}} }}"
    )
