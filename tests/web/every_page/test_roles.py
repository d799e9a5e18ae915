"""Test every page, asked for by everybody: each cell is asserted; and what is hidden stays so."""

import pytest
from tests.api.world import World, propose
from tests.web.every_page.matrix import MATRIX, VERBS, asked, requested
from tests.web.world import Open, text_of
from werkzeug.test import TestResponse

from penstock.web import PAGES

CALLERS = ("noa", "ann", "ian", "root", "olga")
STRANGERS = (None, "malformed", "expired", "revoked", "gone")
OPEN = {
    *("front", "sign_in_form", "sign_in", "signed_in", "choose_scheme"),
    *("sign_in_at_provider", "return_from_provider", "end_sessions_of_provider"),
    *("invitation", "accept_invitation"),
}


IDS = [f"{row.name}-{row.path}" for row in MATRIX]


def test_the_matrix_has_every_page() -> None:
    assert {row.name for row in MATRIX} | OPEN == {page.name for page in PAGES}
    assert {page.name for page in PAGES if not page.policy.needs_session} == OPEN


@pytest.mark.parametrize("caller", CALLERS)
def test_everybody_gets_what_their_role_and_clearance_allow(browse: Open, caller: str) -> None:
    found, expected = {}, {}
    browser = browse(caller)
    key = browser.form_key()
    for row, name in zip(MATRIX, IDS, strict=True):
        label = f"{name} {row.fields}"
        found[label] = asked(browser, row, key).status_code
        expected[label] = getattr(row, caller)
        if row.name == "sign_out":
            browser = browse(caller)
            key = browser.form_key()
    assert found == expected


def test_nobody_gets_anything_without_a_session(browse: Open) -> None:
    for name in STRANGERS:
        browser = browse()
        if name is not None:
            assert browser.sign_in(name).status_code == 401
        for row in MATRIX:
            answer = asked(browser, row)
            if VERBS[row.name] == "GET":
                assert answer.status_code == 303, row
                assert answer.location.startswith("/sign-in?next="), row
            else:
                assert answer.status_code == 401, row


def test_a_bearer_token_is_no_session(world: World) -> None:
    for row in MATRIX:
        status = world.call(VERBS[row.name], row.path, by="ian").status_code
        assert status == (303 if VERBS[row.name] == "GET" else 401)


def test_a_refused_caller_changes_nothing(browse: Open, world: World) -> None:
    propose(world)
    requested(world)
    before = world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga")
    for caller in CALLERS:
        browser = browse(caller)
        key = browser.form_key()
        for row in MATRIX:
            if getattr(row, caller) >= 400:
                asked(browser, row, key)
    assert world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga") == before


HIDDEN = [
    ("/datasets/{}", "closed", "absent"),
    ("/queries/{}", "secret", "absent"),
    ("/queries/{}/request", "secret", "absent"),
    ("/queries/{}/request?tier=internal", "secret", "absent"),
    ("/queries/{}/request?epsilon=0.01", "secret", "absent"),
    ("/streams/{}", "rising", "absent"),
    ("/streams/{}/totals", "rising", "absent"),
    ("/streams/{}/totals?from=1&to=2", "rising", "absent"),
    ("/history?query={}", "secret", "absent"),
    ("/history?user={}", "gone", "zeno"),
    ("/releases/{}", "RELEASE", "0" * 36),
    ("/releases/{}/csv", "RELEASE", "0" * 36),
    ("/queries/{}/chart/svg", "secret", "absent"),
    ("/releases/{}/chart/svg", "RELEASE", "0" * 36),
    ("/requests/{}", "REQUEST", "0" * 36),
]


@pytest.mark.parametrize("caller", ["noa", "ann"])
def test_what_is_hidden_looks_like_what_does_not_exist(
    browse: Open, world: World, caller: str
) -> None:
    held = world.answer("POST", "/api/v1/queries/secret/releases", {}, by="ian")["id"]
    sent = requested(world)
    browser = browse(caller)
    key = browser.form_key()

    def plain(answer: TestResponse, name: str) -> tuple[int, str]:
        words = text_of(answer).replace(name, "NAME")
        return answer.status_code, words.replace(answer.headers["X-Request-Id"], "ID")

    for path, name, missing in HIDDEN:
        there = {"RELEASE": held, "REQUEST": sent}.get(name, name)
        answers = [plain(browser.get(path.format(one)), one) for one in (there, missing)]
        assert answers[0] == answers[1], path
        assert answers[0][0] in (403, 404), path
    for fields in ({}, {"tier": "internal"}, {"epsilon": "0.1"}):
        forms = [
            plain(browser.send(f"/queries/{one}/releases", form_key=key, **fields), one)
            for one in ("secret", "absent")
        ]
        assert forms[0] == forms[1]
        assert forms[0][0] == 404


def test_refusals_and_first_grants_keep_the_beat(browse: Open, world: World) -> None:
    """They go out at multiples of the quantum; one's own repeats at once."""
    browser = browse("ian")
    key = browser.form_key()

    def slept(answer: TestResponse, status: int) -> bool:
        assert answer.status_code == status
        found = bool(world.stopwatch.slept)
        world.stopwatch.slept.clear()
        return found

    world.stopwatch.slept.clear()
    ask = "/queries/visits/releases"
    assert slept(browser.send(ask, form_key=key), 303)
    assert not slept(browser.send(ask, form_key=key), 303)
    assert slept(browser.send(ask, form_key="0" * 64), 403)
    assert slept(browser.get("/queries/absent"), 404)
    assert slept(browser.get("/streams/arrivals/totals"), 200)
    assert not slept(browser.get("/catalogue"), 200)
