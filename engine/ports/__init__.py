"""Ports: protocols of the models that a memory uses, each with its cache and a stand-in for tests."""
