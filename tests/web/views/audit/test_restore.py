"""Test a server whose database was put back: its pages open, say so, and let an admin go on."""

import re
from urllib.parse import urlsplit

import pytest
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.every_page.matrix import MATRIX, VERBS, asked, requested
from tests.web.views.people.acting import follow
from tests.web.world import Browser, Open, text_of

from penstock.errors import Suspended
from penstock.transparency_log.sights import Sight

SHOWN = re.compile(r'name="shown" value="([^"]+)"')
BANNER = "This server is suspended"
MADE = {"/proposals/PROPOSAL", "/tiers/partner"}
"""What these show is made by what is not read alone."""

CALLERS = ["ann", "root", "olga"]
KINDS = BEFORE, LATER = "before", "later"
"""Sessions that were begun before the server was suspended, and while it is."""

DRAWN = {"stream_totals", "stream_chart"}
"""Whoever reads these is recorded, and nothing is while a server is suspended."""


def suspend(world: World, size: int = 10**6) -> None:
    """Let the witness have seen more than the database has."""
    seen = world.server.sequencer.witness.seen()
    spent = {name: (loss + 1, failure) for name, (loss, failure) in seen.accounts.items()}
    world.server.sequencer.witness.start_over(Sight(size, b"x" * 32, spent))
    with pytest.raises(Suspended):
        world.server.sequencer.require_sound()


def acknowledge(browser: Browser) -> tuple[int, str]:
    """Press the page's button: the status, and where that leads."""
    shown = SHOWN.search(browser.get("/restore").text)
    assert shown is not None
    answer = browser.submit("/restore/acknowledgment", shown=shown.group(1))
    return answer.status_code, answer.location or ""


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize(
    "kinds",
    [(BEFORE, LATER), *(pytest.param((kind,), marks=pytest.mark.nightly) for kind in KINDS)],
    ids="-".join,
)
def test_every_page_opens_for_reading_and_says_that_the_server_is_suspended(
    browse: Open, world: World, caller: str, kinds: tuple[str, ...]
) -> None:
    known = browse(caller)
    rows = [row for row in MATRIX if VERBS[row.name] == "GET" and row.path not in MADE]
    requested(world)  # while that is still possible; its page is among the rows
    suspend(world)
    browsers = {BEFORE: known, LATER: browse(caller)}
    # Two kinds take turns, and a caller sees a page in one of them alone; at night each kind
    # sees every page.
    for place, row in enumerate(rows, CALLERS.index(caller)):
        answer = asked(browsers[kinds[place % len(kinds)]], row)
        wanted = getattr(row, caller)
        if row.name in DRAWN and wanted == 200:
            wanted = 503
        assert answer.status_code == wanted, row.path
        if answer.mimetype == "text/html" and answer.status_code != 303:
            assert BANNER in answer.text, row.path
    words = text_of(known.get("/catalogue"))
    link = 'href="/restore"' in known.get("/catalogue").text
    assert link == (caller == "root")
    assert world.server.sequencer.suspended
    assert BANNER not in words  # above what is the page's own


def test_what_would_change_something_is_refused_and_keeps_a_way_back(
    browse: Open, world: World
) -> None:
    root = browse("root")
    suspend(world)
    answer = root.submit("/tiers/public", description="other")
    assert answer.status_code == 503
    assert "restored to an older state" in text_of(answer)
    assert answer.text.count("The log&#39;s witness saw") == 1
    assert 'href="/restore"' in answer.text


def test_without_the_witness_pages_open_and_lead_to_what_can_be_done(
    browse: Open, world: World
) -> None:
    root, folder = browse("root"), world.server.settings.witness_path
    folder.rename(folder.with_name("away"))
    assert root.get("/catalogue").status_code == 200
    answer = root.submit("/tiers/public", description="other")
    assert answer.status_code == 503
    assert 'href="/restore"' in answer.text
    page = root.get("/restore")
    assert "unknown: it cannot be read" in text_of(page)
    assert "bring that back instead" in text_of(page)
    folder.with_name("away").rename(folder)
    shown = SHOWN.search(page.text)
    assert shown is not None
    back = root.submit("/restore/acknowledgment", shown=shown.group(1))
    assert back.status_code == 409
    assert "no restore to acknowledge" in text_of(back)


def test_an_admin_reads_what_it_means_and_goes_on(browse: Open, world: World) -> None:
    root = browse("root")
    assert "The server is not suspended" in text_of(root.get("/restore"))
    suspend(world)
    page = root.get("/restore")
    words = text_of(page)
    assert "Leaves that the witness saw 1,000,000" in words
    assert "are frozen" in words
    assert re.search(r"[1-9]\d* accounts are charged up to what the witness saw", words)
    require_own(page, "/restore")
    assert weight(root, page.text) < LARGEST_PAGE
    shown = SHOWN.search(page.text)
    assert shown is not None
    stale = root.submit("/restore/acknowledgment", shown="lost")
    assert (stale.status_code, "after the preview was shown" in text_of(stale)) == (409, True)
    done = follow(root, root.submit("/restore/acknowledgment", shown=shown.group(1)))
    assert "The restore is acknowledged" in text_of(done)
    assert BANNER not in done.text
    again = root.submit("/restore/acknowledgment", shown=shown.group(1))
    assert again.status_code == 409
    assert "no restore to acknowledge" in text_of(again)
    assert root.submit("/tiers/public", description="other").status_code == 303


def test_the_form_has_to_be_the_sessions_own(browse: Open, world: World) -> None:
    root = browse("root")
    suspend(world)
    shown = SHOWN.search(root.get("/restore").text)
    assert shown is not None
    assert root.send("/restore/acknowledgment", shown=shown.group(1)).status_code == 403
    assert world.server.sequencer.suspended


def test_under_the_two_person_rule_two_go_on(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    ruled, root, rita = two_admins
    suspend(ruled)
    status, place = acknowledge(root)
    address = urlsplit(place).path
    assert (status, address.startswith("/proposals/")) == (303, True)
    assert ruled.server.sequencer.suspended
    assert root.submit(f"{address}/approval").status_code == 403
    page = follow(rita, rita.submit(f"{address}/approval"))
    assert "Approved and done" in text_of(page)
    assert BANNER not in page.text
    assert ruled.server.sequencer.suspended is None


def test_what_another_process_ended_is_not_said_any_longer(browse: Open, world: World) -> None:
    root = browse("root")
    before = world.server.sequencer.witness.seen()
    suspend(world)
    assert BANNER in root.get("/catalogue").text
    world.server.sequencer.witness.start_over(before)
    assert BANNER not in root.get("/catalogue").text
