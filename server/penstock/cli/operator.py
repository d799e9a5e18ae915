"""Who runs a command: the operator, with this machine's settings and home."""

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
    from penstock.settings import (
        Settings,
    )

Item = TypeVar("Item")


class Operator:
    """What commands are given: settings and server when they ask, and where to print.

    ``settings`` and ``server`` raise what ``penstock.setting_sources.load`` and
    ``services.home.open_server`` raise.
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
        """The settings in force."""
        return self._loaded[0]

    @property
    def provenance(self) -> "list[Provenance]":
        """Where each setting came from."""
        return self._loaded[1]

    @cached_property
    def server(self) -> "Server":
        """The server in the operator's home, opened once."""
        from penstock.services.operations.home import open_server

        return open_server(self.settings)

    @property
    def principal(self) -> "Principal":
        """The operator, as the services know them."""
        from penstock.services.access.principals import OPERATOR

        return OPERATOR

    def print(self, document: Document) -> None:
        """Data to standard output; a note beside a table goes to standard error."""
        click.echo(written(document, self.form), nl=False)
        if document.note and self.form is Format.TABLE:
            self.say(document.note)

    def progress(self, step: str) -> None:
        """What takes its time, told on a terminal alone."""
        if sys.stderr.isatty():
            self.say(f"{step} ...")

    def say(self, message: str) -> None:
        """A message, to standard error."""
        for line in message.splitlines():
            click.echo(printable(line), err=True)


def everything(page_at: "Callable[[Window], Page[Item]]", at_most: int | None = None) -> list[Item]:
    """All items of a list that the services answer in pages, or the first ``at_most``."""
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
