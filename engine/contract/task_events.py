"""Attributes of the events by which a stack of tasks is told, see `engine.context.tasks`."""

from __future__ import annotations

from typing import Final

KIND: Final = "kind"
TASK: Final = "task"
PARENT: Final = "parent"
DEPTH: Final = "depth"
STATUS: Final = "status"
PUSH: Final = "task_push"
POP: Final = "task_pop"
