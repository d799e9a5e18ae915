"""Begin long work on a page, and wait until it ends."""

import re
import threading
import time

from tests.databases.homes import PATIENCE
from tests.web.world import Browser, text_of
from werkzeug.test import TestResponse


def until(browser: Browser, path: str, words: str) -> TestResponse:
    """Return the page, once it says something."""
    over = re.compile(" (done|refused|interrupted) ")
    while words not in (text := text_of(page := browser.get(path))):
        assert not over.search(text), text
        time.sleep(0.01)
    return page


def ended() -> None:
    """Wait until nobody works on anything, or speaks of it."""
    for thread in threading.enumerate():
        if thread.name.startswith("work-"):
            thread.join(PATIENCE)


def begin(browser: Browser, fields: dict[str, str], path: str = "/new/dataset") -> str:
    """Send a form that takes long; where one waits for it."""
    answer = browser.submit(path, **fields)
    assert answer.status_code == 303
    place = answer.location
    assert re.fullmatch(r"/my-work/[0-9a-f]{32}\?lead=1", place)
    return place.removesuffix("?lead=1")
