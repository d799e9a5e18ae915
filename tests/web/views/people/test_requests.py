"""Test requests on the pages: each person sees their own, and admins see what waits."""

import html
from urllib.parse import urlsplit

import pytest
from tests.api.world import World
from tests.web.every_page.contents import require_own
from tests.web.views.people.acting import follow
from tests.web.views.people.requesting import ASK, PURPOSE, SECRET, register, request_in, view
from tests.web.world import HOSTILE, Browser, Open, text_of

from penstock.figures import percent

FIELDS = {"name": "late loans", "level internal": "0.5", "level public": ""}


def test_admins_see_what_waits_with_its_price(browse: Open, root: Browser, world: World) -> None:
    address = request_in(world)
    request_in(world, by="ann", name="mine", levels={"public": {"epsilon": 0.1}}, purpose="Alone")
    page = root.get("/requests")
    words = text_of(page)
    assert "ian (internal" in words
    assert "ann (public" in words
    assert PURPOSE in words
    assert "Alone" in words
    tier = view(world, address)["preview"]["tiers"][0]
    half = tier["error"]["half_width"]
    assert f"internal {tier['guarantee']['epsilon']:.3g} ±{half:.3g}" in words
    assert percent(tier["charge"]["share"]) in words
    assert "Requests (1)" in " ".join(page.text.split()), "equal requests are one for admins"
    assert page.text.count("<article") == 1
    assert "Requests (" not in browse("ian").get("/requests").text


def test_the_page_of_each_of_two_equal_requests_is_about_what_that_person_sent(
    root: Browser, world: World
) -> None:
    address = request_in(world)
    other = request_in(world, by="ann", name="mine", levels={"public": {"epsilon": 0.1}})
    page = root.get(other)
    assert "about what ann requested" in text_of(page)
    assert f'href="{address}"' in page.text
    assert f'action="{other}/preview' in page.text


def test_nobody_sees_what_others_requested(browse: Open, world: World) -> None:
    """Neither in lists nor on a page of the same statistic."""
    address = request_in(world)
    own = request_in(world, by="ann", name="mine", levels={"public": {"epsilon": 0.1}})
    ann = browse("ann")
    assert ann.get(address).status_code == 404
    for path in ("/requests", "/requests?state=open", own):
        words = text_of(ann.get(path))
        assert "mine" in words
        assert "ian" not in words.replace("gaussian", "")
        assert "late loans" not in words
    for path in ("comments", "withdrawal"):
        assert ann.submit(f"{address}/{path}", comment="Me too", once=path).status_code == 404
    assert view(world, address)["comments"] == []


def test_a_query_out_of_sight_is_not_revealed_by_a_request_for_it(
    browse: Open, world: World
) -> None:
    """Whatever ann requests looks as it did before the query existed that is hidden from her."""
    own = request_in(world, by="ann", name="mine", levels={"public": {"epsilon": 0.1}})
    ann = browse("ann")
    key = ann.form_key()
    paths = (own, "/requests", "/requests?state=answered", "/requests?state=open", "/catalogue")
    before = [text_of(ann.get(path)) for path in paths]
    register(world, **SECRET)
    assert [text_of(ann.get(path)) for path in paths] == before
    assert "mine" in before[0]
    assert key == ann.form_key()
    assert "registered already" in text_of(browse("root").get(own))
    assert "kept back" in text_of(browse("root").get("/requests"))


def test_whoever_sees_the_query_by_now_is_led_there(browse: Open, world: World) -> None:
    address = request_in(world)
    register(world, name="in time")
    ian = browse("ian")
    assert "registered by now, as in time" in text_of(ian.get(address))
    assert 'href="/queries/in%20time"' in ian.get("/requests?state=answered").text
    assert "There are no open requests" in text_of(ian.get("/requests?state=open"))


def test_what_its_asker_registered_meanwhile_waits_for_no_admin(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world)
    assert "Requests (1)" in " ".join(root.get("/requests").text.split())
    path = "/api/v1/datasets/loans/allowances/internal"
    world.answer("PUT", path, {"epsilon": 1}, by="root")
    own = {name: part for name, part in ASK.items() if name != "purpose"}
    world.answer("POST", "/api/v1/queries", own, by="ian")
    inbox = root.get("/requests")
    assert "No request waits for a decision" in text_of(inbox)
    assert "Requests (" not in inbox.text
    listed = root.get("/requests?state=answered")
    assert "registered meanwhile" in text_of(listed)
    assert 'href="/queries/late%20loans@internal"' in listed.text
    page = root.get(address)
    assert "It was registered meanwhile, as late loans@internal" in text_of(page)
    assert "Nothing is left to decide" in text_of(page)
    assert "Approve" not in page.text
    seen = view(world, address)
    assert (seen["state"], seen["query"]) == ("answered", "late loans@internal")
    assert root.get("/queries/late%20loans@internal").status_code == 200
    assert "registered by now" in text_of(browse("ian").get(address))


def test_comments_of_both_sides_are_read_by_both(browse: Open, root: Browser, world: World) -> None:
    address = request_in(world)
    page = follow(root, root.submit(f"{address}/comments", comment="Which\nyear?", once="1"))
    assert "Your comment is sent" in text_of(page)
    ian = browse("ian")
    for _ in range(2):
        sent = ian.submit(f"{address}/comments", comment="The last.", once="2")
        assert "root , 2026" in text_of(follow(ian, sent))
    comments = view(world, address)["comments"]
    assert [comment["comment"] for comment in comments] == ["Which\nyear?", "The last."]
    assert "ian: The last." in " ".join(text_of(root.get("/requests?state=all")).split()).replace(
        " :", ":"
    )


def test_a_comment_keeps_the_levels_that_were_typed_and_their_preview(
    root: Browser, world: World
) -> None:
    address = request_in(world)
    fields = {**FIELDS, "level internal": "0.25", "comment": "Enough?"}
    page = follow(root, root.submit(f"{address}/comments", **fields, once="1"))
    assert 'name="level internal" value="0.25"' in page.text
    assert "internal 0.25 ±" in text_of(page)
    refused = root.submit(f"{address}/comments", **{**fields, "comment": " "}, once="2")
    assert refused.status_code == 422
    assert 'id="comment-wrong"' in refused.text
    assert 'value="0.25"' in refused.text


def test_a_person_withdraws_their_own_request_once_and_may_send_it_again(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world)
    ian = browse("ian")
    for _ in range(2):
        page = follow(ian, ian.submit(f"{address}/withdrawal"))
        assert "It was withdrawn. Nothing was charged." in text_of(page)
        assert "Withdraw the request" not in page.text
    assert "No request waits" in text_of(root.get("/requests"))
    assert "request withdrawn" in text_of(root.get(address))
    assert ian.submit(f"{address}/comments", comment="Still?", once="3").status_code == 409
    assert urlsplit(request_in(world)).path != address


@pytest.mark.usefixtures("unchanged")
def test_a_list_without_requests_says_what_to_do(browse: Open, root: Browser) -> None:
    assert "No request waits for a decision." in text_of(root.get("/requests"))
    assert "There are no requests." in text_of(root.get("/requests?state=all"))
    page = browse("ian").get("/requests")
    assert "There are no requests. Write a question" in text_of(page)
    assert root.get("/requests?state=x").status_code == 422


def test_a_request_that_cannot_be_registered_says_why_and_stays_to_be_read(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world)
    other = {**ASK, "where": [{"column": "book", "op": ">", "value": 5}]}
    register(world, **other)
    for browser in (browse("ian"), root):
        page = browser.get(address)
        assert page.status_code == 200
        assert "late loans" in text_of(page)
        assert "name" in text_of(page)
        assert 'class="chart"' not in page.text
    assert "It cannot be registered as it is." in text_of(root.get("/requests"))


def test_a_request_under_a_former_declaration_cannot_be_approved_and_says_why(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world)
    column = {"book": {"type": "integer", "lower": 0, "upper": 30}}
    world.answer("PATCH", "/api/v1/datasets/loans", {"columns": column}, by="root")
    why = "was corrected since, so that this is another statistic: it cannot be approved"
    for browser, path in ((root, "/requests"), (root, address), (browse("ian"), address)):
        assert why in text_of(browser.get(path))
    assert f"{address}/approval" not in root.get(address).text
    assert f"{address}/refusal" in root.get(address).text
    assert why in view(world, address)["problem"]


def test_the_first_page_says_what_waits_and_what_was_decided(
    browse: Open, root: Browser, world: World
) -> None:
    for name in ("root", "ian"):
        words = text_of(browse(name).get("/catalogue"))
        assert "a decision" not in words
        assert "Decided in the last" not in words
    address = request_in(world)
    assert "1 request of analysts waits for a decision." in text_of(root.get("/catalogue"))
    assert "waits for a decision" not in text_of(browse("ian").get("/catalogue"))
    root.submit(f"{address}/approval", **FIELDS, once="1")
    assert "waits for a decision" not in text_of(root.get("/catalogue"))
    page = browse("ian").get("/catalogue")
    assert "late loans : approved by root" in text_of(page)
    assert f'href="{address}"' in page.text
    assert "Decided in the last" not in text_of(browse("ann").get("/catalogue"))


def test_the_first_page_says_what_an_admin_commented(
    browse: Open, root: Browser, world: World
) -> None:
    address = request_in(world)
    assert "Comments of the last" not in text_of(browse("ian").get("/catalogue"))
    root.submit(f"{address}/comments", comment="Which year?", once="1")
    page = browse("ian").get("/catalogue")
    assert "late loans : root commented" in text_of(page)
    assert f'href="{address}#comments"' in page.text
    for name in ("root", "ann"):
        assert "Comments of the last" not in text_of(browse(name).get("/catalogue"))


def test_what_people_write_is_shown_as_text(browse: Open, root: Browser, world: World) -> None:
    address = request_in(world, name=f"{HOSTILE} 2", purpose=HOSTILE)
    ian = browse("ian")
    ian.submit(f"{address}/comments", comment=HOSTILE, once="1")
    for browser, paths in (
        (root, ("/requests", "/requests?state=all", address)),
        (ian, ("/requests", "/ask/sql", address)),
    ):
        for path in paths:
            answer = browser.get(path)
            assert HOSTILE in html.unescape(answer.text), path
            require_own(answer, path)
    root.submit(f"{address}/refusal", comment=HOSTILE, once="2")
    require_own(ian.get("/catalogue"), "/catalogue")
    assert HOSTILE in html.unescape(ian.get(address).text)
