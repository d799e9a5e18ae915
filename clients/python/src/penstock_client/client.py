"""Provide ``Client``, with one method for each operation of a server."""

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self

import httpx

from penstock_client._http.address import DEFAULT, segment
from penstock_client._http.fields import Fields
from penstock_client._http.files import rows_file
from penstock_client._http.pushing import Elements, push
from penstock_client._http.transport import LARGEST_ANSWER, Bearer, Transport
from penstock_client._http.version import __version__
from penstock_client._log.cosigning import Cosigner
from penstock_client._log.log import Log, default_file
from penstock_client._log.notes import Checkpoint
from penstock_client._log.watch import Watcher
from penstock_client._show import documents, stream_documents
from penstock_client._show.listing import Listing
from penstock_client.dummy import Dummy, SyntheticRows
from penstock_client.errors import InvalidArgument, ProtocolError
from penstock_client.lomas_names import LomasNames
from penstock_client.models import (
    Budget,
    Dataset,
    Exposure,
    HistoryItem,
    Me,
)
from penstock_client.preview import Preview, as_json, body_of, target_of
from penstock_client.queries import Query
from penstock_client.questions.session import API, Session
from penstock_client.release import Release
from penstock_client.stream_preview import StreamPreview
from penstock_client.streams import Pushed, RunningTotals, Stream

PAGE = 1000
MOST_PAGES = 100_000
TIMEOUT = 60.0
PIECE = 1 << 20
"""The number of values that ``Client.pieces`` fetches at once."""


class Client(Session, LomasNames):
    """Represent a connection to one Penstock server, as one user.

    ``url`` and ``token`` default to the environment's ``PENSTOCK_URL`` (else
    http://127.0.0.1:8080) and ``PENSTOCK_TOKEN``.  ``timeout`` is in seconds, for each
    wait on the network.  A token is sent over plain http to this machine only, unless
    ``insecure``.  ``largest_answer`` is in bytes; ``checkpoints`` is the file that
    remembers the newest checkpoint of each server's log; ``transport`` replaces the network.

    A client can be used from several threads, and as a context manager that closes its
    connections.  Raises ``InvalidArgument`` for settings that cannot be used; every other
    method raises ``NotReachable``, ``ProtocolError``, or the ``ApiError`` that states what
    the server refused.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = TIMEOUT,
        insecure: bool = False,
        largest_answer: int = LARGEST_ANSWER,
        checkpoints: Path | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        url = (url or os.environ.get("PENSTOCK_URL") or DEFAULT).strip()
        token = (token or os.environ.get("PENSTOCK_TOKEN") or "").strip()
        if not token:
            raise InvalidArgument(
                "There is no token; set PENSTOCK_TOKEN, or pass token= in Python."
            )
        if not 0 < timeout < math.inf:
            raise InvalidArgument(f"A timeout is a number of seconds above 0, not {timeout}.")
        self._transport = Transport(
            url,
            Bearer(token),
            agent=f"penstock-client/{__version__}",
            timeout=timeout,
            insecure=insecure,
            largest_answer=largest_answer,
            transport=transport,
        )
        self._log = Log(self._transport, self._transport.url, checkpoints or default_file())
        self._name: str | None = None

    def __repr__(self) -> str:
        return f"Client({self._transport.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A client contains a token and cannot be pickled or copied; create a new one."
        )

    def close(self) -> None:
        """Close the connections; the client cannot be used afterwards."""
        self._transport.close()

    def me(self) -> Me:
        """Return the user whose token this is, with roles and clearance."""
        return Me.read(self._get("/me"))

    def datasets(self) -> Listing[Dataset]:
        """Return the registered datasets."""
        return Listing(map(Dataset.read, self._list("/datasets")), documents.datasets)

    def dataset(self, dataset: str) -> Dataset:
        """Return one dataset as it was declared: columns, privacy unit, budgets."""
        return Dataset.read(self._get(f"/datasets/{segment(dataset)}"))

    def dummy(self, dataset: str, *, rows: int = 100, seed: int = 0) -> Dummy:
        """Return made-up rows of the declared columns, the same for the same ``seed``.

        They cost no budget and reveal nothing: the data are not read.
        """
        parameters = {"rows": int(rows), "seed": int(seed)}
        return Dummy.read(self._get(f"/datasets/{segment(dataset)}/dummy", parameters), dataset)

    def queries(
        self,
        dataset: str | None = None,
        *,
        search: str | None = None,
        tag: str | None = None,
        sort: str | None = None,
    ) -> Listing[Query]:
        """Return the queries that the caller may see, of one dataset or of all.

        ``search`` keeps those with each of its words in their title, name, dataset, tags or
        sentence, and ``tag`` those with a tag.  ``sort`` is "oldest", as without it, "newest",
        "name" or "dataset".
        """
        given = {"dataset": dataset, "search": search, "tag": tag, "sort": sort}
        parameters = {name: text for name, text in given.items() if text is not None}
        return Listing(map(Query.read, self._list("/queries", parameters)), documents.queries)

    def preview(self, query: str | Mapping[str, object]) -> Preview:
        """Return what a query would cost at each tier that the caller may see; change nothing.

        ``query`` is a spec as an admin would register it, or the name of a registered query.
        The values of a vector with keys may be left out of a spec.  Raises
        ``InvalidArgument`` for a spec that JSON cannot represent.
        """
        path = f"{API}/queries/preview"
        return Preview.read(Fields(self._transport.post(path, body_of(query)), "preview"))

    def release(
        self,
        query: str,
        *,
        tier: str | None = None,
        epsilon: float | None = None,
        rho: float | None = None,
        level: float | None = None,
    ) -> Release:
        """Return the query's values at the caller's clearance, or at a more private level.

        Give at most one of ``tier`` (a name), ``epsilon``, ``rho`` and ``level`` (in the unit of
        the mechanism's parameter).  If the target is between two levels that the query offers, the
        noisier one is released; ``Release.level`` says which.  The same request again returns the
        same values at no cost.  Raises ``InvalidArgument`` for several targets, or one not above 0.
        """
        targets = {"tier": tier, "epsilon": epsilon, "rho": rho, "level": level}
        body = {
            name: target_of(name, value) for name, value in targets.items() if value is not None
        }
        if len(body) > 1:
            raise InvalidArgument(f"Give one of {' or '.join(body)}, not several.")
        path = f"{API}/queries/{segment(query)}/releases"
        answer = Release.read(Fields(self._transport.post(path, body), "release"))
        self._verify_receipt(answer, kind="release", query=answer.query, release=answer.id)
        return answer

    def values(
        self,
        release: Release | str,
        first: int | None = None,
        last: int | None = None,
        interval: str | None = None,
        probabilities: Sequence[float] = (),
        report: str | None = None,
        outcome: str | None = None,
        predictors: Sequence[str] = (),
        size: Release | str | None = None,
    ) -> Release:
        """Return a release that the caller received, or its values at a range of positions.

        Positions count from 0, ends included; ``interval`` (noise, population) is of estimates,
        ``probabilities`` of quantiles, ``report`` of marginals, ``outcome`` and ``predictors`` of
        moments, a release of their ``size`` of counts.  Raises as ``release`` does.
        """
        shares = ",".join(map(repr, map(float, probabilities))) or None
        given = {"from": first, "to": last, "interval": interval, "probabilities": shares}
        given |= {"report": report, "outcome": outcome, "predictors": ",".join(predictors) or None}
        given |= {"size_release": size.id if isinstance(size, Release) else size}
        sent = {name: part for name, part in given.items() if part is not None}
        shown = Release.read(self._get(f"{_address(release)}/values", sent))
        self._verify_receipt(shown, release=shown.id)
        return shown

    def synthetic(self, release: Release | str, rows: int | None = None) -> SyntheticRows:
        """Return made-up rows with the counts of a release, by default as many as it says.

        All its readers get the same.  Raises ``InvalidInput`` if it is no table of counts.
        """
        parameters = None if rows is None else {"rows": int(rows)}
        return SyntheticRows.read(self._get(f"{_address(release)}/synthetic", parameters))

    def synthetic_file(self, release: Release | str, form: str, rows: int | None = None) -> bytes:
        """Return the same rows as a file: ``csv``, ``arrow`` or ``parquet``.  Raises as that."""
        return rows_file(self._transport, f"{API}{_address(release)}/synthetic", form, rows)

    def pieces(self, release: Release | str, size: int = PIECE) -> Iterator[Release]:
        """Yield a release in ranges of ``size`` values, each fetched when it is asked for.

        So a release of any length is read in little memory.  Raises as ``values`` does.
        """
        if size < 1:
            raise InvalidArgument(f"A piece has at least one value, not {size}.")
        known = release if isinstance(release, Release) else self.values(release, 0, 0)
        count = len(known) if known.part is None else known.part.count
        for first in range(0, count, size):
            yield self.values(known, first, min(first + size, count) - 1)

    def streams(self, dataset: str | None = None) -> Listing[Stream]:
        """Return the streams that the caller may see, of one dataset or of all."""
        parameters = {} if dataset is None else {"dataset": dataset}
        items = self._list("/streams", parameters)
        return Listing(map(Stream.read, items), stream_documents.streams)

    def stream(
        self,
        stream: str,
        *,
        first: int | None = None,
        last: int | None = None,
        tier: str | None = None,
    ) -> RunningTotals:
        """Return a stream's running totals, at the caller's clearance or at a lower ``tier``.

        The steps are ``first`` to ``last``; by default, from the first step that the level has
        to the newest.  The totals of a range never change.
        """
        given = {"from": first, "to": last, "tier": tier}
        parameters = {name: value for name, value in given.items() if value is not None}
        running_totals = RunningTotals.read(
            self._get(f"/streams/{segment(stream)}/releases", parameters)
        )
        ends = {"first": running_totals.items[0].t, "last": running_totals.items[-1].t}
        self._verify_receipt(running_totals, kind="stream", query=running_totals.stream, **ends)
        return running_totals

    def push(self, stream: str, elements: Elements, *, first: int | None = None) -> Pushed:
        """Push elements to a stream (admins): numbers, or rows of numbers, in order.

        ``first`` is the number of the first element, counted from 1; without it, the elements
        follow the newest one.  Elements that the stream has already are skipped, so an
        interrupted push can be repeated from its beginning.  Many elements are sent in parts.
        If an answer is lost, the client reads which element is next and sends the missing ones
        again.  No other client may push at the same time.

        Raises ``InvalidArgument`` for anything but finite numbers, and for a gap before
        ``first``; ``Conflict`` if another client pushed.
        """
        return push(self._transport, f"{API}/streams/{segment(stream)}", elements, first)

    def preview_stream(self, spec: Mapping[str, object]) -> StreamPreview:
        """Return what a stream would cost at each tier, and how other structures compare.

        ``spec`` is one as an admin would open a stream with; nothing is changed.  Raises
        ``InvalidArgument`` for a spec that JSON cannot represent.
        """
        answer = self._transport.post(f"{API}/streams/preview", as_json(spec))
        return StreamPreview.read(Fields(answer, "preview"))

    def history(self, query: str | None = None, *, user: str | None = None) -> Listing[HistoryItem]:
        """Return what was released to the caller; for auditors, to everybody or ``user``."""
        filters = {"query": query, "user": user}
        items = self._list("/releases", {name: v for name, v in filters.items() if v is not None})
        return Listing(map(HistoryItem.read, items), documents.history)

    def exposure(self, users: str | Iterable[str], dataset: str | None = None) -> Exposure:
        """Return what these users could learn together about a dataset, or about all of them.

        Auditors may name any users, others only themselves.
        """
        names = [users] if isinstance(users, str) else list(users)
        if not names or any(not name or "," in name for name in names):
            raise InvalidArgument("Name at least one user; a name contains no comma.")
        parameters = {"users": ",".join(names)} | ({} if dataset is None else {"dataset": dataset})
        return Exposure.read(self._get("/audit/exposure", parameters))

    def budget(self, dataset: str) -> Budget:
        """Return the budget of each tier of a dataset: granted, spent and remaining."""
        return Budget.read(self._get(f"/datasets/{segment(dataset)}/budget"))

    def verify(self) -> Checkpoint:
        """Return the newest checkpoint of the log, after verifying that it continues the last.

        Raises ``LogRefused`` for a log that is shorter than before or has another history.
        """
        return self._log.follow()

    def watcher(
        self,
        state: Path,
        *,
        key: bytes | None = None,
        evidence: Path | None = None,
        cosigner: Cosigner | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Watcher:
        """Return a monitor of the server's log that remembers it in the file ``state``.

        ``key`` is the log's public key, if it is known; ``evidence`` is the folder for evidence
        of a fork.
        """
        url = self._transport.url
        return Watcher(self._transport, url, state, key, evidence, cosigner, clock)

    def _verify_receipt(self, shown: Release | RunningTotals, **expected_fields: object) -> None:
        """Verify that the receipt's leaf is in the log, and states this answer and this user."""
        if self._name is None:
            self._name = self.me().name
        expected_fields |= {
            "user": self._name,
            "dataset": shown.dataset,
            "level": asdict(shown.level),
        }
        self._log.verify(shown.receipt, expected_fields)

    def _get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> Fields:
        return Fields(self._transport.get(f"{API}{path}", parameters), path.strip("/"))

    def _list(self, path: str, parameters: Mapping[str, str] | None = None) -> Iterator[Fields]:
        """Yield the items of all pages, in the server's order."""
        query: dict[str, str | int] = {**(parameters or {}), "limit": PAGE}
        for _ in range(MOST_PAGES):
            page = Fields(self._transport.get(f"{API}{path}", query), f"list of {path.strip('/')}")
            yield from page.children("items")
            cursor = page.text_or_none("next_cursor")
            if cursor is None:
                return
            if cursor == query.get("cursor"):
                raise ProtocolError(f"The {page.where} names the same page again as its next one.")
            query["cursor"] = cursor
        raise ProtocolError(
            f"The list of {path.strip('/')} has more than {MOST_PAGES:,} pages; it is not read on."
        )


def _address(release: Release | str) -> str:
    """Return the path of a release."""
    return f"/releases/{segment(release.id if isinstance(release, Release) else release)}"
