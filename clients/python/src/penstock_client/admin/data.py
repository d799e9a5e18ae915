"""Administer datasets with their budgets, queries, streams and schedules."""

from collections.abc import Mapping, Sequence

from penstock_client._http.address import segment
from penstock_client._show.listing import Listing
from penstock_client.admin import documents
from penstock_client.admin.models import Schedule
from penstock_client.admin.sending import Sender
from penstock_client.models import Answer, Dataset, whole
from penstock_client.queries import Query
from penstock_client.streams import Stream

Levels = Mapping[str, object]
"""Levels by tier, such as ``{"public": {"epsilon": 0.1}}``."""


class Data(Sender):
    """Provide what admins do with datasets, queries, streams and schedules."""

    def register_dataset(self, spec: Mapping[str, object]) -> Dataset:
        """Register a dataset; ``spec`` is the body of ``POST /datasets``.

        Raises ``InvalidInput`` with each place that is wrong, and ``Conflict`` for a taken name.
        """
        return Dataset.read(self._create("/datasets", spec, "dataset"))

    def add_version(self, dataset: str, spec: Mapping[str, object]) -> Dataset:
        """Register a newer version of a dataset, with budgets of its own."""
        return Dataset.read(self._create(f"{_dataset(dataset)}/versions", spec, "dataset"))

    def set_budgets(self, dataset: str, budgets: Mapping[str, Mapping[str, object]]) -> Dataset:
        """Set the budgets of tiers; a tier that is left out keeps its own.

        Raises ``Conflict`` for a budget below what is spent, and ``Proposed`` if another admin
        must approve a raise first.
        """
        return Dataset.read(self._change(_dataset(dataset), {"budgets": budgets}, "dataset"))

    def change_dataset(self, dataset: str, changes: Mapping[str, object]) -> Dataset:
        """Change a dataset; ``changes`` is the body of ``PATCH``.

        All may change before its first query, afterwards columns and texts for readers.
        """
        return Dataset.read(self._change(_dataset(dataset), changes, "dataset"))

    def withdraw_dataset(self, dataset: str) -> Answer:
        """Withdraw the newest version of a dataset that no query uses; raise ``Proposed``."""
        return whole(self._remove(_dataset(dataset), "withdrawn dataset"))

    def change_levels(
        self, query: str, levels: Levels, values: Sequence[float] | None = None
    ) -> Query:
        """Set levels of a query; one above its ceiling needs the same ``values`` or source again.

        Lowering acts on the future, raising is charged.  Raises ``BudgetExhausted``, and
        ``Conflict`` for data that are not those of the registration.
        """
        body = {"levels": levels} | ({} if values is None else {"values": list(values)})
        return Query.read(self._change(f"/queries/{segment(query)}", body, "query"))

    def reword_query(self, query: str, texts: Mapping[str, object]) -> Query:
        """Change texts for readers: title, description, unit, tags, labels, owners."""
        return Query.read(self._change(f"/queries/{segment(query)}", texts, "query"))

    def retire_query(self, query: str) -> Query:
        """Stop all further releases of a query, which refunds nothing; raise ``Proposed``."""
        return Query.read(self._create(f"/queries/{segment(query)}/retire", {}, "query"))

    def open_stream(self, spec: Mapping[str, object]) -> Stream:
        """Open a stream, which is charged; ``spec`` is the body of ``POST /streams``."""
        return Stream.read(self._create("/streams", spec, "stream"))

    def change_stream(self, stream: str, levels: Levels) -> Stream:
        """Set levels of a stream, for instance those of a new tier."""
        return Stream.read(self._change(_stream(stream), {"levels": levels}, "stream"))

    def reword_stream(self, stream: str, texts: Mapping[str, object]) -> Stream:
        """Change texts for readers, as ``reword_query`` does."""
        return Stream.read(self._change(_stream(stream), texts, "stream"))

    def retire_stream(self, stream: str) -> Stream:
        """Stop a stream for good; raise ``Proposed``."""
        return Stream.read(self._create(f"{_stream(stream)}/retire", {}, "stream"))

    def schedules(self) -> Listing[Schedule]:
        """Return all schedules."""
        return Listing(map(Schedule.read, self._list("/schedules")), documents.schedules)

    def schedule(self, schedule: str) -> Schedule:
        """Return one schedule, with what it did; ``answer`` has each occurrence."""
        return Schedule.read(self._show(_schedule(schedule), "schedule"))

    def create_schedule(self, spec: Mapping[str, object]) -> Schedule:
        """Create a schedule; ``spec`` is the body of ``POST /schedules``."""
        return Schedule.read(self._create("/schedules", spec, "schedule"))

    def preview_schedule(self, spec: Mapping[str, object], *, days: int | None = None) -> Answer:
        """Return what a schedule would do and spend in the next days; nothing is changed."""
        path = "/schedules/preview" + ("" if days is None else f"?days={int(days)}")
        return whole(self._create(path, spec, "forecast"))

    def switch_schedule(self, schedule: str, *, on: bool) -> Schedule:
        """Switch a schedule on or off."""
        return Schedule.read(self._change(_schedule(schedule), {"on": on}, "schedule"))

    def remove_schedule(self, schedule: str) -> Schedule:
        """Remove a schedule; what it registered stays."""
        return Schedule.read(self._remove(_schedule(schedule), "schedule"))


def _dataset(dataset: str) -> str:
    return f"/datasets/{segment(dataset)}"


def _stream(stream: str) -> str:
    return f"/streams/{segment(stream)}"


def _schedule(schedule: str) -> str:
    return f"/schedules/{segment(schedule)}"
