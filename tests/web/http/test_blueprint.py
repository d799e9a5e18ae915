"""Test checks before every view: session, role, headers, and the size of the request."""

from urllib.parse import parse_qs, urlsplit

from tests.web.world import Open

from penstock.web.http.blueprint import HEADERS, LARGEST_FORM


def test_every_page_and_refusal_says_what_browsers_may_load(browse: Open) -> None:
    ann = browse("ann")
    for path in ("/catalogue", "/queries/nothing", "/users", "/nothing"):
        page = ann.get(path)
        assert page.mimetype == "text/html"
        for name, value in HEADERS.items():
            assert page.headers[name] == value, path


def test_without_a_session_a_page_leads_to_the_sign_in_page_and_back(browse: Open) -> None:
    page = browse().get("/queries/visits?epsilon=1")
    assert page.status_code == 303
    location = page.headers["Location"]
    assert location.startswith("/sign-in?")
    assert parse_qs(urlsplit(location).query)["next"] == ["/queries/visits?epsilon=1"]
    assert "ended" not in location


def test_a_part_of_a_page_has_the_browser_load_the_whole(browse: Open) -> None:
    part = browse().get("/catalogue", **{"HX-Request": "true"})
    assert part.status_code == 204
    assert part.headers["HX-Refresh"] == "true"


def test_who_lacks_the_role_is_refused_before_the_form_is_read(browse: Open) -> None:
    answer = browse("ann").send("/users", form_key="0" * 64, name="new")
    assert answer.status_code == 403
    assert "takes the role" in answer.text


def test_a_form_without_a_length_is_refused(browse: Open) -> None:
    ann = browse("ann")
    answer = ann.client.post(
        "/sign-out",
        base_url="https://127.0.0.1:8080",
        headers={"Transfer-Encoding": "chunked", "Accept": "text/html"},
    )
    assert answer.status_code == 411
    assert LARGEST_FORM < 2**20


def test_the_menu_has_what_the_caller_may_see(browse: Open) -> None:
    reader, admin = browse("ann").get("/catalogue").text, browse("root").get("/catalogue").text
    assert 'href="/users"' not in reader
    assert 'href="/users"' in admin
