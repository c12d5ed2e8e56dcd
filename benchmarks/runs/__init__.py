"""Runs: what a finished run wrote is compared, explained, exported or repeated."""

__all__ = ["compare", "explain", "export", "misses", "reproduce", "topology"]
