"""Define what every refusal must say, and what it must not reveal."""

import re
from typing import Any

from tests.api.world import World, parsed
from werkzeug.test import TestResponse

LONGEST_DETAIL = 1000
SHORTEST_DETAIL = 15
MEMBERS = {"type", "title", "status", "detail", "code", "errors", "request_id"}

# Words of libraries and the interpreter, which this product never uses.
FOREIGN = re.compile(
    r"Traceback|File \"|line \d+, in |site-packages|<class|object at 0x"
    r"|Errno|Exception\b|\w+Error\b"
    r"|pydantic|sqlalchemy|sqlite3|orjson|werkzeug|flask|numpy|pyarrow|duckdb\.|alembic|click\."
    r"|Input should|(?:List|Tuple|Dictionary|String|Value) should|Value error|Assertion failed"
    r"|NoneType|codec can't|Expecting|unhashable|positional argument"
)


def judge(world: World, response: TestResponse, status: int, code: str) -> dict[str, Any]:
    """Return the problem document of a refusal, after checking that it is a good one."""
    assert response.status_code == status, response.text
    assert response.content_type == "application/problem+json"
    problem: dict[str, Any] = parsed(response)
    assert set(problem) >= MEMBERS
    assert (problem["status"], problem["code"]) == (status, code), problem
    assert problem["request_id"] == response.headers["X-Request-Id"]
    for detail in [problem["detail"], *(place["detail"] for place in problem["errors"])]:
        judge_words(detail)
    for place in problem["errors"]:
        assert re.fullmatch(r"(/([^/~]|~[01])*)*", place["pointer"], re.DOTALL), place
    # The request's id and the type are ours, whatever letters they contain.
    judge_secrets(world, response.text)
    return problem


def judge_words(text: str) -> None:
    """Raise unless ``text`` is a sentence of ours: not empty, not too long, not a library's."""
    assert SHORTEST_DETAIL <= len(text) <= LONGEST_DETAIL, text[: 2 * LONGEST_DETAIL]
    assert text.endswith((".", ".)")), text
    assert FOREIGN.findall(text) == [], text


def judge_secrets(world: World, text: str) -> None:
    """Raise if ``text`` reveals where the keys are, or contains a key or a token."""
    keys = world.server.settings.keys_path
    secrets = [str(keys), str(keys.resolve()), *world.tokens.values()]
    assert not [secret for secret in secrets if secret in text]
