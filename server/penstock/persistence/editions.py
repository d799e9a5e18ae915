"""Install triggers that give the database a new edition with every change that releases rest on.

Workers keep tiers, datasets, queries and levels between requests, as long as the edition that they
read with them is still the database's (``services.kept``).  The triggers set it, whatever program
changes a row, in the transaction of the change.  Drawing a release leaves the edition as it is: its
query gets another ``seq`` and is signed again, and both are read under the query's lock.

A migration that rebuilds one of these tables must install its triggers again: SQLite drops them
with the old table.  Everything that a migration depends on is an argument here, so that a change of
the tables never changes an old migration.
"""

from collections.abc import Mapping, Sequence

WATCHED: Mapping[str, Sequence[str]] = {
    "tier": (),
    "dataset": (),
    "query_level": (),
    "query": (
        *("id", "name", "folded", "dataset_id", "canonical_hash", "spec", "sql", "sql_hash"),
        *("mechanism", "calibration", "granularity", "dimension", "keys", "sensitivity_l1"),
        *("sensitivity_l2_squared", "sensitivity_linf", "ladder_finest", "ladder_unit"),
        *("ladder_doubling", "ladder_last", "ceiling", "max_levels", "status", "wrapped_dek"),
        *("asserted_by", "created_at", "by", "sealed_fingerprint", "structure", "power"),
        *("histogram", "frozen", "mismatches", "declaration", "read_states", "allowance_id"),
    ),
}
"""The tables whose changes make a new edition, with the columns that count if not all do."""


def preparation(dialect: str) -> list[str]:
    """Return the statements that ``dialect`` needs once before the first trigger."""
    if dialect == "sqlite":
        return []
    function = (
        "CREATE FUNCTION new_edition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " UPDATE edition SET value = replace(gen_random_uuid()::text, '-', '');"
        " RETURN NULL; END $$"
    )
    return [function]


def triggers(dialect: str, table: str, columns: Sequence[str] = ()) -> list[str]:
    """Return the triggers of ``table``, for ``dialect`` "sqlite" or "postgresql".

    An update counts if it sets one of ``columns``; any does if there are none.
    """
    listed = ", ".join(f'"{column}"' for column in columns)
    update = f"UPDATE OF {listed}" if columns else "UPDATE"
    if dialect == "sqlite":
        body = "BEGIN UPDATE edition SET value = lower(hex(randomblob(16))); END"
        events = {"insert": "INSERT", "update": update, "delete": "DELETE"}
    else:
        body = "FOR EACH STATEMENT EXECUTE FUNCTION new_edition()"
        events = {"change": f"INSERT OR {update} OR DELETE OR TRUNCATE"}
    return [
        f'CREATE TRIGGER "edition_{table}_{name}" AFTER {event} ON "{table}" {body}'
        for name, event in events.items()
    ]
