"""What admins do on their pages: said before it is done, done once, and refused in words."""

import re
from collections.abc import Callable
from urllib.parse import quote, urlsplit

import pytest
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import ONCE, follow, leaves, once
from tests.web.world import HOSTILE, KEY, Browser, text_of

NUMBERS = ["x", "-1", "0", "nan", "inf", "1e999", "9" * 39, "\u0660", "1_0"]


def test_a_move_is_foreseen_before_it_is_made(root: Browser, world: World) -> None:
    before = leaves(world)
    page = root.get("/clearance?user=ann&tier=internal")
    words = text_of(page)
    for said in (
        "Move ann up to internal",
        "Nothing. Each tier paid",
        "secret in sites not in sight 0.5",
        "visits in sites 0.1 0.5",
        "sites epsilon 1 (public) epsilon 4 (internal)",
        "ian holds internal already",
    ):
        assert said in words.replace("\u2068", ""), said
    assert leaves(world) == before
    answer = root.submit("/clearance", user="ann", tier="internal", **{"from": "public"})
    assert "ann holds internal from now on" in text_of(follow(root, answer))
    assert world.answer("GET", "/api/v1/me", by="ann")["clearance"] == "internal"
    down = text_of(root.get("/clearance?user=ann&tier=public"))
    assert "a lower tier takes nothing back" in down
    assert "sites epsilon 4 (internal) epsilon 4 (internal)" in down


def test_what_a_move_shows_is_what_the_api_then_says(root: Browser, world: World) -> None:
    words = text_of(root.get("/clearance?user=ann&tier=internal"))
    root.submit("/clearance", user="ann", tier="internal", **{"from": "public"})
    for query in world.answer("GET", "/api/v1/queries", by="ann")["items"]:
        best = query["tiers"][-1]["guarantee"]["epsilon"]
        assert f"{query['dataset']} " in words
        assert f"{best:.3g}" in words
    reach = world.answer("GET", "/api/v1/audit/exposure?users=ann&dataset=sites", by="olga")
    assert reach["reach"]["tier"] == "internal"


def test_a_move_that_was_shown_otherwise_is_not_made(root: Browser, world: World) -> None:
    """Two tabs: in the other one somebody was moved meanwhile."""
    root.submit("/clearance", user="ann", tier="", **{"from": "public"})
    before = leaves(world)
    answer = root.submit("/clearance", user="ann", tier="internal", **{"from": "public"})
    assert answer.status_code == 409
    assert "no longer so" in text_of(answer)
    assert leaves(world) == before
    again = root.submit("/clearance", user="ann", tier="", **{"from": "public"})
    assert again.status_code == 303
    assert leaves(world) == before


@pytest.mark.parametrize(
    ("user", "tier"), [("", ""), ("zeno", "public"), ("ann", "top"), (HOSTILE, HOSTILE)]
)
def test_a_move_of_nobody_or_to_nowhere_shows_the_form_again(
    root: Browser, user: str, tier: str
) -> None:
    answer = root.submit("/clearance", user=user, tier=tier)
    assert answer.status_code == 422
    assert "Nothing was done" in text_of(answer)
    assert 'aria-invalid="true"' in answer.text
    assert "<script>alert" not in answer.text


def test_a_tier_is_put_in_once_however_often_its_form_is_sent(root: Browser, world: World) -> None:
    key = once(root, "/tiers")
    fields = {"once": key, "name": "partner", "above": "public", "description": "who helps"}
    first = root.submit("/tiers", **fields)
    assert "Tier partner is there" in text_of(follow(root, first))
    before = leaves(world)
    assert root.submit("/tiers", **fields).location == first.location
    assert leaves(world) == before
    listed = world.answer("GET", "/api/v1/tiers", by="root")["items"]
    assert [one["name"] for one in listed] == ["public", "partner", "internal"]


@pytest.mark.parametrize(
    ("fields", "place"),
    [
        ({"name": ""}, "name"),
        ({"name": "/"}, "name"),
        ({"name": "partner", "rank": "high"}, "rank"),
        ({"name": "partner", "rank": "10"}, "rank"),
        ({"name": "partner", "above": "absent"}, "above"),
        ({"name": "partner", "description": "a\x00b"}, "description"),
    ],
)
def test_a_form_that_cannot_be_meant_comes_again_with_what_was_typed(
    root: Browser, world: World, fields: dict[str, str], place: str
) -> None:
    before = leaves(world)
    given = {"name": "partner", "description": "who <helps>", **fields}
    answer = root.submit("/tiers", once=once(root, "/tiers"), **given)
    assert answer.status_code == 422
    assert re.search(rf'<small class="wrong" id="{place}-wrong">[^<]+\.</small>', answer.text)
    assert "&lt;helps&gt;" in answer.text or "description" in fields
    assert leaves(world) == before
    mended = {**given, "name": "partner", "rank": "", "above": "public", "description": ""}
    key = ONCE.search(answer.text)
    assert key is not None
    assert root.submit("/tiers", once=key.group(1), **mended).status_code == 303


def test_a_token_is_shown_once_and_issued_once(root: Browser, world: World) -> None:
    key = once(root, "/users/ian")
    shown = root.submit("/users/ian/tokens", once=key, expires_in="1d")
    assert shown.headers["Cache-Control"] == "no-store"
    token = re.search(r"pst_[\w-]+", shown.text)
    assert token is not None
    world.tokens["new"] = token.group()
    assert world.answer("GET", "/api/v1/me", by="new")["name"] == "ian"
    repeat = follow(root, root.submit("/users/ian/tokens", once=key, expires_in="1d"))
    assert token.group() not in repeat.text
    assert "shown once alone" in text_of(repeat)
    held = world.answer("GET", "/api/v1/users/ian/tokens", by="root")["items"]
    assert len(held) == 2
    revoked = root.submit(f"/users/ian/tokens/{held[-1]['prefix']}/revocation")
    assert "The token is revoked" in text_of(follow(root, revoked))
    assert world.call("GET", "/api/v1/me", by="new").status_code == 401


def test_people_are_added_given_roles_and_shut_out(root: Browser, world: World) -> None:
    fields = {"once": once(root, "/users"), "name": "eve", "roles": "analyst"}
    page = follow(root, root.submit("/users", **fields, clearance="public"))
    assert "They are added" in text_of(page)
    taken = root.submit("/users", once=once(root, "/users"), name="Eve", roles="auditor")
    assert (taken.status_code, 'value="Eve"' in taken.text) == (409, True)
    nobody = root.submit("/users", once=once(root, "/users"), name="")
    assert nobody.status_code == 422
    assert root.submit("/users/eve/roles", roles="auditor").status_code == 303
    assert world.answer("GET", "/api/v1/users/eve", by="root")["roles"] == ["auditor"]
    assert root.submit("/users/eve/disabling", sure="eve").status_code == 303
    assert not world.answer("GET", "/api/v1/users/eve", by="root")["active"]
    last = root.submit("/users/root/disabling", sure="root")
    assert last.status_code == 409
    assert "only admin" in text_of(last)


def test_a_budget_is_raised_and_lowered_down_to_what_is_spent(root: Browser, world: World) -> None:
    path = "/datasets/sites/budgets"
    assert root.submit(path, **{"epsilon internal": "5"}).status_code == 303
    granted = world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"]
    assert granted["internal"]["epsilon"] == 5
    refused = root.submit(path, **{"epsilon public": "0.01", "epsilon internal": "6"})
    assert refused.status_code == 409
    assert 'value="0.01"' in refused.text
    assert 'value="6"' in refused.text
    assert world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"] == granted


def test_what_a_budget_would_mean_is_shown_and_nothing_is_done(root: Browser, world: World) -> None:
    path = "/datasets/sites/budgets"
    before = world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"]
    page = root.submit(path, **{"epsilon internal": "50", "look": "1"})
    assert page.status_code == 200
    assert "Nothing is done yet" in text_of(page)
    assert "Kept for samplers, spent now" in text_of(page)
    assert 'value="50"' in page.text
    refused = root.submit(path, **{"epsilon public": "0.01", "look": "1"})
    assert "It would be refused" in text_of(refused)
    assert world.answer("GET", "/api/v1/datasets/sites", by="root")["budgets"] == before
    assert root.submit(path, look="1").status_code == 422


@pytest.mark.parametrize("typed", NUMBERS)
def test_a_budget_that_is_no_number_stays_in_its_field(root: Browser, typed: str) -> None:
    answer = root.submit("/datasets/sites/budgets", **{"epsilon internal": typed})
    assert answer.status_code == 422
    assert f'value="{typed}"' in answer.text
    assert "Nothing was done" in text_of(answer)


def test_under_the_two_person_rule_pages_propose_what_takes_two(
    open_copy: Callable[..., World],
) -> None:
    """As over the API; and whoever proposed it is offered no button to approve it."""
    ruled = open_copy(two_person_rule=True)
    root = Browser(ruled, ruled.client.application.test_client())
    assert root.sign_in("root").status_code == 303
    answer = root.submit("/datasets/sites/budgets", **{"epsilon internal": "50"})
    address = urlsplit(answer.location).path
    assert address.startswith("/proposals/")
    page = follow(root, answer)
    assert "internal to epsilon 50" in text_of(page)
    assert "Approve it" not in page.text
    assert root.submit(f"{address}/approval").status_code == 403
    again = root.submit("/datasets/sites/budgets", **{"epsilon internal": "50"})
    assert again.location == answer.location
    assert root.submit(f"{address}/withdrawal").status_code == 303
    closed = root.submit(f"{address}/withdrawal")
    assert (closed.status_code, "withdrawn already" in text_of(closed)) == (409, True)
    assert "withdrawn" in text_of(root.get("/proposals?state=withdrawn"))
    assert root.submit("/users/ian/roles", roles="admin").status_code == 403
    for kind, name in (("queries", "visits"), ("streams", "arrivals")):
        assert "/proposals/" in root.submit(f"/{kind}/{name}/retirement", sure=name).location


def test_what_one_admin_proposed_another_approves_on_a_page(
    two_admins: tuple[World, Browser, Browser],
) -> None:
    _, root, rita = two_admins
    root.submit("/tiers", once="1", name="partner", above="public")
    address = urlsplit(root.submit("/tiers/partner/deletion", sure="partner").location).path
    assert "partner" in text_of(root.get("/tiers"))
    assert "Approve it" in rita.get(address).text
    page = follow(rita, rita.submit(f"{address}/approval"))
    assert "approved" in text_of(page)
    assert "partner" not in text_of(root.get("/tiers"))
    assert rita.submit(f"{address}/approval").status_code == 409


def test_a_query_is_retired_by_a_button_that_says_what_that_means(
    root: Browser, world: World
) -> None:
    for page, kind in (("/queries/visits", "query"), ("/streams/arrivals", "stream")):
        path, name = f"{page}/retirement", page.rpartition("/")[2]
        assert f'href="{path}"' in root.get(page).text
        assert "Nothing that it cost comes back" in text_of(root.get(path))
        done = follow(root, root.submit(path, sure=f" {name.upper()} "))
        assert f"{name} is retired" in text_of(done)
        assert root.submit(path, sure=name).status_code == 303
        assert "comes back" not in text_of(root.get(path))
        assert f"This {kind} is retired" in text_of(root.get(page))
    assert world.answer("GET", "/api/v1/queries/visits", by="root")["status"] == "retired"


@pytest.mark.parametrize("typed", [None, "", "on", "visit", HOSTILE])
@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/queries/visits/retirement", "visits"),
        ("/streams/arrivals/retirement", "arrivals"),
        ("/tiers/partner/deletion", "partner"),
        ("/users/ian/disabling", "ian"),
    ],
)
def test_what_takes_away_for_ever_is_done_to_what_is_named_by_hand(
    root: Browser, world: World, path: str, name: str, typed: str | None
) -> None:
    """Whatever the browser makes of a field that it should require."""
    root.submit("/tiers", once="1", name="partner", above="public")
    before = leaves(world)
    answer = root.submit(path, **({} if typed is None else {"sure": typed}))
    assert answer.status_code == 422
    assert f"this is about {name!r}" in text_of(answer).replace("&#39;", "'")
    assert 'id="sure-wrong"' in answer.text
    assert "<script>alert" not in answer.text
    assert leaves(world) == before


def test_keys_are_shown_by_name(root: Browser, world: World) -> None:
    words = text_of(root.get("/keys"))
    assert "sites 1" in words
    assert "loans 1" in words


def test_names_are_text_on_the_pages_of_admins(root: Browser, world: World) -> None:
    bold = HOSTILE.replace("/", "")
    body = {"name": bold, "roles": ["analyst"], "clearance": "public"}
    world.answer("POST", "/api/v1/users", body, by="root")
    world.answer("POST", "/api/v1/tiers", {"name": bold, "above": "public"}, by="root")
    named = quote(bold, safe="")
    for path in (
        *("/tiers", f"/tiers/{named}", f"/clearance?user={named}&tier={named}", "/users"),
        *(f"/users/{named}", "/datasets/sites/budgets", "/new/dataset?source=vector"),
        *(f"/tiers?made={named}", f"/new/query?dataset={named}", f"/proposals?state={named}"),
    ):
        page = root.get(path).text
        assert "<script>alert" not in page, path
        assert "<b onload" not in page, path
    world.answer("PATCH", f"/api/v1/users/{named}", {"clearance": bold}, by="root")
    assert "x&lt;script&gt;" in root.get("/tiers").text


def test_pages_of_admins_hold_what_is_ours_and_stay_small(root: Browser, world: World) -> None:
    for path in (
        *("/tiers", "/tiers/public", "/clearance?user=ann&tier=internal", "/clearance?user=x"),
        *("/users", "/users/ann", "/keys", "/proposals", "/datasets/sites/budgets", "/new/query"),
        *("/new/query?dataset=loans", "/new/dataset", "/new/dataset?source=vector"),
    ):
        answer = root.get(path)
        require_own(answer, path)
        assert weight(root, answer.text) < LARGEST_PAGE, path
        forms = root.get(path).text.split("<form")[1:]
        sent = [form for form in forms if 'method="post"' in form]
        assert all(KEY.search(form) for form in sent), path
