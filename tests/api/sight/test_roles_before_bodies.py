"""Test that a caller without the role is refused before the body is read, whatever is in it."""

import pytest
from tests.api.world import World, parsed

CALLS = [
    *((path, by) for path in ("/api/v1/tiers", "/api/v1/users") for by in ("ian", "olga")),
    ("/api/v1/queries", "olga"),  # an analyst may have an allowance, of a dataset in the body
]


@pytest.mark.parametrize(("path", "by"), CALLS)
@pytest.mark.parametrize("data", [b"", b"no json", b"{}", b"x" * 3_000_000])
def test_a_body_of_whoever_lacks_the_role_is_not_looked_at(
    world: World, path: str, data: bytes, by: str
) -> None:
    response = world.call("POST", path, by=by, data=data)
    assert response.status_code == 403, response.text
    assert parsed(response)["code"] == "FORBIDDEN"
    assert world.call("POST", path, by="root", data=data).status_code in (400, 413, 415, 422)
