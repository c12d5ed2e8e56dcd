"""Writes what ratings stand on into docs/results/ratings.md: a part of `make ratings`.

python docs/tools/ratings_page.py       # audits the collection without mutants, some minutes
"""

from __future__ import annotations

import re
from pathlib import Path

from hebbarium.audit.collect import audit_registry
from hebbarium.audit.standing import page
from hebbarium.engine.catalogue.registry import Registry

PAGE = Path(__file__).parents[1] / "results" / "ratings.md"
PLACE = re.compile(
    r"(?<=<!-- written by docs/tools/ratings_page\.py -->\n).*(?=<!-- end -->)", re.S
)


def main() -> None:
    registry = Registry.read()
    text = page(audit_registry(registry, mutants=False, jobs=2), registry)
    before = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda _: text, before), encoding="utf-8")


if __name__ == "__main__":
    main()
