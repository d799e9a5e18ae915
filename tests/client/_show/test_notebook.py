"""Test a release in a notebook: all values shown, every text escaped."""

import dataclasses
from collections.abc import Sequence
from html.parser import HTMLParser

from penstock_client import Release
from penstock_client._show.notebook import ROWS, page
from penstock_client.derived import combined, total

HOSTILE = '<img src=x onerror="alert(1)">&amp;\'"\x1b[2J\u202e'


class Tags(HTMLParser):
    """Collect the elements, attributes and texts of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_every_value_with_its_interval(release: Release) -> None:
    tags = Tags(release._repr_html_())
    assert {"svg", "table"} <= set(tags.tags)
    for text in ("AA", "31,988", "31,899", "32,076", "0", "-88", "88", "lower 95%"):
        assert text in tags.texts
    assert "epsilon 0.629, delta 1e-06 (zcdp, rho 0.0118)" in tags.texts


def test_a_notebook_shows_derived_quantities_with_their_law(release: Release) -> None:
    texts = Tags(total(release)._repr_html_()).texts
    assert {"quantity", "lower 95%", "exact for Gaussian noise"} <= set(texts)
    hostile = dataclasses.replace(release, keys=(HOSTILE, "b"), values=(1.0, 2.0))
    both = combined([hostile, dataclasses.replace(hostile, id="other", query="other")])
    tags = Tags(both._repr_html_())
    assert "img" not in tags.tags
    assert {"b", "2"} <= set(tags.texts)


def test_texts_of_the_server_are_escaped_everywhere(release: Release) -> None:
    hostile = dataclasses.replace(
        release,
        query=HOSTILE,
        dataset=HOSTILE,
        tier=HOSTILE,
        mechanism=HOSTILE,
        asserted_by=HOSTILE,
        keys=(HOSTILE, (HOSTILE, 3)),
        guarantee=dataclasses.replace(release.guarantee, definition=HOSTILE),
        level=dataclasses.replace(release.level, parameter=HOSTILE),
    )
    html = hostile._repr_html_()
    tags = Tags(html)
    assert "img" not in tags.tags
    assert "script" not in tags.tags
    assert not any(name.startswith("on") for name in tags.attributes)
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert any(HOSTILE[:20] in text for text in tags.texts)


def test_a_long_release_is_cut_and_says_so(release: Release) -> None:
    many = dataclasses.replace(
        release, keys=tuple(range(100_000)), values=tuple(map(float, range(100_000)))
    )
    html = many._repr_html_()
    assert f"The first {ROWS} of 100,000 values" in html
    assert html.count("<tr>") == ROWS + 1
    assert len(html) < 50_000
    assert "The first" not in release._repr_html_()


def test_a_release_without_values_shows_no_chart(release: Release) -> None:
    empty = dataclasses.replace(release, keys=(), values=())
    assert "<svg" not in empty._repr_html_()


def test_fewer_rows_may_be_asked_for(release: Release) -> None:
    assert "The first 1 of 2 values" in page(release, rows=1)


def test_a_notebook_shows_each_interval(means: Release) -> None:
    shown = page(means)
    assert ">41<" in shown
    assert ">100<" in shown
