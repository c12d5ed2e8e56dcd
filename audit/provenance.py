"""What an audit was made from, when and where: enough to repeat it and to cite it."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..engine.catalogue import packages
from ..engine.catalogue.registry import Registry
from ..reporting.provenance import Made, made, versions
from ..reporting.text import plural
from . import sources
from .collect import evidence_file
from .references import HERE as REFERENCES
from .references import References

# whose numbers or drawings enter an audit
LIBRARIES = ("numpy", "scipy", "numba", "faiss-cpu", "PyStemmer", "networkx", "matplotlib")
CODE = ("engine", "mechanisms", "audit")
CITED = "The Hebbarium maintainers. Hebbarium: a laboratory of memory mechanisms"
SHORT = 12  # digits of a digest where text quotes it


@dataclass(frozen=True, slots=True)
class Provenance:
    """Digests are SHA-256, in hexadecimal.

    version   of Hebbarium
    code      digest of the source files of engine, mechanisms and audit, and of packages with
              mechanisms
    registry  digest of the registry and the sets
    evidence  mechanism -> digest of its evidence file, for mechanisms with evidence
    claims    digest of what is recorded of the source systems, and of the references
    versions  of Python and of the libraries whose numbers enter
    seconds   wall time of the audit
    papers    BibTeX keys of the papers of the mechanisms shown, each once, by key
    made      when, where and by which command; its BibTeX is that of `papers`
    """

    version: str
    code: str
    registry: str
    evidence: Mapping[str, str]
    claims: str
    versions: Mapping[str, str]
    seconds: float
    papers: tuple[str, ...]
    made: Made

    @property
    def evidence_digest(self) -> str:
        """One digest of all evidence."""
        return _digest(f"{id} {digest}\n".encode() for id, digest in sorted(self.evidence.items()))

    def to_json(self) -> dict[str, Any]:
        return {"version": self.version, "code": self.code, "registry": self.registry,
                "evidence": {"digest": self.evidence_digest, "files": dict(self.evidence)},
                "claims": self.claims, "versions": dict(self.versions),
                "date": self.made.date, "platform": self.made.platform, "cores": self.made.cores,
                "command_line": self.made.command_line,
                "seconds": self.seconds}  # fmt: skip


def provenance(
    registry: Registry,
    references: References,
    ids: Collection[str],
    *,
    seconds: float,
    words: Sequence[str] = (),
) -> Provenance:
    """The provenance of an audit of these mechanisms, made here and now.

    seconds  wall time of the audit
    words    of the command line; none if it was made from Python

    Reads the source files; some 10 ms.
    """
    root = Path(sources.__file__).parent.parent.parent
    code = _digest(
        [
            packages.source_digest(root, *(root / room for room in CODE)).encode(),
            *(p.digest().encode() for p in registry.packages),
        ]
    )
    files = {id: evidence_file(registry.entries[id], registry) for id in sorted(ids)}
    evidence = {
        id: hashlib.sha256(file.read_bytes()).hexdigest() for id, file in files.items() if file
    }
    claims = _digest(
        file.read_bytes() for file in (*sorted(sources.HERE.glob("*.yaml")), REFERENCES)
    )
    papers = papers_of(registry, references, ids)
    return Provenance(
        __version__,
        code,
        registry.digest,
        evidence,
        claims,
        versions(LIBRARIES),
        seconds,
        papers,
        made(words, references.bibtex(papers) if papers else ""),
    )


def papers_of(registry: Registry, references: References, ids: Iterable[str]) -> tuple[str, ...]:
    """BibTeX keys of the papers of some mechanisms, each once, by key; a static check reports
    papers that the references lack.
    """
    return tuple(
        sorted({key for id in ids for key in registry.entries[id].papers if key in references})
    )


def citation(provenance: Provenance) -> str:
    """How to cite an audit, in one line."""
    digests = f"code {provenance.code[:SHORT]}, registry {provenance.registry[:SHORT]}, evidence {provenance.evidence_digest[:SHORT]}"
    return (
        f"{CITED}, version {provenance.version}. Audit of {provenance.made.date[:10]}, {digests}."
    )


def facts(provenance: Provenance, mutants_asked: bool) -> list[tuple[str, str]]:
    """(name, value) of everything but the papers, for readers."""
    how, files = provenance.made, len(provenance.evidence)
    return [
        ("version", provenance.version), ("date (UTC)", how.date), ("mutants",
        "run" if mutants_asked else "not run"),
        ("seconds", f"{provenance.seconds:.1f}"), ("command line",
        how.command_line or "none: made from Python"),
        ("machine", f"{how.platform}, {plural(how.cores, 'core')}"),
        ("code, SHA-256", provenance.code), ("registry, SHA-256", provenance.registry),
        (f"evidence of {plural(files, 'mechanism')}, SHA-256",
         provenance.evidence_digest),
        ("claims of sources and references, SHA-256", provenance.claims),
        *provenance.versions.items(),
    ]  # fmt: skip


def _digest(parts: Iterable[bytes]) -> str:
    h = hashlib.sha256()
    for part in parts:
        h.update(len(part).to_bytes(8, "big") + part)
    return h.hexdigest()
