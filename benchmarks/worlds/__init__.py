"""Worlds: streams of events and questions with known statistics, and the observer that knows
their law.
"""

__all__ = ["base", "collection", "report", "result", "run", "study", "table"]
