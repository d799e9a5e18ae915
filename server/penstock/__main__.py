"""Run ``penstock`` as ``python -m penstock``."""

from penstock.cli.program import main

main()
