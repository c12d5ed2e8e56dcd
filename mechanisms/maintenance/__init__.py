"""Mechanisms whose home phase is maintain: one file each, equations first, plug-in last."""
