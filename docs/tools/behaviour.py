"""Write audit/behaviour.json: the verdicts that the audit reads, of probes and of experiments with
people.

    python docs/tools/behaviour.py

Those of probes are in docs/reference/probes/results.json, those of experiments in
docs/results/people.json; the tools that add runs to these files call this one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hebbarium.audit.behaviour import FILE, PEOPLE
from hebbarium.benchmarks.people.effects import EffectVerdict
from hebbarium.benchmarks.people.paradigms import PRINTED
from hebbarium.benchmarks.people.study import BASELINES, LISTS, RECENCY
from hebbarium.benchmarks.probes.harness.bands import ProbeVerdict
from hebbarium.benchmarks.probes.harness.base import Probe
from hebbarium.benchmarks.probes.harness.collection import own
from hebbarium.reporting.files import write_json

DOCS = Path(__file__).parents[1]
PROBES = DOCS / "reference" / "probes" / "results.json"
EXPERIMENTS = DOCS / "results" / "people.json"
UNMEASURED = "unmeasured"
OPEN = "_open"  # a set without its gates
EFFECTS_OF: Mapping[str, Sequence[str]] = {
    **{id: experiment.effects for id, experiment in LISTS.items()},
    **{id: [effect.name for effect in paradigm.effects] for id, paradigm in PRINTED.items()},
}
Verdicts = dict[str, dict[str, Any]]


def of_probes(probes: Iterable[Probe], results: Mapping[str, Any]) -> Verdicts:
    """The verdicts of the sets that should show each probe's effect; those of a set whose gates
    refused the experiment are of the set without gates.
    """
    sets, by_probe = results["sets"], Verdicts()
    for probe in probes:
        if not probe.band:
            continue
        verdicts = {}
        for name in probe.sets:
            verdict = sets.get(name, {}).get(probe.id, {}).get("verdict")
            if verdict == ProbeVerdict.REFUSED:
                opened = results["open"].get(name + OPEN, {}).get(probe.id, {})
                verdict = opened.get("verdict", verdict)
            if verdict:
                verdicts[name] = verdict
        by_probe[probe.id] = {
            "source": [probe.source] if probe.source else [],
            "matters": list(probe.matters),
            "verdicts": verdicts,
            "control": any(
                sets.get(name, {}).get(probe.id, {}).get("verdict") == ProbeVerdict.SHOWN
                for name in BASELINES
            ),
        }
    return by_probe


def of_people(memories: Mapping[str, Mapping[str, Any]]) -> Verdicts:
    """The verdicts of every memory in every experiment; those of a set whose gates refused what was
    to be learnt are of the set without gates.
    """
    by_experiment = Verdicts()
    for id, effects in EFFECTS_OF.items():
        verdicts = {name: verdict_of(of.get(id), effects) for name, of in memories.items()}
        for name, verdict in verdicts.items():
            if verdict == ProbeVerdict.REFUSED:
                verdicts[name] = verdicts.get(name + OPEN, verdict)
        experiment = LISTS.get(id) or PRINTED[id]
        by_experiment[f"{PEOPLE}/{id}"] = {
            "source": list(experiment.papers),
            "matters": list(experiment.matters),
            "verdicts": {
                name: verdict
                for name, verdict in verdicts.items()
                if verdict != UNMEASURED and name != RECENCY and not name.endswith(OPEN)
            },
            "control": any(
                verdicts.get(name) == ProbeVerdict.SHOWN for name in (*BASELINES, RECENCY)
            ),
        }
    return by_experiment


def refused(row: Mapping[str, Any]) -> bool:
    """Whether a memory has no score because its gates refused what was to be learnt."""
    return "gates refused" in row["why"]


def verdict_of(row: Mapping[str, Any] | None, effects: Sequence[str]) -> str:
    """What a memory showed in an experiment: shown if every effect is as in people, outside if one is
    absent or goes the other way, else not shown.
    """
    if row is None:
        return UNMEASURED
    if row["why"]:
        return ProbeVerdict.REFUSED if refused(row) else ProbeVerdict.ERROR
    verdicts = {row["effects"].get(name) for name in effects}
    if None in verdicts:
        return UNMEASURED
    if verdicts == {EffectVerdict.AS_PEOPLE}:
        return ProbeVerdict.SHOWN
    other_way = verdicts & {EffectVerdict.NONE, EffectVerdict.AGAINST}
    return ProbeVerdict.OUTSIDE if other_way else ProbeVerdict.NOT_SHOWN


def made(
    probes: Iterable[Probe], results: Mapping[str, Any], people: Mapping[str, Any]
) -> dict[str, Any]:
    """What the audit reads."""
    return {
        "code": results["code"],
        "date": results["date"],
        "probes": of_probes(probes, results) | of_people(people["memories"]),
    }


def main() -> None:
    results, people = (
        json.loads(file.read_text(encoding="utf-8")) for file in (PROBES, EXPERIMENTS)
    )
    write_json(FILE, made(own().values(), results, people))


if __name__ == "__main__":
    main()
