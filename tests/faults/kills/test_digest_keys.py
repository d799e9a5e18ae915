"""Test ``kill -9`` while the key of rows is rotated.

Every row is believed, and going on finishes it.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.faults.kills.killing import decisive, killed
from tests.faults.kills.steps import Steps, chosen
from tests.faults.stage import analyst, open_home, opened

from penstock.encryption.secrets import VALUES
from penstock.errors import KeysUnavailable
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.operations import digest_rotation, secret_checks
from penstock.services.releases import releases
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.verification import altered_rows, verification

FILES = (
    "services/operations/digest_rotation.py",
    "persistence/row_authentication_upgrade.py",
    "services/operations/secret_checks.py",
    "services/operations/secret_renewal.py",
    "transparency_log/witness/file_witness.py",
    "encryption/secrets.py",
    "encryption/private.py",
)
STRIDE = 40

Choose = Callable[[Sequence[str]], Sequence[str]]

many = pytest.param(partial(chosen, stride=STRIDE), id="many", marks=pytest.mark.nightly)


def few(taken: Sequence[str]) -> list[str]:
    """Return where a file is put in its place, and some of the commits."""
    found = decisive(taken)
    files = [step for step in found if "replace" in step]
    return [*files, *[step for step in found if step not in files][::9]]


def rotate_once(folder: Path, steps: Steps, taken: Path) -> None:
    """Rotate, and say by which steps."""
    server = open_home(folder)
    with steps.watching():
        digest_rotation.rotate_values(server, OPERATOR)
    taken.write_text(json.dumps(steps.taken))


def settled_first(folder: Path, steps: Steps, taken: Path) -> None:
    """Believe only the newest key before all rows are signed under it: the broken variant."""
    server = open_home(folder)
    server.stored.renew(VALUES)
    server.stored.settle_rows()
    with steps.watching():
        with server.database.write_unwatched() as session:
            secret_checks.add(session, server.secrets, (VALUES,))
        taken.write_text(json.dumps(steps.taken))


@pytest.fixture
def home(tmp_path: Path, furnish: Callable[..., Path]) -> Path:
    furnish(tmp_path / "home", analysts=1, names=["query-0"])
    return tmp_path / "home"


def asked(server: Server) -> list[float]:
    answer = releases.request(server, acting_as(server, analyst(0)), "query-0", ReleaseRequest())
    values: list[float] = answer.view.values.tolist()
    return values


def altered(server: Server) -> list[tuple[str, int]]:
    with server.database.read() as session:
        return list(altered_rows.altered(session))


@pytest.mark.parametrize("choose", [pytest.param(few, id="few"), many])
def test_a_rotation_that_is_killed_at_any_step_leaves_every_row_believed(
    home: Path, choose: Choose
) -> None:
    with opened(home) as server:
        told = asked(server)
    steps = killed(home, rotate_once, Steps(FILES))
    assert steps is not None
    died = 0
    for step in choose(steps):
        died += killed(home, rotate_once, Steps(FILES, step)) is None
        with opened(home) as server:
            assert altered(server) == []
            assert asked(server) == told
            digest_rotation.rotate_values(server, OPERATOR)
            assert server.secrets.rows == server.secrets.newest_of(VALUES)
            assert altered(server) == []
            assert verification.verify(server, OPERATOR).problems == []
    assert died >= 4


def test_who_believes_the_new_key_alone_too_early_is_found_out(home: Path) -> None:
    assert killed(home, settled_first, Steps(FILES, "before COMMIT")) is None
    with pytest.raises(KeysUnavailable, match="under the key 1 of values"), opened(home):
        pass
