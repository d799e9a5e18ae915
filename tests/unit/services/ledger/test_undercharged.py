"""Test what an earlier version left uncharged where it raised budgets: found, charged, or told."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.raised import balance, books, furnished, grant
from tests.unit.worlds import CopyWorld, Keep, World

from penstock.errors import BudgetExhausted
from penstock.persistence.tables import TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.ledger import accounts, tier_budgets
from penstock.services.ledger.undercharged import put_right, undercharged
from penstock.services.operations.status import examine
from penstock.services.people import tier_changes
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.verification.verification import verify

TIERS = ("public", "partner", "internal")


@pytest.fixture
def loans(copy_world: CopyWorld, keep: Keep) -> World:
    return furnished(copy_world, keep)


def as_before(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do ``act`` as a version did that priced nothing again and did not know the largest budget."""

    def row(*arguments: Any, **more: Any) -> TierBudget:
        made = KEPT(*arguments, **more)
        made.highest_epsilon = None
        return made

    with monkeypatch.context() as patch:
        patch.setattr(tier_budgets, "budget_row", row)
        patch.setattr(budgets, "reprice", lambda *_: None)
        patch.setattr(tier_changes, "reprice", lambda *_: None)
        act()


KEPT = accounts.budget_row


def raised(world: World, epsilon: float) -> None:
    grant(world, "loans", **dict.fromkeys(TIERS, epsilon))


def test_an_upgrade_charges_what_is_missing(loans: World, monkeypatch: pytest.MonkeyPatch) -> None:
    books(loans)
    as_before(monkeypatch, lambda: raised(loans, 3))
    with pytest.raises(AssertionError):
        balance(loans, "loans")
    assert verify(loans.server, OPERATOR).problems == [], "what an older version did is no damage"
    (warning, *others) = [
        one for one in examine(loans.server.settings).warnings if "its queries cost" in one
    ]
    assert len(others) == 2
    assert "tier 'public' in version 1 of 'loans' (books)" in warning
    assert "penstock db upgrade" in warning
    assert [one.refusal for one in put_right(loans.server)] == [None] * 3
    balance(loans, "loans")
    with loans.server.database.read() as session:
        assert undercharged(session) == []
        budgets = session.exec(select(TierBudget)).all()
        assert {row.highest_epsilon for row in budgets if row.version == 3} == {3.0}
    assert put_right(loans.server) == []


def test_an_account_without_room_for_it_is_named_and_stays(
    loans: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    books(loans)
    as_before(monkeypatch, lambda: raised(loans, 12))
    (one, *_) = put_right(loans.server)
    assert one.refusal is not None
    assert "more is needed" in one.refusal
    warnings = " ".join(examine(loans.server.settings).warnings)
    assert "a delta that is larger by the missing charge" in warnings
    with pytest.raises(BudgetExhausted, match="books"):
        raised(loans, 12)
    with pytest.raises(BudgetExhausted, match="books"):
        tier_changes.create(loans.server, OPERATOR, TierSpec(name="staff", above="internal"))


def test_a_ledger_of_today_that_charges_too_little_is_found_by_an_audit(
    loans: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    books(loans)
    with monkeypatch.context() as patch:
        patch.setattr(budgets, "reprice", lambda *_: None)
        grant(loans, "loans", internal=3)
    assert verify(loans.server, OPERATOR).problems == [
        "query 'books' is charged less to tier 'internal' than it costs"
    ]
