"""Check the tokens that the tour shows."""

from penstock.demo import tour
from penstock.demo.cast import EVERYBODY
from penstock.demo.story import Story
from penstock.services.access.principals import authenticate
from penstock.services.context import Server
from penstock.settings import (
    Settings,
)


def test_every_token_signs_its_owner_in(told: Story, server: Server, settings: Settings) -> None:
    shown = tour.what_to_try(told, settings.home, settings, served=True)
    for person in EVERYBODY:
        principal = authenticate(server, told.tokens[person.name])
        assert (principal.name, set(principal.roles)) == (person.name, {person.role})
        assert told.tokens[person.name] in shown
