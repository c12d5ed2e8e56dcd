"""Drills: faults made on purpose, bounded and seeded, with counts of what came of them.

`python -m hebbarium.benchmarks.drills flips --count 5000 --seed 1` runs one; docs/guides/trust.md
says what each promises.
"""

__all__: list[str] = []  # they are started as above, and nothing else uses them
