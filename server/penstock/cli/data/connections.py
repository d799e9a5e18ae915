"""Run ``penstock connection``: list the connections that the settings name, and try them."""

from dataclasses import dataclass

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option
from penstock.cli.output import Column, Document

FAILURE, NOT_REACHABLE = 1, 4


@dataclass(frozen=True)
class Listed:
    """Hold a connection's name, its engine, and where it is set."""

    connection: str
    engine: str
    source: str


@click.group()
def connection() -> None:
    """Show and try the connections to warehouses and buckets."""


@connection.command("list")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List the connections that the settings name.  Their secrets are not shown."""
    from penstock.connectors.connections import Connections

    connections = Connections(operator.settings.connections)
    sources = {item.name: item.source for item in operator.provenance}
    rows = [
        Listed(name, connections.engine_of(name) or "unknown", sources[f"connection_{name}"])
        for name in connections.names
    ]
    note = "" if rows else "There are no connections; one is set as PENSTOCK_CONNECTION_NAME."
    columns = (Column("connection"), Column("engine"), Column("source"))
    lines = [(each.connection, each.engine, each.source) for each in rows]
    operator.print(Document(rows, columns, lines, note=note))


@connection.command()
@click.argument("name")
@format_option
@click.pass_context
def check(context: click.Context, name: str) -> None:
    """Try connection NAME: reach its engine, and show what it is.

    Exits with 4 if the engine cannot be reached, with 1 if it refuses the connection or does not
    compute as it should (then no data are read with it).
    """
    from penstock.connectors.connections import Connections
    from penstock.connectors.reachable import PASSED, reach
    from penstock.errors import Unavailable

    operator = context.ensure_object(Operator)
    operator.progress(f"Trying connection {name}")
    try:
        reached = reach(Connections(operator.settings.connections), name)
    except Unavailable as problem:
        operator.say(f"Error: {problem.detail}")
        context.exit(NOT_REACHABLE)
    columns = (*map(Column, ("connection", "engine", "version", "conformance")),)
    row = (reached.connection, reached.engine, reached.version, reached.conformance)
    operator.print(Document(reached, columns, [row]))
    if reached.conformance != PASSED:
        context.exit(FAILURE)
