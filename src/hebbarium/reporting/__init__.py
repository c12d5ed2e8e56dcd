"""Reporting: files, pages and tables that every report shares.  It imports only the engine's
errors.
"""
