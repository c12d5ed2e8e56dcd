"""Mechanisms whose home phase is retrieve, one per file: equations first, then the plug-in."""
