"""Let admins change titles and other texts of what is registered."""

from collections.abc import Mapping
from typing import Any

from penstock.services.access.principals import Principal, require_still
from penstock.services.allowances.own_names import query_named
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.queries import queries
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.streams import StreamView
from penstock.services.schemas.views import DatasetView, QueryView
from penstock.services.streams import streams
from penstock.services.wordings.wordings import change

Texts = Mapping[str, Any]


def of_dataset(server: Server, principal: Principal, name: str, texts: Texts) -> DatasetView:
    """Change texts of a dataset, for all versions.  Raises ``NotFound`` and ``InvalidInput``."""
    principal.require("admin")
    with server.database.write() as session:
        require_still(session, principal, "admin")
        dataset = dataset_by_name(session, name)
        change(session, server, principal, dataset, texts)
        return datasets.view(session, dataset, None)


def of_query(server: Server, principal: Principal, name: str, texts: Texts) -> QueryView:
    """Change texts of a query.  Raises ``NotFound`` and ``InvalidInput``."""
    principal.require("admin")
    with server.database.write() as session:
        require_still(session, principal, "admin")
        query = query_named(session, name)
        change(session, server, principal, query, texts)
        return queries.view(session, query, None)


def of_stream(server: Server, principal: Principal, name: str, texts: Texts) -> StreamView:
    """Change texts of a stream.  Raises ``NotFound`` and ``InvalidInput``."""
    principal.require("admin")
    with server.database.write() as session:
        require_still(session, principal, "admin")
        change(session, server, principal, stream_by_name(session, name), texts)
    return streams.show(server, principal, name)
