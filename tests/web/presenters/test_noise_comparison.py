"""Test noises compared one by one on a page: each row is there as it is done, without a script."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.api.world import World
from tests.databases.homes import PATIENCE
from tests.web.staff import COUNT
from tests.web.views.analyst.jobs import begin, ended, until
from tests.web.world import Browser, text_of

from penstock.errors import InvalidInput
from penstock.services.previews import query_preview
from penstock.services.schemas.previews import PreviewView

PREVIEW = "/new/query/preview"


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """Return a server whose forms wait for nothing."""
    return open_copy(patience=0.0, busy_timeout=PATIENCE)


@pytest.fixture
def root(world: World) -> Browser:
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("root").status_code == 303
    return browser


@contextmanager
def held_at(
    monkeypatch: pytest.MonkeyPatch, mechanism: str, problem: Exception | None = None
) -> Iterator[None]:
    """Let the preview under one noise wait until this ends, and then fail with ``problem``."""
    known, open_ = query_preview.preview, threading.Event()

    def slowly(server: Any, principal: Any, request: Any, *more: Any) -> PreviewView:
        if request.mechanism == mechanism:
            assert open_.wait(PATIENCE)
            if problem is not None:
                raise problem
        return known(server, principal, request, *more)

    monkeypatch.setattr(query_preview, "preview", slowly)
    yield
    open_.set()


def rows(page: str) -> list[str]:
    return re.findall(r'<th scope="row">([^<]+)</th>', page)


def test_each_row_is_there_as_it_is_done(root: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    with held_at(monkeypatch, "poisson"):
        place = begin(root, {**COUNT, "compare": "1", "once": "c" * 32}, PREVIEW)
        page = until(root, place, "Previewing Poisson noise")
        assert "40%" in text_of(page)
        assert rows(page.text) == ["Gaussian", "Laplace"]
        assert '<noscript><meta http-equiv="refresh"' in page.text
        assert "previewing Poisson noise, 40%" in text_of(root.get("/my-work"))
        part = root.get(place, **{"HX-Request": "true"})
        assert rows(part.text) == ["Gaussian", "Laplace"]
    ended()
    led = root.get(f"{place}?lead=1")
    assert (led.status_code, led.location) == (303, f"{place}/form")
    page = root.get(led.location)
    assert rows(page.text)[-5:-2] == ["Gaussian", "Laplace", "Poisson"]
    assert 'value="mechanism=laplace"' in page.text
    assert f'value="{COUNT["name"]}"' in page.text


def test_a_noise_that_is_refused_is_a_row_with_the_reason(
    root: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with held_at(monkeypatch, "skellam", InvalidInput("More seconds than it may take.")):
        place = begin(root, {**COUNT, "compare": "1", "once": "d" * 32}, PREVIEW)
    ended()
    assert "Skellam More seconds than it may take." in text_of(root.get(f"{place}/form"))


def test_a_form_that_cannot_be_meant_is_shown_at_once(root: Browser) -> None:
    page = root.submit(PREVIEW, **{**COUNT, "compare": "1", "level public": "much"})
    assert page.status_code == 422
    assert "This must be a number." in page.text


def test_the_same_form_registers_after_it_was_compared(root: Browser) -> None:
    place = begin(root, {**COUNT, "compare": "1", "once": "e" * 32}, PREVIEW)
    ended()
    page = root.get(f"{place}/form")
    key = re.search(r'name="once" value="([^"]+)"', page.text)
    assert key
    assert root.submit("/new/query", **COUNT, once=key[1]).status_code == 303
    ended()
    assert root.get(f"/queries/{COUNT['name'].replace(' ', '%20')}").status_code == 200
