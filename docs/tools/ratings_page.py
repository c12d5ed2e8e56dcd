"""Writes down what the entries state, audits the collection once, and writes audit/ratings.json, and
what the ratings stand on into docs/results/ratings.md: `make ratings`.

python docs/tools/ratings_page.py       # audits the collection without mutants, some minutes
"""

from __future__ import annotations

import re
from pathlib import Path

from hebbarium.audit import statements
from hebbarium.audit.collect import audit_registry
from hebbarium.audit.ratings import write
from hebbarium.audit.standing import page
from hebbarium.engine.catalogue.registry import Registry

PAGE = Path(__file__).parents[1] / "results" / "ratings.md"
PLACE = re.compile(
    r"(?<=<!-- written by docs/tools/ratings_page\.py -->\n).*(?=<!-- end -->)", re.S
)


def main() -> None:
    registry = Registry.read()
    statements.write(registry)
    result = audit_registry(registry, mutants=False, jobs=2)
    write(result)
    text, before = page(result, registry), PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda _: text, before), encoding="utf-8")


if __name__ == "__main__":
    main()
