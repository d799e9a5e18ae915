"""Test versions of a dataset: budgets of their own, and losses that add up over them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import ROWS, STAYS, query
from tests.unit.services.versions import BUDGETS, add, new_file, with_stays
from tests.unit.worlds import World, cut_off_before_the_anchor

from penstock.accounting import composed_epsilon
from penstock.errors import BudgetExhausted, Conflict, InvalidInput, NotFound, SourceChanged
from penstock.persistence.tables import Dataset, Leaf, Query
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.datasets.fingerprints import fingerprint_of, salt_of
from penstock.services.exposure import exposure
from penstock.services.exposure.exposure import placed
from penstock.services.ledger.version_chains import chains
from penstock.services.pagination import Window
from penstock.services.queries import level_changes, queries
from penstock.services.schemas.exposure import ExposureView
from penstock.services.schemas.queries import DatasetRequest, LevelsChange, VersionRequest

ALL = Window(limit=100, after=-1)


@pytest.fixture
def stays(world: World, tmp_path: Path) -> World:
    """Return the dataset stays over a file, with one query."""
    return with_stays(world, tmp_path)


def exposed(world: World, *names: str) -> ExposureView:
    return exposure.of(world.server, OPERATOR, list(names), "stays")


def test_new_queries_are_asked_of_the_new_version_and_old_ones_stay(
    stays: World, tmp_path: Path
) -> None:
    added = add(stays, new_file(tmp_path, 2))
    assert (added.name, added.version, added.disjoint_units) == ("stays", 2, False)
    again = query(stays, name="by_town_2")
    assert again.dataset_version == 2
    assert queries.show(stays.server, OPERATOR, "by_town").dataset_version == 1
    assert stays.ask("ines", "by_town").first
    assert stays.ask("ines", "by_town_2").first
    with pytest.raises(Conflict, match="'by_town_2'"):
        query(stays, name="by_town_3")
    listed = queries.listing(stays.server, OPERATOR, ALL, "stays").items
    assert [one.name for one in listed] == ["by_town", "by_town_2"]


def test_one_dataset_is_listed_once_in_its_newest_version(stays: World, tmp_path: Path) -> None:
    add(stays, new_file(tmp_path, 2))
    listed = datasets.listing(stays.server, OPERATOR, ALL).items
    assert [(one.name, one.version) for one in listed] == [("sites", 1), ("stays", 2)]
    assert datasets.show(stays.server, OPERATOR, "stays").version == 2


def test_a_version_has_keys_and_a_salt_of_its_own(stays: World, tmp_path: Path) -> None:
    add(stays, new_file(tmp_path, 2))
    with stays.server.database.read() as session:
        first, second = session.exec(select(Dataset).where(Dataset.folded == "stays")).all()
    assert salt_of(stays.server, first) != salt_of(stays.server, second)
    assert fingerprint_of(stays.server, first) != fingerprint_of(stays.server, second)
    assert first.wrapped_kek != second.wrapped_kek


def test_each_version_pays_for_its_own_queries(stays: World, tmp_path: Path) -> None:
    most = {"mechanism": "gaussian", "levels": None, "share": 0.95}
    with pytest.raises(BudgetExhausted):
        query(stays, name="large", **most)
    add(stays, new_file(tmp_path, 2))
    query(stays, name="large", **most)
    shown = budgets.show(stays.server, OPERATOR, "stays")
    assert shown.version == 2
    assert [one.query for one in shown.tiers[0].queries] == ["large"]
    (earlier,) = shown.earlier
    assert (earlier.version, earlier.disjoint_units) == (1, False)
    assert [one.query for one in earlier.tiers[0].queries] == ["by_town"]


def test_what_was_lost_in_several_versions_adds_up(stays: World, tmp_path: Path) -> None:
    before = exposed(stays, "ines")
    add(stays, new_file(tmp_path, 2))
    query(stays, name="by_town_2")
    for name in ("by_town", "by_town_2"):
        stays.ask("ines", name)
    after = exposed(stays, "ines")
    with stays.server.database.read() as session:
        both = [placed(row, row.ceiling) for row in session.exec(select(Query)).all()]
    assert len(both) == 2
    assert after.could_be.epsilon == pytest.approx(composed_epsilon(both, 2e-6), rel=1e-3)
    assert after.could_be.epsilon > 1.5 * before.could_be.epsilon
    assert after.released.epsilon == after.could_be.epsilon
    assert after.independent.epsilon > 1.5 * before.could_be.epsilon
    assert after.could_be.delta == 2e-6
    assert after.reach is not None
    assert (after.reach.tier, after.reach.epsilon) == ("internal", 16.0)
    assert [one.query for one in after.queries] == ["by_town", "by_town_2"]
    total = budgets.show(stays.server, OPERATOR, "stays").together[-1]
    assert (total.tier, total.granted.epsilon) == ("internal", 16.0)
    assert total.spent == after.could_be


def test_what_was_lost_in_versions_of_other_people_does_not_add_up(
    stays: World, tmp_path: Path
) -> None:
    before = exposed(stays, "ines")
    added = add(
        stays, new_file(tmp_path, 2), disjoint_units=True, budgets={"public": {"epsilon": 3}}
    )
    assert added.disjoint_units
    query(stays, name="by_town_2", levels={"public": {"epsilon": 0.5}, "internal": {"epsilon": 1}})
    after = exposed(stays, "ines")
    assert after.could_be == before.could_be
    assert after.reach == before.reach
    larger = query(
        stays, name="larger", mechanism="gaussian", levels={"internal": {"epsilon": 1.5}}
    )
    assert larger.dataset_version == 2
    with stays.server.database.read() as session:
        rows = session.exec(select(Query).where(Query.name != "by_town")).all()
        second = composed_epsilon([placed(row, row.ceiling) for row in rows], 1e-6)
    assert exposed(stays, "ines").could_be.epsilon == pytest.approx(
        max(before.could_be.epsilon, second), rel=1e-3
    )


def test_a_version_without_a_statement_goes_on_with_every_set_of_people() -> None:
    def version(number: int, *, disjoint: bool) -> Dataset:
        return Dataset(
            name="d",
            folded="d",
            version=number,
            disjoint_units=disjoint,
            spec="{}",
            neighboring="add_remove",
            delta=1e-6,
            wrapped_kek=b"-",
            created_at=datetime.now(UTC),
            by="operator",
        )

    flags = [False, False, True, False, True]
    versions = [version(number, disjoint=flag) for number, flag in enumerate(flags, 1)]
    found = [[one.version for one in chain] for chain in chains(versions)]
    assert found == [[1, 2, 4], [3, 4], [5]]
    # Brute force: a set of versions may share a unit unless a later one excludes all earlier.
    sets = [
        {one.version for place, one in enumerate(versions) if mask >> place & 1}
        for mask in range(1, 32)
    ]
    possible = [
        each for each in sets if not any(flags[number - 1] for number in each - {min(each)})
    ]
    assert all(any(each <= set(chain) for chain in found) for each in possible)
    assert all(set(chain) in possible for chain in found)


@pytest.mark.slow
@pytest.mark.parametrize("disjoint", [False, True])
def test_no_exposure_passes_what_all_versions_were_granted(
    stays: World, tmp_path: Path, disjoint: bool
) -> None:
    for number in (2, 3):
        add(stays, new_file(tmp_path, number), disjoint_units=disjoint)
        for place, mechanism in enumerate(("gaussian", "laplace", "poisson")):
            query(
                stays,
                name=f"{number}-{mechanism}",
                mechanism=mechanism,
                levels=None,
                share=(0.3, 0.3, 0.39)[place],
            )
    for people in (["pia"], ["paul", "ines"]):
        found = exposed(stays, *people)
        assert found.reach is not None
        lines = 1 if disjoint else 3
        assert found.reach.epsilon == lines * (1.0 if people == ["pia"] else 8.0)
        assert found.could_be.epsilon <= found.reach.epsilon
        assert found.could_be.delta <= found.reach.delta
        # Not idle: nearly all of each line was spent.
        assert found.could_be.epsilon > 0.3 * found.reach.epsilon


@pytest.mark.parametrize(
    ("change", "place", "says"),
    [
        ({"budgets": {"moon": {"epsilon": 1}}}, "/budgets/moon", "no tier 'moon'"),
        ({"source": {"engine": "vector"}}, "/source/engine", "the same kind of source"),
        ({"source": {"engine": "duckdb"}}, "/source/uri", "Name the CSV or Parquet file"),
        ({"source": {"engine": "duckdb", "uri": "nowhere.csv"}}, "/source/uri", "no such file"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    stays: World, tmp_path: Path, change: dict[str, Any], place: str, says: str
) -> None:
    with pytest.raises(InvalidInput, match=says) as refusal:
        add(stays, new_file(tmp_path, 2), **change)
    assert refusal.value.errors[0][0] == place
    assert datasets.show(stays.server, OPERATOR, "stays").version == 1


def test_a_file_of_another_schema_is_refused(stays: World, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("person,city,visits\np1,north,1\n")
    with pytest.raises(InvalidInput, match="declared columns cannot be found") as refusal:
        add(stays, other)
    assert refusal.value.errors[0][0] == "/columns/town"


def test_one_file_is_one_version(stays: World, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="'stays', version 1"):
        add(stays, tmp_path / "stays.csv")
    add(stays, new_file(tmp_path, 2))
    with pytest.raises(Conflict, match="'stays', version 2"):
        add(stays, tmp_path / "stays-2.csv", disjoint_units=True)


def test_pushed_vectors_have_no_versions(stays: World, tmp_path: Path) -> None:
    wanted = VersionRequest.model_validate(
        {"source": {"engine": "duckdb", "uri": str(new_file(tmp_path, 2))}, "budgets": BUDGETS}
    )
    with pytest.raises(Conflict, match="pushed"):
        datasets.add_version(stays.server, OPERATOR, "sites", wanted)
    with pytest.raises(NotFound):
        datasets.add_version(stays.server, OPERATOR, "nothing", wanted)


def test_under_replace_nobody_can_state_that_units_are_disjoint(
    world: World, tmp_path: Path
) -> None:
    path = tmp_path / "stays.csv"
    path.write_text(ROWS)
    spec = {**STAYS, "neighboring": "replace", "source": {"engine": "duckdb", "uri": str(path)}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(spec))
    with pytest.raises(InvalidInput, match="replace"):
        add(world, new_file(tmp_path, 2), disjoint_units=True)
    assert add(world, new_file(tmp_path, 2)).version == 2


def test_the_statement_stands_in_the_log(stays: World, tmp_path: Path) -> None:
    add(stays, new_file(tmp_path, 2), disjoint_units=True)
    with stays.server.database.read() as session:
        leaves = [json.loads(leaf.bytes) for leaf in session.exec(select(Leaf)).all()]
    found = [leaf for leaf in leaves if leaf["kind"] == "dataset" and leaf["dataset"] == "stays"]
    assert [leaf["version"] for leaf in found] == [1, 2]
    assert [leaf.get("disjoint_units") for leaf in found] == [None, True]
    assert [leaf["actor"] for leaf in found] == ["operator", "operator"]


def test_who_has_no_budget_in_the_new_version_goes_on_with_the_old_one(
    stays: World, tmp_path: Path
) -> None:
    add(stays, new_file(tmp_path, 2), budgets={"internal": {"epsilon": 2}})
    query(stays, name="by_town_2", levels={"internal": {"epsilon": 1}})
    pia = stays.person("pia")
    assert datasets.show(stays.server, pia, "stays").version == 1
    assert [one.version for one in datasets.listing(stays.server, pia, ALL).items] == [1, 1]
    shown = budgets.show(stays.server, pia, "stays")
    assert (shown.version, shown.earlier) == (1, [])
    assert exposure.of(stays.server, pia, ["pia"], "stays").reach is not None
    assert [one.name for one in queries.listing(stays.server, pia, ALL, "stays").items] == [
        "by_town"
    ]
    assert stays.ask("pia", "by_town").first
    with pytest.raises(NotFound):
        stays.ask("pia", "by_town_2")


def test_an_interrupted_registration_is_finished_on_its_own_version(
    stays: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_off_before_the_anchor(monkeypatch, lambda: query(stays, name="late", **LITTLE))
    add(stays, new_file(tmp_path, 2))
    assert query(stays, name="late", **LITTLE).dataset_version == 1
    assert query(stays, name="later", **LITTLE).dataset_version == 2


LITTLE: dict[str, Any] = {
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.05}, "internal": {"epsilon": 0.2}},
}


def test_the_ceiling_of_an_old_query_is_raised_from_its_own_file(
    stays: World, tmp_path: Path
) -> None:
    query(stays, name="little", **LITTLE)
    add(stays, new_file(tmp_path, 2))

    def lift(epsilon: float) -> None:
        wanted = LevelsChange.model_validate({"levels": {"internal": {"epsilon": epsilon}}})
        level_changes.change(stays.server, OPERATOR, "little", wanted)

    lift(0.3)
    assert stays.ask("ines", "little").view.guarantee.epsilon == pytest.approx(0.3, rel=1e-2)
    (tmp_path / "stays.csv").write_text(ROWS + "q,north,1\n")
    with pytest.raises(SourceChanged):
        lift(0.35)


def test_names_of_datasets_stay_taken_whatever_their_version(stays: World, tmp_path: Path) -> None:
    add(stays, new_file(tmp_path, 2))
    spec = {
        **STAYS,
        "name": "Stays",
        "source": {"engine": "duckdb", "uri": str(new_file(tmp_path, 3))},
    }
    with pytest.raises(Conflict, match="already"):
        datasets.register(stays.server, OPERATOR, DatasetRequest.model_validate(spec))
