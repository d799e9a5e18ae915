"""State what questions need of a client, which imports them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from penstock_client._http.fields import Fields
from penstock_client.models import Budget, Dataset, Me
from penstock_client.preview import Preview
from penstock_client.queries import Query
from penstock_client.questions.requests import Request
from penstock_client.release import Release


class Asker(ABC):
    """Represent one user of a server."""

    @abstractmethod
    def me(self) -> Me:
        """Return the user whose token this is."""

    @abstractmethod
    def dataset(self, dataset: str) -> Dataset:
        """Return one dataset as it was declared."""

    @abstractmethod
    def budget(self, dataset: str) -> Budget:
        """Return the budget of each tier of a dataset."""

    @abstractmethod
    def preview(self, query: str | Mapping[str, object]) -> Preview:
        """Return what a query would cost."""

    @abstractmethod
    def release(
        self,
        query: str,
        *,
        tier: str | None = None,
        epsilon: float | None = None,
        rho: float | None = None,
        level: float | None = None,
    ) -> Release:
        """Return the query's values."""

    @abstractmethod
    def answered_on_dummy(self, body: Mapping[str, object]) -> Fields:
        """Return the server's answer to a query on made-up rows."""

    @abstractmethod
    def query(self, query: str) -> Query:
        """Return one registered query."""

    @abstractmethod
    def register(self, spec: Mapping[str, object]) -> Query:
        """Register a query, which is charged."""

    @abstractmethod
    def request(self, spec: Mapping[str, object], purpose: str) -> Request:
        """Send a query to the admins, with what it is for."""
