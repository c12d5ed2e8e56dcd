"""Systems: memories that a benchmark measures, each behind the port of `base`."""
