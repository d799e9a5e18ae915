"""Count requests, computations and refusals across all workers of a server."""

import functools
import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from penstock.computing.pool import Outcome
from penstock.encryption.secrets import VALUES
from penstock.http.counting import computation_turns, rate_limits, refusal_counts, request_counts
from penstock.http.counting.shared_memory import Shared
from penstock.services.audit import refusals
from penstock.services.context import Server


@dataclass(frozen=True)
class Counters:
    """Hold the tables in one piece of shared memory."""

    limits: rate_limits.Limits
    requests: request_counts.Requests
    turns: computation_turns.SharedTurns
    computations: request_counts.Tally
    refused: refusal_counts.Refused
    refusals: request_counts.Tally

    def computed(self, person: str, outcome: Outcome, seconds: float) -> None:
        """Count a computation and its processor time (``computing.Noted``)."""
        self.computations.count(outcome)
        self.limits.computed(person, seconds)

    def refuse(self, cause: str | None) -> None:
        """Count an answer for the log and the metrics; ``None``: it refused nothing."""
        if cause is not None:
            self.refusals.count(cause)
        self.refused.count(cause)


def opened(
    server: Server,
    routes: Iterable[tuple[str, str]],
    clock: Callable[[], float],
    descriptor: int | None = None,
) -> Counters:
    """Return the counters in the memory behind ``descriptor``, or in memory of this process.

    ``clock``, in seconds, must be the same for all processes that share the memory, as the
    machine's clock is.
    """
    lines = request_counts.Lines(routes, server.settings.time_quantum)
    layout = "; ".join(
        (
            rate_limits.LAYOUT,
            lines.layout,
            computation_turns.LAYOUT,
            f"computations {request_counts.OUTCOMES}",
            refusal_counts.LAYOUT,
            f"refusals {refusals.CAUSES}",
        )
    )
    at_turns = rate_limits.BYTES + lines.bytes
    at_outcomes = at_turns + computation_turns.BYTES
    at_refused = at_outcomes + request_counts.Tally.bytes(request_counts.OUTCOMES)
    at_refusals = at_refused + refusal_counts.BYTES
    # The first key, which is never dropped: all workers count under it, whenever they started.
    key = hmac.digest(server.secrets.every(VALUES)[-1], b"penstock counters\x00", hashlib.sha256)
    size = at_refusals + request_counts.Tally.bytes(refusals.CAUSES)
    memory = Shared(size, layout, descriptor)
    buckets = rate_limits.Buckets(memory, 0, key, clock)
    return Counters(
        rate_limits.Limits(buckets, server.settings),
        request_counts.Requests(memory, rate_limits.BYTES, lines),
        computation_turns.SharedTurns(memory, at_turns, key, clock),
        request_counts.Tally(memory, at_outcomes, request_counts.OUTCOMES),
        refusal_counts.Refused(
            memory, at_refused, functools.partial(refusals.record, server), clock
        ),
        request_counts.Tally(memory, at_refusals, refusals.CAUSES),
    )
