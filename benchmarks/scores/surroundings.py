"""What a reader needs beside a metric: the pool of each question, the chance level, metrics at
several depths, and the sessions of gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from math import fsum
from typing import TYPE_CHECKING, Any

from ..datasets.base import told_before
from .chance import Pool, chance_levels, forbidden_levels, oracle_levels, pool_of, pools
from .metrics import depth_summary, forbidden_shares

if TYPE_CHECKING:
    from ..datasets import Dataset


@dataclass(frozen=True, slots=True)
class Conversations:
    """What is known of each conversation without asking anything.

    sizes  (conversation, question) -> items that are ranked: events told before the question, or
           sessions where these are matched
    home   conversation -> event -> session
    """

    sizes: Mapping[tuple[str, str], int]
    home: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, data: Dataset, match: str = "unit") -> Conversations:
        """Cost: one pass over all events, two if questions are asked in the middle; for sessions
        one more for each point where they are.
        """
        sizes, home = dict[tuple[str, str], int](), dict[str, Mapping[str, str]]()
        for conversation in data.conversations:
            mine = home[conversation.id] = {
                event.id: event.session for event in conversation.events
            }
            told = told_before(conversation)
            items = {
                n: len(set(islice(mine.values(), n))) if match == "session" else n
                for n in set(told)
            }
            sizes |= {
                (conversation.id, question.id): items[n]
                for question, n in zip(conversation.questions, told, strict=True)
            }
        return cls(sizes, home)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Of the questions with gold: depths, and the scores of a random ranking and of an oracle, by
    metric such as "recall@10", and the pool; {} and None without such questions.

    forbidden  of the questions that say what must not come back: their number `n`, and
               `forbidden@k` of the answers, by chance and of an oracle; {} without such questions
    """

    depths: Mapping[str, float]
    chance: Mapping[str, float]
    pool: Pool | None
    oracle: Mapping[str, float] = field(default_factory=dict)
    forbidden: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, rows: Iterable[Mapping[str, Any]], sizes: Mapping[tuple[str, str], int], k: int = 10
    ) -> Surroundings:
        """O(rows)."""
        listed = list(rows)
        marked: Sequence[Mapping[str, Any]] = [row for row in listed if row["gold"]]
        asked = pools(marked, sizes)
        return cls(
            depth_summary(row["ranks"] for row in marked),
            chance_levels(asked),
            pool_of([size for size, _ in asked], k) if asked else None,
            oracle_levels(asked),
            _forbidden([row for row in listed if row.get("forbidden")], sizes),
        )

    def plain(self) -> dict[str, Any]:
        """Data for JSON, with the warning."""
        return {
            "depths": dict(self.depths),
            "chance": dict(self.chance),
            "pool": {**asdict(self.pool), "warning": self.pool.warning} if self.pool else None,
            "oracle": dict(self.oracle),
            **({"forbidden": dict(self.forbidden)} if self.forbidden else {}),
        }


def _forbidden(
    rows: Sequence[Mapping[str, Any]], sizes: Mapping[tuple[str, str], int]
) -> dict[str, Any]:
    if not rows:
        return {}
    shares = [forbidden_shares(row["retrieved"], row["forbidden"]) for row in rows]
    levels = forbidden_levels(
        (sizes[row["conversation"], row["question"]], len(row["forbidden"])) for row in rows
    )
    means = {name: fsum(share[name] for share in shares) / len(shares) for name in shares[0]}
    return {"n": len(rows), **means, **levels}
