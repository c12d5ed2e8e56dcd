"""Probes: small experiments whose answer is known, one module each, run over the System port.
`harness` runs, judges and reports them; `stimuli` has their words.
"""

__all__ = ["harness", "stimuli"]
