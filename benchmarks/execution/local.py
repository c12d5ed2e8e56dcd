"""Cells on this machine: in any order, on any number of workers, each once; the ledger keeps what is finished."""
from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...engine.errors import DataError, HebbariumError, InputError
from ...engine.ports.embedder import Embedder
from ...engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from ...engine.ports.language_model import LanguageModel
from ...engine.ports.transcript import Transcript
from ...engine.registry import Registry
from ...reporting.files import results_folder, write_json, write_whole
from ..datasets import Dataset
from ..systems.base import TakesFeedback
from ..systems.by_name import OURS, make, maker
from .cells import Cell, Outcome, run_cell
from .folder import LEDGER, MANIFEST, ROWS, TIMES, claim
from .ledger import Ledger
from .plan import Plan, require_learning, specs_of
from .spec import manifest
from .unseen import require_unseen

Progress = Callable[[int, int, str], None]


def execute(plan: Plan, data: Dataset, embedder: CachedEmbedder, out: Path, *, command: Mapping[str, Any], jobs: int = 1,
            progress: Progress | None = None, replace: bool = False, ahead: MeteredEmbedder | None = None,
            language_model: LanguageModel | None = None) -> list[list[Outcome]]:
    """Run the plan on every conversation and write manifest.json, rows.jsonl and times.jsonl into `out`.  Outcomes of each arm, by conversation.

    command   what stands first in the manifest: the command and what only it knows
    jobs      worker processes; 1 runs here
    progress  see `run_cells`
    replace   write over another run that `out` holds
    ahead     `embedder`, metered: counts the texts that are embedded before the first cell
    language_model  of our memories; the manifest names the file and the digest of a transcript

    A second call of a run that was stopped continues it from the ledger in `out`.  The manifest is written before the first cell is run, and with the
    digest of a transcript that has grown after the last one.
    Raises HebbariumError, before anything runs if possible; InputError for a folder that holds another run, and for conversations on which
    parameters of the plan were calibrated.
    """
    require_unseen(plan, data)
    _check_first(plan, embedder)
    specs = specs_of(plan, data, embedder, language_model)
    book = Ledger(results_folder(out) / LEDGER)
    written = manifest(specs, data, command)
    conversations = {c.id: c for c in data.conversations}
    cells = [Cell(spec, conversations[spec.conversation]) for spec in specs]
    with book.locked():
        claim(out, written, replace=replace)
        embed_ahead(data, ahead or embedder)
        write_json(out / MANIFEST, written | _recorded(language_model))
        outcomes = run_cells(cells, plan.registry, embedder, book, jobs=jobs, progress=progress, language_model=language_model)
        write_json(out / MANIFEST, written | _recorded(language_model))
        write_lines(out / ROWS, (row for outcome in outcomes for row in outcome.rows))
        write_lines(out / TIMES, (times for outcome in outcomes for times in outcome.times))
    size = len(conversations)
    return [outcomes[i * size:(i + 1) * size] for i in range(len(plan.arms))]


def _check_first(plan: Plan, embedder: Embedder) -> None:
    """Raises InputError for `rehearse` or `feedback` if another system is measured alone and does not learn from it: only an instance declares it."""
    settings = plan.settings
    if (first := plan.arms[0].system) != OURS and (settings.rehearse is not None or settings.feedback != "none"):
        with closing(make(first, embedder, settings.seed)) as system:
            require_learning(f"the system {first}", system.capabilities, settings)
            if settings.feedback != "none" and not isinstance(system, TakesFeedback):
                raise InputError(f"the system {first} takes no feedback", where="--feedback", cure="leave out --feedback, or give it a method `use`")


def embed_ahead(data: Dataset, embedder: Embedder) -> None:
    """Embed every event and question once, before the cells are handed out."""
    texts = [e.rendered() for c in data.conversations for e in c.events] + [q.text for c in data.conversations for q in c.questions]
    embedder.embed(texts)


def run_cells(cells: Sequence[Cell], registry: Registry, embedder: CachedEmbedder, book: Ledger, *, jobs: int = 1,
              progress: Progress | None = None, language_model: LanguageModel | None = None) -> list[Outcome]:
    """The outcomes of all cells, in order; cells that the ledger holds are not run again.  The caller holds `book.locked()`.

    jobs      worker processes; 1 runs here
    progress  called with (cells done, cells in all, what was done last), first with the number of cells that the ledger held

    If it is interrupted or fails, finished cells stay, and `progress` has been called with their number.  Raises DataError for a damaged ledger.
    """
    keys = [cell.spec.key() for cell in cells]
    finished = book.done(keys)
    todo = [(c, k) for c, k in zip(cells, keys, strict=True) if k not in finished]
    done = len(cells) - len(todo)
    report = progress or (lambda *_: None)
    report(done, len(cells), "taken from the ledger" if done else "")
    try:
        if jobs == 1 or len(todo) <= 1:
            finishing: Iterable[str] = (_work(cell, key, registry, embedder, book.path, language_model) for cell, key in todo)
        else:
            from joblib import Parallel, delayed

            work = (delayed(_work)(c, k, registry, embedder, book.path, language_model) for c, k in todo)
            finishing = Parallel(n_jobs=jobs, return_as="generator")(work)
        for finished_now in finishing:
            done += 1
            report(done, len(cells), finished_now)
    except BaseException:
        with suppress(HebbariumError):          # the ledger may be what fails
            if (kept := len(book.done(keys))) > done:       # cells of other workers
                report(kept, len(cells), "kept")
        raise
    outcomes = {found.key: Outcome(**json.loads(found.payload)) for found in book.cells(set(keys))}
    if lost := [cell.spec for cell, key in zip(cells, keys, strict=True) if key not in outcomes]:
        raise DataError(f"{len(lost)} cells are missing from the ledger, the first of arm {lost[0].arm!r}", where=str(book.path),
                        cure="start the same command again; if that does not help, give another folder")
    return [outcomes[key] for key in keys]


def _recorded(language_model: LanguageModel | None) -> dict[str, str]:
    """What the manifest says of a transcript: its file, and the digest of what it holds now."""
    if not isinstance(language_model, Transcript):
        return {}
    return {"transcript_file": str(language_model.path.absolute()), "transcript_digest": language_model.digest()}


def _work(cell: Cell, key: str, registry: Registry, embedder: CachedEmbedder, ledger: Path, language_model: LanguageModel | None) -> str:
    """Run a cell and put it into the ledger.  Its arm and conversation."""
    payload = json.dumps(asdict(run_cell(cell, maker(cell.spec.system, cell.spec.mechanisms, registry, language_model), embedder)))
    Ledger(ledger).put(key, payload, {"arm": cell.spec.arm, "conversation": cell.spec.conversation})
    return f"{cell.spec.arm}, {cell.spec.conversation}"


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON Lines: one object a line, in the order given."""
    write_whole(path, (json.dumps(line, sort_keys=True) + "\n" for line in lines))
