"""Ask questions as one user: in SQL or from a table, registered or requested."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from penstock_client._http.address import segment
from penstock_client._http.fields import Fields
from penstock_client._http.transport import Transport
from penstock_client._show.listing import Listing
from penstock_client.errors import InvalidArgument, Proposed
from penstock_client.preview import as_json
from penstock_client.queries import Query
from penstock_client.questions import documents
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

    def allowances(self, dataset: str) -> Listing[Allowance]:
        """Return what analysts may register by themselves in a dataset, by tier.

        Admins and auditors see all allowances, analysts the one that they may use.
        """
        answer = Fields(self._transport.get(f"{API}{_allowances(dataset)}"), "allowances")
        return Listing(map(Allowance.read, answer.children("items")), documents.allowances)

    def give_allowance(
        self, dataset: str, tier: str, epsilon: float, *, users: Sequence[str] | None = None
    ) -> Allowance:
        """Give a tier, or some ``users`` of it, an allowance in place of any before; for admins.

        What was registered stays and counts.  Raises ``InvalidInput`` for users that do not exist
        and an epsilon that leaves nothing, ``Conflict`` for a tier without a budget, and
        ``Proposed`` if another admin must approve it first.
        """
        body = as_json({"epsilon": epsilon, "users": None if users is None else list(users)})
        path = f"{API}{_allowances(dataset)}/{segment(tier)}"
        answer = Fields(self._transport.put(path, body), "allowance")
        if "proposed_by" in answer.whole:
            raise Proposed(answer.text("id"))
        return Allowance.read(answer)

    def take_allowance_back(self, dataset: str, tier: str) -> Allowance:
        """Take an allowance back, for admins, and return it; what was registered stays.

        Raises ``NotFound`` if there is none.
        """
        path = f"{API}{_allowances(dataset)}/{segment(tier)}"
        return Allowance.read(Fields(self._transport.delete(path), "allowance"))

    def answered_on_dummy(self, body: Mapping[str, object]) -> Fields:
        """Return the answer to ``POST /queries/dummy``, which ``Question.dummy`` reads."""
        return Fields(self._transport.post(f"{API}/queries/dummy", as_json(body)), "answer")

    def requests(self, state: str | None = None) -> Listing[Request]:
        """Return the caller's requests; for admins, everybody's.  ``state`` is such as ``open``."""
        parameters = {} if state is None else {"state": state}
        items = self._list("/requests", parameters)
        return Listing(map(Request.read, items), documents.requests)

    def request_status(self, request: Request | str) -> Request:
        """Return a request of one's own, or for admins of anybody, with its comments and preview.

        Raises ``NotFound``, also for requests of others.
        """
        return _read(self._transport.get(_address(request)))

    def withdraw_request(self, request: Request | str) -> Request:
        """Withdraw a request of one's own.  Raises ``Conflict`` if it is decided."""
        return _read(self._transport.post(f"{_address(request)}/withdraw", {}))

    def comment_on_request(self, request: Request | str, comment: str) -> Request:
        """Write to the admins about one's own request; as an admin, to those who have it open."""
        return _read(self._transport.post(f"{_address(request)}/comments", {"comment": comment}))

    def decide_request(
        self,
        request: Request | str,
        decision: Literal["approve", "decline"],
        *,
        levels: Mapping[str, object] | None = None,
        name: str | None = None,
        comment: str | None = None,
    ) -> Request:
        """Approve a request, which registers its query and is charged, or decline it (admins).

        ``levels`` and ``name`` replace those that were requested.  Raises ``Conflict`` if it is
        decided or withdrawn, and ``BudgetExhausted``, which leaves it open.
        """
        given = {"levels": levels, "name": name, "comment": comment}
        changes = {field: value for field, value in given.items() if value is not None}
        body = as_json({"decision": decision, **changes})
        return _read(self._transport.post(f"{_address(request)}/decision", body))

    @abstractmethod
    def _list(self, path: str, parameters: Mapping[str, str] | None = None) -> Iterator[Fields]:
        """Yield the items of all pages."""


def _allowances(dataset: str) -> str:
    return f"/datasets/{segment(dataset)}/allowances"


def _address(request: Request | str) -> str:
    """Return the path of a request.  Raises ``InvalidArgument`` for one that was not sent."""
    number = request.id if isinstance(request, Request) else request
    if not number:
        raise InvalidArgument("Nothing was sent: the statistic is registered, so there is no id.")
    return f"{API}/requests/{segment(number)}"


def _read(answer: object) -> Request:
    return Request.read(Fields(answer, "request"))
