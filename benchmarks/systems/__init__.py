"""Systems: memories that a benchmark measures, each behind the port of `base`."""

__all__ = ["base", "bm25_dense", "by_name", "hebbarium", "witness"]
