"""A chat of ten million tokens: read plan by plan, lived and asked; CPU time, cost of an event, and
the most memory of the process.

    python benchmarks/speed/long_chat.py [SET] [PLANS] [MESSAGES]

By default the set bm25, 10 plans of 3,100 messages; SET may be a YAML file, such as one with the
mechanisms of stages.  Vectors are those of the hashing embedder.  Each question is asked for an
answer and for a context of 2,048 tokens.
"""

from __future__ import annotations

import gc
import resource
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time

from hebbarium.benchmarks.datasets import load
from hebbarium.benchmarks.datasets.long_chat import write_long_chat
from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.records import Event, Query
from hebbarium.engine.memory.engine import Engine
from hebbarium.engine.ports.embedder import HashingEmbedder

LIMIT = 2 << 30  # bytes, most resident
GROWTH = 1.5  # cost of an event at the end over that at the start
EVERY = 1_000  # events of a measure
BUDGET = 2_048  # tokens of a context


def peak() -> int:
    """Most resident memory of the process, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def lived(name: str, plans: int, messages: int) -> None:
    """Write the chat to a temporary folder, live it, ask its questions, and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        write_long_chat(Path(folder), plans, messages)
        start = process_time()
        (chat,) = load("beam", Path(folder)).conversations
        print(
            f"{len(chat.events):,} events in {plans} plans, {(Path(folder) / 'chat.json').stat().st_size / 4e6:.1f} million tokens; "
            f"loaded in {process_time() - start:.1f} CPU s, {peak() / 2**20:,.0f} MiB"
        )
        registry = Registry.read()
        memory, costs = (
            Engine(registry.build(registry.set(name)), HashingEmbedder(384)),
            list[float](),
        )

        def timed() -> Iterator[Event]:
            since = process_time()
            for number, event in enumerate(chat.events, 1):
                yield event
                if number % EVERY == 0:
                    costs.append((process_time() - since) * 1e3 / EVERY)
                    since = process_time()

        start = process_time()
        memory.encode_all(timed())
        memory.advance(memory.now + 24.0)
        gc.collect()
        spent = ", ".join(f"{cost:.2f}" for cost in costs[1 :: max(1, len(costs) // 8)])
        print(
            f"lived with {name} in {process_time() - start:.1f} CPU s, {peak() / 2**20:,.0f} MiB; ms an event: {spent or '-'}"
        )
        questions, times, contexts = chat.questions[:40], list[float](), list[float]()
        memory.advance(max(memory.now, questions[-1].time))
        for question in questions:
            query = Query(question.text, memory.now)
            for ask, spent_on in (
                (lambda query=query: memory.retrieve(query), times),
                (lambda query=query: memory.context(query, BUDGET), contexts),
            ):
                start = process_time()
                ask()
                spent_on.append((process_time() - start) * 1e3)
        middle = len(times) // 2
        print(
            f"asked {len(times)} questions, p50 {sorted(times)[middle]:.1f} CPU ms, with a context {sorted(contexts)[middle]:.1f}; "
            f"at most {peak() / 2**20:,.0f} MiB of {LIMIT >> 20:,}"
        )
        if len(costs) > 20:
            print(
                f"an event at 20,000 costs {costs[20] / costs[2]:.2f} of one at 2,000 (limit {GROWTH})"
            )


if __name__ == "__main__":
    lived(
        sys.argv[1] if len(sys.argv) > 1 else "bm25",
        *(int(n) for n in (*sys.argv[2:4], *("10", "3100")[len(sys.argv[2:4]) :])),
    )
