"""Cells on this machine: in any order, on any number of workers, each once; the ledger keeps what is finished."""
from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...engine.errors import DataError, HebbariumError
from ...engine.ports.embedder import Embedder
from ...engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from ...engine.registry import Registry
from ...reporting.files import results_folder, write_json, write_whole
from ..datasets import Dataset
from ..designs import FULL, Arm
from ..systems.by_name import factory
from ..systems.hebbarium import check
from .cells import Cell, Outcome, run_cell
from .folder import LEDGER, MANIFEST, ROWS, TIMES, claim
from .ledger import Ledger
from .spec import Inputs, Settings, manifest, specs_of

Progress = Callable[[int, int, str], None]


def execute(arms: Sequence[Arm], inputs: Inputs, settings: Settings, out: Path, *, command: Mapping[str, Any], jobs: int = 1,
            progress: Progress | None = None, replace: bool = False, ahead: MeteredEmbedder | None = None) -> list[list[Outcome]]:
    """Run every arm on every conversation and write manifest.json, rows.jsonl and times.jsonl into `out`.  Outcomes of each arm, by conversation.

    command   what stands first in the manifest: the command and what only it knows
    jobs      worker processes; 1 runs here
    progress  see `run_cells`
    replace   write over another run that `out` holds
    ahead     the embedder of `inputs`, metered: counts the texts that are embedded before the first cell

    Stopped at any moment and called again, it goes on from the ledger in `out`.  The manifest is written before the first cell is run.
    Raises HebbariumError, before anything runs if possible; InputError for a folder that holds another run.
    """
    check_arms(arms, inputs.registry, settings)
    specs = specs_of(arms, inputs, settings)
    book = Ledger(results_folder(out) / LEDGER)
    written = manifest(specs, inputs.data, command)
    conversations = {c.id: c for c in inputs.data.conversations}
    cells = [Cell(spec, conversations[spec.conversation]) for spec in specs]
    with book.sweep():
        claim(out, written, replace=replace)
        embed_ahead(inputs.data, ahead or inputs.embedder)
        write_json(out / MANIFEST, written)
        outcomes = run_cells(cells, inputs.registry, inputs.embedder, book, jobs=jobs, progress=progress)
        write_lines(out / ROWS, (row for outcome in outcomes for row in outcome.rows))
        write_lines(out / TIMES, (times for outcome in outcomes for times in outcome.times))
    size = len(conversations)
    return [outcomes[i * size:(i + 1) * size] for i in range(len(arms))]


def check_arms(arms: Iterable[Arm], registry: Registry, settings: Settings) -> None:
    """Raises RegistryError or ContractError for an arm that cannot be built, InputError for a system that cannot be loaded.

    A few milliseconds an arm, so that nothing is embedded or run before such an error.
    """
    if not settings.ours:
        factory(settings.system)
        return
    for arm in arms:
        try:
            with arm.chosen.named_in_errors():
                check(registry.build(arm.chosen))
        except HebbariumError as error:
            raise error if arm.id == FULL else type(error)(error.what, where=f"arm {arm.id!r}, {error.where}", cure=error.cure) from error


def embed_ahead(data: Dataset, embedder: Embedder) -> None:
    """Embed every event and question once, before the cells are handed out."""
    texts = [e.rendered() for c in data.conversations for e in c.events] + [q.text for c in data.conversations for q in c.questions]
    embedder.embed(texts)


def run_cells(cells: Sequence[Cell], registry: Registry, embedder: CachedEmbedder, book: Ledger, *, jobs: int = 1,
              progress: Progress | None = None) -> list[Outcome]:
    """The outcomes of all cells, in order; cells that the ledger holds are not run again.  The caller holds `book.sweep()`.

    jobs      worker processes; 1 runs here
    progress  called with (cells done, cells in all, what was done last), first with the number of cells that the ledger held

    If it is interrupted, finished cells stay.  Raises DataError for a damaged ledger.
    """
    keys = [cell.spec.key() for cell in cells]
    finished = book.done(keys)
    todo = [(c, k) for c, k in zip(cells, keys, strict=True) if k not in finished]
    done = len(cells) - len(todo)
    tell = progress or (lambda *_: None)
    tell(done, len(cells), "taken from the ledger" if done else "")
    if jobs == 1 or len(todo) <= 1:
        for cell, key in todo:
            _work(cell, key, registry, embedder, book.path)
            done += 1
            tell(done, len(cells), f"{cell.spec.arm}, {cell.spec.conversation}")
    else:
        from joblib import Parallel, delayed

        work = (delayed(_work)(c, k, registry, embedder, book.path) for c, k in todo)
        for (cell, _), _ in zip(todo, Parallel(n_jobs=jobs, return_as="generator")(work), strict=True):
            done += 1
            tell(done, len(cells), f"{cell.spec.arm}, {cell.spec.conversation}")
    outcomes = {found.key: Outcome(**json.loads(found.payload)) for found in book.cells(set(keys))}
    if lost := [cell.spec for cell, key in zip(cells, keys, strict=True) if key not in outcomes]:
        raise DataError(f"{len(lost)} cells are missing from the ledger, the first of arm {lost[0].arm!r}", where=str(book.path),
                        cure="start the sweep again; if it happens again, give it another folder")
    return [outcomes[key] for key in keys]


def _work(cell: Cell, key: str, registry: Registry, embedder: CachedEmbedder, ledger: Path) -> None:
    payload = json.dumps(asdict(run_cell(cell, registry, embedder)))
    Ledger(ledger).put(key, payload, {"arm": cell.spec.arm, "conversation": cell.spec.conversation})


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON Lines: one object a line, in the order given."""
    write_whole(path, (json.dumps(line, sort_keys=True) + "\n" for line in lines))
