"""Test a visit: the caller, their rights, and the address of the next page of a list."""

from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from tests.api.world import World

from penstock.errors import InvalidInput
from penstock.http.counting.rate_limits import Limits
from penstock.services.access.principals import Principal
from penstock.services.jobs.runner import Runner
from penstock.services.pagination import Page
from penstock.web.http.request_context import PATIENCE, SHOWN, Visit

ANN = Principal("ann", 1, frozenset({"analyst"}))


@pytest.fixture
def visit(world: World) -> Visit:
    limits: Limits = None  # type: ignore[assignment]  # nothing here is limited
    runner: Runner = None  # type: ignore[assignment]  # nor begun
    return Visit(world.server, limits, runner)


def test_a_page_that_anybody_may_see_has_no_caller(visit: Visit) -> None:
    assert not visit.may("analyst")
    assert visit.form_key == ""
    with pytest.raises(RuntimeError, match="without a session"):
        _ = visit.principal


def test_a_caller_may_what_their_roles_say(visit: Visit) -> None:
    own = visit.by(ANN, "")
    assert own.principal == ANN
    assert own.may("admin", "analyst")
    assert not own.may("admin")


def test_the_next_part_of_a_list_keeps_its_filters(visit: Visit) -> None:
    application = Flask(__name__)
    with application.test_request_context("/log?kind=user&user=ann"):
        assert visit.onward(Page([], None)) is None
        address = visit.onward(Page([1], "41"))
    assert address is not None
    parameters = parse_qs(urlsplit(address).query)
    assert (parameters["kind"], parameters["user"]) == (["user"], ["ann"])
    with application.test_request_context(address):
        assert visit.window().after == 41
        assert visit.window().limit == SHOWN
    with (
        application.test_request_context(address.replace("/log", "/history")),
        pytest.raises(InvalidInput),
    ):
        visit.window()


def test_what_a_script_asks_for_does_not_wait(visit: Visit) -> None:
    application = Flask(__name__)
    with application.test_request_context("/"):
        assert (visit.is_part, visit.patience) == (False, PATIENCE)
    with application.test_request_context("/", headers={"HX-Request": "true"}):
        assert (visit.is_part, visit.patience) == (True, 0.0)
