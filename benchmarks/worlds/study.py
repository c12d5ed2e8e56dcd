"""`hebbarium world`: mechanism sets, or another system, in some worlds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from ...engine.base.errors import InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.files import write_json, write_whole
from ...reporting.provenance import Made, made
from ..designs import FULL, Arm
from ..execution.folder import ledger_beside
from ..execution.local import Progress, write_lines
from ..execution.plan import Composition, planned
from ..execution.setup import code_version
from ..execution.spec import DEFAULTS
from ..runs.world_effects import RESULT, ROWS
from ..systems.by_name import OURS
from .base import World
from .report import WorldReport, to_html, to_json, to_markdown
from .result import FLOOR, result_of, rows_of
from .run import run_cells, specs_of

BASELINE = "hybrid"  # the mechanism set of the floor: the cue alone
STRENGTHS = (0.0, 0.5, 1.0)
Named = tuple[str, str, str]  # arm, set, removed mechanism


def study(
    worlds: Sequence[World],
    sets: Sequence[MechanismSet],
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    *,
    system: str = OURS,
    on_trial: Sequence[str] = (),
    seeds: int = 20,
    strengths: Sequence[float] = STRENGTHS,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
    replace: bool = False,
) -> WorldReport:
    """Run the worlds and write world.json, world.md, world.html and rows.jsonl into `out`.

    sets      mechanism sets; none for a system that is not ours
    on_trial  mechanisms that are left out of each set that has them, one at a time
    replace   write over the worlds of other sets or another embedder that `out` holds

    Cells that `out` holds from the same inputs are taken from its ledger.  Raises HebbariumError;
    InputError for a folder with other results.
    """
    arms, compositions = composed(sets, on_trial, registry, system)
    strengths = sorted(set(strengths))
    specs = specs_of(
        [world.name for world in worlds], strengths, seeds, compositions, registry, embedder
    )
    deciding = {
        "sets": {
            composition.arm: composition.set_digest or composition.system_revision
            for composition in compositions
        },
        "embedder": embedder.name,
        "embedder_revision": embedder.revision,
        "registry_digest": registry.digest,
    }
    with ledger_beside(out / RESULT, deciding, "worlds", replace=replace) as book:
        outcomes = run_cells(specs, registry, embedder, book, jobs=jobs, progress=progress)
    results, rows = [], []
    for world in worlds:
        mine = rows_of(
            world,
            (
                (asdict(spec), outcome)
                for spec, outcome in zip(specs, outcomes, strict=True)
                if spec.world == world.name
            ),
        )
        results.append(result_of(world, mine, arms, strengths, seeds))
        rows += [{name: value for name, value in row.items() if name != "ranks"} for row in mine]
    provenance = {
        **deciding,
        "code": code_version(),
        "cells": len(specs),
        "made": asdict(making or made()),
    }
    report = WorldReport(
        tuple(dict.fromkeys(chosen for _, chosen, _ in arms)),
        results,
        embedder.name != "hashing",
        provenance,
    )
    write_lines(out / ROWS, rows)
    write_json(out / RESULT, to_json(report), shared=True)
    write_whole(out / "world.md", [to_markdown(report)], shared=True)
    to_html(report, out / "world.html")
    return report


def composed(
    sets: Sequence[MechanismSet], on_trial: Sequence[str], registry: Registry, system: str
) -> tuple[list[Named], list[Composition]]:
    """The arms with what runs them, the floor first among the latter.  Each set is built and
    checked once.

    Raises InputError for a set given beside another system, for a set named twice, and for a
    mechanism on trial that no set has.
    """
    floor = planned([Arm(FLOOR, registry.set(BASELINE))], registry).arms
    if system != OURS:
        if sets or on_trial:
            raise InputError(
                f"the system {system!r} has no mechanisms",
                where="--set" if sets else "--on-trial",
                cure="leave out --set and --on-trial, or leave out --system",
            )
        return [(system, system, "")], [*floor, *planned([], registry, DEFAULTS, [system]).arms]
    names = [chosen.name for chosen in sets]
    if twice := [name for name in names if names.count(name) > 1 or name == FLOOR]:
        raise InputError(
            f"the set {twice[0]!r} is named twice",
            where="--set",
            cure="name every set once; the floor is always measured",
        )
    if odd := [id for id in on_trial if not any(id in chosen.mechanisms for chosen in sets)]:
        raise InputError(
            f"no set of these has {odd[0]!r}",
            where="--on-trial",
            cure=f"name mechanisms of {' or '.join(names)}, which `hebbarium show --set` lists",
        )
    arms, parts = list[Named](), list(floor)
    for mechanism_set in sets:
        mine = [(mechanism_set.name, mechanism_set, "")] + [
            (f"{mechanism_set.name} without {id}", mechanism_set.without([id]), id)
            for id in dict.fromkeys(on_trial)
            if id in mechanism_set.mechanisms
        ]
        arms += [(name, mechanism_set.name, removed) for name, _, removed in mine]
        for name, chosen, removed in mine:
            parts += planned([Arm(name if removed else FULL, chosen, removed)], registry).arms
    return arms, [
        replace(part, arm=name)
        for part, name in zip(parts, [FLOOR, *(name for name, _, _ in arms)], strict=True)
    ]
