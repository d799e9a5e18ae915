"""Run the ``penstock`` program.

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
    "user": "penstock.cli.people.invitations:user",
    "token": "penstock.cli.people.tokens:token",
    "group": "penstock.cli.people.groups:group",
    "tier": "penstock.cli.people.tiers:tier",
    "dataset": "penstock.cli.data.datasets:dataset",
    "connection": "penstock.cli.data.connections:connection",
    "query": "penstock.cli.statistics.queries:query",
    "schedule": "penstock.cli.data.schedules:schedule",
    "release": "penstock.cli.statistics.releases:release",
    "stream": "penstock.cli.statistics.streams:stream",
    "figures": "penstock.cli.statistics.paper_figures:figures",
    "request": "penstock.cli.statistics.requests:request",
    "proposal": "penstock.cli.people.proposals:proposal",
    "webhook": "penstock.cli.home.webhook:webhook",
    "metrics": "penstock.cli.home.metrics:metrics",
    "audit": "penstock.cli.home.audit:audit",
    "db": "penstock.cli.home.home:db",
    "keys": "penstock.cli.home.keys:keys",
    "backup": "penstock.cli.home.backup:backup",
    "config": "penstock.cli.home.home:config",
    "serve": "penstock.cli.home.serving:serve",
    "work": "penstock.cli.home.working:work",
    "demo": "penstock.cli.home.demo:demo",
    "completion": "penstock.cli.home.completion:completion",
}
"""The function of each command, in the order in which an operator needs them."""


class Commands(click.Group):
    """Hold the commands in the order of ``COMMANDS``; import each on first use."""

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
    epilog="The home folder is PENSTOCK_HOME [default: penstock-home in the current folder]."
    " Exit codes: 0 done, 1 failure, 2 usage, 3 refused by policy or budget,"
    " 4 not reachable.",
)
@format_option
@option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(package_name="penstock", message="%(prog)s %(version)s")
@click.pass_obj
def commands(operator: Operator, debug: bool) -> None:
    """Operate this machine's Penstock server, which releases statistics by tier."""
    operator.debug = debug


def run(arguments: Sequence[str]) -> int:
    """Run the program and return its exit code; raise nothing."""
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
        # The reader has closed the pipe.  Flushing the rest of the buffer at exit must not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except UnicodeEncodeError:
        _show_trace(operator)
        operator.say("Error: The input is not text in UTF-8; set the terminal's encoding to UTF-8.")
        return USAGE
    except PenstockError as error:
        _show_trace(operator)
        operator.say(_explained(error))
        return REFUSED if isinstance(error, Forbidden | BudgetExhausted | LevelsUsedUp) else FAILURE
    except Exception as error:  # noqa: BLE001 # the edge: a bug is one line, not a traceback
        _show_trace(operator)
        # The error's own text is left out: it may contain data.
        operator.say(
            f"Error: {type(error).__name__}. This is a bug; please report it, with the output of"
            " the command when PENSTOCK_DEBUG is 1."
        )
        return FAILURE


def main() -> NoReturn:
    """Run the program with the arguments of the process, and exit with its code."""
    # A short command allocates mostly modules, none of which is garbage: collecting as often as
    # a long-lived process does would take a quarter of the command's time.
    gc.set_threshold(500_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot show must not make the command fail.
            stream.reconfigure(errors="backslashreplace")
    code = run(sys.argv[1:])
    # At exit the operating system frees the modules' memory at once, not object by object.  Only
    # DuckDB's module must be freed: it counts at exit what is left of it, and complains of that.
    if "_duckdb" not in sys.modules:
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
            lines.append(f"  The place is {places[0][0]}.")
    if "path" in error.data:
        lines.append(f"  The file is {error.data['path']}.")
    if "server" in error.data:
        lines.append(f"  The database is on {error.data['server']}.")
    return "\n".join(lines)
