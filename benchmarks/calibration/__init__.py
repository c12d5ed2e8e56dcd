"""Calibration: the gate and the fusion of a set are fitted to development data."""

__all__ = ["fusion", "gate"]
