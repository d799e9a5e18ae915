"""Serve JSON over HTTP, by role.

* ``operations``       how an operation is declared: verb, address, policy, request, answer
* ``routes``           the operations, by subject; each calls one service
* ``blueprint``        from declarations to Flask
* ``request_context``  one authenticated request, as the routes see it
* ``bodies``, ``parameters``  reading of bodies and query strings
* ``idempotency``      keys with which a repeated request acts only once
* ``metrics``          what Prometheus may read
* ``meanings``         what every field means, with an example
* ``openapi``, ``docs``  the document for programs, and its address

Only declared operations are served, and every declaration has a policy.
"""

from collections.abc import Mapping

from penstock.api import docs, metrics
from penstock.api.blueprint import blueprint
from penstock.api.routes import OPERATIONS

POLICIES: Mapping[str, str] = {
    **{operation.name: operation.policy.sentence for operation in OPERATIONS},
    **{name: policy.sentence for name, policy in docs.POLICIES.items()},
    **{name: policy.sentence for name, policy in metrics.POLICIES.items()},
}
"""The sentence for each endpoint of the blueprint that says which callers are allowed."""

ROUTES: tuple[tuple[str, str], ...] = (
    *((operation.verb, operation.rule) for operation in OPERATIONS),
    *(("GET", path) for path in (docs.PATH, metrics.PATH)),
)
"""Verb and address, as Flask writes it, of everything that the blueprint serves."""

__all__ = ["OPERATIONS", "POLICIES", "ROUTES", "blueprint"]
