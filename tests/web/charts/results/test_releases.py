"""Test which chart a release gets, and the sentence that stands over it."""

from tests.web.charts.pictures import around, texts

from penstock.web.charts.distribution import Quantile
from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.drawing.values import Level
from penstock.web.charts.results.drawings import Names
from penstock.web.charts.results.releases import (
    SPARSE,
    Steps,
    by_group,
    by_rank,
    by_share,
    label_of,
)

NAMES = Names("visits: your results", "Visits by town", "days")


def test_a_key_is_written_with_its_labels() -> None:
    labels = {"a": "Aston", "2": "two"}
    assert [label_of(key, labels) for key in ("a", "b", 2, ["a", "b"], ("a", 2))] == [
        *("Aston", "b", "two", "Aston, b", "Aston, two")
    ]


def test_groups_have_one_sentence_over_the_chart_and_the_title_over_the_table() -> None:
    levels = (Level("internal", (around(3, 2), around(7, 2))),)
    drawing = by_group(NAMES, ("k0", "k1"), levels, 0.95, 5, "Some are left out.")
    assert drawing.message.startswith("Visits by town for internal, 2 of 5 groups: from ")
    assert (drawing.table.caption, drawing.remark) == (NAMES.title, "Some are left out.")
    drawn = drawing.draw("x", WIDE)
    assert f">{drawing.message}</title>" in drawn
    assert any(line.startswith("Days, with 95%") for line in texts(drawn))


def test_keys_that_stand_out_are_ranked_and_the_chart_says_what_is_missing() -> None:
    level = Level("public", (around(3, 2), around(70, 2)))
    drawing = by_rank(NAMES, ("k0", "k1"), level, 0.95, 2)
    assert [row[0] for row in drawing.table.rows] == ["k1", "k0"]
    assert SPARSE.split(",")[0] in " ".join(texts(drawing.draw("x", WIDE)))


def test_the_sentence_of_a_distribution_has_the_quantile_nearest_to_half() -> None:
    steps = Steps((0.0, 10.0, 20.0), (0.5, 1.0), (0.4, 1.0), (0.6, 1.0))
    quantiles = tuple(Quantile(f"quantile {share}", share, around(10, 2)) for share in (0.9, 0.5))
    drawing = by_share(NAMES, "public", steps, quantiles, 0.95)
    assert drawing.message.startswith("Visits by town for public: half are below 10")
    assert len(drawing.table.rows) == 2
    nothing = by_share(NAMES, "public", Steps((0.0, 10.0), (), (), ()), (), 0.95)
    assert (nothing.message, nothing.table.rows) == ("", ())
    assert "too large" in nothing.draw("x", WIDE)
