"""Test actions under the two-person rule: done, or led to their proposal."""

from flask import Response
from tests.api.world import World
from tests.web.world import Browser

from penstock.http.counting.rate_limits import Limits
from penstock.services.access.principals import Principal
from penstock.services.approvals.actions import Shredding
from penstock.services.jobs.runner import Runner
from penstock.services.operations.key_rotation import ShreddedView
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit


def shred(world: World) -> tuple[Response, list[ShreddedView]]:
    """Return the response to an admin who shreds a dataset, and what was done."""
    limits: Limits = None  # type: ignore[assignment]  # nothing here is limited
    runner: Runner = None  # type: ignore[assignment]  # nor begun
    visit = Visit(world.server, limits, runner, Principal("root", 1, frozenset({"admin"})))
    done: list[ShreddedView] = []

    def led(shredding: ShreddedView) -> Response:
        done.append(shredding)
        return Response("done")

    with world.client.application.test_request_context("/"):
        return do_or_propose(visit, Shredding(dataset="closed"), led), done


def test_what_one_person_may_do_is_done(world: World) -> None:
    response, done = shred(world)
    assert response.get_data(as_text=True) == "done"
    assert [shredding.dataset for shredding in done] == ["closed"]


def test_under_the_two_person_rule_nothing_is_done_and_the_proposal_is_shown(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    world, root, _ = two_admins
    response, done = shred(world)
    assert (response.status_code, done) == (303, [])
    (proposal,) = world.answer("GET", "/api/v1/proposals", by="root")["items"]
    assert response.location == f"/proposals/{proposal['id']}"
    assert root.get(response.location).status_code == 200
