"""Read the audit log's events, and prove with the log's own proofs that they are in it."""

from dataclasses import dataclass, field
from datetime import datetime

from penstock_client._log.log import Log
from penstock_client._log.notes import Checkpoint
from penstock_client._show.listing import Listing
from penstock_client.admin import documents
from penstock_client.admin.models import Event
from penstock_client.admin.sending import Sender
from penstock_client.errors import InvalidArgument


@dataclass(frozen=True)
class InclusionProof:
    """Hold a verified proof: leaf ``index`` with that hash is in the log of ``checkpoint``.

    ``hashes`` are those of RFC 9162, section 2.1.3, in hexadecimal.
    """

    index: int
    leaf_hash: str
    hashes: tuple[str, ...] = field(repr=False)
    checkpoint: Checkpoint


class Proofs(Sender):
    """Provide what auditors do with the log."""

    _log: Log

    def events(
        self,
        *,
        user: str | None = None,
        query: str | None = None,
        kind: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
    ) -> Listing[Event]:
        """Return the events of the log, the oldest first, for auditors.

        Times are ISO 8601 with an offset from UTC.  Raises ``Forbidden`` without the role.
        """
        given = {"user": user, "query": query, "kind": kind}
        given |= {"since": _time(since), "until": _time(until)}
        parameters = {name: value for name, value in given.items() if value is not None}
        return Listing(map(Event.read, self._list("/audit/events", parameters)), documents.events)

    def prove(self, event: Event | int) -> InclusionProof:
        """Return the proof that an event is in the log, after verifying it.

        Raises ``LogRefused`` if it is not, or has another hash than the event that was shown, and
        ``InvalidArgument`` for an event that the log does not have yet.
        """
        index = event.index if isinstance(event, Event) else event
        if index is None:
            raise InvalidArgument("The event is not in the log yet; read it again in a second.")
        leaf = event.leaf_hash if isinstance(event, Event) else None
        leaf_hash, hashes, checkpoint = self._log.prove(index, leaf)
        return InclusionProof(index, leaf_hash, tuple(hashes), checkpoint)

    def prove_continued(self, old: Checkpoint) -> Checkpoint:
        """Return the newest checkpoint, after verifying that its log begins with that of ``old``.

        ``verify`` does so with the checkpoint that this client remembers.  Raises ``LogRefused``.
        """
        return self._log.require_continued(old)


def _time(moment: datetime | str | None) -> str | None:
    return moment.isoformat() if isinstance(moment, datetime) else moment
