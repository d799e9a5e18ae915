"""Find what an interrupted run registered before its request was answered.

A registration that is run again finds its own name taken.  So a repeated run looks here first: the
same name and the same spec, by the same user.
"""

from sqlmodel import col, select

from penstock.connectors.specs.sources import is_table
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import with_tier
from penstock.services.context import Server
from penstock.services.datasets.data_folder import located
from penstock.services.datasets.datasets import declared_next, next_version, spec_text
from penstock.services.datasets.declarations import as_declared
from penstock.services.queries.exact_answers import Request, planned
from penstock.services.queries.recorded_statement import is_keys_text
from penstock.services.queries.recorded_statement import spec_text as query_spec_text
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import clearance_of
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    DatasetRequest,
    VersionRequest,
)
from penstock.spec_fields import folded


def dataset(server: Server, principal: Principal, request: DatasetRequest) -> str | None:
    """Return the name of the dataset that ``request`` registered; ``None`` if it did not."""
    spec = spec_text(located(server, request))
    with server.database.read() as session:
        stored = session.exec(
            select(Dataset)
            .where(col(Dataset.folded) == folded(request.name), col(Dataset.withdrawn_at).is_(None))
            .order_by(col(Dataset.version))
        ).first()
    if stored is None or stored.by != principal.name:
        return None
    return stored.name if spec in {stored.spec, _unpinned(stored.spec)} else None


def _unpinned(spec: str) -> str:
    """Return a stored spec as it was sent if its table had no version yet."""
    request = DatasetRequest.model_validate_json(spec)
    if not is_table(request.source):
        return spec
    uri = (request.source.uri or "").partition("?")[0]
    source = request.source.model_copy(update={"uri": uri})
    return spec_text(request.model_copy(update={"source": source}))


def version(server: Server, principal: Principal, name: str, request: VersionRequest) -> str | None:
    """Return the name of the dataset whose newest version ``request`` registered, else ``None``."""
    with server.database.read() as session:
        newest = dataset_by_name(session, name)
    if newest.by != principal.name or newest.disjoint_units != request.disjoint_units:
        return None
    # A table may have had another version since, with which the stored one is not compared.
    same = newest.version > 1 and (
        _unpinned(newest.spec) == spec_text(declared_next(newest, request))
        or newest.spec == spec_text(next_version(server, newest, request))
    )
    return newest.name if same else None


def query(server: Server, principal: Principal, request: Request) -> str | None:
    """Return the name of the query that ``request`` registered; ``None`` without an anchor."""
    with server.database.read() as session:
        if "admin" not in principal.roles and isinstance(request, ComputedQueryRequest):
            tier = clearance_of(session, required(principal.user_id))
            request = request if tier is None else with_tier(request, tier)
        version = dataset_by_name(session, request.dataset)
        stored = session.exec(
            select(Query).where(col(Query.folded) == folded(request.name))
        ).first()
        if stored is None or stored.dataset_id != version.id or stored.status == "pending":
            return None
        version = as_declared(session, version, stored)
    prepared = planned(version, request)
    spec = query_spec_text(request, prepared)
    same = stored.spec == spec and is_keys_text(stored.keys, prepared)
    return stored.name if same and stored.by == principal.name else None
