"""Test every page of the documentation: links and anchors, plain HTML, no script within."""

import itertools
import re

import pytest
from tests.api.outline import Outline
from tests.docs.site import Site


def test_every_link_leads_to_a_page_and_an_anchor(site: Site) -> None:
    missing = [
        f"{page}: {reason}"
        for page, text in site.pages.items()
        for link in re.findall(r'\b(?:href|src|action)="([^"]*)"', text)
        if (reason := site.missing(page, link.replace("&amp;", "&")))
    ]
    assert missing == []
    assert len(site.pages) > 10


@pytest.mark.parametrize(
    "link",
    ["nowhere/", "#nowhere", "reference/api/#nowhere", "../static/no.css", "../nowhere",
     "http://example.org/"],
)  # fmt: skip
def test_a_link_that_leads_nowhere_is_noticed(site: Site, link: str) -> None:
    assert site.missing("", link)
    assert not site.missing("", "reference/api/#main")
    assert not site.missing("reference/api/", "../../../")


def test_pages_are_accessible_and_have_no_script_or_style_within(site: Site) -> None:
    for page, outline in site.outlines.items():
        for element in ("h1", "main", "title"):
            body = [e for e in outline.elements if e != "title"] + ["title"]
            assert body.count(element) == 1, (page, element)
        assert not {"style", "iframe"} & set(outline.elements), page
        names = {name for name, _ in outline.attributes}
        assert not {name for name in names if name.startswith("on")} | (names & {"style"}), page
        assert len(set(outline.ids)) == len(outline.ids), page
        assert not re.search(r"<script(?! src=)", site.pages[page]), page


def test_tables_have_names_of_their_own_and_no_empty_heads(site: Site) -> None:
    for page, text in site.pages.items():
        names = re.findall(r'role="region" tabindex="0" aria-label="([^"]*)"', text)
        assert len(names) == len(set(names)) == text.count("<table"), page
        assert '<th scope="col"></th>' not in text, page


def test_headings_do_not_skip_a_level(site: Site) -> None:
    for page, outline in site.outlines.items():
        levels = [int(name[1]) for name in outline.elements if re.fullmatch("h[1-6]", name)]
        assert all(after <= before + 1 for before, after in itertools.pairwise(levels)), page


def test_only_pages_with_forms_and_the_search_load_scripts(site: Site) -> None:
    for page, text in site.pages.items():
        loaded = re.findall(r'<script src="(?:\.{1,2}/)*([^"]*)"', text)
        if page == "search.html":
            assert loaded == ["base.js", "search/main.js"]
        else:
            assert loaded == (["try.js"] if "<form data-verb" in text else []), page


def test_every_page_is_in_the_search(site: Site) -> None:
    index = (site.folder / "search/search_index.json").read_text()
    for page in site.pages:
        assert page == "search.html" or f'"location":"{page}"' in index, page


def test_an_outline_notices_what_is_not_closed() -> None:
    with pytest.raises(AssertionError):
        Outline("<p><b></p>")
