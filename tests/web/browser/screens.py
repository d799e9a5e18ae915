"""Provide Chromium, as somebody uses it: what they see, and what goes wrong behind it.

Whatever a page writes to the console as an error, throws, or asks of another host fails the
test that opened it.
"""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Route,
    sync_playwright,
)
from tests.support.thorough import NIGHTLY
from tests.web.browser.sound import DESKTOP

PATIENCE_MS = 240_000
"""Nothing here waits for a time, but for something to be seen: however slow the machine is."""

POLLED_MS = 10

AXE = Path(__file__).parents[1] / "npm/node_modules/axe-core/axe.min.js"
WHOLE = ("chromium", "chromium-browser", "google-chrome")
WITHOUT_WINDOWS = ("chromium-headless-shell",)
"""Draws and runs pages as the whole browser does, in a third of the processor time."""

NAMES = (*WHOLE, *WITHOUT_WINDOWS) if NIGHTLY else (*WITHOUT_WINDOWS, *WHOLE)
_REFUSED = "Failed to load resource: the server responded with a status of "


def missing(what: str) -> None:
    """Skip, or fail where everything has to be there."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser without a screen."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing("needs Chromium (apt-get install chromium-headless-shell)")
    # As root Chromium starts without its sandbox alone; it sees no pages here but our own.
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            args=[*sandbox, "--disable-dev-shm-usage"],
            timeout=PATIENCE_MS,
        )
        yield browser
        browser.close()


@dataclass
class Screen:
    """Hold a window of one person's browser; ``wrong`` is what went wrong in any tab of it."""

    url: str
    context: BrowserContext
    page: Page
    wrong: list[str] = field(default_factory=list)
    refusals: set[int] = field(default_factory=set)
    others: list[str] = field(default_factory=list)
    """Beginnings of addresses of other hosts, which the test is about."""

    def go(self, path: str) -> None:
        """Type an address."""
        self.page.goto(self.url + path)

    def sign_in(self, token: str) -> None:
        """Sign in by the form, and open the catalogue from the page to which that leads."""
        self.go("/sign-in")
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url("**/home")
        self.go("/catalogue")

    def open_menu(self) -> None:
        """Open the menu where it is closed: on a phone."""
        menu = self.page.locator("header summary")
        if menu.is_visible():
            menu.click()

    def press(self, name: str) -> None:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def field(self, label: str) -> Locator:
        """Return a field of the page that is just opening, once its script hears what is typed.

        A click returns before the next page has loaded. What is typed before its script has run
        is not previewed until something else is typed.
        """
        field = self.page.get_by_label(label, exact=True)
        field.wait_for()
        self.page.wait_for_load_state()
        return field

    def reads(self, words: str) -> None:
        """Wait until the page says something."""
        self.page.get_by_text(words).first.wait_for()

    def tab(self) -> Page:
        """Return another tab of the same window."""
        page = self.context.new_page()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        return page

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold up all that the page asks for until the block ends, and at least one thing."""
        waiting: list[Route] = []
        over = False

        def hold(route: Route) -> None:
            if over:
                route.continue_()
            else:
                waiting.append(route)

        self.page.route("**/*", hold)
        yield
        until = time.monotonic() + PATIENCE_MS / 1000
        while not waiting:
            assert time.monotonic() < until, "the page asked for nothing that could be held up"
            self.page.wait_for_timeout(POLLED_MS)
        over = True
        for route in waiting:
            route.continue_()

    def expect(self, *statuses: int) -> None:
        """Expect pages with these statuses, which the test is about; Chromium reports them."""
        self.refusals.update(statuses)

    def faults(self) -> list[dict[str, Any]]:
        """Return what axe-core finds wrong with the page as it stands."""
        if not AXE.is_file():
            missing("needs npm ci in tests/web/npm")
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            {"rule": one["id"], "where": [node["html"][:200] for node in one["nodes"][:3]],
             "why": one["nodes"][0]["failureSummary"]}
            for one in found["violations"]
        ]  # fmt: skip

    def _said(self, message: ConsoleMessage) -> None:
        expected = any(message.text.startswith(f"{_REFUSED}{one}") for one in self.refusals)
        if message.type in ("error", "warning") and not expected:
            self.wrong.append(message.text)

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self.url}/", "data:", *self.others)):
            self.wrong.append(f"another host was asked: {request.url}")


@contextmanager
def screen(browser: Browser, url: str, **options: Any) -> Iterator[Screen]:
    """Yield a window of somebody new, which has to stay free of faults."""
    width, height = options.pop("size", DESKTOP)
    # Colors that are still on their way to others would be measured as what they are not.
    context = browser.new_context(
        viewport={"width": width, "height": height}, reduced_motion="reduce", **options
    )
    context.set_default_timeout(PATIENCE_MS)
    opened = Screen(url, context, context.new_page())
    opened.page.on("console", opened._said)
    opened.page.on("pageerror", lambda error: opened.wrong.append(str(error)))
    context.on("request", opened._asked)
    yield opened
    opened.page.unroute_all(behavior="ignoreErrors")
    context.close()
    assert opened.wrong == [], json.dumps(opened.wrong, indent=1)
