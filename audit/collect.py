"""Audits of a registry: each mechanism's module with its evidence, in one process or several."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from joblib import delayed
from joblib.externals.loky import process_executor

from ..engine.base.errors import ContractError, RegistryError
from ..engine.catalogue.packages import PackageError
from ..engine.catalogue.registry import Entry, Registry
from ..engine.memory.encoded import VetoWarning
from ..reporting.workers import tied
from .checks import Evidence, evidence_of
from .mutation.numbers import installed
from .mutation.shares import kept
from .references import References, of_registry, those_of
from .run import AuditResult, MechanismResult, audit, unaudited
from .static import Exhibit

T = TypeVar("T")
Tell = Callable[[int, int, str], None]
OURS = f"{__package__}.evidence"
# up to this many mechanisms are judged in one process: another one would start too late
FEW = 3
# new objects before the young ones are collected; collections before those of the older ones
SELDOM = (100_000, 1000, 1000)


def evidence_module(entry: Entry, registry: Registry) -> str | None:
    """Where a mechanism's evidence is: its own, else that of the form it is a variety of; None
    if there is none.
    """
    spec = _evidence(entry, registry)
    return spec.name if spec else None


def evidence_file(entry: Entry, registry: Registry) -> Path | None:
    """The file of `evidence_module`; it is not imported."""
    spec = _evidence(entry, registry)
    return Path(spec.origin) if spec and spec.origin else None


def _evidence(entry: Entry, registry: Registry) -> ModuleSpec | None:
    """In our package or in that of the mechanism's class.  Runs no code of it, in contrast to
    `find_spec`, which imports the package.
    """
    for id in (entry.id, entry.variety_of):
        if id and id in registry.entries:
            package = registry.package_of(registry.entries[id])
            room, folders = (
                (f"{package.name}.evidence", [str(package.folder / "evidence")])
                if package
                else (OURS, import_module(OURS).__path__)
            )
            if spec := PathFinder.find_spec(f"{room}.{id}", folders):
                return spec
    return None


def audit_registry(
    registry: Registry,
    *,
    only: Collection[str] | None = None,
    mutants: bool = True,
    draw: bool = False,
    jobs: int = 1,
    progress: Tell | None = None,
) -> AuditResult:
    """Audit the mechanisms of a registry; a variety without evidence of its own is judged by that
    of the form it varies.

    mutants   whether to run the mutants, too
    draw      whether to draw the figures, too
    jobs      processes; the result does not depend on it
    progress  called with (mechanisms done, mechanisms in all, id of the last one done), first with
              0 done

    Raises RegistryError for ids that are not in the registry, ContractError for invalid evidence
    and for a paper that the references lack. A package that fails, at import or later, raises
    nothing: the results of its mechanisms say why they are not audited.
    """
    for id in only or ():
        registry.entry(id)
    references = of_registry(registry)
    chosen = [id for id in registry.entries if only is None or id in only]
    failed = [result for id in chosen if (result := _tried(_check_parts, registry, id, references))]
    sound = [id for id in chosen if id not in {result.id for result in failed}]
    tell, results = progress or (lambda done, total, what: None), {}
    tell(0, len(chosen), "")
    for done, result in enumerate(
        chain(
            failed,
            _judged(registry, references, sound, mutants, draw, jobs if len(sound) > FEW else 1),
        ),
        1,
    ):
        results[result.id] = result
        tell(done, len(chosen), result.id)
    return AuditResult(tuple(results[id] for id in sorted(results)), mutants)


def _tried(
    work: Callable[..., T], registry: Registry, id: str, *others: Any
) -> T | MechanismResult:
    """What the work returns; if the package of the mechanism fails at it, a result that says so,
    and the other mechanisms are audited.
    """
    entry = registry.entries[id]
    try:
        with registry.blaming(entry):
            return work(registry, id, *others)
    except PackageError as error:
        return unaudited(entry, error)


def _check_parts(registry: Registry, id: str, references: References) -> None:
    """Raises what is wrong with the evidence, and of a mechanism of a package with its class and
    its references, before anything is judged.
    """
    entry = registry.entries[id]
    if package := registry.package_of(entry):
        those_of(package)
        registry.load(entry)
    if name := evidence_module(entry, registry):
        _check_papers(evidence_of(import_module(name)), references)


def _check_papers(evidence: Evidence, references: References) -> None:
    """Raises ContractError for a check of a paper that the references do not have."""
    for check in evidence.checks:
        for key in check.papers:
            try:
                references.get(key)
            except RegistryError as error:
                raise ContractError(
                    f"check {check.id!r} names the paper {key!r}, which the references do not have",
                    where=evidence.name,
                    cure=error.cure,
                ) from None


def _judged(
    registry: Registry,
    references: References,
    chosen: list[str],
    mutants: bool,
    draw: bool,
    jobs: int,
) -> Iterator[MechanismResult]:
    if jobs <= 1:
        return (_judge(registry, references, id, mutants, draw) for id in chosen)
    # so that no worker waits for a long one at the end
    longest_first = sorted(chosen, key=lambda id: -_size(registry, id))
    results: Iterator[MechanismResult] = tied(jobs, return_as="generator_unordered")(
        delayed(_judge_in_worker)(registry, references, id, mutants, draw) for id in longest_first
    )
    return results


def _judge_in_worker(*of: Any) -> MechanismResult:
    """As `_judge`, in a worker, which compiled kernels make large.

    joblib ends a worker that has grown by 300 MB, as if it leaked; the next one would load kernels
    again, and compile parts of numba again.  Without psutil it collects all garbage after each call
    instead, which would visit everything that stays.
    """
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    try:
        return _judge(*of)
    finally:
        gc.freeze()


def _size(registry: Registry, id: str) -> int:
    """Of the source of mechanism and evidence: the more code, the more to compile and to run."""
    entry = registry.entries[id]
    specs = (find_spec(name) for name in (entry.module, evidence_module(entry, registry)) if name)
    return sum(Path(spec.origin).stat().st_size for spec in specs if spec and spec.origin)


@contextmanager
def _collected_seldom() -> Iterator[None]:
    """Let the garbage collector work less: a compiled kernel leaves many objects that stay, and
    looking at them takes a fifth of a cold audit.
    """
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _judge(
    registry: Registry, references: References, id: str, mutants: bool, draw: bool
) -> MechanismResult:
    return _tried(_judge_it, registry, id, references, mutants, draw)


def _judge_it(
    registry: Registry, id: str, references: References, mutants: bool, draw: bool
) -> MechanismResult:
    entry, name = registry.entries[id], evidence_module(registry.entries[id], registry)
    module, by = import_module(entry.module), import_module(name) if name else None
    whose = id if name and name.rpartition(".")[2] == id else entry.variety_of or id
    with installed(registry), _collected_seldom(), warnings.catch_warnings():
        # what a gate refuses is what a check of it looks at
        warnings.simplefilter("ignore", VetoWarning)
        judged = audit(
            [entry],
            {id: module},
            {whose: by} if by else {},
            mutants=mutants,
            draw=draw,
            exhibits={id: exhibit_of(entry, registry, references)},
        ).mechanisms[0]
    return replace(judged, generated=kept(id))


def exhibit_of(entry: Entry, registry: Registry, references: References) -> Exhibit:
    """The input of the static checks; of shared evidence, the numbers of parameters that a
    variety has.
    """
    name = evidence_module(entry, registry)
    by = import_module(name) if name else None
    numbers = evidence_of(by).numbers if by else ()
    own = name is not None and name.rpartition(".")[2] == entry.id
    return Exhibit(
        entry,
        import_module(entry.module),
        references,
        registry,
        tuple(n for n in numbers if own or n.parameter in entry.params),
        by,
    )
