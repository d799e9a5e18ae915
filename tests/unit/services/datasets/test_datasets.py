"""Test datasets that the server reads: registered by declaration, read once, and only then."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlmodel import select
from tests.unit.services.datasets.stays import ROWS, query, register
from tests.unit.worlds import World

from penstock.connectors.connector import ExactAnswer
from penstock.connectors.planning import prepare
from penstock.errors import Conflict, InvalidInput, NotFound, SourceChanged
from penstock.persistence.tables import Charge, Query
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.datasets.file_columns import columns
from penstock.services.queries import queries
from penstock.services.schemas.queries import LevelsChange


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stays.csv"
    path.write_text(ROWS)
    return path


def test_an_answer_other_than_the_one_registered_raises_no_ceiling(
    world: World, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(world, file)
    before = query(world, levels={"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}})
    wanted = LevelsChange.model_validate({"levels": {"internal": {"epsilon": 1}}})
    drawn, computed = world.streams.taken, prepare.answer

    def otherwise(*given: Any, **named: Any) -> ExactAnswer:
        return ExactAnswer(computed(*given, **named).steps + np.int64(1))

    with monkeypatch.context() as patch:
        patch.setattr(prepare, "answer", otherwise)
        with pytest.raises(Conflict, match="not those that 'by_town' was registered with"):
            queries.change(world.server, OPERATOR, "by_town", wanted)
    assert world.streams.taken == drawn
    assert queries.show(world.server, OPERATOR, "by_town").tiers == before.tiers
    raised = queries.change(world.server, OPERATOR, "by_town", wanted)
    assert raised.tiers[-1].guarantee.epsilon == pytest.approx(1, rel=2e-2)


def test_a_statistic_of_a_file_is_released_by_tier(world: World, file: Path) -> None:
    register(world, file)
    view = query(world)
    assert view.sensitivity.l1 == 1
    assert view.sql is not None
    assert [level.tier for level in view.tiers] == ["public", "partner", "internal"]
    release = world.ask("ines", "by_town").view
    assert release.keys == ["north", "south", "west"]
    assert np.all(np.abs(release.values - [400, 200, 0]) < 20 * release.error.standard_deviation)
    assert release.asserted_by is None


def test_the_data_are_not_needed_for_any_further_release(world: World, file: Path) -> None:
    register(world, file)
    query(world)
    file.unlink()
    assert world.ask("ines", "by_town").first
    assert world.ask("pia", "by_town").first


@pytest.mark.parametrize("deed", ["vanished", "changed"])
def test_a_file_that_is_not_the_registered_one_is_refused_before_any_charge(
    world: World, file: Path, deed: str
) -> None:
    register(world, file)
    if deed == "vanished":
        file.unlink()
    else:
        file.write_text(ROWS.replace("p17,", "p18,"))
    with pytest.raises(SourceChanged):
        query(world)
    with world.server.database.read() as session:
        assert session.exec(select(Charge)).all() == []
        assert session.exec(select(Query)).all() == []


def test_one_statistic_under_two_names_is_refused_by_name(world: World, file: Path) -> None:
    register(world, file)
    query(world)
    with pytest.raises(Conflict, match="'by_town'"):
        query(world, name="again", levels={"public": {"epsilon": 0.25}})
    other = query(world, name="other", mechanism="gaussian", levels={"public": {"epsilon": 0.1}})
    assert other.mechanism == "gaussian"


def test_one_file_under_two_names_is_refused(world: World, file: Path) -> None:
    register(world, file)
    twin = file.with_name("copy.csv")
    twin.write_bytes(file.read_bytes())
    with pytest.raises(Conflict, match="'stays'"):
        register(world, twin, name="others")


def test_files_of_the_server_itself_are_no_data(world: World) -> None:
    keys = world.server.settings.keys_path / "keyring.csv"
    keys.write_text("person,town,visits\n")
    with pytest.raises(InvalidInput, match="own folders"):
        register(world, keys)


def test_with_a_data_folder_only_files_below_it_can_be_registered(
    world: World, file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    object.__setattr__(
        world.server,
        "settings",
        world.server.settings.model_copy(update={"data_folder": folder}),
    )
    for path in (file, Path("../stays.csv")):
        with pytest.raises(InvalidInput, match="PENSTOCK_DATA_FOLDER"):
            register(world, path)
    (folder / "stays.csv").write_text(ROWS)
    assert register(world, Path("stays.csv")).name == "stays"


def test_without_a_data_folder_files_are_registered_from_the_home_s_own_alone(
    world: World, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unset = world.server.settings.model_copy(update={"data_folder": None, "data_anywhere": False})
    object.__setattr__(world.server, "settings", unset)
    data = unset.home / "data"
    data.mkdir(exist_ok=True)
    link, folder = data / "link.csv", data / "folder"
    link.symlink_to(file)
    folder.symlink_to(file.parent)
    monkeypatch.chdir(file.parent)
    for path in (file, data / ".." / ".." / file.name, link, folder / file.name):
        for ask in (register, lambda world, path: columns(world.server, OPERATOR, str(path))):
            with pytest.raises(InvalidInput, match="set PENSTOCK_DATA_FOLDER") as refused:
                ask(world, path)
            assert refused.value.errors[0][0] == "/source/uri"
    # A relative path is one below the home's own folder, wherever the server was started.
    with pytest.raises(InvalidInput, match="There is no such file"):
        register(world, Path(file.name))
    (data / "stays.csv").write_text(ROWS)
    assert register(world, data / "stays.csv").name == "stays"


def test_nothing_that_is_outside_of_the_data_folder_is_reached_from_within(
    world: World, file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    own = world.server.settings.model_copy(update={"data_folder": folder, "data_anywhere": True})
    object.__setattr__(world.server, "settings", own)
    (folder / "link.csv").symlink_to(file)
    (folder / "folder").symlink_to(file.parent)
    for path in ("link.csv", "folder/stays.csv", "../stays.csv", "x/../../stays.csv", str(file)):
        with pytest.raises(InvalidInput, match="below the folder in PENSTOCK_DATA_FOLDER"):
            register(world, Path(path))


def test_analysts_see_neither_paths_nor_what_belongs_to_higher_tiers(
    world: World, file: Path
) -> None:
    register(world, file)
    query(world)
    seen = datasets.show(world.server, world.person("pia"), "stays")
    assert seen.source["uri"] == "stays.csv"
    assert list(seen.budgets) == ["public"]
    shown = queries.show(world.server, world.person("pia"), "by_town")
    assert [level.tier for level in shown.tiers] == ["public"]
    assert "levels" not in shown.spec
    assert str(file.parent) not in json.dumps(shown.spec)


def test_a_dataset_without_a_budget_for_ones_tier_is_missing(world: World, file: Path) -> None:
    register(world, file, budgets={"internal": {"epsilon": 8.0}})
    with pytest.raises(NotFound):
        datasets.show(world.server, world.person("pia"), "stays")
    assert datasets.show(world.server, world.person("ines"), "stays").name == "stays"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"budgets": {"public": {"epsilon": 2.0}, "internal": {"epsilon": 1.0}}}, "shrink"),
        ({"budgets": {"moon": {"epsilon": 1.0}}}, "no tier 'moon'"),
        ({"budgets": {"public": {"epsilon": 1e-9}}}, "leaves nothing to spend"),
        ({"delta": 1e-300}, "must be 0 or a probability"),
    ],
)
def test_budgets_that_cannot_be_meant_are_refused(
    world: World, file: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        register(world, file, **changes)
