"""Writes measured.json, the results of ours that stand beside published numbers, and the page
published.md.

    hebbarium run --set NAME --dataset DATA --data ... --out OUT/NAME        # of each set
    hebbarium ablate --design gate_variants_auc --yes --out OUT/auc
    python docs/tools/published.py [OUT/NAME ...]

Without folders only the page is written, from the measured.json that ships.  A folder of a run, or
of a design on a probe, replaces the shipped results of the same set, arm and data.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from hebbarium.audit.sources.numbers import ClaimVerdict, ReproducedClaim, judged_numbers
from hebbarium.benchmarks.execution.folder import RunFolder
from hebbarium.benchmarks.scores.cluster_robust import cluster_t
from hebbarium.benchmarks.scores.metrics import METRICS, at_depths
from hebbarium.benchmarks.scores.outcomes import scored
from hebbarium.benchmarks.scores.substring import NAME, substring_mrr
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.reporting.claims import MEASURED
from hebbarium.reporting.files import write_json
from hebbarium.reporting.text import in_cell

TARGET = Path(__file__).parents[1] / "results" / "published.md"
NAMES = (*METRICS, "ndcg@5")
HEAD = """# Published next to measured

Every number that the four source systems print in a table, and what became of it here. `hebbarium audit --sources` prints the same, with the claims in
words; the register is `src/hebbarium/reporting/claims.yaml`, with the setting of every number.

- **reproduced**, **not reproduced**: the number follows from other printed ones and was recomputed from them, or no setting differs and it lies
  inside or outside the 95% interval of ours.
- **not comparable**: a setting differs, which is named, or nothing here measures it. Our numbers are of the development data, half of LoCoMo and ten
  chats of BEAM 100K, so that no measured number is compared. Our intervals are cluster-robust t over conversations.

`hebbarium run`, `ablate` and `answer` print the published numbers of the same data beside theirs, with NOT COMPARED and the settings that differ.
`docs/tools/published.py` writes this page. The 56 cells of True Memory's table 7 are left out below where they agree with their counts.
"""


def results(folder: Path) -> Iterator[dict[str, Any]]:
    """The results of a folder of a run."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    by_arm: dict[str, list[Any]] = defaultdict(list)
    for text in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(text)
        by_arm[row.get("arm", "full")].append(row)
    conversations = RunFolder.read(folder).data().conversations
    for arm, rows in by_arm.items():
        kept = scored(rows)
        by_text = substring_mrr(rows, conversations)
        clusters = [row["conversation"] for row, _ in kept]
        values = [
            {**metrics.named(), "ndcg@5": at_depths(row["ranks"], (5,))["ndcg@5"]}
            for row, metrics in kept
        ]
        overall = {}
        for name in NAMES:
            level = cluster_t([value[name] for value in values], clusters)
            overall[name] = (
                round(level.mean, 4),
                round(level.low if level.low is not None else level.mean, 4),
                round(level.high if level.high is not None else level.mean, 4),
            )
        overall[NAME] = (round(by_text[""], 4),) * 3
        categories = sorted({row["category"] for row, _ in kept})
        yield {
            "set": manifest["set"], "arm": "" if arm == "full" else arm,
            "dataset": manifest["dataset"], "n": len(kept),
            "conversations": manifest["conversations"], "embedder": manifest["embedder"],
            "sessions": "session" in (manifest["match"], manifest["unit"]),
            "mechanisms": sorted(manifest["mechanisms"]), "overall": overall,
            "categories": {
                category: {NAME: round(by_text[category], 4)}
                | {
                    name: round(fmean(v[name] for v, (row, _) in zip(values, kept, strict=True)
                                      if row["category"] == category), 4)
                    for name in NAMES
                }
                for category in categories
            },
            "commit": manifest["code"],
        }  # fmt: skip


def of_probe(folder: Path) -> Iterator[dict[str, Any]]:
    """The results of each arm of a finished design on a probe, with t intervals over seeds."""
    design = json.loads((folder / "design.json").read_text(encoding="utf-8"))
    _, probe, number = design["metric"].split(":")
    for block in design["blocks"]:
        for arm, values in block["by_seed"].items():
            level = cluster_t(values, list(range(len(values))))
            yield {
                "set": design["set"], "arm": "" if arm == "full" else arm,
                "dataset": f"probe:{probe.partition('/')[0]}", "n": len(values),
                "conversations": [f"seed {seed}" for seed in design["seeds"]],
                "embedder": block["embedder"], "mechanisms": [],
                "overall": {number: tuple(round(x, 4) for x in (level.mean, level.low, level.high))},
                "commit": design["version"],
            }  # fmt: skip


def rows_of(claims: Sequence[ReproducedClaim]) -> list[str]:
    """The table of one system."""
    lines = ["| where | what | published | ours | | why |", "|---|---|---|---|---|---|"]
    return lines + [
        f"| {' | '.join(map(in_cell, (c.place, c.what, c.claimed, c.ours or '-', str(c.verdict), c.why)))} |"
        for c in claims
        if not (c.place == "Table 7" and c.verdict is not ClaimVerdict.NOT_REPRODUCED)
    ]


def page() -> str:
    """The whole page, from the register and the shipped results."""
    claims = judged_numbers(Registry.read())
    systems = list(dict.fromkeys(c.system for c in claims))
    verdicts = list(ClaimVerdict)
    counts = [
        f"| {' | '.join(['system', 'numbers', *map(str, verdicts)])} |",
        "|---|--:|--:|--:|--:|",
        *(
            f"| {name} | {sum(c.system == name for c in claims)} | "
            + " | ".join(
                str(sum((c.system, c.verdict) == (name, v) for c in claims)) for v in verdicts
            )
            + " |"
            for name in systems
        ),
    ]
    parts = [HEAD, "\n".join(counts)]
    for name in systems:
        parts += [f"\n## {name}\n", "\n".join(rows_of([c for c in claims if c.system == name]))]
    return "\n".join(parts) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="*")
    given = parser.parse_args(arguments)
    held = {
        (r["set"], r.get("arm", ""), r["dataset"]): r
        for r in json.loads(MEASURED.read_text(encoding="utf-8"))
    }
    for folder in given.runs:
        design = folder / "design.json"
        probed = design.exists() and '"metric": "probe:' in design.read_text(encoding="utf-8")
        for result in of_probe(folder) if probed else results(folder):
            held[result["set"], result["arm"], result["dataset"]] = result
    if given.runs:
        write_json(MEASURED, [held[key] for key in sorted(held)], shared=True)
    TARGET.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
