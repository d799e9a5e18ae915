"""Test that an analyst asks under an allowance from Python, and is shown what is left of it."""

import pytest
from tests.api.questions.survey import ADMIN, ANALYST, ONCE, Survey

from penstock_client import Forbidden, InvalidInput, NotFound

SQL = "SELECT COUNT(*) AS n FROM survey WHERE age >= 18"


def test_an_analyst_registers_within_it_and_sees_what_is_left(survey: Survey) -> None:
    root, ian = survey.as_user(ADMIN), survey.as_user(ANALYST)
    question = ian.sql(SQL, epsilon=0.25, contribution=ONCE)
    assert (ian.allowances("survey"), question.preview().allowance) == ([], None)
    given = root.give_allowance("survey", "internal", 0.5)
    assert (given.users, given.remaining_share, root.allowances("survey")) == (None, 1.0, [given])
    room = question.preview().allowance
    assert room is not None
    assert (room.tier, room.epsilon, room.fits, room.remaining_share) == ("internal", 0.5, True, 1)
    assert question.result().statistics == ("n",)
    (own,) = ian.allowances("survey")
    assert own.spent_share == pytest.approx(room.needed_share)
    assert [each.by for each in own.queries] == [ANALYST]
    more = ian.sql(SQL.replace("18", "30"), epsilon=0.6, contribution=ONCE).preview()
    assert not more.fits
    assert "which does not fit" in str(more.refusal)
    taken = root.take_allowance_back("survey", "internal")
    assert taken.queries == own.queries
    assert question.result().release.query == own.queries[0].query
    with pytest.raises(Forbidden):
        ian.sql(SQL.replace("18", "40"), epsilon=0.1, contribution=ONCE).register()


def test_what_cannot_be_given_or_taken_back_is_refused(survey: Survey) -> None:
    root, ian = survey.as_user(ADMIN), survey.as_user(ANALYST)
    with pytest.raises(InvalidInput) as refused:
        root.give_allowance("survey", "internal", 0.5, users=[ANALYST, "nobody"])
    assert [field.pointer for field in refused.value.errors] == ["/users/1"]
    with pytest.raises(NotFound):
        root.take_allowance_back("survey", "internal")
    with pytest.raises(Forbidden):
        ian.give_allowance("survey", "internal", 0.5)
