"""The BibTeX reader, and the entries themselves."""

from __future__ import annotations

import re
import unicodedata
from importlib import import_module
from pathlib import Path

import pytest

from hebbarium.audit.checks import evidence_of
from hebbarium.audit.references import DOI, HERE, load, of_registry, read, unknown, unreadable
from hebbarium.engine.base.errors import DataError, RegistryError
from hebbarium.engine.catalogue.packages import Package
from hebbarium.engine.catalogue.registry import Registry

ENTRY = "@book{a1998x, author={A, B}, title={T}, year=1998}"


def test_values_in_braces_quotes_and_digits() -> None:
    text = 'comment\n@Article{b2001y,\n  title = {The {ACT-R}\n     book, = part {{1}}},\n  Author="C, D and {E, F}", year=2001,\n}\n'
    one = read(text).get("b2001y")
    assert dict(one.fields) == {
        "title": "The {ACT-R} book, = part {{1}}",
        "author": "C, D and {E, F}",
        "year": "2001",
    }
    assert (one.kind, one.line) == ("article", 2)


def test_exact_text_in_the_order_asked_each_once() -> None:
    second = ENTRY.replace("a1998x", "b1998x")
    assert (
        read(f"{ENTRY}\n\n% more\n{second}").bibtex(["b1998x", "a1998x", "b1998x"])
        == f"{second}\n\n{ENTRY}\n"
    )


def test_comments_are_ignored() -> None:
    assert len(read(f"@comment{{ {ENTRY} }}\n{ENTRY}\nafter")) == 1


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (f"{ENTRY}\n\n{ENTRY}", 3, "given twice"),
        ("\n@book{a1998x, author={A, B}, title={T, year=1998}", 2, "not closed"),
        ("@book{a1998x,\n author={A, B},\n title={T}\n year=1998}", 3, "no comma"),
        ("@book{a1998x,\n author={A, B},\n title=T, year=1998}", 3, "without braces"),
        ("@book{a1998x,\n author={A, B},\n title={T}, title={U}, year=1998}", 3, "twice"),
        ('@book{a1998x,\n author={A, B},\n title="T, year=1998}', 3, "quote"),
        ("@book{a1998x,\n author={A, B},\n what, year=1998}", 3, "expected"),
        ("@book{a1998x,\n author={A, B},\n year=}", 3, "expected"),
        ("\n\n@book{a1998x, author={A, B}, title={T}}", 3, "year"),
        ("\n@book{a1998x}", 2, "author, title, year"),
        ("\n@book{A B, author={A, B}, title={T}, year=1998}", 2, "key"),
        (
            "\n@book{a1998x, doi={https://doi.org/10.1037/a0014420}, author={A, B}, title={T}, year=1998}",
            2,
            "doi",
        ),
        ("\n@string{x = {y}}", 2, "not supported"),
        ("\n\nmail me @ home", 3, "no entry"),
    ],
)
def test_errors_name_the_line(text: str, line: int, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read(text, "some.bib")
    assert caught.value.where == f"some.bib:{line}"


def test_an_unknown_key_offers_near_ones() -> None:
    with pytest.raises(RegistryError, match="petrov2006computationally"):
        load().get("petrov2006computational")
    with pytest.raises(RegistryError):
        load().bibtex(["nobody1900nothing"])


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=re.escape(str(tmp_path))):
        load(tmp_path / "absent.bib")


THEIRS = """
theirs:
  class: theirs.module:Theirs
  home: retrieval
  summary: "none"
  acts_on: "none"
  papers: [a1998x]
  claims: HONEST
"""


def joined(folder: Path, references: str) -> Registry:
    """Ours and a package of one mechanism, with these references."""
    folder.mkdir()
    (folder / "registry.yaml").write_text(THEIRS, encoding="utf-8")
    (folder / "references.bib").write_text(references, encoding="utf-8")
    return Registry.read().joined(Package("theirs", "theirs 1.5", folder))


def test_references_of_a_package_that_cannot_be_read_are_left_out_and_named(tmp_path: Path) -> None:
    sound, broken = joined(tmp_path / "sound", ENTRY), joined(tmp_path / "broken", "@book{a1998x")
    assert (
        "a1998x" in of_registry(sound)
        and not of_registry(sound).missing
        and not unknown(sound, of_registry(sound), sound.entries)
    )
    found = of_registry(broken)
    (missing,) = found.missing
    assert (
        len(found) == len(load())
        and found.missing == unreadable(broken)
        and missing.distribution == "theirs 1.5"
    )
    assert (
        "references.bib:1: a brace is not closed" in missing.error
        and "uninstall theirs" in missing.error
    )
    assert unknown(broken, found, broken.entries) == {"a1998x": "theirs of theirs 1.5"}
    with pytest.raises(RegistryError) as raised:
        found.get("a1998x")
    assert "the references of theirs 1.5 cannot be read" in raised.value.cure


@pytest.mark.parametrize(
    ("doi", "sound"),
    [
        ("10.1037/a0014420", True),
        ("10.1016/0010-0285(74)90021-8", True),
        ("10.12/x", False),
        ("doi:10.1037/x", False),
        ("10.1037/a b", False),
        ("10.1037/", False),
    ],
)
def test_doi_syntax(doi: str, sound: bool) -> None:
    assert bool(DOI.match(doi)) is sound


NEEDED = [
    "petrov2006computationally", "anderson1991reflections", "anderson1998atomic",
    "pavlik2005practice", "howard2002distributed",
    "howard2006aging", "polyn2009context", "kahana1996associative", "howard2008persistence",
    "healey2019contiguity", "collins1975spreading",
    "anderson1974retrieval", "anderson1983spreading", "frey1997synaptic", "clopath2008tag",
    "luboeinski2021memory", "graupner2012calcium",
    "li2016induction", "cormack2009reciprocal", "bruch2023analysis", "robertson2009probabilistic",
    "porter1980algorithm", "cortex2026",
    "truememory2026", "maharana2024locomo", "tavakoli2026beam", "wu2025longmemeval",
    "krause2007near", "jimenez2024hipporag", "tse2007schemas", "wang2025mirix", "xu2025mem",
    "reimers2019sentence", "ebbinghaus1885gedachtnis",
    "murre2015replication", "wixted1991form",
]  # fmt: skip


def test_the_file_holds_what_is_cited() -> None:
    references = load()
    assert not [k for k in NEEDED if k not in references]


def test_every_entry_is_named_after_its_first_author_and_year() -> None:
    for each in load():
        assert each.fields["year"] in each.key
        # systems and software go by their own names
        if each.kind != "misc":
            surname = unicodedata.normalize(
                "NFKD", each.fields["author"].split(",")[0].split()[0].lower()
            )
            assert each.key.startswith(re.sub(r"[^a-z]", "", surname)), each.key


def test_no_doi_stands_twice_and_pages_run_forward() -> None:
    dois = [e.doi.lower() for e in load() if e.doi]
    assert len(dois) == len(set(dois))
    for each in load():
        if span := re.fullmatch(r"(\d+)--(\d+)", each.fields.get("pages", "")):
            assert int(span[1]) <= int(span[2]), each.key


def test_a_paper_in_proceedings_is_no_article() -> None:
    for each in load():
        assert each.kind != "article" or not re.search(
            "Conference|Advances in Neural", each.fields["journal"]
        ), each.key
        assert each.kind not in ("inproceedings", "incollection") or each.fields["booktitle"], (
            each.key
        )
        assert each.kind not in ("book", "incollection") or each.fields["publisher"], each.key


@pytest.mark.parametrize(
    ("key", "doi"),
    [
        ("han2007neuronal", "10.1126/science.1139438"),
        ("kastellakis2015synaptic", "10.1016/j.pneurobio.2014.12.002"),
        ("zenke2013synaptic", "10.1371/journal.pcbi.1003330"),
        ("kim1992modality", "10.1126/science.1585183"),
        ("tetzlaff2011synaptic", "10.3389/fncom.2011.00047"),
        ("vanrossum2000stable", "10.1523/JNEUROSCI.20-23-08812.2000"),
    ],
)
def test_these_have_their_doi(key: str, doi: str) -> None:
    assert load().get(key).doi == doi


def plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", unicodedata.normalize("NFKD", name.lower()))


def test_papers_that_the_sources_of_checks_name_are_there() -> None:
    """By first author and year, as in `Kim & Fanselow 1992`; the Titans paper is kept under the
    year of its preprint.
    """
    listed = {
        (plain(e.fields["author"].split(",")[0].split()[-1]), e.fields["year"]) for e in load()
    } | {("behrouz", "2025"), ("rfc", "1951")}
    named = set()
    for file in sorted(HERE.with_name("evidence").glob("[!_]*.py")):
        for check in evidence_of(import_module(f"hebbarium.audit.evidence.{file.stem}")).checks:
            found = re.findall(
                r"([A-Z][\w'-]+)(?:(?:, [A-Z][\w'-]+)*,? (?:&|and) [A-Z][\w'-]+| et al\.)?,? ((?:1[89]|20)\d\d)\b",
                check.source,
            )
            named |= {(plain(who), year, check.id) for who, year in found}
    assert len(named) > 300 and not [each for each in named if each[:2] not in listed]


def test_nothing_of_the_file_is_lost() -> None:
    text = HERE.read_text(encoding="utf-8")
    assert len(load()) == len(re.findall(r"^@\w+\{", text, re.MULTILINE))
    assert all(e.text in text and e.text.count("{") == e.text.count("}") for e in load())


def test_names_are_written_as_people_write_them() -> None:
    """In UTF-8, not in TeX: what stands here is shown on pages as it is."""
    for entry in load():
        assert not re.search(r"\\[^&]", entry.text), entry.key
        assert "\\" not in entry.fields["title"] and "\\" not in entry.fields["author"], entry.key
