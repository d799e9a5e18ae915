"""Test every page of the demo, as every role sees it.

It answers, and none says that it is empty.
"""

import re
from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from tests.unit.demo.told import PORT
from tests.web.every_page.addresses import AT_A_PROVIDER, Asked, addresses, questions
from tests.web.world import HOST, ORIGIN

from penstock import web
from penstock.application import create_app_for
from penstock.demo import stage
from penstock.demo.cast import ADMIN, AUDITOR, EVERYBODY, READERS, SECOND, Person
from penstock.demo.history import DATASET, LEFT, RETIRED
from penstock.demo.story import HEADLINE, Story
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec

EMPTY = (
    "There is no budget",
    "Nothing is visible to you",
    "nothing would change",
    "receives no releases",
    "no query has another level",
    "None of them has received a release",
    "No queries that you may see",
    "No release matches",
    "No release has been requested",
    "You have no release",
    "You have no long-running work",
    "No entry matches",
    "The log is empty",
    "proposals.</p>",
    "No dataset is registered",
    "There are no tiers",
    "There is no checkpoint",
    "No checkpoint was signed",
    "<p>No tokens.</p>",
    "Nobody holds it",
    "The server is not suspended",
)
"""What pages say where they have nothing to show."""

AWAY = {"front": 303, "signed_in": 303, "sent_form": 404}
"""Pages that only lead to another one, and what no form has asked for."""

REFUSED = {f"/queries/{RETIRED}/request": 422, "/report?from=soon&format=html": 422}
"""What answers whoever asks for more of a retired query, or from a day that is none."""

OFFERED = {"query_chart": 404, "synthetic_rows": 422}
"""Files to which some results and releases lead, and what the others answer."""

EXPLAINED = {
    (f"/queries/{LEFT}", READERS[-1].name): "left for whoever tries the demo to ask for",
    **{("/my-work", one.name): "asked for nothing long" for one in (*READERS, ADMIN, SECOND)},
    **{("/restore", admin.name): "no backup was put back" for admin in (ADMIN, SECOND)},
}
"""Where and to whom the demo has nothing to show, and why."""

EVERY = frozenset(page.name for page in web.PAGES if page.verb == "GET")
EVERY -= AT_A_PROVIDER | {"schedule"}  # Nothing in the demo goes on by itself.
FEW = frozenset({"catalogue", "budgets", "my_work", "keys", "proposals", "restore"})
"""Some pages that show much, and those that show nothing to some."""

Found = list[tuple[str, str, str]]
"""Address, visitor, and what the page says of being empty."""


def asked(server: Server) -> Asked:
    """Return what pages are asked, without which they would hold but their forms."""
    file = server.settings.home / "data" / "health_insurance_experiment.parquet"
    people = [reader.name for reader in READERS]
    states = ("open", "approved", "withdrawn", "failed")
    return {
        **questions(server, DATASET, HEADLINE, people, str(READERS[-1].tier)),
        "stream_totals": ("?from=20&to=90",),
        "new_dataset": ("", f"?uri={file}"),
        "proposals": ("", *(f"?state={one}" for one in states)),
    }


def visited(
    server: Server, visitor: Person, token: str, questions: Asked, names: Container[str] = EVERY
) -> tuple[set[str], Found]:
    """Return the pages of these names that somebody was shown, and which of them are empty."""
    client = create_app_for(server, sleep=lambda _: None).test_client()
    sign_in(client, token)
    seen: set[str] = set()
    found: Found = []
    linked: set[str] = set()
    for page, address in addresses(server, authenticate(server, token), questions):
        if page.name not in names:
            continue
        answer = client.get(address, base_url=HOST, headers={"Accept": "text/html"})
        expected = AWAY.get(page.name, REFUSED.get(address, 200))
        if address not in linked:
            expected = OFFERED.get(page.name, expected)
        assert (address, answer.status_code) == (address, expected)
        assert answer.data or expected == 303
        seen.add(page.name)
        if expected == 200 and answer.mimetype == "text/html":
            linked.update(re.findall(r'href="([^"?]+)', answer.text))
            main = answer.text[answer.text.index("<main") :]
            found += [(address, visitor.name, words) for words in EMPTY if words in main]
    return seen, found


def sign_in(client: FlaskClient, token: str) -> None:
    """Begin a session by the form."""
    headers = {"Accept": "text/html", "Origin": ORIGIN.replace("8080", str(PORT))}
    answer = client.post("/sign-in", base_url=HOST, headers=headers, data={"token": token})
    assert answer.status_code == 303, answer.text


def test_some_pages_of_the_demo_have_something_on_them(told: Story, server: Server) -> None:
    free = replace(server, settings=server.settings.model_copy(update={"request_rate": 0.0}))
    shown: set[str] = set()
    empty: Found = []
    for visitor in (READERS[-1], ADMIN):
        seen, found = visited(free, visitor, told.tokens[visitor.name], {}, FEW)
        shown |= seen
        empty += found
    assert shown == FEW
    assert {(address, name) for address, name, _ in empty} == {
        ("/my-work", READERS[-1].name),
        ("/my-work", ADMIN.name),
        ("/restore", ADMIN.name),
    }


@pytest.mark.nightly
def test_every_page_of_the_demo_has_something_on_it(told: Story, server: Server) -> None:
    free = replace(server, settings=server.settings.model_copy(update={"request_rate": 0.0}))
    shown: set[str] = set()
    empty: Found = []
    for visitor in EVERYBODY:
        seen, found = visited(free, visitor, told.tokens[visitor.name], asked(server))
        shown |= seen
        empty += found
    assert {(address, name) for address, name, _ in empty} == EXPLAINED.keys(), empty
    assert shown == EVERY


def test_of_means_it_is_said_what_is_off_by_so_much(told: Story, server: Server) -> None:
    client = create_app_for(server, sleep=lambda _: None).test_client()
    sign_in(client, told.tokens[READERS[-1].name])
    said = {
        name: "1/n of it" in client.get(f"/queries/{name}", base_url=HOST).text
        for name in (LEFT, HEADLINE, "invented_topics")
    }
    assert said == {LEFT: True, HEADLINE: False, "invented_topics": False}


def test_without_a_history_pages_are_found_empty(tmp_path: Path) -> None:
    settings = stage.settings(tmp_path / "home", PORT).model_copy(update={"request_rate": 0.0})
    home.create(settings)
    server = home.open_server(settings)
    lone: Mapping[str, Person] = {person.name: person for person in (READERS[0], ADMIN, AUDITOR)}
    empty: Found = []
    for name, person in lone.items():
        users.create(server, OPERATOR, UserSpec(name=name, roles=[person.role]))
        token = tokens.issue(server, OPERATOR, name, TokenSpec()).token
        alone = {"preview_clearance": (), "consistency_proof": ("?from=1&to=1",)}
        empty += visited(server, person, token, {"inclusion_proof": ("?index=LEAF",), **alone})[1]
    server.database.close()
    pages = {address.partition("?")[0] for address, _, _ in empty}
    assert pages >= {"/home", "/catalogue", "/history", "/budgets", "/keys", "/proposals"}


@pytest.mark.parametrize("words", EMPTY)
def test_what_is_looked_for_is_what_templates_say(words: str) -> None:
    templates = Path(web.__file__).parent / "templates"
    said = "".join(file.read_text(encoding="utf-8") for file in templates.rglob("*.html"))
    assert words in said or words in re.sub(r"</?bdi>", "", said)
