"""Ask a server whose database is away, from many threads at once."""

import threading
from collections.abc import Callable

from werkzeug.test import TestResponse

LONG = 600.0
"""Seconds that the server is ready to wait, where it waits at all."""


HANGING = 120.0
"""Seconds after which it is found to wait; an answer at once has come long before."""


def at_once(ask: Callable[[], TestResponse]) -> TestResponse:
    """Return the answer of a server that waits for nothing: it would take ``LONG``."""
    answers: list[TestResponse] = []
    asking = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    asking.start()
    asking.join(HANGING)
    assert not asking.is_alive(), "it waits"
    return answers[0]
