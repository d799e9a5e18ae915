"""Test requests generated from the OpenAPI document, by every caller: all answers are documented.

The sizes are in README.md, with what the environment may raise.
"""

import json
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.api.bad_input.stage import Furnished, Original, furnished_home
from tests.api.bad_input.verdict import judge_secrets, judge_words
from tests.api.generated.house import CALLERS, House, build, good_bodies
from tests.api.generated.requests import Operation, Request, requests_to

from penstock.api import OPERATIONS as DECLARED
from penstock.api.openapi import document
from penstock.errors import Conflict
from penstock.services.access.principals import OPERATOR
from penstock.services.people import users
from penstock.services.verification import verification

CASES = int(os.environ.get("GENERATED_CASES", "4000"))
"""How many requests are made in all every night."""

FEW = 3
"""How many are made ordinarily to an operation, in each mode, by each of those who ask it."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
MODES = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
# Whoever calls brings a token of their own, so that none is generated, or left out.
UNGUARDED = {name: part for name, part in document().items() if name != "security"}
SCHEMA = schemathesis.openapi.from_dict(UNGUARDED)
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]
GOOD = good_bodies()
ASKED: list[tuple[Operation, GenerationMode]] = [
    (operation, mode)
    for operation in OPERATIONS
    for mode in MODES
    # Any text is a name: without an argument or a body there is nothing to be wrong in.
    if mode is GenerationMode.POSITIVE
    or any(one["in"] != "path" for one in operation.definition.raw["parameters"])
    or "requestBody" in operation.definition.raw
]
EVERYTHING = "eve"  # the caller with all roles
OTHERS = [by for by in CALLERS if by != EVERYTHING]
EACH = -(-CASES // (len(CALLERS) * len(ASKED)))


def has_parts(operation: Operation) -> bool:
    """Return whether requests to it can differ in a parameter or a body."""
    return bool(operation.definition.raw["parameters"]) or "requestBody" in operation.definition.raw


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """Return a home to be copied."""
    return furnished_home(tmp_path_factory.mktemp("furnished") / "home")


@pytest.fixture(scope="module")
def built(model: Furnished, tmp_path_factory: pytest.TempPathFactory) -> tuple[Original, House]:
    """Return a house to be put back."""
    return build(model, tmp_path_factory.mktemp("house"))


@pytest.fixture
def house(built: tuple[Original, House]) -> Iterator[House]:
    """Yield a server that requests may change."""
    original, made = built
    world = original.put_back().world
    yield replace(made, world=world)
    world.server.database.close()


def judge_answer(house: House, case: Request, by: str | None) -> None:
    """Send a request and raise unless the answer is documented."""
    headers = {} if by is None else {"Authorization": f"Bearer {house.world.tokens[by]}"}
    response = case.call(app=house.world.client.application, headers=headers)
    case.validate_response(response, checks=CHECKS)
    if response.status_code >= 400:
        problem: Any = json.loads(response.content)
        judge_words(problem["detail"])
        for place in problem["errors"]:
            judge_words(place["detail"])
        judge_secrets(house.world, response.text)


def test_every_operation_is_asked() -> None:
    names = {operation.definition.raw["operationId"] for operation, _ in ASKED}
    assert names == {operation.name for operation in DECLARED}


def undocumented() -> None:
    raise Conflict("No status of this one.")


def of_another_shape() -> dict[str, int]:
    return {"name": 1}


@pytest.mark.parametrize("broken", [lambda: 1 / 0, undocumented, of_another_shape])
def test_an_answer_that_the_document_does_not_tell_is_found(
    house: House, monkeypatch: pytest.MonkeyPatch, broken: Callable[[], object]
) -> None:
    request = next(operation.Case() for operation, _ in ASKED if operation.path.endswith("/me"))
    judge_answer(house, request, "ann")
    monkeypatch.setattr(users, "me", lambda *_: broken())
    with pytest.raises((FailureGroup, Failure, ZeroDivisionError)):
        judge_answer(house, request, "ann")


def ask_all(
    house: House, by: str | None, asked: list[tuple[Operation, GenerationMode]], each: int
) -> None:
    """Make ``each`` requests to every operation; judge the answers, and at the end the log."""
    count = 0
    for operation, mode in asked:
        name = operation.definition.raw["operationId"]

        @seed(zlib.crc32(f"{by} {name} {mode.name}".encode()))
        @settings(
            max_examples=each,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(requests_to(operation, mode, house.known, GOOD.get(name, [])))
        def ask(case: Request) -> None:
            nonlocal count
            count += 1
            judge_answer(house, case, by)

        ask()
    # Where there is nothing to choose from a few requests are all.
    assert count >= each * len([one for one, _ in asked if has_parts(one)])
    assert verification.verify(house.world.server, OPERATOR).problems == []


@pytest.mark.parametrize("by", CALLERS)
def test_every_answer_to_a_generated_request_is_one_that_the_document_tells(
    house: House, by: str | None
) -> None:
    """Call each operation as the user with all roles, and as one of the others in turn."""
    asked = ASKED
    if by != EVERYTHING:
        asked = ASKED[OTHERS.index(by) :: len(OTHERS)]
    ask_all(house, by, asked, FEW)


@pytest.mark.nightly
@pytest.mark.parametrize("by", CALLERS)
def test_every_answer_to_many_generated_requests_is_one_that_the_document_tells(
    house: House, by: str | None
) -> None:
    ask_all(house, by, ASKED, EACH)
