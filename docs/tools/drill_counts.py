"""Write the counts of the drills into the guide on trust, from docs/results/drills.json, which
`python -m hebbarium.benchmarks.drills NAME --record docs/results/drills.json` fills.

A test compares the guide with that file; nobody types a count.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from hebbarium.benchmarks.drills.mutants import MUTANTS

DOCS = Path(__file__).resolve().parents[1]
COUNTS, GUIDE = DOCS / "results" / "drills.json", DOCS / "guides" / "trust.md"
PLACE = re.compile(
    r"(?<=<!-- written by docs/tools/drill_counts\.py -->\n).*?(?=<!-- end -->)", re.S
)


def table(drills: dict[str, dict[str, Any]]) -> str:
    """One row a drill: faults, outcomes, with what it was run, and the breakages it reports."""
    lines = [
        "| drill | faults | seed, set, commit | outcomes | reports that |",
        "|---|---|---|---|---|",
    ]
    for name, held in drills.items():
        outcomes = Counter[str]()
        for kind in held["outcomes"].values():
            outcomes.update(kind)
        told = ", ".join(f"{n:,} {outcome}" for outcome, n in sorted(outcomes.items()))
        broken = f"; **{held['broken']} broke the promise**" if held["broken"] else ""
        reports = "; ".join(mutant.what for mutant in MUTANTS if mutant.drill == name)
        lines.append(
            f"| `{name}` | {held['faults']:,} of {len(held['outcomes'])} kinds | {held['seed']}, "
            f"{held['set'] or '-'}, `{held['commit']}` | {told}{broken} | {reports} |"
        )
    return "\n".join(lines) + "\n"


def written(text: str) -> str:
    """The guide with the present counts."""
    drills = json.loads(COUNTS.read_text(encoding="utf-8"))
    return PLACE.sub(lambda _: table(drills), text)


if __name__ == "__main__":
    GUIDE.write_text(written(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
