"""Reports of experiments: one result object, as JSON, text, tables, figures and one HTML page."""

__all__ = ["across", "card", "chart", "contexts_page", "estimates", "figures", "learning_curve", "learning_figure",
           "page", "result", "stored", "tables", "words"]  # fmt: skip
