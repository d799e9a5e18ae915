"""Ask questions as one user: in SQL or from a table, registered or requested."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from penstock_client._http.address import segment
from penstock_client._http.fields import Fields
from penstock_client._http.transport import Transport
from penstock_client.preview import as_json
from penstock_client.queries import Query
from penstock_client.questions.allowances import Allowance
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

    def allowances(self, dataset: str) -> list[Allowance]:
        """Return what analysts may register by themselves in a dataset, by tier.

        Admins and auditors see all allowances, analysts the one that they may use.
        """
        answer = Fields(self._transport.get(f"{API}{_allowances(dataset)}"), "allowances")
        return [Allowance.read(item) for item in answer.children("items")]

    def give_allowance(
        self, dataset: str, tier: str, epsilon: float, *, users: Sequence[str] | None = None
    ) -> Allowance:
        """Give a tier, or some ``users`` of it, an allowance in place of any before; for admins.

        What was registered stays and counts.  Raises ``InvalidInput`` for users that do not exist
        and an epsilon that leaves nothing, and ``Conflict`` for a tier without a budget.
        """
        body = as_json({"epsilon": epsilon, "users": None if users is None else list(users)})
        path = f"{API}{_allowances(dataset)}/{segment(tier)}"
        return Allowance.read(Fields(self._transport.put(path, body), "allowance"))

    def take_allowance_back(self, dataset: str, tier: str) -> Allowance:
        """Take an allowance back, for admins, and return it; what was registered stays.

        Raises ``NotFound`` if there is none.
        """
        path = f"{API}{_allowances(dataset)}/{segment(tier)}"
        return Allowance.read(Fields(self._transport.delete(path), "allowance"))

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


def _allowances(dataset: str) -> str:
    return f"/datasets/{segment(dataset)}/allowances"
