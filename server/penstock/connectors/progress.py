"""Report the progress of a long task: its stage, and a percentage if that is known.

Anyone who watches the task sees it, so it depends on the file's length and the spec alone: a stage,
and the percentage of the bytes read; never a number of rows or bytes.
"""

from typing import Protocol


class Progress(Protocol):
    """Receive the stage, and its percentage from 0 to 100, or None if it is unknown.

    It is called often, by the thread that works; it returns at once and raises nothing.  It is
    never called in a write transaction, so that it may be seen while others write.
    """

    def __call__(self, stage: str, percent: int | None = None, /) -> None:
        """Receive one report."""


def silent(stage: str, percent: int | None = None, /) -> None:
    """Ignore one report."""
