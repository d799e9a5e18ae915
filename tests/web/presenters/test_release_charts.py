"""Which releases are drawn and listed, and what they are called."""

from penstock.web.presenters.release_charts import MOST_CHOSEN, selected


def test_of_very_many_levels_no_more_are_drawn_than_can_be_told_apart() -> None:
    ids = [str(number) for number in range(100)]
    drawn, listed = selected(ids, ids, 5)
    assert drawn == ids[:MOST_CHOSEN]
    drawn, listed = selected(ids, ["97", "3"], 5)
    assert drawn == ["3", "97"]
    assert {"3", "97"} < {*listed}
    assert 38 <= len(listed) <= 40
    assert len(selected(ids, [], 10**9)[1]) < 20
    assert selected([], ["1"], 3) == ([], [])
