"""Test giving, listing and taking back allowances."""

import pytest
from tests.unit.services.allowances.asking import ask, give, left
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NotFound
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances, corrections, datasets
from penstock.services.people import users
from penstock.services.previews import given_allowance
from penstock.services.schemas.datasets import AllowanceSpec, CorrectionRequest
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.verification.verification import verify


def test_only_admins_give_and_take_back(stays: World) -> None:
    for who in ("paul", "otto"):
        with pytest.raises(Forbidden, match="takes the role admin"):
            allowances.give(
                stays.server, stays.person(who), "stays", "partner", AllowanceSpec(epsilon=1)
            )
        with pytest.raises(Forbidden, match="takes the role admin"):
            allowances.take_back(stays.server, stays.person(who), "stays", "partner")


def test_the_same_again_changes_nothing(stays: World) -> None:
    first = give(stays)
    stays.clock.forward(days=1)
    assert give(stays) == first


def test_what_cannot_be_given_is_refused_with_its_place(stays: World) -> None:
    with pytest.raises(NotFound, match="There is no tier 'nobody'"):
        give(stays, "nobody")
    with pytest.raises(InvalidInput) as refusal:
        give(stays, "partner", 1.0, "paul", "nobody")
    assert [place for place, _ in refusal.value.errors] == ["/users/1"]
    with pytest.raises(InvalidInput, match="leaves nothing to spend") as refusal:
        give(stays, epsilon=1e-4)
    assert [place for place, _ in refusal.value.errors] == ["/epsilon"]
    with pytest.raises(NotFound, match="has no allowance"):
        allowances.take_back(stays.server, OPERATOR, "stays", "partner")


def test_admins_are_shown_what_of_an_allowance_cannot_be_used(stays: World) -> None:
    given = give(stays, "partner", 4.5, "paul", "ines", "ada")
    assert given.notes == [
        "The budget of tier partner is 4, so an allowance of 4.5 cannot be spent in whole.",
        "ines holds internal: an allowance of partner is for holders of it.",
        "ada holds no tier: an allowance of partner is for holders of it.",
    ]
    spec = AllowanceSpec(epsilon=4.5, users=["paul", "ines", "ada"])
    shown = given_allowance.preview(stays.server, OPERATOR, "stays", "partner", spec)
    assert shown.notes == given.notes
    (own,) = allowances.listing(stays.server, stays.person("paul"), "stays")
    assert own.notes == []
    users.change(stays.server, OPERATOR, "ines", UserChange(clearance="partner"))
    assert (
        "ines held internal before, and so can only request"
        in give(stays, "partner", 4.0, "ines").notes[0]
    )
    assert give(stays, "partner", 4.0, "paul").notes == []


def test_a_tier_without_a_budget_has_none(stays: World) -> None:
    request = {**SITES, "name": "few", "budgets": {"internal": 1.0}}
    datasets.register(stays.server, OPERATOR, DatasetRequest.model_validate(request))
    with pytest.raises(Conflict, match="has no budget"):
        allowances.give(stays.server, OPERATOR, "few", "public", AllowanceSpec(epsilon=0.5))


def test_analysts_see_their_own_and_no_names_of_others(stays: World) -> None:
    give(stays, "partner", 1.0, "paul", "ines")
    give(stays, "internal")
    ask(stays, "paul", "mine")
    (own,) = allowances.listing(stays.server, stays.person("paul"), "stays")
    assert (own.tier, own.users, own.given_by) == ("partner", ["paul"], None)
    assert [one.by for one in own.queries] == ["paul"]
    assert allowances.listing(stays.server, stays.person("pia"), "stays") == []
    (above,) = allowances.listing(stays.server, stays.person("ines"), "stays")
    assert above.tier == "internal"
    tiers = [view.tier for view in allowances.listing(stays.server, OPERATOR, "stays")]
    assert tiers == ["partner", "internal"]
    shown = budgets.show(stays.server, stays.person("paul"), "stays")
    assert [tier.allowance for tier in shown.tiers] == [own]


def test_another_delta_opens_it_anew(stays: World) -> None:
    give(stays)
    corrections.correct(stays.server, OPERATOR, "stays", CorrectionRequest(delta=1e-8))
    assert left(stays).delta == 1e-8
    assert ask(stays, "paul", "mine").name == "mine"
    assert verify(stays.server, OPERATOR).problems == []


def test_those_of_somebody_are_listed_by_dataset_while_they_may_use_them(stays: World) -> None:
    assert allowances.usable(stays.server, stays.person("paul")) == {}
    give(stays, "partner", 1.0, "paul")
    (own,) = allowances.listing(stays.server, stays.person("paul"), "stays")
    assert allowances.usable(stays.server, stays.person("paul")) == {"stays": own}
    for name in ("pia", "ines", "otto"):
        assert allowances.usable(stays.server, stays.person(name)) == {}
    assert allowances.usable(stays.server, OPERATOR) == {}
    allowances.take_back(stays.server, OPERATOR, "stays", "partner")
    assert allowances.usable(stays.server, stays.person("paul")) == {}
