"""Write docs/results/people.md and draw docs/pictures/people-plane.svg: memories beside people, and
human-likeness against usefulness.

    python docs/tools/people_results.py [--add FOLDER ...]

FOLDER is one of `hebbarium human` with a sentence model; what it found is added to
docs/results/people.json, in place of what that file has of the same memory and paradigm.  Of a run
with mechanisms on trial these alone are added; they ship in benchmarks/people/on_trial.json, for
their cards and pages.  `behaviour.py` writes what was found of sets for the audit.
Usefulness is read from docs/results/sets-on-data.md and docs/results/designs-on-data.md.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import behaviour

from hebbarium.benchmarks.people.paradigms import PRINTED
from hebbarium.benchmarks.people.study import BASELINES as SEARCHES
from hebbarium.benchmarks.people.study import LISTS, PARADIGMS, RECENCY
from hebbarium.benchmarks.people.trial import EVERY, SHIPPED
from hebbarium.benchmarks.reports.drawings import Axis, axis

DOCS = Path(__file__).parents[1]
RESULTS, PAGE = DOCS / "results" / "people.json", DOCS / "results" / "people.md"
PICTURE = DOCS / "pictures" / "people-plane.svg"
SETS_ON_DATA = DOCS / "results" / "sets-on-data.md"
DESIGNS_ON_DATA = DOCS / "results" / "designs-on-data.md"
BASELINES = (*SEARCHES, RECENCY)
DATA = {"LoCoMo, turns": "LoCoMo", "BEAM 100K, turns": "BEAM 100K"}
SHORT = {"as people": "yes", "against people": "against", "no effect": "no", "undecided": "?"}
REFUSED = "refused"
SMALL = 0.01  # a change that has no name in the picture
LEFT, TOP, WIDE, TALL, GAP = 64, 98, 250, 250, 66  # px
WIDTH = 5.6  # px of a letter of a label
FAR = 8.0  # px between a point and its label, from which on a line joins them
STYLE = """
  text { font: 11px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; fill: var(--ink) }
  .ground { fill: var(--ground); stroke: var(--edge) }
  .title { font-size: 15px; font-weight: 600 }
  .head { font-weight: 600 }
  .soft { fill: var(--soft); font-size: 10px }
  .end { text-anchor: end }
  .middle { text-anchor: middle }
  .grid { stroke: var(--edge); stroke-width: .7 }
  .lead { stroke: var(--soft); stroke-width: .5 }
  .zero { stroke: var(--soft); stroke-dasharray: 3 3 }
  .dot { fill: var(--mark) }
  .control { fill: var(--soft) }
  svg { --ground: #ffffff; --ink: #1f2328; --soft: #57606a; --edge: #d0d7de; --mark: #0a5fb4 }
  @media (prefers-color-scheme: dark) {
    svg { --ground: #0d1117; --ink: #e6edf3; --soft: #9aa4af; --edge: #3d444d; --mark: #6cb6ff }
  }
"""
Results = dict[str, Any]


# --- what was measured ----------------------------------------------------------------------------
def added(results: Results, folder: Path) -> None:
    """Take what a run found into the results.  Exits for a run without a sentence model."""
    report = json.loads((folder / "human.json").read_text(encoding="utf-8"))
    if not report["evidence"]:
        raise SystemExit(f"{folder}: {report['note']}")
    made = report["provenance"]
    of_run = {name: made[name] for name in ("people", "seeds", "embedder", "code")}
    fit_on = made.get("fit_on", [])
    # few people take part in trials
    for paradigm, part in () if report["on_trial"] else report["paradigms"].items():
        for row in part["rows"]:
            if ":" in row["name"]:
                continue  # the reference, which takes part with lists alone
            scored_row = {
                "why": row["why"],
                **{name: row["score"][name] for name in ("mean", "low", "high")},
                "effects": {n: e["verdict"] for n, e in row.get("effects", {}).items()},
                "run": of_run,
            }
            if fit_on:
                judging = list(part["people"])
                key = f"{row['name']}, {paradigm}, {' '.join(fit_on)}"
                results["held_out"][key] = {
                    **scored_row,
                    "memory": row["name"],
                    "paradigm": paradigm,
                    "fit_on": fit_on,
                    "judging": judging,
                }
            else:
                results["memories"].setdefault(row["name"], {})[paradigm] = scored_row
    for row in report["on_trial"]:
        key = f"{row['set']}, {row['mechanism']}, {row['paradigm']}"
        results["trials"][key] = {**row, "run": of_run}


def scored(memory: Mapping[str, Any]) -> dict[str, float]:
    """The distances of a memory by paradigm."""
    return {p: row["mean"] for p, row in memory.items() if row["mean"] is not None}


def nearness(memories: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> dict[str, float]:
    """The geometric mean distance of memories over the paradigms that all of them have."""
    common = in_common(memories, names)
    return {
        name: math.exp(sum(math.log(scored(memories[name])[p]) for p in common) / len(common))
        for name in names
        if common
    }


def in_common(memories: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    return [p for p in PARADIGMS if all(p in scored(memories[name]) for name in names)]


def drawn_names(
    memories: Mapping[str, Mapping[str, Any]], useful: Mapping[str, Mapping[str, float]]
) -> list[str]:
    """The memories that have a distance, and figures on all data sets."""
    return [n for n in memories if scored(memories[n]) and all(n in of for of in useful.values())]


def usefulness() -> dict[str, dict[str, float]]:
    """Data -> set -> recall@10, as docs/results/sets-on-data.md has it."""
    text = SETS_ON_DATA.read_text(encoding="utf-8")
    return {
        label: {
            name: float(value)
            for name, value in re.findall(
                r"^\| `(\w+)` \| ([\d.]+)", text.split(f"## {head}\n")[1].split("\n## ")[0], re.M
            )
        }
        for head, label in DATA.items()
    }


def gained_by() -> dict[str, float]:
    """Mechanism of `default` -> recall@10 on LoCoMo with it less that without it, as
    docs/results/designs-on-data.md has it.
    """
    text = DESIGNS_ON_DATA.read_text(encoding="utf-8")
    table = text.split("## default\\_leave\\_one\\_out")[1].split("### 1 locomo")[1].split("###")[0]
    rows = re.findall(r"^\| ([a-z0-9\\_]+)(?: †)? \| ([+\u2212][\d.]+|0\.0000) \|", table, re.M)
    return {name.replace("\\", ""): float(value.replace("\u2212", "-")) for name, value in rows}


# --- the picture ----------------------------------------------------------------------------------
def drawn(results: Results) -> str:
    """A panel for each data set with a point a set, and one with a point for each mechanism of
    `default`.
    """
    memories, useful = results["memories"], usefulness()
    names = drawn_names(memories, useful)
    near = nearness(memories, names)
    panels = [
        _panel(
            i,
            f"recall@10, {label}",
            "distance from people" if i == 0 else "",
            {name: (of[name], -math.log(near[name])) for name in near},
            lambda v: f"{math.exp(-v):.2g}",
        )
        for i, (label, of) in enumerate(useful.items())
    ]
    changes = {
        row["mechanism"]: row["change"]["mean"]
        for row in results["trials"].values()
        if row["set"] == "default"
        and row["paradigm"] == EVERY
        and row["change"]["mean"] is not None
    }
    gained = gained_by()
    points = {m: (gained[m], -change) for m, change in changes.items() if m in gained}
    if points:
        panels.append(
            _panel(
                2,
                "default: recall@10 on LoCoMo by it",
                "nearer by it",
                points,
                _signed,
                unnamed=SMALL,
            )
        )
    width, height = LEFT + len(panels) * (WIDE + GAP), TOP + TALL + 60
    lead = (
        "Up: nearer to people. Left and middle: a point is a set, its distance the geometric mean over "
        f"{', '.join(in_common(memories, names))}, in noise ceilings. "
        "Right: what a mechanism of default adds to both; those that add less than .01 have no name."
    )
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-labelledby="t d">',
            '<title id="t">Like people, and useful</title>',
            f'<desc id="d">{lead}</desc>',
            f"<style>{STYLE}</style>",
            f'<rect class="ground" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6"/>',
            '<text class="title" x="14" y="24">Like people, and useful</text>',
            *(
                f'<text class="soft" x="14" y="{42 + 14 * n}">{line}</text>'
                for n, line in enumerate(textwrap.wrap(lead, 44 * len(panels)))
            ),
            *panels,
            "</svg>\n",
        )
    )


def _signed(value: float) -> str:
    return f"{value:+.2g}" if value else "0"


def _panel(
    place: int,
    across: str,
    up: str,
    points: Mapping[str, tuple[float, float]],
    text: Any,
    unnamed: float = 0.0,
) -> str:
    """A panel; points within `unnamed` of 0 on both axes have no label beside them."""
    start = LEFT + place * (WIDE + GAP)
    xs, ys = zip(*points.values(), strict=True)
    x = axis(min(xs), max(xs), start, start + WIDE, 4, lambda v: f"{v:g}")
    y = axis(min(ys), max(ys), TOP + TALL, TOP, 4, text)
    parts = [
        f'<line class="grid" x1="{start}" x2="{start + WIDE}" y1="{at}" y2="{at}"/>'
        f'<text class="soft end" x="{start - 6}" y="{at + 3}">{label}</text>'
        for at, label in y.ticks
    ]
    parts += [
        f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP}" y2="{TOP + TALL}"/>'
        f'<text class="soft middle" x="{at}" y="{TOP + TALL + 16}">{label}</text>'
        for at, label in x.ticks
    ]
    parts.append(
        f'<text class="head middle" x="{start + WIDE / 2}" y="{TOP + TALL + 36}">{escape(across)}</text>'
    )
    if up:
        parts.append(f'<text class="head" x="{start - 50}" y="{TOP - 10}">{escape(up)}</text>')
    near = {name for name, point in points.items() if max(map(abs, point)) < unnamed}
    for name, (a, b) in points.items():
        kind = "control" if name in BASELINES else "dot"
        parts.append(
            f'<circle class="{kind}" cx="{x(a)}" cy="{y(b)}" r="3.5"><title>{escape(name)}</title></circle>'
        )
    named = {name: point for name, point in points.items() if name not in near}
    for name, left, end, at in _labelled(named, x, y, start + 0.62 * WIDE):
        a, b = named[name]
        if abs(at - y(b)) > FAR:
            parts.append(f'<line class="lead" x1="{x(a)}" y1="{y(b)}" x2="{left}" y2="{at}"/>')
        parts.append(
            f'<text class="soft{" end" if end else ""}" x="{left}" y="{at + 3}">{escape(name)}</text>'
        )
    return "\n".join(parts)


def _labelled(
    points: Mapping[str, tuple[float, float]], x: Axis, y: Axis, middle: float
) -> list[tuple[str, float, bool, float]]:
    """Each name with the place of its label, whether it ends there, as beyond `middle`, and its
    height: the one nearest to the point that is in the panel and where no label is.
    """
    placed: list[tuple[str, float, bool, float]] = []
    taken: list[tuple[float, float, float]] = []  # from, to, height
    for name, (a, b) in sorted(points.items(), key=lambda point: -point[1][1]):
        end = x(a) > middle
        left = x(a) + (-6 if end else 6)
        first, last = (left - WIDTH * len(name), left) if end else (left, left + WIDTH * len(name))
        beside = [at for low, high, at in taken if low < last and first < high]
        heights = [y(b) + sign * step for step in range(TALL) for sign in (1, -1)]
        free = (
            at
            for at in heights
            if TOP <= at <= TOP + TALL - 4 and all(abs(at - other) >= 11 for other in beside)
        )
        at = round(next(free, y(b)), 2)
        placed.append((name, left, end, at))
        taken.append((first, last, at))
    return placed


# --- the page -------------------------------------------------------------------------------------
def page(results: Results) -> str:
    """The tables of all memories."""
    memories = results["memories"]
    names = [n for n in memories if n not in BASELINES] + [n for n in BASELINES if n in memories]
    text = [HEAD, "", "## Distances", "", DISTANCES, ""]
    text += _row(["memory", *PARADIGMS_SCORED])
    text += ["|---" * (len(PARADIGMS_SCORED) + 1) + "|"]
    for name in names:
        text += _row([f"`{name}`", *(_cell(memories[name].get(p)) for p in PARADIGMS_SCORED)])
    text += _row(
        [
            "*simulated people*",
            *(_sizes({n: of.get(p) for n, of in memories.items()}) for p in PARADIGMS_SCORED),
        ]
    )
    text += ["", _versions(row for of in memories.values() for row in of.values())]
    useful = usefulness()
    near = nearness(memories, drawn_names(memories, useful))
    text += ["", "## Like people, and useful", "", USEFUL, ""]
    text += _row(["set", "distance", *(f"recall@10, {label}" for label in useful)])
    text += ["|---" * (len(useful) + 2) + "|"]
    for name in sorted(near, key=lambda name: near[name]):
        text += _row(
            [f"`{name}`", f"{near[name]:.2f}", *(f"{of[name]:.3f}" for of in useful.values())]
        )
    if results["held_out"]:
        text += ["", "## Held-out conditions", "", HELD_OUT, ""]
        text += _row(
            ["memory", "experiment", "fitted on", "judged on", "score", "simulated people"]
        )
        text += ["|---" * 6 + "|"]
        for row in results["held_out"].values():
            conditions = (", ".join(row[name]) for name in ("fit_on", "judging"))
            size = str(row["run"]["people"])
            text += _row(
                [f"`{row['memory']}`", f"`{row['paradigm']}`", *conditions, _cell(row), size]
            )
        text += ["", _versions(results["held_out"].values())]
    text += ["", "## Effects", "", EFFECTS, ""]
    text += _row(["paradigm", "effect", *(f"`{n}`" for n in names)])
    text += ["|---" * (len(names) + 2) + "|"]
    for id, effects in behaviour.EFFECTS_OF.items():
        for effect in effects:
            cells = [_effect(memories[n].get(id), effect) for n in names]
            if id in PRINTED or any(cells):
                text += _row([f"`{id}`", effect, *cells])
    text += ["", "## What no set shows", "", NOT_SHOWN, ""]
    for id, paradigm in PRINTED.items():
        if absent := [e.name for e in paradigm.effects if _absent(memories, names, id, e.name)]:
            text.append(f"- `{id}`, {'; '.join(absent)}. {paradigm.missing}")
    for chosen in dict.fromkeys(row["set"] for row in results["trials"].values()):
        text += ["", f"## What the mechanisms of `{chosen}` do", "", TRIALS, ""]
        rows = [row for row in results["trials"].values() if row["set"] == chosen]
        mechanisms = list(dict.fromkeys(row["mechanism"] for row in rows))
        columns = [p for p in (*PARADIGMS_SCORED, EVERY) if any(_known(r, p) for r in rows)]
        text += _row(["mechanism", *columns, "effects gained", "effects lost"])
        text += ["|---" * (len(columns) + 3) + "|"]
        for mechanism in mechanisms:
            own = {row["paradigm"]: row for row in rows if row["mechanism"] == mechanism}
            text += _row(
                [
                    f"`{mechanism}`",
                    *(_change(own.get(p)) for p in columns),
                    _named(own, "gained"),
                    _named(own, "lost"),
                ]
            )
        by_paradigm = {p: {r["mechanism"]: r for r in rows if r["paradigm"] == p} for p in columns}
        text += _row(["*simulated people*", *map(_sizes, by_paradigm.values()), "", ""])
        text += ["", _versions(rows)]
    return "\n".join([*text, ""])


PARADIGMS_SCORED = tuple(p for p in PARADIGMS if p in LISTS or len(PRINTED[p].printed) > 2)
HEAD = """# Memories beside people

What `hebbarium human` found of sets, with the sentence model all-MiniLM-L6-v2; [the page of people](../reference/people.md) says what is done and what a
number means. `docs/tools/people_results.py` writes this page and its picture from `docs/results/people.json`.

![Distance from people against recall on LoCoMo and BEAM, by set, and what mechanisms of the default add to both](../pictures/people-plane.svg)"""
DISTANCES = """Distances are in noise ceilings: at 1 a memory is as near to people as other people are. The last line says how many simulated people took
part. Two numbers of the readout are fitted to each printed experiment and memory, which is much for three or four numbers: `context` and
`induced_forgetting` say less than `fan`, `retention` or `sleep`. *refused*: the gates of the set did not store what was to be learnt, which is no
forgetting; `everything_open` is `everything` without its gates. A memory without an entry was not measured, or had equal scores for all words."""
USEFUL = """The left and middle panels of the picture: the geometric mean distance over the experiments that all of these sets have, nearest to people first,
and what the sets find on conversations ([sets on data](sets-on-data.md))."""
HELD_OUT = """The readout is fitted on lists of some conditions, and lists of other conditions, of people who were not fitted, judge. Conditions are words of a
list, or words and seconds a word."""
EFFECTS = """yes: as people; against: the other way; no: within a tenth of people's effect; ?: undecided. What `bm25`, `naive_rag` or recency alone show
follows from the protocol or from words and time alone, and says nothing for a mechanism."""
NOT_SHOWN = """Effects that no set shows, or that a search or recency alone shows as well, and what a memory needs for them."""
TRIALS = """Change of the log distance by the mechanism, readout fitted with and without it: below 0 it brings the set nearer to people. A fusion takes the
signals with it that only it reads, such as that of `temporal_context`. In bold what is decided; `=` is a change within a twentieth; the rest is undecided.
Intervals hold for all mechanisms of a column at once. The last line says how many simulated people took part."""


def _absent(
    memories: Mapping[str, Mapping[str, Any]], names: Sequence[str], paradigm: str, effect: str
) -> bool:
    """Whether an effect was looked for, and no set shows it that no baseline shows."""
    verdicts = {n: memories[n].get(paradigm, {}).get("effects", {}).get(effect) for n in names}
    shown = {name for name, verdict in verdicts.items() if verdict == "as people"}
    return any(verdicts.values()) and (not shown or bool(shown & set(BASELINES)))


def _sizes(rows: Mapping[str, Mapping[str, Any] | None]) -> str:
    """How many simulated people took part."""
    sizes = [row["run"]["people"] for row in rows.values() if row]
    if not sizes:
        return ""
    few, many = min(sizes), max(sizes)
    return str(few) if few == many else f"{few} to {many}"


def _versions(rows: Iterable[Mapping[str, Any]]) -> str:
    versions = sorted({row["run"]["code"] for row in rows})
    return f"Code {', '.join(versions)}."


def _row(cells: Sequence[str]) -> list[str]:
    return [f"| {' | '.join(cells)} |"]


def _effect(row: Mapping[str, Any] | None, effect: str) -> str:
    if row is None:
        return ""
    if behaviour.refused(row):
        return REFUSED
    verdict = row["effects"].get(effect)
    return SHORT[verdict] if verdict else ""


def _cell(row: Mapping[str, Any] | None) -> str:
    if row is None or row["mean"] is None:
        return REFUSED if row and behaviour.refused(row) else ""
    if row["low"] is None:
        return f"{row['mean']:.2f}"
    return f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def _known(row: Mapping[str, Any], paradigm: str) -> bool:
    return bool(row["paradigm"] == paradigm and row["change"]["mean"] is not None)


def _change(row: Mapping[str, Any] | None) -> str:
    if row is None or row["change"]["mean"] is None:
        return ""
    if row["verdict"] == "no effect":
        return "="
    text = f"{row['change']['mean']:+.2f}"
    return f"**{text}**" if row["verdict"] in ("brings nearer", "takes away") else text


def _named(rows: Mapping[str, Mapping[str, Any]], way: str) -> str:
    return "; ".join(f"{p}: {name}" for p, row in rows.items() for name in row[way])


def cards(results: Results) -> str:
    """What ships for the cards of mechanisms: a line a row, of mechanisms whose distance is known;
    without the means over experiments, which follow.
    """
    rows = [
        row
        for row in results["trials"].values()
        if row["change"]["mean"] is not None and row["paradigm"] != EVERY
    ]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--add", type=Path, nargs="*", default=[])
    results: Results = (
        json.loads(RESULTS.read_text(encoding="utf-8"))
        if RESULTS.exists()
        else {"memories": {}, "held_out": {}, "trials": {}}
    )
    for folder in parser.parse_args().add:
        added(results, folder)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")
    PICTURE.write_text(drawn(results), encoding="utf-8")
    SHIPPED.write_text(cards(results), encoding="utf-8")
    behaviour.main()


if __name__ == "__main__":
    main()
