"""Define the actions that take two people under the two-person rule.

``alone`` acts at once, or raises ``ApprovalNeeded``.  ``basis`` returns the state that a proposal
is made for.  ``perform`` acts in the transaction of the approval, and returns a function to call
after the commit; it raises ``Conflict`` if there is nothing to do.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Protocol, TypeVar

from pydantic import Field, TypeAdapter
from sqlmodel import Session

from penstock.errors import Conflict
from penstock.persistence.tables.queries import Query
from penstock.services import budgets
from penstock.services.access.principals import Principal
from penstock.services.allowances.open_allowances import opened
from penstock.services.allowances.own_names import query_named
from penstock.services.audit import restores
from penstock.services.context import Server
from penstock.services.datasets import allowances, corrections
from penstock.services.ledger.tier_budgets import newest_budget
from penstock.services.operations import key_rotation
from penstock.services.people import tier_changes
from penstock.services.queries import queries
from penstock.services.releases.visibility import end
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import ordered_tiers, tier_by_name
from penstock.services.repository.queries import stream_by_name
from penstock.services.schemas.datasets import AllowanceSpec, AllowanceView, DatasetChange
from penstock.services.schemas.people.views import TierView
from penstock.services.schemas.queries import BudgetSpec
from penstock.services.schemas.streams import StreamView
from penstock.services.schemas.views import (
    DatasetView,
    QueryView,
)
from penstock.services.streams import streams
from penstock.spec_fields import Spec
from penstock.transparency_log import leaves
from penstock.transparency_log.views import RestoreView

Answered = TypeVar("Answered", covariant=True)
After = Callable[[], object]
"""A function that is called once the action is committed."""


def nothing() -> None:
    """Do nothing, after an action that is complete with its commit."""


class Action(Protocol[Answered]):
    """Represent an action that one admin does alone, or two do together."""

    @property
    def act(self) -> str:
        """Return the action's name."""

    def alone(self, server: Server, principal: Principal) -> Answered:
        """Act as one person.  Raises ``ApprovalNeeded`` if the action takes two."""

    def basis(self, session: Session, server: Server, /) -> dict[str, Any]:
        """Return the state that the action depends on, as JSON values."""

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        """Act as two people, and return what follows the commit."""


class BudgetChange(Spec):
    """Represent a change of tiers' budgets, the largest of which exceeds all before."""

    act: Literal["change_budgets"] = "change_budgets"
    dataset: str
    budgets: dict[str, BudgetSpec]

    def alone(self, server: Server, principal: Principal) -> DatasetView:
        return budgets.change(server, principal, self.dataset, self._change)

    def basis(self, session: Session, _: Server) -> dict[str, Any]:
        dataset = dataset_by_name(session, self.dataset)
        now_budgets = [
            (tier, newest_budget(session, dataset, tier)) for tier in ordered_tiers(session)
        ]
        return {
            "version": dataset.version,
            "tiers": [
                {
                    "tier": tier.name,
                    "since": leaves.timestamp(tier.created_at),
                    "epsilon": last.epsilon if last else None,
                }
                for tier, last in now_budgets
            ],
        }

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        budgets.change_within(session, server, principal, self.dataset, self._change)
        return nothing

    @property
    def _change(self) -> DatasetChange:
        return DatasetChange(budgets=self.budgets)


class AllowanceGift(Spec):
    """Represent an allowance that permits more, or to more people, than the one before."""

    act: Literal["give_allowance"] = "give_allowance"
    dataset: str
    tier: str
    epsilon: float
    users: list[str] | None = None

    def alone(self, server: Server, principal: Principal) -> AllowanceView:
        return allowances.give(server, principal, self.dataset, self.tier, self._spec)

    def basis(self, session: Session, _: Server) -> dict[str, Any]:
        dataset, tier = dataset_by_name(session, self.dataset), tier_by_name(session, self.tier)
        now = opened(session, dataset, tier)
        return {
            "version": dataset.version,
            "since": leaves.timestamp(tier.created_at),
            "epsilon": now.account.epsilon if now else None,
            "users": allowances.named(session, now.users) if now else None,
        }

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        allowances.give_within(session, server, principal, self.dataset, self.tier, self._spec)
        return nothing

    @property
    def _spec(self) -> AllowanceSpec:
        return AllowanceSpec(epsilon=self.epsilon, users=self.users)


class TierDeletion(Spec):
    """Represent the deletion of a tier."""

    act: Literal["delete_tier"] = "delete_tier"
    tier: str

    def alone(self, server: Server, principal: Principal) -> TierView:
        return tier_changes.delete(server, principal, self.tier)

    def basis(self, session: Session, _: Server) -> dict[str, Any]:
        # A name alone could be that of another tier that was created since.
        tier = tier_by_name(session, self.tier)
        return {"since": leaves.timestamp(tier.created_at), "rank": tier.rank}

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        tier_changes.remove(session, server, principal, self.tier)
        return nothing


class QueryRetirement(Spec):
    """Represent the retirement of a query: nothing more is released, and its name stays taken."""

    act: Literal["retire_query"] = "retire_query"
    query: str

    def alone(self, server: Server, principal: Principal) -> QueryView:
        return queries.retire(server, principal, self.query)

    def basis(self, session: Session, _: Server) -> dict[str, Any]:
        query_named(session, self.query)
        return {}

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        return _ended(session, server, principal, query_named(session, self.query))


class StreamRetirement(Spec):
    """Represent the retirement of a stream: it takes no more elements, and its name stays taken."""

    act: Literal["retire_stream"] = "retire_stream"
    stream: str

    def alone(self, server: Server, principal: Principal) -> StreamView:
        return streams.retire(server, principal, self.stream)

    def basis(self, session: Session, _: Server) -> dict[str, Any]:
        stream_by_name(session, self.stream)
        return {}

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        return _ended(session, server, principal, stream_by_name(session, self.stream))


class Shredding(Spec):
    """Represent the destruction of a dataset's keys."""

    act: Literal["shred_dataset"] = "shred_dataset"
    dataset: str

    def alone(self, server: Server, principal: Principal) -> key_rotation.ShreddedView:
        return key_rotation.shred(server, principal, self.dataset)

    def basis(self, session: Session, _: Server) -> dict[str, Any]:
        return {"versions": key_rotation.versions(session, self.dataset)}

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        forgotten = key_rotation.forget(session, server, principal, self.dataset)
        if not forgotten.fresh:
            raise Conflict(f"Dataset {forgotten.dataset!r} is shredded already.")
        return lambda: key_rotation.destroy(server, forgotten)


class Withdrawal(Spec):
    """Represent the withdrawal of a version of a dataset in which nothing was charged yet."""

    act: Literal["withdraw_dataset"] = "withdraw_dataset"
    dataset: str

    def alone(self, server: Server, principal: Principal) -> corrections.WithdrawnView:
        return corrections.withdraw(server, principal, self.dataset)

    def basis(self, session: Session, _: Server) -> dict[str, Any]:
        return {"version": dataset_by_name(session, self.dataset).version}

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        corrections.settle_withdrawal(session, server, principal, self.dataset)
        return nothing


class Acknowledgment(Spec):
    """Represent the acknowledgment of a restore."""

    act: Literal["acknowledge_restore"] = "acknowledge_restore"

    def alone(self, server: Server, principal: Principal) -> RestoreView:
        return restores.acknowledge(server, principal)

    def basis(self, _: Session, server: Server) -> dict[str, Any]:
        # It holds for this restore, and not for a later one.
        seen = restores.what_was_seen(server)
        return {
            "witnessed": seen.size if seen else None,
            "root": seen.root.hex() if seen else None,
        }

    def perform(self, session: Session, server: Server, principal: Principal) -> After:
        _, after = restores.acknowledge_within(
            session, server, principal, restores.what_was_seen(server)
        )
        return after


Proposed = (
    BudgetChange
    | AllowanceGift
    | TierDeletion
    | QueryRetirement
    | StreamRetirement
    | Shredding
    | Withdrawal
    | Acknowledgment
)
STORED: TypeAdapter[Proposed] = TypeAdapter(Annotated[Proposed, Field(discriminator="act")])
"""The adapter that reads a stored request."""


def _ended(session: Session, server: Server, principal: Principal, query: Query) -> After:
    if query.status == "retired":
        raise Conflict(f"{query.readable!r} is retired already.")
    end(session, server, principal, query)
    return nothing
