"""`hebbarium reproduce`: a run again, from its manifest into a new folder, and whether all rows
are equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from ...engine.base.errors import DataError, InputError
from ...engine.catalogue.registry import MechanismSet, Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ...reporting.provenance import Made, made
from ..datasets import Dataset
from ..designs import Arm
from ..execution.folder import RunFolder, differences
from ..execution.local import Progress, execute
from ..execution.plan import RunPlan, planned
from ..execution.spec import RunSpec, Settings, recorded
from ..systems.by_name import OURS

# What may differ without a row being another one: where things are, when and how they were run, and
# the software, which is reported apart.
MADE_BY: Final = ("code", "versions", "registry_digest", "embedder_revision", "system_revision",
                  "set_digest", "files", "transcript")  # fmt: skip
KEY: Final = ("arm", "conversation", "question")
NOT_COMPARED: Final = ("code",)  # of a row: the code that made it is named among what differs


@dataclass(frozen=True, slots=True)
class RowDifference:
    """The first row that differs, in the order of the first run's file: its key, and each field
    with both values; None for a row or field that is absent."""

    arm: str
    conversation: str
    question: str
    fields: tuple[tuple[str, Any, Any], ...]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A run and its repetition.

    folder, again   of the run, and of the repetition
    n_rows          rows of the run; `n_different` of them are other ones, or absent, in the
                    repetition
    first           the first of these; None if all rows are equal
    differing       what made the rows, where it is another now: name and both values, None where
                    absent
    """

    folder: str
    again: str
    n_rows: int
    n_different: int
    first: RowDifference | None
    differing: tuple[tuple[str, Any, Any], ...]

    @property
    def equal(self) -> bool:
        return self.n_different == 0


def reproduce(
    run: RunFolder,
    data: Dataset,
    registry: Registry,
    embedder: CachedEmbedder,
    out: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
    making: Made | None = None,
) -> Reproduction:
    """Run every arm of the manifest again on the same conversations, into `out`, and compare rows.

    Cost: that of the run.  A second call of a repetition that was stopped continues it.  Raises
    InputError for the folder of the run itself and for one that holds another run, DataError for a
    damaged manifest or damaged rows, RegistryError for a set that this registry cannot build.
    """
    if out.resolve() == run.path.resolve():
        raise InputError(
            "the folder is that of the run itself", where=str(out), cure="give --out a new folder"
        )
    before = {_key(row): row for row in run.rows()}
    plan, wanted = _plan(run, registry), set(run.manifest["conversations"])
    mine = replace(data, conversations=tuple(c for c in data.conversations if c.id in wanted))
    if lost := wanted - {c.id for c in mine.conversations}:
        raise DataError(
            f"the data have no conversation {min(lost)!r}",
            where=data.path or data.name,
            cure="give --data and the data of the run",
        )
    command = {
        "command": "reproduce",
        "reproduces": str(run.path.absolute()),
        "embedder_spec": str(run.manifest.get("embedder_spec", "")),
        "made": asdict(making or made()),
    }
    execute(
        plan,
        mine,
        embedder,
        out,
        command=command,
        jobs=jobs,
        progress=progress,
        language_model=run.language_model(),
    )
    repeated = RunFolder.read(out)
    after = {_key(row): row for row in repeated.rows()}
    differing = [
        difference
        for key in before
        if (difference := _difference(key, before[key], after.get(key)))
    ]
    differing += [
        RowDifference(*key, (("row", None, "present"),)) for key in after if key not in before
    ]
    return Reproduction(
        str(run.path),
        str(out),
        len(before),
        len(differing),
        differing[0] if differing else None,
        _software(run, repeated),
    )


def _plan(run: RunFolder, registry: Registry) -> RunPlan:
    """The arms of a manifest, as this registry builds them.  Raises DataError for one that
    another release wrote.
    """
    conversation = str(run.manifest["conversations"][0])
    try:
        specs = [recorded(run.manifest, arm, conversation) for arm in run.arms]
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"the manifest does not describe the run ({error}); another release wrote it",
            where=str(run.path),
            cure="install that release, or start the run again",
        ) from error
    settings = Settings(**{f.name: getattr(specs[0], f.name) for f in fields(Settings)})
    arms = [
        Arm(spec.arm, MechanismSet(spec.set, "", spec.mechanisms))
        for spec in specs
        if spec.system == OURS
    ]
    return planned(arms, registry, settings, [spec.system for spec in specs if spec.system != OURS])


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    arm, conversation, question = (str(row[name]) for name in KEY)
    return arm, conversation, question


def _difference(
    key: tuple[str, str, str], before: Mapping[str, Any], after: Mapping[str, Any] | None
) -> RowDifference | None:
    if after is None:
        return RowDifference(*key, (("row", "present", None),))
    differing = tuple(
        difference for difference in differences(before, after) if difference[0] not in NOT_COMPARED
    )
    return RowDifference(*key, differing) if differing else None


def _software(run: RunFolder, again: RunFolder) -> tuple[tuple[str, Any, Any], ...]:
    """What made the rows and is another now, by arm where only an arm has it."""
    software: dict[tuple[str, str, str], tuple[str, Any, Any]] = {}
    known = {f.name for f in fields(RunSpec)}
    for arm in run.arms:
        old, new = (
            {
                name: value
                for name, value in manifest.deciding(arm).items()
                if name in MADE_BY and name in known
            }
            for manifest in (run, again)
        )
        for name, a, b in differences(old, new):
            software.setdefault((name, str(a), str(b)), (name, a, b))
    return tuple(software.values())


def to_json(reproduction: Reproduction) -> dict[str, Any]:
    """Plain data for `json.dumps`."""
    named = [{"name": name, "run": a, "now": b} for name, a, b in reproduction.differing]
    first = (
        {
            **asdict(reproduction.first),
            "fields": [
                {"field": name, "run": a, "now": b} for name, a, b in reproduction.first.fields
            ],
        }
        if reproduction.first
        else None
    )
    return {**asdict(reproduction), "equal": reproduction.equal, "first": first, "differing": named}
