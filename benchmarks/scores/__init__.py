"""Metrics of single questions, and statistics over questions and conversations."""

__all__ = ["abstention", "agreement", "answers", "calibration", "chance", "cluster_robust",
           "comparison",
           "detectable", "levels", "metrics", "outcomes", "power", "scopes", "statistics",
           "surroundings"]  # fmt: skip
