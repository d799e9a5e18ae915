"""Test which database a URL names, and that both give a long content back.

Every URL that names none of ours is refused without its text.
"""

import pytest
from sqlalchemy import text
from tests.databases.homes import SQLITE

from penstock.errors import InvalidInput
from penstock.persistence import Database, sqlite, tables
from penstock.persistence.dialects import dialect_of, long_content

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
    "url",
    [
        "postgresql://user@a:1,b:2/penstock?target_session_attrs=read-write",
        "postgresql://user@/penstock?host=a,b&port=1,2&target_session_attrs=read-write",
        "postgresql://user@/penstock?host=a:1&host=b:2&target_session_attrs=read-write",
    ],
)
def test_a_url_may_name_several_hosts(url: str) -> None:
    pytest.importorskip("psycopg")
    assert dialect_of(url).place == "a,b port 1,2, database penstock"


def test_a_file_has_no_standby() -> None:
    with pytest.raises(InvalidInput, match=r"no standby.*PENSTOCK_REPLICAS=none"):
        dialect_of("sqlite:////folder/penstock.db", replicated=True)


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


def test_a_long_content_comes_back_as_it_was_stored(filled: Database, backend: str) -> None:
    content = bytes(range(251)) * (3 * sqlite.PIECE // 251)
    with filled.write() as session:
        session.connection().execute(
            text(
                "INSERT INTO release (id, public_id, query_id, rung, seq, ciphertext, created_at)"
                " SELECT 77, 'long', query_id, 70, 70, :content, created_at FROM release"
                " WHERE id = 1"
            ),
            {"content": content},
        )
    ciphertext = tables.metadata.tables["release"].c.ciphertext
    with filled.read() as session:
        stored = long_content(session.connection(), ciphertext, 77)
        if isinstance(stored, bytes):
            assert backend != SQLITE, "SQLite holds copies of what it returns as a whole"
            assert stored == content
        else:
            with stored.opened() as (size, pieces):
                assert size == len(content)
                parts = list(pieces)
            assert b"".join(parts) == content
            assert max(map(len, parts)) == sqlite.PIECE
