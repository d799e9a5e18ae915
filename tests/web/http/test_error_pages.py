"""Test that refusals are pages in browsers and problem documents in programs, in the same words."""

import html
import json

from tests.web.world import HOST, Open


def test_a_refusal_says_the_same_as_a_page_and_as_a_document(browse: Open) -> None:
    ann = browse("ann")
    page = ann.get("/queries/nothing")
    document = ann.world.call("GET", "/api/v1/queries/nothing", by="ann")
    assert page.status_code == document.status_code == 404
    assert page.mimetype == "text/html"
    assert html.escape(json.loads(document.data)["detail"], quote=False).split("'")[0] in page.text


def test_who_does_not_ask_for_a_page_gets_the_document_of_an_address_that_is_none(
    browse: Open,
) -> None:
    answer = browse("ann").client.get(
        "/nothing", base_url=HOST, headers={"Accept": "application/json"}
    )
    assert answer.mimetype == "application/problem+json"
    assert json.loads(answer.data)["status"] == 404


def test_the_api_never_answers_with_a_page(browse: Open) -> None:
    answer = browse("ann").get("/api/v1/nothing")
    assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")


def test_what_may_be_asked_at_an_address_is_kept_in_the_refusal(browse: Open) -> None:
    headers = {"Accept": "text/html"}
    answer = browse("ann").client.delete("/catalogue", base_url=HOST, headers=headers)
    assert answer.status_code == 405
    assert "GET" in answer.headers["Allow"]
