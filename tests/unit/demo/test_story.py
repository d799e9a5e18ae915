"""Test the demo's story.

Every number in it is computed once more, from the database and the data.
"""

import contextlib
import math
import re
import shutil
import sqlite3
from pathlib import Path
from statistics import NormalDist
from types import ModuleType

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sqlmodel import col, select
from tests.unit.demo.told import PORT, quiet

from penstock.demo import pages, stage, story, tour
from penstock.demo.cast import READERS, TIERS
from penstock.demo.story import HEADLINE, Story
from penstock.errors import Conflict
from penstock.persistence.tables import Dataset, Grant, Query, Release, TierBudget, User
from penstock.services.access.principals import authenticate
from penstock.services.context import Server
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.noise.sealed_state import open_state
from penstock.services.operations.home import open_server
from penstock.services.releases import releases
from penstock.services.schemas.queries import ReleaseRequest
from penstock.settings import (
    Settings,
)
from penstock.web.presenters.pages.front_page import EXAMPLE

PHI = NormalDist().cdf
NORMAL_95 = NormalDist().inv_cdf(0.975)


@pytest.fixture(scope="session")
def text(told: Story, settings: Settings) -> str:
    return pages.story(told, settings.home)


def rows_of(text: str) -> dict[str, tuple[float, float, float, float, float]]:
    """Return each reader's epsilon, value, lower, upper, half width, as the table has them."""
    number = r"(-?[\d,]+\.\d+)"
    found = {}
    for line in text.splitlines():
        match = re.search(
            rf"^  (\w+) .* {number} +{number} +{number} to {number} +±{number}$", line
        )
        if match:
            cells = tuple(float(cell.replace(",", "")) for cell in match.groups()[1:])
            found[match.group(1)] = (cells[0], cells[1], cells[2], cells[3], cells[4])
    return found


def stored(server: Server) -> dict[str, tuple[float, float]]:
    """Return value and variance of what each reader was handed, from the database."""
    readers = [reader.name for reader in READERS]
    found = {}
    with server.database.read() as session:
        query = session.exec(select(Query).where(col(Query.name) == HEADLINE)).one()
        dataset = session.get_one(Dataset, query.dataset_id)
        process = kind_of(query)
        for grant, release, user in session.exec(
            select(Grant, Release, User)
            .join(Release, col(Grant.release_id) == col(Release.id))
            .join(User, col(Grant.user_id) == col(User.id))
            .where(col(Release.query_id) == query.id, col(User.name).in_(readers))
        ).all():
            assert grant.user_id == user.id
            steps = open_state(server, dataset, query, release)
            value = int(steps[0]) * process.mechanism.granularity
            found[user.name] = float(value), float(process.ladder.value(release.rung))
    return found


def epsilon_of(mu: float, delta: float) -> float:
    """Return epsilon of a Gaussian mechanism with signal-to-noise ratio mu (Balle, Wang 2018)."""
    low, high = 0.0, 50.0
    for _ in range(100):
        middle = (low + high) / 2
        spent = PHI(mu / 2 - middle / mu) - math.exp(middle) * PHI(-mu / 2 - middle / mu)
        low, high = (middle, high) if spent > delta else (low, middle)
    return high


def test_every_reader_is_told_what_the_database_holds(text: str, server: Server) -> None:
    shown, held = rows_of(text), stored(server)
    assert list(shown) == [reader.name for reader in READERS]
    assert set(held) == set(shown)
    for name, (epsilon, value, lower, upper, half_width) in shown.items():
        exact, variance = held[name]
        deviation = math.sqrt(variance)
        assert value == pytest.approx(exact, abs=0.051)
        assert half_width == pytest.approx(NORMAL_95 * deviation, abs=0.051)
        assert lower == pytest.approx(exact - NORMAL_95 * deviation, abs=0.051)
        assert upper == pytest.approx(exact + NORMAL_95 * deviation, abs=0.051)
        assert epsilon == pytest.approx(epsilon_of(1 / deviation, 1e-6), abs=0.0051)


def test_the_readers_are_told_about_the_people_in_the_data(text: str, settings: Settings) -> None:
    table = pq.read_table(settings.home / "data" / "health_insurance_experiment.parquet")
    people = len(pc.unique(table["person"]))
    assert f"{people:,} people" in text
    patients = len(pc.unique(table.filter(pc.field("hospital_stays") >= 1)["person"]))
    for _, value, _, _, half_width in rows_of(text).values():
        assert abs(value - patients) < 5 * half_width  # a chance below 1e-21


def test_the_joint_losses_are_those_of_one_draw_and_of_four(text: str, server: Server) -> None:
    deviations = [math.sqrt(variance) for _, variance in stored(server).values()]
    best = min(deviations)
    averaged = 1 / math.sqrt(sum(deviation**-2 for deviation in deviations))
    for words, deviation in (("lossless", best), ("independently", averaged)):
        (line,) = [line for line in text.splitlines() if words in line and "±" in line]
        epsilon, half_width = (float(cell.lstrip("±")) for cell in line.split()[-2:])
        assert epsilon == pytest.approx(epsilon_of(1 / deviation, 1e-6), rel=0.01)
        assert half_width == pytest.approx(NORMAL_95 * deviation, abs=0.051)


def test_the_bound_is_the_budget_of_the_highest_tier(text: str, server: Server) -> None:
    with server.database.read() as session:
        reach = max(budget.epsilon for budget in session.exec(select(TierBudget)).all())
    found = re.search(r"epsilon ([\d.]+)\s+together.*epsilon ([\d.]+)\s+for (\w+)", text, re.DOTALL)
    assert found is not None
    assert float(found.group(2)) == reach
    assert found.group(3) == list(TIERS)[-1]
    # More than one query is registered, and the filter keeps all of them within the budget.
    lossless = max(epsilon for epsilon, *_ in rows_of(text).values())
    assert lossless < float(found.group(1)) <= reach


@pytest.mark.parametrize("served", [True, False])
def test_nothing_is_wider_than_a_terminal(
    told: Story, text: str, settings: Settings, served: bool
) -> None:
    shown = text + tour.what_to_try(told, Path("penstock-demo"), settings, served=served)
    assert max(map(len, shown.splitlines())) <= 100
    assert ("penstock serve --port" in shown) is not served


def test_a_second_run_tells_the_same_numbers_with_new_tokens(
    told: Story, text: str, settings: Settings
) -> None:
    again = story.tell(settings, quiet)
    assert again.again
    assert rows_of(pages.story(again, settings.home)) == rows_of(text)
    assert again.together == told.together
    assert set(again.tokens.values()).isdisjoint(told.tokens.values())


@pytest.fixture
def copied(told: Story, settings: Settings, tmp_path: Path) -> Settings:
    """Return the settings of a copy of the demo's home, for who changes it."""
    copy = stage.settings(tmp_path / "home", PORT)
    shutil.copytree(settings.home, copy.home, ignore=shutil.ignore_patterns("penstock.db*"))
    # Others have the database open, so that its file alone may lack what was written last.
    places = (one.database_path / "penstock.db" for one in (settings, copy))
    with contextlib.ExitStack() as opened:
        source, target = (
            opened.enter_context(contextlib.closing(sqlite3.connect(place))) for place in places
        )
        source.backup(target)
    return copy


def test_what_was_given_since_is_counted_and_said(
    told: Story, copied: Settings, tmp_path: Path
) -> None:
    server = open_server(copied)
    rosa = authenticate(server, told.tokens["rosa"])
    releases.request(server, rosa, HEADLINE, ReleaseRequest(tier="public"))
    server.database.close()
    then = story.tell(copied, quiet)
    assert (told.handed_out, then.handed_out) == (4, 5)
    assert then.together.independent.epsilon > told.together.independent.epsilon
    assert then.together.released == told.together.released
    assert "By now" not in pages.story(told, tmp_path)
    assert "were given 5 releases" in pages.story(then, tmp_path)


def test_a_folder_that_is_no_demo_is_left_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "keys").mkdir(parents=True)
    (home / "keys" / "keyring.json").write_text("mine")
    with pytest.raises(Conflict, match="--home"):
        story.tell(stage.settings(home, PORT), quiet)
    assert [path.name for path in home.rglob("*")] == ["keys", "keyring.json"]
    assert (home / "keys" / "keyring.json").read_text() == "mine"


@pytest.mark.parametrize(
    ("module", "step"),
    [
        (story, "_register"),
        pytest.param(story, "_see", marks=pytest.mark.nightly),
        pytest.param(stage, "finish", marks=pytest.mark.nightly),
    ],
    ids=["early", "late", "last"],
)
def test_a_demo_that_was_interrupted_is_not_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: ModuleType, step: str
) -> None:
    settings = stage.settings(tmp_path / "home", PORT)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            story.tell(settings, quiet)
    with pytest.raises(Conflict, match="interrupted"):
        story.tell(settings, quiet)


def test_the_first_page_shows_such_a_run(told: Story) -> None:
    """Tiers, readers, losses and intervals are those of any run; the values are of one."""
    by_tier = {one.release.tier: one for one in told.seen}
    assert {one.tier for one in EXAMPLE.releases} == {*by_tier}
    for shown in EXAMPLE.releases:
        seen = by_tier[shown.tier]
        error = seen.release.error
        assert shown.reader == seen.reader
        assert shown.epsilon == pytest.approx(seen.release.guarantee.epsilon, rel=1e-9)
        assert shown.interval.half_width == pytest.approx(error.half_width, rel=1e-9)
        assert abs(shown.interval.value - seen.value) < 12 * error.standard_deviation
    assert EXAMPLE.together == pytest.approx(told.together.released.epsilon, rel=1e-9)
    assert EXAMPLE.independent == pytest.approx(told.together.independent.epsilon, rel=1e-9)
