"""Runs: what a finished run wrote is compared, explained, exported or repeated."""

__all__ = [
    "compare",
    "explain",
    "export",
    "meta_analysis",
    "misses",
    "reproduce",
    "topology",
    "world_effects",
]
