"""Make tables in a database whose rows are data: a warehouse, not the server's state."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from psycopg import sql
from pydantic import SecretStr
from tests.databases.cluster import APPLICATION, Cluster

from penstock.connectors.connections import Connections
from penstock.connectors.sources import Sources

SCHEMA = "data"


@dataclass
class Warehouse:
    """Hold a database of a running server, which one role may read."""

    cluster: Cluster
    database: str

    @property
    def address(self) -> str:
        """Return the address with the reading role's password."""
        return self.cluster.address(self.database)

    @property
    def sources(self) -> Sources:
        """Return what lets a connector read under the name ``warehouse``."""
        return sources_at(self.address)

    def run(self, statement: str) -> None:
        """Run a statement as the owner of all tables, and let the role read every one."""
        with self.cluster.administered(self.database) as connection:
            connection.execute(statement.encode())
            connection.execute(
                sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA {} TO {}").format(
                    sql.Identifier(SCHEMA), sql.Identifier(APPLICATION)
                )
            )

    def fill(self, table: str, types: Mapping[str, str], rows: Sequence[Sequence[object]]) -> None:
        """Make a table anew, with these rows."""
        name = sql.Identifier(SCHEMA, table)
        columns = sql.SQL(", ").join(
            sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind))
            for column, kind in types.items()
        )
        with self.cluster.administered(self.database) as connection:
            connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(name))
            connection.execute(sql.SQL("CREATE TABLE {} ({})").format(name, columns))
            places = sql.SQL(", ").join([sql.Placeholder()] * len(types))
            insert = sql.SQL("INSERT INTO {} VALUES ({})").format(name, places)
            with connection.cursor() as cursor:
                cursor.executemany(insert, rows)
            connection.execute(
                sql.SQL("GRANT SELECT ON {} TO {}").format(name, sql.Identifier(APPLICATION))
            )


def sources_at(address: str) -> Sources:
    """Return what lets a connector read at an address, under the name ``warehouse``."""
    return Sources(connections=Connections({"warehouse": SecretStr(address)}))


@contextmanager
def made(cluster: Cluster) -> Iterator[Warehouse]:
    """Yield a warehouse in a database of its own."""
    database = cluster.create()
    try:
        with cluster.administered(database) as connection:
            connection.execute(
                sql.SQL("CREATE SCHEMA {}; GRANT USAGE ON SCHEMA {} TO {}").format(
                    sql.Identifier(SCHEMA), sql.Identifier(SCHEMA), sql.Identifier(APPLICATION)
                )
            )
        yield Warehouse(cluster, database)
    finally:
        cluster.drop(database)
