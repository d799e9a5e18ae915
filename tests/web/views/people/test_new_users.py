"""Test the page on which the users of a CSV file are added together."""

import pytest
from tests.web.world import Open, text_of

pytestmark = pytest.mark.only("sqlite")

GOOD = "name,roles,clearance\r\nlea,analyst;auditor,public\r\nmax,auditor,\r\n"


def test_a_file_is_looked_at_and_then_added(browse: Open) -> None:
    admin = browse("root")
    looked = admin.submit("/new/users/preview", csv=GOOD)
    assert (looked.status_code, "Add 2 users" in looked.text) == (200, True)
    assert admin.get("/users/lea").status_code == 404
    for _ in range(2):
        assert admin.submit("/new/users", csv=GOOD, once="f1").location == "/users?done=added"
    assert "analyst, auditor" in text_of(admin.get("/users/lea"))
    assert "are added" in text_of(admin.get("/users?done=added"))


def test_a_file_of_one_user_is_spoken_of_so(browse: Open) -> None:
    page = browse("root").submit("/new/users/preview", csv="name,roles,clearance\nlea,analyst,\n")
    assert "This user is not added yet" in text_of(page)
    assert "Add 1 user<" in page.text


def test_every_wrong_line_is_named_and_nobody_is_added(browse: Open) -> None:
    admin = browse("root")
    wrong = GOOD + "<b>,analyst,\r\nANN,analyst,moon\r\n"
    for path, more in (("/new/users/preview", {}), ("/new/users", {"once": "f2"})):
        page = admin.submit(path, csv=wrong, **more)
        assert page.status_code == 422
        for part in ("line 5, clearance", "line 5, name"):
            assert part in text_of(page)
        assert wrong.replace("<b>", "&lt;b&gt;") in page.text
    assert admin.get("/users/lea").status_code == 404
