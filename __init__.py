"""The root of the working tree; the package is `hebbarium`, under src/.  Without this file doctests
of a module could not be collected, as its relative imports lead to other rooms.  Keep it free of
imports.
"""
