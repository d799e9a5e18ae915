"""Test the front page, and that every example in the documentation of the API is understood."""

import re
import shlex
from collections.abc import Iterator

import pytest
from tests.api.outline import Outline
from tests.api.world import World

from docs.reference import api
from penstock.api.openapi import document

SHORT = {"prove_consistency"}
"""Operations whose example names more leaves than the log of the test has."""

SCHEMAS = document()["components"]["schemas"]


def test_the_front_page_is_whole_and_accessible_and_has_no_script(world: World) -> None:
    response = world.call("GET", "/")
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


def test_what_the_front_page_links_to_is_there(world: World) -> None:
    page = world.call("GET", "/").text
    outline = Outline(page)
    outside = re.findall(r'(?:href|src)="(https?:[^"]*|//[^"]*)"', page)
    assert outside == []
    for link in outline.links:
        if link.startswith("#"):
            assert link[1:] in outline.ids, link
        else:
            assert world.call("GET", link).status_code == 200, link


def test_the_stylesheets_are_the_servers_own(world: World) -> None:
    for link in re.findall(r'<link rel="stylesheet" href="([^"]*)"', world.call("GET", "/").text):
        response = world.call("GET", link)
        assert (response.status_code, response.mimetype) == (200, "text/css")
        assert "@import" not in response.text


def test_the_front_page_says_what_this_is_and_how_to_get_a_token(world: World) -> None:
    page = world.call("GET", "/").text
    for words in ("with differential privacy", "penstock token create", "/docs/"):
        assert words in page
    assert world.server.settings.public_url in page


def examples() -> Iterator[tuple[str, str, str, bytes | None]]:
    """Yield the name, the verb, the address and the body of every operation's example."""
    for path, verbs in document()["paths"].items():
        for verb, operation in verbs.items():
            described = {**operation, "verb": verb.upper(), "path": path}
            words = shlex.split(api.curl(described, SCHEMAS))
            assert words[:2] == ["curl", "-X"]
            body = words[words.index("-d") + 1].encode() if "-d" in words else None
            yield operation["operationId"], words[2], words[3].removeprefix("$PENSTOCK_URL"), body


@pytest.mark.slow
def test_every_example_in_the_documentation_is_understood(world: World) -> None:
    """It may be refused for what is not there, but not for how it is written."""
    misunderstood = {}
    for name, verb, address, body in sorted(examples(), key=lambda example: example[1] != "GET"):
        answers = [
            world.call(verb, address, by=user, data=body) for user in ("ann", "olga", "root")
        ]
        if any(answer.status_code in {400, 405, 415, 500} for answer in answers) or all(
            answer.status_code in {403, 422} and name not in SHORT for answer in answers
        ):
            misunderstood[name] = [answer.text for answer in answers]
    assert misunderstood == {}
