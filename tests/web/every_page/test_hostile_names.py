"""Test names of everything that has one, which would break out of whatever does not escape them."""

from urllib.parse import quote

import pytest
from tests.api.world import DATASET, QUERY, World
from tests.web.every_page.addresses import addresses
from tests.web.every_page.contents import require_own
from tests.web.world import HOSTILE, SCHEDULE, Browser, Open

from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec


@pytest.fixture
def hostile(world: World) -> World:
    """Return a tier, people of every role, a dataset, queries and what was done with them."""

    def made(path: str, **spec: object) -> None:
        world.answer("POST", f"/api/v1/{path}", spec, by="root")

    made("tiers", name=HOSTILE, above="internal", description=HOSTILE)
    for role in ("analyst", "admin", "auditor"):
        clearance = {"clearance": HOSTILE} if role == "analyst" else {}
        made("users", name=f"{role} {HOSTILE}", roles=[role], **clearance)
    made("datasets", **{**DATASET, "name": HOSTILE, "budgets": {HOSTILE: {"epsilon": 4}}})
    levels = {"levels": {HOSTILE: {"epsilon": 0.5}}}
    made("queries", **{**QUERY, **levels, "name": f"of {HOSTILE}", "dataset": HOSTILE})
    loans = world.answer("GET", "/api/v1/datasets/loans", by="root")
    spec = {part: loans[part] for part in ("privacy_unit", "neighboring", "delta", "columns")}
    file = world.server.settings.home.with_name("named.csv")
    file.write_text("person,book,page\na,1,b\n")
    source = {"engine": "duckdb", "uri": str(file)}
    budgets = {HOSTILE: {"epsilon": 4}}
    made("datasets", **{**spec, "name": f"in {HOSTILE}", "source": source, "budgets": budgets})
    version = {"source": {**source, "uri": f"{HOSTILE}-{{date}}.csv"}, "budgets": budgets}
    query = {**SCHEDULE["queries"][0], "name": f"{HOSTILE}{{date}}"[-64:]}
    timed = {"dataset": f"in {HOSTILE}", "version": version, "total": {HOSTILE: 9}}
    made("schedules", **{**SCHEDULE, **timed, "name": HOSTILE, "queries": [query]})
    for role in ("analyst", "admin", "auditor"):
        name = f"{role} {HOSTILE}"
        issued = tokens.issue(world.server, OPERATOR, name, TokenSpec())
        world.tokens[name] = issued.token
    path = f"/api/v1/queries/{quote(f'of {HOSTILE}', safe='')}/releases"
    world.answer("POST", path, {}, by=f"analyst {HOSTILE}")
    return world


def visited(browser: Browser, world: World, name: str) -> int:
    """Return how many pages show somebody a hostile name; each is looked at."""
    somebody, shown = acting_as(world.server, name), 0
    asked = {
        "coalition": ("", f"?user={quote(f'analyst {HOSTILE}', safe='')}"),
        "preview_clearance": (f"?user=ann&tier={quote(HOSTILE, safe='')}",),
        "new_query": ("", f"?kind=vector&dataset={quote(HOSTILE, safe='')}"),
        "new_schedule": ("", f"?dataset={quote(f'in {HOSTILE}', safe='')}"),
        "schedule": ("", "?days=31"),
        "new_stream": ("", f"?dataset={quote(HOSTILE, safe='')}"),
        "query_levels": ("", f"?wish=epsilon&{quote(f'level {HOSTILE}', safe='')}=0.7"),
        "timeline": ("", f"?tier={quote(HOSTILE, safe='')}"),
    }
    for _, path in addresses(world.server, somebody, asked):
        place, mark, question = path.partition("?")
        answer = browser.get(quote(place) + mark + question)
        if answer.mimetype == "text/html" and answer.text:
            require_own(answer, path)
            assert "<script>alert" not in answer.text, path
            assert "<b onload" not in answer.text, path
            shown += "x&lt;script&gt;alert(1)" in answer.text
    return shown


@pytest.mark.only("sqlite")
@pytest.mark.parametrize(("role", "pages"), [("analyst", 6), ("admin", 20), ("auditor", 12)])
def test_no_name_breaks_out_of_any_page_of_any_role(
    hostile: World, browse: Open, role: str, pages: int
) -> None:
    name = f"{role} {HOSTILE}"
    assert visited(browse(name), hostile, name) >= pages
