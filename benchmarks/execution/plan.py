"""Plans: what an experiment measures.  Each arm is built and checked once, before data are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ...engine.base.errors import HebbariumError, InputError
from ...engine.catalogue.registry import Registry, digest, files
from ...engine.ports.language_model import LanguageModel, described
from ..designs import FULL, Arm
from ..systems.base import Capability
from ..systems.by_name import OURS, revision
from ..systems.hebbarium import Deciding, declared
from .setup import code_version, versions
from .spec import DEFAULTS, RunSpec, Settings

if TYPE_CHECKING:
    from ...engine.ports.embedding_cache import CachedEmbedder
    from ..datasets import Dataset


@dataclass(frozen=True, slots=True)
class Composition:
    """An arm, or another system, that can be run, and what decides its cells.

    arm              id; for another system its name
    system           `hebbarium`, or MODULE:NAME
    system_revision  digest of the source of another system
    set, set_digest  name and digest of the mechanism set; "" for another system
    mechanisms       mechanism -> parameter -> value, all resolved, in registry order; {} for
                     another system
    files            `mechanism.parameter` -> SHA-256 of each parameter that is a file or folder
    unread           mechanisms whose signals no step reads, although they have a weight
    life             what it decides of its lives; None if queries change its memory, so that it
                     shares none
    reads_tokens     whether a mechanism asks for token vectors
    """

    arm: str
    system: str = OURS
    system_revision: str = ""
    set: str = ""
    set_digest: str = ""
    mechanisms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    life: Deciding | None = None
    reads_tokens: bool = False

    @property
    def deciding(self) -> dict[str, Any]:
        """The fields of a cell's record that this decides."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in ("unread", "life", "reads_tokens")
        }


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What an experiment measures, in the order of the manifest: arms of one mechanism set, then
    other systems.
    """

    registry: Registry
    settings: Settings
    arms: tuple[Composition, ...]


def planned(
    arms: Iterable[Arm],
    registry: Registry,
    settings: Settings = DEFAULTS,
    others: Sequence[str] = (),
) -> RunPlan:
    """Build and check every arm and load every other system.  20 ms for each arm of `waking`.

    others  names of systems that are measured as well

    Raises RegistryError or ContractError for an arm that cannot be built, InputError for a system
    that cannot be loaded, for `rehearse` or `feedback` with a first arm that does not learn from
    recall, and for both together.
    """
    if settings.rehearse is not None and settings.feedback != "none":
        raise InputError(
            "a rehearsal takes every answer as needed before feedback could tell what was",
            where="--feedback",
            cure="leave out --feedback or --rehearse",
        )
    ours = [_composed(arm, registry, settings) for arm in arms]
    return RunPlan(
        registry, settings, (*ours, *(Composition(name, name, revision(name)) for name in others))
    )


def _composed(arm: Arm, registry: Registry, settings: Settings) -> Composition:
    try:
        with arm.chosen.named_in_errors():
            built = registry.build(arm.chosen)
            reads = declared(built)
    except HebbariumError as error:
        raise (
            error
            if arm.id == FULL
            else type(error)(error.what, where=f"arm {arm.id!r}, {error.where}", cure=error.cure)
        ) from error
    changing = settings.rehearse is not None or settings.feedback != "none"
    if arm.id == FULL:
        require_learning(f"the set {arm.chosen.name}", reads.capabilities, settings)
    return Composition(
        arm.id,
        set=arm.chosen.name,
        set_digest=digest(built) if built else "",
        mechanisms={m.id: asdict(m.params) for m in built},
        files=files(built),
        unread=frozenset(reads.unread),
        life=None if changing and Capability.LEARNS in reads.capabilities else reads.life,
        reads_tokens=reads.reads_tokens,
    )


def require_learning(what: str, capabilities: Iterable[Capability], settings: Settings) -> None:
    """Raises InputError for `rehearse` or `feedback` with a memory that does not learn from
    recall: no answer would change.
    """
    if settings.rehearse is not None and Capability.LEARNS not in capabilities:
        raise InputError(
            f"{what} does not learn from recall, so asking all questions before would change no answer",
            where="--rehearse",
            cure="leave out --rehearse, or measure a memory that learns from recall, such as the set default",
        )
    if settings.feedback != "none" and Capability.LEARNS not in capabilities:
        raise InputError(
            f"{what} does not learn from recall, so feedback would change no answer",
            where="--feedback",
            cure="leave out --feedback, or measure a memory that learns from recall, such as the set default",
        )


def specs_of(
    plan: RunPlan,
    data: Dataset,
    embedder: CachedEmbedder,
    language_model: LanguageModel | None = None,
) -> list[RunSpec]:
    """The records of every arm and system of a plan on every conversation, arm by arm.

    Changes to a set, and the language model, are no fields of another system's.  Raises InputError
    for a language model and no arm of ours.
    """
    if language_model is not None and not any(arm.system == OURS for arm in plan.arms):
        raise InputError(
            f"{plan.arms[0].system!r} is not given a language model",
            where="--llm",
            cure="leave out --llm and --transcript",
        )
    code = code_version()
    shared = {f.name: getattr(plan.settings, f.name) for f in fields(Settings)} | {
        "dataset": data.name,
        "sha256": data.sha256,
        **described(language_model),
    }
    none: dict[str, Any] = {"without": (), "param": {}, "context": (), **described(None)}
    mine = [
        shared
        | ({} if arm.system == OURS else none)
        | setup_of(arm, plan.registry, embedder, code, code)
        for arm in plan.arms
    ]
    return [RunSpec(**setup, conversation=c.id) for setup in mine for c in data.conversations]


def setup_of(
    composition: Composition, registry: Registry, embedder: CachedEmbedder, code: str, package: str
) -> dict[str, Any]:
    """The fields of `Setup`, for a record of any kind of cell.

    package  as `versions` takes it
    """
    return {
        **composition.deciding,
        "registry_digest": registry.digest,
        "embedder": embedder.name,
        "embedder_revision": embedder.revision,
        "embedder_dimensions": embedder.dimensions,
        "code": code,
        "versions": versions(package),
    }
