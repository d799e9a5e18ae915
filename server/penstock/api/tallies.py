"""What the workers of a server count together: who asks how often, who computes, the request_counts."""

import functools
import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from penstock.api import limits, refused, request_counts, turns
from penstock.api.shared import Shared
from penstock.computing import Outcome
from penstock.encryption.secrets import VALUES
from penstock.services.audit import refusals
from penstock.services.context import Server


@dataclass(frozen=True)
class Tallies:
    """The tables that lie in one piece of shared memory."""

    limits: limits.Limits
    requests: request_counts.Requests
    turns: turns.SharedTurns
    computations: request_counts.Computations
    refused: refused.Refused

    def computed(self, person: str, outcome: Outcome, seconds: float) -> None:
        """Count a computation, and what it took of a processor (``computing.Noted``)."""
        self.computations.count(outcome)
        self.limits.computed(person, seconds)


def opened(
    server: Server,
    routes: Iterable[tuple[str, str]],
    clock: Callable[[], float],
    descriptor: int | None = None,
) -> Tallies:
    """The tallies in the memory behind ``descriptor``, or in some of this process alone.

    ``clock``, in seconds, must be the same for all processes that share the memory, as
    that of the machine is.
    """
    lines = request_counts.Lines(routes, server.settings.time_quantum)
    layout = "; ".join(
        (limits.LAYOUT, lines.layout, turns.LAYOUT, request_counts.OUTCOME_LAYOUT, refused.LAYOUT)
    )
    at_turns = limits.BYTES + lines.bytes
    at_outcomes = at_turns + turns.BYTES
    at_refused = at_outcomes + request_counts.OUTCOME_BYTES
    # Of the first, which is never dropped: all workers count under one key, whenever they began.
    key = hmac.digest(server.secrets.every(VALUES)[-1], b"penstock tallies\x00", hashlib.sha256)
    memory = Shared(at_refused + refused.BYTES, layout, descriptor)
    buckets = limits.Buckets(memory, 0, key, clock)
    return Tallies(
        limits.Limits(buckets, server.settings),
        request_counts.Requests(memory, limits.BYTES, lines),
        turns.SharedTurns(memory, at_turns, key, clock),
        request_counts.Computations(memory, at_outcomes),
        refused.Refused(memory, at_refused, functools.partial(refusals.record, server), clock),
    )
