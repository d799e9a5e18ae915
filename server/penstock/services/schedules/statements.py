"""Read queries of a schedule that are in SQL as specs, before the schedule is made or previewed.

A schedule has specs alone, so that each occurrence registers what was previewed, however SQL is
read by then.
"""

from collections.abc import Callable
from typing import Any

from penstock.connectors.planning.refusals import Refusals, within
from penstock.connectors.sql.grammar import parsed
from penstock.connectors.sql.reading import reading
from penstock.errors import InvalidInput
from penstock.services.context import Server
from penstock.services.datasets.population import spec_of
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.schedules import FeedSpec, ScheduleSpec

Reader = Callable[[dict[str, Any]], dict[str, Any]]
"""A function from a query of a schedule to its spec."""


def in_specs(server: Server, spec: ScheduleSpec) -> ScheduleSpec:
    """Return a schedule with the specs that its statements are read as; others are as they were.

    Raises ``InvalidInput`` with the pointer of each statement that no spec says, and ``NotFound``
    for the dataset.
    """
    read, refusals = reader(server, spec.dataset), Refusals()
    queries, streams = list[dict[str, Any]](), list[FeedSpec]()
    for place, query in enumerate(spec.queries):
        with refusals, within("queries", place):
            queries.append(read(query))
    for place, feed in enumerate(spec.streams):
        with refusals, within("streams", place, "query"):
            streams.append(FeedSpec(stream=feed.stream, query=read(feed.query)))
    refusals.raise_all()
    return spec.model_copy(update={"queries": queries, "streams": streams})


def reader(server: Server, dataset: str) -> Reader:
    """Return a function that reads one query on a dataset.

    It returns a spec as it is, and raises ``InvalidInput`` for a statement that no spec says, or
    one beside fields that say the same, and ``NotFound`` for the dataset.
    """

    def read(query: dict[str, Any]) -> dict[str, Any]:
        if "sql" not in query:
            return query
        text = query["sql"]
        if not isinstance(text, str):
            raise InvalidInput("Write the statement as a text.", pointer="/sql")
        statement = parsed(text)
        with server.database.read() as session:
            declared = spec_of(dataset_by_name(session, dataset))
        fields = reading(statement, declared).fields
        of_data = {name: value for name, value in fields.items() if name != "dataset"}
        both = sorted(query.keys() & of_data.keys())
        if both:
            raise InvalidInput(
                f"The statement says this already: leave {', '.join(both)} out.", pointer="/sql"
            )
        others = {name: value for name, value in query.items() if name != "sql"}
        return {**others, **of_data}

    return read
