"""Test the budgets of tiers: what a tier takes over, and what is the largest of all versions."""

from pathlib import Path

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import STAYS, register
from tests.unit.statements import statements
from tests.unit.worlds import World

from penstock.persistence.tables import TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.ledger.tier_budgets import largest
from penstock.services.ledger.version_chains import versions_of
from penstock.services.people import tier_changes
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import VersionRequest
from penstock.services.verification.verification import verify


def test_an_inherited_account_keeps_the_order_of_its_first_budget(visits: World) -> None:
    wanted = {"budgets": {"partner": {"epsilon": 4.0}}}
    budgets.change(visits.server, OPERATOR, "sites", DatasetChange.model_validate(wanted))
    tier_changes.create(visits.server, OPERATOR, TierSpec(name="staff", above="partner"))
    with visits.server.database.read() as session:
        orders = {row.tier_id: row.order for row in session.exec(select(TierBudget)).all()}
    public, partner, internal, staff = (orders[key] for key in sorted(orders))
    assert staff == partner
    assert internal not in (public, partner)
    assert verify(visits.server, OPERATOR).problems == []


def version(world: World, folder: Path, number: int, **budgets_by_tier: float) -> None:
    """Register a version of the stays, with data of its own."""
    file = folder / f"{number}.csv"
    file.write_text(f"person,town,visits\np{number},north,1\n")
    granted = {tier: {"epsilon": epsilon} for tier, epsilon in budgets_by_tier.items()}
    body = {
        "source": {"engine": "duckdb", "uri": str(file)},
        "budgets": granted or STAYS["budgets"],
    }
    if number == 1:
        register(world, file)
    else:
        request = VersionRequest.model_validate(body)
        datasets.add_version(world.server, OPERATOR, "stays", request)


def most(world: World) -> float:
    with world.server.database.read() as session:
        return largest(session, versions_of(session, dataset_by_name(session, "stays")))


def test_the_largest_budget_is_that_of_any_version_and_of_its_newest_row(
    world: World, tmp_path: Path
) -> None:
    version(world, tmp_path, 1)
    assert most(world) == 8.0
    version(world, tmp_path, 2, public=1.0, internal=9.0)
    assert most(world) == 9.0
    version(world, tmp_path, 3, public=2.0)
    assert most(world) == 9.0
    lower = {key: {"epsilon": 1.5} for key in ("public", "partner", "internal")}
    lowered = DatasetChange.model_validate({"budgets": lower})
    budgets.change(world.server, OPERATOR, "stays", lowered)
    with world.server.database.read() as session:
        assert largest(session, [dataset_by_name(session, "stays")]) == 1.5
    raised = DatasetChange.model_validate({"budgets": {"internal": {"epsilon": 20.0}}})
    budgets.change(world.server, OPERATOR, "stays", raised)
    assert most(world) == 20.0


@pytest.mark.each_database
def test_a_version_sends_as_many_statements_beside_many_versions_as_beside_few(
    world: World, tmp_path: Path
) -> None:
    for number in (1, 2):
        version(world, tmp_path, number)
    counts = []
    for number in range(3, 9):
        with statements() as seen:
            version(world, tmp_path, number)
        counts.append(len(seen))
    assert len(set(counts)) == 1, counts
