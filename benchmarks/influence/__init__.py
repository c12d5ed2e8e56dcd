"""Influence: through what a mechanism reaches an answer, and how many answers change without it."""

__all__ = ["routes", "weights"]
