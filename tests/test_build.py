"""Wheels: complete; refused in a checkout without symbolic links; metadata that hold on the page
of a package index.
"""

from __future__ import annotations

import email
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("audit", "benchmarks", "engine", "mechanisms", "src")
FILES = ("setup.py", "pyproject.toml", "registry.yaml", "README.md", "LICENSE")
WHEEL = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
LINKED = ("audit", "benchmarks", "engine", "mechanisms", "registry.yaml")


def checkout(folder: Path) -> Path:
    """A copy of what a wheel is built from, with its symbolic links."""
    for room in ROOMS:
        shutil.copytree(
            ROOT / room,
            folder / room,
            symlinks=True,
            ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.nb[ic]"),
        )
    for file in FILES:
        shutil.copy(ROOT / file, folder)
    return folder


def wheel(source: Path, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pip", *WHEEL, "--wheel-dir", str(out), str(source)],
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, zipfile.ZipFile]:
    """A checkout and the wheel that is built of it."""
    folder = tmp_path_factory.mktemp("build")
    source = checkout(folder / "source")
    done = wheel(source, folder / "dist")
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = (folder / "dist").glob("*.whl")
    return source, zipfile.ZipFile(file)


@pytest.mark.slow
def test_a_wheel_holds_every_file_of_the_package(built: tuple[Path, zipfile.ZipFile]) -> None:
    """All but the benchmarks of speed, which are run from a clone."""
    source, packed = built
    package = source / "src" / "hebbarium"
    files = {
        p
        for room in (package, *(package / name for name in LINKED if (package / name).is_dir()))
        for p in room.rglob("*")
        if p.is_file()
    }
    expected = {
        f"hebbarium/{p.relative_to(package).as_posix()}"
        for p in files
        if (package / "benchmarks" / "speed") not in p.parents
    }
    held = {name for name in packed.namelist() if name.startswith("hebbarium/")}
    assert held == expected
    assert packed.read("hebbarium/registry.yaml") == (ROOT / "registry.yaml").read_bytes()
    for name in (
        "testing/__init__.py",
        "author.py",
        "scaffold/templates/retrieval/mechanism.py.tmpl",
        "mechanisms/sets/minimal.yaml",
        "py.typed",
    ):
        assert f"hebbarium/{name}" in held


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text", "missing"])
def test_a_checkout_without_symbolic_links_is_refused_with_the_cure(
    kind: str, tmp_path: Path
) -> None:
    """As git with core.symlinks=false makes it: text files that hold the targets; or links that
    an archive lost.
    """
    source = checkout(tmp_path / "source")
    for name in LINKED:
        link = source / "src" / "hebbarium" / name
        target = link.readlink()
        link.unlink()
        if kind == "text":
            link.write_text(target.as_posix(), encoding="utf-8")
    done = wheel(source, tmp_path / "dist")
    assert done.returncode != 0 and not list(tmp_path.glob("dist/*"))
    told = done.stdout + done.stderr
    assert (
        "src/hebbarium/audit is not a symbolic link" in told
        and "git config core.symlinks true" in told
        and "git checkout" in told
    )


def test_any_one_lost_link_is_noticed(tmp_path: Path) -> None:
    for name in LINKED:
        package = tmp_path / name / "src" / "hebbarium"
        package.mkdir(parents=True)
        for each in LINKED:
            (package / each).symlink_to(ROOT / each)
        setup().require_links(package)
        (package / name).unlink()
        (package / name).write_text(f"../../{name}", encoding="utf-8")
        with pytest.raises(SystemExit, match=re.escape(f"hebbarium/{name} ")):
            setup().require_links(package)


@pytest.mark.slow
def test_a_source_distribution_has_files_instead_of_links(
    built: tuple[Path, zipfile.ZipFile],
) -> None:
    """Its wheel is the same: it needs no links."""
    source, packed = built
    code = "import setuptools.build_meta as b; b.build_sdist('sdist')"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (archive,) = (source / "sdist").glob("*.tar.gz")
    shutil.unpack_archive(archive, source / "unpacked", filter="data")
    (unpacked,) = (source / "unpacked").iterdir()
    assert not any(p.is_symlink() for p in unpacked.rglob("*"))
    done = wheel(unpacked, source / "again")
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = (source / "again").glob("*.whl")
    assert set(zipfile.ZipFile(file).namelist()) == set(packed.namelist())


@pytest.mark.slow
def test_the_page_of_a_package_index_has_no_dead_links(built: tuple[Path, zipfile.ZipFile]) -> None:
    _, packed = built
    (name,) = (n for n in packed.namelist() if n.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(packed.read(name))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = metadata.get_payload()
    assert (
        metadata["Author"] == project["authors"][0]["name"]
        and metadata["Description-Content-Type"] == "text/markdown"
    )
    assert isinstance(page, str) and page.startswith("# Hebbarium") and "make demo" in page
    assert all(target.startswith("https://") for target in re.findall(r"\]\(([^)\s]+)\)", page))


def test_links_become_absolute_once_the_repository_has_an_address() -> None:
    text = "![a](docs/a.svg) [b](docs/b.md#c) [d](https://example.org) [e](#f)"
    page = setup().index_page
    assert page(text, "https://example.org/x") == (
        "![a](https://example.org/x/raw/HEAD/docs/a.svg) [b](https://example.org/x/blob/HEAD/docs/b.md#c) "
        "[d](https://example.org) e"
    )
    assert page(text, None) == " b [d](https://example.org) e"


def setup() -> Any:
    """setup.py as a module; nothing is built."""
    spec = spec_from_file_location("hebbarium_setup", ROOT / "setup.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
