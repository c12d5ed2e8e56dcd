"""What can be on: the registry of mechanisms, packages that add to it, and sets."""
