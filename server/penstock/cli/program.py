"""The ``penstock`` program.

Data go to standard output, messages to standard error.  Exit codes: 0 done, 1 failure,
2 usage, 3 refused by policy or budget, 4 not reachable.
"""

import gc
import importlib
import io
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

import click

from penstock.cli.operator import Operator
from penstock.cli.options import format_option, option
from penstock.errors import BudgetExhausted, Forbidden, InvalidInput, LevelsUsedUp, PenstockError

DONE, FAILURE, USAGE, REFUSED, NOT_REACHABLE = range(5)


COMMANDS = {
    "init": "penstock.cli.home.home:init",
    "status": "penstock.cli.home.home:status",
    "user": "penstock.cli.people.users:user",
    "token": "penstock.cli.people.tokens:token",
    "tier": "penstock.cli.people.tiers:tier",
    "dataset": "penstock.cli.data.datasets:dataset",
    "query": "penstock.cli.statistics.queries:query",
    "release": "penstock.cli.statistics.releases:release",
    "stream": "penstock.cli.statistics.streams:stream",
    "proposal": "penstock.cli.people.proposals:proposal",
    "audit": "penstock.cli.home.audit:audit",
    "db": "penstock.cli.home.home:db",
    "keys": "penstock.cli.home.keys:keys",
    "backup": "penstock.cli.home.backup:backup",
    "config": "penstock.cli.home.home:config",
    "serve": "penstock.cli.home.serving:serve",
    "demo": "penstock.cli.home.demo:demo",
}
"""Where each command is, in the order in which an operator needs them."""


class Commands(click.Group):
    """Hold the commands in the order of ``COMMANDS``, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command


@click.group(
    cls=Commands,
    context_settings={
        "auto_envvar_prefix": "PENSTOCK",
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
    epilog="The home folder is PENSTOCK_HOME, or penstock-home where the command is run."
    " Exit codes: 0 done, 1 failure, 2 usage, 3 refused by policy or budget,"
    " 4 not reachable.",
)
@format_option
@option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="penstock", message="%(prog)s %(version)s")
@click.pass_obj
def commands(operator: Operator, debug: bool) -> None:
    """Operate the Penstock server of this machine: release statistics by tier."""
    operator.debug = debug


def run(arguments: Sequence[str]) -> int:
    """Run the program.  Answers with its exit code, and raises nothing."""
    operator = Operator()
    try:
        code = commands.main(list(arguments), "penstock", standalone_mode=False, obj=operator)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        operator.say("Aborted.")
        return FAILURE
    except BrokenPipeError:
        # Who reads has had enough.  What is still buffered must not fail at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except UnicodeEncodeError:
        _show_trace(operator)
        operator.say("Error: What was given is not text in UTF-8; check how the terminal encodes.")
        return USAGE
    except PenstockError as error:
        _show_trace(operator)
        operator.say(_explained(error))
        return REFUSED if isinstance(error, Forbidden | BudgetExhausted | LevelsUsedUp) else FAILURE
    except Exception as error:  # noqa: BLE001 # the edge: a defect is one line, not a traceback
        _show_trace(operator)
        # Its text may repeat what stands in the data.
        operator.say(
            f"Error: {type(error).__name__}. This is a defect: please report it, with what the"
            " command shows when PENSTOCK_DEBUG is 1."
        )
        return FAILURE


def main() -> NoReturn:
    """Run the program with what was typed, and leave with its exit code."""
    # Modules are most of what a short command makes, and none of it is garbage: looking
    # through it as often as a long-lived process does takes a quarter of the command's time.
    gc.set_threshold(100_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that lacks a character is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    # The process ends: the modules' memory goes back as a whole, not object by object.
    gc.freeze()
    sys.exit(code)


def _show_trace(operator: Operator) -> None:
    if operator.debug:
        traceback.print_exc()


def _explained(error: PenstockError) -> str:
    lines = [f"Error: {error.detail}"]
    if isinstance(error, InvalidInput):
        places = error.errors
        if len(places) > 1:
            lines += [f"  {pointer or '/'}: {detail}" for pointer, detail in places]
        elif places[0][0] and not error.detail.startswith(places[0][0]):
            lines.append(f"  This stands at {places[0][0]}.")
    if "path" in error.data:
        lines.append(f"  The file is {error.data['path']}.")
    if "server" in error.data:
        lines.append(f"  The database is on {error.data['server']}.")
    return "\n".join(lines)
