"""Composition: the smallest part of a mechanism set that is not worse than the whole by more than
a margin.

`search` finds it over any scores of sets, `resampling` says how stable it is and what it loses on
conversations that took no part, `scores` measures sets on data, and `compose` does all of this for
the command and writes the report.
"""

__all__ = ["compose", "request", "result"]
