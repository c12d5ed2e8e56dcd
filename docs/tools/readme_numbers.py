"""Write the audit's numbers into the README: a part of `make ratings`.

Counts are those of the registry, of the evidence files and of audit/ratings.json; a test compares
the README with them.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from hebbarium.audit.checks import evidence_of
from hebbarium.audit.collect import evidence_module
from hebbarium.audit.rating import Rating, earned
from hebbarium.audit.ratings import shipped
from hebbarium.engine.catalogue.registry import Registry

README = Path(__file__).resolve().parents[2] / "README.md"
PLACE = re.compile(
    r"(?<=<!-- written by docs/tools/readme_numbers\.py -->\n).*?(?=<!-- end -->)", re.S
)


def table(registry: Registry) -> str:
    """The numbers as a Markdown table.  Raises HebbariumError for evidence that is not sound."""
    entries, ratings = (
        registry.entries.values(),
        {id: Rating(rating) for id, rating in shipped().items()},
    )
    evidence = [
        evidence_of(import_module(name))
        for entry in entries
        if (name := evidence_module(entry, registry))
    ]
    printed = [e for e in entries if e.variety_of]
    # the source of the others does not rate them
    rated = [e for e in printed if e.claims in set(Rating)]
    missed = [e for e in rated if not earned(Rating(e.claims), ratings[e.id])]
    own = [e for e in entries if not e.variety_of]
    rows = (
        (
            f"mechanisms, {len(printed)} of them forms that a source system prints",
            len(own) + len(printed),
        ),
        (
            "checks against papers, closed forms, simulations and other libraries",
            sum(len(e.checks) for e in evidence),
        ),
        (
            "mutants (wrong versions), each of which a named check must reject",
            sum(len(e.mutants) for e in evidence),
        ),
        (
            f"printed forms whose claim is not earned, of {len(rated)} that their source rates",
            len(missed),
        ),
        (
            f"other mechanisms whose claim is not earned, of {len(own)}",
            sum(not earned(Rating(e.claims), ratings[e.id]) for e in own),
        ),
    )
    return (
        "\n".join(
            (
                "| what | number |",
                "|---|---|",
                *(f"| {what} | {number:,} |" for what, number in rows),
            )
        )
        + "\n"
    )


def main() -> None:
    README.write_text(
        PLACE.sub(lambda _: table(Registry.read()), README.read_text(encoding="utf-8")),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
