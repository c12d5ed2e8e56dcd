"""The audit as one self-contained page: table, a card for every mechanism, the source systems' claims beside what was derived."""
from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from ..engine.registry import Registry
from .changes import Changes
from .checks import CheckResult
from .rating import FEWEST, Rating
from .references import References
from .report import HEADS, cells, verdict_of
from .run import AuditResult, MechanismResult
from .sources import System, compared

TEMPLATES = Path(__file__).parent / "templates"
OPERATORS = re.compile(r"\\(arg)(?![a-zA-Z])")      # commands that the converter does not know


def to_html(result: AuditResult, path: Path, references: References | None = None, registry: Registry | None = None,
            systems: Sequence[System] = (), changes: Changes | None = None) -> None:
    """Write the page; it loads nothing, and without its script it still reads from top to bottom.

    references  to name the papers in full; without it their keys stand there
    registry    to show each mechanism's label
    """
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(number=_number, tolerance=_tolerance, mathml=mathml,
                               csp_hash=lambda script: b64encode(sha256(str(script).encode()).digest()).decode())

    def home_of(m: MechanismResult) -> str:
        return registry.entries[m.id].home if registry and m.id in registry.entries else ""

    def text_of(m: MechanismResult) -> str:
        papers = [references.get(key).short for key in m.papers if references and key in references]
        return " ".join([registry.entries[m.id].summary if registry and m.id in registry.entries else "", *m.papers, *papers])

    environment.globals.update(verdict_of=verdict_of, cells=cells, home_of=home_of, text_of=text_of)
    derived = [(r, m.variety_of is None) for m in result.mechanisms for r in (m.verdict.rating,)]
    page = environment.get_template("audit.html.j2").render(
        result=result, references=references, registry=registry, changes=changes, head_names=(*HEADS, "claim"), fewest=FEWEST,
        sources=[(s, compared(s, result)) for s in systems],
        tally=[(r, derived.count((r, True)), derived.count((r, False))) for r in Rating],
        choices=[(name, label, values) for name, label, values in (
            ("home", "Home", sorted({home_of(m) for m in result.mechanisms} - {""})), ("claimed", "Claimed", [str(r) for r in Rating]),
            ("derived", "Derived", [str(r) for r in Rating]), ("claim", "Claim", ["earned", "finding", "unearned"]))])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def mathml(tex: str) -> Markup:
    """TeX as MathML, with the TeX as its label; what cannot be turned stands there as TeX.

    >>> str(mathml("x^2"))[:44]
    '<math xmlns="http://www.w3.org/1998/Math/Mat'
    """
    try:
        made = convert(OPERATORS.sub(r"\\operatorname{\1}", tex).replace(r"\%", "%"), display="block")
    except Exception:  # whatever a formula does to the converter, the page must come out
        return Markup("<code>") + escape(tex) + Markup("</code>")
    return Markup(made)


def _number(value: Any) -> str:
    """A value for reading: ten digits tell measured from expected at the tolerances in use."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return f"({', '.join(map(_number, value))})" if isinstance(value, tuple) else str(value)


def _tolerance(r: CheckResult) -> str:
    """The tolerance in words, where one was used."""
    if not r.score.complete or isinstance(r.measured, (bool, str)) or isinstance(r.expected, str):
        return ""
    parts = [f"{r.check.atol:g}"] * bool(r.check.atol) + [f"{r.check.rtol:g} rel."] * bool(r.check.rtol)
    return " + ".join(parts) or "exact"
