"""Test that only admins see what datasets may come from: columns of files, and connections."""

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.unit.worlds import World

from penstock.errors import Forbidden, InvalidInput
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets.file_columns import MOST_FILES, columns, connections, files


def test_names_and_types_come_in_the_order_of_the_file(world: World, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("who,town,age\nann,north,5\n")
    assert list(columns(world.server, OPERATOR, str(path))) == ["who", "town", "age"]


@pytest.mark.parametrize("uri", ["", "a\nb.csv", "http://example.org/a.csv", "s3://bucket/a.csv"])
def test_what_is_no_path_is_refused_at_its_place(world: World, uri: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        columns(world.server, OPERATOR, uri)
    assert refusal.value.errors[0][0] == "/source/uri"


def test_only_admins_look_at_files(world: World, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("who\nann\n")
    assert list(columns(world.server, world.person("ada"), str(path)))
    with pytest.raises(Forbidden):
        columns(world.server, world.person("otto"), str(path))


def test_connections_are_listed_with_their_engines_and_nothing_else(world: World) -> None:
    secrets = {
        "ware_house": "postgresql://ada:hidden@db/x",
        "lake": '{"store": "s3", "secret_access_key": "hidden"}',
        "nothing": "no address",
    }
    settings = world.server.settings.model_copy(
        update={"connections": {name: SecretStr(text) for name, text in secrets.items()}}
    )
    server = replace(world.server, settings=settings)
    assert connections(server, OPERATOR) == {"lake": "duckdb", "ware_house": "postgresql"}
    with pytest.raises(Forbidden):
        connections(server, world.person("otto"))


def test_only_admins_see_which_files_lie_in_the_data_folder(world: World, tmp_path: Path) -> None:
    settings = world.server.settings.model_copy(update={"data_folder": tmp_path / "data"})
    server = replace(world.server, settings=settings)
    (tmp_path / "data").mkdir()
    for number in range(MOST_FILES + 1):
        (tmp_path / f"data/{number:03}.csv").touch()
    assert files(server, OPERATOR)[-1] == f"{MOST_FILES - 1:03}.csv"
    with pytest.raises(Forbidden):
        files(server, world.person("otto"))
