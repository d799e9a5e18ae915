"""Open Chromium as somebody who is signed in."""

from collections.abc import Callable

from tests.web.browser.screens import Screen

Open = Callable[..., Screen]
