"""Writes default-set.md: how the set `default` was found, and its scores beside those of `waking`
and `in_use` on development data.

    python docs/tools/default_set.py --locomo FILE --beam FOLDER --turns beam --out OUT

Every run is one of `hebbarium run`; OUT keeps them.  Sections after the table stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from default_against_parts import SCORES, Scores, page

TARGET = Path(__file__).parents[1] / "results" / "default-set.md"
SETS = ("default", "waking", "in_use")
HEAD = """# How `default` was found

Until it was looked for, `default` had every mechanism of waking memory that lowered no score. That set is `waking` now. Most of its 36 mechanisms make no
difference to an answer, and it hardly learns from use: in the world `needs`, where what was needed is needed again, it has .28 of the efficiency of an
ideal observer. `in_use` has .94 with 31 mechanisms, since it learns which evidence counts. `default` has .94, too, but does not learn
[what is needed after what](../reference/worlds.md#the-sets-in_use-and-default).

A search by `hebbarium compose` within `in_use`, from a part chosen by eye on the same data, came to 18 of which none can leave alone: those of `default`
and `heat`. `heat` serves a memory with a capacity alone: `flood/capacity` has hit@20 .808 with it, .778 without, and .780 in `waking`. It costs .006 of
recall@10 on BEAM, so `default` leaves it out.

Can a mechanism of `default` leave? [The search of `benchmarks/composition/default.yaml`](composition.md) over LoCoMo by turns and sessions, BEAM, the demo
and the worlds `needs` and `flood` finds that `pattern_separation` alone can, by .0036 of the demo's MRR at most. It stays: the parts that are found without
a third of the conversations lose .011 of recall@10 and .008 of MRR on BEAM, and .010 of MRR on the demo, where they took no part. The last table says what
is lost without each mechanism. The data are those on which the set was chosen: [held-out results](../../README.md#results-on-real-data) are of the set before.

`docs/tools/default_set.py` writes the first table.

| data | score | `default` | `waking` | `in_use` | `default` less `waking` |
|---|---|---|---|---|---|
"""


def lines(data: str, by_set: Scores) -> list[str]:
    """One row for each score.

    >>> same = {score: 0.5 for score in SCORES}
    >>> print(lines("demo", {"default": same, "waking": same | {"hit@10": 0.52}, "in_use": same})[0])
    | demo | hit@10 | 0.500 | 0.520 | 0.500 | -0.020 |
    """
    return [
        f"| {data} | {score} | {' | '.join(f'{by_set[name][score]:.3f}' for name in SETS)} | "
        f"{by_set['default'][score] - by_set['waking'][score]:+.3f} |"
        for score in SCORES
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    page(__doc__, TARGET, HEAD, SETS, lines, arguments)


if __name__ == "__main__":
    main()
