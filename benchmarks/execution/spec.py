"""What decides a cell: one record.  The ledger's key, the manifest and the options of `run` and
`ablate` are computed from its fields.

A new setting is one more field: it enters the key, the manifest and both commands, and the cell
reads it from its record. This module loads nothing heavy, because the command line reads the
options from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ...engine.base.errors import InputError, RegistryError
from ..systems.by_name import OURS
from .setup import Setup

if TYPE_CHECKING:
    from ...engine.catalogue.registry import MechanismSet
    from ..datasets import Dataset

# options that `--help` shows first: what is measured
FIRST = ("set", "dataset", "embedder", "language_model", "transcript")
_OPTION = "option"


@dataclass(frozen=True, slots=True)
class Option:
    """A command-line option.

    flag     such as --seed
    help     one sentence
    default  what the command line takes if the option is not given; ... if it must be given
    read     makes the field's value from the list of texts of an option that may be given again;
             None: the text, number or word is the value
    least    smallest number
    metavar  what `--help` prints for the value
    """

    flag: str
    help: str
    default: Any = ...
    read: Callable[[Sequence[str]], Any] | None = None
    least: float | None = None
    metavar: str | None = None


def parameters(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parameter overrides from `id.name=value` texts.  Raises RegistryError.

    >>> parameters(["recency.weight=0.2", "lexical_bm25.idf=robertson"])
    {'recency': {'weight': 0.2}, 'lexical_bm25': {'idf': 'robertson'}}
    """
    parsed: dict[str, dict[str, Any]] = {}
    for text in given:
        place, equals, value = text.partition("=")
        id, dot, name = place.strip().partition(".")
        if not (equals and dot and id and name and value.strip()):
            raise RegistryError(
                f"{text!r} is no parameter",
                where="--param",
                cure="write id.name=value, such as recency.weight=0.2",
            )
        parsed.setdefault(id, {})[name] = _value(value.strip())
    return parsed


def budgets(given: Sequence[str]) -> tuple[int, ...]:
    """Budgets in tokens from texts such as `512,1024`, ascending, each once.  Raises InputError.

    >>> budgets(["1024,512", "512"])
    (512, 1024)
    """
    words = [word.strip() for text in given for word in text.split(",")]
    if wrong := [word for word in words if not (word.isascii() and word.isdigit())]:
        raise InputError(
            f"{wrong[0]!r} is no number of tokens",
            where="--context",
            cure="write numbers from 0, such as --context 512,1024",
        )
    return tuple(sorted(set(map(int, words))))


def _value(text: str) -> bool | int | float | str:
    """A parameter's value: true or false, a number if the text is one, else the text.

    >>> [_value(t) for t in ("3", "1e-3", "true", "robertson")]
    [3, 0.001, True, 'robertson']
    """
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _setting(flag: str, help: str, **more: Any) -> dict[str, Option]:
    return {_OPTION: Option(flag, help, **more)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a user may set of a run, apart from the mechanism set, the data and the embedder.

    system    `hebbarium`, or MODULE:NAME of another system
    unit      what an event is; the data must have been loaded with it
    match     what is ranked and compared with gold: the events, or their sessions, each in the
              place of its best event
    seed      of every mechanism's own random stream
    without   mechanisms that are left off
    param     parameter overrides by mechanism and name, over those of the set
    rehearse  h between a first asking of all questions, which changes memory, and the one that
              counts; None: asked once
    feedback  after a question was scored, the memory is told what was needed: nothing, the k events
              answered, or the gold events
    allow_missing_gold  for `conversations`: leave out gold that names no event, and print how many,
                        instead of refusing the data; the data must have been loaded with it
    context   budgets in tokens of the contexts that are scored for each question, ascending; ():
              none
    strategy  of these contexts
    """

    system: str = field(
        default=OURS,
        metadata=_setting(
            "--system",
            "The memory to measure: ours, or a class or function of (embedder, seed).",
            metavar="MODULE:NAME",
        ),
    )
    unit: Literal["turn", "session"] = field(
        default="turn", metadata=_setting("--unit", "What one event is.")
    )
    match: Literal["unit", "session"] = field(
        default="unit",
        metadata=_setting(
            "--match",
            "What is ranked: the units, or their sessions, each in the place of its best unit.",
        ),
    )
    seed: int = field(
        default=0, metadata=_setting("--seed", "Of every mechanism's random stream.", least=0)
    )
    without: tuple[str, ...] = field(
        default=(),
        metadata=_setting("--without", "Mechanism to leave off; may be given again.", read=tuple),
    )
    param: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict,
        metadata=_setting(
            "--param", "Parameter as id.name=value; may be given again.", read=parameters
        ),
    )
    rehearse: float | None = field(
        default=None,
        metadata=_setting(
            "--rehearse",
            "Ask all questions once so that recall changes memory, and again HOURS later, which counts.",
            least=0.0,
            metavar="HOURS",
        ),
    )
    feedback: Literal["none", "answer", "gold"] = field(
        default="none",
        metadata=_setting(
            "--feedback",
            "What the memory is told was needed after each question, which is scored before: nothing, its own answer, or the gold.",
        ),
    )
    allow_missing_gold: bool = field(
        default=False,
        metadata=_setting(
            "--allow-missing-gold",
            "Leave out gold that names no event, and print how many, instead of refusing the data (conversations).",
        ),
    )
    context: tuple[int, ...] = field(
        default=(),
        metadata=_setting(
            "--context",
            "Also score contexts of so many tokens, such as 512,1024; may be given again.",
            read=budgets,
            metavar="TOKENS,...",
        ),
    )
    strategy: Literal[
        "flat", "condensed", "covering", "packed", "sources", "everything", "nothing"
    ] = field(
        default="flat",
        metadata=_setting(
            "--strategy",
            "How contexts are assembled; sources: by the sources of the set, such as those of `stages`.",
        ),
    )

    @property
    def ours(self) -> bool:
        """Whether the system is Hebbarium, which is made of mechanisms."""
        return self.system == OURS

    def applied(self, chosen: MechanismSet) -> MechanismSet:
        """The set as these settings change it.  Raises RegistryError for a mechanism that it
        does not hold.
        """
        return chosen.without(self.without).overridden(self.param, "--param")

    def check_set(self, chosen: MechanismSet | None) -> None:
        """Raises InputError if a set, or changes to one, are given for a system that has no
        mechanisms, or none for ours.
        """
        if self.ours:
            required(chosen)
        if not self.ours and self.context:
            raise InputError(
                f"contexts are assembled from memories of {OURS}, and {self.system!r} is another system",
                where="--context",
                cure="leave out --context, or leave out --system",
            )
        given = [
            name
            for name, value in (
                ("--set", chosen),
                ("--without", self.without),
                ("--param", self.param),
            )
            if value
        ]
        if not self.ours and given:
            raise InputError(
                f"{given[0]} changes the mechanisms of {OURS}, and {self.system!r} has none",
                where="--system",
                cure=f"leave out {', '.join(given)}, or leave out --system",
            )


def required(chosen: MechanismSet | None) -> MechanismSet:
    """The set.  Raises InputError if there is none."""
    if chosen is None:
        raise InputError(
            "no mechanism set is given",
            where="--set",
            cure="give --set NAME; `hebbarium list` names them",
        )
    return chosen


DEFAULTS = Settings()


@dataclass(frozen=True, kw_only=True)
class RunSpec(Settings, Setup):
    """Everything that decides the outcome of a cell: one arm on one conversation.

    dataset, sha256  name of the data set, and digest of its file
    conversation     id
    language_model, language_model_revision  "" without a language model
    transcript       its replies: the digest of a transcript that is replayed, or `recording:` and
                     the id of one that grows; "" without one
    k                events asked of each query and kept in a row
    depth            events asked of a system that does not rank all, so that ranks of gold are
                     known up to it
    probed           most questions of a conversation for which ranks are compared with each
                     mechanism silenced
    """

    KIND: ClassVar[str] = "run"

    set: str = field(
        metadata=_setting(
            "--set", "Mechanism set: a name, or a YAML file; `default` if not given.", default=None
        )
    )
    dataset: str = field(
        metadata=_setting(
            "--dataset",
            "demo, locomo, locomo-corrected, beam, longmemeval, madial, memdaily, precisionmembench or conversations.",
        )
    )
    embedder: str = field(
        metadata=_setting(
            "--embedder",
            "minilm, hashing, hashing:<d>, the folder or name of a model on this disk; more in docs/guides/texts.md.",
            default="minilm",
        )
    )
    language_model: str = field(
        default="",
        metadata=_setting(
            "--llm",
            "Language model, as openai:<model>; its replies are recorded in --transcript.",
            default=None,
            metavar="MODEL",
        ),
    )
    transcript: str = field(
        default="",
        metadata=_setting(
            "--transcript",
            "File of a language model's replies: recorded with --llm, replayed without.",
            default=None,
            metavar="FILE",
        ),
    )
    language_model_revision: str = ""
    sha256: str
    conversation: str
    k: int = 10
    depth: int = 100
    probed: int = 16


def options() -> dict[str, Option]:
    """Field -> option of what a user may set, in the order of `--help`: first what is measured,
    then how.
    """
    fields_by_name = {f.name: f for f in fields(RunSpec) if _OPTION in f.metadata}
    ordered = sorted(
        fields_by_name.values(),
        key=lambda f: FIRST.index(f.name) if f.name in FIRST else len(FIRST),
    )
    return {f.name: replace(f.metadata[_OPTION], default=_default(f)) for f in ordered}


def _default(field: Any) -> Any:
    """What the command line takes if the option is not given: lists of texts are None there."""
    option: Option = field.metadata[_OPTION]
    if option.default is not ... or (field.default is MISSING and option.read is None):
        return option.default
    return None if option.read else field.default


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Settings from the command line's values of `options`.  Raises RegistryError for an odd
    --param.
    """
    read = {name: option.read for name, option in options().items()}
    mine = {f.name: given[f.name] for f in fields(Settings)}
    return Settings(
        **{
            name: reader(value or ()) if (reader := read[name]) else value
            for name, value in mine.items()
        }
    )


def manifest(specs: Sequence[RunSpec], data: Dataset, command: Mapping[str, Any]) -> dict[str, Any]:
    """manifest.json: everything that is needed to repeat the run.

    `command` first, then the fields of the first arm's record, with lists of all arms and
    conversations; `changes`, what decides each other arm (see `changes`); `data`: how and where
    they were read, how many conversations were asked for, how the digest stands to the published
    one, counts, and the number of rows.
    """
    from ..datasets.fetch import basis

    shared = {
        name: value
        for name, value in asdict(specs[0]).items()
        if name not in ("arm", "conversation")
    }
    arms = {s.arm: s for s in specs}
    asked = sum(len(c.questions) for c in data.conversations)
    return {**command, **shared, "arms": list(arms),
            "conversations": list(dict.fromkeys(s.conversation for s in specs)),
            "changes": {arm: changes(specs[0], spec) for arm,
                        spec in arms.items() if spec.arm != specs[0].arm},
            "data": {"form": data.form, "path": data.path, "limit": data.limit,
                     "digest": basis(data.path, data.sha256), "rows": len(arms) * asked, "notes": dict(data.notes)}}  # fmt: skip


def changes(first: RunSpec, other: RunSpec) -> dict[str, Any]:
    """What `other` differs in from `first`, apart from its arm and conversation.

    The value of each field that differs; for `mechanisms` null for each that is left off, and the
    parameters of each that is new or changed.
    """
    mine, theirs = asdict(first), asdict(other)
    changed = {
        name: value
        for name, value in theirs.items()
        if value != mine[name] and name not in ("arm", "conversation")
    }
    if "mechanisms" in changed:
        old, new = mine["mechanisms"], theirs["mechanisms"]
        changed["mechanisms"] = {
            **{id: None for id in old if id not in new},
            **{id: params for id, params in new.items() if params != old.get(id)},
        }
    return changed


def deciding(written: Mapping[str, Any], arm: str) -> dict[str, Any]:
    """The fields of a manifest that was read back, as they hold for one of its arms, without its
    lists of arms and conversations and its data.

    Raises KeyError for an arm that the manifest does not describe.
    """
    decisive = {
        name: value
        for name, value in written.items()
        if name not in ("arms", "conversations", "changes", "data")
    }
    if arm == written["arms"][0]:
        return decisive
    changed = written["changes"][arm]
    mechanisms = {**decisive["mechanisms"], **changed.get("mechanisms", {})}
    return {
        **decisive,
        **changed,
        "mechanisms": {id: params for id, params in mechanisms.items() if params is not None},
    }


def recorded(written: Mapping[str, Any], arm: str, conversation: str) -> RunSpec:
    """The record of a cell from a manifest that was read back.  Raises KeyError if the manifest
    lacks a field or does not describe the arm.
    """
    none = {
        "files": {},
        "match": "unit",
        "language_model": "",
        "language_model_revision": "",
        "transcript": "",
        "context": (),
        "strategy": "flat",
    }
    fields_of_arm = none | deciding(written, arm)  # earlier manifests lack them
    values = {
        f.name: fields_of_arm[f.name]
        for f in fields(RunSpec)
        if f.name not in ("arm", "conversation")
    }
    return RunSpec(
        **{**values, "without": tuple(values["without"]), "context": tuple(values["context"])},
        arm=arm,
        conversation=conversation,
    )
