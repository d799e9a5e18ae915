"""Hold a request that was prepared, with its caller, and run computations on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.services.access.principals import Principal
from penstock.services.computations import computations
from penstock.services.context import Server
from penstock.services.queries.exact_answers import Plannable

More = ParamSpec("More")
Result = TypeVar("Result")


@dataclass(frozen=True)
class PreparedRequest:
    """Hold a request, its dataset and what was prepared for it, and who sent it.

    A computation waits ``patience`` seconds for the caller's turn.  Tiers above ``limit`` are
    hidden from the caller; ``None`` hides none.
    """

    server: Server
    principal: Principal
    patience: float
    dataset: Dataset
    request: Plannable
    prepared: PreparedQuery
    limit: Tier | None = None

    def run(
        self,
        function: Callable[Concatenate[Any, PreparedQuery, More], Result],
        *more: More.args,
        **named: More.kwargs,
    ) -> Result:
        """Run a computation on the request and its public numbers, as ``Computing.run`` does."""
        return self.server.computing.run(
            self.principal.name,
            self.patience,
            function,
            self.request,
            computations.public(self.prepared),
            *more,
            **named,
        )
