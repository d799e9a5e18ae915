"""Test allowances as a server answers them, and how they are shown."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.client.questions.asking import ALLOWANCE, ROOM_LEFT

from penstock_client import Allowance, AllowanceRoom, ProtocolError
from penstock_client._http.fields import Fields


def allowance(**changes: Any) -> Allowance:
    return Allowance.read(Fields({**ALLOWANCE, **changes}, "allowance"))


def test_an_allowance_says_what_is_left_and_who_took_the_rest() -> None:
    own = allowance()
    assert (own.tier, own.epsilon, own.users) == ("partner", 0.5, ("ann",))
    assert [(each.query, each.by, each.share) for each in own.queries] == [
        ("mine@partner", "ann", 0.25)
    ]
    assert repr(own) == "<Allowance of partner in flights, for ann: epsilon 0.5, 75% left.>"
    assert allowance(users=None).users is None
    assert "for all its analysts" in repr(allowance(users=None))


def test_a_notebook_shows_a_bar_and_no_markup_of_names() -> None:
    query = {"query": "<b>", "by": None, "share": 1.5}
    page = allowance(spent_share=1.5, remaining_share=0.0, queries=[query])._repr_html_()
    assert 'optimum="0" value="1.0"></meter> 150% spent' in page
    assert "<td>&lt;b&gt;</td><td></td><td>150%</td>" in page
    assert "<b>" not in page
    assert "<table>" not in allowance(queries=[])._repr_html_()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "75% is left; the question takes 10%."),
        ({"fits": False, "needed_share": 0.8}, "takes 80%, which does not fit."),
        ({"fits": None, "needed_share": None}, "could not be registered under it."),
    ],
)
def test_the_room_of_a_preview_is_a_sentence(changes: dict[str, Any], words: str) -> None:
    room = AllowanceRoom.read(Fields({**ROOM_LEFT, **changes}, "room"))
    assert room.sentence().startswith("Of your allowance, epsilon 0.5 for partner, 75% is left")
    assert room.sentence().endswith(words)


@pytest.mark.parametrize("missing", ["tier", "epsilon", "remaining_share", "queries"])
def test_an_answer_without_what_the_contract_states_is_refused(missing: str) -> None:
    answer = {name: value for name, value in ALLOWANCE.items() if name != missing}
    with pytest.raises(ProtocolError, match=missing):
        Allowance.read(Fields(answer, "allowance"))


def test_the_command_lists_them(
    run: Callable[..., int], capsys: pytest.CaptureFixture[str], answers: dict[str, Any]
) -> None:
    assert run("allowances", "flights", "--format", "csv") == 0
    assert capsys.readouterr().out.split() == [
        "tier,epsilon,users,left,spent_by", "partner,0.5,ann,0.75,mine@partner", "25%",
    ]  # fmt: skip
    assert run("allowances", "flights", "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == [ALLOWANCE]
    assert run("allowances", "flights") == 0
    answers["GET /api/v1/datasets/flights/allowances"]["items"] = []
    assert run("allowances", "flights") == 0
    assert "no allowances that you may see" in capsys.readouterr().err


def test_notes_say_what_cannot_be_used() -> None:
    noted = allowance(notes=["bob does not hold <partner>."])
    assert noted.notes == ("bob does not hold <partner>.",)
    assert "<p>bob does not hold &lt;partner&gt;.</p></div>" in noted._repr_html_()
    assert allowance().notes == ()
