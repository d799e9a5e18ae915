"""Test users in CSV: what is read of a file, and what is refused, by line and column."""

import pytest

from penstock.errors import InvalidInput, MalformedInput
from penstock.services.schemas.people.user_files import read_users
from penstock.services.schemas.people.users import MOST_USERS

HEADER = "name,roles,clearance\n"


def test_users_are_read_as_they_stand() -> None:
    text = 'name,roles,clearance\nann,analyst;auditor,public\n\n"bob", admin  analyst ,\n'
    file = read_users(text.encode())
    assert [(user.name, user.roles, user.clearance) for user in file.users] == [
        ("ann", ["analyst", "auditor"], "public"),
        ("bob", ["admin", "analyst"], None),
    ]
    assert (file.lines, file.wrong) == ([2, 4], [])


def test_programs_write_files_in_several_ways() -> None:
    text = HEADER + "ann,analyst,public\nbob,auditor,\n"
    plain = read_users(text.encode())
    for raw in (
        text.replace("\n", "\r\n").encode(),
        text.encode("utf-8-sig"),
        text.rstrip("\n").encode(),
        b"clearance,name,roles\npublic,ann,analyst\n,bob,auditor\n",
        (HEADER + "ann,analyst,public\nbob,auditor,\n,,\n  \n").encode(),
    ):
        assert read_users(raw).users == plain.users


def test_every_wrong_cell_is_named_at_once() -> None:
    rows = (
        "=1+1,analyst,public",
        "ann,king,public",
        "bob,,public",
        "eve,analyst,@moon",
        "max,analyst",
        "-x,analyst analyst,public",
        "lea,analyst,public",
    )
    file = read_users((HEADER + "\n".join(rows)).encode())
    assert [(line, column) for line, column, _ in file.wrong] == [
        *((2, "name"), (3, "roles"), (4, "roles"), (5, "clearance"), (6, "")),
        *((7, "name"), (7, "roles")),
    ]
    assert [user.name for user in file.users] == ["lea"]
    words = " ".join(words for _, _, words in file.wrong)
    assert "1+1" not in words
    assert "has 2 cells, and the header 3" in words


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf\r\n", "is empty"),
        (HEADER.encode(), "no users"),
        (b"name;roles;clearance\nann;analyst;\n", "separated by commas"),
        (b"name,roles\nann,analyst\n", "must name the columns"),
        (b"name,name,roles,clearance\na,a,analyst,\n", "each once"),
        (b"ann,analyst,public\n", "must name the columns"),
        ((HEADER + "ann,analyst,\n" * (MOST_USERS + 1)).encode(), "501 users.*at most 500"),
    ],
    ids=["empty", "mark", "header", "semicolons", "two", "twice", "none", "many"],
)
def test_a_file_of_another_form_is_refused(raw: bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_users(raw)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (HEADER.encode("utf-16"), "not text in UTF-8"),
        ((HEADER + 'ann,"analyst,\n').encode(), "not CSV from line 2"),
        ((HEADER + "a" * 200_000).encode(), "not CSV from line 2"),
    ],
    ids=["utf-16", "quote", "long"],
)
def test_what_is_no_csv_is_malformed(raw: bytes, message: str) -> None:
    with pytest.raises(MalformedInput, match=message):
        read_users(raw)
