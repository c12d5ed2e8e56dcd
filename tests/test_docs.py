"""The documentation is executed: every Python block, every command and every link; lists are
compared with the code.

In README, CONTRIBUTING and docs/*.md
  ```python            runs, in order, in one namespace per page; a ```text block right after it is
                       the expected output
  ```python <path>     is a file of the package: it is written there, in a temporary copy of the
                       folders
  ```yaml <path>       a file in the working folder: a set or rules; the text of registry.yaml is
                       appended to the registry
  ```text <path>       is a file in the working folder, and so is ```json <path>
  ```console           `$ hebbarium ...` runs, and prints the text after it (`...` stands for any
                       text)
  ```sh                is parsed: commands, options and values must exist

docs/guides/first-hour.md is one session in one folder, which tests/test_first_hour.py runs.
"""

from __future__ import annotations

import doctest
import io
import json
import re
import shlex
import sys
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from scripts import script

ROOT = Path(__file__).parent.parent
PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
NAMES = [str(p.relative_to(ROOT)) for p in PAGES]
FENCE = re.compile(r"^```(\w+)[ ]*([^\n]*)\n(.*?)^```$", re.M | re.S)
LOOSE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
MADE = ("ebbinghaus_savings", "fading")  # mechanisms that a page makes itself
ROOMS = ("hebbarium", "hebbarium.mechanisms.retrieval", "hebbarium.audit.evidence")
each_page = pytest.mark.parametrize("page", PAGES, ids=NAMES)
# pages whose blocks run here
alone = [name for name in NAMES if name != "docs/guides/first-hour.md"]
each_page_alone = pytest.mark.parametrize("page", [ROOT / name for name in alone], ids=alone)


def first_page_every_day(names: list[str]) -> pytest.MarkDecorator:
    """Cases of these pages; `make test` runs what the README says, and leaves the others."""
    return pytest.mark.parametrize(
        "page",
        [
            pytest.param(
                ROOT / name, id=name, marks=[] if name == "README.md" else pytest.mark.slow
            )
            for name in names
        ],
    )


@dataclass(frozen=True)
class Block:
    """A fenced block: language, path after the language, text, first line, and expected output
    (a ```text block right after).
    """

    kind: str
    path: str
    text: str
    line: int
    printed: str | None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    result = []
    for i, match in enumerate(found):
        after = found[i + 1] if i + 1 < len(found) else None
        follows = (
            after is not None
            and after[1] == "text"
            and not text[match.end() : after.start()].strip()
        )
        result.append(
            Block(
                match[1],
                match[2].strip(),
                match[3],
                text[: match.start()].count("\n") + 1,
                after[3] if after and follows else None,
            )
        )
    return result


def of_user(block: Block) -> bool:
    """Whether the block is a YAML file in the user's working folder."""
    return block.kind == "yaml" and block.path not in ("", "registry.yaml")


def same(printed: str, expected: str) -> bool:
    return doctest.OutputChecker().check_output(expected, printed, LOOSE)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder with its own cache of embeddings."""
    monkeypatch.setenv("HEBBARIUM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def rooms(desk: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path of the package, with a copy of the registry."""
    from hebbarium.engine.catalogue import registry as module

    room = desk / "rooms"
    room.mkdir()
    (room / "registry.yaml").write_text(
        (ROOT / "registry.yaml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    for name in ROOMS:
        package = import_module(name)
        monkeypatch.setattr(
            package, "__path__", [*package.__path__, str(room.joinpath(*name.split(".")[1:]))]
        )
    monkeypatch.setattr(
        module.Registry.read.__func__,
        "__defaults__",
        (room / "registry.yaml", ROOT / "mechanisms" / "sets"),
    )
    before = set(sys.modules)
    yield room
    for name in set(sys.modules) - before:
        if name.startswith("hebbarium.") and str(
            getattr(sys.modules[name], "__file__", "")
        ).startswith(str(room)):
            parent, _, short = name.rpartition(".")
            del sys.modules[name]
            vars(sys.modules[parent]).pop(short, None)


def executed(page: Path, rooms: Path) -> dict[str, Any]:
    """Run a page's Python blocks, and write its file blocks; returns the namespace of the page."""
    namespace: dict[str, Any] = {"__name__": "page"}
    for block in blocks(page):
        if block.path:
            target = Path(block.path) if of_user(block) else rooms / block.path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a", encoding="utf-8") as file:
                file.write(("\n" if target.exists() else "") + block.text)
        elif block.kind == "python":
            code = compile("\n" * block.line + block.text, page.name, "exec", dont_inherit=True)
            with redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)
                exec(code, namespace)
            if block.printed is not None or out.getvalue():
                assert same(out.getvalue(), block.printed or ""), (
                    f"{page.name}:{block.line} prints\n{out.getvalue()}"
                )
    return namespace


@first_page_every_day([name for name in NAMES if name != "CONTRIBUTING.md"])
def test_every_python_block_runs(page: Path, rooms: Path) -> None:
    executed(page, rooms)


@each_page_alone
def test_every_yaml_file_of_a_page_can_be_read(page: Path, desk: Path) -> None:
    """Rules, designs, and sets that can be built."""
    from hebbarium.benchmarks.datasets import LOADERS
    from hebbarium.benchmarks.designs.file import read
    from hebbarium.benchmarks.experiments.probed import measures
    from hebbarium.engine.catalogue.registry import Registry
    from hebbarium.engine.memory.assembly import schedule_of
    from hebbarium.mechanisms.retrieval.rule_filter import read_rules

    for block in filter(of_user, blocks(page)):
        Path(block.path).write_text(block.text, encoding="utf-8")
        if "rules" in yaml.safe_load(block.text):
            assert read_rules(Path(block.path))
        elif "design" in yaml.safe_load(block.text):
            assert read(Path(block.path), Registry.read(), LOADERS, probes=measures).design
        else:
            registry = Registry.read()
            chosen = registry.set(block.path)
            assert (
                schedule_of(registry.build(chosen))
                and chosen.mechanisms
                and set(chosen.alternates) <= set(chosen.mechanisms)
            )


@pytest.mark.slow
def test_the_worked_example_is_a_full_mechanism(rooms: Path) -> None:
    """It passes the audit, its doctests and the conformance suite."""
    from hebbarium.testing.conformance import CHECKS, Bench

    namespace = executed(ROOT / "CONTRIBUTING.md", rooms)
    registry, (id,) = (
        namespace["registry"],
        [b.text.partition(":")[0] for b in blocks(ROOT / "CONTRIBUTING.md") if b.kind == "yaml"],
    )
    assert namespace["judged"].checks and not namespace["judged"].faults
    module = import_module(registry.entry(id).module)
    tests = doctest.DocTestFinder().find(module.savings.py_func, "savings", globs=vars(module))
    assert tests[0].examples and doctest.DocTestRunner().run(tests[0]).failed == 0

    for check in CHECKS:
        check(Bench(registry, id, rooms))


# --- commands -------------------------------------------------------------------------------------
def commands(text: str) -> Iterator[list[str]]:
    """The words of each command line, without comments and leading assignments, continued lines
    joined.
    """
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
            words = words[1:]
        if words:
            yield words


def parsed(words: list[str]) -> None:
    """Raises click's UsageError for a command, option or value that does not exist; runs
    nothing.
    """
    from hebbarium.cli.app import command_line

    command = group = command_line()
    while hasattr(command, "commands"):
        words = words[sum(p.param_type_name == "argument" for p in command.params) :]
        assert words and words[0] in command.commands, f"no command {words[:1]}"
        command, words = command.commands[words[0]], words[1:]
    # a command keeps the options for help that its first context has
    context = command.make_context("hebbarium", words, **group.context_settings)
    for name in ("set_name", "set", "mechanism", "only"):
        _known(name, context.params.get(name))


@cache
def _registry() -> Any:
    """Our registry joined with the example package."""
    from hebbarium.engine.catalogue.packages import Package
    from hebbarium.engine.catalogue.registry import Registry

    folder = ROOT / "docs" / "examples" / "temporal_distinctiveness" / "src" / "hebbarium_simple"
    return Registry.read().joined(Package(folder.name, "hebbarium-simple", folder))


def _known(name: str, value: Any) -> None:
    registry = _registry()
    for one in [value] if isinstance(value, str) else value or ():
        if not one.endswith(".yaml"):
            assert one in registry.entries or one in registry.sets or one in MADE, f"{name} {one}"


@each_page
def test_every_command_is_there(page: Path) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    for block in blocks(page):
        for words in commands(block.text) if block.kind == "sh" else ():
            where = f"{page.name}:{block.line}: {' '.join(words)}"
            program, arguments = Path(words[0]).name, words[1:]
            if program == "hebbarium":
                parsed(arguments)
            elif program == "make":
                assert arguments[0] in targets, where
            elif program in ("python", "python3") and arguments[0].endswith(".py"):
                assert (ROOT / arguments[0]).is_file(), where
            else:
                assert program in ("git", "cd", "pip", "pytest", "python", "python3"), where


def test_the_help_of_every_command_ends_with_examples_that_exist(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from hebbarium.cli.app import command_line
    from hebbarium.cli.examples import EXAMPLES

    monkeypatch.chdir(ROOT)
    group = command_line()
    commands_there: dict[str, Any] = {}
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        inside = getattr(command, "commands", None)
        commands_there |= (
            {f"{name} {part}": c for part, c in inside.items()} if inside else {name: command}
        )
    assert set(EXAMPLES) == set(commands_there)
    for name, lines in EXAMPLES.items():
        help_text = commands_there[name].get_help(commands_there[name].make_context(
            name, [], resilient_parsing=True, **group.context_settings))  # fmt: skip
        for line in lines:
            assert f"  hebbarium {line}\n" in f"{help_text}\n", f"{name}: {line}"
            words = shlex.split(line.partition(" < ")[0])
            assert " ".join(w for i, w in enumerate(words) if words[0] != "memory" or i != 1).startswith(
                name), line  # fmt: skip
            parsed(words)


def test_ratings_that_changed_are_those_of_the_registry() -> None:
    text = (ROOT / "docs" / "results" / "ratings.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(\w+)` \| \w", text, re.M)
    assert len(rows) == text.count("\n| `") and {id: now for id, _, now in rows} == {
        id: _registry().entry(id).claims for id, _, _ in rows
    }
    assert all(before != now for _, before, now in rows)


def test_the_nightly_mutants_are_those_of_the_audit_page() -> None:
    flow = yaml.safe_load(
        (ROOT / ".github" / "workflows" / "mutants.yml").read_text(encoding="utf-8")
    )
    assert flow[True]["schedule"], "YAML 1.1 reads the key `on` as true"
    (line,) = (
        step["run"]
        for step in flow["jobs"]["mutants"]["steps"]
        if step.get("run", "").startswith("hebbarium ")
    )
    (words,) = commands(line)
    parsed(words[1:])
    assert " ".join(words[1:7]) == "audit --mutants generated --jobs 2 --strict"
    text = (ROOT / "docs" / "guides" / "audit.md").read_text(encoding="utf-8")
    assert "`.github/workflows/mutants.yml`" in text and "`--jobs 2 --strict`" in text


@first_page_every_day(alone)
def test_what_commands_print_is_what_the_page_says(page: Path, desk: Path) -> None:
    from typer.testing import CliRunner

    from hebbarium.cli import app

    for block in blocks(page):
        if of_user(block) or (block.kind in ("text", "json") and block.path):
            Path(block.path).write_text(block.text, encoding="utf-8")
        if block.kind != "console":
            continue
        for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
            line, _, expected = part.partition("\n")
            program, *words = shlex.split(line)
            assert program == "hebbarium", line
            result = CliRunner().invoke(app, words)
            assert same(result.stdout, expected), (
                f"{page.name}: {line} prints\n{result.stdout}\n{result.exception!r}"
            )


# --- lists and links ------------------------------------------------------------------------------
def anchors(text: str) -> set[str]:
    plain = (
        re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
        for h in re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.M)
    )
    return set(plain)


def _require_links(page: Path, whole: str, made: frozenset[Path] = frozenset()) -> None:
    """Every relative link of a page leads to a file, to an anchor that is there, or to a page
    that `make docs` makes.
    """
    text = FENCE.sub("", whole)
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'src(?:set)?="([^"]+)"', text):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        found = (page.parent / file).resolve() if file else page
        assert found.exists() or found in made, f"{page.name}: {target}"
        assert not anchor or anchor in anchors(found.read_text(encoding="utf-8")), (
            f"{page.name}: {target}"
        )


@each_page
def test_every_link_leads_somewhere(page: Path) -> None:
    made = frozenset(
        ROOT / "docs" / "reference" / "mechanisms" / f"{id}.md" for id in _registry().entries
    )
    _require_links(page, page.read_text(encoding="utf-8"), made)


@pytest.mark.parametrize(("folder", "index"), [
    ("docs", "docs"), ("docs/doors", "docs"), ("docs/guides", "docs"), ("docs/reference", "docs"), ("docs/results", "docs"),
    ("docs/decisions", "docs/decisions"),
    ("docs/reference/probes", "docs/reference/probes")])  # fmt: skip
def test_every_page_is_in_the_index(folder: str, index: str) -> None:
    home = ROOT / index
    links = re.findall(r"\]\(([^)#]+)", (home / "index.md").read_text(encoding="utf-8"))
    for page in set((ROOT / folder).glob("*.md")) - {home / "index.md"}:
        assert page.relative_to(home).as_posix() in links, page.name


def test_guides_are_few_and_short() -> None:
    """What was measured is in results, and what a script lists in reference."""
    guides = {
        page.name: page.read_text(encoding="utf-8").count("\n")
        for page in (ROOT / "docs" / "guides").glob("*.md")
    }
    assert (
        0 < len(guides) <= 18
        and {name: lines for name, lines in guides.items() if lines > 300} == {}
    )


def test_the_documentation_lies_in_rooms() -> None:
    """No script and no log stands among the pages."""
    docs = ROOT / "docs"
    assert {path.name for path in docs.iterdir() if path.is_file()} == {
        "index.md",
        "architecture.md",
    }
    scripts = {path.relative_to(docs).parts[0] for path in docs.rglob("*.py")}
    assert scripts <= {"tools", "examples"}


def test_every_decision_has_context_decision_and_consequences() -> None:
    for page in set((ROOT / "docs" / "decisions").glob("*.md")) - {
        ROOT / "docs" / "decisions" / "index.md"
    }:
        text = re.sub(r"(?m)^\|.*\n", "", page.read_text(encoding="utf-8"))  # without its tables
        assert (
            re.findall(r"^\*\*(\w+)\.\*\*", text, re.M) == ["Context", "Decision", "Consequences"]
            and 10 <= text.count("\n") <= 25
        ), page.name


def fields_named(section: str) -> list[str]:
    """Names in the first column of a table."""
    return [
        name
        for row in re.findall(r"^\| (`.+?`) \|", section, re.M)
        for name in re.findall(r"`(\w+)`", row)
    ]


def test_the_form_of_an_entry_is_the_form_in_the_code() -> None:
    from hebbarium.engine.catalogue.registry import (
        Departure,
        Entry,
        Equation,
        Parameter,
        Proxy,
        SubstituteForm,
    )

    text = (
        (ROOT / "CONTRIBUTING.md")
        .read_text(encoding="utf-8")
        .split("## The registry entry, field by field")[1]
        .split("## The rules")[0]
    )
    parts = re.split(r"^An? \w+:$", text, flags=re.M)
    for part, model in zip(
        parts, (Entry, Equation, Parameter, Departure, Proxy, SubstituteForm), strict=True
    ):
        names = [
            f.alias or n for n, f in model.model_fields.items() if n != "id" or model is Equation
        ]
        assert fields_named(part) == names, model.__name__
    for kind in get_args(Parameter.model_fields["kind"].annotation):
        assert f"`{kind}`" in parts[2], kind


def test_the_tables_of_the_pages_are_the_enumerations_of_the_code() -> None:
    from hebbarium.audit.checks import CheckKind, Score
    from hebbarium.audit.rating import Rating
    from hebbarium.benchmarks.datasets.fetch import SOURCES
    from hebbarium.benchmarks.scores.metrics import METRICS
    from hebbarium.engine.contract.columns import Phase, Scope

    def page(name: str) -> str:
        return (ROOT / "docs" / "guides" / name).read_text(encoding="utf-8")

    for name, words in (
        (
            "audit.md",
            [*(k.value for k in CheckKind), *(s.value for s in Score), *(r.value for r in Rating)],
        ),
        ("contract.md", [s.value for s in Scope]),
        ("time.md", [p.value for p in Phase]),
        ("data.md", [s.name for s in SOURCES]),
        ("runs.md", METRICS),
    ):
        for word in words:
            assert f"`{word}`" in page(name), f"{name}: {word}"
    for source in SOURCES:
        assert re.search(
            rf"^\| `{source.name}` .*{re.escape(source.licence)}", page("data.md"), re.M
        ), source.name


def test_the_readme_has_the_order_that_a_reader_needs() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    heads = [
        "Who it is for",
        "Results on real data",
        "The audit in numbers",
        "Two commands",
        "In Python",
        "Limits",
    ]
    assert re.findall(r"^## (.+)$", text, re.M)[: len(heads)] == heads
    who, rest = text.split("## Who it is for")[1].split("## Results on real data")
    assert len(re.findall(r"^\| (?!you|-)", who, re.M)) == 3 and "docs/pictures/ablation.svg" in who
    python = next(block for block in blocks(ROOT / "README.md") if block.kind == "python")
    assert (
        len([line for line in python.text.splitlines() if line.strip()]) <= 10
        and "hb.memory()" in rest
    )


def test_the_audit_in_numbers_is_that_of_the_evidence_and_the_ratings() -> None:
    """If not, run `make ratings`."""
    from hebbarium.engine.catalogue.registry import Registry

    module = script("readme_numbers")
    assert module.PLACE.findall((ROOT / "README.md").read_text(encoding="utf-8")) == [
        module.table(Registry.read())
    ]


def test_the_development_numbers_of_the_readme_are_those_of_the_measured_page() -> None:
    """docs/results/default-against-parts.md names of each score that of `default` and that of
    the best part.
    """
    text = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .split("**Development data**")[1]
        .split("**Held-out data**")[0]
    )
    rows = {
        name: [cell.strip(" *") for cell in row.split("|")]
        for name, row in re.findall(r"^\| `(\w+)` \| (.+) \|$", text, re.M)
    }
    assert set(rows) == {"default", "bm25", "naive_rag"}
    columns = [
        ("locomo, turns", "recall@10"),
        ("locomo, turns", "mrr@10"),
        ("locomo, sessions", "hit@10"),
        ("locomo, sessions", "mrr@10"),
        ("beam 100K, turns", "recall@10"),
        ("beam 100K, turns", "mrr@10"),
    ]
    measured = default_and_best_part()
    for i, column in enumerate(columns):
        mine, best, part = measured[column]
        assert (f"0{rows['default'][i]}", f"0{rows[part][i]}") == (mine, best), column


def test_the_page_of_all_sets_agrees_with_that_of_default_and_its_parts() -> None:
    """Both were measured by scripts of their own on the same data."""
    page, measured = (
        (ROOT / "docs" / "results" / "sets-on-data.md").read_text(encoding="utf-8"),
        default_and_best_part(),
    )
    for data, title in (
        ("locomo, turns", "LoCoMo, turns"),
        ("beam 100K, turns", "BEAM 100K, turns"),
    ):
        text = page.split(f"## {title}\n")[1].split("\n## ")[0]
        rows = {
            name: (recall, mrr)
            for name, recall, mrr in re.findall(
                r"^\| `(\w+)` \| ([\d.]+) \[[^]]+\] \| ([\d.]+) \|", text, re.M
            )
        }
        for i, score in enumerate(("recall@10", "mrr@10")):
            mine, best, part = measured[data, score]
            assert (rows["default"][i], rows[part][i]) == (mine, best), (data, score)


def default_and_best_part() -> dict[tuple[str, str], tuple[str, str, str]]:
    """(data, score) -> score of `default`, score of the best part, and its name:
    docs/results/default-against-parts.md.
    """
    page = (ROOT / "docs" / "results" / "default-against-parts.md").read_text(encoding="utf-8")
    return {
        (data, score): (mine, best, part)
        for data, score, mine, best, part in re.findall(
            r"^\| ([^|]+) \| \d+ \| ([^|]+) \| ([\d.]+) \| ([\d.]+) `(\w+)` \|", page, re.M
        )
    }


def test_the_folders_of_the_readme_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8").split("## Folders")[1].split("\n## ")[0]
    for name in re.findall(r"^\| `([^`]+)`", text, re.M):
        assert (ROOT / name).exists(), name


def test_the_citation_file_agrees_with_the_package() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["license"]) == (project["version"], project["license"])
    assert {"cff-version", "message", "title"} <= set(citation) and citation["authors"] == project[
        "authors"
    ]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


# --- the picture ----------------------------------------------------------------------------------
REDRAW = "draw it again: hebbarium ablate --dataset locomo --data FILE --out OUT && python docs/tools/draw_ablation.py OUT/design.json"


def labels(svg: str) -> list[str]:
    return [
        "".join(t.itertext())
        for t in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
        if t.get("class") == "label"
    ]


def test_the_picture_shows_the_set_as_it_is_and_the_numbers_of_the_readme() -> None:
    from hebbarium.benchmarks.designs.leave_one_out import leave_one_out
    from hebbarium.engine.catalogue.registry import Registry

    svg = (ROOT / "docs" / "pictures" / "ablation.svg").read_text(encoding="utf-8")
    expected = sorted(arm.name for arm in leave_one_out(Registry.read().set("default"))[1:])
    assert sorted(label.removesuffix(" †") for label in labels(svg)) == expected, REDRAW
    drawn = " ".join(" ".join(ET.fromstring(svg).itertext()).split())
    said = (
        (ROOT / "README.md")
        .read_text(encoding="utf-8")
        .split("docs/pictures/ablation.svg")[1]
        .split("##")[0]
    )
    said = " ".join(said.split())
    assert (
        "recall@10 on locomo" in drawn
        and "997 questions of 5 conversations; recall@10 of the full set 0.842" in drawn
    ), REDRAW
    assert (
        "2 help (lexical_bm25 and adjacency_pairs)" in drawn
        and "two are decided, `lexical_bm25` and `adjacency_pairs`" in said
    )
    assert (
        "For these conversations alone: 7 help, 6 are equivalent, 1 is undecided" in drawn
        and "seven arms help" in said
        and "Six make no difference" in said
        and "one is undecided" in said
    )
    assert (
        "2 changed nothing" in drawn
        and "3 changed state but no rank" in drawn
        and "five changed no rank" in said
    )
    assert "7 are undecided" in drawn and "±0.0316" in drawn and "from 0.032 on" in said


@pytest.mark.slow
def test_the_picture_is_the_figure_of_the_report(tmp_path: Path) -> None:
    """Drawn by the same code, in the same colours; the figures for designs are those of the same
    result.
    """
    from hebbarium.benchmarks.datasets import load
    from hebbarium.benchmarks.experiments.design import ablate
    from hebbarium.benchmarks.reports.page import to_svg
    from hebbarium.benchmarks.reports.result import from_json
    from hebbarium.engine.catalogue.registry import Registry
    from hebbarium.engine.ports.by_name import embedder

    registry = Registry.read()
    (result,) = ablate(
        registry.set("hybrid"),
        registry,
        load("demo", limit=2),
        embedder("hashing:64", None),
        tmp_path,
    ).blocks
    (read,) = from_json(json.loads((tmp_path / "design.json").read_text(encoding="utf-8"))).blocks
    assert to_svg(read) == (tmp_path / "design.svg").read_text(encoding="utf-8")
    told = script("draw_ablation").figures(read)
    assert (
        set(told["arms"]) == {arm.name for arm in result.estimates if not arm.no_op}
        and told["sha256"] == load("demo").sha256
    )
    picture = (ROOT / "docs" / "pictures" / "ablation.svg").read_text(encoding="utf-8")
    for verdict, colour in (("helps", "good"), ("hurts", "warn"), ("equivalent", "same")):
        rule = f".plot .{verdict} .dot {{ fill: var(--{colour}); }}"
        assert rule in picture and rule in (tmp_path / "design.html").read_text(encoding="utf-8"), (
            REDRAW
        )


@pytest.mark.slow
def test_the_picture_of_the_nights_has_every_persistent_column() -> None:
    """If not, run `python docs/tools/draw_night.py`."""
    import hebbarium as hb

    module = script("draw_night")
    days = module.simulated(hb.memory("night", embedding="hashing"))
    picture = (ROOT / "docs" / "pictures" / "night.svg").read_text(encoding="utf-8")
    assert f"{len(days.traces)} columns" in picture and len(days.sleeps) == 3
    assert all(
        f">{column.name}" in picture and f">{owner}<" in picture for owner, column in days.traces
    )
    assert f"{len(days.traces)} columns" in module.drawn(days)


# --- the built pages ------------------------------------------------------------------------------
def test_the_pages_of_all_mechanisms_are_built(tmp_path: Path) -> None:
    """Each has every equation, parameter, departure and paper of its entry and every check and
    figure of its evidence; all links lead somewhere.
    """
    from hebbarium.audit.checks import evidence_of
    from hebbarium.audit.collect import evidence_module
    from hebbarium.audit.references import load
    from hebbarium.engine.catalogue.registry import Registry

    registry, references = Registry.read(), load()
    pages = {p.stem: p.read_text(encoding="utf-8") for p in script("build").build(tmp_path)}
    index = (tmp_path / "reference" / "mechanisms" / "index.md").read_text(encoding="utf-8")
    assert set(pages) == set(registry.entries)
    for id, entry in registry.entries.items():
        text, name = pages[id], evidence_module(entry, registry)
        assert name is not None
        evidence, dois = (
            evidence_of(import_module(name)),
            [references.get(key).doi for key in entry.papers],
        )
        assert all(f"\n| {parameter} | " in text for parameter in ("time_scale", *entry.params)), id
        for part in (
            entry.acts_on,
            *(f"`{e.id}`" for e in entry.equations),
            *(d.what for d in entry.departures),
            *filter(None, dois),
            *(f"\n| {c.id} | " for c in evidence.checks),
            *(m.name for m in evidence.mutants),
            *(f.name for f in evidence.figures),
        ):
            assert part.replace("|", "\\|") in text or part in text, f"{id}: {part}"
        assert index.count(f"[{id}]({id}.md)") == 1
    for page in tmp_path.rglob("*.md"):
        _require_links(page, page.read_text(encoding="utf-8"))


def test_a_page_without_an_essay_starts_with_the_docstring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hebbarium.audit.references import load
    from hebbarium.engine.catalogue.registry import Registry

    module, entry = script("build"), Registry.read().entry("recency")
    essay = module.page(entry, load(), None)
    monkeypatch.setattr(module, "ESSAYS", tmp_path)
    bare = module.page(entry, load(), None)
    first, _, _ = str(import_module(entry.module).__doc__).partition("\n")
    assert bare.startswith(f"# recency\n\n{first}\n") and first not in essay
    assert bare.partition("## In the registry")[2] == essay.partition("## In the registry")[2]


def test_essays_are_of_registered_mechanisms() -> None:
    """An essay is optional; without one the page shows the module's docstring."""
    from hebbarium.engine.catalogue.registry import Registry

    essays = list((ROOT / "docs" / "reference" / "mechanisms").glob("*.md"))
    assert essays and {p.stem for p in essays} <= set(Registry.read().entries)
    assert all(p.read_text(encoding="utf-8").startswith(f"# {p.stem}\n") for p in essays)


def test_what_a_mechanism_acts_on_is_said_once() -> None:
    """In the registry, from which its page shows it; an essay explains how."""
    from hebbarium.engine.catalogue.registry import Registry

    registry = Registry.read()
    for path in (ROOT / "docs" / "reference" / "mechanisms").glob("*.md"):
        text = " ".join(path.read_text(encoding="utf-8").split())
        assert (
            "What it does to the memory" not in text
            and "Acts on" not in text
            and registry.entry(path.stem).acts_on not in text
        ), path.name
