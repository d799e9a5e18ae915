"""The client: one method for each thing that an analyst or auditor asks."""

import math
import os
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self
from urllib.parse import quote

import httpx

from penstock_client._http.address import DEFAULT
from penstock_client._http.fields import Fields
from penstock_client._http.pushing import Elements, push
from penstock_client._http.transport import LARGEST_ANSWER, Bearer, Transport
from penstock_client._http.version import __version__
from penstock_client._log.cosigning import Cosigner
from penstock_client._log.log import Log, default_file
from penstock_client._log.notes import Checkpoint
from penstock_client._log.watch import Watcher
from penstock_client.dummy import Dummy
from penstock_client.errors import InvalidArgument, ProtocolError
from penstock_client.models import (
    Budget,
    Dataset,
    Exposure,
    HistoryItem,
    Me,
    PrivacyLoss,
    TierBudget,
)
from penstock_client.preview import Preview, as_json, wanted
from penstock_client.queries import Query
from penstock_client.release import Release
from penstock_client.stream_preview import StreamPreview
from penstock_client.streams import Pushed, RunningTotals, Stream

if TYPE_CHECKING:
    import pandas as pd

API = "/api/v1"
PAGE = 1000
MOST_PAGES = 100_000
TIMEOUT = 60.0


class Client:
    """A connection to one Penstock server, as one user.

    ``url`` and ``token`` default to the environment's ``PENSTOCK_URL`` (else
    http://127.0.0.1:8080) and ``PENSTOCK_TOKEN``.  ``timeout`` is in seconds, for each
    wait on the network.  A token is sent over plain http to this machine only, unless
    ``insecure``.  ``largest_answer`` is in bytes; ``checkpoints`` is the file
    that remembers the newest checkpoint of each server's log; ``transport`` replaces the network.

    May be used from several threads, and as a context manager that closes its
    connections.  Raises ``InvalidArgument`` for settings that cannot be used; every other
    method raises ``NotReachable``, ``ProtocolError``, or the ``ApiError`` that says what
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
            raise InvalidArgument("No token: set PENSTOCK_TOKEN, or pass token=.")
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
        raise TypeError("A client holds a token and is never pickled; make a new one.")

    def close(self) -> None:
        """Closes the connections; the client cannot be used afterwards."""
        self._transport.close()

    def me(self) -> Me:
        """Who the token belongs to, with which roles and clearance."""
        return Me.read(self._get("/me"))

    def datasets(self) -> list[Dataset]:
        """The registered datasets."""
        return [Dataset.read(item) for item in self._list("/datasets")]

    def dataset(self, dataset: str) -> Dataset:
        """One dataset as it was declared: its columns, whose its rows are, its budgets."""
        return Dataset.read(self._get(f"/datasets/{_segment(dataset)}"))

    def dummy(self, dataset: str, *, rows: int = 100, seed: int = 0) -> Dummy:
        """Made-up rows of the declared columns, the same for the same ``seed``.

        They cost nothing and tell nothing: neither data nor state are touched.
        """
        parameters = {"rows": int(rows), "seed": int(seed)}
        return Dummy.read(self._get(f"/datasets/{_segment(dataset)}/dummy", parameters), dataset)

    def queries(self, dataset: str | None = None) -> list[Query]:
        """The queries that the caller may see, of one dataset or of all."""
        parameters = {} if dataset is None else {"dataset": dataset}
        return [Query.read(item) for item in self._list("/queries", parameters)]

    def preview(self, query: str | Mapping[str, object]) -> Preview:
        """What a query would cost at each tier that the caller may see; nothing is done.

        ``query`` is a spec as an admin would register it, where the values of a vector
        with keys may be left out, or the name of a registered query.  Raises
        ``InvalidArgument`` for a spec that is no JSON.
        """
        path = f"{API}/queries/preview"
        return Preview.read(Fields(self._transport.post(path, wanted(query)), "preview"))

    def release(
        self,
        query: str,
        *,
        tier: str | None = None,
        epsilon: float | None = None,
        rho: float | None = None,
        level: float | None = None,
    ) -> Release:
        """The query's values at one's own clearance, or at a more private level.

        At most one of ``tier`` (a name), ``epsilon``, ``rho`` and ``level`` (in the unit
        of the mechanism's parameter).  Between the levels that a query offers the next
        noisier one is released; ``Release.level`` says which.  Asking again gives the
        same values and costs nothing.  Raises ``InvalidArgument`` for more than one of
        them, or for a number that is not above 0.
        """
        wishes = {"tier": tier, "epsilon": epsilon, "rho": rho, "level": level}
        body = {name: _wish(name, value) for name, value in wishes.items() if value is not None}
        if len(body) > 1:
            raise InvalidArgument(f"Ask by one of {' or '.join(body)}, not by several.")
        path = f"{API}/queries/{_segment(query)}/releases"
        answer = Release.read(Fields(self._transport.post(path, body), "release"))
        self._hold(answer, kind="release", query=answer.query, release=answer.id)
        return answer

    def streams(self, dataset: str | None = None) -> list[Stream]:
        """The streams that the caller may see, of one dataset or of all."""
        parameters = {} if dataset is None else {"dataset": dataset}
        return [Stream.read(item) for item in self._list("/streams", parameters)]

    def stream(
        self,
        stream: str,
        *,
        first: int | None = None,
        last: int | None = None,
        tier: str | None = None,
    ) -> RunningTotals:
        """A stream's running totals, at one's own clearance or at that of a lower ``tier``.

        Of steps ``first`` to ``last``: from the first that the level has to the newest
        where they are left out.  The same range is the same for ever.
        """
        parameters = {
            name: value
            for name, value in (("from", first), ("to", last), ("tier", tier))
            if value is not None
        }
        running_totals = RunningTotals.read(
            self._get(f"/streams/{_segment(stream)}/releases", parameters)
        )
        ends = {"first": running_totals.items[0].t, "last": running_totals.items[-1].t}
        self._hold(running_totals, kind="stream", query=running_totals.stream, **ends)
        return running_totals

    def push(self, stream: str, elements: Elements, *, first: int | None = None) -> Pushed:
        """Takes elements into a stream (admins): numbers, or rows of them, in order.

        ``first`` is the number of the first of them, counted from 1.  Elements that the
        stream has already are skipped, so that a push may be repeated from its beginning
        after whatever stopped it; without ``first`` they follow the newest.  Large ones are
        sent in parts.  Where an answer is lost the stream is asked how far it has come, and
        what is missing is sent again.  Nobody else may push meanwhile.

        Raises ``InvalidArgument`` for what is no number, and for a gap before ``first``;
        ``Conflict`` where somebody else pushed.
        """
        return push(self._transport, f"{API}/streams/{_segment(stream)}", elements, first)

    def preview_stream(self, spec: Mapping[str, object]) -> StreamPreview:
        """What a stream would cost at each tier, and what other structures would do.

        ``spec`` is as an admin would open it; nothing is done.  Raises ``InvalidArgument``
        for a spec that is no JSON.
        """
        answer = self._transport.post(f"{API}/streams/preview", as_json(spec))
        return StreamPreview.read(Fields(answer, "preview"))

    def history(self, query: str | None = None, *, user: str | None = None) -> list[HistoryItem]:
        """What was handed out: to oneself, and for auditors to everybody (or ``user``)."""
        wanted = {"query": query, "user": user}
        items = self._list("/releases", {name: v for name, v in wanted.items() if v is not None})
        return [HistoryItem.read(item) for item in items]

    def exposure(self, users: str | Iterable[str], dataset: str | None = None) -> Exposure:
        """What these users know together of a dataset, or of all together.

        Auditors ask about anybody, others about themselves.
        """
        names = [users] if isinstance(users, str) else list(users)
        if not names or any(not name or "," in name for name in names):
            raise InvalidArgument("Exposure is that of at least one user, named without commas.")
        parameters = {"users": ",".join(names)} | ({} if dataset is None else {"dataset": dataset})
        return Exposure.read(self._get("/audit/exposure", parameters))

    def budget(self, dataset: str) -> Budget:
        """What a dataset's tiers may lose, have lost, and have left."""
        return Budget.read(self._get(f"/datasets/{_segment(dataset)}/budget"))

    def verify(self) -> Checkpoint:
        """The newest checkpoint of the server's log, once it was found to continue the last.

        Raises ``LogRefused`` for a log that is shorter than it was, or another one.
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
        """A monitor of the server's log that remembers it in the file ``state``.

        ``key`` is the log's, where it is known; ``evidence`` the folder for what shows a fork.
        """
        url = self._transport.url
        return Watcher(self._transport, url, state, key, evidence, cosigner, clock)

    def _hold(self, shown: Release | RunningTotals, **stated_fields: object) -> None:
        """Hold the server to a receipt: its leaf is of this answer, to this user."""
        if self._name is None:
            self._name = self.me().name
        stated_fields |= {
            "user": self._name,
            "dataset": shown.dataset,
            "level": asdict(shown.level),
        }
        self._log.hold(shown.receipt, stated_fields)

    # What those who come from lomas are used to call them.

    def get_dataset_metadata(self, dataset: str) -> Dataset:
        """lomas's name for ``dataset``."""
        return self.dataset(dataset)

    def get_dummy_dataset(self, dataset: str, nb_rows: int = 100, seed: int = 42) -> "pd.DataFrame":
        """lomas's name for ``dummy``, as a frame.  Raises ``MissingExtra`` without pandas."""
        return self.dummy(dataset, rows=nb_rows, seed=seed).to_pandas()

    def get_previous_queries(self, query: str | None = None) -> list[HistoryItem]:
        """lomas's name for ``history``."""
        return self.history(query)

    def get_remaining_budget(self, dataset: str, tier: str | None = None) -> PrivacyLoss:
        """lomas's name for what ``budget`` says is left.

        That of one's own clearance; for admins and auditors that of the most trusted tier,
        unless they name another.
        """
        return _account(self.budget(dataset), tier).remaining

    def get_total_spent_budget(self, dataset: str, tier: str | None = None) -> PrivacyLoss:
        """lomas's name for what ``budget`` says is spent, of the same tier."""
        return _account(self.budget(dataset), tier).spent

    def _get(self, path: str, parameters: Mapping[str, str | int] | None = None) -> Fields:
        return Fields(self._transport.get(f"{API}{path}", parameters), path.strip("/"))

    def _list(self, path: str, parameters: Mapping[str, str] | None = None) -> Iterator[Fields]:
        """The items of all pages, in the server's order."""
        query: dict[str, str | int] = {**(parameters or {}), "limit": PAGE}
        for _ in range(MOST_PAGES):
            page = Fields(self._transport.get(f"{API}{path}", query), f"list of {path.strip('/')}")
            yield from page.children("items")
            cursor = page.text_or_none("next_cursor")
            if cursor is None:
                return
            if cursor == query.get("cursor"):
                raise ProtocolError(f"The {page.where} leads back to the same page.")
            query["cursor"] = cursor
        raise ProtocolError(f"The list of {path.strip('/')} has no end.")


def _wish(name: str, value: str | float) -> str | float:
    """A value as JSON can carry it: also numpy's numbers, but neither NaN nor a bool."""
    if name == "tier":
        return str(value)
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, OverflowError):
        number = math.nan
    if not 0 < number < math.inf:
        raise InvalidArgument(f"{name} is a number above 0, not {value!r}.")
    return number


def _segment(name: str) -> str:
    """A name as one part of a path."""
    if not name or name in (".", ".."):
        raise InvalidArgument("A name has at least one character, and is neither . nor ..")
    return quote(name, safe="")


def _account(budget: Budget, tier: str | None) -> TierBudget:
    """The account of a tier; where none is named, that of the most trusted one shown."""
    for account in reversed(budget.tiers):
        if tier is None or _folded(account.tier) == _folded(tier):
            return account
    shown = ", ".join(account.tier for account in budget.tiers) or "none"
    raise InvalidArgument(f"You see no budget of tier {tier!r}; those that you see: {shown}.")


def _folded(name: str) -> str:
    """Names are the same that differ only in case or Unicode spelling."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())
