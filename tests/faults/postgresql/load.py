"""Define what servers are asked for while their database goes away: everything that writes.

A request comes to an end, or is refused as not available now.  Whoever asks again gets
what the first one would have been told, whatever had become of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.faults.findings import NOTHING, examine, served_otherwise
from tests.faults.reports import Reported
from tests.faults.rules import broken_rules, unproven_values
from tests.faults.stage import Ask, analyst, answer, vector_query

from penstock.errors import NameTaken, Unavailable
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.queries.registration import register
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, stream_totals, streams
from penstock.services.verification.verification import verify

BATCH = 3
STREAM: dict[str, Any] = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "gaussian",
    "structure": "kary",
    "k": 3,
    "length": 100_000,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.04}},
}

Result = TypeVar("Result")


def attempt(act: Callable[[], Result]) -> Result | None:
    """Return what came of it; None where it was refused as not available now."""
    try:
        return act()
    except Unavailable:
        return None


def open_stream(server: Server) -> None:
    """Open the stream that is pushed to."""
    streams.open_stream(server, OPERATOR, StreamRequest.model_validate(STREAM))
    push(server, 1)


def following(server: Server) -> int:
    """Return the number of the stream's next element."""
    return streams.show(server, OPERATOR, "hits").next or 0


def push(server: Server, first: int) -> None:
    """Push the next elements."""
    sent = ElementsRequest.model_validate({"from": first, "values": list(range(BATCH))})
    stream_elements.push(server, OPERATOR, "hits", sent)


def totals(server: Server, first: int | None = None, last: int | None = None) -> list[list[float]]:
    """Return what an analyst is given of the stream."""
    reader = acting_as(server, analyst(1))
    found = stream_totals.read(server, reader, "hits", first=first, last=last)
    return [item.values.tolist() for item in found.items]


def enroll(server: Server, name: str) -> str:
    """Register a query; one that is registered already is as good."""
    try:
        return register(server, OPERATOR, vector_query(name, "laplace")).name
    except NameTaken:
        return name


@dataclass
class Story:
    """Hold all answers so far, of the stream and of releases."""

    answers: list[Reported] = field(default_factory=list)
    totals: list[list[float]] = field(default_factory=list)

    def ask(self, server: Server, reader: str, ask: Ask) -> Reported:
        """Return a release, and add it to the answers so far."""
        told = Reported.of(reader, ask, answer(server, reader, ask))
        self.answers.append(told)
        return told

    def read(self, server: Server) -> None:
        """Read the totals of the stream; those that were given before must be among them."""
        now = totals(server)
        assert now[: len(self.totals)] == self.totals
        self.totals = now

    def require_true(self, server: Server) -> None:
        """Require that all answers are stored, charged, in the log and proven, and given again."""
        assert examine(server, self.answers, is_traced=False) == NOTHING
        assert broken_rules(server) == []
        assert unproven_values(server) == []
        assert served_otherwise(server, self.answers) == 0
        report = verify(server, OPERATOR)
        assert report.problems == []
        assert server.sequencer.suspended is None
        if self.totals:
            self.read(server)
