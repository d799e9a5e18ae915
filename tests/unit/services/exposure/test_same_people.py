"""Test datasets that hold the same people: what they lose adds up, once that is declared."""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import query, register, written
from tests.unit.services.exposure.same_people_worlds import (
    declare,
    groups,
    problems,
    same_table_twice,
    shown,
    third,
)
from tests.unit.services.versions import new_file
from tests.unit.worlds import CopyWorld, World

from penstock.accounting import composed_epsilon
from penstock.errors import InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables import Charge, Dataset, Leaf, Query
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import corrections, datasets, look_alikes
from penstock.services.datasets.population import join
from penstock.services.exposure import by_query, compositions, exposure, same_people
from penstock.services.exposure.compositions import composed
from penstock.services.exposure.exposure import placed, reach, reach_of, visible
from penstock.services.ledger.accounts import open_account
from penstock.services.ledger.version_chains import chains, of_same_people
from penstock.services.pagination import Window
from penstock.services.previews import version_preview
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import tier_by_name
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.exposure import ExposureView, ReachView
from penstock.services.schemas.queries import VersionRequest
from penstock.services.schemas.views import DatasetView, PrivacyBudget

BUDGETS = {"public": {"epsilon": 1.0}, "internal": {"epsilon": 8.0}}


@pytest.fixture
def twice(copy_world: CopyWorld, keep: Callable[[str, str], Path]) -> World:
    return copy_world("same-people", same_table_twice(keep))


def exposed(world: World, name: str, dataset: str | None = "stays") -> ExposureView:
    return exposure.of(world.server, OPERATOR, [name], dataset)


def test_what_was_lost_in_both_adds_up_once_it_is_declared(twice: World) -> None:
    for name in ("by_town", "by_town_again"):
        twice.ask("ines", name)
    apart = exposed(twice, "ines")
    assert apart.reach is not None
    assert apart.reach.epsilon == 8
    declare(twice)
    for dataset in ("stays", "again"):
        found = exposed(twice, "ines", dataset)
        with twice.server.database.read() as session:
            both = [placed(row, row.ceiling) for row in session.exec(select(Query)).all()]
        assert found.could_be.epsilon == pytest.approx(composed_epsilon(both, 2e-6), rel=1e-3)
        assert found.could_be.epsilon > 1.5 * apart.could_be.epsilon
        assert found.released == found.could_be
        assert found.independent.epsilon > 1.5 * apart.could_be.epsilon
        assert (found.could_be.delta, found.reach and found.reach.epsilon) == (2e-6, 16)
        assert [one.query for one in found.queries] == ["by_town", "by_town_again"]
        shared = by_query.shared(twice.server, OPERATOR, ["ines"], Window(100), dataset)
        assert {one.dataset for one in shared.items} == {"stays", "again"}
        total = shown(twice, dataset).together[-1]
        assert (total.tier, total.granted.epsilon) == ("internal", 16.0)
        assert total.spent == found.could_be
    whole = exposed(twice, "ines", None)
    assert whole.reach is not None
    assert whole.reach.epsilon == 16 + 4, "each once, and what is pushed"
    assert problems(twice) == []


def test_each_pays_for_its_own_queries_still(twice: World) -> None:
    before = {name: shown(twice, name).tiers for name in ("stays", "again")}
    with twice.server.database.read() as session:
        charged = len(session.exec(select(Charge)).all())
    declare(twice)
    assert {name: shown(twice, name).tiers for name in before} == before
    (other,) = shown(twice).same_people
    assert (other.dataset, other.version, other.tiers) == ("again", 1, before["again"])
    with twice.server.database.read() as session:
        assert len(session.exec(select(Charge)).all()) == charged


def test_it_is_declared_as_it_is_registered(world: World, tmp_path: Path) -> None:
    plain, packed = written(tmp_path)
    register(world, plain)
    made = register(world, packed, name="again", same_people_as="STAYS")
    assert (made.same_people_as, made.notices) == (["stays"], [])
    assert datasets.show(world.server, OPERATOR, "stays").same_people_as == ["again"]
    assert {one.tier: one.granted.epsilon for one in shown(world).together}["internal"] == 16
    with world.server.database.read() as session:
        kept = session.exec(select(Dataset).where(Dataset.folded == "again")).one()
    assert "same_people_as" not in json.loads(kept.spec), "what a file is read as is declared apart"
    assert problems(world) == []


@pytest.mark.parametrize("name", ["missing", "again"])
def test_a_dataset_that_is_not_there_registers_nothing(
    world: World, tmp_path: Path, name: str
) -> None:
    _, packed = written(tmp_path)
    with pytest.raises(InvalidInput, match=f"There is no dataset '{name}'") as refused:
        register(world, packed, name="again", same_people_as=name)
    assert refused.value.errors[0][0] == "/same_people_as"
    with pytest.raises(NotFound):
        datasets.show(world.server, OPERATOR, "again")


def test_look_alikes_are_told_until_it_is_declared(twice: World, tmp_path: Path) -> None:
    (notice,) = look_alikes.notices_of(twice.server, OPERATOR, "again")
    assert "`penstock dataset same-people again stays`" in notice
    declare(twice)
    assert look_alikes.notices_of(twice.server, OPERATOR, "again") == []
    made = third(twice, tmp_path)
    assert [notice.split("'")[1] for notice in made.notices] == ["stays", "again"]


def test_a_new_version_is_told_of_what_looks_like_it(twice: World, tmp_path: Path) -> None:
    assert [one.split("'")[1] for one in added(twice, tmp_path, 2).notices] == ["again"]


def added(world: World, folder: Path, number: int, **more: object) -> DatasetView:
    source = {"engine": "duckdb", "uri": str(new_file(folder, number))}
    wanted = VersionRequest.model_validate({"source": source, "budgets": BUDGETS, **more})
    name = str(more.pop("name", "stays"))
    return datasets.add_version(world.server, OPERATOR, name, wanted)


def test_versions_that_come_after_are_of_the_same_people(twice: World, tmp_path: Path) -> None:
    declare(twice)
    source = {"engine": "duckdb", "uri": str(new_file(tmp_path, 2))}
    wanted = VersionRequest.model_validate({"source": source, "budgets": BUDGETS})
    foreseen = version_preview.preview(twice.server, OPERATOR, "stays", wanted)
    datasets.add_version(twice.server, OPERATOR, "stays", wanted)
    for name in ("stays", "again"):
        total = shown(twice, name).together[-1]
        assert total.granted.epsilon == 24
        last = foreseen.tiers[-1]
        assert last.before is not None
        assert last.together is not None
        assert (last.before.epsilon, last.together.epsilon) == (16, 24)
    added(twice, tmp_path, 3, disjoint_units=True)
    assert shown(twice, "again").together[-1].granted.epsilon == 24, "of other people than 1 and 2"
    assert problems(twice) == []


def test_the_order_of_declaring_changes_no_sum(twice: World, tmp_path: Path) -> None:
    third(twice, tmp_path)
    query(twice, name="by_town_third", dataset="third")
    pairs = [("stays", "again"), ("again", "third"), ("third", "stays")]
    seen = [_sums(twice, order) for order in permutations(pairs, 2)]
    assert seen[0][0] is not None
    assert seen[0][0].epsilon == 24
    assert all(one == seen[0] for one in seen)
    assert groups(twice) == []


def _sums(world: World, pairs: Sequence[tuple[str, str]]) -> tuple[ReachView | None, PrivacyBudget]:
    """Return the grant and the loss of the top tier once pairs are declared, and keep nothing."""
    found: list[tuple[ReachView | None, PrivacyBudget]] = []
    with suppress(_Undone), world.server.database.write() as session:
        for one, other in pairs:
            first, second = (dataset_by_name(session, name) for name in (one, other))
            join(session, world.server, OPERATOR, first, second)
        versions = of_same_people(session, dataset_by_name(session, "stays"))
        top = tier_by_name(session, "internal")
        accounts = [open_account(session, required(one.id), top) for one in versions]
        lines = [
            visible(session, one, account) for one, account in zip(versions, accounts, strict=True)
        ]
        found.append((reach(versions, [reach_of(one) for one in accounts]), composed(lines)))
        raise _Undone
    return found[0]


class _Undone(Exception):
    """End a transaction of which nothing is to be kept."""


def test_who_is_withdrawn_joins_the_others_still(world: World, tmp_path: Path) -> None:
    plain, packed = written(tmp_path)
    register(world, plain)
    register(world, packed, name="again", same_people_as="stays")
    third(world, tmp_path, same_people_as="again")
    corrections.withdraw(world.server, OPERATOR, "again")
    assert groups(world) == [["stays", "third"]]
    register(world, packed, name="again")
    assert groups(world) == [["stays", "third"]], "a name that is registered again is another one"
    assert problems(world) == []


def test_what_it_would_mean_is_what_it_then_means(twice: World, tmp_path: Path) -> None:
    third(twice, tmp_path, same_people_as="again")
    foreseen = same_people.preview(twice.server, OPERATOR, "stays", "third")
    assert groups(twice) == [["again", "third"]]
    declare(twice, "stays", "third")
    assert sorted(foreseen.datasets) == ["again", "stays", "third"]
    totals = {one.tier: (one.granted.epsilon, one.spent) for one in shown(twice).together}
    assert totals == {
        one.tier: (one.granted_together.epsilon, one.spent_together) for one in foreseen.tiers
    }
    last = foreseen.tiers[-1]
    assert (last.granted and last.granted.epsilon, last.granted_there and 16) == (8, 16)


def test_an_analyst_sees_what_is_in_sight_alone(world: World, tmp_path: Path) -> None:
    register(world, written(tmp_path)[0])
    third(world, tmp_path, budgets={"internal": {"epsilon": 2}}, same_people_as="stays")
    pia, ines = world.person("pia"), world.person("ines")
    assert datasets.show(world.server, pia, "stays").same_people_as == []
    assert budgets.show(world.server, pia, "stays").same_people == []
    assert datasets.show(world.server, ines, "stays").same_people_as == ["third"]
    assert budgets.show(world.server, ines, "stays").together[-1].granted.epsilon == 10


def test_budgets_that_are_raised_count_in_all_of_them(twice: World) -> None:
    declare(twice)
    wanted = DatasetChange.model_validate({"budgets": {"internal": 10}})
    budgets.change(twice.server, OPERATOR, "again", wanted)
    assert shown(twice).together[-1].granted.epsilon == 18


def test_the_log_keeps_who_declared_it(twice: World) -> None:
    same_people.declare(twice.server, twice.person("ada"), "again", "stays")
    with twice.server.database.read() as session:
        leaves = [json.loads(one.bytes) for one in session.exec(select(Leaf)).all()]
    (leaf,) = [one for one in leaves if "same_people_as" in one]
    assert (leaf["kind"], leaf["dataset"], leaf["same_people_as"]) == ("dataset", "again", "stays")
    assert leaf["actor"] == "ada"


def test_an_audit_finds_what_was_taken_back_or_put_there(twice: World) -> None:
    message = "the datasets declared to hold the same people are not those of the log"
    declare(twice)
    _regroup(twice, None)
    assert problems(twice) == [message]
    _regroup(twice, 1)
    assert message in problems(twice), "with one that was never declared"


def _regroup(world: World, people: int | None) -> None:
    """Alter whose people datasets hold, as somebody who can sign rows."""
    with world.server.database.write() as session:
        for row in session.exec(select(Dataset)).all():
            row.people = people
            session.add(row)


def test_more_sets_than_are_composed_each_are_added_up_apart(
    twice: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(twice)
    whole = exposed(twice, "ines").could_be
    monkeypatch.setattr(compositions, "MOST_SETS", 0)
    apart = exposed(twice, "ines").could_be
    assert apart.epsilon >= whole.epsilon
    assert apart.delta == whole.delta


def test_a_unit_may_be_in_any_chain_of_each() -> None:
    def version(name: str, number: int, *, own: bool) -> Dataset:
        fields: dict[str, Any] = {
            "name": name,
            "folded": name,
            "version": number,
            "disjoint_units": own,
        }
        return Dataset.model_construct(None, **fields)

    first, second = version("a", 1, own=False), version("a", 2, own=True)
    other = version("b", 1, own=False)
    assert chains([first, other, second]) == [[first, other], [second, other]]
