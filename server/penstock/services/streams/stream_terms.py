"""Return the terms of a stream that its spec leaves to the server."""

from penstock.errors import InvalidInput
from penstock.persistence.tables.datasets import Dataset
from penstock.services.computations.stream_quotes import StreamTerms
from penstock.services.context import Server
from penstock.services.datasets import population
from penstock.services.schemas.streams import StreamRequest


def terms_of(server: Server, dataset: Dataset, request: StreamRequest) -> StreamTerms:
    """Return the terms of a stream that its spec leaves to the server.  Raises ``InvalidInput``."""
    steps = _steps_per_unit(dataset, request)
    most = server.settings.dimension_limit
    return StreamTerms(dataset.name, dataset.version, dataset.delta, steps, most)


def _steps_per_unit(dataset: Dataset, request: StreamRequest) -> int:
    if request.max_steps_per_unit is not None:
        return request.max_steps_per_unit
    if population.spec_of(dataset).privacy_unit == "event":
        return 1
    raise InvalidInput(
        f"The privacy unit of {dataset.name} is not the event: state in how many elements of the"
        f" stream one unit may be, at most, for example 1. The privacy loss grows with that.",
        pointer="/max_steps_per_unit",
    )
