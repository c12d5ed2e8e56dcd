"""What `hebbarium explain RUN --misses` prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .shared import installed_registry, print_json

if TYPE_CHECKING:
    from ..benchmarks.execution.folder import RunFolder
    from ..benchmarks.runs.misses import Misses

LISTED = 40  # missed events that the terminal shows


def explain_misses(
    folder: RunFolder,
    question: str | None,
    arm: str | None,
    data: Path | None,
    embedder: str | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Find the causes, and print or write them."""
    from ..benchmarks.runs import misses as missing
    from ..console import Meter, print_lines
    from ..engine.ports.embedding_cache import default_cache

    with Meter("embedding texts", least=100) as embedding, Meter("conversations") as conversations:
        model = folder.embedder(embedder, default_cache(), progress=embedding)
        misses = missing.misses(
            folder,
            folder.data(data),
            installed_registry(),
            model,
            arm=arm,
            only=[question] if question else [],
            progress=conversations,
        )
    page = missing.to_html(misses, html) if html else None
    if as_json:
        print_json(missing.to_json(misses))
        return
    _print(misses)
    if page:
        print_lines(f"page: {page}")


def _print(misses: Misses) -> None:
    from ..benchmarks.runs.explain import names_of
    from ..console import print_lines, print_rows, print_table

    print_lines(
        f"{misses.run}, arm {misses.arm}: {len(misses.misses)} of {misses.n_gold} gold events are not among the first {misses.k}; "
        f"they concern {misses.n_missed_questions} of {misses.n_questions} questions",
        *(f"note: {note}" for note in misses.notes),
        "",
    )
    if not misses.misses:
        return
    numbers = ("gold events", "questions")
    rows = [
        (g.name, str(g.n), str(g.questions), ", ".join(f"{id} {n}" for id, n in g.by))
        for g in misses.groups
    ]
    print_table(
        "Missed gold events by cause",
        ("cause", *numbers, "mechanisms"),
        rows,
        numbers=numbers,
        whole=numbers,
    )
    numbers = ("gold events", "missed")
    print_table(
        "By category",
        ("category", *numbers),
        [(name, str(n), str(lost)) for name, (n, lost) in misses.categories.items()],
        numbers=numbers,
        whole=numbers,
    )
    names = names_of((m.conversation, m.question) for m in misses.misses)
    print_rows(
        ("question", "gold", "rank", "cause"),
        [
            (names[m.conversation, m.question], m.gold, str(m.rank or "-"), m.words)
            for m in misses.misses[:LISTED]
        ],
    )
    if len(misses.misses) > LISTED:
        print_lines(f"and {len(misses.misses) - LISTED} more; --html FILE and --json show all")
