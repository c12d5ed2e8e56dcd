"""Writes sets.md: what every set of the package has, from the declarations of its mechanisms.

python docs/tools/sets.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from hebbarium.engine.catalogue.registry import MechanismSet, Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.vocabulary import (
    CUES,
    DRAFTS,
    EMBEDDER,
    FUSED,
    HIDE,
    LANGUAGE_MODEL,
    RELEASED,
    RERANKED,
    TOKEN_EMBEDDER,
    VETO,
)
from hebbarium.engine.flow.schedule import ENGINE, Stages
from hebbarium.engine.memory.assembly import schedule_of

TARGET = Path(__file__).parents[1] / "reference" / "sets.md"
NAMED = 3  # mechanisms that a cell names; of more it gives the number
HEAD = """# Sets

What every set of the package has. `docs/tools/sets.py` writes this page from what the mechanisms declare that they read and write.

| set | what it is, and which parts of its source it lacks |
|---|---|
"""
PARTS = """
## Parts

| column | what |
|---|---|
| gate | mechanisms that can keep an event from being stored |
| consolidation | mechanisms that act in sleep; whether they make units of memory, hide units, or may ask a language model |
| fusion | the mechanism that makes one score of all signals; without one, the weighted mean of the standardised direct signals ranks |
| rerank | the mechanism that compares the best candidates with the query again |
| stages | the scores of a candidate that some step computes, in order; the last one decides the answer |
| model at query | use of a model beyond one embedding of the query, which every set has: further embeddings, a model in a folder, a language model |

A mechanism that may ask a language model does so only if one is given and a parameter of the mechanism says so.

| set | gate | consolidation | fusion | rerank | stages | model at query |
|---|---|---|---|---|---|---|
"""
TAIL = """
## Not runnable without a language model

These systems have no set, because a language model does what a set would have to do:

| system | what the language model does |
|---|---|
| mem0 ([paper](https://arxiv.org/abs/2504.19413)) | extracts facts from each exchange, and decides what they add, change and delete |
| MemGPT ([paper](https://arxiv.org/abs/2310.08560)) | decides by function calls what is stored, and what is searched for and when |
| MIRIX ([paper](https://arxiv.org/abs/2507.07957)) | as several agents, chooses the kind of memory, writes its entries, and words the searches |
| LightMem ([paper](https://arxiv.org/abs/2510.18866)) | summarises each topic into the entries that are stored, and merges them offline |

Sets of other systems whose parts need a language model list these parts as missing.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a set in the table of parts."""

    gate: str
    consolidation: str
    fusion: str
    rerank: str
    stages: str
    model: str

    @property
    def cells(self) -> tuple[str, ...]:
        """In the order of the table; "-" for an empty one."""
        return tuple(cell or "-" for cell in (self.gate, self.consolidation, self.fusion,
                                              self.rerank, self.stages, self.model))  # fmt: skip


def row_of(chosen: MechanismSet, registry: Registry) -> Row:
    """What a set has, by the schedule of its mechanisms.  Raises RegistryError, ContractError."""
    phases = schedule_of(registry.build(chosen))
    stored, asleep, asked = (
        [n for n in phases[phase] if n.owner != ENGINE]
        for phase in (Phase.ENCODE, Phase.CONSOLIDATE, Phase.RETRIEVE)
    )
    rerankers = [n.owner for n in asked if RERANKED in n.sets]
    effects = (
        ("make units", any(DRAFTS in n.adds for n in asleep)),
        ("hide units", any(HIDE in n.adds for n in asleep)),
        ("may ask a language model", any(LANGUAGE_MODEL in n.reads for n in asleep)),
    )
    models = (
        (
            "embeds more",
            [
                n.owner
                for n in asked
                if not {EMBEDDER, TOKEN_EMBEDDER}.isdisjoint(n.reads) or CUES in n.adds
            ],
        ),
        ("may ask a language model", [n.owner for n in asked if LANGUAGE_MODEL in n.reads]),
        (
            "in a folder",
            [
                id
                for id in rerankers
                if any(p.unit == "path" for p in registry.entry(id).params.values())
            ],
        ),
    )
    return Row(
        gate=_names(n.owner for n in stored if VETO in (*n.adds, *n.sets)),
        consolidation="; ".join(
            filter(
                None, (_names(n.owner for n in asleep), *(name for name, done in effects if done))
            )
        ),
        fusion=_names(n.owner for n in asked if FUSED in n.sets),
        rerank=_names(rerankers),
        stages=" → ".join(c.name for c in Stages.of(phases[Phase.RETRIEVE]).up_to(RELEASED)),
        model="; ".join(f"{what}: {_names(owners)}" for what, owners in models if owners),
    )


def _names(owners: Iterable[str]) -> str:
    """Each mechanism once; of many, their number.

    >>> _names(["heat", "recency", "heat"]), _names("abcd"), _names([])
    ('`heat`, `recency`', '4 mechanisms', '')
    """
    distinct = tuple(dict.fromkeys(owners))
    return (
        f"{len(distinct)} mechanisms"
        if len(distinct) > NAMED
        else ", ".join(f"`{id}`" for id in distinct)
    )


def page(registry: Registry) -> str:
    """The whole page.  Raises RegistryError, ContractError.  Cost: a few milliseconds a set."""
    sets = registry.sets.values()
    told = "".join(f"| `{s.name}` | {s.summary} |\n" for s in sets)
    parts = "".join(f"| `{s.name}` | {' | '.join(row_of(s, registry).cells)} |\n" for s in sets)
    return f"{HEAD}{told}{PARTS}{parts}{TAIL}"


if __name__ == "__main__":
    TARGET.write_text(page(Registry.read()), encoding="utf-8")
