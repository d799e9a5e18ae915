"""Test the file behind a dataset: found, named, and the same as it was."""

import os
from pathlib import Path

import pytest
from tests.unit.connectors.cases import KEY, SALT, Folder, dataset_of, query_of, stated

from penstock.connectors.duckdb import source
from penstock.connectors.planning.prepare import answer, check_registered, check_source, fingerprint
from penstock.connectors.sources import Sources
from penstock.errors import InvalidInput, PenstockError, SourceChanged

ROWS = [("ann", "a", 1, 1, "", ""), ("ben", "b", 2, 2, "", "")]


def _refusal(folder: Folder, uri: str) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check_source(dataset_of(uri), Sources(folder.path))
    return caught.value


@pytest.mark.parametrize(
    "uri",
    [
        "nowhere.csv",
        "https://example.org/visits.csv",
        "s3://bucket/visits.parquet",
        "visits.xlsx",
        "visits",
        "*.csv",
        "visits[0].csv",
        "folder.csv",
        "pipe.csv",
        "../outside.csv",
        "link.csv",
        "loop.csv",
    ],
)
def test_what_is_not_one_readable_file_in_the_folder_is_refused(tmp_path: Path, uri: str) -> None:
    folder = Folder(tmp_path / "data")
    folder.path.mkdir()
    Folder(tmp_path).csv(ROWS, "outside.csv")
    folder.csv(ROWS, "visits[0].csv")
    (folder.path / "folder.csv").mkdir()
    os.mkfifo(folder.path / "pipe.csv")
    (folder.path / "link.csv").symlink_to(tmp_path / "outside.csv")
    (folder.path / "loop.csv").symlink_to(folder.path / "loop.csv")
    error = _refusal(folder, uri)
    assert error.errors[0][0] == "/source/uri"


def test_without_a_folder_any_path_may_be_named(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.csv(ROWS)
    check_source(dataset_of(str(folder.path / "visits.csv")))
    monkeypatch.chdir(folder.path)
    check_source(dataset_of("visits.csv"))


def test_missing_and_repeated_columns_are_named_each(folder: Folder) -> None:
    folder.names = ["person", "ward", "ward", "Age", "urgent", "day"]
    folder.csv(ROWS)
    error = _refusal(folder, "visits.csv")
    assert [place for place, _ in error.errors] == [
        "/columns/ward",
        "/columns/age",
        "/columns/cost",
    ]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"\xff\xfe\x00", b'"person,ward\n', b"x" * 3_000_000, b"person;ward\nann;a\n"],
)
def test_a_csv_file_without_a_line_of_names_is_refused(folder: Folder, content: bytes) -> None:
    (folder.path / "visits.csv").write_bytes(content)
    assert _refusal(folder, "visits.csv").errors


@pytest.mark.parametrize("content", [b"", b"PAR1", b"person,ward\n", b"PAR1" + bytes(64) + b"PAR1"])
def test_a_file_that_is_no_parquet_is_refused(folder: Folder, content: bytes) -> None:
    (folder.path / "visits.parquet").write_bytes(content)
    assert _refusal(folder, "visits.parquet").errors[0][0] == "/source/uri"


def test_the_fingerprint_is_keyed_and_covers_every_byte(folder: Folder) -> None:
    folder.csv(ROWS)
    dataset = dataset_of()
    first = fingerprint(dataset, KEY, Sources(folder.path))
    assert len(first) == 32
    assert first == fingerprint(dataset, KEY, Sources(folder.path))
    assert first != fingerprint(dataset, bytes(32), Sources(folder.path))
    with (folder.path / "visits.csv").open("ab") as stream:
        stream.write(b"\n")
    assert first != fingerprint(dataset, KEY, Sources(folder.path))


def _registered(folder: Folder) -> bytes:
    folder.csv(ROWS)
    return fingerprint(dataset_of(), KEY, Sources(folder.path))


def _ask(folder: Folder, registered: bytes) -> list[int]:
    values = answer(
        dataset_of(),
        stated(dataset_of(), query_of()),
        salt=SALT,
        fingerprint_key=KEY,
        fingerprint=registered,
        sources=Sources(folder.path),
    ).steps
    return [int(value) for value in values]


def test_a_file_that_changed_before_it_is_read_is_refused(folder: Folder) -> None:
    registered = _registered(folder)
    assert _ask(folder, registered) == [2]
    folder.csv(ROWS[:1])
    with pytest.raises(SourceChanged, match="register the new one as a new version"):
        _ask(folder, registered)
    with pytest.raises(SourceChanged):
        check_registered(
            dataset_of(), fingerprint_key=KEY, fingerprint=registered, sources=Sources(folder.path)
        )


def test_a_file_that_vanished_is_refused(folder: Folder) -> None:
    registered = _registered(folder)
    check_registered(
        dataset_of(), fingerprint_key=KEY, fingerprint=registered, sources=Sources(folder.path)
    )
    (folder.path / "visits.csv").unlink()
    with pytest.raises(SourceChanged, match="cannot be found"):
        _ask(folder, registered)
    with pytest.raises(SourceChanged, match="cannot be found"):
        check_registered(
            dataset_of(), fingerprint_key=KEY, fingerprint=registered, sources=Sources(folder.path)
        )


@pytest.mark.parametrize("put_back", [False, True])
def test_a_file_that_changes_while_it_is_read_is_refused(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, put_back: bool
) -> None:
    registered = _registered(folder)
    path = folder.path / "visits.csv"
    original = path.read_bytes()
    lock = source.lock

    def swap(*arguments: object) -> None:
        lock(*arguments)  # type: ignore[arg-type]  # passed on as it came
        path.write_bytes(original + b"cat,a,1,1,,\n")
        if put_back:
            path.write_bytes(original)

    monkeypatch.setattr(source, "lock", swap)
    with pytest.raises(SourceChanged, match="changed while it was read"):
        _ask(folder, registered)


def test_a_file_that_vanishes_while_it_is_read_is_refused(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered = _registered(folder)
    lock = source.lock

    def remove(*arguments: object) -> None:
        lock(*arguments)  # type: ignore[arg-type]  # passed on as it came
        (folder.path / "visits.csv").unlink()

    monkeypatch.setattr(source, "lock", remove)
    with pytest.raises(PenstockError) as caught:
        _ask(folder, registered)
    assert isinstance(caught.value, SourceChanged)


def test_a_damaged_file_is_an_error_without_the_engines_words(folder: Folder) -> None:
    folder.parquet({"person": [f"person {n}" for n in range(10_000)]})
    path = folder.path / "visits.parquet"
    content = bytearray(path.read_bytes())
    content[1000:9000] = bytes(8000)
    path.write_bytes(content)
    dataset = dataset_of("visits.parquet", columns={"person": {"type": "string"}})
    with pytest.raises(InvalidInput, match="damaged") as caught:
        folder.ask(dataset, query_of({"type": "count_units"}))
    assert caught.value.__suppress_context__
    assert "person" not in caught.value.detail
