"""The audit as one self-contained page: a table, a card for every mechanism, and the claims of
source systems beside the derived ratings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markupsafe import Markup, escape

from .. import __version__
from ..engine.catalogue.registry import Registry
from ..reporting.files import write_whole
from ..reporting.pages import environment as shared_environment
from ..reporting.svg import standalone
from .changes import RatingChanges
from .checks import CheckResult
from .provenance import Provenance, citation, facts
from .rating import FEWEST, Rating
from .references import References
from .report import ALSO_COMPARED, CLAIM, COLUMNS, of_commits, summary, verdict_of
from .run import AuditResult, MechanismResult
from .sources import SourceSystem
from .sources.compared import compared
from .weights import shipped

TEMPLATES = Path(__file__).parent / "templates"
OPERATORS = re.compile(r"\\(arg)(?![a-zA-Z])")  # commands that the converter does not know
QUAD = re.compile(r"\\q?quad(?![a-zA-Z])")
NAMESPACE = ' xmlns="http://www.w3.org/1998/Math/MathML"'
NO_ID = re.compile(r"[^\w.-]+")
NAMED = {"ln", "log", "exp", "sin", "cos", "tan", "tanh", "sgn"}


def to_html(
    result: AuditResult,
    path: Path,
    references: References | None = None,
    registry: Registry | None = None,
    systems: Sequence[SourceSystem] = (),
    changes: RatingChanges | None = None,
    provenance: Provenance | None = None,
) -> None:
    """Write the page, whole or not at all; it loads nothing and can be read without its script.
    Raises HebbariumError.

    references  names the papers in full; without it their keys are shown
    registry    adds each mechanism's registry entry
    provenance  adds how the audit was made, how to cite it, and BibTeX

    Anchors: `#mechanism`, `#mechanism:check`, `#source:claim`.  The filters of the table are part
    of the address: `#derived=HONEST&text=pavlik`.
    """
    environment = shared_environment(TEMPLATES)
    environment.filters.update(number=_number, tolerance=_tolerance, mathml=mathml)

    def home_of(m: MechanismResult) -> str:
        return registry.entries[m.id].home if registry and m.id in registry.entries else ""

    def text_of(m: MechanismResult) -> str:
        papers = [references.get(key).short for key in m.papers if references and key in references]
        return " ".join(
            [
                registry.entries[m.id].summary if registry and m.id in registry.entries else "",
                *m.papers,
                *papers,
            ]
        )

    def paths(m: MechanismResult) -> dict[str, tuple[str, ...]]:
        return {e.id: e.path for e in m.reach.equations} if m.reach else {}

    environment.globals.update(
        paths=paths,
        weights=shipped(),
        verdict_of=verdict_of,
        home_of=home_of,
        text_of=text_of,
        anchor=anchor,
    )
    unrated = list(dict.fromkeys(m.claim for m in result.mechanisms if not m.rated))
    derived, ratings = (
        [(m.verdict.rating, m.variety_of is None) for m in result.mechanisms],
        [str(r) for r in Rating],
    )
    page = environment.get_template("audit.html.j2").render(
        result=result,
        of_commits=of_commits(result),
        shown={m.id for m in result.mechanisms},
        summary=summary(result),
        also_compared=ALSO_COMPARED,
        version=__version__,
        references=references,
        registry=registry,
        changes=changes,
        provenance=provenance,
        citation=citation(provenance) if provenance else "",
        facts=facts(provenance, result.mutants_asked) if provenance else [],
        columns=COLUMNS,
        claim=CLAIM,
        fewest=FEWEST,
        sources=[(s, compared(s, result)) for s in systems],
        tally=[(r, derived.count((r, True)), derived.count((r, False))) for r in Rating],
        choices=[
            ("home", "Home", sorted({home_of(m) for m in result.mechanisms} - {""})),
            ("claimed", "Claimed", [*ratings, *unrated]),
            ("derived", "Derived", ratings),
            ("claim", "Claim", ["earned", "finding", "unearned", *unrated]),
        ],
    )
    write_whole(path, [page], shared=True)


def write_figures(result: AuditResult, folder: Path) -> None:
    """Write every figure that was drawn to `<mechanism>-<name>.svg` in a folder, on light
    ground.  Raises HebbariumError.
    """
    for m in result.mechanisms:
        for picture in m.pictures:
            if picture.svg:
                write_whole(
                    folder / f"{m.id}-{picture.name}.svg", [standalone(picture.svg)], shared=True
                )


def anchor(*names: str) -> str:
    """The id of a place on the page.

    >>> anchor("recency", "RC-2"), anchor("cortex2026", "engram.py (half-life)")
    ('recency:RC-2', 'cortex2026:engram.py-half-life')
    """
    return ":".join(NO_ID.sub("-", name).strip("-") for name in names)


def mathml(tex: str) -> Markup:
    r"""TeX as MathML, one formula for each part between \quad, so that a line may break there; TeX
     that cannot be converted is shown as it is.

    >>> str(mathml("x^2"))[:44], str(mathml(r"x, \quad y")).count("<math")
    ('<math xmlns="http://www.w3.org/1998/Math/Mat', 2)
    """
    parts = QUAD.split(tex)
    if any(
        part.count("{") != part.count("}")
        or part.count(r"\left") != part.count(r"\right")
        or r"\begin" in part
        for part in parts
    ):
        parts = [tex]
    try:
        made = [
            convert(OPERATORS.sub(r"\\operatorname{\1}", part).replace(r"\%", "%"), display="block")
            for part in parts
            if part.strip()
        ]
        return Markup("".join(map(_spaced, made)))
    except Exception:  # a formula that breaks the converter must not break the page
        return Markup("<code>") + escape(tex) + Markup("</code>")


def _spaced(made: str) -> str:
    """MathML with space around named functions, which the converter sets as "lnn" and "dlnn";
    none beside a bracket or an operator.
    """
    root = ElementTree.fromstring(made.replace(NAMESPACE, "", 1))
    for row in root.iter("mrow"):
        parts = list(row)
        for left, right in reversed([*pairwise(parts)]):
            if (
                (_named(left) or _named(right))
                and left.tag != "mo"
                and right.tag not in ("mo", "mspace")
            ):
                row.insert(parts.index(right), ElementTree.Element("mspace", width="0.17em"))
    return ElementTree.tostring(root, encoding="unicode").replace("<math", f"<math{NAMESPACE}", 1)


def _named(part: ElementTree.Element) -> bool:
    return part.tag == "mi" and part.text in NAMED


def _number(value: Any) -> str:
    """A value as text; ten digits distinguish measured from expected at the tolerances in use."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.10g}"
    return f"({', '.join(map(_number, value))})" if isinstance(value, tuple) else str(value)


def _tolerance(r: CheckResult) -> str:
    """The tolerance in words; empty where none was used."""
    if not r.score.complete or isinstance(r.measured, (bool, str)) or isinstance(r.expected, str):
        return ""
    parts = [f"{r.check.atol:g}"] * bool(r.check.atol) + [f"{r.check.rtol:g} rel."] * bool(
        r.check.rtol
    )
    return " + ".join(parts) or "exact"
