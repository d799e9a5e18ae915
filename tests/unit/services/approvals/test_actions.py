"""Test that a new version of a dataset is no way past the two people that a larger budget takes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import BudgetChange, Shredding
from penstock.services.datasets import datasets
from penstock.services.operations import key_rotation
from penstock.services.people import users
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import (
    BudgetSpec,
    DatasetRequest,
    VersionRequest,
)
from penstock.services.schemas.views import DatasetView

PEOPLE = "person,age\n" + "".join(f"p{i},{20 + i % 50}\n" for i in range(40))
Adding = Callable[[str, Principal, float], DatasetView]


@pytest.fixture
def ruled(world: World) -> World:
    """Return a world in which the rule is in force, with a second admin."""
    users.create(world.server, OPERATOR, UserSpec(name="bea", roles=["admin"]))
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    return World(replace(world.server, settings=settings), world.clock, world.streams)


@pytest.fixture
def add(ruled: World, tmp_path: Path) -> Adding:
    """Provide ``add(name, who, epsilon)``: a dataset's next version.

    It has a budget of the top tier.
    """

    def source(name: str) -> dict[str, str]:
        path = tmp_path / f"{name}.csv"
        path.write_text(f"{PEOPLE}{name},33\n")
        return {"engine": "duckdb", "uri": str(path)}

    def adding(name: str, by: Principal, epsilon: float) -> DatasetView:
        wanted = {"source": source(name), "budgets": {"internal": {"epsilon": epsilon}}}
        request = VersionRequest.model_validate(wanted)
        return datasets.add_version(ruled.server, by, "people", request)

    spec = {
        **SITES,
        "name": "people",
        "source": source("first"),
        "privacy_unit": {"column": "person"},
        "columns": {"person": {"type": "string"}, "age": {"type": "integer"}},
        "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 4}},
    }
    datasets.register(ruled.server, OPERATOR, DatasetRequest.model_validate(spec))
    return adding


def raised(world: World, epsilon: float) -> None:
    """Raise the top budget of the newest version, by two people."""
    act = BudgetChange(dataset="people", budgets={"internal": BudgetSpec(epsilon=epsilon)})
    made = proposals.do_or_propose(world.server, world.person("ada"), act)
    assert isinstance(made, ProposalView)
    proposals.approve(world.server, world.person("bea"), made.id)


def test_a_new_version_brings_no_larger_budget(ruled: World, add: Adding) -> None:
    for by in (ruled.person("ada"), OPERATOR):
        with pytest.raises(Forbidden, match="epsilon 4") as refused:
            add("second", by, 4.5)
        assert "propose the larger budget" in refused.value.detail
    assert datasets.show(ruled.server, OPERATOR, "people").version == 1
    assert add("second", ruled.person("ada"), 4).version == 2
    raised(ruled, 9)
    # What two people granted to a version once, one may give to the next one.
    assert add("third", ruled.person("ada"), 9).version == 3
    assert add("fourth", ruled.person("ada"), 2).version == 4
    assert add("fifth", ruled.person("ada"), 9).version == 5
    with pytest.raises(Forbidden, match="epsilon 9"):
        add("sixth", ruled.person("ada"), 9.0001)


def test_without_the_rule_a_version_has_any_budget(ruled: World, add: Adding) -> None:
    object.__setattr__(
        ruled.server,
        "settings",
        ruled.server.settings.model_copy(update={"two_person_rule": False}),
    )
    assert add("second", ruled.person("ada"), 40).version == 2


def test_data_that_came_meanwhile_are_not_shredded_with_the_rest(ruled: World, add: Adding) -> None:
    made = proposals.do_or_propose(ruled.server, ruled.person("ada"), Shredding(dataset="people"))
    assert isinstance(made, ProposalView)
    assert made.basis == {"versions": [1]}
    add("second", ruled.person("ada"), 4)
    with pytest.raises(Conflict, match="has changed since"):
        proposals.approve(ruled.server, ruled.person("bea"), made.id)
    with ruled.server.database.read() as session:
        assert key_rotation.versions(session, "people") == [1, 2]
