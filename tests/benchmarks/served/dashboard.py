"""Measure the pages for people: how long each takes and how much it weighs, one client over HTTP.

Two homes are served, each by one worker, with the time quantum off: that of the demo, and
one with 200 queries and 10,000 leaves, which services made one by one.  Every address of every
page is asked for by an analyst of the highest tier, an admin and an auditor.  Of the addresses
of a page the slowest one counts.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.database.world import DATASET, PATIENCE, TIERS, World, fresh_world
from tests.benchmarks.figures import Figure, Goal
from tests.benchmarks.pairing import quartiles
from tests.benchmarks.served.browsing import Browser, browsing, rounds
from tests.benchmarks.served.serving import served
from tests.web.every_page.addresses import Asked, addresses, questions

from penstock.demo import history, stage, story
from penstock.demo.cast import ADMIN, AUDITOR, READERS
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.people import tokens, users
from penstock.services.schemas.people.roles import Role
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.settings import Settings

OF_THE_DEMO = Goal(100, at_most=True)
OF_MANY = Goal(300, at_most=True)
LIGHT = Goal(100, at_most=True)

NOT_FOR_EYES = {"work_file", "checkpoint", "download", "signed_in", "sent_form"}
"""Files, a page that only leads on, and one that a refusal alone leads to."""


@dataclass(frozen=True)
class Setting:
    """Hold how often each address is asked for, and how much the large home holds."""

    rounds: int = 15
    queries: int = 200
    leaves: int = 10_000
    names: int = 3


def measure(setting: Setting = Setting()) -> Sequence[Figure]:
    """Return both homes, one after the other."""
    return [*_without_data(), *_of_the_demo(setting), *_of_many(setting)]


def _without_data() -> list[Figure]:
    """Return the heaviest page of a home without registrations, with all files that it loads."""
    with TemporaryDirectory(prefix="penstock-benchmark-") as folder:
        settings = Settings(home=Path(folder) / "home", log_patience=PATIENCE)
        home.create(settings)
        server = home.open_server(settings)
        users.create(server, OPERATOR, UserSpec(name="one", roles=["analyst", "admin", "auditor"]))
        token = tokens.issue(server, OPERATOR, "one", TokenSpec()).token
        with served(settings.home, 1, 0.0) as port, browsing(port, token) as browser:
            found = _addresses(server, browser, token, {}, 1)
            weights = {
                page: browser.weight(browser.get(group[0])[1]) / 1000
                for page, group in found.items()
            }
        server.database.close()
    heaviest = max(weights, key=lambda page: weights[page])
    label = f"nothing registered: {heaviest}, the heaviest of {len(weights)} pages"
    return [Figure(label, weights[heaviest], "kB", None, LIGHT)]


def _of_the_demo(setting: Setting) -> list[Figure]:
    with TemporaryDirectory(prefix="penstock-benchmark-") as folder:
        settings = stage.settings(Path(folder) / "home", 8080)
        told = story.tell(settings, lambda _: None)
        server = home.open_server(settings)
        people = [reader.name for reader in READERS]
        file = settings.home / "data" / "health_insurance_experiment.parquet"
        asked = {
            **questions(server, history.DATASET, story.HEADLINE, people, str(READERS[-1].tier)),
            "new_dataset": ("", f"?uri={file}"),
        }
        known: dict[str, str] = {
            person.role: told.tokens[person.name] for person in (READERS[-1], ADMIN, AUDITOR)
        }
        found = _measured("demo", server, asked, known, setting, 1000, OF_THE_DEMO)
        server.database.close()
        return found


def _of_many(setting: Setting) -> list[Figure]:
    with fresh_world() as world:
        people = furnish(world, setting.queries, setting.leaves)
        roles: tuple[Role, ...] = ("admin", "auditor")
        known: dict[str, str] = {"analyst": world.token(people[-1])}
        for role in roles:
            users.create(world.server, OPERATOR, UserSpec(name=role, roles=[role]))
            known[role] = tokens.issue(world.server, OPERATOR, role, TokenSpec()).token
        asked = questions(world.server, DATASET, "many-0", people, list(TIERS)[-1])
        return _measured("large home", world.server, asked, known, setting, setting.names, OF_MANY)


def furnish(world: World, queries: int, leaves: int) -> list[str]:
    """Add so many queries, and hand-outs of each at every tier until there are so many leaves."""
    for number in range(queries):
        world.add_query(f"many-{number}", 4)
    people: list[str] = []
    handed = 0
    while handed < leaves:
        people.append(f"reader-{len(people)}")
        reader = world.add_analyst(people[-1])
        for number in range(queries):
            for tier in TIERS:
                world.ask(reader, f"many-{number}", tier=tier)
                handed += 1
    return people


def _measured(
    name: str,
    server: Server,
    asked: Asked,
    known: dict[str, str],
    setting: Setting,
    most: int,
    goal: Goal,
) -> list[Figure]:
    figures: list[Figure] = []
    with served(server.settings.home, 1, 0.0) as port:
        for role, token in known.items():
            with browsing(port, token) as browser:
                found = _addresses(server, browser, token, asked, most)
                taken = rounds(
                    browser, [one for group in found.values() for one in group], setting.rounds
                )
                for page, group in found.items():
                    slowest = max(group, key=lambda one: statistics.median(taken[one]))
                    weight = max(browser.weight(browser.get(one)[1]) for one in group) / 1000
                    label = f"{name}, {role}: {page} ({len(group)}), {weight:.0f} kB"
                    figures.append(_time(label, taken[slowest], goal))
    return figures


def _addresses(
    server: Server, browser: Browser, token: str, asked: Asked, most: int
) -> dict[str, list[str]]:
    """Return by page the addresses that answer with a page."""
    found: dict[str, list[str]] = {}
    for page, address in addresses(server, authenticate(server, token), asked, most):
        if page.name not in NOT_FOR_EYES and browser.get(address)[0] == 200:
            found.setdefault(page.name, []).append(address)
    return found


def _time(name: str, seconds: Sequence[float], goal: Goal) -> Figure:
    milliseconds = [one * 1000 for one in seconds]
    value = statistics.median(milliseconds)
    return Figure(name, value, "ms", quartiles(milliseconds), goal)
