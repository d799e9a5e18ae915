"""Test retiring a query or a stream by form, once its name is typed."""

from tests.api.world import World
from tests.web.views.people.acting import follow
from tests.web.world import Browser, text_of


def test_a_query_is_retired_by_a_button_that_says_what_that_means(
    root: Browser, world: World
) -> None:
    for page, kind in (("/queries/visits", "query"), ("/streams/arrivals", "stream")):
        path, name = f"{page}/retirement", page.rpartition("/")[2]
        assert f'href="{path}"' in root.get(page).text
        assert "no budget is given back" in text_of(root.get(path))
        done = follow(root, root.submit(path, sure=f" {name.upper()} "))
        assert f"{name} is retired" in text_of(done)
        assert root.submit(path, sure=name).status_code == 303
        assert "given back" not in text_of(root.get(path))
        assert f"This {kind} is retired" in text_of(root.get(page))
    assert world.answer("GET", "/api/v1/queries/visits", by="root")["status"] == "retired"


def test_what_is_not_there_cannot_be_retired(root: Browser) -> None:
    for path in ("/queries/absent/retirement", "/streams/absent/retirement"):
        assert root.get(path).status_code == 404
        assert root.submit(path, sure="absent").status_code == 404
    assert root.get("/queries/arrivals/retirement").status_code == 404


def test_another_name_retires_nothing(root: Browser, world: World) -> None:
    refused = root.submit("/queries/visits/retirement", sure="visit")
    assert refused.status_code == 422
    assert 'id="sure-wrong"' in refused.text
    assert world.answer("GET", "/api/v1/queries/visits", by="root")["status"] == "active"
