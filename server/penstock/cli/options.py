"""Options as every command declares them: each can be set in the environment too."""

import math
from datetime import UTC, datetime
from functools import partial
from typing import Any

import click

from penstock.cli.operator import Operator
from penstock.cli.output import Format

option = partial(click.option, show_envvar=True)
"""``click.option`` whose environment variable stands in ``--help``."""

FORMATS = click.Choice([form.value for form in Format])


def _choose_format(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    # BackgroundThread the command's name only what is typed counts: the variable was read before.
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
    help="How data are written [default: table].",
)
"""``--format``, which may stand before or behind a command's name."""


class Positive(click.ParamType[float]):
    """A finite number above zero, or zero as well."""

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
            self.fail(f"{value!r} is not a number above 0.", param, ctx)
        return number


class TierBudget(click.ParamType[tuple[str, float]]):
    """A tier and the epsilon of its budget, as ``TIER=EPSILON``."""

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
    """A date or a time as in ISO 8601; UTC where it names no zone."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> datetime:
        try:
            at = datetime.fromisoformat(str(value))
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a time like 2026-11-20 or 2026-11-20T12:00Z.", param, ctx)
