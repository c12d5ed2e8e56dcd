"""Run folders: what `run` and `ablate` wrote, read back and checked; and whether a new run may
use a folder.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ...engine.base.errors import DataError, HebbariumError, InputError, nearest
from ...engine.ports.by_name import SHIPPED
from ...engine.ports.by_name import embedder as embedder_by_name
from ...engine.ports.embedding_cache import CachedEmbedder
from ...engine.ports.language_model import NoModel
from ...engine.ports.transcript import Transcript
from ...reporting.files import results_folder
from ...reporting.text import plural
from ..datasets import Dataset, load
from ..datasets.base import unreadable
from .cells import Cell
from .ledger import Ledger
from .spec import RunSpec, deciding, recorded

MANIFEST, ROWS, TIMES, LEDGER = "manifest.json", "rows.jsonl", "times.jsonl", "ledger.sqlite"
RUNS = "runs"  # where a design of several data sets, embedders or seeds keeps each run
SEALED, SEALS = (ROWS, TIMES), "results"  # files whose digests the manifest has, and where
# what a run writes beside its manifest and its ledger
RESULTS = (ROWS, TIMES, "metrics.json", "card.json", "design*.*", "estimates.jsonl",
           "coalitions.jsonl")  # fmt: skip
NEEDED_OF_MANIFEST = ("dataset", "sha256", "arms", "conversations")
NEEDED_OF_TIMES: Mapping[str, type] = {"arm": str, "conversation": str, "question": object}
NEEDED_OF_ROW: Mapping[str, type] = {"arm": str, "conversation": str, "question": str,
                                          "category": str, "gold": list, "ranks": list, "retrieved": list}  # fmt: skip
AGAIN = "start the run again with the same options and --replace; finished cells are taken from its ledger"
BY_UPDATE = {
    "registry_digest": "the registry of mechanisms",
    "code": "the code of the package",
    "versions": "versions of libraries",
}  # no option changes these
SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class RunFolder:
    """A run: its folder and its manifest.

    force  read rows also if they are not those that the run has written; `measured` says so
    """

    path: Path
    manifest: Mapping[str, Any]
    force: bool = False

    @classmethod
    def read(cls, path: Path, *, force: bool = False) -> RunFolder:
        """The run in a folder.  Raises DataError if there is none, or if its manifest is
        damaged.
        """
        file = path / MANIFEST
        text = _read(file)
        if text is None:
            what = (
                f"the folder holds no run: it has no {MANIFEST}"
                if path.is_dir()
                else "it is a file, not the folder of a run"
                if path.exists()
                else "there is no such folder"
            )
            inside = sorted(run.parent.name for run in (path / RUNS).glob(f"*/{MANIFEST}"))
            cure = (
                f"it is a design of several runs: give one of them, such as {path / RUNS / inside[0]}"
                if inside
                else "give the --out folder of `hebbarium run` or `hebbarium ablate`"
            )
            raise DataError(what, where=str(path), cure=cure)
        try:
            manifest = json.loads(text)
            lacking = [name for name in NEEDED_OF_MANIFEST if name not in manifest]
            if lacking or not manifest["arms"]:
                raise ValueError(f"it has no {', '.join(lacking) or 'arms'}")
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(
                f"it is damaged, or not the manifest of a run ({error})",
                where=str(file),
                cure=AGAIN,
            ) from error
        return cls(path, manifest, force)

    @property
    def arms(self) -> list[str]:
        return list(self.manifest["arms"])

    @property
    def measured(self) -> str:
        """The set, or the other system; and which files were changed after the run, of one that is
        read by force.
        """
        odd = ", ".join(self.changed) if self.force else ""
        measured = str(self.manifest.get("set") or self.manifest.get("system", "a run"))
        return f"{measured} ({odd} changed after the run)" if odd else measured

    @property
    def changed(self) -> list[str]:
        """Results that are not as the run has written them.  O(bytes).  Raises DataError."""
        there = [name for name in SEALED if (self.path / name).is_file()]
        return [name for name in there if _sha256(self.path / name) != self._sealed(name)]

    def _sealed(self, name: str) -> str | None:
        """The digest of a result in the manifest; None: it has none."""
        digests = self.manifest.get(SEALS)
        return digests.get(name) if isinstance(digests, Mapping) else None

    @property
    def name(self) -> str:
        """What was measured, and the data set."""
        return f"{self.measured} on {self.manifest['dataset']}"

    def arm(self, name: str | None = None) -> str:
        """The arm of that name; the first one, which is the full set, for None.  Raises
        InputError.
        """
        if name is not None and name not in self.arms:
            raise InputError(
                f"the run has no arm {name!r}", where=str(self.path), cure=nearest(name, self.arms)
            )
        return self.arms[0] if name is None else name

    def deciding(self, arm: str) -> dict[str, Any]:
        """What decided the rows of an arm, and the versions of the software.  Raises DataError."""
        try:
            return deciding(self.manifest, arm)
        except (KeyError, TypeError, AttributeError) as error:
            raise self._lacks(error) from error

    def rows(self, arm: str | None = None) -> list[dict[str, Any]]:
        """The rows of an arm, of all arms for None.  Raises DataError if the run is not
        finished, or if rows.jsonl was changed or is damaged anywhere.
        """
        rows = list(self._lines(ROWS, NEEDED_OF_ROW))
        expected = self.manifest.get("data", {}).get("rows")
        if expected is not None and len(rows) != expected:
            raise DataError(
                f"it has {plural(len(rows), 'row')}, and the manifest expects {expected}",
                where=str(self.path / ROWS),
                cure=AGAIN,
            )
        keys = [(row["arm"], row["conversation"], row["question"]) for row in rows]
        if len(set(keys)) < len(keys):
            raise DataError(
                "it has two rows for one question of one arm",
                where=str(self.path / ROWS),
                cure=AGAIN,
            )
        return [row for row in rows if arm is None or row["arm"] == arm]

    def times(self) -> list[dict[str, Any]]:
        """The lines of times.jsonl; none for a run that wrote no such file.  Raises DataError."""
        return list(self._lines(TIMES, NEEDED_OF_TIMES)) if (self.path / TIMES).is_file() else []

    def data(self, path: Path | None = None) -> Dataset:
        """The data that were measured.

        path    where they are now; None: where they were

        Raises DataError if they are not there, or are others than those of the run.
        """
        noted = self.manifest.get("data", {})
        given = path or (Path(noted["path"]) if noted.get("path") else None)
        if path is None and given is not None and not given.exists():
            raise DataError(
                f"the data of this run are no longer at {given}",
                where=str(self.path),
                cure="give --data and their present path",
            )
        loaded = load(
            noted.get("form") or self.manifest["dataset"],
            given,
            unit=self.manifest.get("unit", "turn"),
            limit=noted.get("limit"),
            allow_missing_gold=True,
        )
        if loaded.sha256 != self.manifest["sha256"]:
            raise DataError(
                f"these are not the data of the run: their SHA-256 is {loaded.sha256}, that of the run {self.manifest['sha256']}",
                where=loaded.path or loaded.name,
                cure="give --data and the path of the data that the run measured",
            )
        return loaded

    def cell(self, arm: str, conversation: str, data: Dataset) -> Cell:
        """The cell of an arm and a conversation.  Raises DataError."""
        conversation_of_cell = next((c for c in data.conversations if c.id == conversation), None)
        if conversation_of_cell is None:
            raise DataError(
                f"the data have no conversation {conversation!r}",
                where=data.path or data.name,
                cure="give --data and the data of the run",
            )
        try:
            return Cell(recorded(self.manifest, arm, conversation), conversation_of_cell)
        except (KeyError, TypeError, AttributeError) as error:
            raise self._lacks(error) from error

    def embedder(
        self,
        given: str | None = None,
        cache: Path | None = None,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> CachedEmbedder:
        """The embedder of the run.

        given   as `hebbarium run --embedder` took it; None: as the manifest keeps it or, in a
                manifest without it, found by its name

        Raises DataError if it is not found, or is another.
        """
        noted = tuple(
            self.manifest.get(name)
            for name in ("embedder", "embedder_revision", "embedder_dimensions")
        )
        name = {"hashing": f"hashing:{noted[2]}", SHIPPED: "minilm"}.get(
            str(noted[0]), str(noted[0])
        )
        cure = "give --embedder as for the run"
        try:
            embedder = embedder_by_name(
                given or self.manifest.get("embedder_spec") or name, cache, progress=progress
            )
        except InputError as error:
            raise DataError(
                f"the embedder of the run, {noted[0]}, is not found: {error.what}",
                where=str(self.path),
                cure=cure,
            ) from error
        if (embedder.name, embedder.revision, embedder.dimensions) != noted:
            raise DataError(
                f"the embedder {embedder.name} (revision {embedder.revision}) is not that of the run, {noted[0]} (revision {noted[1]})",
                where=str(self.path),
                cure=cure,
            )
        return embedder

    def language_model(self) -> Transcript | None:
        """The transcript of the run, replayed; None for a run without a language model.  Raises
        DataError if it is not found, or is another.
        """
        if not (name := self.manifest.get("language_model")):
            return None
        file = Path(str(self.manifest.get("transcript_file", "")))
        model = Transcript(
            NoModel(name, str(self.manifest.get("language_model_revision"))), file, "replay"
        )
        if self.manifest.get("transcript") not in (model.digest(), f"recording:{model.id}"):
            raise DataError(
                f"the transcript {file} is not that of the run",
                where=str(self.path),
                cure="restore the file that the run used",
            )
        return model

    def _lines(self, name: str, needed: Mapping[str, type]) -> Iterator[dict[str, Any]]:
        file = self.path / name
        text = _read(file)
        if text is None:
            raise DataError(
                f"the run is not finished: there is no {name}",
                where=str(self.path),
                cure="start it again with the same options; finished cells are taken from its ledger",
            )
        if not self.force and _sha256(file) != (due := self._sealed(name)):
            raise DataError(
                f"its SHA-256 is not the one in the manifest, {due}: it was changed after the run"
                if due
                else "the run is not finished: its manifest has no digest of this file",
                where=str(file),
                cure=f"{AGAIN}; --force reads it as it is",
            )
        for number, line in enumerate(text.split("\n"), 1):
            if line:
                try:
                    row = json.loads(line)
                    if damage := _damage(row, needed):
                        raise ValueError(damage)
                except (ValueError, TypeError, RecursionError) as error:
                    raise DataError(
                        f"line {number} is damaged ({error})", where=str(file), cure=AGAIN
                    ) from error
                yield row

    def _lacks(self, error: Exception) -> DataError:
        return DataError(
            f"the manifest does not describe this ({error}); another release wrote it",
            where=str(self.path / MANIFEST),
            cure=AGAIN,
        )


def sealed(out: Path) -> dict[str, dict[str, str]]:
    """What the manifest of a finished run says of its results: their SHA-256, by name."""
    return {SEALS: {name: _sha256(out / name) for name in SEALED if (out / name).is_file()}}


def claim(out: Path, planned: Mapping[str, Any], *, replace: bool) -> None:
    """Check that a folder holds no other run than the planned one, so that its results may be
    written there.

    planned   manifest of the new run
    replace   remove the results of another run; the finished cells in its ledger stay

    The same run is one of the same command, with the same record for every arm; arms and
    conversations may only be added.  Raises InputError.
    """
    if not (out / MANIFEST).exists():
        return
    if replace:
        for pattern in RESULTS:
            for file in out.glob(pattern):
                _remove(file)
        return
    cure = "give another --out, or --replace to write over it"
    try:
        earlier = RunFolder.read(out)
    except DataError as error:
        raise InputError(
            f"the folder holds files of another run that cannot be read ({error.what})",
            where=str(out),
            cure=cure,
        ) from error
    if odd := _other(earlier.manifest, json.loads(json.dumps(planned, default=str))):
        raise InputError(
            f"the folder holds another run ({earlier.name}): {'; '.join(odd)}",
            where=str(out),
            cure=cure,
        )


def require_same(file: Path, deciding: Mapping[str, Any], what: str) -> None:
    """Raises InputError if a result that the folder holds is of another memory or embedder.

    deciding  what decides the new result, by name; an earlier one has it in its `provenance`
    what      the results are, for the message
    """
    try:
        earlier: Any = json.loads(file.read_text(encoding="utf-8"))["provenance"]
        odd = [name for name, value in deciding.items() if earlier[name] != value]
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError):
        odd = ["a file that cannot be read"]
    if odd:
        raise InputError(
            f"the folder holds other {what}, which differ in {', '.join(odd)}",
            where=str(file.parent),
            cure="give another --out, or --replace to write over them; finished cells in its ledger stay",
        )


@contextmanager
def ledger_beside(
    result: Path, deciding: Mapping[str, Any], what: str, *, replace: bool
) -> Iterator[Ledger]:
    """The ledger in the folder of a result, locked for new cells.  The folder is made if it is
    absent.

    replace  write over another result that the folder holds; without it raises InputError as
             `require_same`
    """
    if not replace:
        require_same(result, deciding, what)
    book = Ledger(results_folder(result.parent) / LEDGER)
    with book.locked():
        yield book


def _other(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What makes the planned run another one than that of the folder."""
    decide = [
        "command",
        *(f.name for f in fields(RunSpec) if f.name not in ("arm", "conversation")),
    ]
    differing = differences(
        {name: old.get(name) for name in decide}, {name: new.get(name) for name in decide}
    )
    # that one is the code, too
    newer = {
        name.partition(".")[0] for name, _, _ in differing if name != "versions.hebbarium"
    } & set(BY_UPDATE)
    differing = [
        difference for difference in differing if difference[0].partition(".")[0] not in BY_UPDATE
    ]
    odd = [f"{name} is {shown(a)} there and {shown(b)} here" for name, a, b in differing[:5]]
    odd += [f"{len(differing) - 5} more fields differ"] if len(differing) > 5 else []
    if newer:
        what = " and ".join(words for name, words in BY_UPDATE.items() if name in newer)
        odd.append(f"{what} changed since, as after an update; rows of both do not mix")
    for name in ("arms", "conversations"):
        if gone := [entry for entry in old[name] if entry not in new[name]]:
            odd.append(f"it has {name} that this run lacks: {shown(', '.join(gone))}")
    kept = [arm for arm in old["arms"] if arm in new["arms"]]
    odd += [
        f"arm {arm!r} is another one"
        for arm in kept
        if not odd and old.get("changes", {}).get(arm) != new["changes"].get(arm)
    ][:1]
    return odd


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Each value in which two mappings differ: its dotted name and both values, None where it is
    absent.

    >>> differences({"seed": 0, "a": {"b": 1, "c": 2}}, {"seed": 0, "a": {"b": 3}, "d": 4})
    [('a.b', 1, 3), ('a.c', 2, None), ('d', None, 4)]
    """
    differing: list[tuple[str, Any, Any]] = []
    for name in dict.fromkeys((*first, *second)):
        a, b = first.get(name), second.get(name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            differing += [(f"{name}.{below}", *both) for below, *both in differences(a, b)]
        elif a != b:
            differing.append((name, a, b))
    return differing


def shown(value: Any) -> str:
    """A value of a manifest in one short line; `absent` for None.

    >>> shown({"b": 1}), shown("x" * 99)[-3:], shown(None)
    ('{"b": 1}', '...', 'absent')
    """
    text = "absent" if value is None else value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _damage(row: Any, needed: Mapping[str, type]) -> str:
    """What keeps a row from being one with these fields; "" for nothing."""
    if not isinstance(row, dict):
        return "it is no object"
    if lacking := [field for field in needed if field not in row]:
        return f"it has no {', '.join(lacking)}"
    for field, kind in needed.items():
        if not isinstance(row[field], kind):
            return f"{field} is of another kind"
    if "ranks" in needed:
        if len(row["ranks"]) != len(row["gold"]):
            return "it does not have one rank for each of gold"
        if not all(type(rank) is int and rank >= 0 for rank in row["ranks"]):
            return "a rank is no whole number from 0 on"
        if not all(isinstance(name, str) for name in (*row["gold"], *row["retrieved"])):
            return "a name of an event is no text"
    return ""


def _read(file: Path) -> str | None:
    """The text of a file; None if there is none.  Raises DataError."""
    try:
        return file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise unreadable(file, error, "make the file readable") from error
    except UnicodeDecodeError as error:
        raise DataError(f"it is damaged ({error.reason})", where=str(file), cure=AGAIN) from error


def _sha256(file: Path) -> str:
    """Raises DataError."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(file, error, "make the file readable") from error


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise HebbariumError(
            f"it cannot be removed ({error.strerror})",
            where=str(file),
            cure="make the folder writable, or give another --out",
        ) from error
