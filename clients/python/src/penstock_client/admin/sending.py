"""Send what changes something: again if an answer is lost, but acted on only once."""

import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress

from penstock_client._http.fields import Fields
from penstock_client._http.transport import Transport
from penstock_client.errors import NotReachable, Proposed, Unavailable
from penstock_client.preview import as_json
from penstock_client.questions.session import API

PAUSES = (0.25, 0.5, 1.0)
"""Seconds to wait after each lost answer before the request is sent again."""


class Sender(ABC):
    """Provide the requests that admins send, on top of a client's connection."""

    _transport: Transport

    def _create(self, path: str, body: Mapping[str, object], where: str) -> Fields:
        """Return the answer to POST.  Raises ``Proposed`` if another admin must approve it."""
        return done(self._post(path, body, where))

    def _post(self, path: str, body: Mapping[str, object], where: str) -> Fields:
        """Return the answer to POST, sent again under one key while answers are lost."""
        whole, key = as_json(body), str(uuid.uuid4())
        for pause in PAUSES:
            with suppress(NotReachable, Unavailable):
                return Fields(self._transport.post(f"{API}{path}", whole, key), where)
            time.sleep(pause)
        return Fields(self._transport.post(f"{API}{path}", whole, key), where)

    def _change(self, path: str, body: Mapping[str, object], where: str) -> Fields:
        """Return the answer to PATCH.  Raises ``Proposed`` as ``_create`` does."""
        return done(Fields(self._transport.patch(f"{API}{path}", as_json(body)), where))

    def _remove(self, path: str, where: str) -> Fields:
        """Return the answer to DELETE.  Raises ``Proposed`` as ``_create`` does."""
        return done(Fields(self._transport.delete(f"{API}{path}"), where))

    def _show(self, path: str, where: str) -> Fields:
        """Return the answer to GET."""
        return Fields(self._transport.get(f"{API}{path}"), where)

    @abstractmethod
    def _list(self, path: str, parameters: Mapping[str, str] | None = None) -> Iterator[Fields]:
        """Yield the items of all pages."""


def done(fields: Fields) -> Fields:
    """Return the fields of an answer.  Raises ``Proposed`` if it is a proposal."""
    if {"act", "basis", "proposed_by"} <= fields.whole.keys():
        raise Proposed(fields.text("id"))
    return fields
