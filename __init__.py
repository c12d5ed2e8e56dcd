"""The root of the working tree; the package is `hebbarium`, under src/.  Keep this file free of
imports.
"""
