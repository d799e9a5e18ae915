"""Test charts as files: what the page draws for the same reader, and nothing above it."""

import re
import sys

import pytest
from tests.api.world import World
from tests.web.charts.pictures import SVG, parsed
from tests.web.world import Browser, Grown, Open

from penstock.web.presenters import chart_files


def hold(world: World) -> None:
    """Give ian two levels of visits, and ann the one of hers."""
    for tier in ("internal", "public"):
        world.answer("POST", "/api/v1/queries/visits/releases", {"tier": tier}, by="ian")
    world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ann")


@pytest.fixture
def two(grown: Grown) -> dict[str, Browser]:
    """Return ian, who holds two levels of visits, and ann, who holds the lower one."""
    world = grown("charted", hold)
    browsers = {}
    for name in ("ian", "ann"):
        browsers[name] = Browser(world, world.client.application.test_client())
        assert browsers[name].sign_in(name).status_code == 303
    return browsers


def written(answer_text: str) -> list[str]:
    """Return all texts of an SVG document."""
    root = parsed(answer_text)
    assert root.tag == f"{SVG}svg"
    return [element.text or "" for element in root.iter() if element.text]


def test_a_chart_is_a_file_with_its_sentence_and_its_colors(two: dict[str, Browser]) -> None:
    page = two["ian"].get("/queries/visits").text
    address = re.search(r'href="([^"]+/chart/svg[^"]*)"', page)
    assert address is not None
    answer = two["ian"].get(address[1].replace("&amp;", "&"))
    assert answer.mimetype == "image/svg+xml"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="visits.svg"'
    sentence = re.search(r'<p class="message"><bdi>([^<]+)</bdi>', page)
    assert sentence is not None
    texts = written(answer.text)
    assert sentence[1] == texts[0]
    assert " ".join(texts).count("visits for internal: from") >= 2
    assert "style" not in answer.text
    assert "script" not in answer.text
    assert re.search(r'class="t0" color="#[0-9a-f]{6}"', answer.text)


def test_a_chart_has_nothing_above_what_its_reader_holds(two: dict[str, Browser]) -> None:
    page = two["ian"].get("/queries/visits").text
    ids = re.findall(r'name="level" value="([^"]+)"', page)
    assert len(ids) == 2
    levels = "&".join(f"level={each}" for each in ids)
    own = two["ann"].get("/queries/visits/chart/svg").text
    assert two["ann"].get(f"/queries/visits/chart/svg?{levels}").text == own
    both = two["ian"].get(f"/queries/visits/chart/svg?{levels}").text
    assert "internal" in " ".join(written(both))
    assert "internal" not in " ".join(written(own))
    assert two["ann"].get(f"/releases/{ids[0]}/chart/svg").status_code == 404
    assert two["ian"].get(f"/releases/{ids[0]}/chart/svg").status_code == 200


def test_a_png_is_a_picture_or_says_what_is_missing(
    two: dict[str, Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chart_files, "FONT", "No Such Font")
    refused = two["ian"].get("/queries/visits/chart/png")
    assert refused.status_code == 422
    assert "lacks the font No Such Font: download the SVG" in refused.text
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    refused = two["ian"].get("/queries/visits/chart/png")
    assert refused.status_code == 422
    assert "extra png is not installed" in refused.text


def test_who_holds_nothing_reads_why_there_is_no_chart(browse: Open) -> None:
    answer = browse("ann").get("/queries/books/chart/svg")
    assert answer.status_code == 404
    assert "You have no release of books yet" in answer.text
