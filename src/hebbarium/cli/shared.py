"""Options that several commands have, and the objects that they name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..benchmarks.execution.spec import Settings, options
from ..engine.base.errors import HebbariumError, InputError
from ..reporting.output import put
from ..reporting.text import plural
from .app import INTERRUPTED, from_system, say

if TYPE_CHECKING:
    from ..benchmarks.datasets import Dataset, Unit
    from ..console import Meter
    from ..engine.catalogue.registry import MechanismSet, Registry
    from ..engine.ports.embedding_cache import CachedEmbedder
    from ..engine.ports.language_model import LanguageModel
    from ..reporting.claims import Beside

DATASETS = options()["dataset"].help
DATASET = typer.Option("--dataset", help=DATASETS)
DatasetOption = Annotated[str, DATASET]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        help=(
            "File or folder in the official format, or a folder of your own conversations; the demo needs none."
        ),
    ),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", help="Only the first N conversations; all if not given.")
]
SkipOption = Annotated[
    int,
    typer.Option(
        "--skip", min=0, help="Leave out the first N conversations; --limit counts from there."
    ),
]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, help="Worker processes.")]
EmbedderOption = Annotated[str, typer.Option("--embedder", help=options()["embedder"].help)]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
SetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="Mechanism set: a name, or a YAML file; may be given again. `default` if not given.",
    ),
]
SystemOption = Annotated[
    str | None,
    typer.Option(
        "--system",
        metavar="MODULE:NAME",
        help="Another memory in place of one with a mechanism set.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]

DEFAULT_SET = "default"


def installed_registry() -> Registry:
    from ..engine.catalogue.registry import Registry

    return Registry.installed()


def chosen_set(registry: Registry, name: str | None, settings: Settings) -> MechanismSet | None:
    """The named set, or `default`; None for a system without mechanisms."""
    return registry.set(name or DEFAULT_SET) if name or settings.ours else None


def chosen_sets(
    registry: Registry, names: Sequence[str] | None, system: str | None
) -> list[MechanismSet]:
    """The named sets, or `default`; none for a system without mechanisms."""
    from ..benchmarks.systems.by_name import OURS

    return [
        registry.set(name) for name in names or ([DEFAULT_SET] if system in (None, OURS) else [])
    ]


def names_in(text: str) -> list[str]:
    """The names in a list with commas.

    >>> names_in("heat, recency,")
    ['heat', 'recency']
    """
    return [name for word in text.split(",") if (name := word.strip())]


def load_data(
    dataset: str,
    path: Path | None,
    unit: Unit,
    limit: int | None,
    allow_missing_gold: bool = False,
    skip: int = 0,
    *,
    asked: bool = True,
) -> Dataset:
    """The data without their first `skip` conversations.

    asked  whether their questions are needed; conversations without any are then left out, which is
           said on standard error

    Raises DataError, also if questions are needed and there are none; InputError if no conversation
    is left.
    """
    from ..benchmarks.datasets import load, require_questions

    wanted = limit if limit is None or limit < 1 else skip + limit
    loaded = load(dataset, path, unit=unit, limit=wanted, allow_missing_gold=allow_missing_gold)
    if len(loaded.conversations) <= skip:
        raise InputError(
            f"the data have {plural(len(loaded.conversations), 'conversation')}, and {skip} are left out",
            where="--skip",
            cure="leave out fewer",
        )
    kept = replace(loaded, conversations=loaded.conversations[skip:]) if skip else loaded
    if not asked:
        return kept
    require_questions(kept)
    if silent := [c.id for c in kept.conversations if not c.questions]:
        say(
            f"conversations without questions, left out: {len(silent)} of {len(kept.conversations)}, the first is {silent[0]!r}"
        )
        kept = replace(kept, conversations=tuple(c for c in kept.conversations if c.questions))
    return kept


def named_embedder(spec: str, progress: Callable[[int, int], None]) -> CachedEmbedder:
    from ..engine.ports.by_name import embedder
    from ..engine.ports.embedding_cache import default_cache

    return embedder(spec, default_cache(), progress=progress)


def named_language_model(spec: str | None, transcript: str | None) -> LanguageModel | None:
    """The model behind --llm and --transcript; None without both.  Raises InputError for --llm
    without --transcript, else as `language_model`.
    """
    from ..engine.ports.by_name import language_model

    if spec is not None and not transcript:
        raise InputError(
            "a language model needs a transcript, so that its replies are kept and the run can be repeated",
            where="--llm",
            cure="give --transcript FILE",
        )
    return language_model(spec, Path(transcript).expanduser() if transcript else None)


def lasting(spec: str) -> str:
    """An embedder's name as it can be read from any working directory: the folder of a model
    becomes absolute, with what follows it.

    >>> lasting("minilm"), lasting("hashing:64")
    ('minilm', 'hashing:64')
    """
    folder, plus, backend = spec.rpartition("+")
    base, at, kept = spec.rpartition("@")
    for path, rest in ((spec, ""), (folder, plus + backend), (base, at + kept)):
        if path and Path(path).expanduser().is_dir():
            return f"{Path(path).expanduser().absolute()}{rest}"
    return spec


def citation_keys(
    registry: Registry, ids: Iterable[str], datasets: Iterable[str], embedder: str
) -> list[str]:
    """Keys of the papers behind some mechanisms, data sets and the named embedder, each once."""
    from ..benchmarks.datasets import papers_of
    from ..engine.ports.by_name import papers_behind

    return list(
        dict.fromkeys(
            (
                *(k for i in ids for k in registry.entry(i).papers),
                *(k for name in datasets for k in papers_of(name)),
                *papers_behind(embedder),
            )
        )
    )


def by_kind(overall: Any, by_category: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Rows of a table by category: all questions, then each category.  `all` is also the category
    of questions of one's own that name none.

    >>> by_kind(0.5, {"all": 0.5}), by_kind(0.5, {"who": 0.25, "all": 0.75})
    ([('all', 0.5)], [('all', 0.5), ('who', 0.25), ('no category', 0.75)])
    """
    if list(by_category) == ["all"]:
        return [("all", overall)]
    return [
        ("all", overall),
        *(("no category" if name == "all" else name, means) for name, means in by_category.items()),
    ]


def print_json(data: Any) -> None:
    put(json.dumps(data, indent=2, default=str))


def print_claims(claims: Sequence[Beside]) -> None:
    """What is published on the same data beside ours; nothing if nothing is."""
    from ..console import print_table
    from ..reporting.claims import HEADS

    if claims:
        print_table(
            "Published next to measured",
            HEADS,
            [row.row() for row in claims],
            numbers=("published", "ours"),
            whole=("published", "ours"),
        )


def with_claims(result: Mapping[str, Any], claims: Sequence[Beside]) -> dict[str, Any]:
    """A result with what is published on the same data, if anything is, as `published`."""
    return {**result, **({"published": [row.named() for row in claims]} if claims else {})}


@contextmanager
def resumable(meter: Meter, out: Path) -> Iterator[None]:
    """After an interrupt or a failure, say what is finished and how to continue; exit code 130
    for an interrupt.
    """
    try:
        yield
    except KeyboardInterrupt:
        kept = _kept(meter, out) or "nothing is finished yet; the same command starts again"
        say(f"\n{INTERRUPTED}: {kept}")
        raise typer.Exit(130) from None
    except (HebbariumError, OSError) as error:
        failure = from_system(error) if isinstance(error, OSError) else error
        cure = "; ".join(filter(None, (failure.cure, _kept(meter, out))))
        raise type(failure)(failure.what, where=failure.where, cure=cure) from error


def _kept(meter: Meter, out: Path) -> str:
    """Which cells are finished, and how to continue; "" if none is."""
    done, total = meter.latest or (0, 0)
    if not done:
        return ""
    rest = "continues with the others" if done < total else "writes the results"
    return f"{done} of {total} {meter.what} are finished and kept in {out / 'ledger.sqlite'}; the same command {rest}"


def print_kept(meter: Meter, out: Path) -> None:
    """Say what was not run again."""
    done, total = meter.first or (0, 0)
    if done:
        run = "nothing was run again" if done == total else f"{total - done} were run now"
        say(
            f"{done} of {total} {meter.what} were finished before and taken from {out / 'ledger.sqlite'}; {run}"
        )


def evidence_notes(evidence: bool) -> list[str]:
    """What a command says of numbers of the hashing embedder; nothing of those of a model."""
    return [] if evidence else ["the hashing embedder is for tests: no evidence about a memory"]


def print_missing_gold(data: Dataset) -> None:
    """Say how many gold ids the data set has that name no event."""
    if missing := data.notes.get("gold_missing"):
        say(f"gold that names no event, left out: {missing}")
