"""Hold the options that stand before a command's name, and the format that may stand behind it."""

from dataclasses import dataclass, field, replace

import click

from penstock_client._show.output import Document, Format, written
from penstock_client.client import Client


@dataclass(frozen=True)
class Settings:
    """Hold the options that stand before a command's name."""

    url: str | None
    token: str | None = field(repr=False)
    form: Format
    timeout: float
    insecure: bool

    def connect(self) -> Client:
        return Client(self.url, self.token, timeout=self.timeout, insecure=self.insecure)

    def print(self, document: Document) -> None:
        click.echo(self.shown(document, self.form), nl=False)

    def shown(self, document: Document, form: Format) -> str:
        """Return a document as text; the note of a table is written to standard error."""
        if document.note and form is Format.TABLE:
            click.echo(document.note, err=True)
        return written(document, form)


def _choose_format(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    # After the command's name only a typed option counts: the environment variable was read
    # with the options before it.
    typed = context.get_parameter_source(parameter.name or "")
    settings = context.find_object(Settings)
    if typed is click.core.ParameterSource.COMMANDLINE and settings is not None and value:
        context.obj = replace(settings, form=Format(value))


format_option = click.option(
    "--format",
    "form",
    envvar="PENSTOCK_FORMAT",
    show_envvar=True,
    type=click.Choice([form.value for form in Format]),
    expose_value=False,
    callback=_choose_format,
    help="Format of the output [default: table].",
)
"""The option ``--format`` after a command's name; it may stand before the name as well."""
