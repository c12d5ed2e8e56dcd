"""The audit as one self-contained page: table, a card for every mechanism, the source systems' claims beside what was derived."""
from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from ..engine.registry import Registry
from .changes import Changes
from .checks import CheckResult
from .rating import FEWEST, Rating
from .references import References
from .report import HEADS, cells, mutants_of, verdict_of
from .run import AuditResult, MechanismResult
from .sources import SourceSystem, compared

TEMPLATES = Path(__file__).parent / "templates"
OPERATORS = re.compile(r"\\(arg)(?![a-zA-Z])")      # commands that the converter does not know
QUAD = re.compile(r"\\q?quad(?![a-zA-Z])")
NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
NAMED = {"ln", "log", "exp", "sin", "cos", "tan", "tanh", "sgn"}


def to_html(result: AuditResult, path: Path, references: References | None = None, registry: Registry | None = None,
            systems: Sequence[SourceSystem] = (), changes: Changes | None = None) -> None:
    """Write the page; it loads nothing, and without its script it still reads from top to bottom.

    references  to name the papers in full; without it their keys stand there
    registry    to show each mechanism's label
    """
    environment = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(broken=_broken, number=_number, tolerance=_tolerance, mathml=mathml,
                               csp_hash=lambda script: b64encode(sha256(str(script).encode()).digest()).decode())

    def home_of(m: MechanismResult) -> str:
        return registry.entries[m.id].home if registry and m.id in registry.entries else ""

    def text_of(m: MechanismResult) -> str:
        papers = [references.get(key).short for key in m.papers if references and key in references]
        return " ".join([registry.entries[m.id].summary if registry and m.id in registry.entries else "", *m.papers, *papers])

    environment.globals.update(verdict_of=verdict_of, cells=cells, home_of=home_of, text_of=text_of)
    derived, ratings = [(m.verdict.rating, m.variety_of is None) for m in result.mechanisms], [str(r) for r in Rating]
    page = environment.get_template("audit.html.j2").render(
        result=result, mutants=mutants_of(result), references=references, registry=registry, changes=changes,
        head_names=(*HEADS, "claim"), fewest=FEWEST,
        sources=[(s, compared(s, result)) for s in systems],
        tally=[(r, derived.count((r, True)), derived.count((r, False))) for r in Rating],
        choices=[("home", "Home", sorted({home_of(m) for m in result.mechanisms} - {""})), ("claimed", "Claimed", ratings),
                 ("derived", "Derived", ratings), ("claim", "Claim", ["earned", "finding", "unearned"])])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def mathml(tex: str) -> Markup:
    r"""TeX as MathML, one formula for each part that a \quad sets off, so that a line may break there; what cannot be turned stands there as TeX.

    >>> str(mathml("x^2"))[:44], str(mathml(r"x, \quad y")).count("<math")
    ('<math xmlns="http://www.w3.org/1998/Math/Mat', 2)
    """
    parts = QUAD.split(tex)
    if any(part.count("{") != part.count("}") or part.count(r"\left") != part.count(r"\right") or r"\begin" in part for part in parts):
        parts = [tex]
    try:
        made = [convert(OPERATORS.sub(r"\\operatorname{\1}", part).replace(r"\%", "%"), display="block") for part in parts if part.strip()]
        return Markup("".join(map(_spaced, made)))
    except Exception:  # whatever a formula does to the converter, the page must come out
        return Markup("<code>") + escape(tex) + Markup("</code>")


def _spaced(made: str) -> str:
    """With room before and after a named function, which the converter sets as "lnn" and "dlnn"; none where a bracket or an operator has it."""
    root = ElementTree.fromstring(made.replace(NAMESPACE, "", 1))
    for row in root.iter("mrow"):
        parts = list(row)
        for left, right in reversed([*pairwise(parts)]):
            if (_named(left) or _named(right)) and left.tag != "mo" and right.tag not in ("mo", "mspace"):
                row.insert(parts.index(right), ElementTree.Element("mspace", width="0.17em"))
    return ElementTree.tostring(root, encoding="unicode").replace("<math", f"<math{NAMESPACE}", 1)


def _named(part: ElementTree.Element) -> bool:
    return part.tag == "mi" and part.text in NAMED


def _broken(name: str) -> Markup:
    """A name that may go on in the next line after an underscore or a point.

    >>> str(_broken("a_b.py"))
    'a_<wbr>b.<wbr>py'
    """
    return Markup(re.sub(r"([_.])", r"\1<wbr>", str(escape(name))))


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
