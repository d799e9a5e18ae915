"""Open one span for each job that a worker runs, named by its kind."""

from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs.runner import JobFunction, Run
from penstock.services.jobs.worker import Kinds, Preparation
from penstock.tracing.spans import Tracing


def traced_kinds(kinds: Kinds, tracing: Tracing) -> Kinds:
    """Return the kinds of jobs, each within a span; the names of kinds are the code's own."""
    return {kind: _within(tracing, kind, prepare) for kind, prepare in kinds.items()}


def _within(tracing: Tracing, kind: str, prepare: Preparation) -> Preparation:
    def prepared(server: Server, principal: Principal, fields: str) -> JobFunction:
        def act(run: Run) -> str:
            with tracing.job(kind):
                return prepare(server, principal, fields)(run)

        return act

    return prepared
