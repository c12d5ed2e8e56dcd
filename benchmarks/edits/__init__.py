"""Edits of known truth: conversations in which it is known what is said twice, what is outdated,
and where one turn holds two matters.

`python -m hebbarium.benchmarks.edits --out OUT` counts the erroneous edits of the topology at each
gate.
"""

__all__ = ["planted"]
