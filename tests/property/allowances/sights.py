"""Check what everybody is shown: queries out of sight nowhere, and exposures as they were told."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING

from tests.property.allowances.record import DELTA, Made, highest_budgets
from tests.property.allowances.textbook import epsilon, gaussian_epsilon
from tests.property.allowances.world import PEOPLE, wish

from penstock.errors import PenstockError
from penstock.persistence.tables import Query, Tier
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.datasets import allowances, datasets
from penstock.services.exposure import exposure
from penstock.services.pagination import Window
from penstock.services.previews import query_preview
from penstock.services.queries import queries
from penstock.services.releases import history, releases
from penstock.services.requests import views
from penstock.services.schemas.queries import RegisteredQuery, ReleaseRequest
from penstock.spec_fields import without_number

if TYPE_CHECKING:
    from tests.property.allowances.machine import Moves

COALITIONS = list(
    chain.from_iterable(combinations(sorted(PEOPLE), size) for size in range(1, len(PEOPLE) + 1))
)
EVERYTHING = Window(limit=1000)
CLOSE = 1 + 1e-6


def place_of(machine: "Moves", who: str) -> tuple[Principal, Tier | None]:
    """Return somebody, and the tier that they have now."""
    person = machine.people[who]
    return person, machine.rows.tier_of(person.user_id or 0)


def check_floors(machine: "Moves") -> None:
    """Require that no tier may see a query of an analyst above it, whoever has that tier."""
    rows, made = machine.rows, machine.record.made
    for tier in rows.alive:
        for query in rows.allowed(tier).keys() & made.keys():
            assert not rows.is_below(tier, made[query].floor), "a floor gave way"


def check_maker(machine: "Moves", who: str, floor: int) -> None:
    """Require that who registered a query at ``floor`` never held a tier above it."""
    rows, user = machine.rows, machine.people[who].user_id or 0
    order = [tier.id for tier in rows.facts.standing()]
    ever = [order.index(key) for key in rows.facts.holds[user] if key in order]
    assert max(ever) <= order.index(floor), f"{who} asks below what they had read"


def check_listed(machine: "Moves", who: str) -> None:
    """Require that somebody is shown what their tier may see, and is told of nothing else."""
    person, tier = place_of(machine, who)
    rows, made = machine.rows, machine.record.made
    allowed = rows.allowed(tier)
    expected = [rows.facts.queries[query].name for query in allowed]
    page = queries.listing(machine.server, person, EVERYTHING)
    short = Counter(name.partition("@")[0] for name in expected)
    assert Counter(view.name.partition("@")[0] for view in page.items) == short
    shown = _shown_to(machine, person)
    for query, row in rows.facts.queries.items():
        if query not in made or row.name.startswith("same"):
            continue
        # Nor is it named by what it was paid with: a tier that was inserted above a deleted one
        # pays for what that saw, and sees it no more.
        if query not in allowed:
            assert row.name.partition("@")[0] not in shown, f"{who} is told of {row.name}"


def _shown_to(machine: "Moves", person: Principal) -> str:
    """Return the text of all that somebody is shown of the dataset beside the list of queries."""
    server = machine.server
    looks: list[Callable[[], object]] = [
        lambda: budgets.show(server, person, "stays"),
        lambda: datasets.show(server, person, "stays"),
        lambda: allowances.listing(server, person, "stays"),
        lambda: views.listing(server, person, EVERYTHING, None),
    ]
    return "\n".join(repr(_or_nothing(look)) for look in looks)


def _or_nothing(look: Callable[[], object]) -> object:
    try:
        return look()
    except PenstockError as problem:
        return problem.detail, dict(problem.data)


def check_hidden(machine: "Moves", who: str, turn: int) -> None:
    """Require that one of the queries of analysts does not exist for somebody out of its sight."""
    person, tier = place_of(machine, who)
    made = machine.record.made
    key = sorted(made)[turn % len(made)]
    query = machine.rows.facts.queries[key]
    if key in machine.rows.allowed(tier):
        assert queries.show(machine.server, person, query.name).spec
        return
    short = query.name.partition("@")[0]
    for name in (query.readable, *([] if short == "same" else [short])):
        _require_unknown(machine, person, made[key], query, name)
    _require_same_preview(machine, person, tier, query)


def _require_unknown(
    machine: "Moves", person: Principal, made: Made, query: Query, name: str
) -> None:
    looks: list[Callable[[], object]] = [
        lambda: queries.show(machine.server, person, name),
        lambda: query_preview.preview(machine.server, person, RegisteredQuery(query=name)),
        lambda: releases.request(machine.server, person, name, ReleaseRequest()),
    ]
    for look in looks:
        outcome = _or_nothing(look)
        assert outcome == (f"There is no query {name!r}.", {}), (
            f"{person.name} found {query.name}, which is {made.maker}'s"
        )
    if not _was_given(machine, person, query):
        page = history.listing(machine.server, person, EVERYTHING)
        assert query.readable not in {item.query for item in page.items}


def _was_given(machine: "Moves", person: Principal, query: Query) -> bool:
    return (person.name, query.name) in machine.given


def _require_same_preview(
    machine: "Moves", person: Principal, tier: Tier | None, query: Query
) -> None:
    """Require that a preview of a hidden statistic is that of a statistic without a query."""
    if tier is None:
        return
    told = _or_nothing(
        lambda: query_preview.preview(machine.server, person, wish(query, "fresh", tier.name))
    )
    assert query.name.partition("@")[0] not in repr(told)


def check_release(machine: "Moves", who: str, name: str, target: ReleaseRequest) -> None:
    """Request a release; whoever gets one may see the query, at no finer level than theirs."""
    person, tier = place_of(machine, who)
    key, query = next((k, q) for k, q in machine.rows.facts.queries.items() if q.name == name)
    answer = machine.attempt(
        "release", lambda: releases.request(machine.server, person, name, target)
    )
    if answer is None:
        return
    allowed = machine.rows.allowed(tier)
    assert key in allowed, f"{who} was given {name}, which is out of their sight"
    level = answer.view.level.value
    finest = machine.record.noise(query, allowed[key]).level
    assert level >= finest, f"{who} was given a finer level of {name} than their tier's"
    known = machine.given.get((who, name), level)
    machine.given[who, name] = min(level, known)


def check_exposure(machine: "Moves", coalitions: Sequence[Sequence[str]]) -> None:
    """Require that a coalition knows what its best-informed member knows, within its budget."""
    for coalition in coalitions:
        best: dict[str, float] = {}
        for (who, query), level in machine.given.items():
            if who in coalition:
                best[query] = min(level, best.get(query, level))
        readable = {without_number(query): level for query, level in best.items()}
        view = exposure.of(machine.server, OPERATOR, list(coalition), "stays")
        assert {one.query: one.level.value for one in view.queries} == readable
        users = [machine.people[who].user_id or 0 for who in coalition]
        _check_bounds(machine, users, view.could_be.epsilon)
        assert view.released.delta <= view.could_be.delta
        # Of more versions than were read the delta is larger, and so the epsilon may be smaller.
        if view.released.delta == view.could_be.delta:
            assert view.released.epsilon <= view.could_be.epsilon * CLOSE


def _check_bounds(machine: "Moves", users: Sequence[int], could_be: float) -> None:
    rows, record = machine.rows, machine.record
    of_versions: dict[int, list[tuple[Query, int]]] = {}
    for query, rung in record.of_coalition(rows, users):
        of_versions.setdefault(query.dataset_id, []).append((query, rung))
    budget = highest_budgets(rows, users)
    assert of_versions.keys() <= budget.keys(), "somebody sees what no tier of theirs pays for"
    assert could_be <= sum(budget.values()) * CLOSE
    exact = 0.0
    for key, pairs in of_versions.items():
        noises = [record.noise(query, rung) for query, rung in pairs]
        order = max(row.order for (dataset, _), row in rows.budgets.items() if dataset == key)
        assert epsilon(noises, DELTA, order) <= budget[key] * CLOSE
        exact = max(exact, gaussian_epsilon(noises, DELTA * len(of_versions)))
    assert could_be >= exact / CLOSE, "an exposure leaves out a query that could be read"
