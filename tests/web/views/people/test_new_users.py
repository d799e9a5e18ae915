"""Test the page on which the users of a CSV file are added together."""

import io

import pytest
from tests.web.world import Browser, Open, text_of
from werkzeug.test import TestResponse

from penstock.web.http.blueprint import LARGEST_FORM

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


def chosen(admin: Browser, content: bytes, **more: str) -> TestResponse:
    """Return the page that looks at a file that was chosen."""
    return admin.submit("/new/users/preview", file=(io.BytesIO(content), "people.csv"), **more)


def test_a_chosen_file_is_looked_at_like_a_pasted_one(browse: Open) -> None:
    admin = browse("root")
    assert 'enctype="multipart/form-data"' in admin.get("/new/users").text
    pasted = admin.submit("/new/users/preview", csv=GOOD)
    for looked in (
        chosen(admin, b"\xef\xbb\xbf" + GOOD.encode()),
        chosen(admin, GOOD.encode(), csv="x"),
    ):
        assert looked.status_code == 200
        assert text_of(looked) == text_of(pasted)
    assert admin.get("/users/lea").status_code == 404


def test_a_chosen_file_that_is_wrong_is_refused_and_shown_to_be_corrected(browse: Open) -> None:
    admin = browse("root")
    wrong = chosen(admin, GOOD.replace("lea,", "<b>,").encode())
    assert (wrong.status_code, "line 2, name" in text_of(wrong)) == (422, True)
    assert "&lt;b&gt;,analyst" in wrong.text
    binary = chosen(admin, b"name,roles,clearance\n\xff\xfe,analyst,\n")
    assert (binary.status_code, "not text in UTF-8" in text_of(binary)) == (422, True)
    assert chosen(admin, b"").status_code == 422
    assert chosen(admin, b"x" * LARGEST_FORM).status_code == 413


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
