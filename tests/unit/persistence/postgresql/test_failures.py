"""Test what PostgreSQL's errors mean to an operator.

By SQLSTATE, and never in the server's words.
"""

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from penstock.errors import DatabaseUnavailable, Interrupted, SchemaUnknown, Unavailable
from penstock.persistence.postgresql import failures

WORDS = "the server's own words"


def failure(
    state: str | None, *, at_commit: bool = False, kind: type[Exception] | None = None
) -> Unavailable | None:
    """Return what an error with this SQLSTATE means."""
    known = psycopg.errors.lookup(state) if state else psycopg.OperationalError
    error = DBAPIError("SELECT 1", None, (kind or known)(WORDS))
    return failures.of(error, "host/penstock", 2.5, at_commit=at_commit)


@pytest.mark.parametrize(
    ("state", "kind", "says"),
    [
        ("40001", Interrupted, "another transaction changed the same"),
        ("40P01", Interrupted, "another transaction changed the same"),
        ("57P01", Interrupted, "was lost; nothing was changed"),
        ("08006", Interrupted, "was lost; nothing was changed"),
        ("42P01", SchemaUnknown, "penstock db upgrade"),
        ("42703", SchemaUnknown, "penstock db upgrade"),
        ("55P03", DatabaseUnavailable, "more than 2.5 s"),
        ("53100", DatabaseUnavailable, "disk of the database is full"),
        ("25006", DatabaseUnavailable, "read-only"),
        ("42501", DatabaseUnavailable, "PENSTOCK_MIGRATION_DATABASE_URL"),
        (None, DatabaseUnavailable, "cannot be reached"),
    ],
)
def test_a_failure_says_what_to_do(state: str | None, kind: type[Unavailable], says: str) -> None:
    problem = failure(state)
    assert type(problem) is kind
    assert says in problem.detail
    assert WORDS not in problem.detail


def test_a_commit_that_was_not_confirmed_is_uncertain() -> None:
    problem = failure("57P01", at_commit=True)
    assert isinstance(problem, Interrupted)
    assert problem.uncertain
    assert "may or may not be" in problem.detail
    silent = failure(None, at_commit=True, kind=failures.Silent)
    assert silent is not None
    assert "may or may not be" in silent.detail


@pytest.mark.parametrize("state", ["23505", "22003", "42601"])
def test_constraints_and_faults_of_the_program_are_no_failures_of_the_database(state: str) -> None:
    assert failure(state) is None


def test_an_error_of_another_driver_is_none_of_postgresqls() -> None:
    error = DBAPIError("SELECT 1", None, ValueError(WORDS))
    assert failures.of(error, "host/penstock", 2.5, at_commit=False) is None
