"""Test that forms offer what the models accept, each with its own name and sentence."""

from collections.abc import Sequence
from typing import get_args

import pytest

from penstock.connectors.formulas.conditions import Condition
from penstock.mechanisms import MECHANISMS as PROCESSES
from penstock.privacy import TargetKind
from penstock.web.forms import choices
from penstock.web.forms.choices import Option

OFFERED = (choices.MECHANISMS, choices.STREAM_MECHANISMS, choices.DOMAINS, choices.STRUCTURES)


@pytest.mark.parametrize("options", OFFERED)
def test_every_option_is_explained_in_one_sentence(options: Sequence[Option]) -> None:
    assert len({option.value for option in options}) == len(options)
    assert len({option.name for option in options}) == len(options)
    for option in options:
        assert option.sentence.endswith(".")
        assert option.sentence[0].isupper()


def test_the_noises_that_are_offered_are_those_that_there_are() -> None:
    assert {option.value for option in choices.MECHANISMS} == set(PROCESSES) | {
        "generalized_gaussian"
    }
    assert set(choices.STREAM_MECHANISMS) <= set(choices.MECHANISMS)


def test_every_way_to_name_a_level_is_offered_and_a_share_beside_them() -> None:
    offered = {value for value, _ in choices.TARGET_FIELDS}
    assert offered == {kind.value for kind in TargetKind} | {"share"}


def test_conditions_offer_every_operator() -> None:
    taken = get_args(Condition.model_fields["op"].annotation)
    assert sorted(choices.OPERATORS) == sorted(taken)
