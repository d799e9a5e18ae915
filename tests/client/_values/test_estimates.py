"""Test that estimates are read as the server sends them."""

import dataclasses

import pytest

from penstock_client import Distribution, Estimate, ProtocolError, Release
from penstock_client._http.fields import Fields
from penstock_client._show.documents import release as document
from penstock_client._show.notebook import page

SENT = {
    "name": "mean:age",
    "key": None,
    "value": 40.5,
    "lower": 39.5,
    "upper": 41.5,
    "standard_deviation": 0.51,
    "interval": "noise",
}
UNCLEAR = {
    **dict.fromkeys(("value", "lower", "upper", "standard_deviation")),
    "name": "variance:age",
    "key": ["a", "2026"],
    "interval": "noise",
}


def test_each_estimate_has_its_group_and_its_interval() -> None:
    mean, variance = Estimate.read_all(Fields({"estimates": [SENT, UNCLEAR]}, "release"))
    assert mean == Estimate("mean:age", None, 40.5, 39.5, 41.5, 0.51, "noise")
    assert variance.key == ("a", "2026")
    assert variance.value is variance.lower is variance.standard_deviation is None


@pytest.mark.parametrize("answer", [{}, {"estimates": None}])
def test_a_release_of_anything_else_has_none(answer: dict[str, object]) -> None:
    assert Estimate.read_all(Fields(answer, "release")) == ()


def test_an_estimate_that_is_no_number_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"value"):
        Estimate.read_all(Fields({"estimates": [{**SENT, "value": "much"}]}, "release"))


def test_tables_and_notebooks_show_estimates_and_blanks(release: Release) -> None:
    estimates = Estimate.read_all(Fields({"estimates": [SENT, UNCLEAR]}, "release"))
    grouped = dataclasses.replace(release, estimates=estimates[1:])
    shown = document(grouped)
    assert [column.name for column in shown.columns] == [
        *("key", "statistic", "value", "lower", "upper")
    ]
    assert list(shown.rows) == [("a · 2026", "variance:age", None, None, None)]
    alone = document(dataclasses.replace(release, estimates=estimates[:1]))
    assert list(alone.rows) == [("mean:age", 40.5, 39.5, 41.5)]
    html = page(dataclasses.replace(release, estimates=estimates))
    assert "variance:age, a · 2026" in html
    assert ">40.5<" in html


def test_distributions_have_the_upper_edges_of_the_bins() -> None:
    shares = {"shares": [0.4, 1.0], "lower": [0.3, 1.0], "upper": [0.5, 1.0]}
    unclear = dict.fromkeys(shares)
    sent = {
        "quantiles": {"edges": [0, 5, 10]},
        "distributions": [{"key": "a", **shares}, {"key": "b", **unclear}],
    }
    clear, other = Distribution.read_all(Fields(sent, "release"))
    assert clear == Distribution("a", (5.0, 10.0), (0.4, 1.0), (0.3, 1.0), (0.5, 1.0))
    assert (other.key, other.shares, other.upper) == ("b", None, None)
    assert Distribution.read_all(Fields({}, "release")) == ()
