"""Metrics of single questions, and statistics over questions and conversations."""
