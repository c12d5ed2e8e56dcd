"""Writes designs-on-data.md: the tables of finished designs on development data.

    hebbarium ablate --design NAME --yes --out OUT/NAME          # on LoCoMo and BEAM 100K
    python docs/tools/designs_on_data.py OUT/everything_leave_one_out ...

The page has the tables of `hebbarium ablate --design`, and for the sweeps of Cortex what its paper
concludes.  A design that is given takes the place of its section, and the other sections stay.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from hebbarium.benchmarks.reports.result import DesignResult, from_json
from hebbarium.benchmarks.reports.tables import to_markdown

TARGET = Path(__file__).parents[1] / "results" / "designs-on-data.md"
HEAD = """# Designs on real data

Leave-one-out of `default` and of `everything`, the printed form of each mechanism in place of that of its paper, Shapley values, and the designs of
the package for the claims of the source systems, on the development data of LoCoMo and BEAM 100K with all-MiniLM-L6-v2. Five and ten conversations
decide only large effects: "undecided" is no evidence that a mechanism does nothing. In a leave-one-out, the value is that of the whole set minus that
of the set without the mechanism; elsewhere it is the arm minus the whole set. The sentences below the sweeps compare with the tables of Cortex, whose
scores on BEAM are MRR of ten abilities with a cross-encoder; here it is recall@10 without one.

The designs ran with cached embeddings, on two cores that other programs used as well. `default_leave_one_out` took 5.0 min of CPU in one process
(300 cells, commit 69fc6904). `everything_leave_one_out` took 61 min in one process (1,065 cells); an earlier run took 24.6 min in two processes (37 min
of CPU). `waking_shapley` took 20.8 min (29 of CPU), `everything_varieties` 7.7 (15), and each sweep of Cortex 0.8 to 1.3 (1.3 to 1.7).

`docs/tools/designs_on_data.py` writes this page from finished designs; [designs](../guides/designs.md) says how one is run.
"""

# Sweep -> where it stands in cortex2026, and the best value that its table names for a data set
PUBLISHED: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "cortex_words_weight": ("section 6.4.2", {"locomo": "0.5", "beam": "0"}),
    "cortex_heat_weight": ("section 6.4.3", {"locomo": "0.3", "beam": "0.7"}),
    "cortex_reranking_weight": ("section 6.4.1", {"beam": "0.55"}),
}


def conclusions(design: DesignResult) -> Iterator[str]:
    """One sentence for each data set of a published sweep: the best value of the source, the
    highest mean here, and its verdict.
    """
    place, published = PUBLISHED.get(design.facts.name, ("", {}))
    for block in design.blocks:
        if not (stated := published.get(block.dataset)):
            continue
        means = {arm.partition("=")[2]: value for arm, value in block.means.items() if "=" in arm}
        best, verdicts = (
            max(means, key=lambda value: means[value]),
            {e.name.partition("=")[2]: e.verdict.value for e in block.estimates},
        )
        here = (
            f"{best}, too"
            if best == stated
            else f"{best}, .{round(1000 * means[best]):03d} against .{round(1000 * means[stated]):03d}"
        )
        yield (
            f"- {block.dataset}: Cortex names {stated} as the best value ({place}); the highest mean here is that of {here}. Its verdict "
            f"against the set's own value: {verdicts[best]}."
        )


def section(folder: Path) -> str:
    """The tables of a design, one level below the page's title.  Raises DataError for a folder
    without a finished design.
    """
    design = from_json(json.loads((folder / "design.json").read_text(encoding="utf-8")))
    tables, _, _ = to_markdown(design).partition("\n\n**Provenance**")
    title, _, rest = tables.partition("\n")
    concluded = "\n".join(conclusions(design))
    return f"#{title}\n\n{rest.strip().replace(chr(10) + '## ', chr(10) + '### ')}\n" + (
        f"\n{concluded}\n" if concluded else ""
    )


def sections(page: str) -> dict[str, str]:
    """Heading -> section of a page, with the heading.

    >>> sections("# page\\n\\n## a: 1\\n\\ntext\\n\\n## b: 2\\n")
    {'## a: 1': '## a: 1\\n\\ntext\\n', '## b: 2': '## b: 2\\n'}
    """
    parts = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    return {f"## {part.splitlines()[0]}": f"## {part.strip()}\n" for part in parts}


def page(head: str, before: str, new: Iterable[str]) -> str:
    """A page with the sections that it had, and some new ones in their places or last.

    >>> old = "# page\\n\\n## demo\\n\\nold\\n\\n## beam\\n\\nkept\\n"
    >>> print(page("# page\\n", old, ["## demo\\n\\nnew\\n"]))
    # page
    <BLANKLINE>
    ## demo
    <BLANKLINE>
    new
    <BLANKLINE>
    ## beam
    <BLANKLINE>
    kept
    <BLANKLINE>
    """
    shown = sections(before)
    for text in new:
        shown |= sections(text)
    return "\n".join([head, *shown.values()])


def main(arguments: Sequence[str]) -> None:
    new = [section(Path(folder)) for folder in arguments]
    TARGET.write_text(page(HEAD, TARGET.read_text(encoding="utf-8"), new), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
