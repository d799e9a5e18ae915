"""Declare options and types that commands share; each option has an environment variable."""

import math
from datetime import UTC, datetime
from functools import partial
from typing import Any

import click

from penstock.cli.operator import Operator
from penstock.cli.output import Format

option = partial(click.option, show_envvar=True)
"""``click.option``, with its environment variable shown in ``--help``."""

FORMATS = click.Choice([form.value for form in Format])


def _choose_format(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    # After the command's name only a typed option counts: the environment variable was read
    # with the options before it.
    typed = context.get_parameter_source(parameter.name or "") is (
        click.core.ParameterSource.COMMANDLINE
    )
    operator = context.find_object(Operator)
    if operator is not None and value is not None and (typed or context.parent is None):
        operator.form = Format(value)


format_option = option(
    "--format",
    "form",
    envvar="PENSTOCK_FORMAT",
    type=FORMATS,
    expose_value=False,
    callback=_choose_format,
    help="Format of the output [default: table].",
)
"""The option ``--format``, which may stand before or after a command's name."""


class Positive(click.ParamType[float]):
    """Convert a finite number above zero, or with ``or_zero`` also zero."""

    name = "number"

    def __init__(self, *, or_zero: bool = False) -> None:
        self._or_zero = or_zero

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not (0 < number < math.inf or (self._or_zero and number == 0)):
            least = "of at least 0" if self._or_zero else "above 0"
            self.fail(f"{value!r} is not a number {least}.", param, ctx)
        return number


class TierBudget(click.ParamType[tuple[str, float]]):
    """Convert a tier and the epsilon of its budget, given as ``TIER=EPSILON``."""

    name = "budget"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, float]:
        if isinstance(value, tuple):
            return value
        tier, separator, epsilon = str(value).rpartition("=")
        if not separator or not tier:
            self.fail(f"{value!r} is not TIER=EPSILON.", param, ctx)
        return tier, Positive().convert(epsilon, param, ctx)


class Moment(click.ParamType[datetime]):
    """Convert a date or a time in ISO 8601, in UTC if it has no offset."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        try:
            at = datetime.fromisoformat(str(value))
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time like 2026-11-20 or 2026-11-20T12:00Z.", param, ctx)
