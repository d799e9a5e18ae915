"""Test that a session reads one state of the data, and that failures are said in our own words."""

import pytest
from tests.databases.warehouse import Warehouse

from penstock.connectors.postgresql.session import _error_of, reading
from penstock.errors import SourceChanged, Unavailable


def test_a_session_sees_one_state_and_writes_nothing(warehouse: Warehouse) -> None:
    count = "SELECT count(*) AS number FROM data.visits"
    with reading(warehouse.address) as session:
        before = session.table(count).to_pylist()
        warehouse.run("INSERT INTO data.visits VALUES ('cid', 'c')")
        assert session.table(count).to_pylist() == before
        with pytest.raises(Unavailable):
            session.table("INSERT INTO data.visits VALUES ('dan', 'c') RETURNING 1")
    with reading(warehouse.address) as session:
        assert session.table(count).to_pylist() == [{"number": before[0]["number"] + 1}]
        for setting in ("transaction_read_only", "standard_conforming_strings"):
            shown = f"SELECT current_setting('{setting}') AS value"  # ours
            assert session.table(shown).to_pylist() == [{"value": "on"}]


@pytest.mark.parametrize(
    ("state", "kind", "words"),
    [
        ("42P01", SourceChanged, "no longer there"),
        ("42703", SourceChanged, "no longer there"),
        ("42501", Unavailable, "grant it SELECT"),
        ("57014", Unavailable, "cancelled, waited for a lock, or took longer"),
        ("53200", Unavailable, "short of memory"),
        ("53300", Unavailable, "connections"),
        ("28P01", Unavailable, "password"),
        ("57P01", Unavailable, "cannot be reached"),
        ("08006", Unavailable, "cannot be reached"),
        ("22012", Unavailable, "must not fail for any row"),
        (None, Unavailable, "cannot be reached"),
    ],
)
def test_what_failed_is_told_by_its_state(
    state: str | None, kind: type[Exception], words: str
) -> None:
    error = _error_of(state)
    assert type(error) is kind
    assert words in str(error)
    assert "Nothing was released" in str(error)
