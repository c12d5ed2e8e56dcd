"""`python -m hebbarium`."""

from hebbarium.cli import main

main()
