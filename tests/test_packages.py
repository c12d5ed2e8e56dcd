"""Packages of mechanisms: the example, installed and used; broken ones, refused; and what
`hebbarium new` makes.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hebbarium.engine.base.errors import InputError, RegistryError
from hebbarium.engine.catalogue.packages import GROUP
from hebbarium.engine.catalogue.registry import HOMES, Registry
from hebbarium.scaffold import new
from hebbarium.testing.conformance import CHECKS

ROOT = Path(__file__).parent.parent
EXAMPLE, ID, SET = (
    ROOT / "docs" / "examples" / "temporal_distinctiveness",
    "temporal_distinctiveness",
    "distinct",
)
OURS = Registry.read()


def install(source: Path, site: Path) -> None:
    """Build a package's wheel, offline and without touching its folder or this environment, and
    put what it holds into `site`.
    """
    copy = site.with_name(f"{site.name}_built")
    shutil.copytree(
        source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "dist")
    )
    build = [sys.executable, "-c", "import setuptools.build_meta as b; b.build_wheel('dist')"]
    done = subprocess.run(build, cwd=copy, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = (copy / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)


def call(
    site: Path, *words: str | Path, cwd: Path, module: str = "hebbarium", src: Path = ROOT / "src"
) -> subprocess.CompletedProcess[str]:
    """A command of a fresh Python that has what is in `site` installed."""
    env = {
        **os.environ,
        "PYTHONPATH": f"{site}{os.pathsep}{src}",
        "HEBBARIUM_CACHE": str(site.parent),
    }
    return subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example is installed."""
    folder = tmp_path_factory.mktemp("example") / "site"
    install(EXAMPLE, folder)
    return folder


# --- the example ----------------------------------------------------------------------------------
def told(site: Path, tmp_path: Path, *words: str) -> Any:
    done = call(site, *words, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_example_is_listed_behind_ours(site: Path, tmp_path: Path) -> None:
    found = told(site, tmp_path, "list")
    assert [m["id"] for m in found["mechanisms"]] == [*OURS.entries, ID]
    assert set(found["sets"]) == {*OURS.sets, SET} and ID in found["sets"][SET]["mechanisms"]


@pytest.mark.slow
def test_the_example_is_run(site: Path, tmp_path: Path) -> None:
    found = told(
        site,
        tmp_path,
        "run",
        "--set",
        SET,
        "--dataset",
        "demo",
        "--limit",
        "1",
        "--embedder",
        "hashing:64",
        "--out",
        "o",
    )
    assert (
        found["receipts"][ID]["calls"] > 0
        and found["receipts"][ID]["values_changed"] > 0
        and found["overall"]["n"] > 0
    )


@pytest.mark.slow
def test_the_example_is_ablated(site: Path, tmp_path: Path) -> None:
    found = told(
        site,
        tmp_path,
        "ablate",
        "--set",
        SET,
        "--dataset",
        "demo",
        "--limit",
        "1",
        "--embedder",
        "hashing:64",
        "--out",
        "o",
    )
    assert ID in {estimate["name"] for estimate in found["blocks"][0]["estimates"]}
    assert ID in (tmp_path / "o" / "design.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_is_audited(site: Path, tmp_path: Path) -> None:
    (found,) = told(site, tmp_path, "audit", ID, "--strict", "--out", "o")["mechanisms"]
    assert (found["id"], found["claimed"], found["derived"]) == (ID, "DOCUMENTED", "DOCUMENTED")
    assert len(found["mutants"]) > 3 and {m["fate"] for m in found["mutants"]} == {"rejected"}
    page = (tmp_path / "o" / "audit.html").read_text(encoding="utf-8")
    assert "Brown et al. (2007)" in page and f"{ID}-serial_position" in page


def test_the_example_is_cited(site: Path, tmp_path: Path) -> None:
    found = told(
        site, tmp_path, "cite", "--set", SET, "--dataset", "locomo", "--embedder", "hashing"
    )
    papers = {
        key
        for id in ("dense_similarity", "lexical_bm25", "convex_fusion")
        for key in OURS.entries[id].papers
    }
    assert set(found) == {*papers, "brown2007temporal", "maharana2024locomo"}
    assert "10.1037/0033-295X.114.3.539" in found["brown2007temporal"]


@pytest.mark.slow
def test_the_example_passes_its_own_tests(site: Path) -> None:
    tested = call(
        site,
        "-q",
        "-p",
        "no:cacheprovider",
        "tests",
        cwd=site.with_name("site_built"),
        module="pytest",
    )
    assert tested.returncode == 0 and f"{len(CHECKS) + 3} passed" in tested.stdout, tested.stdout


def test_what_is_installed_does_not_touch_what_is_ours(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(site)
    assert Registry.read().digest == OURS.digest and ID not in Registry.read().entries
    installed = Registry.installed()
    assert (
        ID in installed.entries
        and installed.digest != OURS.digest
        and "hebbarium_simple" not in sys.modules
    )


def test_the_example_is_what_its_readme_says() -> None:
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"^\| `([^`]+)`", text, re.M):
        assert (EXAMPLE / name).is_file(), name


def test_the_page_shows_what_a_project_needs(made: Path) -> None:
    """The toml on docs/guides/packages.md is what `hebbarium new` writes."""
    (shown,) = re.findall(
        r"^```toml\n(.*?)^```$",
        (ROOT / "docs" / "guides" / "packages.md").read_text(encoding="utf-8"),
        re.M | re.S,
    )
    project = (made / "pyproject.toml").read_text(encoding="utf-8")
    assert all(part in project for part in shown.split("\n\n"))


# --- broken packages ------------------------------------------------------------------------------
ENTRY = (EXAMPLE / "src" / "hebbarium_simple" / "registry.yaml").read_text(encoding="utf-8")
BROKEN: dict[str, tuple[dict[str, str], str]] = {
    "a name that is ours": ({"registry.yaml": ENTRY.replace(f"{ID}:", "recency:")},
                            "the mechanism name 'recency' is taken"),
    "a set that is ours": ({"registry.yaml": ENTRY, "sets/hybrid.yaml": f"mechanisms: [{ID}]"},
                           "the set name 'hybrid' is taken"),
    "a set of strangers": ({"registry.yaml": ENTRY, "sets/mine.yaml": "mechanisms: [nobody]"},
                           "no mechanism 'nobody'"),
    "no registry": ({"__init__.py": ""}, "no package that holds a registry.yaml"),
    "no package": ({}, "no package that holds a registry.yaml"),
    "broken YAML": ({"registry.yaml": "a:\n  - b: [\n"}, "is not valid YAML"),
    "an entry with a field that is none": ({"registry.yaml": ENTRY.replace("home:", "hom:")},
                                           "home"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_package_is_left_out_and_named(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, what = BROKEN[kind]
    put(tmp_path, "broken-thing", files)
    monkeypatch.syspath_prepend(tmp_path)
    found = Registry.installed()
    (missing,) = found.missing
    assert (
        missing.distribution == "broken-thing 1.5"
        and what in missing.error
        and "uninstall broken-thing" in missing.error
    )
    assert (
        list(found.entries) == list(OURS.entries)
        and found.digest == OURS.digest
        and found.build(found.set("hybrid"))
    )
    for ask in (lambda: found.entry(ID), lambda: found.set("mine")):
        with pytest.raises(RegistryError) as raised:
            ask()
        assert "broken-thing 1.5" in raised.value.cure, "perhaps what is asked for is in there"


def put(site: Path, distribution: str, files: dict[str, str], value: str = "") -> None:
    """Install a package of these files, as a wheel would."""
    name = distribution.replace("-", "_")
    info = {
        "METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.5\n",
        "entry_points.txt": f"[{GROUP}]\nx = {value or name}\n",
    }
    for file, text in (
        *((f"{name}/{n}", t) for n, t in files.items()),
        *((f"{name}-1.5.dist-info/{n}", t) for n, t in info.items()),
    ):
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).write_text(text, encoding="utf-8")


MODULE = (EXAMPLE / "src" / "hebbarium_simple" / "distinctiveness.py").read_text(encoding="utf-8")
FAILING = {
    "raises": "raise RuntimeError('no licence')\n",
    "exits": "import sys\nsys.exit(3)\n",
    "is-no-python": "x = 1\ndef broken(:\n",
    "needs-another": "import a_module_that_nobody_has\n",
    "skips": "import pytest\npytest.skip('a test', allow_module_level=True)\n",
    "unprintable": "class Odd(BaseException):\n    def __str__(self):\n        raise SystemExit(7)\nraise Odd\n",
}


def put_mechanism(site: Path, distribution: str, files: dict[str, str]) -> str:
    """Install a package of one mechanism, in `module.py` unless the files have another one; its
    id.
    """
    name = distribution.replace("-", "_")
    entry = re.sub(
        r"hebbarium_simple(\.\w+)?:",
        f"{name}.module:",
        ENTRY.replace(f"{ID}:", f"{name}_mechanism:"),
    )
    put(
        site,
        distribution,
        {"__init__.py": "", "registry.yaml": entry, "module.py": MODULE, **files},
    )
    return f"{name}_mechanism"


@pytest.mark.slow
def test_packages_that_fail_at_import_are_named_and_the_rest_works(tmp_path: Path) -> None:
    """`list` prints what is missing; runs of what is ours are as before."""
    site = tmp_path / "site"
    for distribution, code in FAILING.items():
        put_mechanism(site, distribution, {"module.py": code})
    put(
        site,
        "within",
        {"__init__.py": "import os\nos._exit\nraise SystemExit(4)\n", "part/__init__.py": ""},
        "within.part",
    )
    done = call(site, "list", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {each["distribution"]: each for each in json.loads(done.stdout)["missing"]}
    assert {f"{each} 1.5" for each in FAILING} | {"within 1.5"} == set(found)
    for distribution, words in (
        ("raises", "RuntimeError: no licence"),
        ("exits", "SystemExit: 3"),
        ("is-no-python", "line 2"),
        ("needs-another", "a_module_that_nobody_has"),
        ("within", "SystemExit: 4"),
        ("skips", "Skipped: a test"),
        ("unprintable", "Odd: (its words cannot be read: SystemExit)"),
    ):
        assert (
            words in found[f"{distribution} 1.5"]["error"]
            and f"uninstall {distribution}" in found[f"{distribution} 1.5"]["error"]
        )
    assert found["exits 1.5"]["what"] == "exits_mechanism"
    printed = call(site, "list", "--home", "retrieval", cwd=tmp_path)
    assert (
        printed.returncode == 0
        and "missing: raises_mechanism of raises 1.5" in printed.stdout
        and "recency" in printed.stdout
    )
    asked = call(site, "show", "exits_mechanism", "--schedule", "--set", "bm25", cwd=tmp_path)
    assert asked.returncode in (0, 2) and "Traceback" not in asked.stderr


def test_the_class_of_a_failing_module_is_refused_by_the_name_of_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = put_mechanism(tmp_path, "late-exit", {"module.py": "raise SystemExit('over')\n"})
    monkeypatch.syspath_prepend(tmp_path)
    found = Registry.installed()
    assert not found.missing
    with pytest.raises(RegistryError) as raised:
        found.instance(id)
    assert (
        raised.value.where.startswith("late-exit 1.5")
        and "SystemExit: over" in raised.value.what
        and "uninstall late-exit" in raised.value.cure
    )


@pytest.mark.slow
def test_an_interruption_while_a_package_is_imported_ends_the_command(tmp_path: Path) -> None:
    put_mechanism(tmp_path / "site", "is-slow", {"module.py": "raise KeyboardInterrupt\n"})
    for words in (("list",), ("audit", "is_slow_mechanism", "recency")):
        done = call(tmp_path / "site", *words, cwd=tmp_path)
        assert (
            done.returncode == 130
            and "interrupted" in done.stderr
            and "Traceback" not in done.stderr
        )


EXITS_IN_A_CHECK = """
from hebbarium.audit.checks import equation, mutant

@equation("X-1", source="ours")
def check(specimen):
    raise SystemExit(5)

@mutant("other", rejected_by="X-1")
def other(specimen):
    return specimen
"""


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_packages_that_fail_in_an_audit_are_named_and_the_others_are_audited(
    jobs: int, tmp_path: Path
) -> None:
    """At import of the module, of the evidence and of its folder, in a check, and by a reference
    to a form that nobody has.
    """
    site = tmp_path / "site"
    failing = {
        put_mechanism(site, each, {f"evidence/{each.replace('-', '_')}_mechanism.py": code}): each
        for each, code in FAILING.items()
    }
    for each, files in {
        "bad-module": {"module.py": "raise RuntimeError('no licence')\n"},
        "bad-folder": {
            "evidence/__init__.py": "raise RuntimeError('no room')\n",
            "evidence/bad_folder_mechanism.py": "",
        },
        "bad-check": {"evidence/bad_check_mechanism.py": EXITS_IN_A_CHECK},
        "no-check": {"evidence/no_check_mechanism.py": ""},
    }.items():
        failing[put_mechanism(site, each, files)] = each
    stranger = put_mechanism(site, "a-variety", {})
    (site / "a_variety" / "registry.yaml").write_text(
        (site / "a_variety" / "registry.yaml").read_text(encoding="utf-8")
        + "  variety_of: nobody\n",
        encoding="utf-8",
    )
    ours = ["heat", "lexical_bm25", "recency"]
    done = call(
        site,
        "audit",
        *ours,
        *failing,
        stranger,
        "--jobs",
        str(jobs),
        "--json",
        "--out",
        "o",
        cwd=tmp_path,
    )
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    found = {each["id"]: each for each in json.loads(done.stdout)["mechanisms"]}
    assert set(found) == {*ours, *failing, stranger} and all(found[id]["earned"] for id in ours)
    page, text = (
        (tmp_path / "o" / f"audit.{kind}").read_text(encoding="utf-8") for kind in ("html", "md")
    )
    for id, distribution in failing.items():
        (reason,) = found[id]["reasons"]
        assert (
            reason.startswith(f"cannot be audited: {distribution} 1.5: ")
            and not found[id]["earned"]
            and not found[id]["checks"]
        )
        assert f"uninstall {distribution}" in found[id]["raise_by"][0] and all(
            f"{distribution} 1.5" in form for form in (page, text)
        )
    for id, words in (
        ("raises", "raises_mechanism.py:1: RuntimeError: no licence"),
        ("exits", "SystemExit: 3"),
        ("is_no_python", "line 2"),
        ("needs_another", "a_module_that_nobody_has"),
        ("skips", "Skipped: a test"),
        ("unprintable", "Odd: (its words"),
        ("bad_module", "RuntimeError: no licence"),
        ("bad_folder", "RuntimeError: no room"),
        ("bad_check", "SystemExit: 5"),
        ("no_check", "holds no check"),
    ):
        assert words in found[f"{id}_mechanism"]["reasons"][0]


@pytest.mark.slow
def test_generated_mutants_go_on_without_a_package_that_fails(tmp_path: Path) -> None:
    site = tmp_path / "site"
    put_mechanism(site, "bad-module", {"module.py": "raise SystemExit(6)\n"})
    put(
        site,
        "within",
        {
            "__init__.py": "",
            "registry.yaml": re.sub(r"hebbarium_simple(\.\w+)?:", "within.part.module:", ENTRY),
            "part/__init__.py": "raise RuntimeError('no licence')\n",
        },
    )
    words = ("audit", "recency", "bad_module_mechanism", ID, "--mutants", "generated", "--sample",
             "1", "--json")  # fmt: skip
    done = call(site, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {each["id"]: each for each in json.loads(done.stdout)["mechanisms"]}
    assert len(found["recency"]["mutants"]) == 1
    for id, why in (("bad_module_mechanism", "SystemExit: 6"), (ID, "RuntimeError: no licence")):
        assert not found[id]["mutants"] and why in found[id]["unusable"][0]["why"]
    assert call(site, *words, "--strict", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize(
    "points",
    [f"[{GROUP}]\nx = caf\xe9\n".encode("latin-1"), f"[{GROUP}]\nx\n".encode()],
    ids=["not UTF-8", "no value"],
)
def test_a_distribution_whose_entry_points_cannot_be_read_is_named(
    points: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process: in a new one, pydantic stops at it before us."""
    put(tmp_path, "damaged-thing", {"registry.yaml": "{}"})
    (tmp_path / "damaged_thing-1.5.dist-info" / "entry_points.txt").write_bytes(points)
    sound = put_mechanism(tmp_path, "sound-thing", {})
    monkeypatch.syspath_prepend(tmp_path)
    found = Registry.installed()
    (missing,) = found.missing
    assert (
        missing.distribution == "damaged-thing 1.5"
        and "entry_points.txt cannot be read" in missing.error
    )
    assert "uninstall damaged-thing" in missing.error and list(found.entries) == [
        *OURS.entries,
        sound,
    ]


def test_a_package_whose_metadata_cannot_be_read_is_named_by_its_entry_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "damaged-thing", {"registry.yaml": "a: [\n"})
    (tmp_path / "damaged_thing-1.5.dist-info" / "METADATA").write_bytes(b"Name: caf\xe9\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = Registry.installed()
    assert [each.distribution for each in found.missing] == ["x"] and list(found.entries) == list(
        OURS.entries
    )


def test_a_link_to_nowhere_among_the_sources_breaks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the lock of an editor."""
    id = put_mechanism(tmp_path, "being-edited", {})
    (tmp_path / "being_edited" / ".#module.py").symlink_to("user@host.1")
    monkeypatch.syspath_prepend(tmp_path)
    assert id in Registry.installed().entries


@pytest.mark.slow
def test_damaged_references_of_a_package_are_named_and_the_others_are_cited(tmp_path: Path) -> None:
    site = tmp_path / "site"
    id = put_mechanism(site, "damaged-thing", {"references.bib": "@book{a1998x, author={A}"})
    lost = "brown2007temporal"
    done = call(site, "cite", cwd=tmp_path)
    assert (
        done.returncode == 0
        and "@article{anderson1991reflections" in done.stdout
        and lost not in done.stdout
    )
    for words in (
        "references of damaged-thing 1.5",
        "references.bib:1: a brace is not closed",
        "uninstall damaged-thing",
        f"{lost}, a paper of",
    ):
        assert words in done.stderr
    assert "missing: references of damaged-thing 1.5" in call(site, "list", cwd=tmp_path).stdout
    judged = call(site, "audit", "recency", id, "--json", cwd=tmp_path)
    found = {each["id"]: each for each in json.loads(judged.stdout)["mechanisms"]}
    assert (
        found["recency"]["earned"]
        and "damaged-thing 1.5" in found[id]["reasons"][0]
        and "a brace is not closed" in found[id]["reasons"][0]
    )


@pytest.mark.slow
def test_probes_are_listed_although_a_package_has_no_files(tmp_path: Path) -> None:
    put(tmp_path / "site", "empty-thing", {})
    assert call(tmp_path / "site", "list", "--probes", cwd=tmp_path).returncode == 0


# --- hebbarium new --------------------------------------------------------------------------------
def tree(folder: Path) -> dict[str, bytes | None]:
    """The files of a folder, without what Python has compiled."""
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
        for p in folder.rglob("*")
        if "__pycache__" not in p.parts
    }


@pytest.mark.slow
def test_a_new_package_with_a_mechanism_of_every_home_passes_its_own_tests(tmp_path: Path) -> None:
    lab, site = tmp_path / "my-lab", tmp_path / "site"
    done = call(site, "new", "fading", "--into", "my-lab", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first, room = tree(lab), lab / "src" / "my_lab"
    assert {Path(f) for f in json.loads(done.stdout)["files"]} == {
        lab / f for f in first if first[f] is not None
    } - {room / "registry.yaml"}
    for home in set(HOMES) - {"maintenance"}:
        before = tree(lab)
        written = new(f"my_{home}", lab, home)
        after = tree(lab)
        assert set(written.files) == {room / f"my_{home}.py", room / "evidence" / f"my_{home}.py"}
        assert {lab / f for f in after if after[f] != before.get(f)} == {
            *written.files,
            room / "registry.yaml",
        }
    assert ruff(lab, "--isolated", "--line-length", "150", "--select", "E,F,I", lab) == ""
    install(lab, site)
    tested = call(
        site, "-q", "-p", "no:cacheprovider", lab / "tests", cwd=tmp_path, module="pytest"
    )
    assert tested.returncode == 0, tested.stdout
    assert f"{len(HOMES) * (len(CHECKS) + 1) + 1} passed" in tested.stdout
    entries = told(site, tmp_path, "list")["mechanisms"][-4:]
    assert {(e["id"], e["home"]) for e in entries} == {
        ("fading", "maintenance"),
        *((f"my_{home}", home) for home in set(HOMES) - {"maintenance"}),
    }


def ruff(cwd: Path, *words: str | Path) -> str:
    """What `ruff check` finds; empty if nothing."""
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--quiet", *map(str, words)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_new_mechanism_of_every_home_in_this_repository_has_three_places_and_conforms(
    tmp_path: Path,
) -> None:
    """In a copy of the rooms: three files each, relative imports, every rating earned, the
    contract kept.
    """
    for room in ("engine", "mechanisms", "audit", "benchmarks", "src"):
        # with what is compiled, but for files that another process is writing
        shutil.copytree(
            ROOT / room,
            tmp_path / room,
            symlinks=True,
            ignore=shutil.ignore_patterns("*.tmp.*", "*.pyc.*", "*.egg-info"),
        )
    for file in ("registry.yaml", "pyproject.toml"):
        shutil.copy(ROOT / file, tmp_path)
    names = []
    for home in HOMES:
        before = tree(tmp_path)
        written = new(f"my_{home}", tmp_path, home)
        after, (plug_in, evidence) = tree(tmp_path), written.files
        changed = {f for f in after if after[f] != before.get(f) and not f.startswith("src/")}
        assert changed == {
            f"mechanisms/{home}/my_{home}.py",
            f"audit/evidence/my_{home}.py",
            "registry.yaml",
        }
        assert written.registry == tmp_path / "registry.yaml" and not any(
            "hebbarium.author" in f.read_text("utf-8") for f in (plug_in, evidence)
        )
        assert ruff(tmp_path, plug_in, evidence) == ""
        names.append(f"my_{home}")
    assert (
        (tmp_path / "registry.yaml")
        .read_text(encoding="utf-8")
        .startswith((ROOT / "registry.yaml").read_text(encoding="utf-8").rstrip())
    )
    done = call(
        tmp_path / "none", "audit", *names, "--strict", "--json", cwd=tmp_path, src=tmp_path / "src"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    judged = json.loads(done.stdout)["mechanisms"]
    assert {m["id"]: m["derived"] for m in judged} == dict.fromkeys(names, "HONEST")
    assert all(m["mutants"] and {x["fate"] for x in m["mutants"]} == {"rejected"} for m in judged)
    shutil.copy(ROOT / "tests" / "test_conformance.py", tmp_path)
    tested = call(
        tmp_path / "none",
        "-p",
        "no:cacheprovider",
        "-k",
        " or ".join(names),
        "test_conformance.py",
        cwd=tmp_path,
        src=tmp_path / "src",
        module="pytest",
    )
    assert f"{len(names) * len(CHECKS)} passed" in tested.stdout, tested.stdout


@pytest.mark.parametrize("name", [
    "", "Fading", "2fast", "a-b", "a b", "../a", "class", "on", "null", "recency", "mechanism",
    "params", "evidence", "sets", "created", "graph",
])  # fmt: skip
def test_a_name_that_will_not_do_leaves_nothing(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        new(name, tmp_path / "lab")
    assert raised.value.cure and not list(tmp_path.iterdir())


@pytest.mark.parametrize("folder", ["full", "full/file", "numpy", "os", "hebbarium", "1st", "ü"])
def test_a_folder_that_will_not_do_is_left_as_it_is(folder: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("kept", encoding="utf-8")
    before = tree(tmp_path)
    with pytest.raises(InputError) as raised:
        new("fading", tmp_path / folder)
    assert raised.value.cure and tree(tmp_path) == before


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package that `new` made."""
    folder = tmp_path_factory.mktemp("made") / "lab"
    new("fading", folder)
    return folder


def package(made: Path, folder: Path, **changes: str | None) -> Path:
    """A copy of a package, with some of its files changed, or gone."""
    shutil.copytree(made, folder)
    for name, text in changes.items():
        file = folder / {"pyproject": "pyproject.toml", "registry": "src/lab/registry.yaml"}[name]
        file.unlink() if text is None else file.write_text(text, encoding="utf-8")
    return folder


POINT = '[project.entry-points."hebbarium.mechanisms"]\n'


@pytest.mark.parametrize("changes", [
    {"pyproject": "[project]\nname = 'lab'\n"}, {"pyproject": "project = 1"}, {"pyproject": "[["},
    {"pyproject": f'{POINT}a = "lab"\nb = "other"\n'},
    {"pyproject": f'{POINT}a = "other"\n'}, {"registry": None}, {"registry": "{}"},
    {"registry": "{fading: {}}"}, {"registry": "- a"},
    {"registry": ""},
], ids=str)  # fmt: skip
def test_a_package_that_cannot_be_added_to_is_left_as_it_is(
    made: Path, changes: dict[str, str | None], tmp_path: Path
) -> None:
    lab = package(made, tmp_path / "lab", **changes)
    before = tree(lab)
    with pytest.raises((InputError, RegistryError)) as raised:
        new("other", lab)
    assert raised.value.cure and tree(lab) == before


def test_nothing_half_written_stays(made: Path, tmp_path: Path) -> None:
    """The module can be written, the evidence cannot."""
    lab = package(made, tmp_path / "lab")
    shutil.rmtree(lab / "src" / "lab" / "evidence")
    (lab / "src" / "lab" / "evidence").write_text("a file", encoding="utf-8")
    before = tree(lab)
    with pytest.raises(InputError, match="cannot be written"):
        new("other", lab)
    assert tree(lab) == before
    (lab / "src" / "lab" / "other.py").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is there already"):
        new("other", lab)
    assert (lab / "src" / "lab" / "other.py").read_text(encoding="utf-8") == "mine"


def test_templates_are_shipped() -> None:
    """Every file beside the code of the package is package data."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "setuptools"
    ]["package-data"]["hebbarium"]
    package = ROOT / "src" / "hebbarium"
    shipped = {f for pattern in data for f in package.glob(pattern)}
    assert {f for f in (package / "scaffold" / "templates").rglob("*") if f.is_file()} <= shipped
