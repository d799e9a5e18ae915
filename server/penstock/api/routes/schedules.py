"""Handle requests about schedules: new data and queries by a timetable."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from penstock.api.operations import ADMIN, OVERSEER, Operations, Parameter
from penstock.api.request_context import Call
from penstock.services.pagination import Page, Window
from penstock.services.schedules import forecast, schedules
from penstock.services.schemas.schedules import (
    ForecastView,
    ScheduleChange,
    ScheduleSpec,
    ScheduleView,
)

operations = Operations()

LONGEST_DAYS = 3660


@operations.get("/schedules", OVERSEER)
def list_schedules(call: Call, window: Window) -> Page[ScheduleView]:
    """List the schedules in the order in which they were made."""
    return schedules.listing(call.server, call.principal, window)


@operations.post("/schedules", ADMIN, refusals=(404, 409))
def create_schedule(call: Call, request: ScheduleSpec) -> ScheduleView:
    """Make a schedule, switched off: a dataset's new version, and queries on it, by a timetable.

    In the file's name and in names of queries `{date}` stands for the occurrence's date, and
    `{time}` for its time, in the time zone. Without a date in it the file or view is refilled
    before each occurrence; one whose data are those of an earlier version is skipped, and nothing
    is charged.
    """
    return schedules.create(call.server, call.principal, request)


@operations.post("/schedules/preview", ADMIN, status=200, refusals=(404, 409))
def preview_schedule(
    call: Call,
    request: ScheduleSpec,
    days: Annotated[
        int,
        Field(ge=1, le=LONGEST_DAYS),
        Parameter("The number of days to look ahead; 366 by default."),
    ] = 366,
) -> ForecastView:
    """Preview what a schedule would register and charge; nothing is stored, and no file is read.

    The body is what `POST /schedules` takes. Each occurrence opens a version with the stated
    budgets and charges the same shares of it; the sum of the versions' epsilons grows until `total`
    refuses the next one.
    """
    until = call.server.clock() + timedelta(days=days)
    return forecast.forecast(call.server, call.principal, request, until)


@operations.get("/schedules/{schedule}", OVERSEER)
def show_schedule(call: Call, schedule: str) -> ScheduleView:
    """Show a schedule and its newest occurrences."""
    return schedules.show(call.server, call.principal, schedule)


@operations.patch("/schedules/{schedule}", ADMIN)
def change_schedule(call: Call, schedule: str, request: ScheduleChange) -> ScheduleView:
    """Switch a schedule on, from now and for the caller, or off.

    It acts for whoever switched it on, with the role that they have then. An occurrence that is
    under way is finished. With `made_at` a schedule that was removed and made again under the same
    name is refused with 409.
    """
    return schedules.switch(
        call.server, call.principal, schedule, on=request.on, made_at=request.made_at
    )


@operations.delete("/schedules/{schedule}", ADMIN, refusals=(409,))
def remove_schedule(call: Call, schedule: str) -> ScheduleView:
    """Remove a schedule that is switched off; what it registered stays."""
    return schedules.remove(call.server, call.principal, schedule)
