"""The face of a memory, its parts, passing time, feedback, explanation and erasing."""
