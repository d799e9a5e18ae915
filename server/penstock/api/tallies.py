"""What the workers of a server count together: who has asked how often, and the metrics."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from penstock.api import limits, metrics
from penstock.api.shared import Shared
from penstock.services.server import Server


@dataclass(frozen=True)
class Tallies:
    """The two tables that lie in one piece of shared memory."""

    limits: limits.Limits
    requests: metrics.Requests


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
    lines = metrics.Lines(routes, server.settings.time_quantum)
    layout = f"{limits.LAYOUT}; {lines.layout}"
    memory = Shared(limits.BYTES + lines.bytes, layout, descriptor)
    buckets = limits.Buckets(memory, 0, server.secrets.pepper, clock)
    return Tallies(
        limits.Limits(buckets, server.settings),
        metrics.Requests(memory, limits.BYTES, lines),
    )
