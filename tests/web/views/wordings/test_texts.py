"""Test the forms of titles and other texts, and what readers are shown of them."""

import pytest
from tests.api.world import World
from tests.web.world import Open, text_of

pytestmark = pytest.mark.only("sqlite")

FIELDS = {
    "title": "Visits by <site>",
    "description": "Counted once a day.\r\n\r\nBy hand.",
    "unit": "visits",
    "tags": "web, , health",
    "labels": "0 = North\r\n1 = South = warm\r\n",
    "owners": "ANN",
}


def test_texts_are_changed_and_read(browse: Open) -> None:
    admin, reader = browse("root"), browse("ian")
    assert "Give it a title" in text_of(admin.get("/queries/visits"))
    changed = admin.submit("/queries/visits/texts", **FIELDS)
    assert changed.location == "/queries/visits"
    page = reader.get("/queries/visits")
    for part in ("Visits by &lt;site&gt;", "<code>visits</code>", "By hand.", "?tag=health"):
        assert part in page.text
    assert "Measured in <bdi>visits</bdi>. Responsible: <bdi>ann</bdi>." in page.text
    assert "texts" not in page.text
    again = admin.get("/queries/visits/texts").text
    for part in ("web, health", "0 = North\n1 = South = warm", "Visits by &lt;site&gt;"):
        assert part in again


def test_every_mistake_is_in_its_place_and_nothing_changes(browse: Open) -> None:
    admin = browse("root")
    wrong = {**FIELDS, "title": "a" * 201, "tags": "b" * 41, "labels": "0 = N\nx\n0 = S\n"}
    page = admin.submit("/queries/visits/texts", **wrong)
    assert page.status_code == 422
    for part in ("at most 200 characters", "at most 40 characters", "Line 2 must", "Line 3 must"):
        assert part in text_of(page)
    for field in ("title", "tags", "labels"):
        assert f'id="{field}-wrong"' in page.text
    assert "0 = N\nx\n0 = S" in page.text.replace("\r", "")
    assert "Give it a title" in text_of(admin.get("/queries/visits"))


def test_a_dataset_and_a_stream_have_the_same_form(browse: Open) -> None:
    admin = browse("root")
    for path in ("/datasets/sites", "/streams/arrivals"):
        assert admin.submit(f"{path}/texts", title="A title").location == path
        assert "<title>A title" in admin.get(path).text


def test_codes_that_lines_cannot_say_stay(browse: Open, world: World) -> None:
    admin = browse("root")
    labels = {"a = b": "Both"}
    world.answer("PATCH", "/api/v1/queries/visits", {"labels": labels}, by="root")
    assert 'name="labels"' not in admin.get("/queries/visits/texts").text
    admin.submit("/queries/visits/texts", title="Kept")
    shown = world.answer("GET", "/api/v1/queries/visits", by="root")
    assert (shown["title"], shown["labels"]) == ("Kept", labels)


def test_labels_stand_beside_their_codes_and_those_of_the_dataset_where_there_are_none(
    browse: Open, world: World
) -> None:
    def relabel(kind: str, name: str, labels: dict[str, str]) -> None:
        world.answer("PATCH", f"/api/v1/{kind}/{name}", {"labels": labels}, by="root")

    released = world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ann")
    first, second = released["keys"][:2]
    reader = browse("ann")
    download = f"/releases/{released['id']}/csv"
    plain = reader.get(download).text
    relabel("datasets", "sites", {first: "=North", second: "South <b>"})
    for path in ("/queries/visits", f"/releases/{released['id']}"):
        page = reader.get(path).text
        for part in (f"=North ({first})", f"South &lt;b&gt; ({second})"):
            assert part in page
    table = reader.get(download).text.splitlines()
    assert [line.rpartition(",")[0] for line in table] == plain.splitlines()
    last = [line.rpartition(",")[2].strip('"') for line in table]
    assert last[:3] == ["label", "'=North", "South <b>"]
    relabel("queries", "visits", {first: "Own"})
    page = reader.get("/queries/visits").text
    assert f"Own ({first})" in page
    assert "South" not in page
    shown = world.answer("GET", "/api/v1/queries/visits", by="ann")
    assert (shown["labels"], shown["shown_labels"]) == ({first: "Own"}, {first: "Own"})
