"""Test what a new version would mean for budgets, held to what registering it then does."""

from dataclasses import replace
from pathlib import Path

import pytest
from sqlmodel import func, select
from tests.unit.services.versions import BUDGETS, add, new_file, with_stays
from tests.unit.worlds import World

from penstock.errors import Forbidden, InvalidInput, PenstockError
from penstock.persistence.tables import Dataset, Leaf
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.previews import version_preview
from penstock.services.previews.version_preview import VersionPreviewView
from penstock.services.schemas.queries import VersionRequest


@pytest.fixture
def stays(world: World, tmp_path: Path) -> World:
    """Return the dataset stays over a file, with one query."""
    return with_stays(world, tmp_path)


def wanted(path: Path, **more: object) -> VersionRequest:
    fields = {"source": {"engine": "duckdb", "uri": str(path)}, "budgets": BUDGETS, **more}
    return VersionRequest.model_validate(fields)


def preview(world: World, path: Path, **more: object) -> VersionPreviewView:
    return version_preview.preview(world.server, OPERATOR, "stays", wanted(path, **more))


@pytest.mark.parametrize("disjoint", [False, True])
def test_what_is_foreseen_is_what_the_budgets_then_are(
    stays: World, tmp_path: Path, disjoint: bool
) -> None:
    add(stays, new_file(tmp_path, 2))
    path = new_file(tmp_path, 3)
    foreseen = preview(stays, path, disjoint_units=disjoint)
    assert (foreseen.dataset, foreseen.version, foreseen.refusal) == ("stays", 3, None)
    add(stays, path, disjoint_units=disjoint)
    shown = budgets.show(stays.server, OPERATOR, "stays")
    assert {
        one.tier: (one.together.epsilon, one.together.delta)
        for one in foreseen.tiers
        if one.together
    } == {one.tier: (one.granted.epsilon, one.granted.delta) for one in shown.together}
    assert {one.tier: one.own.epsilon for one in foreseen.tiers if one.own} == {
        one.tier: one.granted.epsilon for one in shown.tiers
    }


def test_foreseeing_registers_nothing(stays: World, tmp_path: Path) -> None:
    def written() -> list[int]:
        with stays.server.database.read() as session:
            return [
                session.exec(select(func.count()).select_from(one)).one() for one in (Dataset, Leaf)
            ]

    before = written()
    preview(stays, new_file(tmp_path, 2))
    assert written() == before


@pytest.mark.parametrize(
    "changes",
    [
        {"source": {"engine": "duckdb", "uri": "/absent.csv"}},
        {"source": {"engine": "vector"}},
        {"budgets": {"absent": {"epsilon": 1}}},
        {"budgets": {"public": {"epsilon": 2}, "internal": {"epsilon": 1}}},
    ],
)
def test_what_cannot_be_meant_is_refused_as_registering_it_is(
    stays: World, tmp_path: Path, changes: dict[str, object]
) -> None:
    request = wanted(new_file(tmp_path, 2), **changes)
    said = []
    for act in (version_preview.preview, datasets.add_version):
        with pytest.raises(PenstockError) as refused:
            act(stays.server, OPERATOR, "stays", request)
        assert isinstance(refused.value, InvalidInput)
        said.append(refused.value.errors)
    assert said[0] == said[1]


def test_under_the_two_person_rule_it_says_what_would_be_refused(
    stays: World, tmp_path: Path
) -> None:
    settings = stays.server.settings.model_copy(update={"two_person_rule": True})
    ruled = replace(stays.server, settings=settings)
    request = wanted(new_file(tmp_path, 2), budgets={"internal": {"epsilon": 99}})
    foreseen = version_preview.preview(ruled, OPERATOR, "stays", request)
    with pytest.raises(Forbidden) as refused:
        datasets.add_version(ruled, OPERATOR, "stays", request)
    assert foreseen.refusal == refused.value.detail
    assert version_preview.preview(stays.server, OPERATOR, "stays", request).refusal is None


def test_only_admins_foresee_a_version(stays: World, tmp_path: Path) -> None:
    request = wanted(new_file(tmp_path, 2))
    for name in ("ines", "otto"):
        with pytest.raises(Forbidden):
            version_preview.preview(stays.server, stays.person(name), "stays", request)
