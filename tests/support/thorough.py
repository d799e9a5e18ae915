"""Define how much of what is thorough by count: little at every change, all of it every night."""

import os

NIGHTLY = os.environ.get("NIGHTLY") == "1"
"""Whether ``make nightly`` runs the tests."""


def by_count(ordinary: int, nightly: int) -> int:
    """How many examples to try: ``nightly`` where ``make nightly`` asks, else ``ordinary``."""
    return nightly if NIGHTLY else ordinary
