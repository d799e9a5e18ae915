"""Test that the command lines of server and client, which share no code, print alike."""

import string
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock.cli.output as ours
import penstock_client._show.output as theirs
from penstock import figures
from penstock.cli.statistics import stream_preview
from penstock_client._show import rounding, stream_documents

TEXTS = st.text(
    st.characters() | st.sampled_from("=+-@'\t\r\n\u202e\u2066\u2028\uff1d,;\"\\ ⅔é日"), max_size=12
)
NUMBERS = st.floats(allow_nan=False) | st.integers(-(10**18), 10**18).map(float)
CELLS = st.none() | TEXTS | NUMBERS | st.integers()
NAMES = st.text(string.ascii_lowercase + "_", min_size=1, max_size=8)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[list[object]], list[str]]:
    """Make up columns as their fields, rows of cells, and facts."""
    columns = draw(
        st.lists(
            st.fixed_dictionaries(
                {
                    "name": NAMES,
                    "shown": st.sampled_from([str, None, lambda cell: f"<{cell}>"]),
                    "right": st.booleans(),
                    "heading": st.just("") | NAMES,
                }
            ),
            min_size=1,
            max_size=4,
        )
    )
    columns[0]["shown"] = str
    cells: st.SearchStrategy[object] = CELLS
    row = st.lists(cells, min_size=len(columns), max_size=len(columns))
    return columns, draw(st.lists(row, max_size=4)), draw(st.lists(TEXTS, max_size=2))


def printed(
    module: Any, table: tuple[list[dict[str, Any]], list[list[object]], list[str]], form: str
) -> str:
    columns, rows, facts = table
    heads = [module.Column(**column) for column in columns]
    below = module.Document({"below": rows}, heads, rows)
    document = module.Document({"rows": rows}, heads, rows, facts, "a note", below)
    text: str = module.written(document, module.Format(form))
    return text


@pytest.mark.parametrize("form", ["table", "csv"])
@given(tables())
def test_tables_and_csv_are_the_same(
    form: str, table: tuple[list[dict[str, Any]], list[list[object]], list[str]]
) -> None:
    assert printed(ours, table, form) == printed(theirs, table, form)


@given(
    st.recursive(
        CELLS.filter(lambda cell: cell not in (float("inf"), float("-inf"))),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    )
)
def test_json_is_the_same(answer: object) -> None:
    assert ours.written(ours.Document(answer, [], []), ours.Format.JSON) == theirs.written(
        theirs.Document(answer, [], []), theirs.Format.JSON
    )


def test_the_same_texts_would_be_formulas() -> None:
    assert ours.FORMULA == theirs.FORMULA
    assert [form.value for form in ours.Format] == [form.value for form in theirs.Format]


@given(NUMBERS, st.integers(1, 8))
def test_numbers_are_rounded_the_same(value: float, significant: int) -> None:
    assert figures.short(value) == rounding.short(value)
    # To more digits than three the client alone has commas below the point where both round.
    own, other = figures.short(value, significant), rounding.short(value, significant)
    assert own.replace(",", "") == other.replace(",", "")
    # The server states shares to three digits, the client to eight.
    assert figures.percent(value, 8) == rounding.percent(value)


@pytest.mark.parametrize("marks", list(product([False, True], repeat=4)))
def test_structures_of_streams_are_marked_the_same(marks: tuple[bool, ...]) -> None:
    chosen, mean, largest, opens = marks
    structure: Any = SimpleNamespace(
        chosen=chosen, least_mean=mean, least_largest=largest, request={} if opens else None
    )
    found = list(stream_preview._marks(structure))
    assert found == list(stream_documents._marks(structure))
    assert len(found) == chosen + mean + largest + (not opens)
