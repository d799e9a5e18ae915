"""Run ``penstock schedule``: new data and queries by a timetable, and what they will take."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from penstock.cli.operator import Operator, everything
from penstock.cli.options import format_option, option
from penstock.cli.output import Column, Document
from penstock.cli.specs import checked, content_of

if TYPE_CHECKING:
    from penstock.services.access.principals import Principal
    from penstock.services.schemas.schedules import ScheduleSpec, ScheduleView

PREVIEW_DAYS = 366


@click.group()
def schedule() -> None:
    """Register new data and queries by a timetable, within a declared total.

    Occurrences are carried out by `penstock serve`, and by `penstock work` if it runs.
    """


@schedule.command("list")
@format_option
@click.pass_obj
def listing(operator: Operator) -> None:
    """List the schedules, and when each is due."""
    from penstock.services.schedules import schedules

    views = everything(
        lambda window: schedules.listing(operator.server, operator.principal, window)
    )
    columns = (
        *(Column("name"), Column("dataset"), Column("cron"), Column("timezone")),
        *(Column("on"), Column("next_at"), Column("by"), Column("reason")),
    )
    rows = [
        (
            view.name,
            view.spec["dataset"],
            view.spec["cron"],
            view.spec["timezone"],
            view.on,
            view.next_at,
            view.by,
            view.reason,
        )
        for view in views
    ]
    operator.print(Document(views, columns, rows, note="" if views else "There are no schedules."))


@schedule.command()
@click.argument("name")
@format_option
@click.pass_obj
def show(operator: Operator, name: str) -> None:
    """Show a schedule's newest occurrences, and what became of them."""
    from penstock.services.schedules import schedules

    operator.print(_shown(schedules.show(operator.server, operator.principal, name)))


@schedule.command()
@click.argument("file")
@option("--until", type=click.DateTime(["%Y-%m-%d"]), help="Last day [default: in a year].")
@format_option
@click.pass_obj
def preview(operator: Operator, file: str, until: datetime | None) -> None:
    """Show what the schedule in FILE would charge until a day; nothing is stored.

    FILE is JSON or TOML; - is standard input.
    """
    from penstock.services.schedules.forecast import forecast

    now = operator.server.clock()
    last = until.replace(tzinfo=UTC) + timedelta(days=1) if until else None
    spec = _spec(operator, file)
    view = forecast(
        operator.server, operator.principal, spec, last or now + timedelta(days=PREVIEW_DAYS)
    )
    columns = (
        *(Column("tier"), Column("epsilon", right=True), Column("share", right=True)),
        *(Column("total", right=True), Column("by_then", right=True), Column("ends_at")),
    )
    rows = [
        (tier.tier, tier.epsilon, tier.share, tier.total, tier.by_then, tier.ends_at)
        for tier in view.tiers
    ]
    first = f", the first on {view.first[0].isoformat()}" if view.first else ""
    note = view.refusal or (
        f"{view.occurrences} occurrences until {view.until.date()}{first}. Each opens a version"
        " with these epsilons and charges these shares of it; by_then is the sum of the versions'"
        " epsilons."
    )
    note += "".join(
        f" Stream {each.stream} has {each.elements} elements and will have {each.by_then}, at no"
        f" further charge: it was charged for people in at most {each.max_steps_per_unit} of them"
        + (f"; there is no room for the one of {each.ends_at.date()}." if each.ends_at else ".")
        for each in view.streams
    )
    operator.print(Document(view, columns, rows, note=note))


@schedule.command()
@click.argument("file")
@option("--by", required=True, help="The admin for whom it acts.")
@format_option
@click.pass_obj
def create(operator: Operator, file: str, by: str) -> None:
    """Make the schedule that FILE declares, switched off.

    FILE is JSON or TOML; - is standard input.
    """
    from penstock.services.schedules import schedules

    spec = _spec(operator, file)
    operator.print(_shown(schedules.create(operator.server, _person(operator, by), spec)))


@schedule.command()
@click.argument("name")
@option("--by", required=True, help="The admin for whom it acts from now on.")
@format_option
@click.pass_obj
def on(operator: Operator, name: str, by: str) -> None:
    """Switch schedule NAME on."""
    from penstock.services.schedules import schedules

    switched = schedules.switch(operator.server, _person(operator, by), name, on=True)
    operator.print(_shown(switched))


@schedule.command()
@click.argument("name")
@format_option
@click.pass_obj
def off(operator: Operator, name: str) -> None:
    """Switch schedule NAME off; an occurrence that is under way is finished."""
    from penstock.services.schedules import schedules

    operator.print(_shown(schedules.switch(operator.server, operator.principal, name, on=False)))


@schedule.command()
@click.argument("name")
@format_option
@click.pass_obj
def remove(operator: Operator, name: str) -> None:
    """Remove schedule NAME, which is off; what it registered stays."""
    from penstock.services.schedules import schedules

    operator.print(_shown(schedules.remove(operator.server, operator.principal, name)))


def _spec(operator: Operator, file: str) -> "ScheduleSpec":
    from penstock.services.schemas.schedules import ScheduleSpec

    spec: ScheduleSpec = checked(ScheduleSpec, content_of(file, operator.settings.query_body_limit))
    return spec


def _person(operator: Operator, name: str) -> "Principal":
    from penstock.services.access.principals import acting_as

    return acting_as(operator.server, name, operator.principal)


def _shown(view: "ScheduleView") -> Document:
    columns = (
        *(Column("due_at"), Column("state"), Column("version", right=True)),
        *(Column("elements"), Column("finished_at"), Column("problem")),
    )
    rows = [
        (
            each.due_at,
            each.state,
            each.version,
            ", ".join(f"{stream} {number}" for stream, number in each.elements.items()),
            each.finished_at,
            each.problem,
        )
        for each in view.occurrences
    ]
    when = f"next on {view.next_at.isoformat()}" if view.next_at else "off"
    note = f"{view.name} is {when}, for {view.by}." + (f" {view.reason}" if view.reason else "")
    return Document(view, columns, rows, note=note)
