"""Test what a form says of a person."""

import pytest
from pydantic import ValidationError
from werkzeug.datastructures import MultiDict

from penstock.services.schemas.people.users import UserSpec
from penstock.web.forms.people.user_form import person


def test_a_form_of_a_person_is_read_as_a_user() -> None:
    given = MultiDict(
        [("name", " ann "), ("roles", "analyst"), ("roles", "auditor"), ("clearance", "public")]
    )
    spec = UserSpec.model_validate(person(given))
    assert (spec.name, spec.roles, spec.clearance) == ("ann", ["analyst", "auditor"], "public")


def test_an_empty_clearance_is_none_and_an_empty_form_is_for_the_model_to_refuse() -> None:
    assert person(MultiDict([("name", "ann"), ("clearance", "")]))["clearance"] is None
    with pytest.raises(ValidationError):
        UserSpec.model_validate(person(MultiDict()))
