"""Test that moments are aware and in UTC, and integers of 64 bits, on every database."""

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_mock_engine, text
from sqlalchemy.exc import StatementError
from sqlmodel import SQLModel

from penstock.persistence import Database, tables

MakeRow = Callable[..., SQLModel]


def test_moments_come_back_aware_and_in_utc(filled: Database, row: MakeRow) -> None:
    moment = datetime(2026, 7, 1, 9, 30, 15, 123456, tzinfo=timezone(timedelta(hours=5.5)))
    with filled.write() as session:
        session.add(row("tier", folded="other", rank=3, created_at=moment))
    with filled.read() as session:
        tier = session.get_one(tables.Tier, 2)
    assert tier.created_at == moment
    assert tier.created_at.tzinfo is UTC
    assert tier.deleted_at is None


@pytest.mark.only("sqlite")
def test_moments_are_stored_as_text_that_sorts_as_time_does(filled: Database, row: MakeRow) -> None:
    moment = datetime(2026, 7, 1, 9, 30, 15, 123456, tzinfo=timezone(timedelta(hours=5.5)))
    with filled.write() as session:
        session.add(row("tier", folded="other", rank=3, created_at=moment))
    with filled.read() as session:
        stored = session.connection().execute(text("SELECT created_at FROM tier WHERE id = 2"))
        assert stored.scalar_one() == "2026-07-01 04:00:15.123456"


def test_a_moment_without_a_time_zone_is_refused(filled: Database, row: MakeRow) -> None:
    naive = datetime(2026, 7, 1, 9, 30)  # noqa: DTZ001 - that is what must be refused
    with pytest.raises(StatementError, match="needs a time zone"), filled.write() as session:
        session.add(row("tier", folded="other", rank=3, created_at=naive))


def test_integers_beyond_32_bits_and_the_largest_budget_come_back(
    filled: Database, row: MakeRow
) -> None:
    largest = (1 << 63) - 1
    with filled.write() as session:
        session.add(row("tier_budget", version=2, limit_loss=largest, limit_failure=largest))
        session.add(row("charge", seq=1, loss=-largest, failure=-3))
    with filled.read() as session:
        budget = session.get_one(tables.TierBudget, 2)
        charge = session.get_one(tables.Charge, 2)
    assert (budget.limit_loss, budget.limit_failure) == (largest, largest)
    assert (charge.loss, charge.failure) == (-largest, -3)


@pytest.mark.parametrize("dialect", ["sqlite", "postgresql+psycopg"])
def test_a_partial_index_has_its_condition_on_every_database(dialect: str) -> None:
    statements: list[str] = []

    def collect(statement: Any, *_: object) -> None:
        statements.append(str(statement.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{dialect}://", collect)
    tables.metadata.create_all(engine, checkfirst=False)
    assert [made.partition(" WHERE ")[::2] for made in sorted(statements) if " WHERE " in made] == [
        ("CREATE INDEX ix_delivery_waiting ON delivery (next_at)", "state = 'waiting'"),
        ("CREATE INDEX ix_leaf_pending ON leaf (id)", '"index" IS NULL'),
        ("CREATE UNIQUE INDEX uq_tier_folded ON tier (folded)", "deleted_at IS NULL"),
        ("CREATE UNIQUE INDEX uq_tier_rank ON tier (rank)", "deleted_at IS NULL"),
    ]


def test_no_validator_is_built_for_rows_that_are_not_validated() -> None:
    assert not tables.Tier.__pydantic_complete__


@pytest.mark.parametrize("subject", tables._SUBJECTS)
def test_a_module_of_tables_brings_those_that_its_own_refer_to(subject: str) -> None:
    script = (
        f"import penstock.persistence.tables.{subject}\n"
        "from penstock.persistence.tables.columns import metadata\n"
        "print(*[table.name for table in metadata.sorted_tables])\n"
    )
    subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)


def test_all_tables_are_defined_once_one_is_taken_from_the_package() -> None:
    script = "from penstock.persistence.tables import metadata\nprint(*metadata.tables)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    folder = Path(tables.__file__).parent
    files = [path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py")]
    modules = {".".join(file.parts) for file in files if file.name != "__init__"}
    assert set(tables._SUBJECTS) == modules
    assert set(done.stdout.split()) == set(tables.metadata.tables)
    with pytest.raises(AttributeError, match="'Account'"):
        _ = tables.Account
