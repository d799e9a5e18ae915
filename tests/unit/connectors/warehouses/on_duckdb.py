"""Run statements of other engines on DuckDB, with functions of theirs that it does not have.

It shows what the statements mean, and not that the engines take them: that is for the tests that
run against real ones.
"""

from collections.abc import Mapping

import duckdb
import sqlglot

from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.warehouses.session import Columns, Refused

_MACROS = (
    "CREATE OR REPLACE MACRO is_finite(x) AS isfinite(x)",
    "CREATE OR REPLACE MACRO to_utf8(x) AS x",
    # Its texts are all UTF-8; one of them stands for a text that is not.
    "CREATE OR REPLACE MACRO from_utf8(x) AS replace(x, 'not UTF-8', chr(65533))",
    "CREATE OR REPLACE MACRO sha2(x, size) AS sha256(x)",
)


class OnDuckDB:
    """Run the statements of a dialect; see ``Session``."""

    def __init__(self, dialect: Dialect, connection: duckdb.DuckDBPyConnection) -> None:
        self._dialect = dialect
        self._connection = connection
        self.statements: list[str] = []
        for macro in _MACROS:
            connection.execute(macro)

    def rows(self, text: str, parameters: Mapping[str, str]) -> Columns:
        """Run one statement in DuckDB's words."""
        self.statements.append(text)
        named = self._dialect.name == "bigquery"
        given: object = dict(parameters) if named else list(parameters.values())
        try:
            result = self._connection.execute(in_duckdb(text, self._dialect), given or None)
        except duckdb.Error as error:
            raise Refused("DuckDB does not run the statement.") from error
        names = [column[0] for column in result.description or ()]
        rows = result.fetchall()
        return {name: [row[place] for row in rows] for place, name in enumerate(names)}

    def close(self) -> None:
        """Leave the connection open: the next session has the same tables."""


def in_duckdb(text: str, dialect: Dialect) -> str:
    """Return a statement in DuckDB's words."""
    if dialect.name == "bigquery":
        text = sqlglot.transpile(text, read="bigquery", write="duckdb", identify=True)[0]
        return text.replace("DECIMAL(38, 5)", "DECIMAL(38, 0)").replace("LOWER(HEX(UNHEX(", "(((")
    return text.replace("to_hex(", "(")
