"""Test ``penstock metrics``: it shows ages, and by options alone budgets and the log's size."""

import json
import os
import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlmodel import col, func, select
from tests.unit.cli.conftest import TIERS
from tests.unit.cli.program_runs import Run
from tests.unit.sites import SITES, VISITS

from penstock.persistence.tables import Leaf
from penstock.services import budgets, monitoring
from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.setting_sources import load
from penstock.transparency_log.logged_time import LoggedTime
from penstock.transparency_log.sights import Sight

NAMES = (str(SITES["name"]), str(VISITS["name"]), *TIERS, "pia", "ada")


def values(text: str) -> dict[str, float]:
    """Return each line's value by name and labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def opened() -> Server:
    return home.open_server(load()[0])


def test_without_options_nothing_depends_on_what_is_requested(here: Run) -> None:
    before = here("metrics")
    assert before.code == 0, before.err
    assert here("release", "visits", "--as", "pia").code == 0
    (Path("more.json")).write_text(json.dumps({**VISITS, "name": "more"}))
    assert here("query", "register", "more.json").code == 0
    after = here("metrics")
    moment = "penstock_measured_timestamp_seconds"
    shown, again = values(before.out), values(after.out)
    assert shown.pop(moment) < again.pop(moment)
    assert shown == again
    assert shown.keys() == {
        "penstock_witness_behind_seconds",
        *(f'penstock_key_timestamp_seconds{{key="{key}"}}' for key in monitoring.KEYS),
    }
    for name in NAMES:
        assert not re.search(rf"\b{name}\b", after.out)


def test_the_keys_age_until_they_are_rotated(here: Run) -> None:
    before = values(here("metrics").out)
    changed = {"provider"}
    assert here("keys", "rotate").code == 0
    for secret in ("pepper", "values"):
        done = here("keys", "rotate-secret", secret)
        assert done.code == 0, done.err
        changed.add(secret)
    after = values(here("metrics").out)
    for key in monitoring.KEYS:
        line = f'penstock_key_timestamp_seconds{{key="{key}"}}'
        assert (after[line] > before[line]) == (key in changed), key


def test_budgets_are_shown_in_steps_that_never_understate(here: Run) -> None:
    shown = values(here("metrics", "--budgets").out)
    server = opened()
    view = budgets.show(server, OPERATOR, str(SITES["name"]))
    server.database.close()
    assert len(view.tiers) > 1
    for tier in view.tiers:
        label = f'penstock_budget_spent_ratio{{dataset="{SITES["name"]}",tier="{tier.tier}"}}'
        assert 0 < tier.spent_share <= shown[label] < tier.spent_share + 0.05
        assert (shown[label] * 20).is_integer()


def test_the_log_is_shown_in_steps(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert values(here("metrics", "--log-size").out)["penstock_log_leaves"] == 0
    monkeypatch.setattr(monitoring, "SIZE_STEP", 5)
    server = opened()
    with server.database.read() as session:
        leaves = session.exec(select(func.count(col(Leaf.id)))).one()
    server.database.close()
    assert leaves > 10
    shown = values(here("metrics", "--log-size").out)["penstock_log_leaves"]
    assert shown == leaves // 5 * 5


def test_a_witness_that_lacks_a_leaf_is_behind_by_whole_minutes(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here("status").code == 0
    server = opened()
    with server.database.read() as session:
        newest = session.exec(select(func.max(col(Leaf.at)))).one()
        size = session.exec(select(func.count(col(Leaf.id)))).one()
    assert newest is not None

    def lag(seconds: float, seen: int) -> float:
        monkeypatch.setattr(server.sequencer, "look", lambda: Sight(seen, b""))
        later = replace(server, clock=LoggedTime(lambda: newest + timedelta(seconds=seconds)))
        gauges = monitoring.measure(later, OPERATOR)
        (gauge,) = [each for each in gauges if each.name == "penstock_witness_behind_seconds"]
        return gauge.values[0][1]

    assert lag(1000.0, size) == 0
    assert lag(59.0, size - 1) == 0
    assert lag(359.0, size - 1) == 300
    server.database.close()


def test_the_newest_whole_backup_counts(here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    name = "penstock_backup_timestamp_seconds"

    def shown() -> float:
        return values(here("metrics", "--backups", str(folder)).out)[name]

    assert shown() == 0
    assert here("backup", str(folder / "one")).code == 0
    os.utime(folder / "one.keys.json", (1000.0, 1000.0))
    assert shown() == 1000
    (folder / "two").touch()
    (folder / "three.keys.json").touch()
    assert shown() == 1000, "a copy without a manifest is not whole, nor a manifest without a copy"
    missing = here("metrics", "--backups", str(tmp_path / "missing"))
    assert missing.code == 1
    assert "missing cannot be read" in missing.err


def test_a_file_is_replaced_at_once_or_not_at_all(here: Run, tmp_path: Path) -> None:
    folder = tmp_path / "collector"
    folder.mkdir()
    place = folder / "penstock.prom"
    assert here("metrics", "--output", str(place)).out == ""
    assert place.stat().st_mode & 0o777 == 0o644
    before = place.read_bytes()
    missing = str(tmp_path / "missing")
    assert here("metrics", "--output", str(place), "--backups", missing).code == 1
    assert place.read_bytes() == before
    assert [each.name for each in folder.iterdir()] == [place.name]
    refused = here("metrics", "--output", f"{missing}/penstock.prom")
    assert refused.code == 1
    assert "cannot be written" in refused.err
