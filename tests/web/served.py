"""Provide a server as it runs, whose pages have something on them."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.contracts.running import free_port, running
from tests.databases.homes import PATIENCE, Home, Homes

from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.people import tokens, users
from penstock.services.schemas.people.roles import Role
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec

START_SECONDS = 300.0
"""A machine that is slow and busy at once starts it all the same."""


@dataclass
class Served:
    """Hold where the pages are, and the home behind them, which a test may change as well."""

    url: str
    server: Server
    invited: int = 0

    def invite(self, role: Role, clearance: str | None = None) -> str:
        """Return the token of somebody new."""
        self.invited += 1
        name = f"{role}{self.invited}"
        users.create(self.server, OPERATOR, UserSpec(name=name, roles=[role], clearance=clearance))
        return self.issue(name)

    def issue(self, name: str) -> str:
        """Return another token of somebody who is there."""
        return tokens.issue(self.server, OPERATOR, name, TokenSpec()).token

    def revoke(self, token: str, name: str) -> None:
        """End a token."""
        tokens.revoke(self.server, OPERATOR, name, token.split("_")[1])


@contextmanager
def serving(
    original: Home, folder: Path, settings: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Yield the started server over a copy of a furnished home, below ``folder``.

    ``settings`` are variables of its environment.
    """
    made = Homes(None).copy(original, folder / "home")
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    environment = {**_environment(made, port, url), **(settings or {})}
    command = [sys.executable, "-m", "penstock", "serve"]
    with running(command, folder, environment, port, START_SECONDS):
        opened = home.open_server(made.settings(public_url=url, busy_timeout=PATIENCE))
        yield Served(url, opened)
        opened.database.close()


def _environment(made: Home, port: int, url: str) -> dict[str, str]:
    own = {
        "PENSTOCK_PORT": str(port),
        "PENSTOCK_PUBLIC_URL": url,
        "PENSTOCK_WORKERS": "1",
        "PENSTOCK_BUSY_TIMEOUT": str(PATIENCE),
    }
    return {**os.environ, **made.environment, **own}
