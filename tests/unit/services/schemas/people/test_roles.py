"""Test that roles are listed once each."""

import pytest
from pydantic import ValidationError

from penstock.services.schemas.people.users import UserSpec


def test_every_role_is_listed_once() -> None:
    with pytest.raises(ValidationError, match="List every role once"):
        UserSpec.model_validate({"name": "ann", "roles": ["admin", "admin"]})
    with pytest.raises(ValidationError):
        UserSpec.model_validate({"name": "ann", "roles": []})
