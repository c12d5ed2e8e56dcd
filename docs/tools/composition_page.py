"""Writes docs/results/composition.md: what `hebbarium compose` finds within `default`.

    python docs/tools/composition_page.py OUT...

OUT are folders of `hebbarium compose --set default`, which were carried out to their end.  One that
is given takes the place of its section, and the other sections stay.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from designs_on_data import page

TARGET = Path(__file__).parents[1] / "results" / "composition.md"
HEAD = """# What `hebbarium compose` finds within `default`

Each section is one composition, carried out to its end: the smallest part that loses no more than the margins on the data named, what it loses on
conversations that took no part in finding it, and how often each mechanism stays. [How a part is found](../guides/designs.md#how-the-part-is-found) and
[what to quote](../guides/designs.md#what-to-quote) are explained with the command. A part that is enough for these data is no better `default`: sessions,
other chats and worlds need mechanisms that these do not, see [how `default` was found](default-set.md).
The one of LoCoMo and the demo took 8.7 CPU minutes of one process, in two slices of which the second continued the first. That of LoCoMo
and BEAM, with three folds, took 21 CPU minutes of one process; held out its part loses .015 of BEAM, so the three mechanisms that it leaves out
stay in `default`. That of `benchmarks/composition/default.yaml`, with sessions and two worlds and three folds, took 31 CPU minutes of one
process, 41 minutes beside other programs.
`docs/tools/composition_page.py` writes this page.
"""


def section(text: str) -> str:
    """A report of a composition as a section of the page, named by its data.

    >>> section("# The smallest part of default for demo\\n\\nOne line.\\n")
    '## demo\\n\\nOne line.\\n'
    """
    title, _, rest = text.partition("\n")
    return f"## {title.partition(' for ')[2]}\n{rest}"


def main(folders: Sequence[str]) -> None:
    reports = [(Path(name) / "composition.md").read_text(encoding="utf-8") for name in folders]
    new = map(section, reports)
    TARGET.write_text(page(HEAD, TARGET.read_text(encoding="utf-8"), new), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
