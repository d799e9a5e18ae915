"""Make a history for the demo, so that every page shows something.

Each action is one call of a service by a person who may do it, at the time of the clock: the log
records it, and verifies.  Nothing is backdated.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from pydantic import TypeAdapter

from penstock.demo import calls, stage
from penstock.demo.cast import (
    ADMIN,
    AUDITOR,
    LATER_TIER,
    MOVED,
    NEWCOMERS,
    READERS,
    REPORTER,
    SECOND,
    SHUT_OUT,
    Person,
)
from penstock.errors import Conflict
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR, Principal, authenticate
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import BudgetChange, Proposed, QueryRetirement
from penstock.services.audit import exports
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import idempotency
from penstock.services.jobs.jobs import JobRequest
from penstock.services.jobs.runner import Runner
from penstock.services.operations import key_rotation
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries import queries, registration
from penstock.services.releases import releases
from penstock.services.requests import asking, decisions
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.levels import LevelSpec
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import (
    BudgetSpec,
    DatasetRequest,
    LevelsChange,
    PushedVectorRequest,
    ReleaseRequest,
    SpecRequest,
)
from penstock.services.schemas.requests.specs import AskRequest, DecisionRequest
from penstock.services.schemas.streams import ElementsRequest, StreamRequest
from penstock.services.streams import stream_elements, stream_totals, streams

DATASET: Final = "health_insurance_experiment"
STREAM: Final = "invented_calls"
RAISED: Final = "people_by_year"
LEFT: Final = "spending_by_plan"
"""The query that the most trusted reader has not requested yet, so that one is left to try."""

RETIRED: Final = "stays_of_all"
PROPOSED: Final = "people_by_plan"
"""The query whose retirement is proposed; the person who tries the demo decides about it."""

DECLINED: Final = "spending_by_year"
"""The query that was requested and declined; the other one waits for the admin."""

PATIENCE_SECONDS: Final = 60.0
"""The time to wait for a job, which takes a moment."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class House:
    """Hold the server, and the people who act on it by name."""

    server: Server
    people: dict[str, Principal]

    def who(self, person: Person) -> Principal:
        """Return the principal of a person."""
        return self.people[person.name]

    def ask(self, person: Person, query: str, **level: str | float) -> None:
        """Request a query for a person, at their own level or a more private one."""
        request = ReleaseRequest.model_validate(level)
        releases.request(self.server, self.who(person), query, request)


def live(house: House, headline: str, progress: Progress) -> None:
    """Make all of the history but the headline's releases.  Raises what services raise."""
    progress("Changing people, budgets and levels; pushing a stream; making and deciding proposals")
    _hire(house)
    _move(house, headline)
    _fund(house)
    _register(house, progress)
    _stream(house)
    _read(house, headline)
    _raise(house)
    _insert(house)
    _together(house)
    _request(house)
    _housekeeping(house)
    _export(house)


def _sign_in(house: House, person: Person) -> None:
    issued = tokens.issue(house.server, OPERATOR, person.name, TokenSpec(expires_in=86_400))
    house.people[person.name] = authenticate(house.server, issued.token)


def _hire(house: House) -> None:
    """Add further people, one of whom waits for a clearance."""
    for person in NEWCOMERS:
        spec = UserSpec(name=person.name, roles=[person.role], clearance=person.tier)
        users.create(house.server, house.who(ADMIN), spec)
        _sign_in(house, person)


def _move(house: House, headline: str) -> None:
    """Promote a person twice and demote them once; disable another after a release."""
    house.ask(MOVED, headline)
    for tier in ("internal", "partner"):
        users.change(house.server, house.who(ADMIN), MOVED.name, UserChange(clearance=tier))
        house.ask(MOVED, headline)
    house.ask(MOVED, "years_by_visits")
    house.ask(SHUT_OUT, headline)
    house.ask(SHUT_OUT, "doctor_visits_by_plan", tier="public")
    users.disable(house.server, house.who(ADMIN), SHUT_OUT.name)


def _fund(house: House) -> None:
    """Raise two budgets that are too small for what follows."""
    for tier, epsilon in (("internal", 5), ("partner", 3)):
        change = DatasetChange(budgets=_granting(tier, epsilon).budgets)
        budgets.change(house.server, house.who(ADMIN), DATASET, change)


def _register(house: House, progress: Progress) -> None:
    adapter: TypeAdapter[SpecRequest] = TypeAdapter(SpecRequest)
    for query in stage.queries("later/queries"):
        progress(f"Registering the query {query['name']}, which reads the data once")
        registration.register(house.server, house.who(ADMIN), adapter.validate_python(query))


def _read(house: House, headline: str) -> None:
    """Let each reader request what they see but the headline, each in another order."""
    for place, reader in enumerate(READERS):
        window = Window(limit=LARGEST_LIMIT)
        seen = queries.listing(house.server, house.who(reader), window).items
        names = [reading.name for reading in seen][::-1]
        for name in names[place:] + names[:place]:
            if name != headline and (reader, name) != (READERS[-1], LEFT):
                house.ask(reader, name)
    paul, ines, rosa = READERS[1:]
    house.ask(rosa, "doctor_visits_by_plan", tier="public")
    house.ask(rosa, "years_by_number_of_visits", tier="partner")
    house.ask(paul, "people_by_year", tier="public")
    house.ask(ines, "doctor_visits_by_plan", epsilon=0.5)


def _raise(house: House) -> None:
    """Raise a level above the most accurate one that was charged; the data are read again."""
    rosa = READERS[-1]
    change = LevelsChange(levels={str(rosa.tier): LevelSpec(epsilon=2)})
    queries.change(house.server, house.who(ADMIN), RAISED, change)
    house.ask(rosa, RAISED)


def _insert(house: House) -> None:
    """Insert a tier between two that are in use; it begins with what the one below may see."""
    server, admin = house.server, house.who(ADMIN)
    below = str(READERS[0].tier)
    description = "journalists under embargo"
    tier_changes.create(
        server, admin, TierSpec(name=LATER_TIER, above=below, description=description)
    )
    spec = UserSpec(name=REPORTER.name, roles=[REPORTER.role], clearance=LATER_TIER)
    users.create(server, admin, spec)
    _sign_in(house, REPORTER)
    house.ask(REPORTER, "years_by_visits")
    change = LevelsChange(levels={LATER_TIER: LevelSpec(epsilon=0.5)})
    queries.change(server, admin, "doctor_visits_by_plan", change)
    house.ask(REPORTER, "doctor_visits_by_plan")


def _stream(house: House) -> None:
    """Push invented calls: by day, in several pushes with reads in between; and by topic."""
    server, admin = house.server, house.who(ADMIN)
    paul, ines, rosa = (house.who(reader) for reader in READERS[1:])
    datasets.register(server, admin, DatasetRequest.model_validate(stage.later("help_desk")))
    streams.open_stream(server, admin, StreamRequest.model_validate(stage.later(STREAM)))
    for first, values in calls.pushes():
        sent = ElementsRequest.model_validate({"from": first, "values": values})
        stream_elements.push(server, admin, STREAM, sent)
        stream_totals.read(server, ines, STREAM, first=first)
    topics = {**stage.later("invented_topics"), "values": calls.by_topic()}
    registration.register(server, admin, PushedVectorRequest.model_validate(topics))
    stream_totals.read(server, paul, STREAM)
    stream_totals.read(server, rosa, STREAM)
    stream_totals.read(server, rosa, STREAM, tier="partner")


def _together(house: House) -> None:
    """Make one proposal for each outcome that takes no week; the rule is on for these alone."""
    settings = house.server.settings.model_copy(update={"two_person_rule": True})
    server = replace(house.server, settings=settings)
    admin, other = house.who(ADMIN), house.who(SECOND)

    def proposed(act: Proposed) -> str:
        made = proposals.do_or_propose(server, admin, act)
        if not isinstance(made, ProposalView):
            raise TypeError(f"{act.act} was done by one person")
        return made.id

    proposals.approve(server, other, proposed(QueryRetirement(query=RETIRED)))
    proposals.withdraw(server, other, proposed(_granting("restricted", 8.6)))
    lapsed = proposed(_granting("restricted", 8.3))
    budgets.change(server, admin, DATASET, DatasetChange(budgets=_granting("partner", 3.5).budgets))
    with suppress(Conflict):
        # The budgets have changed: it is refused, and stays on record as failed.
        proposals.approve(server, other, lapsed)
    proposed(QueryRetirement(query=PROPOSED))


def _request(house: House) -> None:
    """Request two queries for two purposes; one is declined, the other waits for the admin."""
    server, rosa = house.server, house.who(READERS[-1])
    adapter: TypeAdapter[AskRequest] = TypeAdapter(AskRequest)
    for spec in stage.queries("later/requests"):
        view = asking.ask(server, rosa, adapter.validate_python(spec))
        if spec["name"] == DECLINED and view.id is not None:
            comment = "This takes most of what is left; request fewer years, or a larger margin."
            refusal = DecisionRequest(decision="decline", comment=comment)
            decisions.decide(server, house.who(SECOND), view.id, refusal)


def _granting(tier: str, epsilon: float) -> BudgetChange:
    return BudgetChange(dataset=DATASET, budgets={tier: BudgetSpec(epsilon=epsilon)})


def _housekeeping(house: House) -> None:
    """Issue a token that ends at once, revoke another, and rotate the provider's keys."""
    server, admin = house.server, house.who(ADMIN)
    paul, ines = READERS[1].name, READERS[2].name
    tokens.issue(server, admin, paul, TokenSpec(expires_in=1))
    issued = tokens.issue(server, admin, ines, TokenSpec(expires_in=7 * 86_400))
    tokens.revoke(server, admin, ines, issued.prefix)
    # Nobody else uses this home now, so a new key disturbs no request.
    key_rotation.rotate(server, OPERATOR)


def _export(house: House) -> None:
    """Export the log to a file, in a job that the auditor may return to."""
    server, auditor = house.server, house.who(AUDITOR)
    kind = "export_log"
    request = idempotency.fingerprint(server, kind.encode(), b"")
    Runner(server, patience=PATIENCE_SECONDS, pulse=None).start(
        auditor,
        JobRequest(kind=kind, key="form-demo", request=request),
        lambda run: exports.write(server, auditor, run.piece, run.attempt, run),
    )
