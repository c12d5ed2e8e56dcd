"""Only speed: without this room every answer is the same, and comes later."""
