"""Metrics of single questions, and statistics over questions and conversations."""

__all__ = ["abstention", "agreement", "answers", "calibration", "chance", "cluster_robust",
           "comparison",
           "detectable", "hierarchy", "levels", "metrics", "outcomes", "power", "random_effects", "scopes", "statistics",
           "surroundings"]  # fmt: skip
