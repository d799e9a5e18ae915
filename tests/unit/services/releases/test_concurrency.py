"""Test use cases that run at the same time: as if one had come after the other."""

import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from sqlmodel import Session, col, select
from tests.databases.cluster import Cluster
from tests.databases.homes import PATIENCE
from tests.unit.services.exposure.crowds import together
from tests.unit.sites import SITES, VISITS
from tests.unit.worlds import World

from penstock.connectors.planning import prepare
from penstock.connectors.sources import Sources
from penstock.errors import BudgetExhausted, Conflict, NameTaken
from penstock.persistence.tables import Charge, Dataset, Leaf, Query, TierBudget
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets
from penstock.services.ledger import accounts, charges
from penstock.services.operations import home
from penstock.services.people import tier_changes, users
from penstock.services.queries import pending, registration
from penstock.services.schemas.datasets import CorrectionRequest
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
)
from penstock.transparency_log import tree_store
from penstock.transparency_log.tree_store import LogEnd

pytestmark = pytest.mark.each_database

CROWD = 8


def pushed(name: str, **changes: object) -> PushedVectorRequest:
    return PushedVectorRequest.model_validate({**VISITS, "name": name, **changes})


def test_registrations_never_overdraw_a_budget_together(world: World) -> None:
    """Each takes 0.3 of every tier's budget, so that three fit and no fourth."""

    def act(number: int) -> Callable[[], object]:
        request = pushed(f"q{number}", levels=None, share=0.3)
        return lambda: registration.register(world.server, OPERATOR, request)

    outcomes = Counter(together([act(number) for number in range(CROWD)]))
    assert outcomes == {"done": 3, BudgetExhausted.__name__: CROWD - 3}
    with world.server.database.read() as session:
        charges = session.exec(select(Charge).order_by(col(Charge.id))).all()
        budgets = session.exec(select(TierBudget)).all()
        assert len(session.exec(select(Query)).all()) == 3
    for budget in budgets:
        own = [charge for charge in charges if charge.tier_id == budget.tier_id]
        assert [charge.seq for charge in own] == [0, 1, 2]
        assert own[-1].loss_total == sum(charge.loss for charge in own) <= budget.limit_loss


@pytest.mark.only("postgresql")
def test_without_the_datasets_lock_the_ledgers_unique_refuses_the_second(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broken variant: both read one total before either writes."""
    gate = threading.Barrier(2, timeout=PATIENCE)
    product = accounts.require_room

    def wait_and_require(*arguments: object) -> None:
        product(*arguments)  # type: ignore[arg-type]  # passed through
        gate.wait()

    monkeypatch.setattr(pending, "hold_dataset", lambda *_: None)
    monkeypatch.setattr(charges, "require_room", wait_and_require)
    outcomes = together(
        [
            lambda: registration.register(world.server, OPERATOR, pushed("one")),
            lambda: registration.register(world.server, OPERATOR, pushed("two")),
        ]
    )
    assert sorted(outcomes) == ["IntegrityError", "done"]


def test_a_name_is_given_once(world: World) -> None:
    makers: dict[str, Callable[[], object]] = {
        "tier": lambda: tier_changes.create(world.server, OPERATOR, TierSpec(name="Same")),
        "user": lambda: users.create(
            world.server, OPERATOR, UserSpec(name="Same", roles=["analyst"])
        ),
        "dataset": lambda: datasets.register(
            world.server, OPERATOR, DatasetRequest.model_validate({**SITES, "name": "Same"})
        ),
    }
    for kind, make in makers.items():
        outcomes = Counter(together([make] * CROWD))
        assert outcomes == {"done": 1, NameTaken.__name__: CROWD - 1}, kind


def test_a_querys_name_is_given_once_on_the_whole_server(world: World) -> None:
    for number in range(CROWD):
        request = DatasetRequest.model_validate({**SITES, "name": f"sites-{number}"})
        datasets.register(world.server, OPERATOR, request)

    def act(number: int) -> Callable[[], object]:
        request = pushed("same", dataset=f"sites-{number}")
        return lambda: registration.register(world.server, OPERATOR, request)

    outcomes = Counter(together([act(number) for number in range(CROWD)]))
    assert outcomes == {"done": 1, NameTaken.__name__: CROWD - 1}


def test_one_spec_that_is_registered_by_many_is_drawn_once(world: World) -> None:
    outcomes = Counter(
        together([lambda: registration.register(world.server, OPERATOR, pushed("same"))] * CROWD)
    )
    assert outcomes.pop("done") == 1
    # Some find it pending, others finished.
    assert set(outcomes) <= {NameTaken.__name__, Conflict.__name__}
    with world.server.database.read() as session:
        assert [query.seq for query in session.exec(select(Query)).all()] == [0]
        assert Counter(charge.tier_id for charge in session.exec(select(Charge)).all()) == {
            1: 1,
            2: 1,
            3: 1,
        }


def test_hand_outs_of_many_queries_have_places_in_the_log_without_gaps(world: World) -> None:
    names = [f"q{number}" for number in range(CROWD)]
    for name in names:
        world.push(name, levels={"public": {"epsilon": 0.01}})
    receipts: list[int | None] = []

    def act(name: str, person: str) -> Callable[[], object]:
        return lambda: receipts.append(world.ask(person, name).view.receipt.index)

    acts = [act(name, person) for name in names for person in ("pia", "paul", "ines")]
    assert set(together(acts)) == {"done"}
    with world.server.database.read() as session:
        leaves = session.exec(select(Leaf).order_by(col(Leaf.index))).all()
    assert [leaf.index for leaf in leaves] == list(range(len(leaves)))
    given = [leaf.index for leaf in leaves if leaf.kind == "release"]
    assert sorted(index for index in receipts if index is not None) == given
    assert len(given) == len(acts)


@pytest.mark.only("postgresql")
@pytest.mark.parametrize("locked", [True, False])
def test_without_the_logs_lock_its_unique_refuses_the_second(
    world: World, cluster: Cluster, monkeypatch: pytest.MonkeyPatch, locked: bool
) -> None:
    """The broken variant: the sequencers of two servers read one edge before either writes."""
    for name in ("q0", "q1"):
        world.push(name)
    other = home.open_server(world.server.settings, clock=world.clock, randomness=world.streams)
    met = threading.Barrier(2, timeout=PATIENCE)
    product, first = tree_store.read_end, iter([True])

    def meet(session: Session, **what: Any) -> LogEnd:
        found = product(session, **what)
        if not locked:
            met.wait()
        elif next(first, False):
            cluster.until_one_waits()
        return found

    if not locked:
        monkeypatch.setattr(tree_store, "lock_log", lambda _: None)
    monkeypatch.setattr(tree_store, "read_end", meet)
    elsewhere = World(other, world.clock, world.streams)
    outcomes = together([lambda: world.ask("pia", "q0"), lambda: elsewhere.ask("pia", "q1")])
    assert sorted(outcomes) == (["done", "done"] if locked else ["IntegrityError", "done"])
    other.database.close()


def test_nothing_above_a_clearance_is_handed_out_once_it_was_lowered(visits: World) -> None:
    """By the order of the log: what a demotion comes before is judged by it."""
    rungs = [0.5 - 0.02 * step for step in range(12)]

    def ask(epsilon: float) -> Callable[[], object]:
        return lambda: visits.ask("ines", epsilon=epsilon)

    def demote() -> object:
        change = UserChange.model_validate({"clearance": "public"})
        return users.change(visits.server, OPERATOR, "ines", change)

    outcomes = together([*[ask(epsilon) for epsilon in rungs[:6]], demote, *map(ask, rungs[6:])])
    assert set(outcomes) <= {"done", "ClearanceTooLow"}
    with visits.server.database.read() as session:
        leaves = session.exec(select(Leaf).order_by(col(Leaf.index))).all()
    kinds = [leaf.kind for leaf in leaves]
    demotion = kinds.index("clearance")
    later = [json.loads(leaf.bytes) for leaf in leaves[demotion:] if leaf.kind == "release"]
    assert [leaf["tier"] for leaf in later if leaf["tier"] != "public"] == []
    assert outcomes.count("done") == 1 + kinds.count("release")


def test_a_correction_beside_another_one_does_not_undo_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both had read the same declaration; the later one would store its own over the first."""
    look = prepare.check_source

    def correct(**wanted: object) -> None:
        request = CorrectionRequest.model_validate(wanted)
        corrections.correct(world.server, OPERATOR, "sites", request)

    def meanwhile(spec: DatasetRequest, sources: Sources) -> object:
        monkeypatch.setattr(prepare, "check_source", look)
        correct(max_units=5_000)
        return look(spec, sources)

    monkeypatch.setattr(prepare, "check_source", meanwhile)
    with pytest.raises(Conflict):
        correct(max_units=7_000)
    with world.server.database.read() as session:
        (dataset,) = session.exec(select(Dataset)).all()
    assert json.loads(dataset.spec)["max_units"] == 5_000
