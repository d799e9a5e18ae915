"""What happens in the demo: through the services, as any caller would."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import TypeAdapter

from penstock.demo import stage
from penstock.demo.cast import ADMIN, AUDITOR, EVERYBODY, READERS, TIERS
from penstock.services import (
    datasets,
    exposure,
    history,
    home,
    queries,
    releases,
    tiers,
    tokens,
    users,
)
from penstock.services.exposure_views import ExposureView
from penstock.services.paging import LARGEST_LIMIT, Window
from penstock.services.principals import OPERATOR, Principal, authenticate
from penstock.services.server import Server
from penstock.services.specs import (
    DatasetRequest,
    QueryRequest,
    ReleaseRequest,
    TierSpec,
    TokenSpec,
    UserSpec,
)
from penstock.services.views import ReleaseView
from penstock.settings import Settings

HEADLINE: Final = "hospital_patients"
"""The query that is released at every tier: one number that anybody understands."""

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Seen:
    """What one reader was given of the headline query: a vector of one value."""

    reader: str
    release: ReleaseView

    @property
    def value(self) -> float:
        """The number that the reader saw."""
        return float(self.release.values[0])

    @property
    def lower(self) -> float:
        """Where the interval around it begins, at the release's confidence."""
        return self.value - self.release.error.half_width

    @property
    def upper(self) -> float:
        """Where the interval ends."""
        return self.value + self.release.error.half_width


@dataclass(frozen=True)
class Story:
    """What was told: who saw what, what all learned together, and how to sign in.

    ``together`` counts all that the readers were ever given of the dataset, in
    ``handed_out`` hand-outs.  ``tokens`` are by name.  ``again`` says that the home stood
    already, so that every value is one that was handed out before.
    """

    seen: list[Seen]
    together: ExposureView
    handed_out: int
    tokens: dict[str, str]
    again: bool


def tell(settings: Settings, progress: Progress) -> Story:
    """Make the demo's home, unless it stands, and release the headline at every tier.

    Raises ``Conflict`` where the folder is something else, and what the services raise.
    """
    again = stage.stands(settings.home)
    if not again:
        progress(f"Making a home in {settings.home}")
        stage.begin(settings.home)
        home.create(settings)
    server = home.open_server(settings)
    if not again:
        _invite(server)
    issued = {
        person.name: tokens.issue(server, OPERATOR, person.name, TokenSpec()).token
        for person in EVERYBODY
    }
    if not again:
        _register(server, authenticate(server, issued[ADMIN.name]), progress)
        stage.finish(settings.home)
    progress("Releasing one statistic at every tier")
    seen = [
        _see(server, authenticate(server, issued[reader.name]), reader.tier) for reader in READERS
    ]
    progress("Composing what they learn together")
    auditor, dataset = authenticate(server, issued[AUDITOR.name]), seen[0].release.dataset
    together = exposure.of(server, auditor, [reader.name for reader in READERS], dataset)
    handed_out = sum(_hand_outs(server, auditor, reader.name, dataset) for reader in READERS)
    server.database.close()
    return Story(seen, together, handed_out, issued, again)


def _invite(server: Server) -> None:
    """Tiers and people, by the operator."""
    for name, description in TIERS.items():
        tiers.create(server, OPERATOR, TierSpec(name=name, description=description))
    for person in EVERYBODY:
        spec = UserSpec(name=person.name, roles=[person.role], clearance=person.tier)
        users.create(server, OPERATOR, spec)


def _register(server: Server, admin: Principal, progress: Progress) -> None:
    """The dataset and its queries, by the admin."""
    request = DatasetRequest.model_validate(stage.dataset(server.settings.home))
    progress(f"Registering the dataset {request.name}")
    datasets.register(server, admin, request)
    adapter: TypeAdapter[QueryRequest] = TypeAdapter(QueryRequest)
    for query in stage.queries():
        progress(f"Registering the query {query['name']}, which reads the data once")
        queries.register(server, admin, adapter.validate_python(query))


def _hand_outs(server: Server, auditor: Principal, reader: str, dataset: str) -> int:
    page = history.listing(server, auditor, Window(limit=LARGEST_LIMIT), user=reader)
    return sum(item.dataset == dataset for item in page.items)


def _see(server: Server, reader: Principal, tier: str | None) -> Seen:
    answer = releases.request(server, reader, HEADLINE, ReleaseRequest(tier=tier))
    return Seen(reader.name, answer.view)
