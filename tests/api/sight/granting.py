"""Ask for releases that were drawn before, and that are drawn now."""

import re
from datetime import timedelta
from typing import Any

from tests.api.world import World, parsed
from werkzeug.test import TestResponse


def seen(world: World, response: TestResponse, name: str) -> tuple[Any, ...]:
    """Return everything that whoever asked about ``name`` can see, but for the name itself."""
    headers = [pair for pair in response.headers.items() if pair[0] != "X-Request-Id"]
    body = re.sub(rb'"request_id":"[0-9a-f]{32}"', b"", response.data)
    slept = [round(seconds, 9) for seconds in world.stopwatch.slept]
    return response.status_code, headers, body.replace(name.encode(), b"NAME"), slept


def granted(world: World, verb: str, path: str, body: Any, *, before: bool) -> tuple[Any, ...]:
    """Return what somebody sees who is handed something first.

    Others were handed it ``before``, or not.
    """
    amy = {"name": "amy", "roles": ["analyst"], "clearance": "internal"}
    world.answer("POST", "/api/v1/users", amy, by="root")
    issued = world.answer("POST", "/api/v1/users/amy/tokens", {}, by="root")
    world.tokens["amy"] = issued["token"]
    if before:
        world.answer(verb, path, body, by="ian")
    world.clock.now += timedelta(hours=1)
    world.stopwatch.slept.clear()
    response = world.call(verb, path, body, by="amy")
    status, headers, _, slept = seen(world, response, "")
    found = parsed(response)
    # How many leaves there are is no secret; the identifier is random.
    receipt = found.pop("receipt")
    found.pop("id", None)
    return status, headers, found, sorted(receipt), slept
