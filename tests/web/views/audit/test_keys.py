"""Test the provider's keys, by name."""

from tests.api.world import World
from tests.web.world import Browser, Open, text_of


def test_keys_are_shown_by_name(root: Browser, world: World) -> None:
    words = text_of(root.get("/keys"))
    assert "sites 1" in words
    assert "loans 1" in words


def test_keys_are_for_admins(browse: Open) -> None:
    for name in ("ann", "olga"):
        assert browse(name).get("/keys").status_code == 403
