"""Writes designs-on-data.md: the tables of finished designs on development data.

    hebbarium ablate --design NAME --yes --out OUT/NAME          # each of them, on LoCoMo and BEAM 100K
    python docs/designs_on_data.py OUT/default_leave_one_out OUT/cortex_words_weight ...

The page has the tables of `hebbarium ablate --design` in the order given.
"""
from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from hebbarium.benchmarks.reports.design_page import to_markdown
from hebbarium.benchmarks.reports.estimates import report_of

TARGET = Path(__file__).parent / "designs-on-data.md"
HEAD = """# Designs on real data

Leave-one-out of `default`, and the designs of the package for the claims of the source systems, on the development data of LoCoMo and BEAM 100K with
all-MiniLM-L6-v2. Five and ten conversations decide only large effects: "undecided" is no evidence that a mechanism does nothing. In a leave-one-out,
the value is that of the whole set minus that of the set without the mechanism; elsewhere it is the arm minus the whole set.

`docs/designs_on_data.py` writes this page from finished designs; [designs](designs.md) says how one is run.
"""


def section(folder: Path) -> str:
    """The tables of a design, one level below the page's title.  Raises DataError for a folder without a finished design."""
    report = report_of(json.loads((folder / "design.json").read_text(encoding="utf-8")))
    title, _, rest = to_markdown(report).partition("\n")
    return f"#{title}\n\n{report.summary}\n{rest.replace(chr(10) + '## ', chr(10) + '### ')}"


def main(arguments: Sequence[str]) -> None:
    TARGET.write_text("\n".join([HEAD, *(section(Path(folder)) for folder in arguments)]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
