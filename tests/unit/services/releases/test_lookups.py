"""Test how many statements a release takes, from the token to the answer."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from psycopg.pq import TransactionStatus
from tests.unit.statements import statements
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.people import tokens
from penstock.services.releases import releases
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.queries import ReleaseRequest

pytestmark = pytest.mark.each_database


@contextmanager
def round_trips() -> Iterator[list[str]]:
    """Yield what this thread waits for PostgreSQL for, inside the block."""
    from penstock.persistence.postgresql import driver

    here, seen = threading.get_ident(), list[str]()
    counted, ended = driver.Cursor.execute, driver.DriverConnection

    def execute(cursor: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        in_pipeline = cursor.connection._pipeline is not None
        if threading.get_ident() == here and not in_pipeline:
            seen.append(str(query))
        return counted(cursor, query, *arguments, **options)

    def ends(name: str) -> Callable[[Any], None]:
        product = getattr(ended, name)

        def end(connection: Any) -> None:
            idle = connection.info.transaction_status == TransactionStatus.IDLE
            if threading.get_ident() == here and not idle:
                seen.append(name)
            product(connection)

        return end

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(driver.Cursor, "execute", execute)
        for name in ("commit", "rollback"):
            patch.setattr(ended, name, ends(name))
        yield seen


@pytest.fixture
def token(visits: World) -> str:
    return tokens.issue(visits.server, OPERATOR, "ines", TokenSpec()).token


def release(world: World, token: str, **target: object) -> releases.Answer:
    principal = authenticate(world.server, token)
    request = ReleaseRequest.model_validate(target)
    return releases.request(world.server, principal, "visits", request)


def test_a_repeat_takes_one_statement_for_the_token_and_one_for_the_release(
    visits: World, token: str
) -> None:
    first = release(visits, token)
    with statements() as seen:
        again = release(visits, token)
    assert again.view.id == first.view.id
    assert len(seen) == 2, seen


@pytest.mark.parametrize("target", [{}, {"epsilon": 0.3}], ids=["a tier's", "between tiers'"])
def test_a_first_release_takes_ten_statements(
    visits: World, token: str, target: dict[str, float]
) -> None:
    """From the token to the witness: those of the thread that places leaves are among them."""
    release(visits, token, epsilon=0.31)
    with statements(everywhere=True) as seen:
        assert release(visits, token, **target).first
    assert len(seen) <= 10, "\n".join(seen)


def test_looking_twice_costs_one_statement_where_nothing_changed(visits: World, token: str) -> None:
    """Before the lock and under it: that the caller may have the release is not worked out anew."""
    release(visits, token)
    with statements() as seen:
        assert release(visits, token, epsilon=0.3).first
    looks = [text for text in seen if "edition.value" in text]
    assert len(looks) == 2
    assert [text for text in seen if text.startswith(("SELECT query_level", "SELECT tier"))] == []


@pytest.mark.only("postgresql")
def test_a_first_release_waits_for_six_round_trips(visits: World, token: str) -> None:
    release(visits, token, epsilon=0.31)
    with round_trips() as seen:
        assert release(visits, token, epsilon=0.3).first
    assert len(seen) <= 6, "\n".join(seen)
    with round_trips() as seen:
        assert not release(visits, token, epsilon=0.3).first
    assert len(seen) == 2, "\n".join(seen)
