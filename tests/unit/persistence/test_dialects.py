"""Test which database a URL names.

Every URL that names none of ours is refused without its text.
"""

import pytest

from penstock.errors import InvalidInput
from penstock.persistence.dialects import dialect_of

SECRET = "hunter2"


def test_a_file_is_sqlites() -> None:
    dialect = dialect_of("sqlite:////folder/penstock.db")
    assert (dialect.name, dialect.place) == ("sqlite", "/folder/penstock.db")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_server_is_postgresqls_and_its_place_has_no_password(scheme: str) -> None:
    pytest.importorskip("psycopg")
    dialect = dialect_of(f"{scheme}://user:{SECRET}@host/penstock")
    assert dialect.name == "postgresql"
    assert SECRET not in dialect.place
    assert "host" in dialect.place


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nothing", "cannot be read"),
        ("sqlite://", "database in a file"),
        ("sqlite:///:memory:", "database in a file"),
        (f"sqlite:////folder/penstock.db?key={SECRET}", "without options"),
        (f"mysql://user:{SECRET}@host/penstock", "not in mysql"),
        (f"postgresql+asyncpg://user:{SECRET}@host/penstock", "no other driver"),
        (f"postgresql://user:{SECRET}@host", "names no database"),
    ],
)
def test_any_other_url_is_refused_without_repeating_it(url: str, says: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        dialect_of(url)
    assert says in refusal.value.detail
    assert SECRET not in refusal.value.detail
