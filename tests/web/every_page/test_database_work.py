"""Test that pages ask the database as often, however many queries and log entries there are."""

import itertools
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import event
from tests.benchmarks.database.ledger import TEMPLATE, fill
from tests.benchmarks.database.world import DATASET, TIERS, World, fresh_world
from tests.unit.sites import SITES
from tests.web.every_page.addresses import Asked, addresses, questions
from tests.web.world import HOST, ORIGIN

from penstock.application import create_app_for
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.datasets import datasets
from penstock.services.overviews import own_data, spent_shares
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import DatasetRequest
from penstock.web import PAGES
from penstock.web.http.request_context import Visit

FEW, MANY = 60, 240
"""Queries, of each of which the log has four entries: both fill the first part of a list."""

SHORT = 2
LITTLE, ADDED = 3, 2
"""Queries, of which the first ones fill the first part of a list of ``SHORT``."""

SOME = frozenset({"catalogue", "dataset"})
"""Pages that list queries."""

LISTED = frozenset({"home", "catalogue", "budgets"})
"""Pages that list datasets."""

EVERY = frozenset(page.name for page in PAGES)

LEFT_OUT = frozenset({"verification", "synthetic_rows"})
"""A page of the whole log, which says how long that takes, and rows, which pushed vectors lack."""

LEAF = re.compile(r"index=\d+")

READER = "reader"
PEOPLE = (READER, "overseer")
NAMES = 1


@contextmanager
def counted(world: World) -> Iterator[list[str]]:
    """Yield the statements that are sent meanwhile."""
    sent: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        sent.append(statement)

    engines = world.server.database._engines
    for engine in (engines.alone, engines.beside, engines.reader):
        event.listen(engine, "before_cursor_execute", note)
    yield sent


def statements(queries: int) -> dict[str, int]:
    """Return by address how many statements the page takes."""
    found: dict[str, int] = {}
    with fresh_world() as world:
        fill(world, queries, 2)
        reader = world.add_analyst(READER)
        # Of copies nothing can be released: what is kept of them is sealed as the first one's.
        world.ask(reader, TEMPLATE)
        spec = UserSpec(name="overseer", roles=["admin", "auditor"])
        users.create(world.server, OPERATOR, spec)
        for name in (READER, "overseer"):
            token = tokens.issue(world.server, OPERATOR, name, TokenSpec()).token
            # Moves between the same two tiers, proofs between the same two sizes.
            asked = {**_asked(world), "consistency_proof": ("?from=1&to=2",)}
            found |= _visited(world, token, asked)
    return found


def _asked(world: World) -> Asked:
    return questions(world.server, DATASET, TEMPLATE, [READER], "public")


def _visited(
    world: World, token: str, asked: Asked, names: Container[str] = EVERY
) -> dict[str, int]:
    found: dict[str, int] = {}
    free = replace(
        world.server, settings=world.server.settings.model_copy(update={"request_rate": 0.0})
    )
    client = create_app_for(free, sleep=lambda _: None).test_client()
    headers = {"Accept": "text/html", "Origin": ORIGIN}
    client.post("/sign-in", base_url=HOST, headers=headers, data={"token": token})
    pages = addresses(free, authenticate(free, token), asked, NAMES)
    chosen = [one for page, one in pages if page.name in names and page.name not in LEFT_OUT]
    with counted(world) as sent:
        for _, address in itertools.product(range(2), chosen):
            sent.clear()
            answer = client.get(address, base_url=HOST, headers=headers)
            assert answer.status_code in (200, 303), address
            found[LEAF.sub("index=", address.partition("/csv")[0])] = len(sent)
    return found


def test_lists_take_as_many_statements_with_more_queries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = Visit.window
    monkeypatch.setattr(Visit, "window", lambda visit, *_: whole(visit, SHORT))
    with fresh_world() as world:
        fill(world, LITTLE, 2)
        world.add_analyst(READER)
        token = world.token(READER)
        few = _visited(world, token, {}, SOME)
        for number in range(ADDED):
            world.add_query(f"added-{number}", 2)
        many = _visited(world, token, {}, SOME)
    assert few == many
    assert sorted(few) == ["/catalogue", f"/datasets/{DATASET}"]
    assert min(few.values()) > 10


def test_homes_catalogue_and_budgets_take_as_many_statements_with_more_datasets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = Visit.window
    monkeypatch.setattr(Visit, "window", lambda visit, *_: whole(visit, SHORT))
    for module, name in ((spent_shares, "LOOKED_AT"), (own_data, "MOST_DATASETS")):
        monkeypatch.setattr(module, name, SHORT)
    with fresh_world() as world:
        _register(world, range(LITTLE))
        world.add_analyst(READER)
        overseer = UserSpec(name="overseer", roles=["admin", "auditor"])
        users.create(world.server, OPERATOR, overseer)
        few = {name: _visited(world, world.token(name), {}, LISTED) for name in PEOPLE}
        _register(world, range(LITTLE, LITTLE + ADDED))
        many = {name: _visited(world, world.token(name), {}, LISTED) for name in PEOPLE}
    assert few == many
    assert {address for found in few.values() for address in found} == {
        *("/home", "/catalogue", "/budgets"),
    }


def _register(world: World, numbers: range) -> None:
    """Register datasets without queries, with a budget for every tier."""
    budgets = {tier: {"epsilon": 1.0} for tier in TIERS}
    for number in numbers:
        spec = {**SITES, "name": f"set-{number}", "budgets": budgets}
        datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))


@pytest.mark.nightly
def test_pages_take_as_many_statements_with_four_times_the_queries_and_entries() -> None:
    few, many = statements(FEW), statements(MANY)
    assert {address for address in few if "/releases/" not in address} == {
        address for address in many if "/releases/" not in address
    }
    grown = {
        address: (few[address], count)
        for address, count in many.items()
        if address in few and count > few[address]
    }
    assert grown == {}
    assert max(many.values()) > 20
