"""Paraphrase: a question finds what was said in other words."""

from __future__ import annotations

from typing import Final

from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, Life
from .stimuli import NAMES, Stimuli

PAIRS: Final = (
    ("{} bought a second-hand automobile.", "Which used car did {} get?"),
    ("{} quit smoking last spring.", "When did {} give up cigarettes?"),
    ("{} is expecting a baby in June.", "Who is pregnant, {}?"), ("{} was sacked by the bank.",
    "Why did {} lose the job?"),
    ("{} adopted a kitten from the shelter.", "What pet does {} have?"), ("{} cannot digest milk.",
    "Is {} lactose intolerant?"),
    ("{} moved into a flat downtown.", "Where is the new apartment of {}?"),
    ("{} proposed to a partner on the beach.", "How did {} get engaged?"),
    ("{} sprained an ankle while running.", "What injury did {} have?"),
    ("{} speaks fluent Portuguese.", "Which foreign language does {} know?"),
    ("{} inherited a farm from an uncle.", "What did a relative leave to {}?"),
    ("{} is terrified of flying.", "Why does {} avoid planes?"),
    ("{} earns a living by painting portraits.", "What is the occupation of {}?"),
    ("{} failed the driving test twice.", "Does {} have a licence?"),
    ("{} swims forty lengths every morning.", "What exercise does {} do?"),
    ("{} borrowed money from the credit union.", "Who gave {} a loan?"),
    ("{} planted tomatoes on the balcony.", "What vegetables does {} grow?"),
    ("{} snores terribly at night.", "Is {} a noisy sleeper?"),
    ("{} broke the screen of the phone.", "What did {} damage?"), ("{} is learning to knit.",
    "Which new hobby did {} take up?"))  # fmt: skip
PEOPLE: Final = 4  # each thing is said of each; one of them is asked about it


def run(life: Life, seed: int) -> Numbers:
    s = Stimuli("paraphrase", seed)
    names = s.draw(NAMES, PEOPLE)
    told = [
        (text.format(name), (i, n))
        for i, (text, _) in enumerate(PAIRS)
        for n, name in enumerate(names)
    ]
    ids: dict[tuple[int, int], str] = {}
    for i in s.rng.permutation(len(told)):
        text, key = told[i]
        ids[key] = life.tell(text, at=life.now + 10 * MINUTE)
    life.wait(1.0)
    asked = [
        (question.format(names[i % PEOPLE]), ids[i, i % PEOPLE])
        for i, (_, question) in enumerate(PAIRS)
    ]
    ranks = [life.rank(text, id) for text, id in asked]
    dense = [dense_rank(life, text, id, list(ids.values())) for text, id in asked]
    return {
        "reciprocal rank": sum(1 / r for r in ranks) / len(ranks),
        "dense": sum(1 / r for r in dense) / len(dense),
        "p": sum(r <= 3 for r in ranks) / len(ranks),
        "margin": mean([life.margin(text, id) for text, id in asked]),
    }


def dense_rank(life: Life, text: str, id: str, ids: list[str]) -> int:
    cosines = life.cosines(text, ids)
    return int((cosines >= cosines[ids.index(id)]).sum())


PROBES = (
    Probe(
        id="paraphrase/questions",
        capability="A question in other words finds the fact, better than by similarity of meaning alone.",
        source="khattab2020colbert",
        place="retrieval without shared words",
        unit="mean reciprocal rank",
        protocol="20 facts, each said of the same 4 people; asked of one of them without a common content word; beside it the cosine of the embeddings "
        "alone.",
        band=(Above("reciprocal rank", "dense"),),
        matters=("late_interaction_rerank", "cross_encoder_rerank", "query_expansion"),
        sets=("everything", "true_memory_code"),
        run=run,
        also=("margin",),
        measures=Measures(answers=True),
    ),
)
