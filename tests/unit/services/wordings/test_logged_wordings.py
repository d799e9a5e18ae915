"""Test that missing and altered texts for readers are reported."""

from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.services import rewording
from penstock.services.access.principals import OPERATOR
from penstock.services.wordings.logged_wordings import LoggedWordings

MESSAGE = "the titles and other texts for readers are not those of the log"


def test_every_change_of_a_text_is_missed(world: World) -> None:
    world.push(title="Visits", tags=["a"])
    rewording.of_query(world.server, OPERATOR, "visits", {"title": "Visits by site"})
    rewording.of_dataset(world.server, OPERATOR, "sites", {"unit": "visits"})
    left = logged.unmissed(world, LoggedWordings)
    assert "wording" not in logged.kinds(left)
    own = [leaf for leaf in logged.leaves(world) if leaf["kind"] == "wording"]
    assert [leaf["changed"] for leaf in own] == [["title", "tags"], ["title"], ["unit"]]
    assert [leaf.get("query") for leaf in own] == ["visits", "visits", None]
    assert all("Visits" not in str(leaf) for leaf in own)


def test_an_altered_title_is_reported(world: World) -> None:
    world.push(title="Visits")
    written = logged.leaves(world)
    assert logged.differences(world, LoggedWordings, written) == []
    other = [
        {**leaf, "wording_sha256": "00"} if leaf["kind"] == "wording" else leaf for leaf in written
    ]
    assert logged.differences(world, LoggedWordings, other) == [MESSAGE]
