"""Declare the operations, by subject.  A handler parses nothing: it calls one service.

* ``health``, ``users``, ``tiers``, ``datasets``, ``queries``, ``releases``, ``streams``,
  ``schedules``, ``requests``, ``proposals``, ``audit``  one subject each
"""

from penstock.api.operations import Operation
from penstock.api.routes import (
    audit,
    datasets,
    health,
    proposals,
    queries,
    releases,
    requests,
    schedules,
    streams,
    tiers,
    users,
)

OPERATIONS: tuple[Operation, ...] = tuple(
    operation
    for subject in (
        *(health, users, tiers, datasets, queries, releases, streams, schedules),
        *(requests, proposals, audit),
    )
    for operation in subject.operations.declared
)
"""All operations, in the order of the OpenAPI document."""
