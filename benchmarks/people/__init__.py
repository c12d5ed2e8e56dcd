"""Memories beside people: experiments with words, run on a memory and compared with human data."""

__all__ = ["study"]
