"""From finished ablations: the picture of the README, and the demo figures that tell what a design
can detect.

    python docs/tools/draw_ablation.py out/locomo/ablation.json       # set default, LoCoMo
    development file: docs/pictures/ablation.svg python docs/tools/draw_ablation.py
    out/demo/ablation.json         # of make demo: benchmarks/scores/demo_spread.json

The demo figures are the spread of every arm between and within conversations; `hebbarium ablate`
takes them where a folder has no earlier run.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hebbarium.benchmarks.reports.page import to_svg
from hebbarium.benchmarks.reports.result import AblationResult, from_json, spreads_of
from hebbarium.benchmarks.scores.detectable import DEMO, demo_figures
from hebbarium.reporting.files import write_json

HERE = Path(__file__).parents[1] / "pictures" / "ablation.svg"


def figures(result: AblationResult) -> dict[str, object]:
    """The content of demo_spread.json."""
    return demo_figures(
        spreads_of(result),
        set=result.set_name,
        dataset=result.dataset,
        sha256=result.dataset_sha256,
        embedder=result.provenance["embedder"],
        code=result.version,
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    found = from_json(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    if found.dataset == "demo":
        write_json(DEMO, figures(found), shared=True)
    else:
        HERE.write_text(to_svg(found, both=False), encoding="utf-8")
    print(DEMO if found.dataset == "demo" else HERE)
