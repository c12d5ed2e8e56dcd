"""Language models: one answers from contexts, another one judges the answers."""

__all__ = ["answering", "comparing"]
