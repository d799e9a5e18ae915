"""Describe both programs from their declarations in click."""

from collections.abc import Iterator

import click

from docs.reference.markdown import code, plain, table
from penstock.cli.program import commands as server_program
from penstock_client.command import commands as client_program


def page() -> str:
    """Return the page of ``penstock`` and ``penstock-client``."""
    return "\n".join(
        [
            "# Command line\n",
            (
                "Two programs: `penstock` operates the home of the machine that it runs on, and"
                " `penstock-client` is for everybody else, over HTTP. Data go to standard output,"
                " messages to standard error. Exit codes: 0 done, 1 failure, 2 usage, 3 refused by"
                " policy or budget, 4 not reachable. Every option also has a variable of the"
                " environment, which `--help` names.\n"
            ),
            *_program(server_program, "penstock"),
            *_program(client_program, "penstock-client"),
        ]
    )


def _program(program: click.Command, name: str) -> Iterator[str]:
    yield f"## {name}\n"
    yield plain(program.help or "") + "\n"
    yield from _described(program, name)
    yield from _commands(program, name)


def _commands(group: click.Command, name: str) -> Iterator[str]:
    if not isinstance(group, click.Group):
        return
    context = click.Context(group, info_name=name)
    for child in group.list_commands(context):
        command = group.get_command(context, child)
        if command is None or command.hidden:
            continue
        whole = f"{name} {child}"
        yield f"### {whole} {{ #{whole.replace(' ', '-')} }}\n"
        for paragraph in (command.help or "").replace("\b", "").split("\n\n"):
            yield plain(paragraph) + "\n"
        yield from _described(command, whole)
        yield from _commands(command, whole)


def _described(command: click.Command, name: str) -> Iterator[str]:
    """Yield the usage and the options of a command, without those of every command."""
    context = click.Context(command, info_name=name)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"{code(f'{name} {usage}'.strip())}\n"
    rows = [
        (code(record[0]), plain(record[1]))
        for parameter in command.params
        if (record := parameter.get_help_record(context)) is not None
    ]
    if rows:
        yield table(("Option", "Meaning"), rows)
