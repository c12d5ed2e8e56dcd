"""What every probe shares: the record, the driver of a memory, bands, the runner and the
reports.
"""

__all__ = [
    "alive",
    "alive_report",
    "bands",
    "base",
    "collection",
    "life",
    "reach",
    "report",
    "run",
    "study",
]
