"""Register datasets and queries, by a worker if one is alive, and wait for the answer.

A caller of the API waits as before, holding no connection.  What a worker does goes on if the
caller, or the process that waits for them, is gone: repeating the same request finds it and returns
its answer.  An answer that was given is forgotten, so that another request for the same is refused
as always.  Exact values are never stored in a job's row: vectors that are pushed are registered in
the request itself.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from pydantic import BaseModel, TypeAdapter

from penstock.errors import Conflict, NotFound, Unavailable
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets import datasets, look_alikes
from penstock.services.datasets.data_folder import located
from penstock.services.jobs import idempotency, jobs, queue
from penstock.services.jobs.jobs import JobRequest
from penstock.services.jobs.runner import JobFunction, Run
from penstock.services.jobs.worker import Kinds
from penstock.services.queries import queries, registered, registration
from penstock.services.queries.sql.statements import resolved
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
    QueryRequest,
    SpecRequest,
    SqlRequest,
    VersionRequest,
)
from penstock.services.schemas.views import DatasetView, QueryView
from penstock.services.schemas.wordings.wordings import texts_of

View = TypeVar("View")

LONGEST_FIELDS: Final = 262_144
"""The longest request that a job's row can hold; a longer one is done in the request itself."""

PREFIX: Final = "call-"
_DIGITS: Final = 64
_LOOK_SECONDS: Final = 30.0
_DATASET, _VERSION, _QUERY = "call_dataset", "call_version", "call_query"
_OWN_QUERY: Final = "call_own_query"
_QUERIES: TypeAdapter[SpecRequest] = TypeAdapter(SpecRequest)


class _NamedVersion(BaseModel):
    """Hold the request for a dataset's new version, with the dataset's name."""

    name: str
    request: VersionRequest


@dataclass(frozen=True)
class _Call:
    """Hold a request that a worker may do: its kind, its text, and what it is about."""

    kind: str
    fields: str
    subject: str


def dataset(server: Server, principal: Principal, request: DatasetRequest) -> DatasetView:
    """Register a dataset.  Raises as ``datasets.register`` does, and ``Unavailable``."""

    def at_once() -> DatasetView:
        return datasets.register(server, principal, request)

    if request.source.engine == "vector":
        return at_once()
    principal.require("admin")
    call = _Call(_DATASET, _text(located(server, request)), request.name)
    return _called(
        server,
        principal,
        call,
        at_once,
        lambda: registered.dataset(server, principal, request),
        _shown(server, principal),
    )


def version(
    server: Server, principal: Principal, name: str, request: VersionRequest
) -> DatasetView:
    """Register a dataset's new version.  Raises as ``datasets.add_version`` does."""

    def at_once() -> DatasetView:
        return datasets.add_version(server, principal, name, request)

    call = _Call(_VERSION, _text(_NamedVersion(name=name, request=request)), name)
    return _called(
        server,
        principal,
        call,
        at_once,
        lambda: registered.version(server, principal, name, request),
        _shown(server, principal),
    )


def query(server: Server, principal: Principal, request: QueryRequest) -> QueryView:
    """Register a query, also one in SQL.

    Raises as ``registration.register`` and ``statements.resolved`` do, and ``Unavailable``.
    """
    # A worker gets the spec: the statement is read against the dataset that is visible now.
    spec = resolved(server, principal, request) if isinstance(request, SqlRequest) else request

    def at_once() -> QueryView:
        return registration.register(server, principal, spec)

    if isinstance(spec, PushedVectorRequest):
        return at_once()
    kind = _QUERY if "admin" in principal.roles else _OWN_QUERY
    call = _Call(kind, _text(spec), spec.name)
    return _called(
        server,
        principal,
        call,
        at_once,
        lambda: registered.query(server, principal, spec),
        lambda made: queries.show(server, principal, made),
    )


def of_dataset(server: Server, principal: Principal, request: DatasetRequest) -> JobFunction:
    """Return the job that registers a dataset."""

    def act(run: Run) -> str:
        before = registered.dataset(server, principal, request) if run.resumed else None
        return before or datasets.register(server, principal, request, run).name

    return act


def of_query(server: Server, principal: Principal, request: QueryRequest) -> JobFunction:
    """Return the job that registers a query.  Raises as ``statements.resolved`` for one in SQL."""
    spec = resolved(server, principal, request) if isinstance(request, SqlRequest) else request

    def act(run: Run) -> str:
        before = registered.query(server, principal, spec) if run.resumed else None
        return before or registration.register(server, principal, spec, run).name

    return act


def _prepared_dataset(server: Server, principal: Principal, fields: str) -> JobFunction:
    return of_dataset(server, principal, DatasetRequest.model_validate_json(fields))


def _prepared_version(server: Server, principal: Principal, fields: str) -> JobFunction:
    named = _NamedVersion.model_validate_json(fields)

    def act(run: Run) -> str:
        sent = (server, principal, named.name, named.request)
        before = registered.version(*sent) if run.resumed else None
        return before or datasets.add_version(*sent).name

    return act


def _prepared_query(server: Server, principal: Principal, fields: str) -> JobFunction:
    return of_query(server, principal, _QUERIES.validate_json(fields))


def _prepared_own_query(server: Server, principal: Principal, fields: str) -> JobFunction:
    """Return the job of a caller who was no admin when they called.

    The worker has all roles of the user, and the caller's token may have had fewer.
    """
    without = replace(principal, roles=principal.roles - {"admin"})
    return _prepared_query(server, without, fields)


FOR_WORKERS: Kinds = {
    _DATASET: _prepared_dataset,
    _VERSION: _prepared_version,
    _QUERY: _prepared_query,
    _OWN_QUERY: _prepared_own_query,
}
"""How a worker does each kind of call."""


def _text(request: BaseModel) -> str:
    """Return a request as a worker reads it again, with all that it says beside the spec.

    The spec leaves out whose people a dataset has: without it a worker would register one whose
    losses add up with nothing.
    """
    beside = texts_of(request)
    if isinstance(request, DatasetRequest) and request.same_people_as is not None:
        beside["same_people_as"] = request.same_people_as
    if not beside:
        return request.model_dump_json(exclude_unset=True)
    return json.dumps({**request.model_dump(mode="json", exclude_unset=True), **beside})


def _shown(server: Server, principal: Principal) -> Callable[[str], DatasetView]:
    def show(name: str) -> DatasetView:
        notices = look_alikes.notices_of(server, principal, name)
        return replace(datasets.show(server, principal, name), notices=notices)

    return show


def _called(
    server: Server,
    principal: Principal,
    call: _Call,
    at_once: Callable[[], View],
    before: Callable[[], str | None],
    show: Callable[[str], View],
) -> View:
    """Return the answer to a call, done by a worker or, without one, ``at_once``.

    ``before`` returns the name of what an interrupted attempt made, which ``show`` shows.
    """
    if server.database.one_writer or principal.user_id is None:
        return at_once()
    if len(call.fields) > LONGEST_FIELDS:
        return at_once()
    sent = idempotency.fingerprint(server, call.kind.encode(), call.fields.encode())
    request = JobRequest(
        kind=call.kind,
        key=PREFIX + sent.hex()[:_DIGITS],
        request=sent,
        fields=call.fields,
        subject=call.subject,
    )
    if queue.is_served(server):
        try:
            begun = jobs.start_job(
                server, principal, request, "a server", handed_over=queue.hand_over
            )
        except Conflict:
            return at_once()  # the person has as many jobs as may wait
        made = result_of(server, principal, begun.piece.id)
    else:
        # A worker that has stopped may have done it, or begun it.
        former = jobs.with_key(server, principal, request.key)
        if former is None:
            return at_once()
        made = result_of(server, principal, former.id) if former.state == "done" else None
    made = made or before()
    return at_once() if made is None else show(made)


def result_of(server: Server, principal: Principal, piece: str) -> str | None:
    """Wait for a job, and return the name of what it made.  Raises its refusal.

    ``None`` means that the same request, sent at the same time, was given the outcome first.
    """
    while True:
        try:
            view = jobs.wait(server, principal, piece, _LOOK_SECONDS)
        except NotFound:
            return None
        if view.state in ("done", "failed"):
            break
        if view.state == "interrupted":
            if not queue.is_served(server):
                raise Unavailable(
                    "The worker that did this has stopped, and no other is alive. Nothing was"
                    " lost: repeat the request, which goes on with it."
                )
            time.sleep(jobs.LAST_LOOK_SECONDS)  # another worker takes it over
    jobs.forget(server, principal, piece)
    if view.problem is not None:
        raise view.problem
    return view.result or ""
