"""Test the timeline: the log in words, by filters that stand in the address."""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from tests.api.routes.requested import request_in
from tests.api.sight.scheduled import schedule_in
from tests.api.world import World, propose
from tests.unit.services.sign_on.trusted import mapped, trusting
from tests.web.world import HOSTILE, Browser, Open, text_of

from penstock.services.access.principals import OPERATOR
from penstock.services.audit import clocks, events, refusals
from penstock.services.pagination import Window
from penstock.services.people import users
from penstock.services.uploads import uploads
from penstock.transparency_log.leaves import KINDS

LEAVES = re.compile(r"Leaf (\d+): record and proof")
NAMED = quote(HOSTILE, safe="")


@pytest.fixture
def olga(browse: Open) -> Browser:
    """Return the auditor."""
    return browse("olga")


def log(world: World, query: str = "") -> list[dict[str, Any]]:
    leaves: list[dict[str, Any]] = world.answer(
        "GET", f"/api/v1/audit/events?limit=1000{query}", by="olga"
    )["items"]
    return leaves


def listed(browser: Browser, **filters: str) -> list[int]:
    """Return the leaves on all pages of the timeline, one page after the other."""
    indices: list[int] = []
    address: str | None = "/timeline?" + urlencode(filters)
    while address:
        page = browser.get(address)
        assert page.status_code == 200, page.text
        indices += map(int, LEAVES.findall(page.text))
        onward = re.search(r'href="(/timeline\?[^"]*cursor=[^"]+)"', page.text)
        address = unescape(onward.group(1)) if onward else None
    return indices


def busy(world: World) -> None:
    """Do something that makes a leaf of every kind."""
    world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ian")
    world.answer("GET", "/api/v1/streams/arrivals/releases?from=2&to=5", by="ian")
    world.answer("PATCH", "/api/v1/users/noa", {"clearance": "public"}, by="root")
    world.answer("PATCH", "/api/v1/users/noa", {"clearance": None}, by="root")
    world.answer("POST", "/api/v1/queries/secret/retire", by="root")
    propose(world)


def test_every_leaf_is_there_once_in_either_order(olga: Browser, world: World) -> None:
    busy(world)
    for number in range(60):
        body = {"level": 4000.0 + 400 * number}
        world.answer("POST", "/api/v1/queries/visits/releases", body, by="ann")
    everything = listed(olga, order="oldest")
    assert everything == [leaf["index"] for leaf in log(world)]
    assert len(everything) > 100
    assert listed(olga) == everything[::-1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("kind", "release"), ("user", "ann"), ("actor", "root"), ("dataset", "sites")),
        *(("query", "visits"), ("query", HOSTILE), ("tier", "internal"), ("tier", "public")),
        ("user", "nobody"),
    ],
)
def test_a_filter_leaves_what_fits(olga: Browser, world: World, name: str, value: str) -> None:
    busy(world)
    fitting = [leaf["index"] for leaf in log(world) if leaf.get(name) == value]
    assert listed(olga, order="oldest", **{name: value}) == fitting
    assert listed(olga, **{name: value}) == fitting[::-1]
    assert bool(fitting) == (value != "nobody")


def test_filters_are_taken_together_and_stay_in_the_form(olga: Browser, world: World) -> None:
    busy(world)
    filters = {"kind": "release", "user": "ian", "tier": "internal", "dataset": "sites"}
    indices = listed(olga, **filters)
    assert [leaf["index"] for leaf in log(world) if filters.items() <= leaf.items()] == indices
    assert len(indices) == 1
    page = olga.get("/timeline?" + urlencode(filters)).text
    assert "<option selected>release</option>" in page
    for name in ("user", "tier", "dataset"):
        assert f'name="{name}" value="{filters[name]}"' in page


def test_a_span_of_time_has_its_beginning_and_not_its_end(olga: Browser, world: World) -> None:
    busy(world)
    now = world.clock.now
    later = [leaf["index"] for leaf in log(world) if leaf["at"] >= f"{now:%Y-%m-%dT%H:%M}"]
    since, until = f"{now:%Y-%m-%dT%H:%M}", f"{now:%Y-%m-%dT%H:%M:%S}+00:00"
    assert 0 < len(later) < len(log(world))
    assert listed(olga, order="oldest", since=since) == later
    assert len(listed(olga, until=until)) == len(log(world)) - len(later)
    assert listed(olga, since=f"{now:%Y-%m-%d}", until="2999-01-01")[::-1] == listed(
        olga, order="oldest"
    )


def test_looking_for_a_tier_goes_on_behind_what_was_looked_through(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST_READ", 5)
    fitting = [leaf["index"] for leaf in log(world) if leaf.get("tier") == "internal"]
    for newest_first in (False, True):
        indices, window, pages = [], Window(3), 0
        while True:
            page = events.listing(
                world.server, OPERATOR, window, tier="internal", newest_first=newest_first
            )
            indices += [event.index for event in page.items]
            pages += 1
            if page.next_cursor is None:
                break
            window = Window.parse("3", page.next_cursor)
        assert indices == (fitting[::-1] if newest_first else fitting)
        assert pages > len(log(world)) // 5


@pytest.mark.parametrize(
    "nonsense",
    [
        *("kind=made-up", "order=sideways", "since=yesterday", "until=2026-13-01", "since=%D9%A0"),
        *("since=0001-01-01T00:00%2B23:00", "until=" + "9" * 5000, "user=%00", "tier=a%00b"),
        *("since=2026-11-21&until=2026-11-20", "cursor=made-up", f"kind={NAMED}"),
    ],
)
def test_filters_that_mean_nothing_are_refused_in_words(olga: Browser, nonsense: str) -> None:
    answer = olga.get(f"/timeline?{nonsense}")
    assert answer.status_code == 422
    assert answer.mimetype == "text/html"
    assert "<h1" in answer.text
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("filters", ["user=\u202e\ud7ff", "tier=%5C%22", "query=" + "x" * 3000])
def test_filters_that_fit_nothing_find_nothing(olga: Browser, filters: str) -> None:
    answer = olga.get(f"/timeline?{filters}")
    assert answer.status_code == 200
    assert "No entry matches" in text_of(answer)


def test_every_kind_of_leaf_is_told_in_a_sentence(olga: Browser, world: World) -> None:
    busy(world)
    witness = world.server.sequencer.witness
    witness.suspend(witness.seen(), "2026-01-01T00:00:00.000000Z")
    users.disable(world.server, OPERATOR, "noa")
    world.clock.now -= timedelta(hours=1)
    clocks.acknowledge(world.server, OPERATOR)
    schedule_in(world)
    request_in(world)
    given = "/api/v1/datasets/stays/allowances/internal"
    world.answer("PUT", given, {"epsilon": 0.5}, by="root")
    mapped(trusting(world.server), "staff", "analyst", tier="public")
    mapped(trusting(world.server), "staff")
    world.answer("PATCH", "/api/v1/datasets/sites", {"title": "Sites"}, by="root")
    lea = {"name": "lea", "roles": ["analyst"], "clearance": "public"}
    uploads.receive(world.server, OPERATOR, "stays.csv", [b"person\n1\n"])
    invited = world.answer("POST", "/api/v1/invitations", lea, by="root")
    world.answer("DELETE", f"/api/v1/invitations/{invited['id']}", by="root")
    refusals.record(world.server, {"failed_sign_ins": 1200, "bad_tokens": 2, "too_often": 3}, 60.0)
    page = text_of(olga.get("/timeline?order=oldest")) + text_of(olga.get("/timeline"))
    for sentence in (
        "ian received visits at tier internal",
        "ian read steps 2 to 5 of stream arrivals at tier internal",
        "noa was cleared for public",
        "noa no longer has a clearance",
        "noa was disabled",
        "lea was invited to the role analyst, cleared for public",
        "of lea was revoked",
        "File stays.csv was uploaded to the data folder",
        "secret was retired",
        "The title of sites was changed",
        "Tier internal was set to rank 30",
        "Tier public was granted epsilon 1 in dataset sites",
        "Dataset loans , version 1, was registered",
        "Stream arrivals was registered over dataset sites",
        "ann was given the role analyst, cleared for public",
        "ann was issued token",
        "Proposal",
        "Schedule nightly was made",
        "Group staff of https://id.example.org was mapped to analyst and tier public",
        "Group staff of https://id.example.org was mapped to nothing",
        ": made by ian , for dataset stays",
        "The database and its witness agreed again",
        "The log had been signed at a wrong time",
        "1,200 failed to sign in, 2 with an invalid token, 3 too frequent",
    ):
        assert sentence in page, sentence
    kinds = {leaf["kind"] for leaf in log(world)}
    assert kinds >= {*KINDS} - {"key", "restore"}


def test_each_leaf_leads_to_its_proof(olga: Browser, world: World) -> None:
    page = olga.get("/timeline?kind=release").text
    leaf = log(world, "&kind=release")[-1]
    assert leaf["leaf_hash"] in page
    proof = olga.get(f"/proofs/inclusion?index={leaf['index']}")
    assert f'/proofs/inclusion?index={leaf["index"]}"' in page
    assert leaf["leaf_hash"] in proof.text
    assert "The leaf is in the log." in text_of(proof)
