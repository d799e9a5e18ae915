"""A dataset's objects are one, those of a pattern, or those of a manifest."""

import json

import pytest
from tests.unit.connectors.storage.lakes import ROOT, Memory

from penstock.connectors.storage import selection
from penstock.connectors.storage.address import parsed
from penstock.errors import InvalidInput, SourceChanged

NAMES = [
    *("a/1.parquet", "a/10.parquet", "a/2.parquet", "a/B.parquet", "a/é.parquet", "a/note.txt"),
    *("a/b/1.parquet", "a/b/c/1.parquet", "aa/1.parquet", "a/x=1 2/1.parquet", "a/[1].parquet"),
]


@pytest.fixture
def store() -> Memory:
    store = Memory()
    for name in NAMES:
        store.put(name, name.encode())
    return store


def names(store: Memory, path: str) -> list[str]:
    return [item.name for item in selection.selected(store, parsed(ROOT + path))[0]]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/1.parquet", ["a/1.parquet"]),
        ("a/1*.parquet", ["a/1.parquet", "a/10.parquet"]),
        ("a/*1*.parquet", ["a/1.parquet", "a/10.parquet", "a/[1].parquet"]),
        ("a/[1].parquet", ["a/[1].parquet"]),
        ("a/*/1.parquet", ["a/b/1.parquet", "a/x=1 2/1.parquet"]),
        ("a/**/c/*.parquet", ["a/b/c/1.parquet"]),
        ("**/2.parquet", ["a/2.parquet"]),
        ("*/1.parquet", ["a/1.parquet", "aa/1.parquet"]),
    ],
)
def test_a_star_stays_in_its_folder_and_two_stars_are_any_folders(
    store: Memory, path: str, expected: list[str]
) -> None:
    assert names(store, path) == expected


def test_objects_are_sorted_by_the_bytes_of_their_names(store: Memory) -> None:
    found = names(store, "a/**/*.parquet")
    assert found == sorted(found, key=str.encode)
    assert len(found) == 9
    assert found.index("a/10.parquet") < found.index("a/2.parquet") < found.index("a/B.parquet")


def test_many_stars_take_no_long_time(store: Memory) -> None:
    """A regular expression would take time that grows with the power of the number of stars."""
    store.put("s/" + "a" * 900 + ".parquet", b"1")
    with pytest.raises(InvalidInput):
        names(store, "s/" + "a*" * 60 + "b.parquet")
    with pytest.raises(InvalidInput):
        names(store, "s/" + "**/" * 200 + "b.parquet")


@pytest.mark.parametrize("path", ["b/*.parquet", "a/3.parquet", "A/1.parquet", "a/none.json"])
def test_nothing_there_is_refused_at_its_place(store: Memory, path: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        names(store, path)
    assert refused.value.errors[0][0] == "/source/uri"


def test_a_manifest_lists_objects_of_its_bucket(store: Memory) -> None:
    entries = ["a/2.parquet", {"url": ROOT + "aa/1.parquet", "mandatory": True}]
    store.put("list.json", json.dumps({"entries": entries}).encode())
    items, manifest = selection.selected(store, parsed(ROOT + "list.json"))
    assert [item.name for item in items] == ["a/2.parquet", "aa/1.parquet"]
    assert manifest is not None
    assert manifest.name == "list.json"
    store.put("a/list.json", json.dumps({"entries": ["b/1.parquet"]}).encode())
    assert names(store, "a/list.json") == ["a/b/1.parquet"]


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"{}", b'{"entries": []}', b"\xff", b"[" * 5000, b'{"entries": "a"}'),
        b'{"entries": [1]}',
        b'{"entries": [null]}',
        b'{"entries": [{}]}',
        b'{"entries": ["../a.parquet"]}',
        b'{"entries": ["s3://other/a/1.parquet"]}',
        b'{"entries": ["https://lake/a/1.parquet"]}',
        b'{"entries": ["a/note.txt"]}',
        b'{"entries": ["a/none.parquet"]}',
        *(b'{"entries": ["a/\\ud800.parquet"]}', b'{"entries": ["a/\\n.parquet"]}'),
        b'{"entries": ["a/1.parquet", "a/1.parquet"]}',
    ],
)
def test_any_other_manifest_is_refused(store: Memory, content: bytes) -> None:
    store.put("list.json", content)
    with pytest.raises(InvalidInput) as refused:
        names(store, "list.json")
    assert refused.value.errors[0][0] == "/source/uri"


def test_there_is_a_limit(store: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "MOST_OBJECTS", 2)
    store.put("list.json", json.dumps({"entries": NAMES[:3]}).encode())
    for path in ("a/*.parquet", "list.json"):
        with pytest.raises(InvalidInput, match="at most 2 objects"):
            names(store, path)


def test_a_table_of_delta_is_not_read_as_a_folder_of_files(store: Memory) -> None:
    """Its folder also holds files that were removed from the table."""
    store.put("a/_delta_log/0.json", b"{}")
    with pytest.raises(InvalidInput, match=r"delta\+"):
        names(store, "a/**/*.parquet")


def test_a_manifest_that_is_replaced_while_it_is_read_is_a_change(
    store: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("list.json", b'{"entries": ["a/1.parquet"]}')
    before = store.head("list.json")
    store.put("list.json", b'{"entries": ["a/2.parquet"]}')
    monkeypatch.setattr(store, "head", lambda _: before)
    with pytest.raises(SourceChanged):
        names(store, "list.json")
