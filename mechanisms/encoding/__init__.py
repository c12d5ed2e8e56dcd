"""Mechanisms whose home phase is encode, one per file: equations first, then the plug-in."""
