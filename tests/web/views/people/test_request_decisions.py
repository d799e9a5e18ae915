"""Test decisions on the pages: approved with other levels, declined, finished, and in a race."""

import pytest
from tests.api.world import World
from tests.unit.worlds import cut_off_before_the_anchor
from tests.web.views.people.acting import follow
from tests.web.views.people.requesting import register, request_in, view
from tests.web.world import Browser, Open, text_of

from penstock.errors import Conflict
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.jobs import jobs
from penstock.services.jobs.runner import Run
from penstock.services.people import tokens, users
from penstock.services.requests import decisions
from penstock.services.requests.views import UNANSWERED
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.requests.specs import DecisionRequest
from penstock.web.views.analyst.own_jobs import FOR_WORKERS

AS_REQUESTED = {"name": "late loans", "level internal": "0.5", "level public": "", "comment": ""}
LOWER = {**AS_REQUESTED, "level internal": "0.25", "comment": "Half is enough."}


def test_an_approval_registers_what_was_previewed(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world)
    preview = root.submit(f"{address}/preview", **LOWER)
    assert preview.status_code == 200, text_of(preview)
    assert 'name="level internal" value="0.25"' in preview.text
    assert "Half is enough." in preview.text
    tier = preview.text.index("Preview by tier")
    first = root.submit(f"{address}/approval", **LOWER, once="k" * 32)
    assert first.location == "/queries/late%20loans?added=1"
    assert root.submit(f"{address}/approval", **LOWER, once="k" * 32).location == first.location
    query = world.answer("GET", "/api/v1/queries/late%20loans", by="ian")
    margin = f"±{query['tiers'][0]['error']['half_width']:.3g}"
    assert margin in preview.text[tier : tier + 2000]
    assert query["tiers"][0]["guarantee"]["epsilon"] <= 0.25
    for browser in (root, browse("ian")):
        page = text_of(browser.get(address))
        assert "It was approved by root" in page
        assert "Half is enough." in page
    assert "Get results of query late loans" in text_of(browse("ian").get(address))


def test_a_preview_for_a_script_comes_alone(root: Browser, world: World) -> None:
    address = request_in(world)
    key = root.form_key()

    def part(**fields: str) -> tuple[int, str]:
        headers = {"Origin": "http://127.0.0.1:8080", "HX-Request": "true"}
        page = root.client.post(
            f"{address}/preview",
            base_url="https://127.0.0.1:8080",
            headers=headers,
            data={**fields, "form_key": key},
        )
        assert "<html" not in page.text
        return page.status_code, page.text

    assert "Share of its budget" in part(**LOWER)[1]
    status, text = part(**{**LOWER, "level internal": "much"})
    assert (status, "This must be a number" in text) == (422, True)


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"level internal": "much"}, "level-1"),
        ({"level public": "-1"}, "level-2"),
        ({"name": " "}, "name"),
        ({"comment": "x" * 2001}, "comment"),
    ],
)
def test_nonsense_comes_back_with_its_reason_beside_it(
    root: Browser, world: World, fields: dict[str, str], place: str
) -> None:
    address = request_in(world)
    page = root.submit(f"{address}/approval", **{**LOWER, "name": "kept", **fields}, once="2")
    assert page.status_code == 422, text_of(page)
    assert f'id="{place}-wrong"' in page.text, text_of(page)
    assert "kept" in page.text or place == "name"
    assert view(world, address)["state"] == "open"


def test_a_refusal_for_lack_of_budget_leaves_the_request_and_the_form(
    root: Browser, world: World
) -> None:
    address = request_in(world)
    fields = {**LOWER, "level internal": "50", "name": "greedy"}
    assert "It would be refused" in text_of(root.submit(f"{address}/preview", **fields))
    page = root.submit(f"{address}/approval", **fields, once="3")
    assert page.status_code == 409
    assert "The request stays open." in text_of(page)
    for typed in ('value="50"', 'value="greedy"', "Half is enough."):
        assert typed in page.text
    assert root.submit(f"{address}/approval", **LOWER, once="3").status_code == 303


def test_a_request_is_declined_once_with_a_reason(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world)
    for _ in range(2):
        declined = root.submit(f"{address}/refusal", **{**LOWER, "comment": "Too close."}, once="4")
        page = follow(root, declined)
        assert "It was declined by root" in text_of(page)
    assert root.submit(f"{address}/approval", **LOWER, once="5").status_code == 409
    assert root.submit(f"{address}/preview", **LOWER).status_code == 409
    words = text_of(browse("ian").get(address))
    assert "It was declined by root" in words
    assert "Too close." in words
    assert UNANSWERED in words
    assert "Nothing was charged." in text_of(root.get(address))


def test_an_approval_for_others_is_shown_as_declined_with_its_comment(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world, by="ann", levels={"public": {"epsilon": 0.1}})
    above = {**LOWER, "name": "kept back", "comment": "Not for the public."}
    assert root.submit(f"{address}/approval", **above, once="6").status_code == 303
    ann = browse("ann")
    words = text_of(ann.get(address))
    assert "It was declined by root" in words
    assert UNANSWERED in words
    assert "Not for the public." in words
    for path in (address, "/requests", "/requests?state=declined", "/catalogue"):
        page = text_of(ann.get(path))
        assert "approved by" not in page
        assert "kept back" not in page
    assert "ann cannot see the query: to them" in text_of(root.get(address))
    again = request_in(world, by="ann", levels={"public": {"epsilon": 0.1}})
    assert again != address
    assert "It waits for a decision" in text_of(ann.get(again))


def test_an_approval_of_a_registered_statistic_leads_there_for_nothing(
    root: Browser, world: World
) -> None:
    address = request_in(world)
    register(world, name="in time")
    spent = world.answer("GET", "/api/v1/datasets/loans/budget", by="root")
    changed = root.submit(f"{address}/approval", **LOWER, once="6")
    assert (changed.status_code, "without any" in text_of(changed)) == (409, True)
    page = follow(root, root.submit(f"{address}/approval", **AS_REQUESTED, once="7"))
    assert "Show query in time" in text_of(page)
    assert world.answer("GET", "/api/v1/datasets/loans/budget", by="root") == spent


def test_under_the_two_person_rule_nobody_is_offered_to_approve_their_own(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    ruled, root, rita = two_admins
    users.change(
        ruled.server, OPERATOR, "rita", UserChange(roles=["analyst", "admin"], clearance="internal")
    )
    ruled.tokens["rita"] = tokens.issue(ruled.server, OPERATOR, "rita", TokenSpec()).token
    rita.sign_in("rita")
    address = request_in(ruled, by="rita")
    page = rita.get(address)
    assert "Approve and register" not in page.text
    assert "Withdraw your request" in page.text
    refused = rita.submit(f"{address}/approval", **LOWER, once="8")
    assert (refused.status_code, 'value="0.25"' in refused.text) == (403, True)
    assert "Approve and register" in root.get(address).text
    assert "Withdraw your request" not in root.get(address).text
    assert root.submit(f"{address}/approval", **LOWER, once="8").status_code == 303


def test_work_that_is_resumed_finds_what_it_registered(root: Browser, world: World) -> None:
    """A worker that goes on with an approval that was done decides and charges nothing again."""
    address = request_in(world)
    root.submit(f"{address}/approval", **LOWER, once="9" * 32)
    admin = authenticate(world.server, world.tokens["root"])
    [piece] = jobs.listing(world.server, admin)
    assert "Approving the request for late loans" in text_of(root.get(f"/my-work/{piece.id}"))
    form = root.get(f"/my-work/{piece.id}/form")
    assert (form.status_code, "approved by root" in text_of(form)) == (200, True)
    prepared = FOR_WORKERS["approve_request"](world.server, admin, piece.fields)
    assert prepared(Run("again", 2)) == "late loans"
    with pytest.raises(Conflict, match="approved already"):
        prepared(Run("first", 1))


def test_an_approval_whose_data_were_not_read_is_finished_on_its_page(
    browse: Open, root: Browser, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = request_in(world)
    admin = authenticate(world.server, world.tokens["root"])
    approval = DecisionRequest(decision="approve", name="books of late")
    cut_off_before_the_anchor(
        monkeypatch,
        lambda: decisions.decide(world.server, admin, address.removeprefix("/requests/"), approval),
    )
    assert "Read the data and finish" in root.get(address).text
    assert "Read the data and finish" not in browse("ian").get(address).text
    finished = root.submit(f"{address}/approval", name="books of late", once="a")
    assert finished.location == "/queries/books%20of%20late?added=1"
    assert "Read the data and finish" not in root.get(address).text
