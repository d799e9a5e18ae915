"""Report the progress of something long: its stage, and a percent where that is known.

Whoever watches may see it, so that it depends on the file's length and the spec alone: a
stage, and the percent of the bytes that were read; never a number of rows or bytes.
"""

from typing import Protocol


class Progress(Protocol):
    """Receive the stage, and its percent from 0 to 100, or none where nobody knows it.

    It is called often, by the thread that works; it returns at once and raises nothing.  It is
    never called in a write transaction, so that it may be seen while others write.
    """

    def __call__(self, stage: str, percent: int | None = None, /) -> None:
        """Receive one report."""


def silent(stage: str, percent: int | None = None, /) -> None:
    """Ignore one report."""
