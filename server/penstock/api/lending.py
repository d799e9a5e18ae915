"""What the pages borrow: they are served beside the API, under the same rules."""

from flask import request

from penstock.api import edge
from penstock.api.call import quanta_of

QUANTA = "penstock.quanta"
"""Where a request keeps in how many time quanta its answer goes out."""


def hide_duration(values: int) -> None:
    """Let the answer to this request, of so many values, not tell whether they were just drawn."""
    request.environ[QUANTA] = quanta_of(values)


def made_by(name: str) -> None:
    """Name the caller of this request to the log."""
    request.environ[edge.CALLER] = name
