"""Let a worker draw a long vector while its caller waits, or comes back for it.

A worker hands the release out in the caller's name, by the rules of any release, and the caller is
then answered from what is stored: a caller who is gone finds it by the same request.  A draw that
is interrupted is begun again under keys of its own, and what the dead one stored nobody can read.
"""

from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel

from penstock.errors import Conflict
from penstock.persistence.chunks.store import ChunkStore, Content, Writing
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import idempotency, jobs, queue
from penstock.services.jobs.jobs import JobRequest
from penstock.services.jobs.registrations import PREFIX, result_of
from penstock.services.jobs.runner import JobFunction, Run
from penstock.services.jobs.worker import Kinds
from penstock.services.releases import releases
from penstock.services.releases.allowed import EarlyLook
from penstock.services.releases.releases import Answer
from penstock.services.schemas.queries import ReleaseRequest

KIND: Final = "call_release"
_DIGITS: Final = 64


class _NamedRelease(BaseModel):
    """Hold the request for a release, with the query's name."""

    query: str
    request: ReleaseRequest


def release(
    server: Server,
    principal: Principal,
    name: str,
    request: ReleaseRequest,
    look: EarlyLook | None = None,
) -> Answer:
    """Release a query; a worker draws a vector that is long and not stored, if one is alive.

    ``look`` is what was read for this request already, with its caller.
    Raises as ``releases.request`` does, and ``Unavailable`` if the worker stops and no other is
    alive.
    """

    def elsewhere() -> bool:
        return _by_worker(server, principal, name, request)

    return releases.request(server, principal, name, request, elsewhere, look)


def _by_worker(server: Server, principal: Principal, name: str, request: ReleaseRequest) -> bool:
    """Wait until a worker has handed the release out; return False if none is to do so."""
    # Who acts in another person's name is recorded, and a job's row has no place for that.
    is_own = principal.user_id is not None and principal.by is None
    if not is_own or not queue.is_served(server):
        return False
    fields = _NamedRelease(query=name, request=request).model_dump_json(exclude_none=True)
    sent = idempotency.fingerprint(server, KIND.encode(), fields.encode())
    job = JobRequest(
        kind=KIND, key=PREFIX + sent.hex()[:_DIGITS], request=sent, fields=fields, subject=name
    )
    try:
        begun = jobs.start_job(server, principal, job, "a server", handed_over=queue.hand_over)
    except Conflict:
        return False  # the person has as many jobs as may wait
    result_of(server, principal, begun.piece.id)
    return True


def _prepared(server: Server, principal: Principal, fields: str) -> JobFunction:
    named = _NamedRelease.model_validate_json(fields)

    def act(run: Run) -> str:
        releases.request(_reporting(server, run), principal, named.query, named.request)
        return named.query

    return act


FOR_WORKERS: Kinds = {KIND: _prepared}
"""How a worker draws a long vector."""


def _reporting(server: Server, run: Run) -> Server:
    """Return the same server, whose store reports how much of a vector it has."""
    if server.settings.ray_address:
        return server  # workers of a cluster write, each by a store of its own
    reporting = replace(server)
    vars(reporting)["chunks"] = _ReportingStore(server.chunks, run)
    return reporting


class _ReportingStore:
    """Do what a store does, and report the part of the announced bytes that is stored."""

    def __init__(self, store: ChunkStore, run: Run) -> None:
        self._store, self._run = store, run
        self._size = self._stored = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def require_room(self, size: int) -> None:
        """Take a vector's size, as drawing it begins with that."""
        self._store.require_room(size)
        self._size, self._stored = max(size, 1), 0

    def begin(self, attempt: str) -> Writing:
        """Begin an attempt whose chunks are counted."""
        writing: Writing = _ReportingWriting(self._store.begin(attempt), self)
        return writing

    def add(self, size: int) -> None:
        """Report that so many bytes more are stored."""
        self._stored += size
        self._run("drawing", min(100, 100 * self._stored // self._size))


class _ReportingWriting:
    """Do what an attempt does, and report each chunk."""

    def __init__(self, writing: Writing, store: _ReportingStore) -> None:
        self._writing, self._store = writing, store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writing, name)

    def put(self, index: int, content: Content) -> None:
        """Store a chunk, and count it."""
        self._writing.put(index, content)
        self._store.add(len(content))
