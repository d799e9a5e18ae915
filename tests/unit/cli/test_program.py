"""Test the program as a whole: help, late imports, output, exit codes, unexpected errors."""

import gc
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.unit.cli.program_runs import Result, Run, start

from penstock.cli import program
from penstock.cli.operator import Operator
from penstock.errors import (
    BudgetExhausted,
    ClearanceTooLow,
    Conflict,
    DatabaseUnavailable,
    Forbidden,
    InvalidInput,
    LevelsUsedUp,
    NotFound,
)

SLOW = (
    *("numpy", "duckdb", "sqlmodel", "sqlalchemy", "alembic", "scipy", "pydantic", "flask"),
    *("sqlalchemy.dialects.postgresql", "tabulate", "wcwidth", "tomllib", "http.client"),
    *(
        f"penstock.persistence.tables.{subject}"
        for subject in (
            *("idempotency", "jobs", "ledger", "proposals", "queries", "sessions", "streams"),
        )
    ),
    *(f"penstock.services.schemas.people.{subject}" for subject in ("tiers", "tokens", "users")),
    *(
        "penstock.mechanisms",
        "penstock.structures",
        "penstock.accounting",
        "penstock.connectors.duckdb",
    ),
)


def every_command() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    pending: list[tuple[tuple[str, ...], click.Command]] = [((), program.commands)]
    while pending:
        path, command = pending.pop()
        yield path, command
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                child = command.get_command(context, name)
                assert child is not None
                pending.append(((*path, name), child))


def leaves() -> list[tuple[str, ...]]:
    return sorted(path for path, command in every_command() if not isinstance(command, click.Group))


def slow_imports(*arguments: str) -> set[str]:
    """Run one command in its own process, and return which slow modules it imported."""
    script = (
        "import sys\nfrom penstock.cli import program\n"
        f"code = program.run({arguments!r})\n"
        f"print(*[name for name in {SLOW!r} if name in sys.modules], file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("query", "list", "--help")])
def test_help_imports_nothing_slow(arguments: tuple[str, ...]) -> None:
    assert slow_imports(*arguments) == set()


DATABASE = {"sqlmodel", "sqlalchemy", "pydantic"}
TABULATE = {"tabulate", "wcwidth"}
TOKENS = {"penstock.services.schemas.people.tokens"}
QUERIES = {"penstock.persistence.tables.queries"}
"""What a change needs too: its leaf says what its actor has read."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "more"),
    [
        (("tier", "list"), TABULATE),
        (("tier", "list", "--format", "csv"), set()),
        (("token", "create", "ada"), TOKENS | QUERIES),
    ],
    ids=["a table", "CSV", "a change"],
)
def test_a_command_about_people_imports_the_database_and_its_printer_alone(
    furnished: Path, arguments: tuple[str, ...], more: set[str]
) -> None:
    assert slow_imports(*arguments) == DATABASE | more


@pytest.mark.slow
def test_a_command_about_queries_imports_what_draws(furnished: Path) -> None:
    """Test that the checks above look for the right names."""
    assert {"sqlmodel", "numpy", "penstock.mechanisms", *QUERIES} <= slow_imports("query", "list")


def test_the_commands_are_those_of_the_manual() -> None:
    assert {" ".join(path) for path in leaves()} == {
        *("init", "status", "serve", "work", "demo", "release", "completion", "metrics"),
        *("schedule list", "schedule show", "schedule preview", "schedule create"),
        *("schedule on", "schedule off", "schedule remove"),
        *("request list", "request show", "request approve", "request decline"),
        *(
            "webhook list",
            "webhook retry",
            "request comment",
            "proposal list",
            "proposal approve",
            "proposal withdraw",
        ),
        *("user create", "user list", "user show", "user set-clearance", "user disable"),
        *("user import", "user invite", "user invitations", "user revoke-invitation"),
        *("group map", "group unmap", "group list"),
        *("figures", "token create", "token list", "token revoke", "tier create", "tier list"),
        *("tier change", "tier delete", "query levels", "query retire"),
        "query preview",
        *("stream list", "stream show", "stream open", "stream levels"),
        *("stream push", "stream read", "stream preview"),
        *("dataset list", "dataset show", "dataset register", "dataset example", "dataset budget"),
        *("dataset import", "dataset dummy", "dataset version", "backup create", "backup check"),
        *("dataset allowance list", "dataset allowance give", "dataset allowance take-back"),
        *("connection list", "connection check"),
        *("dataset describe", "query describe", "stream describe"),
        *("dataset correct", "dataset withdraw", "dataset shred", "stream retire"),
        *("keys status", "keys rotate", "keys drop", "keys rotate-secret", "keys drop-secret"),
        *("audit verify", "audit export", "audit checkpoint", "audit acknowledge-restore"),
        *("audit acknowledge-clock", "dataset check", "dataset same-people"),
        *("query list", "query example", "query show", "query register"),
        *("audit events", "audit exposure", "db upgrade", "db current", "config show"),
    }


@pytest.mark.parametrize("path", leaves(), ids=" ".join)
def test_every_option_shows_its_environment_variable(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(program.commands, [*path, "--help"], obj=Operator())
    assert shown.exit_code == 0
    command = dict(every_command())[path]
    options = [option for option in command.params if isinstance(option, click.Option)]
    text = " ".join(shown.output.split())
    assert text.count("[env var: PENSTOCK_") == len(options)
    for option in options:
        name = "_".join([*path, option.opts[0].removeprefix("--")]).replace("-", "_").upper()
        shared = f"PENSTOCK_{option.opts[0].removeprefix('--').upper()}"
        assert f"env var: PENSTOCK_{name}" in text or f"env var: {shared}" in text


def test_the_format_stands_before_or_behind_the_command(
    here: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = here("--format", "json", "tier", "list")
    behind = here("tier", "list", "--format", "json")
    monkeypatch.setenv("PENSTOCK_FORMAT", "json")
    assert before.out == behind.out == here("tier", "list").out
    typed = here("--format", "csv", "tier", "list")
    assert typed.out.splitlines()[0] == "name,rank,description"
    assert here("tier", "list", "--format", "csv").out == typed.out


def test_options_are_read_from_the_environment(here: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_USER_CREATE_ROLE", "admin auditor")
    monkeypatch.setenv("PENSTOCK_RELEASE_AS", "pia")
    assert here("user", "create", "max", "--format", "json").json["roles"] == ["admin", "auditor"]
    assert here("release", "visits", "--format", "json").json["tier"] == "public"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("no"), 1),
        (NotFound("no"), 1),
        (Conflict("no"), 1),
        (DatabaseUnavailable("no"), 1),
        (Forbidden("no"), 3),
        (ClearanceTooLow("no"), 3),
        (BudgetExhausted("no"), 3),
        (LevelsUsedUp("no"), 3),
        (OSError("cell 12345"), 1),
        (KeyboardInterrupt(), 1),
        (click.UsageError("no"), 2),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_error_has_its_exit_code_and_one_message(
    here: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail(self: Operator) -> None:
        raise error

    monkeypatch.setattr(Operator, "server", property(fail))
    failed = here("tier", "list")
    assert failed.code == code
    assert failed.out == ""
    assert failed.err
    assert "Traceback" not in failed.err
    assert "12345" not in failed.err  # what a library says may repeat the data


@pytest.mark.parametrize("by", ["option", "variable"])
def test_a_traceback_is_shown_when_asked_for(
    here: Run, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    if by == "variable":
        monkeypatch.setenv("PENSTOCK_DEBUG", "1")
    failed = here(*(["--debug"] if by == "option" else []), "user", "show", "nobody")
    assert failed.code == 1
    assert "Traceback" in failed.err
    assert failed.err.endswith("Error: There is no user 'nobody'.\n")


def test_every_wrong_place_of_a_spec_is_named(here: Run, tmp_path: Path) -> None:
    (tmp_path / "d.json").write_text('{"name": "d", "delta": "small", "surprise": 1}')
    refused = here("dataset", "register", "d.json")
    assert refused.code == 1
    for pointer in ("/delta", "/surprise", "/source", "/neighboring", "/budgets"):
        assert f"  {pointer}: " in refused.err
    assert "small" not in refused.err


def test_a_message_cannot_steer_the_terminal(here: Run) -> None:
    refused = here("user", "show", "\x1b[31mred\u202e")
    assert refused.code == 1
    assert "\x1b" not in refused.err
    assert "\u202e" not in refused.err


def test_a_reader_who_leaves_early_is_no_error_on_the_terminal(furnished: Path) -> None:
    command = f"{sys.executable} -m penstock audit events --format json | head -c 1"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout == "["
    assert done.stderr == ""


@pytest.mark.slow
def test_a_terminal_without_the_characters_is_written_to(
    furnished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    made = start("tier", "create", "水", folder=tmp_path, home=furnished)
    assert made.code == 0
    assert "\\u6c34" in made.out


def test_a_locked_database_is_said_to_be_locked(
    here: Run, furnished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_BUSY_TIMEOUT", "0.1")
    holder = sqlite3.connect(furnished / "database" / "penstock.db", isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        refused = here("user", "create", "max", "--role", "admin")
        assert here("user", "list").code == 0
    finally:
        holder.close()
    assert (refused.code, refused.out) == (1, "")
    assert "locked" in refused.err or "busy" in refused.err or "writ" in refused.err
    assert here("user", "create", "max", "--role", "admin").code == 0


ENDS = [
    (["user", "show", "pia"], 0, ""),
    (["user", "show", "nobody"], 1, "nobody"),
    (["user", "show"], 2, "Missing argument"),
    (["user", "create", "x", "--role", "king"], 2, "king"),
    (["no-such-command"], 2, "no-such-command"),
    (["release", "visits", "--as", "pia", "--tier", "internal"], 3, "internal"),
    (["release", "visits", "--as", "ada"], 3, "analyst"),
]


@pytest.mark.parametrize(("arguments", "code", "says"), ENDS)
def test_data_and_messages_are_kept_apart(
    here: Run, arguments: list[str], code: int, says: str
) -> None:
    require_apart(here(*arguments), code, says)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ENDS[0],
        ENDS[-1],
        *(pytest.param(*end, marks=pytest.mark.nightly) for end in ENDS[1:-1]),
    ],
)
def test_the_real_program_keeps_data_and_messages_apart(
    furnished: Path, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    require_apart(start(*arguments, folder=tmp_path, home=furnished), code, says)


def require_apart(done: Result, code: int, says: str) -> None:
    assert done.code == code
    assert bool(done.out) is (code == 0)
    assert says in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("loaded", [True, False])
def test_at_exit_modules_are_left_as_they_are_unless_one_would_complain(
    monkeypatch: pytest.MonkeyPatch, loaded: bool
) -> None:
    """DuckDB's module lists on standard error what is left of it when the process ends."""
    frozen: list[bool] = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(True))
    monkeypatch.setattr(gc, "set_threshold", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["penstock", "--version"])
    monkeypatch.delitem(sys.modules, "_duckdb", raising=False)
    if loaded:
        monkeypatch.setitem(sys.modules, "_duckdb", sys)
    with pytest.raises(SystemExit):
        program.main()
    assert frozen == ([] if loaded else [True])
