"""Texts: words, features, dates and shorter forms."""
