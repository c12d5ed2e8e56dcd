"""Cells on this machine or a cluster: in any order, on any number of workers, each once; the
ledger keeps what is finished.
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.base.errors import HebbariumError, InputError
from ...engine.catalogue.registry import Registry
from ...engine.ports.embedder import Embedder, tokens_of
from ...engine.ports.embedding_cache import CachedEmbedder, MeteredEmbedder
from ...engine.ports.language_model import LanguageModel
from ...engine.ports.transcript import Transcript
from ...reporting.files import results_folder, write_json, write_whole
from ..datasets import Dataset, require_questions
from ..systems.base import TakesFeedback
from ..systems.by_name import OURS, make, maker
from .cells import Cell, Outcome, require_rehearsable, run_cell, run_life, run_parts
from .cluster import Cluster, require_same_code
from .failures import ALONE, FAILED, LOGS, CellsFailed, Failure, Options
from .folder import LEDGER, MANIFEST, ROWS, TIMES, claim, sealed
from .ledger import Ledger
from .lives import LifeFolder, grouped
from .missing import Finished, completed
from .missing import Progress as Progress  # callers of `execute` name it, too
from .plan import RunPlan, require_learning, specs_of
from .sources import ConversationReference, Held, Sent, Source
from .spec import RunSpec, manifest
from .unseen import require_unseen

if TYPE_CHECKING:
    from ..systems.hebbarium import Deciding, SharedLife

CURE_LOST = "see the workers' own logs: often they have too little memory; the same command runs what is missing"
# memories whose token vectors a question needs first; a reranker reads some 50, most of which
# others have read
READ = 8
TOKENS_AHEAD = 4_096  # texts whose token vectors are computed at once: some 60 MB
# texts that are embedded at once before the first cell: as many vectors as the cache keeps in the
# process
AHEAD = 16_384


def execute(
    plan: RunPlan,
    data: Dataset,
    embedder: CachedEmbedder,
    out: Path,
    *,
    command: Mapping[str, Any],
    jobs: int = 1,
    progress: Progress | None = None,
    replace: bool = False,
    ahead: MeteredEmbedder | None = None,
    language_model: LanguageModel | None = None,
    options: Options = ALONE,
) -> list[list[Outcome]]:
    """Run the plan on every conversation and write manifest.json, rows.jsonl and times.jsonl into
    `out`.  Outcomes of each arm, by conversation.

    command   what stands first in the manifest: the command and what only it knows
    jobs      worker processes; 1 runs here
    progress  see `run_cells`
    replace   write over another run that `out` holds
    ahead     `embedder`, metered: counts the texts that are embedded before the first cell
    language_model  of our memories; the manifest names the file and the digest of a transcript
    options   which lives are kept or were kept before, what happens if a cell fails, and whether a
              cluster runs the cells instead of `jobs`

    A second call of a run that was stopped continues it from the ledger in `out`.  The manifest is
    written before the first cell is run, and with the digest of a transcript that has grown after
    the last one. Raises HebbariumError, before anything runs if possible; DataError for data
    without questions, InputError for a folder that holds another run, for conversations on which
    parameters of the plan were calibrated, and for a rehearsal in the middle that the next event
    interrupts.
    """
    if options.dask:
        _check_options(options, language_model)
    require_questions(data)
    for conversation in data.conversations:
        require_rehearsable(conversation, plan.settings.rehearse)
    require_unseen(plan, data)
    _check_first(plan, embedder)
    specs = specs_of(plan, data, embedder, language_model)
    written = manifest(specs, data, command)
    conversations = {c.id: c for c in data.conversations}
    lives = {arm.arm: None if language_model else arm.life for arm in plan.arms}
    cells = [
        Cell(spec, conversations[spec.conversation], spec.arm == specs[0].arm, lives[spec.arm])
        for spec in specs
    ]
    if options.lives_from:
        LifeFolder(options.lives_from).require(cells)
    book = Ledger(results_folder(out) / LEDGER)
    with book.locked(), Cluster.joined(options.dask) if options.dask else nullcontext() as cluster:
        if cluster:
            cluster.require(specs[0], [_reference(cells[0], data)] if data.form else [])
        claim(out, written, replace=replace)
        embed_ahead(data, ahead or embedder, tokens=any(arm.reads_tokens for arm in plan.arms))
        write_json(out / MANIFEST, written | _recorded(language_model))
        outcomes = run_cells(
            cells,
            plan.registry,
            embedder,
            book,
            jobs=jobs,
            progress=progress,
            language_model=language_model,
            options=options,
            out=out,
            cluster=cluster,
            data=data,
        )
        write_lines(out / ROWS, (row for outcome in outcomes for row in outcome.rows))
        write_lines(out / TIMES, (times for outcome in outcomes for times in outcome.times))
        write_json(out / MANIFEST, written | _recorded(language_model) | sealed(out))
    size = len(conversations)
    return [outcomes[i * size : (i + 1) * size] for i in range(len(plan.arms))]


def _check_first(plan: RunPlan, embedder: Embedder) -> None:
    """Raises InputError for `rehearse` or `feedback` if another system is measured alone and
    does not learn from it: only an instance declares it.
    """
    settings = plan.settings
    if (first := plan.arms[0].system) != OURS and (
        settings.rehearse is not None or settings.feedback != "none"
    ):
        with closing(make(first, embedder, settings.seed)) as system:
            require_learning(f"the system {first}", system.capabilities, settings)
            if settings.feedback != "none" and not isinstance(system, TakesFeedback):
                raise InputError(
                    f"the system {first} takes no feedback",
                    where="--feedback",
                    cure="leave out --feedback, or give it a method `use`",
                )


def embed_ahead(data: Dataset, embedder: Embedder, *, tokens: bool = False) -> None:
    """Embed every event and question once, before the cells are handed out; at most AHEAD texts are
    in memory at a time.

    tokens  also their token vectors, in the same pass, of conversations with so many questions that
            nearly all will be needed
    """
    for whole in (True, False):
        several = [
            c
            for c in data.conversations
            if (tokens and len(c.questions) * READ >= len(c.events)) is whole
        ]
        texts = chain(
            (e.rendered() for c in several for e in c.events),
            (q.text for c in several for q in c.questions),
        )
        while some := list(islice(texts, TOKENS_AHEAD if whole else AHEAD)):
            if whole:
                tokens_of(embedder, some)
            embedder.embed(some)


def _check_options(options: Options, language_model: LanguageModel | None) -> None:
    """Raises InputError for options that need files which only this machine writes."""
    used = (
        ("--keep-lives", options.keep_lives),
        ("--from", options.lives_from),
        ("--llm and --transcript", language_model),
    )
    for flag, value in used:
        if value is not None:
            raise InputError(
                "the workers of a cluster share no folder with this process",
                where=flag,
                cure=f"leave out {flag}, or use --jobs",
            )


def run_cells(
    cells: Sequence[Cell],
    registry: Registry,
    embedder: CachedEmbedder,
    book: Ledger,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    language_model: LanguageModel | None = None,
    options: Options = ALONE,
    out: Path | None = None,
    cluster: Cluster | None = None,
    data: Dataset | None = None,
) -> list[Outcome]:
    """The outcomes of all cells, in order; cells that the ledger holds are not run again.  The
    caller holds `book.locked()`.

    jobs      worker processes; 1 runs here
    progress  called with (cells done, cells in all, what was done last), first with the number of
              cells that the ledger held
    out       folder for failed.jsonl and the logs of cells that failed; None: the first failure is
              raised
    cluster   whose workers run the cells, instead of `jobs`
    data      that hold the conversations; its workers load them if `data.form` names a data set

    Workers give back what they found; this process alone writes the ledger and the logs.
    Cells that share a life are run together.  If it is interrupted or fails, finished cells stay,
    and `progress` has been called with their number. Raises DataError for a damaged ledger,
    CellsFailed at the end if cells failed and `options.fail_fast` is off, else the error of the
    first.
    """
    if out:
        (out / FAILED).unlink(missing_ok=True)
    work = CellWork(
        registry,
        embedder,
        language_model,
        options,
        raising=not out or options.fail_fast,
        remote=cluster is not None,
    )
    sources, cell_of = _Sources(cluster, data, jobs), {cell.spec.key(): cell for cell in cells}

    def calls(missing: Mapping[str, RunSpec]) -> list[tuple[Any, ...]]:
        todo = [(cell_of[key], key) for key in missing]
        return [
            (
                sources.of(todo[places[0]][0]),
                tuple(
                    RequestedCell(cell.spec, key, cell.probed, cell.life, cell.whole)
                    for cell, key in (todo[at] for at in places)
                ),
            )
            for places in grouped([cell for cell, _ in todo], cluster.workers if cluster else jobs)
        ]

    def ended(results: Finished) -> None:
        for failure in results.failed if out else ():
            assert out
            write_whole(out / failure.failure.log, [failure.text])

    def failed(failures: Sequence[Failed]) -> None:
        if out:
            write_lines(out / FAILED, (asdict(lost.failure) for lost in failures))
            raise CellsFailed.of([lost.failure for lost in failures], len(cells), out)

    finished = completed(
        [cell.spec for cell in cells],
        calls,
        _work,
        work,
        book,
        name=lambda spec: spec.arm,
        what="arm",
        ended=ended,
        failed=failed,
        jobs=jobs,
        progress=progress,
        way=cluster.way(_lost) if cluster else None,
    )
    return [Outcome(**json.loads(cell.payload)) for cell in finished]


@dataclass
class _Sources:
    """Where workers find conversations; that of each conversation is made once."""

    cluster: Cluster | None
    data: Dataset | None
    jobs: int
    made: dict[int, Source] = field(default_factory=dict)

    def of(self, cell: Cell) -> Source:
        conversation = self.made.get(id(cell.conversation))
        if conversation is None:
            conversation = self.made[id(cell.conversation)] = self._made(cell)
        return conversation

    def _made(self, cell: Cell) -> Source:
        if self.cluster and self.data and self.data.form:
            return _reference(cell, self.data)
        return (
            Sent.of(cell.conversation) if self.cluster or self.jobs > 1 else Held(cell.conversation)
        )


def _reference(cell: Cell, data: Dataset) -> ConversationReference:
    return ConversationReference.of(
        cell.conversation, data, cell.spec.unit, cell.spec.allow_missing_gold
    )


def _recorded(language_model: LanguageModel | None) -> dict[str, str]:
    """What the manifest says of a transcript: its file, and the digest of what it holds now."""
    if not isinstance(language_model, Transcript):
        return {}
    return {
        "transcript_file": str(language_model.path.absolute()),
        "transcript_digest": language_model.digest(),
    }


@dataclass(frozen=True, slots=True)
class CellWork:
    """What a worker needs to run cells.

    raising  whether an error is raised, instead of given back as a failure
    remote   whether the worker may have other code
    """

    registry: Registry
    embedder: CachedEmbedder
    language_model: LanguageModel | None
    options: Options
    raising: bool
    remote: bool = False


@dataclass(frozen=True, slots=True)
class RequestedCell:
    """A cell as a worker gets it, without its conversation; `key` is that of the ledger, the
    rest as in `Cell`.
    """

    spec: RunSpec
    key: str
    probed: bool
    life: Deciding | None
    whole: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """A cell that failed every time, and the tracebacks that its log will hold."""

    failure: Failure
    text: str


def _work(work: CellWork, source: Source, asked: Sequence[RequestedCell]) -> Finished:
    """Run cells of one conversation that share a life."""
    if work.remote:
        require_same_code(asked[0].spec)
    conversation, text = source.loaded(), ""
    cells = [Cell(cell.spec, conversation, cell.probed, cell.life, cell.whole) for cell in asked]
    for attempt in range(1, work.options.retries + 2):
        try:
            outcomes = _outcomes(cells, work)
            break
        except Exception as error:  # a mechanism or another system can raise anything
            if work.raising:
                raise
            text += f"attempt {attempt} of\n{_names(asked)}{''.join(traceback.format_exception(error))}\n"
            message = (
                error.what
                if isinstance(error, HebbariumError)
                else f"{type(error).__name__}: {error}"
            )
    else:
        if len(asked) == 1:
            return _failed(asked, message, work.options.retries + 1, text)
        # one arm that fails fails no other
        alone = [_work(work, source, [cell]) for cell in asked]
        return Finished(
            [cell for finished in alone for cell in finished.cells],
            _name(asked),
            [failed for finished in alone for failed in finished.failed],
        )
    return Finished(
        [
            (
                cell.key,
                json.dumps(vars(outcome)),
                {
                    "arm": cell.spec.arm,
                    "conversation": cell.spec.conversation,
                    "inner_threads": os.environ.get("OMP_NUM_THREADS", ""),
                },
            )
            for cell, outcome in zip(asked, outcomes, strict=True)
        ],
        _name(asked),
    )


def _lost(work: CellWork, call: tuple[Source, Sequence[RequestedCell]], message: str) -> Finished:
    """Cells whose workers ended again and again before they had a result.  Raises HebbariumError
    if failures are raised.
    """
    if work.raising:
        raise HebbariumError(message, where=_name(call[1]), cure=CURE_LOST)
    return _failed(call[1], message, work.options.retries + 1, f"{_names(call[1])}{message}\n")


def _failed(asked: Sequence[RequestedCell], message: str, attempts: int, text: str) -> Finished:
    failures = [
        Failed(
            Failure(
                cell.spec.arm,
                cell.spec.conversation,
                message,
                attempts,
                f"{LOGS}/{cell.key[:16]}.log",
            ),
            text,
        )
        for cell in asked
    ]
    return Finished((), f"{_name(asked)}: failed", failures)


def _name(asked: Sequence[RequestedCell]) -> str:
    return f"{asked[-1].spec.arm}, {asked[-1].spec.conversation}"


def _names(asked: Sequence[RequestedCell]) -> str:
    return "".join(
        f"{cell.spec.arm}, {cell.spec.conversation}, seed {cell.spec.seed}\n" for cell in asked
    )


def _outcomes(cells: Sequence[Cell], work: CellWork) -> list[Outcome]:
    """The outcomes of cells that share a life."""
    first, options = cells[0], work.options
    if first.whole is not None and len(cells) > 1:
        return _outcomes_of_parts(cells, first.whole, work)
    if first.life is None or (len(cells) == 1 and not (options.keep_lives or options.lives_from)):
        return [
            run_cell(
                cell,
                maker(
                    cell.spec.system,
                    cell.spec.mechanisms,
                    work.registry,
                    work.language_model,
                    receipts=cell.probed,
                ),
                work.embedder,
            )
            for cell in cells
        ]
    from ..systems.hebbarium import SharedLife

    def make(embedder: Embedder) -> AbstractContextManager[SharedLife]:
        if options.lives_from:
            return LifeFolder(options.lives_from).lived(first, work.registry, embedder)
        if options.keep_lives:
            return LifeFolder(options.keep_lives).living(first, work.registry, embedder)
        return closing(
            SharedLife(
                work.registry,
                first.spec.mechanisms,
                embedder,
                first.spec.seed,
                receipts=any(cell.probed for cell in cells),
            )
        )

    keep = partial(LifeFolder(options.keep_lives).keep, first) if options.keep_lives else None
    return run_life(cells, make, work.embedder, lived=options.lives_from is not None, keep=keep)


def _outcomes_of_parts(
    cells: Sequence[Cell], whole: Mapping[str, Mapping[str, Any]], work: CellWork
) -> list[Outcome]:
    """The outcomes of parts of a set: asked of its life where they would have lived it, then of
    lives without what left a trace that they lack, and apart if declarations already say that they
    live another one.
    """
    from ..systems.hebbarium import SharedLife

    outcomes, apart = dict[int, Outcome](), list[int]()
    waiting = {frozenset[str](): list(range(len(cells)))}
    while waiting:
        lacking, places = waiting.popitem()
        if lacking and len(places) == 1:
            apart += places
            continue
        mechanisms = {id: values for id, values in whole.items() if id not in lacking}

        def make(
            embedder: Embedder, mechanisms: Mapping[str, Mapping[str, Any]] = mechanisms
        ) -> AbstractContextManager[SharedLife]:
            seed = cells[0].spec.seed
            return closing(SharedLife(work.registry, mechanisms, embedder, seed, traced=True))

        made, others = run_parts([cells[place] for place in places], make, work.embedder)
        outcomes |= {places[at]: outcome for at, outcome in made.items()}
        for at, traced in others.items():
            if traced - lacking:
                waiting.setdefault(lacking | traced, []).append(places[at])
            else:
                apart.append(places[at])
    remaining = [replace(cells[place], whole=None) for place in sorted(apart)]
    for group in grouped(remaining):
        made_apart = _outcomes([remaining[at] for at in group], work)
        outcomes |= dict(zip((sorted(apart)[at] for at in group), made_apart, strict=True))
    return [outcomes[place] for place in range(len(cells))]


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """JSON Lines: one object a line, in the order given."""
    write_whole(path, (json.dumps(line, sort_keys=True) + "\n" for line in lines))
