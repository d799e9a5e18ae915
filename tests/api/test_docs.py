"""Test the pages for people: plain, without a script, and working without a session."""

import re

import pytest
from tests.api.outline import Outline
from tests.api.world import World

from penstock.api import OPERATIONS


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_pages_are_whole_and_accessible_and_have_no_script(world: World, path: str) -> None:
    response = world.call("GET", path)
    assert (response.status_code, response.mimetype) == (200, "text/html")
    assert response.text.startswith("<!doctype html>")
    assert '<html lang="en">' in response.text
    outline = Outline(response.text)
    for needed in ("h1", "main"):
        assert outline.elements.count(needed) == 1
    # Pictures have titles of their own.
    assert outline.elements[: outline.elements.index("body")].count("title") == 1
    assert not {"script", "style", "iframe", "img"} & set(outline.elements)
    names = {name for name, _ in outline.attributes}
    assert not {name for name in names if name.startswith("on")} | (names & {"style"})
    assert len(set(outline.ids)) == len(outline.ids)


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_what_pages_link_to_is_there(world: World, path: str) -> None:
    page = world.call("GET", path).text
    outline = Outline(page)
    outside = re.findall(r'(?:href|src)="(https?:[^"]*|//[^"]*)"', page)
    assert outside == []
    for link in outline.links:
        if link.startswith("#"):
            assert link[1:] in outline.ids, link
        else:
            assert world.call("GET", link).status_code == 200, link


def test_the_stylesheet_is_the_servers_own(world: World) -> None:
    assert 'href="/static/penstock.css"' in world.call("GET", "/docs").text
    response = world.call("GET", "/static/penstock.css")
    assert (response.status_code, response.mimetype) == (200, "text/css")
    assert "url(" not in response.text
    assert "@import" not in response.text


def test_the_front_page_says_what_this_is_and_how_to_get_a_token(world: World) -> None:
    page = world.call("GET", "/").text
    for words in ("with differential privacy", "penstock token create", "/docs"):
        assert words in page
    assert world.server.settings.public_url in page


def test_the_page_of_the_api_has_every_operation(world: World) -> None:
    page = world.call("GET", "/docs").text
    for operation in OPERATIONS:
        assert f"<code>{operation.verb} {operation.path}</code>" in page
        assert operation.summary in page.replace("&#39;", "'")
        assert operation.policy.sentence in page
