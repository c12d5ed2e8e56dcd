"""Intent: a question about a time gives the weight of time to the signals of time."""

from __future__ import annotations

from ...engine.contract.columns import Facet
from ...engine.contract.vocabulary import FACET_WEIGHTS
from .harness.base import Above, Measures, Numbers, Probe, mean
from .harness.life import MINUTE, Life, Need
from .stimuli import Stimuli, sentence

FACTS = 16


def run(life: Life, seed: int) -> Numbers:
    facts = Stimuli("intent_weights", seed).facts(FACTS)
    life.tell_all([sentence(fact) for fact in facts], apart=10 * MINUTE)
    asked = {
        "when": "When did {0} put the {1} into the {2}?",
        "where": "Where does {0} keep the {1}?",
        "what": "What do I know of the {1}?",
    }
    numbers: dict[str, float] = {}
    for kind, question in asked.items():
        shares = []
        for fact in facts:
            life.ask(question.format(*fact))
            weights = life.column(FACET_WEIGHTS)
            shares.append(
                float(weights[Facet.WHEN.value]) / float(weights.sum())
                if weights.ndim
                else float("nan")
            )
        numbers[f"time, asked {kind}"] = mean(shares)
    return numbers


PROBES = (
    Probe(
        id="intent_weights/time",
        capability="The signals of time count more in a question about a time than in one about a place or a thing.",
        source="",
        place="an experiment of ours",
        unit="share of FACET_WEIGHTS",
        protocol="16 facts; each is asked for with when, where and what; share of the weight of the facet WHEN, the time asked for; "
        "recency is another facet.",
        band=(
            Above("time, asked when", "time, asked where"),
            Above("time, asked when", "time, asked what"),
        ),
        matters=("query_intent",),
        sets=("waking", "everything"),
        needs=frozenset({Need.COLUMNS}),
        run=run,
        measures=Measures(columns=("facet_weights",), answers=True),
    ),
)
