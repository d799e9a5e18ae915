"""Install triggers that refuse to change or delete rows of history.

They guard against mistakes in code and at a console.  Somebody who can drop a trigger is detected
by the log instead.  A migration that rebuilds such a table must install its triggers again: SQLite
drops them with the old table.  Everything that a migration depends on is an argument here, so that
a change of the tables never changes an old migration.
"""

from collections.abc import Sequence

HISTORY = (
    *("allowance", "allowance_charge", "asker", "charge", "checkpoint", "clearance"),
    *(
        "cosignature",
        "decision",
        "fed_element",
        "former_declaration",
        "grant",
        "group_mapping",
        "leaf",
    ),
    *("proposal", "query_level", "release", "request", "request_comment", "request_decision"),
    *("secret_check", "spent_floor", "stream_output", "tier_budget", "tree_node", "withdrawal"),
    "wording",
)
"""The tables that are history in this version."""

SET_ONCE = {"leaf": "index"}
"""The column of a table of history that may be set once, from null."""

RENEWED = (
    *("allowance", "allowance_charge", "asker", "charge", "clearance", "decision"),
    *("fed_element", "former_declaration", "grant", "group_mapping", "proposal"),
    *("query_level", "release", "request", "request_comment", "request_decision"),
    *("spent_floor", "tier_budget", "withdrawal", "wording"),
)
"""The tables of history whose ``mac`` is replaced when the key of rows is rotated."""


def preparation(dialect: str) -> list[str]:
    """Return the statements that ``dialect`` needs once before the first trigger."""
    if dialect == "sqlite":
        return []
    function = (
        "CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " RAISE EXCEPTION USING MESSAGE = TG_TABLE_NAME || ' is append-only',"
        " ERRCODE = 'integrity_constraint_violation'; END $$"
    )
    return [function]


def triggers(
    dialect: str,
    table: str,
    *,
    once: str | None = None,
    renewed: str | None = None,
    fixed: Sequence[str] = (),
) -> list[str]:
    """Return the triggers of ``table``, for ``dialect`` "sqlite" or "postgresql".

    ``once`` names a column that may be set once, from null; ``renewed`` one that may be replaced
    but never set to null, as long as no column in ``fixed`` changes.
    """
    same = "IS" if dialect == "sqlite" else "IS NOT DISTINCT FROM"
    condition = ""
    kept = "".join(f' AND NEW."{column}" {same} OLD."{column}"' for column in fixed)
    if once is not None:
        condition = f'WHEN (NOT (OLD."{once}" IS NULL AND NEW."{once}" IS NOT NULL{kept}))'
    if renewed is not None:
        condition = f'WHEN (NOT (NEW."{renewed}" IS NOT NULL{kept}))'
    if dialect == "sqlite":
        body = f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        update, other = condition, ""
        events: tuple[str, ...] = ("UPDATE", "DELETE")
    else:
        body = "EXECUTE FUNCTION append_only()"
        update, other = f"FOR EACH ROW {condition}", "FOR EACH ROW"
        events = ("UPDATE", "DELETE", "TRUNCATE")
    ways = {"UPDATE": update, "DELETE": other, "TRUNCATE": "FOR EACH STATEMENT"}
    return [
        f'CREATE TRIGGER "append_only_{table}_{event.lower()}" BEFORE {event} ON "{table}"'
        f" {ways[event]} {body}"
        for event in events
    ]
