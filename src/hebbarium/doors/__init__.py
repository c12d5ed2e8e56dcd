"""Doors: how people, assistants and other programs reach the file of a memory, or bring messages
of their own.
"""
