"""``audit acknowledge-clock``: a time that was wrong is given up by the operator, on record."""

from datetime import timedelta
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run

from penstock.services.access.principals import OPERATOR
from penstock.services.operations import home
from penstock.services.operations.home import utc_now
from penstock.services.people import tier_changes
from penstock.services.schemas.people import TierSpec
from penstock.settings import Settings


@pytest.fixture
def ahead(furnished: Path) -> Path:
    """A home whose log was signed three days from now."""
    settings = Settings(home=furnished)
    server = home.open_server(settings, clock=lambda: utc_now() + timedelta(days=3))
    tier_changes.create(server, OPERATOR, TierSpec(name="early"))
    server.database.close()
    return furnished


def clock_warnings(here: Run) -> list[str]:
    told = here("status", "--format", "json").json["warnings"]
    return [one for one in told if "penstock audit acknowledge-clock" in one]


@pytest.mark.usefixtures("ahead")
def test_the_command_gives_up_the_wrong_time_and_says_what_follows(here: Run) -> None:
    (warning,) = [
        one for one in here("status", "--format", "json").json["warnings"] if "log" in one
    ]
    assert "penstock audit acknowledge-clock" in warning
    done = here("audit", "acknowledge-clock")
    assert done.code == 0
    assert "time of the log that was given up" in done.out
    assert "revoke them" in done.out + done.err
    again = here("audit", "acknowledge-clock")
    assert (again.code, "nothing was changed" in again.err) == (1, True)
    assert clock_warnings(here) == []
    last = here("audit", "events", "--format", "json").json
    assert "clock" in str(last)
    assert here("audit", "verify").code == 0
