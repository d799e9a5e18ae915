"""Test tokens issued by form: shown on the page once, and issued once for each form."""

import re

import pytest
from flask import Response
from tests.api.world import World

from penstock.errors import InvalidInput
from penstock.http.counting.rate_limits import Limits
from penstock.services.access.principals import Principal
from penstock.services.jobs.runner import Runner
from penstock.web.forms.people.token_form import issue
from penstock.web.http.request_context import Visit

TOKEN = re.compile(r"pst_[\w-]+")


@pytest.fixture
def visit(world: World) -> Visit:
    limits: Limits = None  # type: ignore[assignment]  # nothing here is limited
    runner: Runner = None  # type: ignore[assignment]  # nor begun
    return Visit(world.server, limits, runner, Principal("root", 1, frozenset({"admin"})))


def sent(world: World, visit: Visit, **fields: str) -> Response:
    """Return the response to a form that issues a token for ann."""
    later = Response(status=303, headers={"Location": "/users/ann?done=issued"})
    with world.client.application.test_request_context("/form", method="POST", data=fields):
        return issue(visit, "ann", later)


def test_the_token_is_shown_once_and_issued_once(world: World, visit: Visit) -> None:
    first = sent(world, visit, once="1" * 32, expires_in="1d")
    token = TOKEN.search(first.get_data(as_text=True))
    assert token is not None
    world.tokens["new"] = token.group()
    assert world.answer("GET", "/api/v1/me", by="new")["name"] == "ann"
    assert 'href="/users/ann"' in first.get_data(as_text=True)
    second = sent(world, visit, once="1" * 32, expires_in="1d")
    assert (second.status_code, second.location) == (303, "/users/ann?done=issued")
    assert TOKEN.search(second.get_data(as_text=True)) is None


@pytest.mark.parametrize(
    ("fields", "pointer"), [({"expires_in": "soon"}, "/expires_in"), ({"scopes": "x"}, "/scopes")]
)
def test_a_refusal_names_its_field_and_leaves_the_key_unused(
    world: World, visit: Visit, fields: dict[str, str], pointer: str
) -> None:
    with pytest.raises(InvalidInput) as refusal:
        sent(world, visit, once="2" * 32, **fields)
    assert refusal.value.errors[0][0].startswith(pointer)
    assert TOKEN.search(sent(world, visit, once="2" * 32).get_data(as_text=True))
