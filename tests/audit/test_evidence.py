"""The evidence files: what a heading is over, and the papers of every check beside the papers
that its source names.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from hebbarium.audit import evidence
from hebbarium.audit.checks import Check, evidence_of
from hebbarium.audit.collect import audit_registry, evidence_module
from hebbarium.audit.references import load
from hebbarium.engine.base.errors import ContractError
from hebbarium.engine.catalogue.registry import Registry

FILES = sorted(Path(evidence.__file__).parent.glob("[a-z]*.py"))
HEADING = re.compile(r"# -{3,} (?P<title>.+?) -{3,}")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_heading_has_content(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    headings = [(i, line) for i, line in enumerate(lines) if HEADING.match(line)]
    ends = [*(i for i, _ in headings[1:]), len(lines)]
    for (i, line), end in zip(headings, ends, strict=False):
        assert any(body.strip() for body in lines[i + 1 : end]), line


def plain(name: str) -> str:
    return re.sub(
        "[^a-z]", "", unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    )


@cache
def authors_of(year: str) -> dict[str, set[str]]:
    """The family names of the authors of each reference of a year."""
    return {
        e.key: {plain(p.partition(",")[0]) for p in e.fields["author"].split(" and ")}
        for e in load()
        if e.fields["year"] == year
    }


def named_in(source: str) -> list[set[str]]:
    """For every author and year in a source, the keys of the references of that year with one of
    these authors, if there is any.
    """
    found = []
    for year in re.finditer(r"\b(?:1[89]|20)\d\d\b", source):
        people = {
            plain(word)
            for word in re.findall(
                r"[^\W\d_][\w'-]+", re.split("[;:()]", source[: year.start()])[-1]
            )
            if word[0].isupper()
        }
        fitting = authors_of(year.group())
        most = max((len(people & authors) for authors in fitting.values()), default=0)
        if most:
            found.append({key for key, authors in fitting.items() if len(people & authors) == most})
    return found


def test_the_names_of_a_source_are_found() -> None:
    assert named_in("Frey & Morris 1997; Luboeinski & Tetzlaff 2021, recomputed") == [
        {"frey1997synaptic"},
        {"luboeinski2021memory"},
    ]
    assert (
        named_in("Tsodyks, Pawelzik & Markram 1998: U 0.5") == [{"tsodyks1998neural"}]
        and named_in("2000 neurons, by hand") == []
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_check_lists_the_papers_that_its_source_names(file: Path) -> None:
    known, module = load(), import_module(f"{evidence.__name__}.{file.stem}")
    for check in (value for value in vars(module).values() if isinstance(value, Check)):
        assert all(key in known for key in check.papers), check.id
        for keys in named_in(check.source):
            assert keys & set(check.papers), (
                f"{check.id}: {check.source} names {keys}, not among {check.papers}"
            )
        assert "Cortex" not in check.source or "cortex2026" in check.papers, check.id


def test_every_printed_form_has_a_check_of_a_paper_that_its_source_cites() -> None:
    registry = Registry.read()
    for entry in registry.entries.values():
        if entry.variety_of:
            checks = evidence_of(import_module(str(evidence_module(entry, registry)))).checks
            assert any(set(check.papers) & set(entry.papers) for check in checks), entry.id


def test_a_paper_without_a_reference_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module(f"{evidence.__name__}.recency")
    name, check = next((n, v) for n, v in vars(module).items() if isinstance(v, Check))
    monkeypatch.setattr(module, name, replace(check, papers=("petrov2006computational",)))
    with pytest.raises(ContractError, match="petrov2006computational") as refused:
        audit_registry(Registry.read(), only=["recency"])
    assert "petrov2006computationally" in refused.value.cure
