"""Test that operations are declared with a policy and described arguments, or not at all."""

import pytest

from penstock.api.operations import ANYBODY, Operations


def test_an_operation_cannot_be_declared_without_a_policy() -> None:
    operations = Operations()
    with pytest.raises(TypeError, match="policy"):
        operations.get("/unguarded", None)  # type: ignore[arg-type]  # the mistake under test
    assert operations.declared == []


def test_an_argument_must_say_what_it_is() -> None:
    def handler(call: object, colour: str | None = None) -> str:
        raise NotImplementedError

    with pytest.raises(TypeError, match="colour"):
        Operations().get("/things", ANYBODY)(handler)
