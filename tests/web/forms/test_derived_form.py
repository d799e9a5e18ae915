"""Test what is computed from the values of a release, by the texts of its keys."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.web.service_views import histogram, release
from werkzeug.datastructures import MultiDict

from penstock.errors import NotFound
from penstock.services.schemas.estimates.marginals import MarginalView
from penstock.services.schemas.views import ReleaseView
from penstock.web.forms import derived_form
from penstock.web.forms.derived_form import DerivedForm, Row, derived

VIEW = replace(release("rel_1", "public", 0.5, [100.0, 20.0, 30.0]), granularity=2.0**-20)


def absent(name: str) -> ReleaseView:
    raise NotFound(f"There is no release {name!r}.")


def sent(view: ReleaseView = VIEW, *pairs: tuple[str, str]) -> DerivedForm:
    return derived(view, MultiDict(pairs), absent)


def shown(quantity: str, *pairs: tuple[str, str]) -> Row:
    answer = sent(VIEW, ("quantity", quantity), *pairs)
    assert answer.form.problem is None, answer.form.problem
    (row,) = answer.rows
    assert answer.law
    return row


def test_a_page_without_a_choice_computes_nothing() -> None:
    answer = sent()
    assert (answer.rows, answer.form.status, answer.offered) == ((), 200, True)
    assert answer.keys == ["k0", "k1", "k2"]


def test_each_quantity_has_a_name_that_says_of_what() -> None:
    assert shown("total").name == "Total of all 3 keys"
    assert shown("total").value == "150"
    total = shown("total", ("first", "k0"), ("first", "k2"))
    assert (total.name, total.value) == ("Total of k0 + k2", "130")
    less = shown("difference", ("first", "k1"), ("second", "k2"))
    assert (less.name, less.value) == ("k1, less k2", "-10")
    share = shown("share", ("first", "k1"))
    assert (share.name, share.value) == ("Share of k1 in all 3 keys", "13.3%")
    over = shown("ratio", ("first", "k0"), ("second", "k1"))
    assert (over.name, over.value) == ("k0, divided by k1", "5")


def test_ends_that_nothing_is_known_of_are_written_out() -> None:
    wide = replace(VIEW, values=np.array([1.0, 0.1, 3.0]))
    pairs = ("quantity", "ratio"), ("first", "k0"), ("second", "k1")
    (row,) = sent(wide, *pairs).rows
    assert (row.lower, row.upper) == ("no end", "no end")
    assert "may be 0" in sent(wide, *pairs).law


def test_typed_keys_are_one_a_line_and_many_are_not_all_named() -> None:
    values = [float(place) for place in range(derived_form.MOST_LISTED + 1)]
    many = release("rel_1", "public", 0.5, values)
    answer = sent(many, ("quantity", "total"), ("first", "k1\r\n  k2\n\nk3\nk4\nk5"))
    assert answer.keys is None
    assert [row.name for row in answer.rows] == ["Total of k1, k2, k3 and 2 more"]
    assert answer.rows[0].value == "15"


@pytest.mark.parametrize(
    ("pairs", "pointer", "says"),
    [
        ([("quantity", "mean")], "/quantity", "Choose total, difference, share, ratio"),
        ([("quantity", "share")], "/first", "Choose at least one key"),
        ([("quantity", "ratio"), ("first", "k0")], "/second", "Choose at least one key"),
        ([("quantity", "total"), ("first", "k9")], "/first", "no key 'k9'"),
        (
            [("quantity", "difference"), ("first", "k0"), ("second", "k0")],
            "/second",
            "nothing is left",
        ),
        ([("with", "rel_9")], "/with", "You have no release 'rel_9'"),
        ([("with", "rel_1")], "/with", "That is this release itself"),
    ],
)
def test_what_cannot_be_computed_is_said_at_its_field(
    pairs: list[tuple[str, str]], pointer: str, says: str
) -> None:
    answer = sent(VIEW, *pairs)
    assert answer.form.status == 422
    assert says in answer.form.wrong(pointer)
    assert answer.form.chosen("first") == [text for name, text in pairs if name == "first"]


def test_two_keys_of_one_text_are_not_told_apart() -> None:
    keys: list[str | int | list[str]] = [["a, b", "c"], ["a", "b, c"], ["d", "e"]]
    answer = sent(replace(VIEW, keys=keys), ("quantity", "total"), ("first", "a, b, c"))
    assert "2 keys are written 'a, b, c'" in answer.form.wrong("/first")
    assert sent(replace(VIEW, keys=keys), ("quantity", "total"), ("first", "d, e")).rows


def test_a_total_of_several_tables_is_of_chosen_keys() -> None:
    tables = replace(VIEW, marginals=[MarginalView(["ward"], [])])
    answer = sent(tables, ("quantity", "total"))
    assert "Choose at least one key of one table." in answer.form.wrong("/first")


def test_values_that_are_no_parts_of_one_whole_are_added_up_by_name_alone() -> None:
    sums = replace(VIEW, estimates=[])
    for quantity, field in (("total", "/first"), ("share", "/second")):
        pairs = [("quantity", quantity), *([("first", "k1")] if quantity == "share" else [])]
        answer = sent(sums, *pairs)
        assert "Choose at least one key: values here are not parts of one whole." in (
            answer.form.wrong(field)
        )
    assert sent(sums, ("quantity", "total"), ("first", "k1")).rows


def test_nothing_is_offered_where_values_are_not_added_up() -> None:
    sparse = replace(VIEW, histogram=histogram())
    assert not sent(sparse).offered
    assert not sent(release("rel_1", "public", 0.5, [1.0])).offered
    refusal = sent(sparse, ("quantity", "total"))
    assert refusal.offered
    assert "chosen by their noisy counts" in refusal.form.wrong("/quantity")


def test_very_long_releases_are_left_to_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived_form, "MOST_VALUES", 2)
    answer = sent(VIEW, ("quantity", "total"))
    assert "The release has 3 values; pages compute from 2 at most" in answer.form.reasons[0]
    assert not sent().offered


def test_releases_of_one_quantity_are_combined_and_levels_of_one_query_are_not() -> None:
    other = replace(VIEW, id="rel_2", query="other", values=np.array([200.0, 40.0, 50.0]))
    answer = derived(VIEW, MultiDict([("with", " rel_2 ")]), {"rel_2": other}.__getitem__)
    assert [(row.name, row.value) for row in answer.rows] == [
        *(("k0", "150"), ("k1", "30"), ("k2", "40"))
    ]
    level = replace(VIEW, id="rel_2", tier="internal")
    refusal = derived(VIEW, MultiDict([("with", "rel_2")]), {"rel_2": level}.__getitem__)
    assert refusal.form.status == 409
    assert "averaging them only adds noise" in refusal.form.reasons[0]
    assert math.isfinite(float(answer.rows[0].lower))
