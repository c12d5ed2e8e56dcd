"""Mechanisms whose home phase is consolidate: one file each, equations first, plug-in last."""
