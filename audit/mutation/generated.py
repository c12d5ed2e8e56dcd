"""`generated`: all mutants of a mechanism against its evidence, and the shares that are rejected.

Mutants that are proved equal to the original are listed in `audit/equivalent_mutants.yaml`, or in
the file of that name of a package.  They are run all the same: one that a check rejects is not
equal, and counts as rejected.

    recency/recency/comparison/1:
      change: "if age < 0.0:  ->  if age <= 0.0:"
      reason: "age 0 gives 1 in both branches"
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from os import times
from pathlib import Path
from typing import Any, Final

import numpy as np
from joblib import delayed, parallel_config

from ...engine.base.errors import ContractError
from ...engine.base.yaml_file import YamlFile
from ...engine.catalogue.packages import PackageError
from ...engine.catalogue.registry import Registry
from ...reporting.workers import tied
from .bench import MutationBench
from .building import Change
from .numbers import PAPER, Number, numbers
from .shares import Share
from .sites import GeneratedMutant, Group
from .trial import GeneratedFate, require_fork

LIST: Final = "equivalent_mutants.yaml"
Tell = Callable[[int, int, str], None]


# --- results --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant and its fate; `by`: the id of the check that decided it."""

    mutant: GeneratedMutant
    fate: GeneratedFate
    by: str = ""
    note: str = ""

    @property
    def rejected(self) -> bool:
        return self.fate in (GeneratedFate.REJECTED, GeneratedFate.TIMED_OUT)

    @property
    def counts(self) -> bool:
        """Whether it is part of a share: neither the original nor a value that the registry
        refuses.
        """
        return self.fate not in (GeneratedFate.EQUIVALENT, GeneratedFate.REFUSED)


def share(
    judged: Iterable[Judged], group: Group | None = None, parameter_kind: str | None = None
) -> Share:
    """Of all, of one group, or of the numbers of one kind of parameter."""
    counting = [
        j
        for j in judged
        if j.counts
        and group in (None, j.mutant.group)
        and parameter_kind in (None, j.mutant.parameter_kind)
    ]
    return Share(sum(j.rejected for j in counting), len(counting))


@dataclass(frozen=True, slots=True)
class GeneratedResult:
    """The mutants of one mechanism.

    of        number of mutants; more than in `mutants` if they were sampled
    unusable  checks that were not used: id, and why
    seconds   CPU time
    """

    id: str
    mutants: tuple[Judged, ...]
    of: int
    unusable: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0

    def share(self, group: Group | None = None, parameter_kind: str | None = None) -> Share:
        return share(self.mutants, group, parameter_kind)

    @property
    def survivors(self) -> tuple[Judged, ...]:
        """Those that count against the evidence."""
        return tuple(j for j in self.mutants if j.counts and not j.rejected)

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "of": self.of, "seconds": round(self.seconds, 1),
                "shares": _shares(self.share),
                "unusable": [{"check": c, "why": why} for c, why in self.unusable],
                "mutants": [{"id": j.mutant.id, "group": str(j.mutant.group),
                             "kind": str(j.mutant.kind), "change": j.mutant.change,
                             "parameter_kind": j.mutant.parameter_kind, "fate": str(j.fate),
                             "by": j.by, "why": j.note} for j in self.mutants]}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GeneratedRun:
    """All mechanisms that were asked for, by id."""

    mechanisms: tuple[GeneratedResult, ...]

    def share(self, group: Group | None = None, parameter_kind: str | None = None) -> Share:
        return share((j for m in self.mechanisms for j in m.mutants), group, parameter_kind)

    def to_json(self) -> dict[str, Any]:
        return {"shares": _shares(self.share), "mechanisms": [m.to_json() for m in self.mechanisms]}


def lines(run: GeneratedRun) -> Iterator[str]:
    """The run as text: a table of shares, the survivors with their change, and checks that were
    not used.
    """
    rows = [
        ("mechanism", *map(str, Group), "CPU time, s"),
        *((m.id, *(str(m.share(g)) for g in Group), f"{m.seconds:.0f}") for m in run.mechanisms),
        (
            "all",
            *(str(run.share(g)) for g in Group),
            f"{sum(m.seconds for m in run.mechanisms):.0f}",
        ),
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    yield from (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )
    for m in run.mechanisms:
        if m.survivors:
            yield from (
                "",
                f"{m.id}: {len(m.survivors)} not rejected",
                *(f"  {j.mutant.id} ({j.fate}): {j.mutant.change}" for j in m.survivors),
            )
        yield from (f"  {m.id}: {check} was not used: {why}" for check, why in m.unusable)


def _shares(of: Callable[[Group | None, str | None], Share]) -> dict[str, dict[str, int]]:
    shares = {str(group or "all"): of(group, None) for group in (None, *Group)}
    return {name: {"rejected": s.rejected, "of": s.of} for name, s in shares.items()}


# --- entry points ---------------------------------------------------------------------------------
def generated(
    id: str, registry: Registry, sample: int | None = None, seed: int = 0
) -> GeneratedResult:
    """Judge the mutants of one mechanism against its evidence.

    sample  number of mutants, chosen at random among those that are not equivalent; None: all
    seed    of the choice

    Runs in the main thread of a process.  Raises RegistryError for an unknown mechanism,
    ContractError where processes cannot be forked and for a list of equivalent mutants that does
    not fit the source.
    """
    return _generated(registry, id, sample, seed, 0, 1)


def generated_all(
    registry: Registry,
    only: Collection[str] | None = None,
    jobs: int = 1,
    sample: int | None = None,
    progress: Tell | None = None,
    seed: int = 0,
) -> GeneratedRun:
    """Judge the mutants of many mechanisms; without `only`, of all but the varieties.

    jobs      processes; apart from `seconds`, and from which of several checks rejects a mutant,
              the result does not depend on it
    progress  called with (tasks done, tasks in all, mechanism); first with nothing done
    Others, and errors, as for `generated`.
    """
    require_fork()
    chosen = (
        [registry.entry(id).id for id in only]
        if only is not None
        else [e.id for e in registry.entries.values() if e.variety_of is None]
    )
    cuts = math.ceil(2 * jobs / len(chosen)) if jobs > 1 and sample is None and chosen else 1
    tasks = [
        (id, cut) for id in sorted(chosen, key=lambda i: -_size(registry, i)) for cut in range(cuts)
    ]
    tell, by_cut = (
        progress or (lambda done, total, what: None),
        dict[tuple[str, int], GeneratedResult](),
    )
    tell(0, len(tasks), "")
    with parallel_config(backend="loky", inner_max_num_threads=1) if jobs > 1 else nullcontext():
        results = tied(jobs, return_as="generator_unordered")(
            delayed(_cut)(registry, id, sample, seed, cut, cuts) for id, cut in tasks
        )
        for done, (cut, result) in enumerate(results, 1):
            by_cut[result.id, cut] = result
            tell(done, len(tasks), result.id)
    return GeneratedRun(
        tuple(_together([by_cut[id, cut] for cut in range(cuts)]) for id in sorted(chosen))
    )


def _size(registry: Registry, id: str) -> int:
    """Of the source: large for a mechanism that takes long, so that the longest tasks start
    first.
    """
    # a failing package is told by `_cut`
    with suppress(PackageError), registry.blaming(registry.entry(id)):
        spec = find_spec(registry.entry(id).module)
        return Path(spec.origin).stat().st_size if spec and spec.origin else 0
    return 0


def _together(cuts: list[GeneratedResult]) -> GeneratedResult:
    """One result of all cuts, with the mutants in the order of the source."""
    mutants: list[Any] = [None] * sum(len(r.mutants) for r in cuts)
    for cut, result in enumerate(cuts):
        mutants[cut :: len(cuts)] = result.mutants
    unusable = dict(u for r in cuts for u in r.unusable)
    return GeneratedResult(
        cuts[0].id,
        tuple(mutants),
        cuts[0].of,
        tuple(unusable.items()),
        sum(r.seconds for r in cuts),
    )


def _cut(
    registry: Registry, id: str, sample: int | None, seed: int, cut: int, cuts: int
) -> tuple[int, GeneratedResult]:
    """One task; the mutants of a package that fails are none, and its error is the reason, so
    that those of other mechanisms are judged.
    """
    try:
        with registry.blaming(registry.entry(id)):
            return cut, _generated(registry, id, sample, seed, cut, cuts)
    except PackageError as error:
        return cut, GeneratedResult(id, (), 0, (("its evidence", f"{error.where}: {error.what}"),))


def _generated(
    registry: Registry, id: str, sample: int | None, seed: int, cut: int = 0, cuts: int = 1
) -> GeneratedResult:
    """One mechanism, or every `cuts`-th mutant of it from number `cut` on."""
    require_fork()
    start, bench = cpu_time(), MutationBench(id, registry)
    everything: list[Change | Number] = [
        *bench.original.changes,
        *(n for n in numbers(bench.original.entry) if n.mutant.parameter_kind == PAPER),
    ]
    known = equivalent(registry, id, [change.mutant for change in everything])
    chosen = everything[cut::cuts]
    if sample is not None:
        order = (
            np.random.default_rng([seed, zlib.crc32(id.encode())])
            .permutation(len(everything))
            .tolist()
        )
        draw = islice(
            (
                i
                for i in order
                if everything[i].mutant.id not in known and not everything[i].unchanged
            ),
            sample,
        )
        chosen = [everything[i] for i in sorted(draw)]
    judged = tuple(_judged(change, bench, known, lazily=sample is not None) for change in chosen)
    return GeneratedResult(
        id, judged, len(everything), tuple(bench.unusable.items()), cpu_time() - start
    )


def _judged(
    change: Change | Number, bench: MutationBench, known: Mapping[str, str], *, lazily: bool
) -> Judged:
    """A listed mutant is run, too: a check that rejects it refutes the list."""
    if change.unchanged:
        return Judged(change.mutant, GeneratedFate.EQUIVALENT, note="the same bytecode")
    outcome = (
        bench.number(change) if isinstance(change, Number) else bench.change(change, lazily=lazily)
    )
    judged = Judged(change.mutant, outcome.fate, outcome.by, outcome.note)
    if change.mutant.id not in known:
        return judged
    if judged.rejected:
        return replace(
            judged, note=f"listed as equal to the original, but it is not: {outcome.note}"
        )
    return replace(judged, fate=GeneratedFate.EQUIVALENT, by="", note=known[change.mutant.id])


def cpu_time() -> float:
    """CPU time of this process and of its forked ones, s."""
    used = times()
    return used.user + used.system + used.children_user + used.children_system


# --- equivalent mutants ---------------------------------------------------------------------------
def equivalent(registry: Registry, id: str, mutants: Collection[GeneratedMutant]) -> dict[str, str]:
    """Reason by id, for those of a mechanism's mutants that are listed as equal to the original.

    Raises ContractError for a listed mutant that is not there, or is another change now,
    RegistryError for a file that cannot be read.
    """
    there, reasons = {m.id: m for m in mutants}, {}
    for folder in (Path(__file__).parent.parent, *(p.folder for p in registry.packages)):
        if (folder / LIST).is_file():
            file = YamlFile(folder / LIST)
            for name, listed in file.data.items():
                if name.partition("/")[0] == id:
                    reasons[name] = _reason(name, listed, there, f"{file.place(name)}")
    return reasons


def _reason(name: str, listed: Any, there: Mapping[str, GeneratedMutant], where: str) -> str:
    if (
        not isinstance(listed, dict)
        or set(listed) != {"change", "reason"}
        or not all(isinstance(v, str) and v.strip() for v in listed.values())
    ):
        raise ContractError(
            f"equivalent mutant {name!r} has another form",
            where=where,
            cure='write `change: "before  ->  after"` and `reason: "..."`',
        )
    cure = "the source has changed: judge the mechanism again, and list the id of the same change, or remove it"
    if name not in there:
        raise ContractError(f"there is no mutant {name!r}", where=where, cure=cure)
    if there[name].change != listed["change"]:
        raise ContractError(
            f"mutant {name!r} is now {there[name].change!r}", where=where, cure=cure
        )
    return str(listed["reason"])
