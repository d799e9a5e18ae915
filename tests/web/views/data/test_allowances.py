"""Test allowances by form: given, changed, taken back, and seen by those whom they concern."""

import pytest
from tests.api.world import World
from tests.web.views.people.acting import ONCE, follow, leaves
from tests.web.world import Browser, Open, text_of

PATH = "/datasets/loans/allowances"
BACK = f"{PATH}/taking-back"
GIVEN = {"tier": "internal", "epsilon": "0.5"}
ASKED = {
    "name": "mine",
    "sql": "SELECT COUNT(*) FROM loans WHERE book > 9",
    "contribution": {"max_groups": 1, "max_rows_per_group": 3},
    "mechanism": "gaussian",
    "levels": {"internal": {"epsilon": 0.3}},
}


def allowances(world: World) -> list[tuple[str, float, list[str] | None]]:
    items = world.answer("GET", f"/api/v1{PATH}", by="root")["items"]
    return [(item["tier"], item["epsilon"], item["users"]) for item in items]


def test_an_allowance_is_given_changed_and_taken_back(root: Browser, world: World) -> None:
    assert "No tier has an allowance" in text_of(root.get(PATH))
    page = follow(root, root.submit(PATH, **GIVEN))
    assert "The allowance of internal is given" in text_of(page)
    assert allowances(world) == [("internal", 0.5, None)]
    typed = root.get(f"{PATH}?tier=internal").text
    assert 'value="0.5"' in typed
    root.submit(PATH, **{**GIVEN, "epsilon": "0.25", "users": "ian\n\n"})
    assert allowances(world) == [("internal", 0.25, ["ian"])]
    typed = root.get(f"{PATH}?tier=internal").text
    key = ONCE.search(typed)
    assert key is not None
    assert "\nian</textarea>" in typed
    fields = {"once": key.group(1), "back": "INTERNAL"}
    taken = root.submit(BACK, **fields)
    assert "The allowance of internal is taken back" in text_of(follow(root, taken))
    assert allowances(world) == []
    assert root.submit(BACK, **fields).location == taken.location


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"epsilon": ""}, "epsilon"),
        ({"epsilon": "-1"}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"epsilon": "1e-9"}, "epsilon"),
        ({"tier": ""}, "tier"),
        ({"tier": "absent"}, "tier"),
        ({"users": "ian\nnobody"}, "users"),
        ({"users": "ian\n<b>"}, "users"),
    ],
)
def test_what_cannot_be_given_comes_again_beside_its_field(
    root: Browser, changes: dict[str, str], place: str
) -> None:
    answer = root.submit(PATH, **{**GIVEN, "users": "ian", **changes})
    assert answer.status_code == 422
    assert f'id="{place}-wrong"' in answer.text
    assert "Nothing was done" in text_of(answer)
    assert "<b>" not in answer.text.partition("<main")[2]


def test_what_it_would_leave_is_shown_and_nothing_is_done(root: Browser, world: World) -> None:
    before = leaves(world)
    page = root.submit(PATH, **GIVEN, look="1")
    assert "Nothing is done yet. Tier internal has no allowance now" in text_of(page)
    assert "100% is left" in text_of(page)
    assert leaves(world) == before
    root.submit(PATH, **GIVEN)
    world.answer("POST", "/api/v1/queries", ASKED, by="ian")
    smaller = text_of(root.submit(PATH, **{**GIVEN, "epsilon": "0.2"}, look="1"))
    assert "has an allowance of epsilon 0.5 now" in smaller
    assert "0% is left" in smaller
    assert "Nothing more could be registered" in smaller
    root.submit(PATH, **{**GIVEN, "epsilon": "0.2"})
    assert "spent before it was made smaller" in root.get(PATH).text


def test_a_name_that_has_none_is_refused_beside_its_field(root: Browser, world: World) -> None:
    root.submit(PATH, **GIVEN)
    before = leaves(world)
    for typed in ("", "public", "x<b>"):
        answer = root.submit(BACK, once=f"twice{typed}", back=typed)
        assert answer.status_code == 422
        assert 'id="back-wrong"' in answer.text
        assert "x<b>" not in answer.text
    assert leaves(world) == before
    assert root.submit("/datasets/sites/allowances/taking-back", back="public").status_code == 422


def test_only_what_is_true_is_reported_as_done(root: Browser) -> None:
    for made_up in ("given=internal", "given=absent", "taken=absent"):
        assert 'role="status"' not in root.get(f"{PATH}?{made_up}").text


def test_analysts_see_their_own_and_overseers_all(browse: Open, world: World) -> None:
    world.answer("PUT", f"/api/v1{PATH}/internal", {"epsilon": 0.5}, by="root")
    world.answer("POST", "/api/v1/queries", ASKED, by="ian")
    ian, ann, olga = (browse(name) for name in ("ian", "ann", "olga"))
    catalogue = text_of(ian.get("/catalogue"))
    assert "Left of your allowance" in catalogue
    assert "of epsilon 0.5; ask in SQL" in catalogue
    assert "Your allowance epsilon 0.5" in text_of(ian.get("/datasets/loans"))
    assert "up to epsilon 0.5 in total, shared by the analysts of your tier" in text_of(
        ian.get("/budgets")
    )
    assert "Allowances in loans" in ian.get("/budgets").text
    for path in ("/catalogue", "/datasets/loans", "/budgets"):
        assert "llowance" not in text_of(ann.get(path)), path
    page = text_of(olga.get(PATH))
    assert "mine@internal ian" in page
    assert "Give allowance" not in page
    assert "Allowances of analysts" in text_of(olga.get("/budgets"))
