"""Fewer examples for a property whose every example is a whole life of a memory. How many others
get, the profile alone says: see conftest.py.
"""

from __future__ import annotations

from hypothesis import settings

assert settings.default
fewer_examples = settings(max_examples=settings.default.max_examples // 5)
