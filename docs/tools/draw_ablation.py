"""From finished ablations: the picture of the README, and the demo figures that tell what a design
can detect.

    python docs/tools/draw_ablation.py out/locomo/design.json    # docs/pictures/ablation.svg
    python docs/tools/draw_ablation.py out/demo/design.json      # benchmarks/scores/demo_spread.json

The first is the set default on the development file of LoCoMo, the second that of `make demo`.

The demo figures are the spread of every arm between and within conversations; `hebbarium ablate`
takes them where a folder has no earlier run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hebbarium.benchmarks.reports.page import to_svg
from hebbarium.benchmarks.reports.result import BlockResult, from_json, spreads_of
from hebbarium.benchmarks.scores.detectable import DEMO, demo_figures
from hebbarium.reporting.files import write_json

HERE = Path(__file__).parents[1] / "pictures" / "ablation.svg"


def figures(result: BlockResult) -> dict[str, object]:
    """The content of demo_spread.json."""
    return demo_figures(
        spreads_of(result),
        set=result.facts.set,
        dataset=result.dataset,
        sha256=result.dataset_sha256,
        embedder=result.provenance["embedder"],
        code=result.facts.version,
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    (block,) = from_json(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))).blocks
    if block.dataset == "demo":
        write_json(DEMO, figures(block), shared=True)
    else:
        HERE.write_text(to_svg(block, both=False), encoding="utf-8")
    print(DEMO if block.dataset == "demo" else HERE)
