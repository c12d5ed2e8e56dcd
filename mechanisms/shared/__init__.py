"""Code that several mechanisms share and the engine does not use.  Mechanisms import it; it
imports only the engine.
"""
