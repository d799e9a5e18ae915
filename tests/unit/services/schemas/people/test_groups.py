"""Test which groups can be mapped, and to what."""

from typing import Any

import pytest
from pydantic import ValidationError

from penstock.services.schemas.people.groups import GroupMappingSpec


@pytest.mark.parametrize("group", ["staff", "/staff/Größe", "CN=staff,OU=x", "a b", "g" * 256])
def test_a_group_is_kept_as_it_is_written(group: str) -> None:
    assert GroupMappingSpec(group=group, roles=["admin"]).group == group


@pytest.mark.parametrize(
    "wrong",
    [
        *({"group": group} for group in ("", "g" * 257, "a\nb", "\ud800", 7)),
        *({"group": "x", "roles": roles} for roles in (["king"], ["admin", "admin"], "admin")),
        {"group": "x", "tier": ""},
    ],
    ids=ascii,
)
def test_other_groups_and_roles_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GroupMappingSpec.model_validate(wrong)


@pytest.mark.parametrize("group", [" staff", "staff ", "staff\u00a0", " "])
def test_a_group_that_a_list_would_show_like_another_is_refused(group: str) -> None:
    with pytest.raises(ValidationError, match="A group "):
        GroupMappingSpec(group=group, roles=["admin"])
