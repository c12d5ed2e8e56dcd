"""What the cells of runs, probes and worlds share: the memory that is measured, its embedder, and
the code that decides the outcome.

This module loads nothing heavy, because the command line reads options from records of this kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Final

from ... import __version__, engine
from ...engine.catalogue.packages import source_digest
from ...reporting.provenance import versions as installed_versions
from .ledger import Ledger

ROOT: Final = Path(engine.__file__).parent.parent
# folders whose source decides an outcome
DECIDING: Final = ("engine", "mechanisms", "benchmarks")
LIBRARIES: Final = ("numpy", "scipy", "numba", "faiss-cpu", "sentence-transformers", "torch",
                    "PyStemmer")  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What decides a cell of any kind; a kind adds its own fields.

    arm              id of the arm
    system           `hebbarium`, or MODULE:NAME of another system
    system_revision  digest of the source of a system that is not ours
    set              name of the mechanism set; "" for a system without mechanisms
    set_digest       of its mechanisms; "" without mechanisms
    mechanisms       mechanism -> parameter -> value, all resolved, in registry order
    files            `mechanism.parameter` -> SHA-256 of the content of each parameter that is a
                     file or folder
    embedder, embedder_revision, embedder_dimensions
    registry_digest, code   of the registry, and of the source that decides the outcome
    versions         of Python and of the libraries whose numbers enter a result; after an upgrade
                     cells are run again
    """

    # of cells: those of two kinds never have one key
    KIND: ClassVar[str]
    # fields that name a cell and decide nothing
    UNDECIDING: ClassVar[frozenset[str]] = frozenset()

    arm: str
    system: str
    system_revision: str
    set: str
    set_digest: str
    mechanisms: Mapping[str, Mapping[str, Any]]
    files: Mapping[str, str] = field(default_factory=dict)
    registry_digest: str
    embedder: str
    embedder_revision: str
    embedder_dimensions: int
    code: str
    versions: Mapping[str, str]

    def key(self) -> str:
        """Key of the cell in the ledger: SHA-256 over the canonical JSON of its kind and of all
        fields that decide it.  Raises InputError.
        """
        return self._key

    @cached_property
    def _key(self) -> str:
        return Ledger.key(
            {
                "kind": self.KIND,
                **{
                    f.name: getattr(self, f.name)
                    for f in fields(self)
                    if f.name not in self.UNDECIDING
                },
            }
        )


@cache
def code_version(folders: tuple[str, ...] = DECIDING, files: tuple[Path, ...] = ()) -> str:
    """Version of the package, and a digest of the source files that decide an outcome: results of
    other code are other cells.

    folders  of this package, whose files are told by their paths, too
    files    of any place, told by their content alone
    """
    source = _source(folders) + "".join(file.read_text(encoding="utf-8") for file in files)
    return f"{__version__}+{sha256(source.encode()).hexdigest()[:12]}"


@cache
def _source(folders: tuple[str, ...]) -> str:
    return source_digest(ROOT, *(ROOT / folder for folder in folders))


def versions(package: str = "") -> dict[str, str]:
    """Versions of Python and of the libraries whose numbers enter a result.

    package  what stands for this one; "" for `code_version()`
    """
    return {"hebbarium": package or code_version(), **installed_versions(LIBRARIES)}
