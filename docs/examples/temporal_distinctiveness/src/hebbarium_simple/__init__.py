"""Temporal distinctiveness for Hebbarium."""
