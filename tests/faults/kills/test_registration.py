"""Test ``kill -9`` while a query is registered: charged once, its anchor drawn once."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.faults import processes
from tests.faults.figures import figure
from tests.faults.kills.aftermath import Aftermath
from tests.faults.kills.steps import LOG, REGISTRATION, Steps, chosen, landmarks, missing
from tests.faults.kills.tasks import READER, register_once
from tests.faults.snapshot import snapshot
from tests.faults.stage import DIMENSION, answer, asks, opened, vector_query

from penstock.errors import NameTaken
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.queries.registration import register

STRIDE = figure("FAULTS_STRIDE", 32)

ABSENT, PENDING, ACTIVE = "absent", "pending", "active"
TRACES = {ABSENT: (0, 0, 0), PENDING: (2, 0, 3), ACTIVE: (2, 1, 3)}
"""Charges, releases and leaves: of two tiers; of the anchor; of the query and two levels."""


@pytest.fixture
def home(tmp_path: Path, furnish: Callable[..., Path]) -> Path:
    return furnish(tmp_path / "home", analysts=2)


@pytest.mark.parametrize(
    ("choose", "least"),
    [
        pytest.param(landmarks, 25, id="few"),
        pytest.param(partial(chosen, stride=STRIDE), 50, id="many", marks=pytest.mark.nightly),
    ],
)
def test_a_kill_at_any_step_of_a_registration_is_mended_by_registering_again(
    home: Path, choose: Callable[[Sequence[str]], Sequence[str]], least: int
) -> None:
    steps = max((_whole(home, f"whole-{turn}") for turn in range(2)), key=len)
    outcomes, died = [], []
    with opened(home) as server:
        aftermath = Aftermath(server)
    for number, step in enumerate(choose(steps)):
        name = f"query-{number}"
        was_killed = _killed(home, name, Steps(REGISTRATION, step))
        with opened(home) as server:
            status, traces = _left(server, name)
            if was_killed:
                outcomes.append(status)
                died.append(step)
            assert was_killed or status == ACTIVE
            assert traces == TRACES[status]
            assert aftermath.complaints(server) == []
            _register_again(server, name, status)
            assert _left(server, name) == (ACTIVE, TRACES[ACTIVE])
            assert aftermath.complaints(server) == []
            (ask,) = asks(server, name, [1])
            assert answer(server, READER, ask).first
    assert len(died) >= least
    assert missing(LOG, died) == []
    # Two steps make the difference: the commit of the charge, and that of the anchor.
    assert list(dict.fromkeys(outcomes)) == [ABSENT, PENDING, ACTIVE]
    assert outcomes == sorted(outcomes, key=[ABSENT, PENDING, ACTIVE].index)
    with opened(home) as server:
        assert aftermath.final_complaints(server, []) == []


def test_what_a_killed_registration_left_is_not_finished_under_other_keys(home: Path) -> None:
    assert _killed(home, "query-0", Steps(named="before INSERT INTO release"))
    with opened(home) as server:
        assert _left(server, "query-0") == (PENDING, TRACES[PENDING])
        keys = [f"key-{number}" for number in range(DIMENSION)]
        with pytest.raises(NameTaken):
            register(server, OPERATOR, vector_query("query-0", "laplace", keys=keys))
        _register_again(server, "query-0", PENDING)


def _whole(home: Path, name: str) -> list[str]:
    """Return the steps of a registration; they differ with what the tree of the log has."""
    assert not _killed(home, name, Steps(REGISTRATION))
    taken: list[str] = json.loads((home.parent / f"taken-{name}").read_text())
    return taken


def _killed(home: Path, name: str, at: Steps) -> bool:
    errors, taken = (home.parent / f"{kind}-{name}" for kind in ("errors", "taken"))
    return processes.start(errors, register_once, home, name, at, taken).was_killed()


def _left(server: Server, name: str) -> tuple[str, tuple[int, int, int]]:
    """Return the state of a query, and how many charges, releases and leaves there are of it."""
    now = snapshot(server)
    found = [query for query in now["query"] if query["name"] == name]
    keys = {query["id"] for query in found}
    traces = (
        sum(row["query_id"] in keys for row in now["charge"]),
        sum(row["query_id"] in keys for row in now["release"]),
        sum(row["query"] == name for row in now["leaf"]),
    )
    return found[0]["status"] if found else ABSENT, traces


def _register_again(server: Server, name: str, status: str) -> None:
    """Send the same spec once more: what was cut off is finished, what was not is refused."""
    request = vector_query(name, "laplace")
    if status == ACTIVE:
        with pytest.raises(NameTaken):
            register(server, OPERATOR, request)
    else:
        assert register(server, OPERATOR, request).name == name
