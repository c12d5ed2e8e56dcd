"""Only speed: a memory gives the same answers without this room, later."""
