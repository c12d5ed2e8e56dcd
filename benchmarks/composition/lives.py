"""Worlds as constraints: every life of a world counts as a conversation with one question, whose
value is the hit@k of that life.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from ...engine.base.errors import HebbariumError
from ...engine.catalogue.registry import Registry
from ...engine.ports.embedding_cache import CachedEmbedder
from ..execution.ledger import Ledger
from ..execution.missing import Progress
from ..execution.plan import Composition
from ..worlds.base import World
from ..worlds.result import rows_of
from ..worlds.run import run_cells, specs_of
from .resampling import Key


@dataclass(frozen=True, slots=True)
class Lives:
    """The lives of a world that count.

    strengths, seeds  of the lives: each seed of each strength
    """

    world: World
    strengths: tuple[float, ...]
    seeds: int

    @property
    def name(self) -> str:
        return f"world {self.world.name}"

    @property
    def keys(self) -> tuple[Key, ...]:
        return tuple(
            (self.name, life_name(strength, seed))
            for strength in self.strengths
            for seed in range(self.seeds)
        )

    def questions(self, category: str = "") -> list[tuple[Key, str]]:
        """Every life once, as a conversation and its question."""
        return [(key, key[1]) for key in self.keys]


def life_name(strength: float, seed: int) -> str:
    """
    >>> life_name(0.5, 3)
    's = 0.5, seed 3'
    """
    return f"s = {strength:g}, seed {seed}"


def hits(
    lives: Lives,
    keys: Collection[Key],
    arms: Sequence[Composition],
    registry: Registry,
    embedder: CachedEmbedder,
    book: Ledger,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> dict[tuple[str, Key], float]:
    """hit@k of every arm in some lives, by the arm's id and the life.  Cells that the ledger holds
    are not run again.  Raises HebbariumError, also for a memory that failed in a life.
    """
    wanted = {id for _, id in keys}
    specs = [
        spec
        for spec in specs_of(
            [lives.world.name], lives.strengths, lives.seeds, arms, registry, embedder
        )
        if life_name(spec.strength, spec.seed) in wanted
    ]
    findings = run_cells(specs, registry, embedder, book, jobs=jobs, progress=progress)
    pairs = [(asdict(spec), finding) for spec, finding in zip(specs, findings, strict=True)]
    values = {}
    for row in rows_of(lives.world, pairs):
        if row["arm"] not in {arm.arm for arm in arms}:
            continue  # an observer
        if "hit" not in row:
            raise HebbariumError(
                f"a memory cannot live there: {row.get('error') or row.get('missing')}",
                where=f"{lives.name}, {life_name(row['strength'], row['seed'])}, {row['arm']}",
                cure="leave this world out of the request",
            )
        key = (lives.name, life_name(row["strength"], row["seed"]))
        values[row["arm"], key] = float(row["hit"])
    return values
