"""JSON over HTTP, by role.

* ``operations``  how an operation is declared: verb, address, policy, request, answer
* ``routes``      the operations, by subject; each calls one service
* ``wiring``      from declarations to Flask
* ``bearer``, ``bodies``, ``parameters``  what comes in
* ``answers``, ``formats``, ``problems``   what goes out
* ``cursors``     where lists go on
* ``idempotency`` what is done once, however often it is sent
* ``pace``        what the clock must not tell apart
* ``limits``      how often somebody may ask, and how much of a processor that may take
* ``turns``       whose long computation is under way
* ``metrics``     what Prometheus may read
* ``refused``     refused requests, counted until the log tells of them
* ``tallies``, ``shared``                 the memory in which the workers count together
* ``edge``, ``access_log``                around everything: ids, headers, log, faults
* ``mounted``     the path of its host below which the server is reached
* ``lending``     what the pages borrow of all that
* ``malformed``   what gunicorn refuses before there is a request
* ``intake``      how a worker waits for requests and for readers without a thread
* ``meanings``    what every field means, with an example
* ``openapi``, ``docs``                   the document for programs and the page for people

Nothing is served that is not declared, and nothing is declared without a policy.
"""

from collections.abc import Mapping

from penstock.api import docs, metrics
from penstock.api.answers import lines_answer
from penstock.api.cursors import Cursors
from penstock.api.edge import Edge
from penstock.api.formats import FORMS
from penstock.api.formats import answer as release_answer
from penstock.api.lending import hide_duration, made_by
from penstock.api.mounted import Mounted, prefix_of
from penstock.api.pace import Pace
from penstock.api.routes import OPERATIONS
from penstock.api.shared import inherited
from penstock.api.tallies import Tallies, opened
from penstock.api.wiring import blueprint

POLICIES: Mapping[str, str] = {
    **{operation.name: operation.policy.sentence for operation in OPERATIONS},
    **{name: policy.sentence for name, policy in docs.POLICIES.items()},
    **{name: policy.sentence for name, policy in metrics.POLICIES.items()},
}
"""Who may call each endpoint of the blueprint."""

ROUTES: tuple[tuple[str, str], ...] = (
    *((operation.verb, operation.rule) for operation in OPERATIONS),
    *(("GET", path) for path in (*docs.PATHS.values(), metrics.PATH)),
)
"""Verb and address, as Flask writes it, of all that the blueprint serves."""

__all__ = [
    "FORMS",
    "OPERATIONS",
    "POLICIES",
    "ROUTES",
    "Cursors",
    "Edge",
    "Mounted",
    "Pace",
    "Tallies",
    "blueprint",
    "hide_duration",
    "inherited",
    "lines_answer",
    "made_by",
    "opened",
    "prefix_of",
    "release_answer",
]
