"""List the queries in a caller's sight that match a choice.

A few columns of each are read to choose, and whole rows only of the part that is shown.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlmodel import Session, col, select

from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Grant, Query, Release
from penstock.sentences import definitions
from penstock.services.access.principals import Principal
from penstock.services.catalogue.choices import NEW_DAYS, Choice
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below, visible_dataset
from penstock.services.datasets.population import unit_of
from penstock.services.pagination import Page, Window
from penstock.services.queries.queries import view
from penstock.services.releases.visibility import seen_part
from penstock.services.repository.queries import in_sight
from penstock.services.schemas.views import QueryView
from penstock.services.schemas.wordings.wordings import WordingView
from penstock.services.wordings.stored import of_queries, shown_of
from penstock.spec_fields import folded, without_number


@dataclass(frozen=True)
class Listed:
    """Hold a query of the list with the marks that it has for the caller."""

    query: QueryView
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """Hold a page of the chosen queries, how many are chosen, and how many are in sight."""

    page: Page[Listed]
    chosen: int
    visible: int


@dataclass(frozen=True)
class _Known:
    """Hold what is chosen by; ``spec`` is empty unless there is a search."""

    id: int
    name: str
    dataset_id: int
    dataset: str
    spec: str
    marks: tuple[str, ...]


def listing(server: Server, principal: Principal, window: Window, choice: Choice) -> Listing:
    """List the queries that the caller may see and that match, in the chosen order.

    The window counts places in this order.
    """
    with server.database.read() as session:
        limit = visible_below(session, principal)
        if limit is None and not principal.roles & {"admin", "auditor"}:
            return Listing(Page([], None), 0, 0)
        newest = server.clock() - timedelta(days=NEW_DAYS)
        known = list(_in_sight(session, principal, limit, choice, newest))
        chosen = _sorted(_matching(session, known, limit, choice), choice.sort)
        part = chosen[window.after + 1 :][: window.limit + 1]
        rows = _rows(session, [query.id for query in part])
        texts = shown_of(session, rows.values(), limit)

        def shown(item: tuple[int, _Known]) -> Listed:
            number = item[1].id
            seen = view(session, rows[number], limit, texts[number])
            return Listed(seen, item[1].marks)

        places = list(enumerate(part, window.after + 1))
        page = window.page(places, shown, lambda item: item[0])
    return Listing(page, len(chosen), len(known))


def chosen(server: Server, principal: Principal, window: Window, choice: Choice) -> Page[QueryView]:
    """List as ``listing`` does, without marks.  Raises ``NotFound`` for a dataset out of sight."""
    if choice.dataset:
        with server.database.read() as session:
            visible_dataset(session, principal, choice.dataset)
    page = listing(server, principal, window, choice).page
    return Page([item.query for item in page.items], page.next_cursor)


def _in_sight(
    session: Session, principal: Principal, limit: Tier | None, choice: Choice, newest: datetime
) -> Iterator[_Known]:
    """Yield the queries that the caller may see, in the order in which they were registered."""
    received = _received(session, principal)
    columns: list[Any] = [
        col(Query.id), col(Query.name), col(Query.dataset_id), col(Dataset.name),
        col(Query.status), col(Query.created_at), col(Query.by),
    ]  # fmt: skip
    if choice.search:
        columns.append(col(Query.spec))
    statement = (
        select(*columns)
        .join(Dataset, col(Query.dataset_id) == col(Dataset.id))
        .where(col(Query.structure).is_(None))
        .order_by(col(Query.id))
    )
    if limit is not None:
        statement = statement.where(in_sight(limit))
    for number, name, dataset_id, dataset, status, at, by, *spec in session.exec(statement).all():
        own = by == principal.name or number in received
        marks = {"mine": own, "new": at >= newest, "retired": status == "retired"}
        yield _Known(
            number,
            without_number(name),
            dataset_id,
            dataset,
            spec[0] if spec else "",
            tuple(mark for mark, is_set in marks.items() if is_set),
        )


def _received(session: Session, principal: Principal) -> Collection[int]:
    """Return the numbers of the queries of which the caller has a release."""
    if principal.user_id is None:
        return frozenset()
    statement = (
        select(col(Release.query_id))
        .join(Grant, col(Grant.release_id) == col(Release.id))
        .where(col(Grant.user_id) == principal.user_id)
        .distinct()
    )
    return frozenset(session.exec(statement).all())


def _matching(
    session: Session, known: Sequence[_Known], limit: Tier | None, choice: Choice
) -> list[_Known]:
    """Return the queries that match a choice: by title, name, dataset, sentence and tags."""
    units: dict[int, Any] = {}
    texts = of_queries(session) if choice.search or choice.tag else {}
    if choice.search:
        units = {required(row.id): unit_of(row) for row in session.exec(select(Dataset)).all()}

    def is_chosen(query: _Known) -> bool:
        has_mark = not choice.only or choice.only in query.marks
        text = texts.get(query.id, WordingView())
        if not (has_mark and choice.is_of(query.dataset) and choice.is_tagged(text.tags)):
            return False
        words = (text.title, query.name, query.dataset, *text.tags)
        if not choice.search or choice.matches(*words):
            return True
        spec = seen_part(query.spec, limit)
        sentence = definitions.of_query(spec, units[query.dataset_id])
        return choice.matches(*words, sentence)

    return [query for query in known if is_chosen(query)]


def _sorted(queries: list[_Known], order: str) -> list[_Known]:
    if order == "newest":
        return queries[::-1]
    if order == "name":
        return sorted(queries, key=lambda query: folded(query.name))
    if order == "dataset":
        return sorted(queries, key=lambda query: (folded(query.dataset), folded(query.name)))
    return queries


def _rows(session: Session, numbers: Sequence[int]) -> dict[int, Query]:
    statement = select(Query).where(col(Query.id).in_(numbers))
    return {required(row.id): row for row in session.exec(statement).all()}
