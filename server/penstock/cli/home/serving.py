"""Run ``penstock serve``: check the home, then become gunicorn."""

import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

import penstock
from penstock.cli.operator import Operator
from penstock.cli.options import option
from penstock.errors import Unavailable

if TYPE_CHECKING:
    from penstock.settings import Settings

APPLICATION = "penstock.application:create_app()"
OWNERS = frozenset(
    {"PENSTOCK_MIGRATION_DATABASE_URL", "PENSTOCK_MIGRATION_DATABASE_URL_FILE"},
)
"""Variables that connect as the database's owner, for migrations; the server does not get them."""


@click.command()
@option("--host", envvar="PENSTOCK_HOST", help="Address to listen on [default: 127.0.0.1].")
@option(
    "--port",
    envvar="PENSTOCK_PORT",
    type=click.IntRange(0, 65535),
    help="Port to listen on [default: 8080].",
)
@option(
    "--workers",
    envvar="PENSTOCK_WORKERS",
    type=click.IntRange(1, 256),
    help="Number of worker processes [default: 2].",
)
@click.pass_obj
def serve(operator: Operator, host: str | None, port: int | None, workers: int | None) -> None:
    """Serve the home over HTTP until stopped."""
    from penstock.setting_sources import load, misspelled

    options = {"PENSTOCK_HOST": host, "PENSTOCK_PORT": port, "PENSTOCK_WORKERS": workers}
    chosen = {name: str(value) for name, value in options.items() if value is not None}
    environment = {**os.environ, **chosen}
    settings, _ = load(environment)
    for warning in misspelled(environment):
        operator.say(f"Warning: {warning}")
    start(settings, environment)


def start(settings: "Settings", environment: Mapping[str, str]) -> NoReturn:
    """Become gunicorn, which reads the same ``settings`` from ``environment``.

    Raises ``Unavailable`` and what ``penstock.services.operations.home.open_server`` raises if
    the server could not work, before anything is started.
    """
    from penstock.services.operations.home import open_server

    server = open_server(settings)
    server.provider.health()
    server.database.close()
    require_free(settings.host, settings.port)
    sys.stdout.flush()
    sys.stderr.flush()
    # -P: import nothing from the current folder.
    program = [sys.executable, "-P", "-m", "penstock.cli.home.launch"]
    command = [*program, "-c", str(configuration()), APPLICATION]
    served = {name: value for name, value in environment.items() if name not in OWNERS}
    os.execve(sys.executable, command, served)  # noqa: S606 - nothing here needs a shell


def configuration() -> Path:
    """Return gunicorn's configuration file, in the installed package or in the checkout."""
    package = Path(penstock.__file__).parent
    packaged = package / "deploy" / "gunicorn.conf.py"
    return packaged if packaged.exists() else package.parents[1] / "deploy" / "gunicorn.conf.py"


def require_free(host: str, port: int) -> None:
    """Raise ``Unavailable`` if the server cannot listen on ``host`` and ``port``."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = addresses[0]
        with socket.socket(family, kind, protocol) as probe:
            # As gunicorn does: an old connection in TIME_WAIT must not block the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise Unavailable(
            f"The server cannot listen on {host} port {port} ({error.strerror or error})."
            " Choose another address with --host and --port, or stop the program that uses it."
        ) from error
