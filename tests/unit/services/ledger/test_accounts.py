"""Test datasets whose budgets are squares of mu: more fits, and Gaussian queries alone."""

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.raised import balance, grant
from tests.unit.sites import SITES, VISITS
from tests.unit.worlds import World

from penstock import accounting
from penstock.accounting import SQUARES, Entry
from penstock.errors import BudgetExhausted, InvalidInput
from penstock.mechanisms.gaussian.curve import delta_at
from penstock.persistence.tables import Charge, TierBudget
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.datasets.corrections import correct
from penstock.services.exposure import exposure
from penstock.services.noise import lossless_levels
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, tiers
from penstock.services.queries import queries, registration
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    HistogramRequest,
    LevelsChange,
    PushedVectorRequest,
)
from penstock.services.schemas.streams import StreamRequest
from penstock.services.streams import streams
from penstock.services.verification.verification import verify

BUDGETS = {"public": {"epsilon": 1.0}, "internal": {"epsilon": 2.0}}
SMALL = {"public": {"epsilon": 0.05}, "internal": {"epsilon": 0.1}}
DELTA = 1e-6


def register(world: World, name: str = "squares", **changes: Any) -> None:
    spec = {**SITES, "name": name, "accountant": "gaussian", "budgets": BUDGETS, "delta": DELTA}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate({**spec, **changes}))


def push(world: World, name: str = "one", dataset: str = "squares", **changes: Any) -> Any:
    spec = {**VISITS, "name": name, "dataset": dataset, "mechanism": "gaussian", **changes}
    request = PushedVectorRequest.model_validate(spec)
    return registration.register(world.server, OPERATOR, request)


def ledger(world: World, name: str = "squares") -> list[tuple[int, float]]:
    with world.server.database.read() as session:
        key = dataset_by_name(session, name).id
        rows = session.exec(select(Charge).where(Charge.dataset_id == key)).all()
        return [(row.tier_id, row.order) for row in rows]


def test_the_share_of_a_whole_budget_has_a_seventh_less_variance(world: World) -> None:
    register(world)
    register(world, "renyi", accountant="renyi")
    made = [
        push(world, name, dataset=name, levels=None, share=1.0, max_levels=2)
        for name in ("squares", "renyi")
    ]
    for one, other in zip(*(query.tiers for query in made), strict=True):
        ratio = one.level.value / other.level.value
        assert 0.80 < ratio < 0.88
    assert {order for _, order in ledger(world)} == {SQUARES}
    assert SQUARES not in {order for _, order in ledger(world, "renyi")}
    with pytest.raises(BudgetExhausted, match="A squared mu of"):
        push(world, "two", levels=None, share=0.01, max_levels=2)


def test_what_fits_together_keeps_the_budget_by_the_exact_curve(world: World) -> None:
    """The mu of all releases, each of its own variance, is within delta at the tier's epsilon."""
    register(world)
    for number, share in enumerate((0.5, 0.3, 0.15)):
        push(world, f"q{number}", levels=None, share=share, max_levels=2)
    found = queries.listing(world.server, OPERATOR, Window(), "squares").items
    for tier, epsilon in (("public", 1.0), ("internal", 2.0)):
        variances = [one.level.value for query in found for one in query.tiers if one.tier == tier]
        mu = math.sqrt(sum(1 / each for each in variances))
        assert 0 < delta_at(epsilon, mu) <= DELTA
        assert delta_at(0.95 * epsilon, mu) > DELTA / 2, "and little is wasted"
    shown = budgets.show(world.server, OPERATOR, "squares")
    assert all(one.remaining_share == pytest.approx(0.05, abs=0.01) for one in shown.tiers)


def test_what_a_reader_lost_is_never_above_the_budget(world: World) -> None:
    register(world)
    push(world, levels=None, share=1.0, max_levels=2)
    world.ask("pia", "one")
    world.ask("ines", "one")
    for name, most in (("pia", 1.0), ("ines", 2.0)):
        lost = exposure.of(world.server, OPERATOR, [name], "squares")
        assert 0 < lost.released.epsilon <= most
        assert 0 < lost.could_be.epsilon <= most


@pytest.mark.parametrize(
    ("mechanism", "more"),
    [
        ("laplace", {}),
        ("poisson", {}),
        ("skellam", {}),
        ("generalized_gaussian", {"p": 3}),
    ],
)
@pytest.mark.parametrize("levels", [{"levels": SMALL}, {"levels": None, "share": 0.5}], ids=str)
def test_other_noise_is_refused_and_nothing_is_charged(
    world: World, mechanism: str, more: dict[str, Any], levels: dict[str, Any]
) -> None:
    register(world)
    with pytest.raises(InvalidInput, match="accountant 'renyi'"):
        push(world, mechanism=mechanism, **more, **levels)
    assert ledger(world) == []


def test_streams_and_sparse_histograms_are_refused(
    world: World, keep: Callable[[str, str], Any]
) -> None:
    register(world)
    spec = {
        "name": "s",
        "dataset": "squares",
        "mechanism": "gaussian",
        "length": 40,
        "max_steps_per_unit": 1,
        "levels": SMALL,
    }
    with pytest.raises(InvalidInput, match="not for streams"):
        streams.open_stream(world.server, OPERATOR, StreamRequest.model_validate(spec))
    file = keep("books.csv", "person,book\np1,7\np2,9\n")
    register(
        world,
        "loans",
        source={"engine": "duckdb", "uri": str(file)},
        privacy_unit={"column": "person"},
        max_units=1000,
        columns={"person": {"type": "string"}, "book": {"type": "integer"}},
    )
    histogram = {
        "name": "books",
        "dataset": "loans",
        "structure": "sparse_histogram",
        "domain": {"type": "uint64"},
        "false_keys": 1,
        "group_by": [{"column": "book"}],
        "aggregate": {"type": "count_units"},
        "contribution": {"max_groups": 1},
        "mechanism": "gaussian",
        "levels": SMALL,
    }
    with pytest.raises(InvalidInput, match="no mu is proved for sparse histograms"):
        registration.register(world.server, OPERATOR, HistogramRequest.model_validate(histogram))
    assert ledger(world) == ledger(world, "loans") == []


def test_without_a_delta_there_is_no_such_account(world: World) -> None:
    with pytest.raises(InvalidInput) as refused:
        register(world, delta=0)
    assert refused.value.errors[0][0] == "/accountant"
    register(world)
    with pytest.raises(InvalidInput, match="delta above 0"):
        correct(world.server, OPERATOR, "squares", CorrectionRequest(delta=0.0))
    correct(world.server, OPERATOR, "squares", CorrectionRequest(delta=1e-7))
    with world.server.database.read() as session:
        key = dataset_by_name(session, "squares").id
        rows = session.exec(select(TierBudget).where(TierBudget.dataset_id == key)).all()
        assert {row.order for row in rows} == {SQUARES}
    assert datasets.show(world.server, OPERATOR, "squares").accountant == "gaussian"
    assert verify(world.server, OPERATOR).problems == []


Act = Callable[[World], None]


def first(world: World) -> None:
    push(world, levels=SMALL, max_levels=8)


def closer(world: World) -> None:
    names = [one.tier for one in budgets.show(world.server, OPERATOR, "squares").tiers]
    levels = {name: {"epsilon": 0.2} for name in names} | {"internal": {"epsilon": 0.3}}
    change = LevelsChange.model_validate({"levels": levels, "values": VISITS["values"]})
    queries.change(world.server, OPERATOR, "one", change)


def larger(world: World) -> None:
    names = {one.name for one in tiers.listing(world.server)}
    epsilons = {"public": 6.0, "staff": 7.0, "partner": 8.0, "internal": 9.0}
    grant(world, "squares", **{name: epsilons[name] for name in names})


def another_tier(world: World) -> None:
    tier_changes.create(world.server, OPERATOR, TierSpec(name="staff", above="public"))
    if budgets.show(world.server, OPERATOR, "squares").tiers[0].granted.epsilon == 6:
        grant(world, "squares", staff=7.0)


ORDERS: Sequence[tuple[Act, ...]] = [
    order
    for order in itertools.permutations((first, closer, larger, another_tier))
    if order.index(first) < order.index(closer)
]


Ledger = dict[tuple[str, str], Entry]


@pytest.fixture(scope="module")
def ledgers() -> list[Ledger]:
    """Return what the first order left."""
    return []


@pytest.mark.parametrize("order", ORDERS[::3])
def test_no_order_of_acts_leaves_another_ledger(
    world: World, ledgers: list[Ledger], order: Sequence[Act]
) -> None:
    register(world)
    for act in order:
        act(world)
    left = balance(world, "squares")
    assert {tier for tier, _ in left} == {"public", "staff", "partner", "internal"}
    assert left == (ledgers or [left])[0]
    ledgers.append(left)


def test_a_budget_under_which_samplers_cost_too_much_is_refused(world: World) -> None:
    """The errors of samplers are charged by probability, which grows with e^epsilon."""
    register(world)
    push(world, levels=SMALL, max_levels=8)
    before = balance(world, "squares")
    with pytest.raises(BudgetExhausted, match="failure probability"):
        grant(world, "squares", internal=30.0)
    assert balance(world, "squares") == before


def test_a_refinement_that_is_charged_by_the_difference_is_found_out(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(world)
    first(world)

    def difference(*given: Any, charged: Entry, **named: Any) -> Entry:
        whole = accounting.raising(*given, charged=charged, **named)
        return Entry(max(whole.loss - 1, 0), 0)

    monkeypatch.setattr(lossless_levels, "raising", difference)
    closer(world)
    with pytest.raises(AssertionError):
        balance(world, "squares")


def test_squares_add_up_as_the_account_says() -> None:
    account = accounting.account_of(1.0, DELTA, SQUARES)
    assert accounting.converted_epsilon(SQUARES, account.limit, 0.9 * DELTA) <= 1.0 + 1e-9
    assert accounting.converted_epsilon(SQUARES, account.limit, 0.9 * DELTA) > 0.999
    assert accounting.converted_epsilon(SQUARES, 0.0, DELTA) == 0
    raised = accounting.account_of(1.0, DELTA, SQUARES, 4.0)
    assert (raised.limit, raised.pricing.epsilon) == (account.limit, 4.0)
    assert Fraction(account.failure_limit) == Fraction(DELTA) / 10
