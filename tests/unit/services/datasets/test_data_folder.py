"""Test that only files below the folder of data may be registered, links followed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.worlds import World

from penstock.errors import InvalidInput
from penstock.services.context import Server
from penstock.services.datasets.data_folder import allowed_path, files_of_data, folder_of_data


def server_with(world: World, **changes: Any) -> Server:
    return replace(world.server, settings=world.server.settings.model_copy(update=changes))


def test_a_file_below_the_folder_is_found_by_its_relative_path(
    world: World, tmp_path: Path
) -> None:
    server = server_with(world, data_folder=tmp_path / "data")
    assert allowed_path(server, "a/b.csv") == (tmp_path / "data/a/b.csv").resolve()


@pytest.mark.parametrize("uri", ["../b.csv", "/etc/passwd", "a/../../b.csv"])
def test_a_file_outside_of_the_folder_is_refused(world: World, tmp_path: Path, uri: str) -> None:
    server = server_with(world, data_folder=tmp_path / "data")
    with pytest.raises(InvalidInput, match="PENSTOCK_DATA_FOLDER"):
        allowed_path(server, uri)


def test_a_link_out_of_the_folder_is_refused(world: World, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/link.csv").symlink_to(tmp_path / "outside.csv")
    with pytest.raises(InvalidInput, match="PENSTOCK_DATA_FOLDER"):
        allowed_path(server_with(world, data_folder=tmp_path / "data"), "link.csv")


def test_nothing_of_the_servers_own_is_data_wherever_data_may_lie(world: World) -> None:
    server = server_with(world, data_folder=None, data_anywhere=True)
    with pytest.raises(InvalidInput, match="server's own folders"):
        allowed_path(server, str(server.settings.home / "penstock.toml"))


def test_without_a_folder_only_the_homes_own_is_left(world: World, tmp_path: Path) -> None:
    server = server_with(world, data_folder=None, data_anywhere=False)
    own = server.settings.home.resolve() / "data"
    assert folder_of_data(server.settings) == own
    assert allowed_path(server, str(own / "a.csv")) == own / "a.csv"
    with pytest.raises(InvalidInput, match="No folder of data is set"):
        allowed_path(server, str(tmp_path / "a.csv"))


def test_without_a_folder_a_relative_path_is_looked_for_in_the_homes_own(world: World) -> None:
    server = server_with(world, data_folder=None, data_anywhere=False)
    own = server.settings.home.resolve() / "data"
    assert allowed_path(server, "a.csv") == own / "a.csv"
    with pytest.raises(InvalidInput, match="server's own folders"):
        allowed_path(server, "../penstock.toml")


def test_the_files_of_the_data_folder_are_those_that_could_be_registered(
    world: World, tmp_path: Path
) -> None:
    settings = server_with(world, data_folder=tmp_path / "data").settings
    assert files_of_data(settings, 2) == []
    (tmp_path / "data/below.csv").mkdir(parents=True)
    for name in ("c.parquet", "a.CSV", "b.csv", "notes.txt", "odd\n.csv"):
        (tmp_path / "data" / name).touch()
    (tmp_path / "data" / ".upload-00.csv").touch()
    assert files_of_data(settings, 9) == ["a.CSV", "b.csv", "c.parquet"]
    assert files_of_data(settings, 2) == ["a.CSV", "b.csv"]
