"""Frameworks: each module makes a memory what one framework calls a store or a retriever, and
needs the package of that framework.
"""
