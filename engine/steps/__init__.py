"""The engine's own steps: storing, making rows, gathering signals, priors, the answer, passages,
capacity and filters.
"""
