"""A chat of many plans in the layout of BEAM's 10M chats, composed from the demo: of any length,
the same bytes on every machine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from .beam import CHAT, PROBES
from .demo import load_demo

T = TypeVar("T")
FIRST = datetime(2024, 1, 1)
TURNS = 30  # of the demo in a message, about 1,400 characters
BATCH = 20  # messages under one date


def write_long_chat(folder: Path, plans: int, messages: int) -> None:
    """Write `chat.json` and its probing questions; a plan is in memory at a time.

    plans     each `{"plan-<n>": [batch, ...]}`, with its questions about one message each
    messages  of each plan; 10 plans of 3,100 are 10 million tokens of four characters

    Message ids run on from plan to plan.  Cost: about 0.1 s for a million tokens.
    """
    conversations, numbers, probes = load_demo().conversations, count(), list[dict[str, Any]]()
    (folder / PROBES).parent.mkdir(parents=True, exist_ok=True)
    with (folder / CHAT).open("w", encoding="utf-8") as file:
        for plan in range(1, plans + 1):
            talk = conversations[(plan - 1) % len(conversations)]
            said, where = _messages(
                [(e.id, f"{e.speaker}: {e.text}") for e in talk.events], plan, messages, numbers
            )
            days = FIRST + timedelta(days=messages * (plan - 1) // BATCH)
            batches = [
                {
                    "batch_number": n + 1,
                    "time_anchor": f"{days + timedelta(days=n):%B-%d-%Y}",
                    "turns": [some],
                }
                for n, some in enumerate(_groups(said, BATCH))
            ]
            file.write(
                ("[" if plan == 1 else ",\n") + json.dumps([{f"plan-{plan}": batches}])[1:-1]
            )
            probes += [
                {
                    "question": question.text,
                    "source_chat_ids": {f"plan-{plan}": [where[question.gold[0]]]},
                }
                for question in talk.questions
                if question.gold and question.gold[0] in where
            ]
        file.write("]\n")
    (folder / PROBES).write_text(json.dumps({"information_extraction": probes}), encoding="utf-8")


def _messages(
    turns: list[tuple[str, str]], plan: int, messages: int, numbers: Iterator[int]
) -> tuple[list[Mapping[str, Any]], dict[str, int]]:
    """The messages of a plan, and the number of the first message with each turn of the talk,
    which is told again and again.
    """
    numbered, where, groups = list[Mapping[str, Any]](), dict[str, int](), _groups(turns, TURNS)
    for place in range(messages):
        number, group, role = (
            next(numbers),
            groups[place % len(groups)],
            ("user", "assistant")[place % 2],
        )
        text = "\n".join((f"Plan {plan}, page {place + 1}.", *(line for _, line in group)))
        numbered.append(
            {
                "role": role,
                "id": number,
                "content": text,
                "question_type": "main_question" if role == "user" else None,
            }
        )
        for id, _ in group:
            where.setdefault(id, number)
    return numbered, where


def _groups(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in groups of so many, the last one smaller."""
    return [items[start : start + size] for start in range(0, len(items), size)]
