"""`hebbarium probe`: some probes over one mechanism set, or over another system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from ....engine.base.errors import InputError
from ....engine.catalogue.registry import MechanismSet, Registry
from ....engine.ports.embedding_cache import CachedEmbedder
from ....reporting.files import write_json, write_whole
from ....reporting.provenance import Made, made
from ...designs import FULL, Arm
from ...execution.folder import ledger_beside
from ...execution.local import Progress, write_lines
from ...execution.plan import Composition, planned
from ...execution.setup import code_version
from ...execution.spec import DEFAULTS
from ...systems.by_name import OURS
from ..stimuli import DIGEST
from .bands import judge
from .base import Probe
from .report import Report, to_html, to_json, to_markdown
from .run import run_cells, specs_of

ROWS, RESULT = "rows.jsonl", "probes.json"
DECIDING = ("system", "system_revision", "set", "set_digest", "registry_digest", "embedder",
            "embedder_revision", "embedder_dimensions")  # fmt: skip


def study(
    probes: Sequence[Probe],
    chosen: MechanismSet | None,
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    *,
    system: str = OURS,
    seeds: int | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    replace: bool = False,
) -> Report:
    """Run the probes and write probes.json, probes.md, probes.html and rows.jsonl into `out`.

    chosen   mechanism set; None for a system that is not ours
    seeds    of every probe; None: as many as each probe says
    replace  write over the probes of another set or embedder that `out` holds

    Cells that `out` holds from the same inputs are taken from its ledger.  Raises HebbariumError;
    InputError for a folder with other results.
    """
    measured = composed(chosen, registry, system)
    specs = specs_of(probes, seeds, measured, registry, embedder)
    with ledger_beside(
        out / RESULT,
        {name: getattr(specs[0], name) for name in DECIDING},
        "probe results",
        replace=replace,
    ) as book:
        rows = run_cells(specs, registry, embedder, book, jobs=jobs, progress=progress)
    rows = [{name: value for name, value in row.items() if name != "seconds"} for row in rows]
    named = frozenset(name for id in measured.mechanisms for name in registry.entry(id).probes)
    outcomes = [judge(probe, [row for row in rows if row["probe"] == probe.id]) for probe in probes]
    provenance = {
        name: value
        for name, value in asdict(specs[0]).items()
        if name not in ("arm", "probe", "seed")
    }
    provenance |= {"code": code_version(), "stimuli": DIGEST}
    report = Report(
        measured.set or system,
        outcomes,
        named,
        embedder.name != "hashing",
        {**provenance, "made": asdict(making or made())},
    )
    write_lines(out / ROWS, rows)
    write_json(out / RESULT, to_json(report), shared=True)
    write_whole(out / "probes.md", [to_markdown(report)], shared=True)
    to_html(report, out / "probes.html")
    return report


def composed(chosen: MechanismSet | None, registry: Registry, system: str) -> Composition:
    """The memory that is measured, built and checked once.  Raises InputError for a set given
    beside another system, and as `planned`.
    """
    if system != OURS:
        if chosen is not None:
            raise InputError(
                f"the system {system!r} has no mechanisms",
                where="--set",
                cure="leave out --set, or leave out --system",
            )
        return planned([], registry, DEFAULTS, [system]).arms[0]
    assert chosen is not None
    return planned([Arm(FULL, chosen)], registry).arms[0]
