"""Benchmarks: experiments on mechanism sets and other memories; every folder says what it is
for, and what others may import of it.
"""
