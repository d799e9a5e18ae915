"""Test what admins upload: plain names, readable columns, a leaf, and no file without one."""

import json
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest
from tests.unit.services.logged import leaves
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, InvalidInput, NameTaken, PenstockError, Unavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.uploads import uploads
from penstock.services.uploads.uploads import LONGEST_NAME, receive

CSV = b"person,area\n1,rural\n2,urban\n"


def folder(world: World) -> Path:
    return world.server.settings.home / "data"


def names(world: World) -> list[str]:
    place = folder(world)
    return sorted(path.name for path in place.iterdir()) if place.exists() else []


def test_a_file_is_stored_and_logged_without_what_it_says(world: World) -> None:
    before = len(leaves(world))
    place = receive(world.server, OPERATOR, "visits.csv", [CSV[:9], CSV[9:]])
    assert (place, place.read_bytes()) == (folder(world).resolve() / "visits.csv", CSV)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    (leaf,) = leaves(world)[before:]
    assert (leaf["kind"], leaf["actor"], leaf["file"]) == ("upload", "operator", "visits.csv")
    assert set(leaf) == {
        *("v", "kind", "at", "actor", "actor_exposure", "nonce", "upload", "file", "file_hmac")
    }
    assert str(len(CSV)) not in json.dumps({**leaf, "nonce": "", "upload": "", "file_hmac": ""})


def test_equal_files_have_different_hashes_in_the_log(world: World) -> None:
    for name in ("one.csv", "two.csv"):
        receive(world.server, OPERATOR, name, [CSV])
    first, second = (leaf["file_hmac"] for leaf in leaves(world) if leaf["kind"] == "upload")
    assert first != second


@pytest.mark.parametrize(
    "name",
    [
        *("", ".csv", "..csv", ".hidden.csv", "-rf.csv", "a..b.csv", "../a.csv", "/etc/a.csv"),
        *("a/b.csv", "a\\b.csv", "C:a.csv", "a.csv\x00", "a\n.csv", "a b.csv", "ä.csv", "a*.csv"),
        *("x.exe", "x", "x.csv.gz", "csv", "a" * LONGEST_NAME + ".csv", "％2e.csv", "~a.csv"),
    ],
)
def test_a_name_that_is_not_plain_is_refused_before_a_byte_is_read(world: World, name: str) -> None:
    def pieces() -> Iterator[bytes]:
        pytest.fail("a byte was read")
        yield b""

    with pytest.raises(InvalidInput) as refused:
        receive(world.server, OPERATOR, name, pieces())
    assert refused.value.errors[0][0] == "/file"
    assert names(world) == []


def test_only_admins_upload(world: World) -> None:
    for name in ("ada", "olga"):
        person = replace(OPERATOR, roles=frozenset({"analyst", "auditor"}))
        with pytest.raises(Forbidden):
            receive(world.server, person, f"{name}.csv", [CSV])
    assert names(world) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", b""), ("a.csv", b"a,a\n1,2\n"), ("a.csv", b"a;b\n1;2\n"), ("a.parquet", CSV)],
)
def test_a_file_that_nothing_could_be_registered_from_is_not_stored(
    world: World, name: str, content: bytes
) -> None:
    with pytest.raises(InvalidInput, match="Nothing was stored") as refused:
        receive(world.server, OPERATOR, name, [content])
    assert "upload-" not in refused.value.detail
    assert names(world) == []


def test_no_file_is_replaced_and_no_second_leaf_written(world: World) -> None:
    receive(world.server, OPERATOR, "visits.csv", [CSV])
    before = len(leaves(world))
    with pytest.raises(NameTaken):
        receive(world.server, OPERATOR, "visits.csv", [b"other\n"])
    assert len(leaves(world)) == before
    assert (folder(world) / "visits.csv").read_bytes() == CSV


def test_of_many_uploads_of_one_name_at_once_one_is_there_with_one_leaf(world: World) -> None:
    ready = Barrier(4)

    def upload(number: int) -> str:
        def pieces() -> Iterator[bytes]:
            yield b"person\n"
            ready.wait(30)
            yield str(number).encode()

        try:
            receive(world.server, OPERATOR, "visits.csv", pieces())
        except PenstockError as problem:
            return type(problem).__name__
        return str(number)

    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(upload, range(4)))
    (won,) = [answer for answer in done if answer != "NameTaken"]
    assert (folder(world) / "visits.csv").read_bytes() == b"person\n" + won.encode()
    assert names(world) == ["visits.csv"]
    assert sum(leaf["kind"] == "upload" for leaf in leaves(world)) == 1


def test_without_its_leaf_there_is_no_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Unavailable("the log is full")

    monkeypatch.setattr(uploads, "record", refuse)
    with pytest.raises(Unavailable, match="log"):
        receive(world.server, OPERATOR, "visits.csv", [CSV])
    assert names(world) == []


def test_uploads_that_are_switched_off_are_refused(world: World) -> None:
    settings = world.server.settings.model_copy(update={"upload_limit": 0})
    with pytest.raises(Conflict, match="switched off"):
        receive(replace(world.server, settings=settings), OPERATOR, "visits.csv", [CSV])


def test_a_set_data_folder_is_used_and_never_made_with_its_parents(
    world: World, tmp_path: Path
) -> None:
    def set_to(place: Path) -> None:
        settings = world.server.settings.model_copy(update={"data_folder": place})
        receive(replace(world.server, settings=settings), OPERATOR, "visits.csv", [CSV])

    (tmp_path / "lake").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "lake")
    set_to(tmp_path / "link")
    assert (tmp_path / "lake/visits.csv").read_bytes() == CSV
    with pytest.raises(Unavailable, match="data folder cannot be used"):
        set_to(tmp_path / "gone/deeper")
