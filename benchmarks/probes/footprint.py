"""Footprint: bytes of a memory on disk and resident, and tokens of an answer.  Printed, no band."""

from __future__ import annotations

import math
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from ...engine.contract.records import Event
from ...engine.memory.engine import Engine
from .harness.base import Measures, Numbers, Probe, mean
from .harness.life import MINUTE, START, Life, Need
from .stimuli import NAMES, Stimuli, sentence

TURNS, ASKED, FIRST = 120, 10, 10
QUESTION: Final = "Where does {} keep the {}?"
NAMED: Final = ("bytes on disk per memory", "bytes of columns per memory", "tokens per answer")


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("footprint", seed)
    facts, speakers = s.facts(TURNS // 2), s.draw(NAMES, 2)
    texts = s.shuffled([*map(sentence, facts), *s.chatter(TURNS // 2)])
    for i, text in enumerate(texts):
        life.tell(text, speakers[i % 2], f"s{i // 20}", life.now + 5 * MINUTE)
    questions = [QUESTION.format(name, thing) for name, thing, _ in facts[:ASKED]]
    life.ask(questions[0], FIRST)
    engine = life.engine
    if engine is None:
        return dict.fromkeys(NAMED, math.nan)
    tokens = [float(engine.context(question, max_items=FIRST).tokens) for question in questions]
    resident = sum(engine.column(column).nbytes for column in engine.store.columns)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "memory"
        with Engine(engine.mechanisms, life.embedder, seed=seed, path=file, durable=False) as again:
            again.encode_all(
                [
                    Event(
                        START + (i + 1) * 5 * MINUTE, text, speakers[i % 2], f"s{i // 20}", f"e{i}"
                    )
                    for i, text in enumerate(texts)
                ]
            )
        size = file.stat().st_size
    memories = max(engine.store.n, 1)
    return dict(zip(NAMED, (size / memories, resident / memories, mean(tokens)), strict=True))


PROBES = (
    Probe(
        id="footprint/bytes",
        capability="What a memory costs: bytes on disk, bytes of its columns, tokens of an answer.",
        source="",
        place="an experiment of ours",
        unit="bytes; tokens",
        protocol="120 turns of two speakers, half facts, half small talk, 5 min apart; size of the file of the same memory, bytes of all columns, and "
        "tokens of ten answers with ten memories each.",
        band=(),
        matters=(),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(answers=True, whole=True),
    ),
)
