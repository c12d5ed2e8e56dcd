"""Lives that cells share: which cells can be asked of one memory, and lives that are kept as
snapshots to be asked later.

A life is decided by the mechanisms with a hook outside RETRIEVE and their parameters except
`weight`, the seed, the data, the unit, the conversation, the embedder and the code
(`engine.flow.lives`).  Where a query may change memory, a set that learns from recall shares no
life.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...engine.base.errors import DataError, InputError
from ...engine.base.private import private_file, private_folder
from ...engine.catalogue.registry import Registry
from ...reporting.files import write_json
from ..systems.hebbarium import SharedLife

if TYPE_CHECKING:
    from ...engine.ports.embedder import Embedder
    from .cells import Cell
    from .spec import RunSpec

OF_LIFE = ("seed", "unit", "rehearse", "feedback", "dataset", "sha256", "conversation", "embedder",
           "embedder_revision", "embedder_dimensions",
           "code", "versions")  # fmt: skip
CURE = "give a folder that `hebbarium run --keep-lives` wrote for the same data, seed, unit, embedder and release"
NAMED = 3  # differences in a message
MOST = 64  # cells that are asked of one life together


def grouped(cells: Sequence[Cell], jobs: int = 1) -> list[list[int]]:
    """Places of cells that share a life, conversation by conversation, in the order of their first
    cells; a cell that shares none is alone.  Parts of one set go together: most live its life.

    Those of one conversation follow each other, since a process remembers what it has read in the
    latest texts (`engine.text.memo`).

    jobs  workers.  If there are fewer lives than workers, the largest are lived more than once, so
          that each worker has one

    More than 64 cells of one life are cut, too, so that memory is bounded, and finished cells are
    kept and shown every minute or so.
    """
    by_life: dict[Any, list[int]] = {}
    for place, cell in enumerate(cells):
        key = (
            (_set_of(cell), cell.spec.conversation, cell.spec.seed, cell.spec.rehearse)
            if cell.life
            else place
        )
        by_life.setdefault(key, []).append(place)
    groups = [
        places[start : start + size]
        for places in by_life.values()
        if (size := ceil(len(places) / ceil(len(places) / MOST)))
        for start in range(0, len(places), size)
    ]
    while groups and len(groups) < jobs and max(map(len, groups)) > 1:
        at = max(range(len(groups)), key=lambda i: len(groups[i]))
        half = (len(groups[at]) + 1) // 2
        groups[at : at + 1] = [groups[at][:half], groups[at][half:]]
    first: dict[str, int] = {}
    for place, cell in enumerate(cells):
        first.setdefault(cell.spec.conversation, place)
    return sorted(groups, key=lambda places: first[cells[places[0]].spec.conversation])


def _set_of(cell: Cell) -> str:
    """What tells the lives of cells apart."""
    if cell.whole is not None:
        return json.dumps(cell.whole, sort_keys=True, default=str)
    return cell.life.digest if cell.life else ""


@dataclass(frozen=True)
class LifeFolder:
    """A folder of kept lives: for each a snapshot and a JSON file that says what decided it."""

    path: Path

    @contextmanager
    def living(self, cell: Cell, registry: Registry, embedder: Embedder) -> Iterator[SharedLife]:
        """A new life of a cell, which `keep` can keep."""
        private_folder(self.path)
        with (
            tempfile.TemporaryDirectory(dir=self.path, prefix=".") as folder,
            closing(
                SharedLife(
                    registry,
                    cell.spec.mechanisms,
                    embedder,
                    cell.spec.seed,
                    Path(folder) / "life.db",
                )
            ) as life,
        ):
            yield life

    def keep(self, cell: Cell, life: SharedLife) -> None:
        """Keep a life as it is now; one that is kept already stays.  Raises HebbariumError."""
        record = record_of(cell)
        file = self.path / f"{_key(record)}.db"
        if file.with_suffix(".json").exists() or life.path is None:
            return
        life.save()
        copy = private_file(life.path.with_suffix(".copy"))
        Path(shutil.copyfile(life.path, copy)).replace(file)
        write_json(file.with_suffix(".json"), {**record, "saved_with": cell.spec.mechanisms})

    @contextmanager
    def lived(self, cell: Cell, registry: Registry, embedder: Embedder) -> Iterator[SharedLife]:
        """A copy of the kept life of a cell.  Raises InputError, which names the first
        differences, if there is none.
        """
        record = record_of(cell)
        file = self.path / f"{_key(record)}.json"
        if not file.exists():
            raise self._refused(cell.spec, record)
        saved = _read(file)
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it was kept while it was open
            copy = private_file(Path(folder) / "life.db")
            shutil.copyfile(file.with_suffix(".db"), copy)
            with closing(
                SharedLife(registry, saved["saved_with"], embedder, cell.spec.seed, copy)
            ) as life:
                yield life

    def require(self, cells: Sequence[Cell]) -> None:
        """Raises InputError if the life of a cell is not here."""
        if not self.path.is_dir() or not any(self.path.glob("*.json")):
            raise InputError("the folder holds no lives", where=f"--from {self.path}", cure=CURE)
        for cell in cells:
            if cell.life is None:
                raise InputError(
                    "queries change this memory, so its life cannot have been kept",
                    where=f"--from {self.path}",
                    cure="leave out --rehearse, --feedback, --llm and --system, or leave out --from",
                )
            if not (self.path / f"{_key(record := record_of(cell))}.json").exists():
                raise self._refused(cell.spec, record)

    def _refused(self, spec: RunSpec, record: Mapping[str, Any]) -> InputError:
        from .folder import differences, shown

        kept = [_read(file) for file in sorted(self.path.glob("*.json"))]
        same = [other for other in kept if other.get("conversation") == spec.conversation]
        if not same:
            return InputError(
                f"no life of the conversation {spec.conversation!r} is kept",
                where=f"--from {self.path}",
                cure=CURE,
            )
        plain = json.loads(json.dumps(record))
        odd = min(
            (
                differences({n: v for n, v in other.items() if n != "saved_with"}, plain)
                for other in same
            ),
            key=len,
        )
        named = "; ".join(
            f"{name} is {shown(a)} there and {shown(b)} here" for name, a, b in odd[:NAMED]
        )
        more = f"; {len(odd) - NAMED} more" if len(odd) > NAMED else ""
        return InputError(
            f"the life of {spec.conversation!r} would not be the same: {named}{more}",
            where=f"--from {self.path}",
            cure=CURE,
        )


def record_of(cell: Cell) -> dict[str, Any]:
    """What decides the life of a cell that shares its life."""
    assert cell.life is not None
    return {
        **{name: getattr(cell.spec, name) for name in OF_LIFE},
        "mechanisms": cell.life.mechanisms,
        "steps": list(cell.life.steps),
    }


def _key(record: Mapping[str, Any]) -> str:
    return sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()[:32]


def _read(file: Path) -> dict[str, Any]:
    try:
        saved = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(saved, dict) or "saved_with" not in saved:
            raise ValueError("it has no saved_with")
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"it is damaged, or no kept life ({error})",
            where=str(file),
            cure="delete it and its .db file, and keep the lives again",
        ) from error
    return saved
