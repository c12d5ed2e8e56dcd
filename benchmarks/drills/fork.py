"""A fork whose child may be killed at any moment."""
from __future__ import annotations

import gc
import os


def fork() -> int:
    """As os.fork.  The child's garbage collector leaves objects of the parent alone: their destructors may wait for threads that it does not have."""
    gc.freeze()
    child = os.fork()
    if child:
        gc.unfreeze()
    return child
