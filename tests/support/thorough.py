"""Choose how many examples a test tries: a few at every change, many every night."""

import os

NIGHTLY = os.environ.get("NIGHTLY") == "1"
"""True if ``make nightly`` runs the tests."""


def by_count(ordinary: int, nightly: int) -> int:
    """Return how many examples to try: ``nightly`` under ``make nightly``, else ``ordinary``."""
    return nightly if NIGHTLY else ordinary
