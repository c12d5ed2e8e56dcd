"""The audit: runs the evidence of every mechanism, derives its rating and compares that with the
claim.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType

import numpy as np

from ..engine.base.errors import ContractError, HebbariumError, RegistryError
from ..engine.catalogue.registry import Entry
from .behaviour import Phenomenon, phenomena
from .checks import CheckKind, CheckResult, Evidence, Mutant, Score, described, evidence_of, judge
from .drawing import available, to_svg
from .facts import RatingFact, claimed, facts
from .figures import Figure
from .findings import known as known_findings
from .mutation.shares import Kept
from .rating import Rating, RatingVerdict, derive, divided, earned
from .reached import MechanismReach, Watch
from .specimen import NotTestable, Specimen
from .static import Exhibit
from .static import evidence as static_evidence

Progress = Callable[[str, str], None]
# fewest checks, and of hard kinds, for a claim of a paper under --strict
ENOUGH, ENOUGH_HARD = 5, 3
NOT_RATED = "not rated"  # claim of a printed form that its source does not rate
HARD = (CheckKind.EQUATION, CheckKind.LIMIT, CheckKind.DATA, CheckKind.REFERENCE)


class Fate(StrEnum):
    REJECTED = "rejected"  # its check fails on it, as it must
    SURVIVED = "survived"  # its check passes on it as well: the check proves nothing
    # mutant or check raised, or the check fails on the original as well
    BROKEN = "broken"
    NOT_RUN = "not run"  # its check was not run


@dataclass(frozen=True, slots=True)
class MutantResult:
    """The outcome of a mutant."""

    name: str
    rejected_by: str
    fate: Fate
    note: str = ""
    rival: bool = False

    @property
    def rejected(self) -> bool:
        return self.fate is Fate.REJECTED


@dataclass(frozen=True, slots=True)
class PictureResult:
    """A figure of the evidence: an SVG element, or a note why there is none."""

    name: str
    caption: str
    source: str
    svg: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class MechanismResult:
    """One mechanism's claim, verdict and measurements.  `mutants` and `pictures` are empty unless
    requested.

    also_compared  for a variety: checks of papers that its source does not cite; reported, without
                   influence on the verdict
    facts          what lowers FAITHFUL, whether or not it decides the verdict
    reach          the hooks and claimed equations that engine checks reach; None where the checks
                   were not watched
    generated      the last full run of generated mutants; None if there was none
    behaviour      what its papers are cited for, with the verdicts of probes
    rated          False for a printed form that its source does not rate; `claimed`, by which
                   tables sort, is then the weakest rating
    """

    id: str
    claimed: Rating
    verdict: RatingVerdict
    variety_of: str | None
    papers: tuple[str, ...]
    checks: tuple[CheckResult, ...]
    mutants: tuple[MutantResult, ...]
    static: tuple[CheckResult, ...] = ()
    pictures: tuple[PictureResult, ...] = ()
    claims_paper: bool = False
    also_compared: tuple[CheckResult, ...] = ()
    facts: tuple[RatingFact, ...] = ()
    reach: MechanismReach | None = None
    generated: Kept | None = None
    rated: bool = True
    behaviour: tuple[Phenomenon, ...] = ()

    @property
    def claim(self) -> str:
        """The claimed rating, or "not rated"."""
        return str(self.claimed) if self.rated else NOT_RATED

    @property
    def hooks_checked(self) -> tuple[int, int]:
        """Hooks that a passing engine check runs, and all hooks."""
        hooks = self.reach.hooks if self.reach else ()
        return sum(bool(h.checks) for h in hooks), len(hooks)

    @property
    def equations_reached(self) -> tuple[int, int]:
        """Claimed equations of papers that a hook reaches, and all of them; those that the entry
        calls library are left out.
        """
        equations = [e for e in self.reach.equations if not e.library] if self.reach else []
        return sum(e.reached for e in equations), len(equations)

    @property
    def behaviour_shown(self) -> tuple[int, int]:
        """Probes of what its papers are cited for that a set with it is inside the band of, and
        all of them; controls are left out.
        """
        return sum(p.shown for p in self.behaviour), sum(not p.control for p in self.behaviour)

    @property
    def earned(self) -> bool:
        """Whether the derived rating earns the claim; without a check no claim is earned.  A
        form that its source does not rate claims nothing.
        """
        return bool(self.checks) and (not self.rated or earned(self.claimed, self.verdict.rating))

    @property
    def passed(self) -> int:
        """Gating checks that pass."""
        return sum(r.check.gates and r.score is Score.PASS for r in self.checks)

    @property
    def gating(self) -> int:
        return sum(r.check.gates for r in self.checks)

    @property
    def first_failing(self) -> CheckResult | None:
        """The first gating check that does not pass."""
        return next(
            (
                r
                for r in (*self.checks, *self.static)
                if r.check.gates and r.score is not Score.PASS
            ),
            None,
        )

    @property
    def not_passed(self) -> tuple[str, ...]:
        """Gating checks that were run and do not pass, also of papers that a source does not cite."""
        failed = (Score.FAIL, Score.ERROR, Score.NOT_TESTABLE)
        run = (*self.checks, *self.also_compared, *self.static)
        return tuple(r.check.id for r in run if r.check.gates and r.score in failed)

    @property
    def changes(self) -> tuple[str, ...]:
        """Of a printed form that comes with the package: checks that it does not pass and did when
        ratings were written, checks that raise, which find nothing, hooks without an engine check,
        mutants that were not rejected, or why it cannot be audited.
        """
        known = known_findings().get(self.id)
        if known is None:
            return ()
        if not self.checks and not self.static:
            return self.verdict.reasons
        cure = "which it did; if that is right, `make ratings` writes it down"
        return (
            *(f"does not pass {id}, {cure}" for id in self.not_passed if id not in known),
            *(f"{r.check.id} raises: {r.note}" for r in self.checks if r.score is Score.ERROR),
            *self._unchecked,
            *self._loose,
        )

    @property
    def faults(self) -> tuple[str, ...]:
        """An unearned claim, mutants that were not rejected, and claimed equations that the entry
        calls library.
        """
        claim = (
            ()
            if self.earned
            else (
                f"claims {self.claimed}, derived {self.verdict.rating}: {self.verdict.reasons[0]}",
            )
        )
        called_library = (
            f"calls {e.id} library, no part of its claim, and a hook reaches it: {' > '.join(e.path)}"
            for e in (self.reach.equations if self.reach else ())
            if e.library and e.reached
        )
        return (*claim, *self._loose, *called_library)

    @property
    def _loose(self) -> tuple[str, ...]:
        """Mutants that were not rejected."""
        return tuple(
            f"mutant {m.name!r} {m.fate}{f': {m.note}' if m.note else ''}"
            for m in self.mutants
            if m.fate in (Fate.SURVIVED, Fate.BROKEN)
        )

    @property
    def gaps(self) -> tuple[str, ...]:
        """Checks that did not finish, too little evidence for a paper's claim, hooks without an
        engine check, and mutants that were not run.
        """
        unfinished = (
            f"{r.check.id} {r.score}: {r.note}"
            for r in (*self.checks, *self.static)
            if r.score in (Score.ERROR, Score.NOT_RUN)
        )
        hard = sum(r.check.kind in HARD for r in self.checks)
        thin = [
            f"{len(self.checks)} checks, {hard} of them equations, limits or data; {ENOUGH} and {ENOUGH_HARD} are required"
        ]
        unproven = (
            f"mutant {m.name!r} was not run: {m.note}"
            for m in self.mutants
            if m.fate is Fate.NOT_RUN
        )
        return (
            *unfinished,
            *(
                thin
                if self.claims_paper and (len(self.checks) < ENOUGH or hard < ENOUGH_HARD)
                else []
            ),
            *self._unchecked,
            *unproven,
        )

    @property
    def _unchecked(self) -> tuple[str, ...]:
        return tuple(
            f"no engine check that passes runs the hook {h.name}"
            for h in (self.reach.hooks if self.reach else ())
            if not h.checks
        )


@dataclass(frozen=True, slots=True)
class AuditResult:
    """All mechanisms, by id."""

    mechanisms: tuple[MechanismResult, ...]
    mutants_asked: bool = False

    @property
    def failures(self) -> tuple[tuple[str, str], ...]:
        """(mechanism, fault) of our own mechanisms, and changes of printed forms."""
        return tuple(
            (m.id, fault)
            for m in self.mechanisms
            for fault in (m.changes if m.variety_of else m.faults)
        )

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """(variety, fault) of source systems' printed forms; they are no failures of ours."""
        return tuple(
            (m.id, fault) for m in self.mechanisms if m.variety_of is not None for fault in m.faults
        )

    @property
    def mutants_run(self) -> int:
        return sum(x.fate is not Fate.NOT_RUN for m in self.mechanisms for x in m.mutants)

    @property
    def mutants_rejected(self) -> int:
        return sum(x.rejected for m in self.mechanisms for x in m.mutants)

    @property
    def strict_failures(self) -> tuple[tuple[str, str], ...]:
        """(mechanism, fault or gap) of our own mechanisms."""
        return (
            *self.failures,
            *((m.id, gap) for m in self.mechanisms if m.variety_of is None for gap in m.gaps),
        )

    @property
    def exit_code(self) -> int:
        return 1 if self.failures else 0


def audit(
    entries: Iterable[Entry],
    modules: Mapping[str, ModuleType],
    evidence_modules: Mapping[str, ModuleType],
    *,
    mutants: bool = False,
    only: Collection[str] | None = None,
    progress: Progress | None = None,
    provides: Collection[str] | None = None,
    exhibits: Mapping[str, Exhibit] | None = None,
    draw: bool = False,
) -> AuditResult:
    """Judge mechanisms by their evidence; results by mechanism id.

    modules           mechanism id -> module with its kernels and plug-in class
    evidence_modules  mechanism id -> its evidence; a variety without its own is judged by that of
                      the form it varies
    mutants           whether to run the mutants, too (on the mechanism that owns the evidence)
    only              ids to judge; None: all
    progress          called with (mechanism id, check id or mutant name) before each
    provides          what is provided for checks with `needs`; None: everything
    exhibits          mechanism id -> input of the static checks; a mechanism without one gets none
    draw              whether to draw the figures, too

    Cost: each check once, and one check per mutant, run as plain Python.  Raises RegistryError for
    unknown ids and ContractError for invalid evidence; an exception in a check becomes its score.
    """
    known = {e.id: e for e in entries}
    for id in only or ():
        if id not in known:
            near = difflib.get_close_matches(id, known, n=3)
            raise RegistryError(
                f"no mechanism {id!r}",
                where="audit",
                cure=f"choose from {', '.join(near or sorted(known))}",
            )
    tell = progress or (lambda mechanism, step: None)
    chosen = sorted(known if only is None else set(only))
    return AuditResult(
        tuple(
            _mechanism(
                known[id],
                modules,
                evidence_modules,
                mutants,
                tell,
                provides,
                (exhibits or {}).get(id),
                draw,
            )
            for id in chosen
        ),
        mutants,
    )


def _mechanism(
    entry: Entry,
    modules: Mapping[str, ModuleType],
    evidence_modules: Mapping[str, ModuleType],
    mutants: bool,
    tell: Progress,
    provides: Collection[str] | None,
    exhibit: Exhibit | None,
    draw: bool,
) -> MechanismResult:
    if entry.id not in modules:
        raise ContractError(
            "no module was given",
            where=f"mechanism {entry.id}",
            cure="give the module that `class` in registry.yaml names",
        )
    rated = not (entry.variety_of and entry.claims == NOT_RATED)
    try:
        rating = Rating(entry.claims) if rated else Rating.APPROXIMATION
    except ValueError:
        raise RegistryError(
            f"claims {entry.claims!r}",
            where=f"registry.yaml, {entry.id}",
            cure=f"choose from {', '.join(Rating)}",
        ) from None
    specimen = Specimen(entry.id, modules[entry.id])
    watch = Watch(exhibit.entry) if exhibit else None
    watched = Specimen(entry.id, watch.module) if watch else specimen
    own = evidence_modules.get(entry.id)
    shared = evidence_modules.get(entry.variety_of) if entry.variety_of else None
    module = own or shared
    evidence = evidence_of(module) if module else Evidence("", (), ())
    results = []
    for check in evidence.checks:
        tell(entry.id, check.id)
        with watch.check(check.id) if watch else nullcontext():
            results.append(judge(check, watched, provides))
    fates = []
    for mutant in evidence.mutants if mutants and own else ():
        tell(entry.id, mutant.name)
        fate = _fate(mutant, specimen, evidence, results, provides)
        fates.append(MutantResult(mutant.name, mutant.rejected_by, *fate, mutant.rival))
    static = [judge(check, exhibit) for check in static_evidence()] if exhibit else []
    pictures = tuple(_picture(figure, specimen) for figure in evidence.figures) if draw else ()
    counting, others = divided(results, entry.papers) if entry.variety_of else (tuple(results), ())
    passing = [r.check.id for r in counting if r.check.gates and r.score is Score.PASS]
    reach = watch.reach(passing) if watch else None
    behaviour = phenomena(entry, exhibit.registry) if exhibit else ()
    entry_facts, claims = (
        facts(entry, reach, behaviour, passing),
        claimed(entry.equations, None if entry.variety_of else reach),
    )
    verdict = derive([*counting, *static], claims_equation=claims, facts=entry_facts)
    return MechanismResult(
        entry.id,
        rating,
        verdict,
        entry.variety_of,
        tuple(entry.papers),
        counting,
        tuple(fates),
        tuple(static),
        pictures,
        claims,
        others,
        entry_facts,
        reach,
        rated=rated,
        behaviour=behaviour,
    )


def unaudited(entry: Entry, error: HebbariumError) -> MechanismResult:
    """The result of a mechanism whose audit cannot be made: nothing was measured, so no claim is
    earned.
    """
    rated = entry.claims != NOT_RATED
    place = f"{error.where}: " if error.where else ""
    verdict = RatingVerdict(
        Rating.APPROXIMATION,
        (f"cannot be audited: {place}{error.what}",),
        (error.cure,) if error.cure else (),
    )
    return MechanismResult(
        entry.id,
        Rating(entry.claims) if rated else Rating.APPROXIMATION,
        verdict,
        entry.variety_of,
        tuple(entry.papers),
        (),
        (),
        rated=rated,
    )


def _picture(figure: Figure, specimen: Specimen) -> PictureResult:
    """A drawn figure; one that cannot be drawn gets a note."""
    named = figure.name, figure.caption, figure.source
    if not available():
        return PictureResult(
            *named, note="drawn only with matplotlib: pip install 'hebbarium[report]'"
        )
    try:
        with np.errstate(all="ignore"):
            return PictureResult(
                *named, svg=to_svg(figure(specimen), f"{specimen.id}-{figure.name}")
            )
    except NotTestable as error:
        return PictureResult(*named, note=str(error.what))
    except Exception as error:
        return PictureResult(*named, note=described(error))


def _fate(
    mutant: Mutant,
    specimen: Specimen,
    evidence: Evidence,
    results: Sequence[CheckResult],
    provides: Collection[str] | None,
) -> tuple[Fate, str]:
    """The fate of a mutant, and why.  It counts as rejected only where its check passes on the
    original and fails on it; a crash proves nothing.
    """
    original = next(r for r in results if r.check.id == mutant.rejected_by)
    if original.score is Score.NOT_RUN:
        return Fate.NOT_RUN, original.note
    if original.score is not Score.PASS:
        return Fate.BROKEN, f"{mutant.rejected_by} does not pass on the original"
    try:
        changed = mutant(specimen)
    except Exception as error:
        return Fate.BROKEN, described(error)
    if not isinstance(changed, Specimen) or changed is specimen:
        return Fate.BROKEN, "returns no changed specimen"
    result = judge(evidence.check(mutant.rejected_by), changed, provides)
    if result.score is Score.FAIL:
        return Fate.REJECTED, ""
    if result.score is Score.PASS:
        return Fate.SURVIVED, f"passes {mutant.rejected_by}"
    return Fate.BROKEN, result.note
