"""Test ``kill -9`` while the pepper is rotated, or retired ones are dropped.

No valid token is lost.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from sqlmodel import col, select
from tests.faults.kills.killing import decisive, killed
from tests.faults.kills.steps import Steps, chosen
from tests.faults.stage import analyst, open_home, opened

from penstock.errors import NotAuthenticated
from penstock.persistence.tables import Token
from penstock.services.access import peppers
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.access.token_format import prefix_of
from penstock.services.context import Server
from penstock.services.operations import secret_rotation
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.verification import verification

FILES = (
    "services/operations/secret_rotation.py",
    "services/operations/secret_checks.py",
    "services/operations/secret_renewal.py",
    "encryption/secrets.py",
    "encryption/private.py",
)
STRIDE = 8

Choose = Callable[[Sequence[str]], Sequence[str]]

many = pytest.param(partial(chosen, stride=STRIDE), id="many", marks=pytest.mark.nightly)


def rotate_once(folder: Path, steps: Steps, taken: Path) -> None:
    """Rotate, and say by which steps."""
    server = open_home(folder)
    with steps.watching():
        secret_rotation.rotate(server, OPERATOR)
    taken.write_text(json.dumps(steps.taken))


def drop_once(folder: Path, steps: Steps, taken: Path) -> None:
    """Drop what is retired, and say by which steps."""
    server = open_home(folder)
    with steps.watching():
        secret_rotation.drop(server, OPERATOR)
    taken.write_text(json.dumps(steps.taken))


def heedless(folder: Path, steps: Steps, taken: Path) -> None:
    """Destroy retired peppers first, then revoke the tokens under them: the broken variant."""
    server = open_home(folder)
    with steps.watching():
        server.stored.drop_peppers()
        secret_rotation.drop(server, OPERATOR)
    taken.write_text(json.dumps(steps.taken))


@pytest.fixture
def home(tmp_path: Path, furnish: Callable[..., Path]) -> Path:
    furnish(tmp_path / "home", analysts=1, names=["query-0"])
    return tmp_path / "home"


def issued(server: Server) -> str:
    return tokens.issue(server, OPERATOR, analyst(0), TokenSpec()).token


def is_valid(server: Server, token: str) -> bool:
    try:
        authenticate(server, token)
    except NotAuthenticated:
        return False
    return True


def unchecked(server: Server) -> list[str]:
    """Return the tokens that are called valid, and that nobody can check."""
    with server.database.read() as session:
        live = session.exec(select(Token).where(col(Token.revoked_at).is_(None))).all()
    known = server.stored.now.peppers
    return [one.prefix for one in live if peppers.number_of(one) not in known]


@pytest.mark.parametrize("choose", [pytest.param(decisive, id="few"), many])
def test_a_rotation_that_is_killed_at_any_step_signs_nobody_out(home: Path, choose: Choose) -> None:
    with opened(home) as server:
        token = issued(server)
    steps = killed(home, rotate_once, Steps(FILES))
    assert steps is not None
    died = 0
    for step in choose(steps):
        died += killed(home, rotate_once, Steps(FILES, step)) is None
        with opened(home) as server:
            assert is_valid(server, token)
            fresh = issued(server)
            assert is_valid(server, fresh)
            tokens.revoke(server, OPERATOR, analyst(0), prefix_of(fresh))
            secret_rotation.rotate(server, OPERATOR)
            assert verification.verify(server, OPERATOR).problems == []
    assert died >= 2


@pytest.mark.parametrize("choose", [pytest.param(decisive, id="few"), many])
def test_dropping_that_is_killed_at_any_step_leaves_no_token_that_nobody_can_check(
    home: Path, choose: Choose
) -> None:
    with opened(home) as server:
        secret_rotation.rotate(server, OPERATOR)
    steps = killed(home, drop_once, Steps(FILES))
    assert steps is not None
    died = 0
    for step in choose(steps):
        with opened(home) as server:
            resting = issued(server)
            secret_rotation.rotate(server, OPERATOR)
            kept = issued(server)
        died += killed(home, drop_once, Steps(FILES, step)) is None
        with opened(home) as server:
            assert unchecked(server) == []
            secret_rotation.drop(server, OPERATOR)
            assert len(server.stored.now.peppers) == 1
            assert (is_valid(server, resting), is_valid(server, kept)) == (False, True)
            assert verification.verify(server, OPERATOR).problems == []
            tokens.revoke(server, OPERATOR, analyst(0), prefix_of(kept))
    assert died >= 2


def test_who_destroys_before_it_is_committed_is_found_out(home: Path) -> None:
    with opened(home) as server:
        issued(server)
        secret_rotation.rotate(server, OPERATOR)
    assert killed(home, heedless, Steps(FILES, "before COMMIT")) is None
    with opened(home) as server:
        assert len(unchecked(server)) == 1
