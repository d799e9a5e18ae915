"""Ask questions as one user: in SQL or from a table, registered or requested."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping

from penstock_client._http.address import segment
from penstock_client._http.fields import Fields
from penstock_client._http.transport import Transport
from penstock_client.preview import as_json
from penstock_client.queries import Query
from penstock_client.questions.asker import Asker
from penstock_client.questions.question import Question
from penstock_client.questions.requests import Request
from penstock_client.questions.terms import Terms
from penstock_client.tables.table import Table

API = "/api/v1"


class Session(Asker):
    """Provide what a client does with questions, on top of its other methods."""

    _transport: Transport

    def sql(
        self,
        query: str,
        *,
        name: str | None = None,
        epsilon: float | None = None,
        share: float | None = None,
        levels: Mapping[str, object] | None = None,
        mechanism: str = "gaussian",
        contribution: Mapping[str, int] | None = None,
    ) -> Question:
        """Return the question that a ``SELECT`` asks; nothing is sent before it is told to.

        The table's name is the dataset.  ``epsilon`` is the level at the caller's clearance,
        ``share`` the part of each tier's budget, ``levels`` are by tier; give one of them.
        ``contribution`` bounds how much one privacy unit adds: ``max_groups`` and
        ``max_rows_per_group``.  Raises ``InvalidArgument`` for terms that cannot be.
        """
        terms = Terms(name, epsilon, share, levels, mechanism, contribution)
        return Question(self, {"sql": query}, terms)

    def table(self, dataset: str) -> Table:
        """Return a dataset to filter, group and aggregate; its rows stay on the server."""
        return Table(self, self.dataset(dataset))

    def query(self, query: str) -> Query:
        """Return one registered query."""
        return Query.read(Fields(self._transport.get(f"{API}/queries/{segment(query)}"), "query"))

    def register(self, spec: Mapping[str, object]) -> Query:
        """Register a query, which is charged: for admins, and analysts with an allowance.

        ``spec`` is the body of ``POST /queries``.  Raises ``Conflict`` for a statistic that is
        registered already, ``BudgetExhausted``, and ``InvalidArgument`` for no JSON.
        """
        return Query.read(Fields(self._transport.post(f"{API}/queries", as_json(spec)), "query"))

    def request(self, spec: Mapping[str, object], purpose: str) -> Request:
        """Send a query to the admins, with what it is for; nothing is charged.

        Raises as ``register`` does.
        """
        body = {**as_json(spec), "purpose": purpose}
        return Request.read(Fields(self._transport.post(f"{API}/requests", body), "request"))

    def answered_on_dummy(self, body: Mapping[str, object]) -> Fields:
        """Return the answer to ``POST /queries/dummy``, which ``Question.dummy`` reads."""
        return Fields(self._transport.post(f"{API}/queries/dummy", as_json(body)), "answer")

    def requests(self, state: str | None = None) -> list[Request]:
        """Return the caller's requests; for admins, everybody's.  ``state`` is such as ``open``."""
        parameters = {} if state is None else {"state": state}
        return [Request.read(item) for item in self._list("/requests", parameters)]

    @abstractmethod
    def _list(self, path: str, parameters: Mapping[str, str] | None = None) -> Iterator[Fields]:
        """Yield the items of all pages."""
