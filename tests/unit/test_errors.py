"""Test the tree of errors: each class with its own code and title, and data beside its words."""

import json

import pytest

from penstock import errors
from penstock.errors import InvalidInput, NoRoom, PenstockError, TooManyRequests, described


def every(kind: type[PenstockError] = PenstockError) -> list[type[PenstockError]]:
    return [kind, *(other for child in kind.__subclasses__() for other in every(child))]


KINDS = [kind for kind in every() if kind.__module__ == errors.__name__]


def test_every_error_has_a_code_and_a_title_of_its_own() -> None:
    assert len(KINDS) > 15
    own = [kind for kind in KINDS if "code" in vars(kind)]
    assert len({kind.code for kind in own}) == len({kind.title for kind in own}) == len(own)
    for kind in KINDS:
        assert kind.code == kind.code.upper()
        assert not kind.title.endswith(".")


def test_the_map_of_the_tree_names_every_error() -> None:
    assert errors.__doc__ is not None
    assert [kind.__name__ for kind in KINDS if kind.__name__ not in errors.__doc__] == []


def test_an_error_carries_its_words_and_its_data() -> None:
    problem = TooManyRequests("Ask again in 2 s.", retry_after=2)
    assert str(problem) == problem.detail == "Ask again in 2 s."
    assert problem.data == {"retry_after": 2}


def test_invalid_input_names_every_place() -> None:
    one = InvalidInput("It is too long.", pointer="/name")
    assert list(one.errors) == [("/name", "It is too long.")]
    several = InvalidInput("Two faults.", errors=[("/a", "First."), ("/b", "Second.")])
    assert list(several.errors) == [("/a", "First."), ("/b", "Second.")]


@pytest.mark.parametrize(
    "problem",
    [
        InvalidInput("It is too long.", pointer="/name"),
        TooManyRequests("Ask again.", retry_after=2),
        NoRoom("Nothing is left."),
    ],
)
def test_an_error_crosses_a_pipe_and_is_raised_again(problem: PenstockError) -> None:
    again = errors.raised_again(json.loads(json.dumps(described(problem))))
    assert type(again) is type(problem)
    assert again.detail == problem.detail
    assert dict(again.data) == dict(problem.data)
