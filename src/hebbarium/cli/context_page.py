"""The page of `hebbarium assemble --page`: one question in several ways, under falling budgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.base.errors import InputError
from .shared import load_data

if TYPE_CHECKING:
    from ..engine.context.tokens import TokenCounter
    from ..engine.memory.engine import Engine

LARGEST = 512  # tokens, if no budget is given
HALVED = 3  # how often


def write_page(
    memory: Engine,
    query: str,
    page: Path,
    *,
    budget: int | None,
    counter: TokenCounter,
    session: str | None,
    set_name: str,
    dataset: str,
    data: Path | None,
    conversation: str | None,
    embedder: str,
) -> list[int]:
    """Write the page for a memory that has lived a conversation; its budgets, the largest first.
    Raises InputError for a budget below 8.

    If the query is a question of the data set, the memories that hold its evidence are marked.
    """
    from ..benchmarks.reports.contexts_page import to_html, ways

    largest = LARGEST if budget is None else budget
    if largest < 1 << HALVED:
        raise InputError(
            f"a budget of {largest} tokens cannot be halved {HALVED} times",
            where="--budget",
            cure=f"give {1 << HALVED} or more",
        )
    loaded = load_data(dataset, data, "turn", None, asked=False)
    talk = next(c for c in loaded.conversations if conversation in (None, c.id))
    gold = next((q.gold for q in talk.questions if q.text == query), ())
    budgets = [largest >> n for n in range(HALVED + 1)]
    about = {
        "Set": set_name,
        "Data": loaded.name,
        "Conversation": talk.id,
        "Memories": f"{memory.store.n:,}",
        "Embedder": embedder,
    }
    to_html(
        ways(memory, query, budgets, counter, gold, session),
        page,
        question=query,
        about=about,
        counter=counter.name,
    )
    return budgets
