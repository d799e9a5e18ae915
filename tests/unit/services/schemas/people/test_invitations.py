"""Test what an invitation may say."""

from typing import Any

import pytest
from pydantic import ValidationError

from penstock.services.schemas.people.invitations import InvitationSpec


@pytest.mark.parametrize(("life", "seconds"), [(None, None), ("30d", 2592000), (60, 60)])
def test_lives_are_numbers_of_seconds_or_texts(life: Any, seconds: int | None) -> None:
    spec = InvitationSpec(name="lea", roles=["analyst"], expires_in=life)
    assert spec.expires_in == seconds


@pytest.mark.parametrize("life", ["31d", 0, -1, "soon", 2592001, 1.5, True])
def test_other_lives_are_refused(life: Any) -> None:
    with pytest.raises(ValidationError):
        InvitationSpec(name="lea", roles=["analyst"], expires_in=life)
