"""Test that mechanism and levels read from a form; empty fields are left out."""

from penstock.services.schemas.views import PrivacyBudget
from penstock.web.forms.privacy_terms import starting_levels, terms

TIERS = ("public", "internal")


def test_levels_are_by_tier_in_the_quantity_that_was_chosen() -> None:
    form = {"mechanism": "laplace", "wish": "rho", "level public": "0.5", "level internal": "2"}
    assert terms(form, TIERS) == {
        "mechanism": "laplace",
        "levels": {"public": {"rho": 0.5}, "internal": {"rho": 2}},
    }


def test_a_tier_without_a_level_is_left_out() -> None:
    assert terms({"level internal": "1"}, TIERS)["levels"] == {"internal": {"epsilon": 1}}


def test_a_confidence_belongs_to_a_margin_of_error_alone() -> None:
    form = {"level public": "3", "confidence": "0.9"}
    margin = terms({**form, "wish": "half_width"}, TIERS)
    assert margin["levels"] == {"public": {"half_width": 3, "confidence": 0.9}}
    assert terms(form, TIERS)["levels"] == {"public": {"epsilon": 3}}


def test_a_share_takes_the_place_of_levels() -> None:
    form = {"wish": "share", "share": "0.1", "level public": "3"}
    assert terms(form, TIERS) == {"mechanism": "gaussian", "share": 0.1}


def test_each_noise_has_its_own_parameter_and_not_that_of_another() -> None:
    form = {"p": "3", "granularity": "0.5", "max_levels": "4"}
    own = {
        mechanism: set(terms({**form, "mechanism": mechanism}, TIERS)) & {"p", "granularity"}
        for mechanism in ("gaussian", "laplace", "generalized_gaussian")
    }
    assert own == {"gaussian": set(), "laplace": {"granularity"}, "generalized_gaussian": {"p"}}
    assert terms(form, TIERS)["max_levels"] == 4


def test_what_is_no_number_is_left_for_its_model_to_refuse() -> None:
    assert terms({"level public": "much"}, TIERS)["levels"] == {"public": {"epsilon": "much"}}


def test_a_form_begins_with_a_tenth_of_each_budget() -> None:
    budgets = {"public": PrivacyBudget(0.5, 0.1), "internal": PrivacyBudget(1 / 3, 0.1)}
    assert starting_levels(budgets) == {"public": "0.05", "internal": "0.0333"}


def test_what_a_form_began_with_is_no_level_of_another_quantity() -> None:
    form = {"start public": "0.1", "level public": "0.1", "start internal": "0.4"}
    margins = {**form, "level internal": "25", "wish": "half_width"}
    assert terms(margins, TIERS)["levels"] == {"internal": {"half_width": 25}}
    epsilons = {**form, "level internal": "0.4"}
    assert terms(epsilons, TIERS)["levels"] == {
        "public": {"epsilon": 0.1},
        "internal": {"epsilon": 0.4},
    }
