"""Test the commands that give allowances and take them back."""

from tests.unit.cli.program_runs import Run


def test_an_allowance_is_given_listed_and_taken_back(here: Run) -> None:
    assert "no allowances" in here("dataset", "allowance", "list", "sites").err
    given = here("dataset", "allowance", "give", "sites", "partner", "0.5", "--format", "json")
    (view,) = given.json
    assert (view["tier"], view["epsilon"], view["users"]) == ("partner", 0.5, None)
    listed = here("dataset", "allowance", "list", "sites")
    assert "partner" in listed.out
    assert here("dataset", "allowance", "take-back", "sites", "partner").code == 0
    assert "no allowances" in here("dataset", "allowance", "list", "sites").err
    assert here("dataset", "allowance", "take-back", "sites", "partner").code == 1
    assert here("dataset", "allowance", "give", "sites", "partner", "x").code == 2
    assert here("dataset", "allowance", "give", "sites", "nobody", "1").code == 1
