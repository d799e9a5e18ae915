"""Test that every route has a policy, and the server starts with no other."""

import pytest
from flask import Flask
from tests.api.world import World

from penstock import application


def test_a_route_without_a_policy_keeps_the_server_from_starting(world: World) -> None:
    app = Flask("penstock", static_folder=None)
    app.add_url_rule("/unguarded", "unguarded", lambda: "")
    with pytest.raises(RuntimeError, match="unguarded"):
        application._require_policies(app)


def test_every_route_has_a_policy_and_nothing_answers_options_by_itself(world: World) -> None:
    app = world.client.application
    application._require_policies(app)
    for rule in app.url_map.iter_rules():
        assert "OPTIONS" not in (rule.methods or set())
