"""Test the release history: one's own for analysts, everybody's without values for auditors."""

import pytest
from tests.unit.worlds import World

from penstock.errors import Forbidden, NotFound
from penstock.services.pagination import Window
from penstock.services.releases import history

WINDOW = Window(limit=10)


def test_analysts_read_their_own_and_auditors_everybodys(visits: World) -> None:
    visits.ask("pia")
    visits.ask("ines")
    for reader, users in (("pia", ["pia"]), ("otto", ["pia", "ines"])):
        page = history.listing(visits.server, visits.person(reader), WINDOW)
        assert [item.user for item in page.items] == users
    with pytest.raises(Forbidden):
        history.listing(visits.server, visits.person("pia"), WINDOW, user="ines")


def test_values_are_read_again_by_their_holder_alone(visits: World) -> None:
    release = visits.ask("ines").view
    again = history.values(visits.server, visits.person("ines"), release.id)
    assert again.values.tolist() == release.values.tolist()
    with pytest.raises(NotFound):
        history.values(visits.server, visits.person("paul"), release.id)


def test_a_release_that_is_not_there_is_not_shown(visits: World) -> None:
    with pytest.raises(NotFound):
        history.show(visits.server, visits.person("otto"), "absent")
