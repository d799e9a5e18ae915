"""Test releases as tables of pandas, polars and Arrow."""

import dataclasses
import json
import subprocess
import sys
from typing import Any

import pandas as pd
import polars as pl
import pytest
from tests.client.servers.answers import RELEASE
from tests.client.servers.means import MEANS

from penstock_client import Dummy, InvalidArgument, MissingExtra, PenstockError, Release
from penstock_client._http.fields import Fields, Key

FORMS = {"pandas": "to_pandas", "polars": "to_polars", "arrow": "to_arrow"}
MODULES = {"pandas": "pandas", "polars": "polars", "arrow": "pyarrow"}
ROWS = [{"town": "north", "visits": 3, "day": None}, {"town": None, "visits": 1, "day": "2026-1"}]


def cells(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table of any library, with the keys as columns."""
    if isinstance(table, pd.DataFrame):
        rows = table.reset_index().to_dict("records")
        return [{str(name): cell for name, cell in row.items()} for row in rows]
    if isinstance(table, pl.DataFrame):
        return table.to_dicts()
    listed: list[dict[str, Any]] = table.to_pylist()
    return listed


@pytest.mark.parametrize("form", FORMS.values())
def test_a_row_for_each_key_holds_the_numbers_of_the_release(release: Release, form: str) -> None:
    interval = release.interval(0.95)
    assert cells(getattr(release, form)()) == [
        {"key": key, "value": value, "lower": lower, "upper": upper}
        for key, value, (lower, upper) in zip(release.keys, release.values, interval, strict=True)
    ]


@pytest.mark.parametrize("form", FORMS.values())
def test_means_have_what_they_were_read_from(form: str) -> None:
    means = Release.read(Fields(MEANS, "release"))
    rows = cells(getattr(means, form)())
    assert [row["count"] for row in rows] == [2000.0, -1.5]
    assert [row["centered_sum"] for row in rows] == [-20_000.0, 3.0]
    assert [row["lower"] for row in rows] == [39.5, 0.0]


@pytest.mark.parametrize("form", FORMS.values())
def test_keys_of_several_parts_have_a_column_for_each(release: Release, form: str) -> None:
    rows = cells(getattr(dataclasses.replace(release, keys=(("AA", 1), ("UA", 2))), form)())
    assert [(row["key_1"], row["key_2"]) for row in rows] == [("AA", 1), ("UA", 2)]


@pytest.mark.parametrize("form", FORMS.values())
@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ((), []),
        ((7, 8), [7, 8]),
        ((0.5, 1.5), [0.5, 1.5]),
        ((1, "a"), ["1", "a"]),
        (("a", ("b", 1)), ["a", "b · 1"]),
        ((("a",), ("b", 1)), ["a", "b · 1"]),
        ((2**70, 1), [str(2**70), "1"]),
    ],
)
def test_any_keys_make_a_table(
    release: Release, form: str, keys: tuple[Key, ...], shown: list[object]
) -> None:
    some = dataclasses.replace(release, keys=keys, values=release.values[: len(keys)])
    assert [row["key"] for row in cells(getattr(some, form)())] == shown


def test_a_frame_of_pandas_says_what_it_is(release: Release) -> None:
    frame = release.to_pandas()
    assert list(frame.columns) == ["value", "lower", "upper"]
    assert list(frame.loc["AA"]) == pytest.approx([31987.5, 31899.24, 32075.76])
    assert (frame.attrs["tier"], frame.attrs["confidence"]) == ("partner", 0.95)
    several = dataclasses.replace(release, keys=(("AA", "x"), ("UA", "y"))).to_pandas()
    assert several.loc[("UA", "y"), "value"] == 0.0


def test_a_table_of_arrow_holds_all_the_rest_as_metadata(release: Release) -> None:
    rest = json.loads(release.to_arrow().schema.metadata[b"penstock"])
    assert rest == {name: part for name, part in RELEASE.items() if name not in ("keys", "values")}
    means = Release.read(Fields(MEANS, "release")).to_arrow()
    parts = json.loads(means.schema.metadata[b"penstock"])["mean"]
    assert set(parts) == {"middle", "sum_error", "count_error"}


@pytest.mark.parametrize("extra", FORMS)
def test_without_its_library_the_extra_is_named(
    release: Release, monkeypatch: pytest.MonkeyPatch, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, MODULES[extra], None)
    dummy = Dummy.read(Fields({"items": ROWS}, "dummy"), "stays")
    for table in (getattr(release, FORMS[extra]), getattr(dummy, FORMS[extra])):
        with pytest.raises(MissingExtra) as caught:
            table()
        assert f"pip install 'penstock-client[{extra}]'" in str(caught.value)
        assert (caught.value.extra, caught.value.method) == (extra, FORMS[extra])
        assert isinstance(caught.value, PenstockError)
        assert isinstance(caught.value, ImportError)
        assert not isinstance(caught.value, InvalidArgument)


def test_no_library_is_read_before_it_is_asked_for() -> None:
    program = "import sys, penstock_client; print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600, check=True
    )
    assert "'httpx'" in done.stdout
    for module in MODULES.values():
        assert f"'{module}'" not in done.stdout
