"""Standing instructions: an instruction given once is found for a later request that shares no
word with it.
"""

from __future__ import annotations

from typing import Final

from .harness.base import Measures, Numbers, Probe, Within
from .harness.life import DAY, MINUTE, Life
from .stimuli import Stimuli

# instruction, a request to which it applies, a statement to which it does not
CASES: Final = (
    ("Always leave nuts out of anything edible you propose.", "Suggest a cake for Sunday.",
     "The cake on Sunday was rather dry."),
    ("From now on, never use abbreviations when writing to me.",
     "Draft a short note about the train delay.", "The train was delayed again."),
    ("Whenever I want to travel, prefer railways over planes.", "How do I best get to Lisbon?",
     "Lisbon was sunny all week."),
    ("Please always give amounts of money in Swiss francs.", "What would a new sofa cost?",
     "The new sofa is green."),
    ("In future, keep every reply under three sentences.", "Explain how a kettle works.",
     "The kettle broke this morning."),
    ("Always put the most important point first.", "Summarise the board meeting.",
     "The board meeting was long."),
    ("Never recommend films with violence.", "What could we watch tonight?",
     "We watched the stars last night."),
    ("Remember to address my mother formally in every letter.",
     "Compose birthday wishes to Mrs Keller.", "Mrs Keller had a lovely birthday."),
    ("From now on use metric units only.", "How far is it from Bern to Basel?",
     "The road to Basel was closed."),
    ("Always check the weather before proposing an excursion.", "Plan a hike for Saturday.",
     "The hike was exhausting."),
    ("Never schedule anything before ten in the morning.", "Find a slot to meet the plumber.",
     "The plumber fixed the sink."),
    ("Please always write code with type annotations.", "Show me a function that sorts names.",
     "The names on the doorbell are faded."))  # fmt: skip
USED, OTHERS, FIRST = 6, 60, 10


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("standing_instruction", seed)
    cases = [CASES[i] for i in s.rng.choice(len(CASES), USED, replace=False)]
    ids = [life.tell(instruction, "user", at=life.now + 5 * MINUTE) for instruction, _, _ in cases]
    for text in s.chatter(OTHERS):
        life.tell(text, "user", at=life.now + 0.1 * DAY)
    numbers = {"hit@10": 0.0, "false alarms": 0.0, "dense": 0.0}
    for (_, request, statement), id in zip(cases, ids, strict=True):
        numbers["hit@10"] += life.hit(request, id, FIRST) / USED
        numbers["false alarms"] += life.hit(statement, id, FIRST) / USED
        numbers["dense"] += life.dense_hit(request, id, FIRST) / USED
    return numbers


PROBES = (
    Probe(
        id="standing_instruction/no_shared_words",
        capability="What was asked for once and for all is found whenever it applies, and only then.",
        source="tavakoli2026beam",
        place="instruction following",
        unit="share of cases in the top 10",
        protocol="6 of 12 instructions, each told once; 60 other sentences later a request without a common stem, and a statement on the subject of the "
        "request, which is the false alarm.",
        band=(Within("hit@10", low=0.8), Within("false alarms", high=0.1)),
        matters=("instruction_detection",),
        sets=("default", "waking", "everything"),
        run=run,
        measures=Measures(answers=True),
    ),
)
