"""Cells on this machine: in any order, on any number of workers, each once; the ledger keeps what is finished."""
from __future__ import annotations

import json
import os
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.errors import HebbariumError, InputError
from ...engine.ports.embedder import Embedder
from ...engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from ...engine.ports.language_model import LanguageModel
from ...engine.ports.transcript import Transcript
from ...engine.registry import Registry
from ...reporting.files import results_folder, write_json, write_whole
from ..datasets import Dataset
from ..systems.base import TakesFeedback
from ..systems.by_name import OURS, make, maker
from .cells import Cell, Outcome, run_cell, run_life
from .failures import ALONE, FAILED, LOGS, CellsFailed, Failure, Options
from .folder import LEDGER, MANIFEST, ROWS, TIMES, claim
from .ledger import Ledger
from .lives import LifeFolder, grouped
from .missing import Progress as Progress  # callers of `execute` name it, too
from .missing import finished_cells, run_missing
from .plan import Plan, require_learning, specs_of
from .spec import manifest
from .unseen import require_unseen

if TYPE_CHECKING:
    from ..systems.hebbarium import Life

AHEAD = 16_384      # texts that are embedded at once before the first cell: as many vectors as the cache keeps in the process


def execute(plan: Plan, data: Dataset, embedder: CachedEmbedder, out: Path, *, command: Mapping[str, Any], jobs: int = 1,
            progress: Progress | None = None, replace: bool = False, ahead: MeteredEmbedder | None = None,
            language_model: LanguageModel | None = None, options: Options = ALONE) -> list[list[Outcome]]:
    """Run the plan on every conversation and write manifest.json, rows.jsonl and times.jsonl into `out`.  Outcomes of each arm, by conversation.

    command   what stands first in the manifest: the command and what only it knows
    jobs      worker processes; 1 runs here
    progress  see `run_cells`
    replace   write over another run that `out` holds
    ahead     `embedder`, metered: counts the texts that are embedded before the first cell
    language_model  of our memories; the manifest names the file and the digest of a transcript
    options   which lives are kept or were kept before, and what happens if a cell fails

    A second call of a run that was stopped continues it from the ledger in `out`.  The manifest is written before the first cell is run, and with the
    digest of a transcript that has grown after the last one.
    Raises HebbariumError, before anything runs if possible; InputError for a folder that holds another run, and for conversations on which
    parameters of the plan were calibrated.
    """
    require_unseen(plan, data)
    _check_first(plan, embedder)
    specs = specs_of(plan, data, embedder, language_model)
    written = manifest(specs, data, command)
    conversations = {c.id: c for c in data.conversations}
    lives = {one.arm: None if language_model else one.life for one in plan.arms}
    cells = [Cell(spec, conversations[spec.conversation], spec.arm == specs[0].arm, lives[spec.arm]) for spec in specs]
    if options.lives_from:
        LifeFolder(options.lives_from).require(cells)
    book = Ledger(results_folder(out) / LEDGER)
    with book.locked():
        claim(out, written, replace=replace)
        embed_ahead(data, ahead or embedder)
        write_json(out / MANIFEST, written | _recorded(language_model))
        outcomes = run_cells(cells, plan.registry, embedder, book, jobs=jobs, progress=progress, language_model=language_model, options=options,
                             out=out)
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
    """Embed every event and question once, before the cells are handed out; at most AHEAD texts are in memory at a time."""
    texts = chain((e.rendered() for c in data.conversations for e in c.events), (q.text for c in data.conversations for q in c.questions))
    while some := list(islice(texts, AHEAD)):
        embedder.embed(some)


def run_cells(cells: Sequence[Cell], registry: Registry, embedder: CachedEmbedder, book: Ledger, *, jobs: int = 1,
              progress: Progress | None = None, language_model: LanguageModel | None = None, options: Options = ALONE,
              out: Path | None = None) -> list[Outcome]:
    """The outcomes of all cells, in order; cells that the ledger holds are not run again.  The caller holds `book.locked()`.

    jobs      worker processes; 1 runs here
    progress  called with (cells done, cells in all, what was done last), first with the number of cells that the ledger held
    out       folder for failed.jsonl and the logs of cells that failed; None: the first failure is raised

    Cells that share a life are run together.  If it is interrupted or fails, finished cells stay, and `progress` has been called with their number.
    Raises DataError for a damaged ledger, CellsFailed at the end if cells failed and `options.fail_fast` is off, else the error of the first.
    """
    keys = [cell.spec.key() for cell in cells]
    finished = book.done(keys)
    todo = [(c, k) for c, k in zip(cells, keys, strict=True) if k not in finished]
    failures: list[Failure] = []
    if out:
        (out / FAILED).unlink(missing_ok=True)
    work = Work(registry, embedder, book.path, language_model, options, out if out and not options.fail_fast else None)
    groups = [([todo[place] for place in places], work) for places in grouped([c for c, _ in todo], jobs)]

    def ended(call: tuple[list[tuple[Cell, str]], Work], result: tuple[str, list[Failure]]) -> tuple[int, str]:
        last, failed = result
        failures.extend(failed)
        return len(call[0]) - len(failed), last

    run_missing(_work, groups, book, keys, len(cells), len(cells) - len(todo), ended=ended, jobs=jobs, progress=progress)
    if failures and out:
        write_lines(out / FAILED, map(asdict, failures))
        raise CellsFailed.of(failures, len(cells), out)
    return [Outcome(**json.loads(found.payload)) for found in finished_cells(book, keys, [cell.spec.arm for cell in cells], "arm")]


def _recorded(language_model: LanguageModel | None) -> dict[str, str]:
    """What the manifest says of a transcript: its file, and the digest of what it holds now."""
    if not isinstance(language_model, Transcript):
        return {}
    return {"transcript_file": str(language_model.path.absolute()), "transcript_digest": language_model.digest()}


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker needs to run cells.

    out  folder for the logs of cells that fail; None: errors are raised
    """

    registry: Registry
    embedder: CachedEmbedder
    ledger: Path
    language_model: LanguageModel | None
    options: Options
    out: Path | None


def _work(group: Sequence[tuple[Cell, str]], work: Work) -> tuple[str, list[Failure]]:
    """Run cells that share a life, and put them into the ledger.  Arm and conversation of the last, and the cells that failed every time."""
    cells, last = [cell for cell, _ in group], group[-1][0].spec
    for attempt in range(1, work.options.retries + 2):
        try:
            outcomes = _outcomes(cells, work)
            break
        except Exception as error:      # a mechanism or another system can raise anything
            if work.out is None:
                raise
            log = work.out / LOGS / f"{group[0][1][:16]}.log"
            log.parent.mkdir(exist_ok=True)
            with log.open("a", encoding="utf-8") as file:
                names = "".join(f"{cell.spec.arm}, {cell.spec.conversation}, seed {cell.spec.seed}\n" for cell in cells)
                file.write(f"attempt {attempt} of\n{names}{''.join(traceback.format_exception(error))}\n")
            message = error.what if isinstance(error, HebbariumError) else f"{type(error).__name__}: {error}"
            failures = [Failure(cell.spec.arm, cell.spec.conversation, message, attempt, f"{LOGS}/{log.name}") for cell in cells]
    else:
        if len(group) == 1:
            return f"{last.arm}, {last.conversation}: failed", failures
        alone = [_work([one], work)[1] for one in group]        # one arm that fails fails no other
        return f"{last.arm}, {last.conversation}", [failure for each in alone for failure in each]
    book = Ledger(work.ledger)
    for (cell, key), outcome in zip(group, outcomes, strict=True):
        book.put(key, json.dumps(asdict(outcome)), {"arm": cell.spec.arm, "conversation": cell.spec.conversation,
                                                    "inner_threads": os.environ.get("OMP_NUM_THREADS", "")})
    return f"{last.arm}, {last.conversation}", []


def _outcomes(cells: Sequence[Cell], work: Work) -> list[Outcome]:
    """The outcomes of cells that share a life."""
    first, options = cells[0], work.options
    if first.life is None or (len(cells) == 1 and not (options.keep_lives or options.lives_from)):
        return [run_cell(cell, maker(cell.spec.system, cell.spec.mechanisms, work.registry, work.language_model), work.embedder) for cell in cells]
    from ..systems.hebbarium import Life

    def make(embedder: Embedder) -> AbstractContextManager[Life]:
        if options.lives_from:
            return LifeFolder(options.lives_from).lived(first, work.registry, embedder)
        if options.keep_lives:
            return LifeFolder(options.keep_lives).living(first, work.registry, embedder)
        return closing(Life(work.registry, first.spec.mechanisms, embedder, first.spec.seed))

    keep = partial(LifeFolder(options.keep_lives).keep, first) if options.keep_lives else None
    return run_life(cells, make, work.embedder, lived=options.lives_from is not None, keep=keep)


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON Lines: one object a line, in the order given."""
    write_whole(path, (json.dumps(line, sort_keys=True) + "\n" for line in lines))
