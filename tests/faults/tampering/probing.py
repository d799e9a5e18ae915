"""Define what people are told by a server, so that two servers can be compared.

Everything that the product takes from outside (time, noise) is fixed for each question, so
that a database that nobody altered always gives the same answers.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import col, select
from tests.databases.homes import Home
from tests.faults.stage import analyst

from penstock.accounting import left_of
from penstock.errors import PenstockError
from penstock.persistence.tables import Dataset, Tier
from penstock.randomness import Stream
from penstock.services.access.principals import OPERATOR, acting_as, authenticate
from penstock.services.approvals import proposals
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import idempotency
from penstock.services.ledger.accounts import open_account
from penstock.services.operations import home
from penstock.services.pagination import Window
from penstock.services.releases import releases
from penstock.services.schemas.queries import ReleaseRequest
from penstock.services.streams import stream_totals
from penstock.services.verification.verification import verify

QUERIES = ("query-0", "query-1")
STREAM = "hits"
PEOPLE = tuple(analyst(number) for number in range(3))
TOKENS = "tokens.json"
KEY, SENT = "key-0", b"what was sent with it"
HELD: tuple[dict[str, Any], ...] = ({}, {"epsilon": 0.11}, {"epsilon": 0.07})
FINER: dict[str, Any] = {"epsilon": 0.33}
NEW: dict[str, Any] = {"epsilon": 0.09}
UNWORDED = (
    *(ArithmeticError, AttributeError, LookupError, RuntimeError, SQLAlchemyError),
    *(TypeError, ValueError, OSError),
)
"""What the edges turn into a plain failure."""

NOTHING = "nothing"
Answers = Mapping[str, object]


@dataclass
class Noise:
    """Provide the noise of the question that is being asked."""

    question: str = ""

    def __call__(self) -> Stream:
        return Stream.from_key(hashlib.sha256(self.question.encode()).digest())


def moment() -> datetime:
    """Return the time of all questions."""
    return datetime(2026, 7, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Verdict:
    """Hold what an altered database came to: ``changed`` are the questions answered otherwise."""

    found: bool
    changed: tuple[str, ...]
    refused: int

    @property
    def name(self) -> str:
        if self.changed:
            return "found late" if self.found else "silent"
        return "found" if self.found else "refused" if self.refused else "harmless"


def judge(altered: Home, answers: Answers) -> Verdict:
    """Hold a home to the answers that it gave before it was altered."""
    noise = Noise()
    try:
        server = home.open_server(altered.settings(), clock=moment, randomness=noise)
    except (PenstockError, *UNWORDED):
        return Verdict(found=False, changed=(), refused=len(answers))
    try:
        found = bool(verify(server, OPERATOR).problems)
    except (PenstockError, *UNWORDED):
        found = True
    given = ask_everything(server, noise, altered)
    server.database.close()
    other = {name for name, one in given.items() if one != answers[name] and one != NOTHING}
    changed = sorted(name for name in other if not _less(given[name], answers[name]))
    refused = sum(one == NOTHING != answers[name] for name, one in given.items())
    return Verdict(found, tuple(changed), refused)


def reference(untouched: Home) -> Answers:
    """Return the answers of a home that nobody altered."""
    noise = Noise()
    server = home.open_server(untouched.settings(), clock=moment, randomness=noise)
    assert verify(server, OPERATOR).problems == []
    answers = ask_everything(server, noise, untouched)
    server.database.close()
    return answers


def ask_everything(server: Server, noise: Noise, where: Home) -> Answers:
    """Ask everybody's questions: what is held, what is too accurate, what is new, what is left."""
    found: dict[str, object] = {}
    for name, question in _questions(server, where):
        noise.question = name
        try:
            found[name] = question()
        except (PenstockError, *UNWORDED):
            found[name] = NOTHING
    return found


def _questions(server: Server, where: Home) -> Iterator[tuple[str, Callable[[], object]]]:
    for person in PEOPLE:
        for query in QUERIES:
            for wanted in (*HELD, FINER):
                yield (
                    f"{person} asks {query} {wanted}",
                    lambda p=person, q=query, w=wanted: _released(server, p, q, w),  # type: ignore[misc]  # bound now
                )
        yield f"{person} reads", lambda p=person: _totals(server, p)  # type: ignore[misc]  # bound now
    for query in QUERIES:
        yield (
            f"{query} at a new level",
            lambda q=query: _released(server, PEOPLE[1], q, NEW),  # type: ignore[misc]  # bound now
        )
    for name, token in json.loads((where.folder / TOKENS).read_text()).items():
        yield f"token {name}", lambda t=token: _entered(server, t)  # type: ignore[misc]  # bound now
    for tier in ("guest", "public", "internal"):
        yield f"left of {tier}", lambda t=tier: _left(server, t)  # type: ignore[misc]  # bound now
    yield "the dataset", lambda: datasets.show(server, OPERATOR, "sites")
    yield "the proposals", lambda: proposals.listing(server, OPERATOR, Window()).items
    yield "a keyed repeat", lambda: _repeated(server)
    yield "an approval", lambda: _approved(server)


def _released(server: Server, person: str, query: str, wanted: dict[str, Any]) -> object:
    request = ReleaseRequest.model_validate(wanted)
    view = releases.request(server, acting_as(server, person), query, request).view
    error = tuple(vars(view.error).values()) if hasattr(view.error, "__dict__") else view.error
    return tuple(view.values.tolist()), view.level.value, view.guarantee.epsilon, str(error)


def _totals(server: Server, person: str) -> object:
    view = stream_totals.read(server, acting_as(server, person), STREAM)
    return [
        (item.t, item.values.tolist(), str(item.error)) for item in view.items
    ], view.level.value


def _entered(server: Server, token: str) -> object:
    found = authenticate(server, token)
    return found.name, frozenset(found.roles)


def _repeated(server: Server) -> object:
    """Return the answer that is kept; without one the request is done as if it had no key."""
    sent = idempotency.fingerprint(server, SENT)
    found = idempotency.open_request(server, acting_as(server, "ada"), KEY, sent)
    return found if isinstance(found, idempotency.Replay) else NOTHING


def _approved(server: Server) -> object:
    """Return what comes of approving what is open."""
    made = proposals.listing(server, OPERATOR, Window(), "open").items
    done = [proposals.approve(server, acting_as(server, "bea"), one.id).state for one in made]
    return done, datasets.show(server, OPERATOR, "sites").budgets


def _left(server: Server, name: str) -> object:
    with server.database.read() as session:
        tier = session.exec(
            select(Tier).where(col(Tier.name) == name, col(Tier.deleted_at).is_(None))
        ).one()
        dataset = session.exec(select(Dataset).where(col(Dataset.name) == "sites")).one()
        account = open_account(session, dataset.id or 0, tier)
        if account is None:
            raise LookupError(name)
        left = left_of(account.account, account.spent)
    return left.loss, left.failure


def _less(given: object, before: object) -> bool:
    """Return whether it is less than before: budgets, running totals, or what one enters with."""
    match given, before:
        case (int(loss), int(failure)), (int(old_loss), int(old_failure)):
            return loss <= old_loss and failure <= old_failure
        case (list(items), level), (list(old_items), old_level):
            return level == old_level and items == old_items[: len(items)]
        case (str(name), frozenset() as roles), (str(old_name), frozenset() as old_roles):
            return name == old_name and roles <= old_roles
    return False
