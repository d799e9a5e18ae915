"""Send an admin's form once, and look at what it left."""

import re

from tests.api.world import World
from tests.web.world import Browser, text_of
from werkzeug.test import TestResponse

ONCE = re.compile(r'name="once" value="([0-9a-f]{32})"')


def once(browser: Browser, path: str) -> str:
    """Return the key of the form that a page shows."""
    key = ONCE.search(browser.get(path).text)
    assert key is not None
    return key.group(1)


def leaves(world: World) -> object:
    """Return all that the log holds."""
    return world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga")["items"]


def follow(browser: Browser, answer: TestResponse) -> TestResponse:
    """Return the page that a form leads to."""
    assert answer.status_code == 303, text_of(answer)
    return browser.get(answer.location)
