"""Test long work on the pages: begun by a form, left, come back to, mended and gone on with."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlmodel import select
from tests.api.world import World
from tests.databases.homes import PATIENCE
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.staff import COUNT, STAFF
from tests.web.staff import DATASET as FIELDS
from tests.web.views.analyst.jobs import begin, ended, until
from tests.web.world import HOSTILE, Browser, text_of
from werkzeug.test import TestResponse

from penstock.persistence.tables import Dataset, Work
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import exports
from penstock.services.datasets import datasets
from penstock.services.jobs import idempotency, jobs
from penstock.services.people import tokens, users
from penstock.services.queries import registration
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.web.http import idempotent_forms

HTMX = {"HX-Request": "true"}


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """Return a server whose forms wait for nothing."""
    return open_copy(patience=0.0, busy_timeout=PATIENCE)


@pytest.fixture
def enter(world: World) -> Callable[[str], Browser]:
    """Sign somebody in, in a browser of their own."""

    def entered(name: str) -> Browser:
        browser = Browser(world, world.client.application.test_client())
        assert browser.sign_in(name).status_code == 303
        return browser

    return entered


Enter = Callable[[str], Browser]


@pytest.fixture
def dataset(tmp_path: Path) -> dict[str, str]:
    """Return a form that registers a dataset."""
    file = tmp_path / "staff.csv"
    file.write_text(STAFF, encoding="utf-8")
    return {**FIELDS, "uri": str(file), "once": "1"}


@contextmanager
def blocked(monkeypatch: pytest.MonkeyPatch, module: Any = datasets) -> Iterator[list[str]]:
    """Let registrations stop at half of the file until this ends; those that came so far."""
    reached: list[str] = []
    known, open_ = module.register, threading.Event()

    def register(server: Any, principal: Any, request: Any, progress: Any) -> Any:
        progress("reading the file", 50)
        reached.append(request.name)
        assert open_.wait(PATIENCE)
        return known(server, principal, request, progress)

    monkeypatch.setattr(module, "register", register)
    yield reached
    monkeypatch.setattr(module, "register", known)
    open_.set()


def test_work_is_left_and_come_back_to_in_another_session(
    enter: Enter, dataset: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("root")
    assert "My work" not in root.get("/catalogue").text
    with blocked(monkeypatch):
        place = begin(root, dataset)
        assert "50%" in text_of(until(root, place, "Reading the file"))
        root.submit("/sign-out")
        root = enter("root")
        assert 'href="/my-work"' in root.get("/catalogue").text
        listed = text_of(root.get("/my-work"))
        assert "Registering the dataset staff running: reading the file, 50%" in listed
        assert root.get(f"{place}?lead=1").status_code == 200
    page = until(root, place, "Done.")
    assert "refresh" not in page.text
    led = root.get(f"{place}?lead=1")
    assert (led.status_code, led.location) == (303, "/datasets/staff?added=1")
    assert "The dataset is registered" in root.get(led.location).text
    assert "Registering the dataset staff done" in text_of(root.get("/my-work"))


def test_others_get_what_they_would_get_of_nothing(
    enter: Enter, dataset: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with blocked(monkeypatch):
        place = begin(enter("root"), dataset)
        for name in ("ann", "olga"):
            browser = enter(name)
            assert "staff" not in browser.get("/my-work").text
            for path in ("", "/form"):
                there, missing = browser.get(place + path), browser.get(f"/my-work/x{path}")
                assert (there.status_code, missing.status_code) == (404, 404)
                key = place.removeprefix("/my-work/")
                words = [text_of(answer).replace(key, "x") for answer in (there, missing)]
                assert words[0].partition("404")[0] == words[1].partition("404")[0]
            assert browser.submit(f"{place}/again").status_code == 404


def test_pressing_twice_begins_once(
    enter: Enter, dataset: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("root")
    with blocked(monkeypatch) as reached:
        place = begin(root, dataset)
        until(root, place, "50%")
        assert begin(root, dataset) == place
        other = root.submit("/new/dataset", **{**dataset, "name": "other"})
        assert other.status_code == 422
        assert "sent before with other content" in text_of(other)
        assert reached == ["staff"]
    until(root, place, "Done.")
    assert root.submit("/new/dataset", **dataset).location == "/datasets/staff?added=1"


def test_a_refusal_keeps_what_was_typed_and_may_be_mended(
    enter: Enter, dataset: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("root")
    with blocked(monkeypatch):
        place = begin(root, dataset)
    until(root, place, "Done.")
    late = {**dataset, "once": "2", "name": "late", "delta": "1e-7"}
    with blocked(monkeypatch):
        place = begin(root, late)
    page = until(root, place, "These data are registered already")
    assert "refused" in text_of(page)
    form = root.get(f"{place}/form")
    assert form.status_code == 200
    for field in ('value="late"', 'value="1e-7"', 'name="once" value="2"', "red\r\nblue"):
        assert field.replace("\r", "") in form.text.replace("\r", ""), field
    assert "These data are registered already" in text_of(form)
    file = Path(dataset["uri"]).with_name("more.csv")
    file.write_text(STAFF + "Walter,blue,1\n", encoding="utf-8")
    with blocked(monkeypatch):
        assert begin(root, {**late, "uri": str(file)}) == place
    until(root, place, "Done.")
    assert root.get("/datasets/late").status_code == 200


def test_a_refusal_that_comes_at_once_is_the_form_and_nothing_else(
    open_copy: Callable[..., World], dataset: dict[str, str]
) -> None:
    patient = open_copy()
    root = Browser(patient, patient.client.application.test_client())
    root.sign_in("root")
    answer = root.submit("/new/dataset", **{**dataset, "name": "sites"})
    assert answer.status_code == 409
    assert 'value="sites"' in answer.text
    assert "You have no long-running work." in text_of(root.get("/my-work"))
    assert root.submit("/new/dataset", **dataset).location == "/datasets/staff?added=1"


def test_a_query_whose_worker_was_stopped_is_gone_on_with_and_charged_once(
    enter: Enter, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("root")

    def stop(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(registration, "_anchor", stop)
        place = begin(root, {**COUNT, "once": "1"}, "/new/query")
        ended()
    charged = world.answer("GET", "/api/v1/datasets/loans/budget", by="root")
    assert "loans by shelf" in str(charged)
    world.clock.now += jobs.SILENCE
    root = enter("root")
    page = root.get(place)
    assert "The work was interrupted." in text_of(page)
    assert "nothing is done or charged twice" in text_of(page)
    assert "interrupted" in text_of(root.get("/my-work"))
    answer = root.submit(f"{place}/again")
    assert answer.status_code == 303
    until(root, place, "Done.")
    assert root.get(f"{place}?lead=1").location == "/queries/loans%20by%20shelf?added=1"
    assert (
        "every tier that may see it has been charged"
        in root.get("/queries/loans%20by%20shelf?added=1").text
    )
    after = world.answer("GET", "/api/v1/datasets/loans/budget", by="root")
    assert after == charged


def test_exact_values_that_a_form_brings_are_not_kept(enter: Enter, world: World) -> None:
    vector = {
        "kind": "vector",
        "name": "counters",
        "dataset": "sites",
        "mechanism": "gaussian",
        "values": "120\r\n7",
        "keys": "a\r\nb",
        "step": "1",
        "l1": "1",
        "l2": "1",
        "linf": "1",
        "wish": "epsilon",
        "level public": "0.01",
        "once": "1",
    }
    root = enter("root")
    for _ in range(2):
        answer = root.submit("/new/query", **vector)
        assert (answer.status_code, answer.location) == (303, "/queries/counters?added=1")
    assert "You have no long-running work." in text_of(root.get("/my-work"))
    with world.server.database.read() as session:
        assert session.exec(select(Work)).all() == []


def test_the_page_looks_again_by_itself_with_a_script_and_without(
    enter: Enter, dataset: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("root")
    with blocked(monkeypatch):
        place = begin(root, dataset)
        page = until(root, f"{place}?lead=1", "50%")
        assert '<noscript><meta http-equiv="refresh" content="3"></noscript>' in page.text
        assert f'hx-get="{place}?lead=1" hx-trigger="every 2s"' in page.text
        assert "<progress" in page.text
        assert 'value="50"' in page.text
        part = root.get(f"{place}?lead=1", **HTMX)
        assert "<html" not in part.text
        assert "50%" in part.text
    until(root, place, "Done.")
    for path in (place, f"{place}?lead=1"):
        over = root.get(path, **HTMX)
        assert (over.status_code, over.headers["HX-Refresh"]) == (204, "true")


def test_names_are_text_and_pages_are_small(
    enter: Enter, dataset: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("root")
    with blocked(monkeypatch):
        place = begin(root, {**dataset, "name": HOSTILE})
        pages = {path: root.get(path) for path in (place, "/my-work")}
    pages[f"{place}?over"] = until(root, place, "Done.")
    for path, page in pages.items():
        require_own(page, path)
        assert "<script>alert" not in page.text
        assert "x&lt;script&gt;" in page.text
        assert weight(root, page.text) < LARGEST_PAGE


def test_an_export_is_its_owners_while_they_are_an_auditor(enter: Enter, world: World) -> None:
    olga = enter("olga")
    place = begin(olga, {"once": "1"}, "/proofs/export")
    page = until(olga, place, "Done.")
    assert f'href="{place}/file"' in page.text
    assert "the server deletes it" in text_of(page)
    exported = world.call("GET", "/api/v1/audit/export", by="olga").data
    assert olga.get(f"{place}/file").data == exported
    auditor = UserSpec(name="oskar", roles=["auditor"])
    users.create(world.server, OPERATOR, auditor)
    world.tokens["oskar"] = tokens.issue(world.server, OPERATOR, "oskar", TokenSpec()).token
    assert enter("oskar").get(f"{place}/file").status_code == 404
    users.change(world.server, OPERATOR, "olga", UserChange(roles=["analyst"]))
    assert olga.get(f"{place}/file").status_code == 403
    users.change(world.server, OPERATOR, "olga", UserChange(roles=["auditor"]))
    world.clock.now += exports.LIFE
    gone = enter("olga").get(f"{place}/file")
    assert gone.status_code == 404
    assert "export the log again" in text_of(gone)


def test_an_export_that_is_elsewhere_is_said_to_be(enter: Enter, world: World) -> None:
    olga = enter("olga")
    place = begin(olga, {"once": "1"}, "/proofs/export")
    until(olga, place, "Done.")
    for file in (world.server.settings.home / "exports").iterdir():
        file.unlink()
    answer = olga.get(f"{place}/file")
    assert answer.status_code == 404
    assert "is not on this machine" in text_of(answer)


def test_a_second_press_of_any_form_waits_for_the_first(
    enter: Enter, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first is still worked on when the second comes; both lead to one result."""
    root = enter("root")
    fields = {"name": "partner", "above": "public", "once": "1"}
    first: list[Any] = []
    known = idempotency.open_request

    def begin_first(*given: Any) -> Any:
        begun = known(*given)
        if not first:
            first.append(begun)
            second.append(root.submit("/tiers", **fields))
        return begun

    second: list[TestResponse] = []
    turned: list[float] = []

    def sleep(seconds: float) -> None:
        turned.append(seconds)
        if len(turned) == 3:
            idempotency.finish(world.server, first[0], 200, b"/tiers?made=partner")

    monkeypatch.setattr(idempotent_forms, "time", SimpleNamespace(sleep=sleep))
    monkeypatch.setattr(idempotency, "open_request", begin_first)
    root.submit("/tiers", **fields)
    assert (second[0].status_code, second[0].location) == (303, "/tiers?made=partner")
    assert len(turned) == 3


def test_a_second_press_does_not_wait_for_ever(
    enter: Enter, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = enter("root")
    fields = {"name": "partner", "above": "public", "once": "1"}
    turned: list[float] = []
    monkeypatch.setattr(idempotent_forms, "time", SimpleNamespace(sleep=turned.append))
    known = idempotency.open_request

    def begun_already(server: Any, principal: Any, key: str, print_: bytes, wait: Any) -> Any:
        known(server, principal, key, print_)
        return known(server, principal, key, print_, wait)

    monkeypatch.setattr(idempotency, "open_request", begun_already)
    assert root.submit("/tiers", **fields).status_code == 409
    assert len(turned) == idempotent_forms.TURNS + 1


def test_whoever_lost_the_role_neither_sees_the_form_nor_asks_again(
    enter: Enter, dataset: dict[str, str], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are shown what became of it, and no more: the form names all tiers there are now."""
    root = enter("root")
    with blocked(monkeypatch):
        place = begin(root, dataset)
        users.change(world.server, OPERATOR, "root", UserChange(roles=["analyst"]))
    assert "which root has lost" in text_of(until(root, place, "which root has lost"))
    for answer in (root.get(f"{place}/form"), root.submit(f"{place}/again")):
        assert answer.status_code == 403
        assert "This takes the role admin" in text_of(answer)
        assert "internal" not in answer.text
    with world.server.database.read() as session:
        assert session.exec(select(Dataset).where(Dataset.name == "staff")).all() == []


def test_only_an_export_has_a_file(
    enter: Enter, dataset: dict[str, str], world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    users.change(world.server, OPERATOR, "root", UserChange(roles=["admin", "auditor"]))
    world.tokens["root"] = tokens.issue(world.server, OPERATOR, "root", TokenSpec()).token
    root = enter("root")
    with blocked(monkeypatch):
        place = begin(root, dataset)
    until(root, place, "Done.")
    folder = world.server.settings.home / exports.FOLDER
    folder.mkdir()
    (folder / "staff").write_text("somebody else's")
    answer = root.get(f"{place}/file")
    assert answer.status_code == 404
    assert "This work has no file" in text_of(answer)
