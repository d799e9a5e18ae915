"""Test that a report's facts are what the log says of the period, and no more."""

import base64
import json
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from tests.unit.worlds import World

from penstock.errors import Forbidden, InvalidInput, NotFound
from penstock.services import rewording
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import proofs
from penstock.services.exposure import exposure
from penstock.services.reports import report_facts
from penstock.services.reports.report_facts import ReportFactsView

PEOPLE = ("pia", "paul", "ines")


def written(world: World) -> list[dict[str, Any]]:
    """Return the leaves of the log, read from its export."""
    exported = proofs.export(world.server, OPERATOR)
    return [json.loads(base64.b64decode(leaf.leaf)) for leaf in exported]


def report(world: World, **period: Any) -> ReportFactsView:
    when = report_facts.period(world.server, period.get("start"), period.get("end"))
    return report_facts.facts(world.server, world.person("otto"), "sites", when)


def counted(world: World, start: str, end: str) -> Counter[tuple[str, str]]:
    """Return the releases of each person at each tier in a period, from the log alone."""
    return Counter(
        (leaf["tier"], leaf["user"])
        for leaf in written(world)
        if leaf["kind"] == "release" and start <= leaf["at"] < end
    )


@pytest.fixture
def busy(visits: World) -> World:
    """Ask for two queries, an hour apart, and some of them twice."""
    for name in PEOPLE:
        visits.ask(name)
    visits.clock.forward(hours=1)
    visits.push("late")
    for name in PEOPLE[1:]:
        visits.ask(name, "late")
        visits.ask(name, "late")
    visits.ask("ines", "visits", tier="public")
    visits.clock.forward(hours=1)
    return visits


def test_the_numbers_are_those_of_the_log(busy: World) -> None:
    facts = report(busy)
    expected = counted(busy, "", facts.end)
    assert {(row.tier, row.user): row.releases for row in facts.given} == expected
    assert facts.releases == expected.total() == 6
    assert facts.people == 3
    for tier in facts.tiers:
        assert tier.releases == sum(
            count for (name, _), count in expected.items() if name == tier.tier
        )


def test_a_period_has_its_first_moment_and_not_its_last(busy: World) -> None:
    start = busy.clock.now - timedelta(hours=2)
    middle = start + timedelta(hours=1)
    before, after = report(busy, end=middle), report(busy, start=middle)
    assert (before.releases, after.releases) == (3, 3)
    assert {row.best_query for row in after.given} == {"late", "visits"}
    for facts in (before, after):
        expected = counted(busy, facts.start or "", facts.end)
        assert {(row.tier, row.user): row.releases for row in facts.given} == expected
    empty = report(busy, start=middle, end=middle)
    assert (empty.releases, empty.given, empty.tiers) == (0, [], [])


def test_the_best_error_is_that_of_the_most_accurate_release(busy: World) -> None:
    by_person = {(row.tier, row.user): row for row in report(busy).given}
    assert by_person["internal", "ines"].queries == 2
    margins = [
        by_person[tier, user].best_error.half_width
        for tier, user in (("internal", "ines"), ("partner", "paul"), ("public", "pia"))
    ]
    assert margins == sorted(margins)
    assert margins[0] < margins[-1]


def test_coalitions_are_everybody_up_to_a_tier_as_the_exposure_page_composes_them(
    busy: World,
) -> None:
    coalitions = report(busy).coalitions
    assert [(row.up_to, sorted(row.users)) for row in coalitions] == [
        ("internal", ["ines", "paul", "pia"]),
        ("partner", ["paul", "pia"]),
        ("public", ["pia"]),
    ]
    assert [row.reach and row.reach.tier for row in coalitions] == [row.up_to for row in coalitions]
    for row in coalitions:
        view = exposure.of(busy.server, busy.person("otto"), row.users, "sites")
        assert (row.released, row.could_be, row.reach) == (
            view.released,
            view.could_be,
            view.reach,
        )


@pytest.mark.parametrize("shift", [1, 3600])
def test_a_period_must_be_past(busy: World, shift: int) -> None:
    now = busy.clock.now
    with pytest.raises(InvalidInput, match="has happened"):
        report_facts.period(busy.server, None, now + timedelta(seconds=shift))
    with pytest.raises(InvalidInput, match="after its end"):
        report_facts.period(busy.server, now, now - timedelta(seconds=shift))


def test_only_auditors_get_facts(busy: World) -> None:
    when = report_facts.period(busy.server, None, None)
    for name in ("pia", "ada"):
        with pytest.raises(Forbidden):
            report_facts.facts(busy.server, busy.person(name), "sites", when)
    with pytest.raises(NotFound):
        report_facts.facts(busy.server, busy.person("otto"), "absent", when)


def test_a_report_appends_nothing_to_the_log(busy: World) -> None:
    before = proofs.size(busy.server)
    report(busy)
    assert proofs.size(busy.server) == before


def test_without_an_end_the_present_moment_is_in_the_period(visits: World) -> None:
    visits.ask("pia")
    assert report(visits).releases == 1
    assert report(visits, end=visits.clock.now).releases == 0


def test_titles_are_those_that_hold_when_the_report_is_made(busy: World) -> None:
    before = report(busy)
    assert before.dataset_title == ""
    assert {row.best_title for row in before.given} == {""}
    rewording.of_dataset(busy.server, OPERATOR, "sites", {"title": "All sites"})
    for name in ("visits", "late"):
        rewording.of_query(busy.server, OPERATOR, name, {"title": f"Title of {name}"})
    after = report(busy)
    assert after.dataset_title == "All sites"
    assert [row.best_title for row in after.given] == [
        f"Title of {row.best_query}" for row in after.given
    ]
