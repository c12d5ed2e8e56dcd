"""Memories of a run, rebuilt from its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ...engine.base.errors import InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedder import Embedder
from ...mechanisms.consolidation.topology_consolidation import TopologyConsolidation
from ...mechanisms.shared.topology_edits import RecordedRun
from ..datasets import Dataset
from ..execution.cells import Cell, later, prepare
from ..execution.folder import RunFolder
from ..systems.by_name import OURS
from ..systems.hebbarium import Hebbarium
from ..systems.witness import Witness


def ours(run: RunFolder, arm: str | None) -> str:
    """The arm of that name, the first for None.  Raises InputError for an arm of another system,
    whose memories cannot be rebuilt.
    """
    chosen = run.arm(arm)
    if (system := run.deciding(chosen).get("system", OURS)) != OURS:
        raise InputError(
            f"the arm measured {system}; only the memories of {OURS} can be rebuilt",
            where=str(run.path),
            cure="choose another arm; `hebbarium compare` shows what another system retrieved",
        )
    return chosen


def chosen_cells(
    run: RunFolder, data: Dataset, arm: str | None, conversation: str | None
) -> list[Cell]:
    """The cells of an arm, the first one for None, of all conversations or of one.  Raises
    InputError for an arm of another system, DataError for a conversation that the data lack.
    """
    chosen = ours(run, arm)
    ids = [conversation] if conversation is not None else list(run.manifest["conversations"])
    return [run.cell(chosen, id, data) for id in ids]


def opened(
    run: RunFolder,
    cell: Cell,
    registry: Registry,
    embedder: Embedder,
    *,
    witness: Witness | None = None,
    path: Path | None = None,
    recorded: Mapping[int, RecordedRun] | None = None,
) -> Hebbarium:
    """The memory of a cell before its conversation, or as its file has it.  The caller closes it.

    path      of the file that keeps it; None: none
    recorded  records that its consolidations execute, without a language model

    Raises HebbariumError.
    """
    mechanisms = registry.build(MechanismSet(cell.spec.set, "", cell.spec.mechanisms))
    if recorded is not None:
        for mechanism in mechanisms:
            if isinstance(mechanism, TopologyConsolidation):
                mechanism.recorded = recorded
    return Hebbarium(
        mechanisms,
        embedder,
        cell.spec.seed,
        witness,
        language_model=run.language_model() if recorded is None else None,
        path=path,
    )


def lived(
    run: RunFolder,
    cell: Cell,
    registry: Registry,
    embedder: Embedder,
    *,
    path: Path | None = None,
    recorded: Mapping[int, RecordedRun] | None = None,
) -> Hebbarium:
    """The memory of a cell after its conversation; arguments as of `opened`."""
    memory = opened(run, cell, registry, embedder, path=path, recorded=recorded)
    prepare(cell, memory)
    for events in later(cell.conversation):
        memory.encode(events)
    return memory
