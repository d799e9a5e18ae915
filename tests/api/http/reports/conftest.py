"""Provide a report of the server."""

import pytest
from tests.api.world import World

from penstock.services.access.principals import acting_as
from penstock.services.reports import signed_reports
from penstock.services.reports.signed_reports import AuditReportView


@pytest.fixture
def report(world: World) -> AuditReportView:
    return signed_reports.make(world.server, acting_as(world.server, "olga"), "sites")
