"""Test a large dataset registered in Chromium.

Watched, left, come back to, with a script and without.

The server runs in this process, so that the reading of the file can be held up at a gate.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.api.world import World
from tests.contracts.running import free_port
from tests.databases.homes import PATIENCE
from tests.web.browser.screens import Screen, screen
from tests.web.browser.sound import Views, require_sound
from werkzeug.serving import make_server

from penstock.application import create_app_for
from penstock.connectors.duckdb import source_file
from penstock.services.jobs.runner import Run

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium

pytestmark = [pytest.mark.slow, pytest.mark.only("sqlite")]

ROWS = "person,hours\n" + "".join(f"p{number},{number % 9}\n" for number in range(2000))


class Gate:
    """Hold up whoever reads a file at half of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._open = threading.Event()
        known = Run.__call__

        def said(run: Run, stage: str, percent: int | None = None, /) -> None:
            known(run, stage, percent)
            if percent is not None and percent >= 50:
                assert self._open.wait(PATIENCE)

        monkeypatch.setattr(source_file, "_CHUNK", 1 + len(ROWS) // 2)
        monkeypatch.setattr(Run, "__call__", said)

    def open(self) -> None:
        """Let them go on."""
        self._open.set()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Yield a gate that is open in the end."""
    made = Gate(monkeypatch)
    yield made
    made.open()


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """Provide a copy of the furnished home.

    Its threads wait for one another however slow they are.
    """
    return open_copy(busy_timeout=PATIENCE)


@pytest.fixture
def url(world: World) -> Iterator[str]:
    """Yield the server as threads of this process."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    settings = world.server.settings.model_copy(update={"public_url": url})
    app = create_app_for(replace(world.server, settings=settings), patience=0.0)
    made = make_server("127.0.0.1", port, app, threaded=True)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield url
    made.shutdown()
    thread.join()
    made.server_close()


Open = Callable[..., Screen]


@contextmanager
def opened(chromium: "Chromium", url: str, world: World, **options: bool) -> Iterator[Screen]:
    """Yield a window of the admin's."""
    with screen(chromium, url, **options) as window:
        window.sign_in(world.tokens["root"])
        yield window


def fill(window: Screen, folder: Path) -> None:
    """Fill the form of a dataset, up to sending it."""
    file = folder / "shifts.csv"
    file.write_text(ROWS, encoding="utf-8")
    window.go(f"/new/dataset?uri={file}")
    window.page.get_by_label("Name").fill("shifts")
    window.page.get_by_label("Column of the privacy unit").select_option("person")
    window.page.get_by_label("Epsilon of public").fill("1")


@pytest.mark.parametrize("scripted", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_large_dataset_is_watched_left_and_come_back_to(
    *,
    chromium: "Chromium",
    url: str,
    world: World,
    gate: Gate,
    tmp_path: Path,
    scripted: bool,
    views: Views,
) -> None:
    with opened(chromium, url, world, java_script_enabled=scripted) as window:
        fill(window, tmp_path)
        window.press("Register dataset")
        window.page.wait_for_url("**/my-work/*?lead=1")
        window.reads("50%")
        assert window.page.get_by_role("progressbar").get_attribute("value") == "50"
        if scripted:
            require_sound(window, "/my-work/...", views)
        window.open_menu()
        window.press("Sign out")
        window.reads("You are signed out.")
    with opened(chromium, url, world, java_script_enabled=scripted) as window:
        window.page.get_by_role("link", name="My work").click()
        window.reads("running")
        if scripted:
            require_sound(window, "/my-work", views)
        window.page.get_by_role("link", name="Registering the dataset shifts").click()
        window.reads("50%")
        gate.open()
        window.reads("Done.")
        if scripted:
            require_sound(window, "/my-work/...", views)
        window.page.get_by_role("link", name="Show the result").click()
        window.page.wait_for_url("**/datasets/shifts?added=1")


@pytest.mark.parametrize("scripted", [pytest.param(True, marks=pytest.mark.nightly), False])
def test_whoever_stays_is_led_on_and_a_double_click_registers_once(
    *, chromium: "Chromium", url: str, world: World, gate: Gate, tmp_path: Path, scripted: bool
) -> None:
    with opened(chromium, url, world, java_script_enabled=scripted) as window:
        fill(window, tmp_path)
        window.page.get_by_role("button", name="Register dataset").dblclick()
        window.reads("50%")
        gate.open()
        window.page.wait_for_url("**/datasets/shifts?added=1")
        window.go("/my-work")
        assert window.page.get_by_role("region", name="My work").locator("tbody tr").count() == 1
