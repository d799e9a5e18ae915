"""Run the demo's main steps through the services, as any caller would."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from penstock.demo import history, stage
from penstock.demo.cast import ADMIN, AUDITOR, EVERYBODY, READERS, TIERS
from penstock.demo.history import House
from penstock.services.access.principals import OPERATOR, Principal, authenticate
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.exposure import by_query, exposure
from penstock.services.operations import home
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries import registration
from penstock.services.releases import history as handed
from penstock.services.releases import releases
from penstock.services.schemas.exposure import ExposureView
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    ReleaseRequest,
    SpecRequest,
)
from penstock.services.schemas.views import PrivacyBudget, ReleaseView
from penstock.settings import Settings

HEADLINE: Final = "hospital_patients"
"""The query that is released at every tier: a single number that is easy to understand."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Seen:
    """Hold what one reader was given of the headline query: a vector of one value."""

    reader: str
    release: ReleaseView

    @property
    def value(self) -> float:
        """Return the number that the reader saw."""
        return float(self.release.values[0])

    @property
    def lower(self) -> float:
        """Return the lower end of the interval around it, at the release's confidence."""
        return self.value - self.release.error.half_width

    @property
    def upper(self) -> float:
        """Return the upper end of the interval."""
        return self.value + self.release.error.half_width


@dataclass(frozen=True)
class Joint:
    """Hold the joint loss by the headline: as released, and with every release drawn on its own.

    ``best`` is the loss to the best-informed reader alone.
    """

    released: PrivacyBudget
    independent: PrivacyBudget
    best: PrivacyBudget


@dataclass(frozen=True)
class Story:
    """Hold who saw what, what all learned together, and how to sign in.

    ``together`` counts all that the readers were ever given of the headline, in
    ``handed_out`` hand-outs; ``everything`` all that they were given of the dataset, in
    ``release_count`` of them.  ``tokens`` are by name.  ``again`` says that the home existed
    before, so that every value is one that was handed out then.
    """

    seen: list[Seen]
    together: Joint
    handed_out: int
    everything: ExposureView
    release_count: int
    tokens: dict[str, str]
    again: bool


def tell(settings: Settings, progress: Progress) -> Story:
    """Make the demo's home, unless it exists, and release the headline at every tier.

    Raises ``Conflict`` if the folder is not a demo's home, and what the services raise.
    """
    again = stage.stands(settings.home)
    if not again:
        progress(f"Making a home in {settings.home}")
        stage.make_home(settings.home)
        home.create(settings)
    server = home.open_server(settings)
    if not again:
        _invite(server)
    issued = {
        person.name: tokens.issue(server, OPERATOR, person.name, TokenSpec()).token
        for person in EVERYBODY
    }
    if not again:
        people = {name: authenticate(server, token) for name, token in issued.items()}
        _register(server, people[ADMIN.name], progress)
        history.live(House(server, people), HEADLINE, progress)
    progress("Releasing one statistic at every tier")
    seen = [
        _see(server, authenticate(server, issued[reader.name]), reader.tier) for reader in READERS
    ]
    if not again:
        stage.finish(settings.home)
    progress("Composing what they learn together")
    auditor, dataset = authenticate(server, issued[AUDITOR.name]), seen[0].release.dataset
    readers = [reader.name for reader in READERS]
    everything = exposure.of(server, auditor, readers, dataset)
    headline = _headline(server, auditor, readers, dataset)
    best = max(seen, key=lambda reading: reading.release.guarantee.epsilon)
    alone = _headline(server, auditor, [best.reader], dataset)
    counts = [_hand_outs(server, auditor, name, dataset) for name in readers]
    server.database.close()
    return Story(
        seen,
        Joint(headline.together, headline.independent, alone.together),
        sum(queries.count(HEADLINE) for queries in counts),
        everything,
        sum(map(len, counts)),
        issued,
        again,
    )


def _invite(server: Server) -> None:
    """Register tiers and people, as the operator."""
    for name, description in TIERS.items():
        tier_changes.create(server, OPERATOR, TierSpec(name=name, description=description))
    for person in EVERYBODY:
        spec = UserSpec(name=person.name, roles=[person.role], clearance=person.tier)
        users.create(server, OPERATOR, spec)


def _register(server: Server, admin: Principal, progress: Progress) -> None:
    """Register the dataset and its queries, as the admin."""
    request = DatasetRequest.model_validate(stage.dataset(server.settings.home))
    progress(f"Registering the dataset {request.name}")
    datasets.register(server, admin, request)
    adapter: TypeAdapter[SpecRequest] = TypeAdapter(SpecRequest)
    for query in stage.queries():
        progress(f"Registering the query {query['name']}, which reads the data once")
        registration.register(server, admin, adapter.validate_python(query))


def _headline(
    server: Server, auditor: Principal, readers: Sequence[str], dataset: str
) -> by_query.SharedQueryView:
    """Return what people hold of the headline query, and what it cost."""
    page = by_query.shared(server, auditor, readers, Window(limit=LARGEST_LIMIT), dataset)
    (shared_query,) = [item for item in page.items if item.query == HEADLINE]
    return shared_query


def _hand_outs(server: Server, auditor: Principal, reader: str, dataset: str) -> list[str]:
    """Return the query of each hand-out of a dataset to a reader."""
    page = handed.listing(server, auditor, Window(limit=LARGEST_LIMIT), user=reader)
    return [item.query for item in page.items if item.dataset == dataset]


def _see(server: Server, reader: Principal, tier: str | None) -> Seen:
    answer = releases.request(server, reader, HEADLINE, ReleaseRequest(tier=tier))
    return Seen(reader.name, answer.view)
