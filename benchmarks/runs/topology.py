"""The topology of the memories of a run: each conversation's memory is rebuilt from the
manifest, and its records are read.
"""

from __future__ import annotations

from contextlib import closing

from ...engine.base.errors import InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedder import Embedder
from ...mechanisms.shared.topology_report import TopologyReport, reported
from ..datasets import Dataset
from ..execution.cells import later, prepare
from ..execution.folder import RunFolder
from ..systems.by_name import OURS
from ..systems.hebbarium import Hebbarium


def topologies(
    run: RunFolder,
    data: Dataset,
    registry: Registry,
    embedder: Embedder,
    *,
    arm: str | None = None,
    conversation: str | None = None,
) -> dict[str, TopologyReport]:
    """A report for each conversation of the run, by id, or for one.

    arm  of an ablation; None: the full set

    Cost: one encoding of each conversation.  Raises InputError for a run of another system or
    without a topology, HebbariumError.
    """
    chosen = run.arm(arm)
    if (system := run.deciding(chosen).get("system", OURS)) != OURS:
        raise InputError(
            f"the arm measured {system}; only the memories of {OURS} have a topology",
            where=str(run.path),
            cure="choose another arm",
        )
    ids = [conversation] if conversation is not None else list(run.manifest["conversations"])
    found = {}
    for id in ids:
        cell = run.cell(chosen, id, data)
        mechanisms = registry.build(MechanismSet(cell.spec.set, "", cell.spec.mechanisms))
        with closing(
            Hebbarium(mechanisms, embedder, cell.spec.seed, language_model=run.language_model())
        ) as memory:
            prepare(cell, memory)
            for events in later(cell.conversation):
                memory.encode(events)
            found[id] = reported(memory.engine)
    return found
