"""Give commands what they need: this machine's settings and home, and a place to print."""

import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

import click

from penstock.cli.output import Document, Format, written
from penstock.figures import printable

if TYPE_CHECKING:
    from penstock.services.access.principals import Principal
    from penstock.services.context import Server
    from penstock.services.pagination import Page, Window
    from penstock.setting_sources import Provenance
    from penstock.settings import Settings

Item = TypeVar("Item")


class Operator:
    """Hold what commands need: settings, the server (opened on first use), and output.

    ``settings`` and ``server`` raise what ``penstock.setting_sources.load`` and
    ``penstock.services.operations.home.open_server`` raise.
    """

    def __init__(self) -> None:
        self.form = Format.TABLE
        self.debug = False

    @cached_property
    def _loaded(self) -> "tuple[Settings, list[Provenance]]":
        from penstock.setting_sources import load

        return load()

    @property
    def settings(self) -> "Settings":
        """Return the settings in force."""
        return self._loaded[0]

    @property
    def provenance(self) -> "list[Provenance]":
        """Return where each setting came from."""
        return self._loaded[1]

    @cached_property
    def server(self) -> "Server":
        """Return the server in the operator's home, opened once."""
        from penstock.services.operations.home import open_server

        return open_server(self.settings)

    @property
    def principal(self) -> "Principal":
        """Return the operator's principal."""
        from penstock.services.access.principals import OPERATOR

        return OPERATOR

    def print(self, document: Document) -> None:
        """Print data to standard output, and the note of a table to standard error."""
        click.echo(written(document, self.form), nl=False)
        if document.note and self.form is Format.TABLE:
            self.say(document.note)

    def progress(self, step: str) -> None:
        """Print the step that is running to standard error, if that is a terminal."""
        if sys.stderr.isatty():
            self.say(f"{step} ...")

    def say(self, message: str) -> None:
        """Print a message to standard error."""
        for line in message.splitlines():
            click.echo(printable(line), err=True)


def everything(page_at: "Callable[[Window], Page[Item]]", at_most: int | None = None) -> list[Item]:
    """Return all items of a list that the services return in pages, or the first ``at_most``."""
    return list(islice(_paged(page_at), at_most))


def _paged(page_at: "Callable[[Window], Page[Item]]") -> Iterator[Item]:
    from penstock.services.pagination import LARGEST_LIMIT, Window

    cursor: str | None = None
    while True:
        page = page_at(Window.parse(str(LARGEST_LIMIT), cursor))
        yield from page.items
        cursor = page.next_cursor
        if cursor is None:
            return
