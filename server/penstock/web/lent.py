"""What the pages share with the API, which stands beside them and is not known to them.

``application`` knows both and lends it: how often somebody may ask, how lists go on, the
forms of a download, and how an answer is kept from telling how long it took.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from flask import Response

from penstock.services.jobs.runner import Runner
from penstock.services.schemas.views import ReleaseView


class Limits(Protocol):
    """How often somebody may ask; both raise ``TooManyRequests``."""

    def request(self, user: str) -> None:
        """Count a request of a user."""

    def failed_sign_in(self, address: str) -> None:
        """Count a token that is not valid, by where it came from."""


class Cursors(Protocol):
    """Where a list goes on, as it may leave the server."""

    def seal(self, path: str, cursor: str) -> str:
        """The cursor for the list at ``path``."""

    def open(self, path: str, sealed: str) -> str:
        """What ``seal`` was given.  Raises ``InvalidInput``."""


@dataclass(frozen=True)
class Lent:
    """``download`` writes a release in one of ``forms``, ``lines`` one JSON object a line.

    ``hide_duration`` and ``made_by`` speak of the request that is being answered: the one lets an
    answer of so many values not tell whether they were drawn just now, the other
    names the caller to the log.  ``runner`` works on what takes long.
    """

    limits: Limits
    cursors: Cursors
    forms: Sequence[str]
    download: Callable[[ReleaseView, str], Response]
    lines: Callable[[Iterable[object]], Response]
    hide_duration: Callable[[int], None]
    made_by: Callable[[str], None]
    runner: Runner
